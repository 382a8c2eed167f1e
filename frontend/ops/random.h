// Random tensors. Without a seed they come from the process's generator, which set_seed restarts: the same seed and the
// same order of calls give the same numbers, eagerly and compiled. With a seed the numbers depend on it alone.
#pragma once
#include <optional>
#include <source_location>

#include "frontend/tensor/operand.h"
#include "generated/ops.h"

namespace kiln {

// Restarts the generator: set_seed(7); also acts on functions that are already compiled. The first weights of layers
// made afterwards and the order of shuffles follow it too, unless they have a seed of their own.
void set_seed(int64_t seed);

// The i64[2] state {seed, counter} for one random op: {seed, 0} where a seed is given, else the generator's, which
// moves on by one. In a trace the generator's state is carried, so each call of the function draws anew.
Tensor random_state(std::optional<int64_t> seed = std::nullopt,
                    std::source_location where = std::source_location::current());

namespace random {

struct UniformOptions {
  double minval = 0, maxval = 1;  // numbers in [minval, maxval)
  DType dtype = DType::f32;
  std::optional<int64_t> seed = std::nullopt;
};
struct NormalOptions {
  double mean = 0, stddev = 1;
  DType dtype = DType::f32;
  std::optional<int64_t> seed = std::nullopt;
};

// Tensor w = random::normal({784, 10}, {.stddev = 0.1, .seed = 7});
Tensor normal(const Shape& shape, const NormalOptions& options = {},
              std::source_location where = std::source_location::current());
// Tensor u = random::uniform({32}, {.minval = -1});
Tensor uniform(const Shape& shape, const UniformOptions& options = {},
               std::source_location where = std::source_location::current());

}  // namespace random
}  // namespace kiln
