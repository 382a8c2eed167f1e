// Every gradient rule against central differences in f64, and the values at kinks that Kiln promises.
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "frontend/include/kiln/kiln.h"

using namespace kiln;

namespace {

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

struct Case {
  std::string name;
  Function f;
  std::vector<Shape> shapes;
  double low = -2, high = 2;  // range of the inputs
};

Tensor random_input(std::mt19937& random, const Shape& shape, double low, double high) {
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<double> v(shape.size());
  for (double& x : v) x = uniform(random);
  return Tensor(v, shape);
}

// The scalar whose gradient is tested: the results weighted by fixed numbers, so that no error can cancel.
Tensor weighted(const Tensor& y) {
  const Tensor weights = cast(iota(y.shape(), {DType::i32}), DType::f64) * 0.37 + 0.5;
  return reduce_sum(y * sin(weights));
}

void check(const Case& c) {
  INFO(c.name);
  std::mt19937 random(7);
  std::vector<Tensor> inputs;
  for (const Shape& s : c.shapes) inputs.push_back(random_input(random, s, c.low, c.high));
  GradientTape tape({.persistent = true});
  for (const Tensor& x : inputs) tape.watch(x);
  const Tensor target = weighted(c.f(inputs));
  for (size_t k = 0; k < inputs.size(); ++k) {
    const Tensor gradient = tape.gradient(target, inputs[k]);
    REQUIRE(gradient.defined());
    REQUIRE(gradient.shape() == inputs[k].shape());
    const std::vector<double> got = gradient.to_vector<double>(), at = inputs[k].to_vector<double>();
    for (size_t i = 0; i < at.size(); ++i) {
      constexpr double h = 1e-5;
      auto value = [&](double x) {
        std::vector<double> moved = at;
        moved[i] = x;
        std::vector<Tensor> copy = inputs;
        copy[k] = Tensor(moved, inputs[k].shape());
        return weighted(c.f(copy)).item<double>();
      };
      const double want = (value(at[i] + h) - value(at[i] - h)) / (2 * h);
      INFO("operand " << k << ", element " << i);
      CHECK(got[i] == Approx(want).epsilon(1e-6).margin(1e-7));
    }
  }
}

Case unary(const std::string& name, Tensor (*op)(const Operand&), double low = -2, double high = 2) {
  return {name, [op](const std::vector<Tensor>& x) { return op(x[0]); }, {{2, 3}}, low, high};
}
// Broadcasting both ways.
Case binary(const std::string& name, Tensor (*op)(const Operand&, const Operand&), double low = -2, double high = 2) {
  return {name, [op](const std::vector<Tensor>& x) { return op(x[0], x[1]); }, {{2, 1, 3}, {4, 1}}, low, high};
}

Tensor gradient_of(const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
  GradientTape tape;
  tape.watch(x);
  const Tensor y = f(x);
  return tape.gradient(y, x);
}

}  // namespace

TEST_CASE("gradients of elementwise ops") {
  for (const Case& c : {unary("negative", negative),
                        unary("abs", abs),
                        unary("square", square),
                        unary("sqrt", sqrt, 0.5, 3),
                        unary("rsqrt", rsqrt, 0.5, 3),
                        unary("reciprocal", reciprocal, 0.5, 3),
                        unary("exp", exp),
                        unary("expm1", expm1),
                        unary("log", log, 0.5, 3),
                        unary("log1p", log1p, -0.5, 3),
                        unary("sin", sin),
                        unary("cos", cos),
                        unary("tan", tan, -1, 1),
                        unary("asin", asin, -0.8, 0.8),
                        unary("acos", acos, -0.8, 0.8),
                        unary("atan", atan),
                        unary("sinh", sinh),
                        unary("cosh", cosh),
                        unary("tanh", tanh),
                        unary("erf", erf),
                        unary("sigmoid", sigmoid),
                        unary("relu", relu),
                        unary("relu6", relu6, -1, 8),
                        unary("silu", silu),
                        unary("softplus", softplus),
                        unary("softsign", softsign),
                        unary("identity", identity),
                        binary("add", add),
                        binary("subtract", subtract),
                        binary("multiply", multiply),
                        binary("divide", divide, 0.5, 3),
                        binary("pow", pow, 0.5, 2),
                        binary("maximum", maximum),
                        binary("minimum", minimum),
                        binary("atan2", atan2, 0.5, 2),
                        binary("squared_difference", squared_difference),
                        binary("floormod", floormod, 1.1, 1.9)})
    check(c);
  check({"leaky_relu", [](auto& x) { return leaky_relu(x[0], {0.3}); }, {{7}}});
  check({"elu", [](auto& x) { return elu(x[0], {0.3}); }, {{7}}});
  check({"gelu", [](auto& x) { return gelu(x[0]); }, {{7}}});
  check({"gelu, approximate", [](auto& x) { return gelu(x[0], {true}); }, {{7}}});
  check({"where", [](auto& x) { return where(greater(x[2], 0), x[0], x[1]) + 0 * x[2]; }, {{2, 3}, {3}, {2, 1}}});
  check({"clip_by_value", [](auto& x) { return clip_by_value(x[0], x[1] - 1.5, x[1] + 1.5); }, {{2, 5}, {5}}});
  check({"cast", [](auto& x) { return cast(cast(x[0], DType::f64), DType::f64) * 2; }, {{3}}});
  check({"broadcast_to", [](auto& x) { return broadcast_to(x[0], {2, 3, 4}); }, {{3, 1}}});
}

