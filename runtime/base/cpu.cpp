#include "runtime/base/cpu.h"

#include <cstdlib>

namespace kiln {

CpuTarget cpu_target() {
  static const CpuTarget target = [] {
    const char* forced = std::getenv("KILN_TARGET");
    if (forced && std::string_view(forced) == name_of(CpuTarget::v3)) return CpuTarget::v3;
    return __builtin_cpu_supports("x86-64-v4") ? CpuTarget::v4 : CpuTarget::v3;
  }();
  return target;
}

bool cpu_supports(std::string_view target) {
  if (target == name_of(CpuTarget::v3)) return __builtin_cpu_supports("x86-64-v3");
  if (target == name_of(CpuTarget::v4)) return __builtin_cpu_supports("x86-64-v4");
  return false;
}

}  // namespace kiln
