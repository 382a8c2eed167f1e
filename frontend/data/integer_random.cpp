#include "frontend/data/integer_random.h"

#include <atomic>

namespace kiln::detail {
namespace {
std::atomic<uint64_t> base{0}, count{0};
}

uint64_t next_seed() { return IntegerRandom(base.load(), count.fetch_add(1)).next(); }

void restart_seeds(uint64_t seed) {
  base.store(seed);
  count.store(0);
}

}  // namespace kiln::detail