TEST_CASE("gradients of reductions and scans") {
  for (const ReduceOptions& o : {ReduceOptions{}, ReduceOptions{{1}, false}, ReduceOptions{{-1, 0}, true}}) {
    check({"reduce_sum", [&](auto& x) { return reduce_sum(x[0], o); }, {{2, 3, 2}}});
    check({"reduce_prod", [&](auto& x) { return reduce_prod(x[0], o); }, {{2, 3, 2}}});
    check({"reduce_max", [&](auto& x) { return reduce_max(x[0], o); }, {{2, 3, 2}}});
    check({"reduce_min", [&](auto& x) { return reduce_min(x[0], o); }, {{2, 3, 2}}});
    check({"reduce_mean", [&](auto& x) { return reduce_mean(x[0], o); }, {{2, 3, 2}}});
    check({"reduce_variance", [&](auto& x) { return reduce_variance(x[0], o); }, {{2, 3, 2}}});
    check({"reduce_std", [&](auto& x) { return reduce_std(x[0], o); }, {{2, 3, 2}}});
    check({"reduce_euclidean_norm", [&](auto& x) { return reduce_euclidean_norm(x[0], o); }, {{2, 3, 2}}});
    check({"reduce_logsumexp", [&](auto& x) { return reduce_logsumexp(x[0], o); }, {{2, 3, 2}}});
  }
  for (const bool exclusive : {false, true})
    for (const bool reverse : {false, true}) {
      check({"cumsum", [&](auto& x) { return cumsum(x[0], {1, exclusive, reverse}); }, {{2, 3, 2}}});
      check({"cumprod", [&](auto& x) { return cumprod(x[0], {1, exclusive, reverse}); }, {{2, 3, 2}}, 0.5, 2});
    }
}

