#include "tools/kiln-bench/spec.h"

#include <span>

namespace kiln::bench {

Tensor u(const Shape& shape, uint32_t seed, float scale, float shift) {
  std::vector<float> values(static_cast<size_t>(shape.size()));
  for (uint32_t i = 0; i < values.size(); ++i)
    values[i] = (static_cast<float>(hash(i, seed) >> 8) * 0x1p-24f - 0.5f) * scale + shift;
  return Tensor(values, shape);
}

Tensor ints(const Shape& shape, uint32_t seed, uint32_t n) {
  std::vector<int32_t> values(static_cast<size_t>(shape.size()));
  for (uint32_t i = 0; i < values.size(); ++i) values[i] = static_cast<int32_t>(hash(i, seed) % n);
  return Tensor(values, shape);
}

Params& Params::weight(const Shape& shape, int64_t fan_in) {
  tensors_.push_back(u(shape, seed_++, static_cast<float>(std::sqrt(24.0 / static_cast<double>(fan_in)))));
  return *this;
}

Params& Params::fill(int64_t n, float value) {
  tensors_.push_back(Tensor(std::vector<float>(static_cast<size_t>(n), value), Shape{n}));
  return *this;
}

namespace {
template <class T>
void add_sums(std::span<const T> v, std::vector<double>& sums) {
  double absolute = 0, sum = 0;
  for (T x : v) absolute += std::abs(static_cast<double>(x)), sum += static_cast<double>(x);
  const double n = static_cast<double>(v.size());
  sums.insert(sums.end(), {absolute / n, sum / n});
  for (size_t i : {size_t{0}, v.size() / 3, v.size() / 2, v.size() - 1}) sums.push_back(static_cast<double>(v[i]));
}
}  // namespace

void add_checksum(const Tensor& x, std::vector<double>& sums) {
  const size_t n = static_cast<size_t>(x.size());
  switch (x.dtype()) {
    case DType::f32:
      return add_sums(std::span(x.data<float>(), n), sums);
    case DType::i32:
      return add_sums(std::span(x.data<int32_t>(), n), sums);
    case DType::i64:
      return add_sums(std::span(x.data<int64_t>(), n), sums);
    default:
      throw Error(Code::unimplemented, "checksum of " + to_string(x));
  }
}

}  // namespace kiln::bench
