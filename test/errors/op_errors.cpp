// Wrong shapes, dtypes and options of ops, one each: eagerly and in a trace the same error.
#include "test/errors/errors_testing.h"

using namespace kiln;
using testing::refuses;
using testing::refuses_both;

namespace {

const Tensor a = {{1.f, 2.f}, {3.f, 4.f}};
const Tensor whole = {{1, 2}, {3, 4}};
constexpr Code invalid = Code::invalid_argument;

}  // namespace

TEST_CASE("subtract, multiply, maximum: shapes that do not broadcast") {
  const Tensor row = {1.f, 2.f, 3.f};
  refuses_both(
      invalid, {"subtract", "f32[2,2]", "f32[3]", "op_errors.cpp:"}, [](auto x, auto y) { return x - y; }, a, row);
  refuses_both(invalid, {"multiply", "f32[2,2]", "f32[3]"}, [](auto x, auto y) { return x * y; }, a, row);
  refuses_both(invalid, {"maximum", "f32[2,2]", "f32[3]"}, [](auto x, auto y) { return maximum(x, y); }, a, row);
}
TEST_CASE("divide: unlike dtypes") {
  refuses_both(invalid, {"divide", "f32[2,2]", "f64[]"}, [](auto x, auto y) { return x / y; }, a, Tensor(1.0));
}
TEST_CASE("pow: bool") {
  refuses_both(invalid, {"pow", "bool", "f32"}, [](auto x) { return pow(x, x); }, Tensor{true});
}
TEST_CASE("bitwise_and, left_shift: floats") {
  refuses_both(invalid, {"bitwise_and", "f32"}, [](auto x) { return x & x; }, a);
  refuses_both(invalid, {"left_shift", "f32"}, [](auto x) { return left_shift(x, x); }, a);
}
TEST_CASE("logical_and: numbers") {
  refuses_both(invalid, {"logical_and", "f32[2,2]", "bool"}, [](auto x) { return logical_and(x, x); }, a);
}
TEST_CASE("sqrt, sigmoid, relu: dtypes") {
  refuses_both(invalid, {"sqrt", "i32", "f32"}, [](auto x) { return sqrt(x); }, whole);
  refuses_both(invalid, {"sigmoid", "i32", "f32"}, [](auto x) { return sigmoid(x); }, whole);
  refuses_both(invalid, {"relu", "bool"}, [](auto x) { return relu(x); }, Tensor{true});
}
TEST_CASE("where: branches of unlike dtypes and shapes") {
  refuses_both(invalid, {"where", "f32[2,2]", "i32[2,2]"}, [](auto x, auto y) { return where(x > 1, x, y); }, a, whole);
  refuses_both(
      invalid, {"where", "bool[2,2]", "f32[3]"}, [](auto x, auto y) { return where(x > 1, y, y); }, a, ones({3}));
}
TEST_CASE("clip_by_value: bounds of another dtype") {
  refuses_both(
      invalid, {"clip_by_value", "f32[2,2]", "i32[]"}, [](auto x, auto y) { return clip(x, y, y); }, a, Tensor(1));
}
TEST_CASE("matmul: inner dims, batches, dtypes") {
  refuses_both(
      invalid, {"matmul", "f32[2,2]", "f32[3,2]", "2 columns", "3 rows"}, [](auto x, auto y) { return matmul(x, y); },
      a, ones({3, 2}));
  refuses_both(
      invalid, {"matmul", "f32[2,2,2]", "f32[3,2,2]"}, [](auto x, auto y) { return matmul(x, y); }, ones({2, 2, 2}),
      ones({3, 2, 2}));
  refuses_both(invalid, {"matmul", "f32[2,2]", "i32[2,2]"}, [](auto x, auto y) { return matmul(x, y); }, a, whole);
  refuses_both(
      invalid, {"matmul", "(transposed)"}, [](auto x, auto y) { return matmul(x, y, {.transpose_x = true}); },
      ones({3, 2}), ones({2, 5}));
  refuses_both(invalid, {"matmul", "f32[]"}, [](auto x, auto y) { return matmul(x, y); }, Tensor(1.f), a);
}
TEST_CASE("dot and tensordot: axes that do not fit") {
  refuses_both(invalid, {"dot", "f32[2]", "f32[3]"}, [](auto x, auto y) { return dot(x, y); }, ones({2}), ones({3}));
  refuses_both(
      invalid, {"tensordot", "f32[2,2]", "f32[3,2]"}, [](auto x, auto y) { return tensordot(x, y, {1}, {0}); }, a,
      ones({3, 2}));
  refuses_both(invalid, {"tensordot", "axis 5"}, [](auto x) { return tensordot(x, x, {5}, {0}); }, a);
}
TEST_CASE("conv2d: ranks, channels, window, options") {
  const Tensor image = ones({1, 4, 4, 2}), filter = ones({3, 3, 2, 5});
  refuses_both(invalid, {"conv2d", "f32[2,2]", "rank 4"}, [](auto x, auto f) { return conv2d(x, f); }, a, filter);
  refuses_both(
      invalid, {"conv2d", "f32[1,4,4,2]", "f32[3,3,1,5]", "channels"}, [](auto x, auto f) { return conv2d(x, f); },
      image, ones({3, 3, 1, 5}));
  refuses_both(
      invalid, {"conv2d", "window", "5"}, [](auto x, auto f) { return conv2d(x, f); }, image, ones({5, 5, 2, 5}));
  refuses_both(
      invalid, {"conv2d", "strides"}, [](auto x, auto f) { return conv2d(x, f, {.strides = {0, 1}}); }, image, filter);
  refuses_both(
      invalid, {"conv2d", "strides"}, [](auto x, auto f) { return conv2d(x, f, {.strides = {1}}); }, image, filter);
  refuses_both(
      invalid, {"conv2d", "dilations"}, [](auto x, auto f) { return conv2d(x, f, {.dilations = {1, -1}}); }, image,
      filter);
  refuses_both(
      invalid, {"conv2d", "\"full\"", "\"same\""}, [](auto x, auto f) { return conv2d(x, f, {.padding = "full"}); },
      image, filter);
  refuses_both(
      invalid, {"conv2d", "groups is 0"}, [](auto x, auto f) { return conv2d(x, f, {.groups = 0}); }, image, filter);
  refuses_both(
      invalid, {"conv2d", "f32", "f64"}, [](auto x, auto f) { return conv2d(x, f); }, image,
      ones({3, 3, 2, 5}, {.dtype = f64}));
  refuses_both(
      invalid, {"conv2d", "paddings"},
      [](auto x, auto f) { return conv2d(x, f, {.padding = "explicit", .paddings = {-1, 0, 0, 0}}); }, image, filter);
}
TEST_CASE("max_pool2d and avg_pool2d: rank, window, strides") {
  refuses_both(invalid, {"max_pool2d", "f32[2,2]", "rank 4"}, [](auto x) { return max_pool2d(x); }, a);
  refuses_both(
      invalid, {"max_pool2d", "window"}, [](auto x) { return max_pool2d(x, {.pool_size = {3, 3}}); },
      ones({1, 2, 2, 1}));
  refuses_both(
      invalid, {"avg_pool2d", "strides"}, [](auto x) { return avg_pool2d(x, {.strides = {0, 0}}); },
      ones({1, 2, 2, 1}));
}
TEST_CASE("reshape: sizes, two -1, -1 beside 0") {
  refuses_both(invalid, {"reshape", "f32[2,2]", "[3]"}, [](auto x) { return reshape(x, {3}); }, a);
  refuses_both(invalid, {"reshape", "[-1,3]"}, [](auto x) { return reshape(x, {-1, 3}); }, a);
  refuses_both(invalid, {"reshape", "[-1,-1]", "more than one -1"}, [](auto x) { return reshape(x, {-1, -1}); }, a);
  refuses_both(invalid, {"reshape", "[-1,0]"}, [](auto x) { return reshape(x, {-1, 0}); }, zeros({0}));
}
TEST_CASE("transpose: perm") {
  refuses_both(invalid, {"transpose", "f32[2,2]", "[0,0]"}, [](auto x) { return transpose(x, {{0, 0}}); }, a);
  refuses_both(invalid, {"transpose", "f32[2,2]", "[0]"}, [](auto x) { return transpose(x, {{0}}); }, a);
  refuses_both(invalid, {"transpose", "f32[2,2]", "[0,7]"}, [](auto x) { return transpose(x, {{0, 7}}); }, a);
  refuses_both(invalid, {"matrix_transpose", "f32[3]"}, [](auto x) { return matrix_transpose(x); }, ones({3}));
}
TEST_CASE("expand_dims and squeeze: axes") {
  refuses_both(invalid, {"expand_dims", "axis 4", "rank"}, [](auto x) { return expand_dims(x, 4); }, a);
  refuses_both(invalid, {"squeeze", "f32[2,2]", "axis 0", "size 1"}, [](auto x) { return squeeze(x, {{0}}); }, a);
  refuses_both(invalid, {"squeeze", "axis 2", "rank 2"}, [](auto x) { return squeeze(x, {{2}}); }, a);
}
TEST_CASE("broadcast_to: a shape that does not hold x") {
  refuses_both(invalid, {"broadcast_to", "f32[2,2]", "[3,2]"}, [](auto x) { return broadcast_to(x, {3, 2}); }, a);
  refuses_both(invalid, {"broadcast_to", "f32[2,2]", "[2]"}, [](auto x) { return broadcast_to(x, {2}); }, a);
  refuses_both(invalid, {"broadcast_to", "negative"}, [](auto x) { return broadcast_to(x, {2, -1, 2}); }, a);
}
TEST_CASE("slice: rank, bounds, stride") {
  refuses_both(invalid, {"slice", "f32[2,2]", "2 entries"}, [](auto x) { return slice(x, {0}, {1}); }, a);
  refuses_both(
      invalid, {"slice", "f32[2,2]", "begin 1", "size 2", "axis 0"}, [](auto x) { return slice(x, {1, 0}, {2, 1}); },
      a);
  refuses_both(invalid, {"slice", "f32[2,2]", "begin 3"}, [](auto x) { return slice(x, {3, 0}, {0, 1}); }, a);
  refuses_both(invalid, {"slice", "begin is negative"}, [](auto x) { return slice(x, {-1, 0}, {1, 1}); }, a);
  refuses_both(invalid, {"slice", "stride 0"}, [](auto x) { return slice(x, {0, 0}, {1, 1}, {{1, 0}}); }, a);
}
TEST_CASE("pad: number and sign of paddings") {
  refuses_both(invalid, {"pad", "f32[2,2]", "4 entries", "2"}, [](auto x) { return pad(x, {1, 1}); }, a);
  refuses_both(invalid, {"pad", "axis 1", "negative"}, [](auto x) { return pad(x, {0, 0, -1, 0}); }, a);
}
TEST_CASE("reverse, roll, tile, tril: axes and ranks") {
  refuses_both(invalid, {"reverse", "axis 2"}, [](auto x) { return reverse(x, {2}); }, a);
  refuses_both(invalid, {"reverse", "twice"}, [](auto x) { return reverse(x, {0, -2}); }, a);
  refuses_both(invalid, {"roll", "axis 2"}, [](auto x) { return roll(x, 1, 2); }, a);
  refuses_both(invalid, {"tile", "f32[2,2]"}, [](auto x) { return tile(x, {2}); }, a);
  refuses_both(invalid, {"tile", "-1"}, [](auto x) { return tile(x, {2, -1}); }, a);
  refuses_both(invalid, {"tril", "f32[]"}, [](auto x) { return tril(x); }, Tensor(1.f));
}
TEST_CASE("concat and stack: unlike dims, dtypes, axis, nothing") {
  refuses_both(
      invalid, {"concat", "xs[0] is f32[2,2]", "xs[1] is f32[1,3]"}, [](auto x, auto y) { return concat({x, y}, 0); },
      a, ones({1, 3}));
  refuses_both(invalid, {"concat", "f32[2,2]", "i32[2,2]"}, [](auto x, auto y) { return concat({x, y}, 0); }, a, whole);
  refuses_both(invalid, {"concat", "axis 2", "rank 2"}, [](auto x) { return concat({x, x}, 2); }, a);
  refuses(invalid, {"concat"}, [] { concat(std::vector<Tensor>{}, 0); });
  refuses_both(
      invalid, {"stack", "f32[1,2,2]", "f32[1,1,3]"}, [](auto x, auto y) { return stack({x, y}); }, a, ones({1, 3}));
  refuses(invalid, {"stack"}, [] { stack(std::vector<Tensor>{}); });
}
TEST_CASE("split and unstack: parts and axis") {
  refuses_both(invalid, {"split", "size 2", "3 equal parts"}, [](auto x) { return split(x, {3})[0]; }, a);
  refuses_both(invalid, {"split", "add up", "2"}, [](auto x) { return split(x, {1, 2})[0]; }, a);
  refuses_both(invalid, {"split", "axis 2"}, [](auto x) { return split(x, {1}, {2})[0]; }, a);
  refuses_both(invalid, {"unstack", "axis 2"}, [](auto x) { return unstack(x, {2})[0]; }, a);
}
TEST_CASE("reductions: axis, twice the same, dtype, empty") {
  refuses_both(invalid, {"reduce_sum", "axis 2", "rank 2"}, [](auto x) { return reduce_sum(x, {{2}}); }, a);
  refuses_both(invalid, {"reduce_sum", "twice"}, [](auto x) { return reduce_sum(x, {{0, -2}}); }, a);
  refuses_both(invalid, {"reduce_mean", "axis -3"}, [](auto x) { return reduce_mean(x, {{-3}}); }, a);
  refuses_both(invalid, {"reduce_any", "f32[2,2]", "bool"}, [](auto x) { return any(x); }, a);
  refuses_both(
      invalid, {"reduce_max", "f32[0,2]", "empty"}, [](auto x) { return reduce_max(x, {{0}}); }, zeros({0, 2}));
  refuses_both(invalid, {"argmax", "axis 2"}, [](auto x) { return argmax(x, {2}); }, a);
  refuses_both(invalid, {"argmax", "f32[0]", "empty"}, [](auto x) { return argmax(x); }, zeros({0}));
  refuses_both(invalid, {"cumsum", "axis 2"}, [](auto x) { return cumsum(x, {2}); }, a);
  refuses_both(invalid, {"softmax", "axis 2"}, [](auto x) { return softmax(x, {2}); }, a);
}
TEST_CASE("gather and its kin: dtypes and shapes of indices") {
  refuses_both(invalid, {"gather", "indices", "f32[2,2]", "i32 or i64"}, [](auto x) { return gather(x, x); }, a);
  refuses_both(invalid, {"gather", "axis 0", "rank 0"}, [](auto x) { return gather(x, 0); }, Tensor(1.f));
  refuses_both(
      invalid, {"take_along_axis", "f32[2,2]", "i32[3]"}, [](auto x, auto i) { return take_along_axis(x, i); }, a,
      Tensor{0, 1, 0});
  refuses_both(
      invalid, {"gather_nd", "f32[2,2]", "i32[1,3]", "at most 2"}, [](auto x, auto i) { return gather_nd(x, i); }, a,
      Tensor{{0, 1, 0}});
  refuses_both(
      invalid, {"scatter_add", "updates is f32[3]", "f32[2,2]"},
      [](auto x, auto i) { return scatter_add(x, i, ones({3})); }, a, Tensor{0, 1});
  refuses_both(
      invalid, {"scatter_nd", "f32[3]"}, [](auto i) { return scatter_nd(i, ones({3}), {4}); }, Tensor{{0}, {1}});
  refuses_both(invalid, {"top_k", "f32[2,2]", "k is 3"}, [](auto x) { return std::get<0>(top_k(x, {3})); }, a);
  refuses_both(invalid, {"sort", "axis 2"}, [](auto x) { return sort(x, {2}); }, a);
}
TEST_CASE("one_hot: indices, depth") {
  refuses_both(invalid, {"one_hot", "f32", "i32"}, [](auto x) { return one_hot(x, 3); }, a);
  refuses_both(invalid, {"one_hot", "-1"}, [](auto x) { return one_hot(x, -1); }, whole);
  refuses_both(invalid, {"one_hot", "axis 4"}, [](auto x) { return one_hot(x, 3, {.axis = 4}); }, whole);
}
TEST_CASE("cast and sources: a dtype without kernels") {
  refuses_both(invalid, {"cast", "c64"}, [](auto x) { return cast(x, c64); }, a);
  refuses_both(invalid, {"cast", "bf16"}, [](auto x) { return x.to(bf16); }, a);
  refuses_both(invalid, {"cast", "f16"}, [](auto x) { return cast(x, f16); }, a);
  refuses(invalid, {"zeros", "u8"}, [] { zeros({2}, {.dtype = u8}); });
  refuses(invalid, {"zeros", "negative"}, [] { zeros({-2}); });
  refuses(invalid, {"full", "[2,-1]"}, [] { full({2, -1}, 1.f); });
  refuses(invalid, {"eye", "negative"}, [] { eye(-1); });
  refuses(invalid, {"arange", "delta"}, [] { arange(0, 5, {.delta = 0}); });
  refuses(invalid, {"linspace", "-3"}, [] { linspace(0, 1, -3); });
  refuses(invalid, {"stateless_random_normal", "seed is i32[2]", "i64"},
          [] { stateless_random_normal(Tensor{1, 2}, {3}); });
  refuses(invalid, {"random", "i32"}, [] { random::uniform({3}, {.dtype = i32}); });
}
TEST_CASE("bias_add, layer_normalization, cross-entropy: shapes") {
  refuses_both(invalid, {"bias_add", "f32[2,2]", "f32[3]"}, [](auto x) { return bias_add(x, ones({3})); }, a);
  refuses_both(
      invalid, {"layer_normalization", "f32[2,2]", "f32[3]"},
      [](auto x) { return layer_normalization(x, ones({3}), ones({2})); }, a);
  refuses_both(
      invalid, {"softmax_cross_entropy_with_logits", "f32[2,2]", "f32[2,3]"},
      [](auto x) { return softmax_cross_entropy_with_logits(x, ones({2, 3})); }, a);
  refuses_both(
      invalid, {"sparse_softmax_cross_entropy_with_logits", "i32[3]", "f32[2,2]"},
      [](auto y, auto x) { return sparse_softmax_cross_entropy_with_logits(y, x); }, Tensor{0, 1, 0}, a);
  refuses_both(
      invalid, {"dropout", "-0.5"}, [](auto x) { return dropout(x, Tensor{int64_t{1}, int64_t{2}}, -0.5); }, a);
}