TEST_CASE("gradients of shape and index ops") {
  check({"reshape", [](auto& x) { return reshape(x[0], {-1, 2}); }, {{2, 3}}});
  check({"expand_dims", [](auto& x) { return expand_dims(x[0], 1); }, {{2, 3}}});
  check({"squeeze", [](auto& x) { return squeeze(x[0]); }, {{2, 1, 3}}});
  check({"transpose", [](auto& x) { return transpose(x[0], {{1, 2, 0}}); }, {{2, 3, 4}}});
  check({"matrix_transpose", [](auto& x) { return matrix_transpose(x[0]); }, {{2, 3, 4}}});
  check({"slice", [](auto& x) { return slice(x[0], {1, 0}, {2, -1}, {{2, 2}}); }, {{5, 4}}});
  check({"slice_backward", [](auto& x) { return slice_backward(x[0], {5, 4}, {1, 0}, {{2, 2}}); }, {{2, 2}}});
  check({"pad", [](auto& x) { return pad(x[0], {1, 2, 0, 1}, {3}); }, {{2, 3}}});
  check({"reverse", [](auto& x) { return reverse(x[0], {0, -1}); }, {{2, 3, 2}}});
  check({"concat", [](auto& x) { return concat({x[0], x[1]}, 1); }, {{2, 3}, {2, 1}}});
  check({"stack", [](auto& x) { return stack({x[0], x[1]}, {1}); }, {{2, 3}, {2, 3}}});
  check({"split", [](auto& x) { return split(x[0], {2, 3}, {1})[1]; }, {{2, 5}}});
  check({"unstack", [](auto& x) { return unstack(x[0], {1})[2]; }, {{2, 3}}});
  check({"tile", [](auto& x) { return tile(x[0], {2, 1, 3}); }, {{2, 3, 1}}});
  check({"roll", [](auto& x) { return roll(x[0], -1, 1); }, {{2, 3}}});
  check({"tril", [](auto& x) { return tril(x[0]); }, {{3, 3}}});
  const Tensor rows = {2, 0, 2}, pairs = {{1, 0}, {0, 2}, {1, 0}}, along = {{0, 2}, {1, 1}};
  check({"gather", [&](auto& x) { return gather(x[0], rows, {1}); }, {{2, 3, 2}}});
  check({"gather_backward", [&](auto& x) { return gather_backward(x[0], rows, {2, 4}, {1}); }, {{2, 3}}});
  check({"scatter_add", [&](auto& x) { return scatter_add(x[0], rows, x[1]); }, {{4, 2}, {3, 2}}});
  check({"take", [&](auto& x) { return take(x[0], Tensor{-1, 0}, {1}); }, {{2, 3}}});
  check({"take_along_axis", [&](auto& x) { return take_along_axis(x[0], along, {1}); }, {{2, 3}}});
  check({"take_along_axis, first", [&](auto& x) { return take_along_axis(x[0], along, {0}); }, {{3, 2}}});
  check({"gather_nd", [&](auto& x) { return gather_nd(x[0], pairs); }, {{2, 3, 2}}});
  check({"tensor_scatter_nd_add", [&](auto& x) { return tensor_scatter_nd_add(x[0], pairs, x[1]); }, {{2, 3}, {3}}});
  check({"sort", [](auto& x) { return sort(x[0], {0, true}); }, {{4, 2}}});
  check({"top_k", [](auto& x) { return std::get<0>(top_k(x[0], {2})); }, {{2, 4}}});
}

TEST_CASE("gradients of matmul, convolutions and pools") {
  for (const bool tx : {false, true})
    for (const bool ty : {false, true}) {
      check({"matmul",
             [=](auto& x) { return matmul(x[0], x[1], {tx, ty}); },
             {tx ? Shape{3, 2} : Shape{2, 3}, ty ? Shape{4, 3} : Shape{3, 4}}});
      check({"matmul, batches",
             [=](auto& x) { return matmul(x[0], x[1], {tx, ty}); },
             {tx ? Shape{2, 1, 3, 2} : Shape{2, 1, 2, 3}, ty ? Shape{3, 4, 3} : Shape{3, 3, 4}}});
    }
  check({"tensordot", [](auto& x) { return tensordot(x[0], x[1], {2, 0}, {0, 1}); }, {{2, 3, 4}, {4, 2, 3}}});
  check({"dot", [](auto& x) { return dot(x[0], x[1]); }, {{2, 3}, {3}}});
  check({"outer", [](auto& x) { return outer(x[0], x[1]); }, {{2}, {3}}});
  for (const Conv2dOptions& o : {Conv2dOptions{}, Conv2dOptions{.strides = {2, 1}, .padding = "same"},
                                 Conv2dOptions{.padding = "explicit", .paddings = {1, 0, 2, 1}, .dilations = {2, 1}}}) {
    const Shape image{2, 5, 4, 2}, filter{2, 2, 2, 3};
    check({"conv2d", [&](auto& x) { return conv2d(x[0], x[1], o); }, {image, filter}});
    const Shape result = conv2d(zeros(image), zeros(filter), o).shape();
    check({"conv2d_backward_input",
           [&](auto& x) { return conv2d_backward_input(x[0], x[1], image, o); },
           {filter, result}});
    check({"conv2d_backward_filter",
           [&](auto& x) { return conv2d_backward_filter(x[0], x[1], filter, o); },
           {image, result}});
  }
  check({"conv2d, groups", [](auto& x) { return conv2d(x[0], x[1], {.groups = 2}); }, {{1, 3, 3, 4}, {2, 2, 2, 2}}});
  for (const Pool2dOptions& o :
       {Pool2dOptions{}, Pool2dOptions{.pool_size = {3, 2}, .strides = {1, 2}, .padding = "same"}}) {
    check({"max_pool2d", [&](auto& x) { return max_pool2d(x[0], o); }, {{1, 4, 5, 2}}});
    check({"avg_pool2d", [&](auto& x) { return avg_pool2d(x[0], o); }, {{1, 4, 5, 2}}});
    const Shape result = avg_pool2d(zeros({1, 4, 5, 2}), o).shape();
    check({"avg_pool2d_backward", [&](auto& x) { return avg_pool2d_backward(x[0], {1, 4, 5, 2}, o); }, {result}});
  }
}

