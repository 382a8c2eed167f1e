#include "runtime/memory/planner.h"

#include <algorithm>
#include <numeric>

namespace kiln {

Result<ArenaPlan> plan_arena(std::span<const Lifetime> values) {
  constexpr size_t limit = size_t{1} << 60;
  ArenaPlan plan;
  plan.offsets.assign(values.size(), 0);
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return values[a].bytes != values[b].bytes ? values[a].bytes > values[b].bytes : a < b;
  });
  std::vector<size_t> placed;  // values that hold memory, by offset
  for (size_t v : order) {
    if (values[v].bytes > limit)
      return Status(Code::resource_exhausted, "a value of " + std::to_string(values[v].bytes) + " bytes");
    const size_t bytes = (values[v].bytes + arena_alignment - 1) / arena_alignment * arena_alignment;
    if (bytes == 0 || values[v].last < values[v].first) continue;
    // The smallest gap that fits between neighbours that are alive at the same time; else the end.
    size_t best = SIZE_MAX, best_gap = SIZE_MAX, end = 0;
    for (size_t p : placed) {
      if (values[p].last < values[v].first || values[v].last < values[p].first) continue;
      const size_t begin = plan.offsets[p];
      if (begin > end && begin - end >= bytes && begin - end < best_gap) {
        best = end;
        best_gap = begin - end;
      }
      const size_t rounded = (values[p].bytes + arena_alignment - 1) / arena_alignment * arena_alignment;
      end = std::max(end, begin + rounded);
    }
    const size_t offset = best != SIZE_MAX ? best : end;
    if (offset > limit - bytes) return Status(Code::resource_exhausted, "an arena of more than 2^60 bytes");
    plan.offsets[v] = offset;
    plan.bytes = std::max(plan.bytes, offset + bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), v,
                                   [&](size_t a, size_t b) { return plan.offsets[a] < plan.offsets[b]; }),
                  v);
  }
  return plan;
}

}  // namespace kiln
