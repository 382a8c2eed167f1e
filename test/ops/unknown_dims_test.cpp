// Structured ops, views and composite ops traced once with unknown dims and run with several sizes, 1 and 0 among them.
#include <catch2/catch.hpp>

#include "test/ops/ops_testing.h"

using namespace kiln;
using namespace kiln::ops_testing;

namespace {

using In = const std::vector<Tensor>&;
using Out = std::vector<Tensor>;

Tensor labels(const Shape& shape, int64_t classes, uint32_t seed, DType dtype = DType::i32) {
  return numbers(dtype, shape, 0, static_cast<double>(classes - 1), seed);
}

}  // namespace

TEST_CASE("movements of unknown sizes", "[quick]") {
  const DType t = GENERATE(DType::bool_, DType::i32, DType::i64, DType::f32, DType::f64);
  const std::vector<Item> items = {
      {"transpose", [](In x) { return Out{transpose(x[0])}; }},
      {"transpose of three", [](In x) { return Out{transpose(reshape(x[0], {-1, x[0].dim(1), 1}), {{2, 0, 1}})}; }},
      {"matrix_transpose", [](In x) { return Out{matrix_transpose(x[0])}; }},
      {"reshape", [](In x) { return Out{reshape(x[0], {-1}), reshape(x[0], {1, -1, x[0].dim(1)})}; }},
      {"expand and squeeze", [](In x) { return Out{expand_dims(x[0], 1), squeeze(expand_dims(x[0], -1), {{-1}})}; }},
      {"concat", [](In x) { return Out{concat({x[0], x[1]}, 0), concat({x[0], x[0], x[0]}, -1)}; }},
      {"stack", [](In x) { return Out{stack({x[0], x[1]}, {1})}; }},
      {"pad", [](In x) { return Out{pad(x[0], {1, 2, 0, 3}, {1})}; }},
      {"reverse", [](In x) { return Out{reverse(x[0], {0}), reverse(x[0], {1, 0})}; }},
      {"slice", [](In x) { return Out{slice(x[0], {0, 1}, {-1, -1}, {{1, 2}})}; }},
      {"index", [](In x) { return Out{x[2][{all, 0}], x[2][{all, -1}], x[2][{all, slice(1, 3)}]}; }},
      {"tile", [](In x) { return Out{tile(x[0], {2, 3})}; }},
      {"roll", [](In x) { return Out{roll(x[2], 1, 1)}; }},
      {"size", [](In x) { return Out{size(x[0]), size(x[0], {{0}})}; }},
      {"broadcast_to", [](In x) { return Out{broadcast_to(x[0], {3, x[0].dim(0), x[0].dim(1)})}; }},
      {"full_like", [](In x) { return Out{zeros_like(x[0]), ones_like(x[0]), full({x[0].dim(0), 2}, 1)}; }},
      {"identity", [](In x) { return Out{identity(x[0]), stop_gradient(x[1])}; }},
      {"sources", [](In x) { return Out{iota(x[0].shape()), zeros({x[0].dim(1)}), ones({2, x[0].dim(0)})}; }},
  };
  std::vector<std::vector<Tensor>> sets;
  for (const auto [a, b] : {std::pair{4, 5}, {1, 3}, {3, 1}, {0, 2}, {33, 17}})
    sets.push_back({numbers(t, {a, b}, -4, 4, 1), numbers(t, {a, b}, -4, 4, 2), numbers(t, {a, 3}, -4, 4, 3)});
  check_everywhere("movements", items, sets, {.dims = {{"a", "b"}, {"a", "b"}, {"a", 3}}});
}

TEST_CASE("indexing ops of unknown sizes") {
  const DType t = GENERATE(DType::i32, DType::i64, DType::f32, DType::f64);
  const std::vector<Item> items = {
      {"gather", [](In x) { return Out{gather(x[0], x[1]), gather(x[0], x[2], {-1})}; }},
      {"take", [](In x) { return Out{take(x[4], x[3] - 7)}; }},
      {"gather_backward", [](In x) { return Out{gather_backward(x[0], x[3], {7, x[0].dim(1)})}; }},
      {"scatter_add", [](In x) { return Out{scatter_add(x[4], x[3], x[0])}; }},
      {"take_along_axis", [](In x) { return Out{take_along_axis(x[0], expand_dims(x[5], 1), {1})}; }},
      {"gather_nd", [](In x) { return Out{gather_nd(x[0], expand_dims(x[1], -1))}; }},
      {"scatter_nd", [](In x) { return Out{scatter_nd(expand_dims(x[3], -1), x[0], {7, x[0].dim(1)})}; }},
      {"one_hot", [](In x) { return Out{one_hot(x[3], 7), one_hot(x[3], 7, {.axis = 0})}; }},
      {"argsort", [](In x) { return Out{argsort(x[0]), sort(x[0], {0}), sort(x[0], {-1, true})}; }},
      {"top_k",
       [](In x) {
         auto [values, places] = top_k(transpose(x[4]), {2});
         return Out{values, places};
       }},
      {"argmax", [](In x) { return Out{argmax(x[0], {1}), argmin(x[0], {-1})}; }},
      {"cumsum", [](In x) { return Out{cumsum(x[0]), cumprod(x[0], {1, true, true})}; }},
      {"tril", [](In x) { return Out{tril(x[0]), triu(x[0], {1})}; }},
      {"check_range", [](In x) { return Out{check_range(x[3], {7})}; }},
      {"outer", [](In x) { return Out{outer(reduce_max(x[0], {{1}}), x[4][0])}; }},
  };
  std::vector<std::vector<Tensor>> sets;
  for (const auto [n, m] : {std::pair{4, 5}, {3, 2}, {20, 30}})
    sets.push_back({numbers(t, {n, m}, -4, 4, 1), labels({6}, n, 2), labels({2, 2}, m, 3, DType::i64),
                    labels({n}, 7, 4), numbers(t, {7, m}, -4, 4, 5), labels({n}, m, 6)});
  check_everywhere("indexing", items, sets, {.dims = {{"n", "m"}, {6}, {2, 2}, {"n"}, {7, "m"}, {"n"}}});
}