TEST_CASE("gradients of losses and normalizations") {
  const Tensor labels = {2, 0};
  check({"softmax", [](auto& x) { return softmax(x[0], {0}); }, {{3, 2}}});
  check({"log_softmax", [](auto& x) { return log_softmax(x[0]); }, {{2, 3}}});
  check({"softmax_cross_entropy",
         [](auto& x) { return softmax_cross_entropy_with_logits(x[0], x[1]); },
         {{2, 3}, {2, 3}},
         0.1,
         2});
  check({"sparse_softmax_cross_entropy",
         [&](auto& x) { return sparse_softmax_cross_entropy_with_logits(labels, x[0]); },
         {{2, 3}}});
  check({"sigmoid_cross_entropy",
         [](auto& x) { return sigmoid_cross_entropy_with_logits(x[0], x[1]); },
         {{2, 3}, {2, 3}}});
  check({"layer_normalization", [](auto& x) { return layer_normalization(x[0], x[1], x[2]); }, {{2, 4}, {4}, {4}}});
  check({"batch_normalization",
         [](auto& x) { return batch_normalization(x[0], x[1], square(x[2]), x[3], x[4]); },
         {{3, 2}, {2}, {2}, {2}, {2}}});
  check({"bias_add", [](auto& x) { return bias_add(x[0], x[1]); }, {{2, 2, 3}, {3}}});
  check({"dropout", [](auto& x) { return dropout(x[0], Tensor{int64_t{1}, int64_t{2}}, 0.5); }, {{8}}});
}

TEST_CASE("gradients at kinks (D26, P11, P12)") {
  using V = std::vector<double>;
  const double inf = std::numeric_limits<double>::infinity();
  auto at = [](const std::function<Tensor(const Tensor&)>& f, V x) {
    return gradient_of(f, Tensor(x)).to_vector<double>();
  };
  CHECK(at([](auto& x) { return norm(x); }, {0, 0}) == V{0, 0});
  CHECK(at([](auto& x) { return square(norm(x)); }, {0, 0}) == V{0, 0});
  CHECK(at([](auto& x) { return abs(x); }, {0}) == V{0});
  CHECK(at([](auto& x) { return relu(x); }, {0}) == V{0});
  CHECK(at([](auto& x) { return sqrt(x); }, {0}) == V{inf});
  CHECK(at([](auto& x) { return reduce_max(x); }, {1, 1, 0}) == V{.5, .5, 0});
  CHECK(at([](auto& x) { return maximum(x, 1); }, {1}) == V{.5});
  CHECK(at([](auto& x) { return pow(x, Tensor{0., 1., 2., .5}); }, {0, 0, 0, 0}) == V{0, 1, 0, inf});
  CHECK(at([](auto& e) { return pow(0, e); }, {2}) == V{0});
  CHECK(at([](auto& x) { return reduce_logsumexp(x); }, {-inf, -inf}) == V{0, 0});
  CHECK(at([](auto& x) { return reduce_prod(x); }, {0, 2, 3}) == V{6, 0, 0});
  CHECK(at([](auto& x) { return reduce_prod(x); }, {0, 0, 3}) == V{0, 0, 0});
  CHECK(at([](auto& x) { return softplus(x); }, {0}) == V{.5});
  CHECK(at([](auto& z) { return sigmoid_cross_entropy_with_logits(Tensor{0., 1.}, z); }, {1000, -1000}) == V{1, -1});
  CHECK(at([](auto& z) { return sparse_softmax_cross_entropy_with_logits(1, z); }, {-inf, 0, 0}) == V{0, -.5, .5});
  CHECK(at([](auto& z) { return sparse_softmax_cross_entropy_with_logits(1, z); }, {1e4, -1e4}) == V{1, -1});
}
