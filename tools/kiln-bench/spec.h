// Inputs, weights and checksums of the workloads, the same numbers as in every other implementation of them.
#pragma once
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "frontend/include/kiln/kiln.h"

namespace kiln::bench {

// The integer hash that all inputs come from; i is the row-major index of an element.
constexpr uint32_t hash(uint32_t i, uint32_t seed) {
  uint32_t h = i + seed * 0x9E3779B9u;
  h = (h ^ (h >> 16)) * 0x85EBCA6Bu;
  h = (h ^ (h >> 13)) * 0xC2B2AE35u;
  return h ^ (h >> 16);
}

// f32 in [-0.5, 0.5) * scale + shift.
Tensor u(const Shape& shape, uint32_t seed, float scale = 1, float shift = 0);
// i32 in [0, n).
Tensor ints(const Shape& shape, uint32_t seed, uint32_t n);

// The weights of a model in the order they are added; the k-th random array uses seed 100 + k.
class Params {
 public:
  Params& weight(const Shape& shape) { return weight(shape, shape.size() / shape[shape.rank() - 1].size()); }
  Params& weight(const Shape& shape, int64_t fan_in);
  Params& zeros(int64_t n) { return fill(n, 0); }
  Params& ones(int64_t n) { return fill(n, 1); }
  Params& dense(int64_t in, int64_t out) { return weight({in, out}).zeros(out); }
  Params& conv(int64_t k, int64_t in, int64_t out) { return weight({k, k, in, out}); }
  // Filter, scale (1) and offset (0) of the batch-norm after it.
  Params& conv_norm(int64_t k, int64_t in, int64_t out) { return conv(k, in, out).ones(out).zeros(out); }
  Params& depthwise_norm(int64_t k, int64_t c) { return weight({k, k, c, 1}, k * k).ones(c).zeros(c); }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  std::vector<Variable> variables() const { return {tensors_.begin(), tensors_.end()}; }

 private:
  Params& fill(int64_t n, float value);
  std::vector<Tensor> tensors_;
  uint32_t seed_ = 100;
};

// Six numbers per output: mean |v|, mean v, and v at flat index 0, n/3, n/2, n-1; all summed in f64.
void add_checksum(const Tensor& x, std::vector<double>& sums);

}  // namespace kiln::bench
