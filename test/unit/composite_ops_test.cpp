// Values of composite ops and of ops at their edges. Expected values: NumPy, or the bug corpus' exact ones.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "frontend/include/kiln/kiln.h"

using namespace kiln;

namespace {

using F = std::vector<float>;
using I = std::vector<int32_t>;
using L = std::vector<int64_t>;
const float inf = std::numeric_limits<float>::infinity();

std::string error_of(auto&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("creation") {
  CHECK(iota({2, 2}).to_vector<int32_t>() == I{0, 1, 2, 3});
  CHECK(full({2}, 7.f).to_vector<float>() == F{7, 7});
  CHECK(full_like(Tensor{1, 2}, 5).to_vector<int32_t>() == I{5, 5});
  CHECK(eye(2, {3}).to_vector<float>() == F{1, 0, 0, 0, 1, 0});
  CHECK(arange(0, 5).to_vector<int32_t>() == I{0, 1, 2, 3, 4});
  CHECK(arange(5, 0, {-2}).to_vector<int32_t>() == I{5, 3, 1});
  CHECK(arange(0.5, 2, {0.5, f32}).to_vector<float>() == F{.5f, 1, 1.5f});
  CHECK(arange(3, 1).shape() == Shape{0});
  CHECK(contains(error_of([] { arange(0.5, 2); }), "arange"));
  CHECK(linspace(0, 1, 5).to_vector<float>() == F{0, .25f, .5f, .75f, 1});
  CHECK(linspace(2, 3, 1).to_vector<float>() == F{2});
  CHECK(one_hot(Tensor{-1, 0, 3}, 3).to_vector<float>() == F{0, 0, 0, 1, 0, 0, 0, 0, 0});  // D31
  CHECK(one_hot(Tensor{1, 0}, 2, {.axis = 0, .dtype = i32}).to_vector<int32_t>() == I{0, 1, 1, 0});
  CHECK(tril(ones({2, 3}, {i32})).to_vector<int32_t>() == I{1, 0, 0, 1, 1, 0});
  CHECK(triu(ones({3, 3}, {i32}), {1}).to_vector<int32_t>() == I{0, 1, 1, 0, 0, 1, 0, 0, 0});
}

TEST_CASE("dtypes of sums and quotients (P8)") {
  CHECK(sum(Tensor{true, true}).dtype() == i64);
  CHECK(sum(Tensor{1, 2}).item<int64_t>() == 3);
  CHECK(mean(Tensor{1, 2}).item<double>() == 1.5);
  CHECK((Tensor{1, 2} / 4).to_vector<double>() == std::vector<double>{.25, .5});
  CHECK(prod(Tensor{2, 3}).item<int64_t>() == 6);
  CHECK(cumsum(Tensor{true, true, false}).to_vector<int64_t>() == L{1, 2, 2});
  CHECK(contains(error_of([] { clip_by_value(Tensor{0, 1, 2}, 0.5, 1); }), "i32"));  // D10
  CHECK(contains(error_of([] { exp(Tensor{1}); }), "exp: x is i32[1]: dtype i32 is not supported (f32, f64)"));
}

TEST_CASE("empty tensors (P9, D12)") {
  CHECK(sum(zeros({0})).item<float>() == 0);
  CHECK(prod(zeros({0})).item<float>() == 1);
  CHECK_FALSE(any(cast(zeros({0}), bool_)).item<bool>());
  CHECK(all(cast(zeros({0}), bool_)).item<bool>());
  CHECK(std::isnan(mean(zeros({0})).item<float>()));
  CHECK(std::isnan(variance(zeros({0, 1})).item<float>()));
  CHECK(sum(zeros({2, 2, 0, 3}), {{2}}).shape() == Shape{2, 2, 3});
  CHECK(contains(error_of([] { max(zeros({0})); }), "reduce_max"));
  CHECK(contains(error_of([] { argmax(zeros({0})); }), "argmax"));
  CHECK(contains(error_of([] { mean(zeros({}), {{0}}); }), "axis 0 is out of range for rank 0"));
  CHECK(matmul(ones({4, 0}), ones({0, 4})).to_vector<float>() == F(16, 0));
}

TEST_CASE("statistics") {
  const float big = std::bit_cast<float>(0x518BB2C9);
  CHECK(variance(Tensor{big, big, big}).item<float>() == 0);  // D04
  CHECK(variance(Tensor{{1.f, 3.f}, {2.f, 8.f}}, {{1}}).to_vector<float>() == F{1, 9});
  CHECK(reduce_std(Tensor{{1.f, 3.f}, {2.f, 8.f}}, {{1}}).to_vector<float>() == F{1, 3});
  CHECK(norm(Tensor{3.f, 4.f}).item<float>() == 5);
  CHECK(size(zeros({3, 4}), {{1}}).item<int64_t>() == 4);
}

TEST_CASE("logsumexp, softmax and losses at their edges (P11, D27, D28)") {
  const auto lse = logsumexp(Tensor{{inf, 2.f, 3.f}, {4.f, 5.f, 6.f}, {-inf, -inf, -inf}}, {{1}}).to_vector<float>();
  CHECK(lse[0] == inf);
  CHECK(lse[1] == Approx(6.407606f));
  CHECK(lse[2] == -inf);
  CHECK(logsumexp(Tensor{0.f, -inf}).item<float>() == 0);
  for (int n : {1, 127, 128, 129}) CHECK(std::isnan(softmax(full({n}, -inf)).to_vector<float>()[0]));
  const auto p = softmax(Tensor{0.f, 1.f, -1e9f}).to_vector<float>();  // D05
  CHECK(p[0] == Approx(.26894143f));
  CHECK(p[2] == 0);
  CHECK(softmax(Tensor{0.f, 1.f, 2.f} + -1e9f).to_vector<float>() == F(3, 1 / 3.f));
  CHECK(log_softmax(Tensor{1.f, 1.f, -inf}).to_vector<float>() == F{-0.6931472f, -0.6931472f, -inf});
  CHECK(sparse_softmax_cross_entropy_with_logits(1, Tensor{-inf, 0.f, 0.f}).item<float>() == Approx(.6931472f));
  CHECK(softmax_cross_entropy_with_logits(Tensor{0.f, 1.f, 0.f}, Tensor{-inf, 0.f, 0.f}).item<float>() ==
        Approx(.6931472f));
  CHECK(sparse_softmax_cross_entropy_with_logits(1, Tensor{1e4f, -1e4f}).item<float>() == 20000);
  CHECK(sigmoid_cross_entropy_with_logits(Tensor{0.f, 1.f}, Tensor{1000.f, -1000.f}).to_vector<float>() ==
        F{1000, 1000});
  CHECK(contains(error_of([] { sparse_softmax_cross_entropy_with_logits(Tensor{2}, Tensor{{0.f, 0.f}}); }), "2"));
}

TEST_CASE("indexing (P10, D31)") {
  const Tensor x = {10, 20, 30};
  CHECK(contains(error_of([&] { gather(x, Tensor{0, 7}); }), "gather: index 7 at position 1 is out of range"));
  CHECK(contains(error_of([&] { gather(x, Tensor{0, -4}); }), "-4"));
  CHECK(contains(error_of([&] { take(x, Tensor{0, -4}); }), "-4"));
  CHECK(take(x, Tensor{-1, 0}).to_vector<int32_t>() == I{30, 10});
  CHECK(contains(error_of([&] { scatter_add(x, Tensor{3}, Tensor{1}); }), "3"));
  CHECK(gather_backward(ones({3, 2}), Tensor{1, 1, 2}, {4, 2}).to_vector<float>() == F{0, 0, 2, 2, 1, 1, 0, 0});
  CHECK(tensor_scatter_nd_add(zeros({2, 2}), Tensor{{0, 1}, {0, 1}}, Tensor{1.f, 2.f}).to_vector<float>() ==
        F{0, 3, 0, 0});
  CHECK(contains(error_of([] { tensor_scatter_nd_add(zeros({2, 2}), Tensor{{0, 2}}, Tensor{1.f}); }), "2"));
  CHECK(argsort(Tensor{std::nanf(""), 1.f, -inf, inf, -0.f, 0.f, std::nanf("")}).to_vector<int64_t>() ==
        L{2, 4, 5, 1, 3, 0, 6});  // D32
  CHECK(sort(Tensor{{3, 1}, {2, 4}}, {0}).to_vector<int32_t>() == I{2, 1, 3, 4});
  CHECK(std::get<1>(top_k(Tensor{1, 3, 3, 2}, {2})).to_vector<int64_t>() == L{1, 2});
  CHECK(in_top_k(Tensor{0, 1}, Tensor{{1.f, 2.f, 3.f}, {5.f, 9.f, 1.f}}, 1).to_vector<bool>() ==
        std::vector<bool>{false, true});
  const float nan = std::nanf("");
  CHECK(argmax(Tensor{4.f, 5.5f, nan}).item<int64_t>() == 2);  // D10
  CHECK(argmin(Tensor{nan, 4.f, nan, 5.5f}).item<int64_t>() == 0);
}

TEST_CASE("rearranging") {
  const Tensor x = reshape(iota({6}), {2, 3});
  CHECK(tile(x, {1, 2}).to_vector<int32_t>() == I{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
  CHECK(roll(x, 1, 1).to_vector<int32_t>() == I{2, 0, 1, 5, 3, 4});
  CHECK(split(x, {1, 2}, {1})[1].to_vector<int32_t>() == I{1, 2, 4, 5});
  CHECK(split(x, {3}, {1}).size() == 3);
  CHECK(contains(error_of([&] { split(x, {2}, {1}); }), "split: an axis of size 3 has no 2 equal parts"));
  CHECK(stack({x, x}, {2}).shape() == Shape{2, 3, 2});
  CHECK(unstack(x)[1].to_vector<int32_t>() == I{3, 4, 5});
  CHECK(pad(x, {0, 1, 1, 0}, {9}).to_vector<int32_t>() == I{9, 0, 1, 2, 9, 3, 4, 5, 9, 9, 9, 9});
  CHECK(reverse(x, {1}).to_vector<int32_t>() == I{2, 1, 0, 5, 4, 3});
  CHECK(matrix_transpose(x).to_vector<int32_t>() == I{0, 3, 1, 4, 2, 5});
  CHECK(dot(Tensor{1.f, 2.f}, Tensor{3.f, 4.f}).item<float>() == 11);
  CHECK(tensordot(x, x, {0, 1}, {0, 1}).item<int32_t>() == 55);
}

TEST_CASE("pooling (D29) and padding (D30)") {
  const Tensor seven = reshape(iota({49}, {f32}), {1, 7, 7, 1});
  CHECK(avg_pool2d(seven, {.strides = {3, 3}, .padding = "explicit", .paddings = {0, 1, 0, 1}}).to_vector<float>() ==
        F{4, 7, 9.5f, 25, 28, 30.5f, 42.5f, 45.5f, 48});
  const Tensor negative_five = full({1, 2, 2, 1}, -5.f);
  CHECK(max_pool2d(negative_five, {.strides = {1, 1}, .padding = "same"}).to_vector<float>() == F{-5, -5, -5, -5});
  const Tensor six = reshape(iota({36}, {f32}), {1, 6, 6, 1});
  CHECK(conv2d(six, ones({3, 3, 1, 1}), {.strides = {2, 2}, .padding = "same"}).to_vector<float>() ==
        F{63, 81, 63, 171, 189, 135, 168, 180, 126});
  CHECK(conv2d(ones({1, 2, 2, 1}), reshape(iota({9}, {f32}), {3, 3, 1, 1}), {.strides = {2, 2}, .padding = "same"})
            .to_vector<float>() == F{8});
}

TEST_CASE("dropout (D25)") {
  const Tensor seed = {int64_t{3}, int64_t{4}}, x = ones({4096});
  const auto y = dropout(x, seed, 0.5).to_vector<float>();
  double total = 0;
  for (float v : y) {
    CHECK((v == 0 || v == 2));
    total += v;
  }
  CHECK(std::abs(total / 4096 - 1) < .078125);
  CHECK(dropout(x, seed, 0.5).to_vector<float>() == y);
  CHECK(dropout(x, Tensor{int64_t{3}, int64_t{5}}, 0.5).to_vector<float>() != y);
  CHECK(dropout(x, seed, 0).to_vector<float>() == F(4096, 1));
  CHECK(dropout(full({2}, std::nanf("")), seed, 1).to_vector<float>() == F{0, 0});
  CHECK(contains(error_of([&] { dropout(x, seed, 1.5); }), "dropout: rate is 1.5"));
}
