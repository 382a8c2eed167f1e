// The CPU targets that kernels are compiled for, and which of them this machine runs.
#pragma once
#include <string_view>

namespace kiln {

enum class CpuTarget { v3, v4 };  // AVX2 and FMA; AVX-512

constexpr std::string_view name_of(CpuTarget t) { return t == CpuTarget::v4 ? "x86-64-v4" : "x86-64-v3"; }

// The best target of this machine; KILN_TARGET=x86-64-v3 in the environment forces the smaller one.
CpuTarget cpu_target();

// Can this machine run code made for `target`?
bool cpu_supports(std::string_view target);

}  // namespace kiln