TEST_CASE("matmul, convolution and pooling of unknown batches") {
  const DType t = GENERATE(DType::f32, DType::f64);
  const std::vector<Item> items = {
      {"matmul", [](In x) { return Out{matmul(x[0], x[1])}; }},
      {"matmul, transposed",
       [](In x) { return Out{matmul(x[0], x[0], {.transpose_x = true}), matmul(x[0], x[0], {.transpose_y = true})}; }},
      {"matmul of a batch", [](In x) { return Out{matmul(x[2], x[1])}; }},
      {"dot and tensordot", [](In x) { return Out{dot(x[0], x[1]), tensordot(x[2], x[1], {2}, {0})}; }},
      {"conv2d",
       [](In x) { return Out{conv2d(x[3], x[4]), conv2d(x[3], x[4], {.strides = {2, 1}, .padding = "same"})}; }},
      {"max_pool2d",
       [](In x) {
         return Out{max_pool2d(x[3]), max_pool2d(x[3], {.pool_size = {3, 3}, .strides = {1, 2}, .padding = "same"})};
       }},
      {"avg_pool2d",
       [](In x) { return Out{avg_pool2d(x[3]), avg_pool2d(x[3], {.pool_size = {3, 2}, .padding = "same"})}; }},
      {"conv2d_backward",
       [](In x) {
         const Tensor g = conv2d(x[3], x[4], {.padding = "same"});
         return Out{conv2d_backward_input(x[4], g, x[3].shape(), {.padding = "same"}),
                    conv2d_backward_filter(x[3], g, x[4].shape(), {.padding = "same"})};
       }},
      {"bias_add", [](In x) { return Out{bias_add(x[0], x[5])}; }},
  };
  std::vector<std::vector<Tensor>> sets;
  for (const auto [n, k] : {std::pair{4, 5}, {1, 1}, {0, 3}, {70, 33}})
    sets.push_back({numbers(t, {n, k}, -1, 1, 1), numbers(t, {k, 9}, -1, 1, 2), numbers(t, {2, n, k}, -1, 1, 3),
                    numbers(t, {n, 7, 6, 2}, -1, 1, 4), numbers(t, {3, 3, 2, 4}, -1, 1, 5), numbers(t, {k}, -1, 1, 6)});
  check_everywhere("contractions", items, sets,
                   {.dims = {{"n", "k"}, {"k", 9}, {2, "n", "k"}, {"n", 7, 6, 2}, {3, 3, 2, 4}, {"k"}}});
}

TEST_CASE("activations, losses and normalisations of unknown batches") {
  const DType t = GENERATE(DType::f32, DType::f64);
  const std::vector<Item> items = {
      {"softmax", [](In x) { return Out{softmax(x[0]), log_softmax(x[0])}; }},
      {"cross-entropy", [](In x) { return Out{softmax_cross_entropy_with_logits(softmax(x[0]), x[0])}; }},
      {"sparse cross-entropy", [](In x) { return Out{sparse_softmax_cross_entropy_with_logits(x[1], x[0])}; }},
      {"sigmoid cross-entropy", [](In x) { return Out{sigmoid_cross_entropy_with_logits(sigmoid(x[0]), x[0])}; }},
      {"layer_normalization", [](In x) { return Out{layer_normalization(x[0], x[2], x[2])}; }},
      {"batch_normalization", [](In x) { return Out{batch_normalization(x[0], x[2], square(x[2]) + 1, x[2], x[2])}; }},
      {"in_top_k", [](In x) { return Out{in_top_k(x[1], x[0], 2)}; }},
      {"statistics",
       [](In x) { return Out{mean(x[0], {{0}}), variance(x[0], {{1}}), reduce_std(x[0], {{0}}), mean(x[0])}; }},
  };
  std::vector<std::vector<Tensor>> sets;
  for (const auto [n, m] : {std::pair{4, 5}, {1, 3}, {0, 4}, {70, 33}, {300, 100}})
    sets.push_back({numbers(t, {n, m}, -4, 4, 1), labels({n}, m, 2), numbers(t, {m}, -1, 1, 3)});
  check_everywhere("losses", items, sets, {.dims = {{"n", "m"}, {"n"}, {"m"}}});
}
