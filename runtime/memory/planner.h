// Places values with known lifetimes in one arena.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/status.h"

namespace kiln {

inline constexpr size_t arena_alignment = 64;

// A value that is alive at all points of [first, last]. Two values with a common point never share memory.
struct Lifetime {
  size_t bytes = 0;
  int32_t first = 0, last = -1;
};

struct ArenaPlan {
  std::vector<size_t> offsets;  // one per value, multiples of arena_alignment
  size_t bytes = 0;             // size of the arena
};

// Greedy best fit, largest values first. resource_exhausted where the sizes do not fit in the address space.
//   ArenaPlan plan = plan_arena(lifetimes).value();
Result<ArenaPlan> plan_arena(std::span<const Lifetime> values);

}  // namespace kiln
