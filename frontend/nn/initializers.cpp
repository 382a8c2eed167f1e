#include "frontend/nn/initializers.h"

#include <algorithm>
#include <cmath>

#include "frontend/data/integer_random.h"
#include "frontend/include/kiln/error.h"
#include "frontend/tensor/rep.h"

namespace kiln {
namespace {

// A tensor whose elements are element(), called for each in order.
template <class F>
Tensor filled(const Shape& shape, DType dtype, F element) {
  Tensor x = detail::make_uninitialised(dtype, shape, {});
  auto fill = [&]<class T>(T) { std::generate_n(reinterpret_cast<T*>(x.rep()->data()), shape.size(), element); };
  if (dtype == DType::f32)
    fill(float{});
  else if (dtype == DType::f64)
    fill(double{});
  else
    throw_error(Code::invalid_argument, "initializer: weights are f32 or f64, not " + std::string(name_of(dtype)), {});
  return x;
}

}  // namespace

Tensor init::glorot_uniform(const Shape& shape, DType dtype, uint64_t seed) {
  double field = 1;
  for (int i = 0; i < shape.rank() - 2; ++i) field *= static_cast<double>(shape[i].size());
  const double outputs = shape.rank() > 0 ? static_cast<double>(shape.back().size()) : 1;
  const double inputs = shape.rank() > 1 ? static_cast<double>(shape[shape.rank() - 2].size()) : outputs;
  const auto limit = static_cast<float>(std::sqrt(6 / std::max(field * (inputs + outputs), 1.0)));
  detail::IntegerRandom random(seed);
  return filled(shape, dtype, [&] { return (2 * random.uniform() - 1) * limit; });
}
Tensor init::zeros(const Shape& shape, DType dtype, uint64_t) {
  return filled(shape, dtype, [] { return 0.f; });
}
Tensor init::ones(const Shape& shape, DType dtype, uint64_t) {
  return filled(shape, dtype, [] { return 1.f; });
}

}  // namespace kiln
