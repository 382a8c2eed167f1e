// First values of weights. They are made on the host, the same for a seed on every machine, also while a function is
// being traced.
#pragma once
#include <cstdint>
#include <functional>

#include "frontend/tensor/tensor.h"

namespace kiln {

// The first value of a weight of that shape and dtype; unlike seeds give unlike numbers.
using Initializer = std::function<Tensor(const Shape& shape, DType dtype, uint64_t seed)>;

namespace init {

// Evenly spread over +-sqrt(6 / (fan_in + fan_out)). The fans are the last two sizes times all the others: those of a
// Dense kernel [inputs, units], and of a convolution's [height, width, inputs, filters].
Tensor glorot_uniform(const Shape& shape, DType dtype, uint64_t seed);
Tensor zeros(const Shape& shape, DType dtype, uint64_t seed);
Tensor ones(const Shape& shape, DType dtype, uint64_t seed);

}  // namespace init

}  // namespace kiln
