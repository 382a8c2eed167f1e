// Programs whose ops the compiler fuses, reorders and updates in place: eager = compiled = reference, bit for bit.
#include <catch2/catch.hpp>

#include "test/ops/ops_testing.h"

using namespace kiln;
using namespace kiln::ops_testing;

namespace {

using In = const std::vector<Tensor>&;
using Out = std::vector<Tensor>;

Tensor standardised(const Tensor& x) {
  const Tensor centred = x - mean(x, {{-1}, true});
  return centred / sqrt(mean(square(centred), {{-1}, true}) + 1e-5f);
}

// On x, y: [n, m]; row: [m]; column: [n, 1]; w: [m, m].
const std::vector<Item>& programs() {
  static const std::vector<Item> all = {
      {"chain", [](In x) { return Out{tanh(x[0] * 2 + x[1]) * exp(-square(x[0])) + 1}; }},
      {"chain with a row and a column", [](In x) { return Out{(x[0] + x[2]) * x[3] - x[2] / (abs(x[3]) + 1)}; }},
      {"diamond",
       [](In x) {
         const Tensor a = x[0] + x[1];
         return Out{exp(a) * sin(a) + a};
       }},
      {"several results",
       [](In x) {
         const Tensor a = x[0] * x[1], b = a + 1, c = sqrt(abs(b));
         return Out{c, a, b};
       }},
      {"row reduction behind a chain", [](In x) { return Out{sum(square(x[0] - x[1]), {{1}})}; }},
      {"chain behind a row reduction", [](In x) { return Out{x[0] / (sum(abs(x[0]), {{1}, true}) + 1) + x[2]}; }},
      {"two row reductions in turn", [](In x) { return Out{standardised(x[0]), standardised(x[0] * x[1])}; }},
      {"column reduction behind a chain",
       [](In x) { return Out{sum(x[0] * x[1] + 1, {{0}}), max(x[0] - x[1], {{0}})}; }},
      {"chain behind a column reduction",
       [](In x) { return Out{x[0] - mean(x[0], {{0}}), x[1] * max(x[1], {{0}, true})}; }},
      {"rows and columns of one input",
       [](In x) { return Out{sum(x[0], {{0}}), sum(x[0], {{1}}), sum(x[0]), max(x[0], {{1}})}; }},
      {"everything reduced", [](In x) { return Out{sum(exp(x[0])), mean(x[0] * x[1]), max(x[0]), min(x[1])}; }},
      {"reduced, then reduced again",
       [](In x) { return Out{sum(square(sum(x[0], {{1}}))), max(sum(x[0] * x[1], {{0}}))}; }},
      {"views between",
       [](In x) {
         const Tensor flat = reshape(x[0] + 1, {-1});
         return Out{reshape(flat * 2, x[0].shape()) + x[1], expand_dims(exp(flat), 0), sum(flat)};
       }},
      {"transposes between", [](In x) { return Out{transpose(x[0] + 1) * 2, transpose(transpose(x[0]) * 3) + x[1]}; }},
      {"matmul in the middle", [](In x) { return Out{relu(matmul(x[0] + x[1], x[4] * 0.5f) + x[2]) * x[3]}; }},
      {"matmul behind and in front",
       [](In x) {
         const Tensor h = tanh(matmul(x[0], x[4]) + x[2]);
         return Out{matmul(h, x[4], {.transpose_y = true}), matmul(h, h, {.transpose_x = true}), h};
       }},
      {"softmax",
       [](In x) { return Out{softmax(x[0]), log_softmax(x[1]), softmax(matmul(x[0], x[4])), softmax(x[0], {0})}; }},
      {"layer norm",
       [](In x) {
         return Out{layer_normalization(x[0], x[2], x[2] + 1), gelu(layer_normalization(x[0] + x[1], x[2], x[2]))};
       }},
      {"batch norm in training",
       [](In x) {
         const Tensor m = mean(x[0], {{0}}), v = variance(x[0], {{0}});
         return Out{batch_normalization(x[0], m, v, x[2], x[2]), m * 0.1f + x[2] * 0.9f, v};
       }},
      {"cross-entropy", [](In x) { return Out{mean(softmax_cross_entropy_with_logits(softmax(x[1]), x[0]))}; }},
      {"comparisons and selects",
       [](In x) { return Out{where(x[0] > x[1], x[0], x[2] + x[1]), (x[0] > 0) & (x[1] < 0), any(x[0] > 3, {{1}})}; }},
      {"dtypes in one chain",
       [](In x) {
         return Out{cast(cast(x[0] * 3, DType::i32) % 5, DType::f64) / 3 + cast(x[1], DType::f64),
                    sum(cast(x[0] > 0, DType::i32), {{1}})};
       }},
      {"concat and slices between",
       [](In x) {
         const Tensor both = concat({x[0] * 2, x[1] + 1}, 0);
         return Out{exp(both), slice(both, {1, 0}, {-1, -1}) + 1, sum(both, {{0}})};
       }},
      {"the same result twice",
       [](In x) {
         const Tensor a = x[0] + 1;
         return Out{a, a, a * 1};
       }},
      {"inputs as results", [](In x) { return Out{x[0], x[1], x[0], identity(x[2]), reshape(x[0], {-1})}; }},
      {"constants as results",
       [](In) { return Out{Tensor(3.f), Tensor{1, 2, 3}, zeros({3, 2}), iota({5}), full({2}, 7.f) * 2}; }},
      {"an unused op",
       [](In x) {
         exp(x[0] * 1000);
         return Out{x[0] + 1};
       }},
      {"the same op twice", [](In x) { return Out{exp(x[0]) + 1, exp(x[0]) * 2, exp(x[1])}; }},
      {"a long chain",
       [](In x) {
         Tensor a = x[0];
         for (int i = 0; i < 150; ++i) a = a * 0.99f + x[1] * 0.01f;
         return Out{a};
       }},
      {"a wide sum",
       [](In x) {
         Tensor a = x[0];
         for (int i = 0; i < 60; ++i) a = a + slice(x[1] * static_cast<float>(i), {0, 0}, {-1, -1});
         return Out{a};
       }},
      {"order of two sums",
       [](In x) { return Out{x[0] + x[1] + x[2], x[0] + (x[1] + x[2]), x[0] * 3 - x[0] * 2 - x[0]}; }},
      {"cumulative", [](In x) { return Out{cumsum(x[0] + 1, {1}) * 2, cumsum(x[0], {0}) / 3}; }},
      {"gather between", [](In x) { return Out{exp(gather(x[0] + 1, argmax(x[0], {0}), {0})) + x[2]}; }},
      {"step of gradient descent",
       [](In x) {
         GradientTape tape;
         tape.watch(x[4]);
         tape.watch(x[2]);
         const Tensor loss = mean(square(tanh(matmul(x[0], x[4]) + x[2]) - x[1]));
         const auto [dw, db] = tape.gradient(loss, x[4], x[2]);
         return Out{loss, x[4] - 0.1f * dw, x[2] - 0.1f * db};
       }},
      {"attention",
       [](In x) {
         const Tensor q = matmul(x[0], x[4]), scores = matmul(q, x[1], {.transpose_y = true}) / 8;
         return Out{matmul(softmax(scores), x[1])};
       }},
  };
  return all;
}

std::vector<Tensor> inputs(int64_t n, int64_t m) {
  return {numbers(DType::f32, {n, m}, -2, 2, 1), numbers(DType::f32, {n, m}, -2, 2, 2),
          numbers(DType::f32, {m}, -2, 2, 3), numbers(DType::f32, {n, 1}, -2, 2, 4),
          numbers(DType::f32, {m, m}, -1, 1, 5)};
}

}  // namespace

TEST_CASE("fused programs, known shapes", "[quick]") { check_everywhere("fused", programs(), {inputs(5, 7)}); }

TEST_CASE("fused programs, more known shapes", "[slow]") {
  for (const auto [n, m] : {std::pair{1, 1}, {1, 70}, {70, 1}, {64, 33}, {3, 3}, {257, 129}, {2, 700}, {1000, 8}})
    check_everywhere("fused", programs(), {inputs(n, m)});
}

TEST_CASE("fused programs, unknown shapes", "[slow]") {
  std::vector<std::vector<Tensor>> sets;
  for (const auto [n, m] : {std::pair{5, 7}, {1, 1}, {1, 70}, {70, 1}, {64, 33}, {300, 129}, {2, 700}, {1000, 8}})
    sets.push_back(inputs(n, m));
  check_everywhere("fused", programs(), sets, {.dims = {{"n", "m"}, {"n", "m"}, {"m"}, {"n", 1}, {"m", "m"}}});
}

TEST_CASE("each fused program alone") {
  for (const Item& item : programs()) check_everywhere("fused", {item}, {inputs(33, 17)});
}

namespace {

// Runs `steps` calls of a step eagerly and compiled, from the same Variables; all of them must end equal.
using Step = std::function<std::vector<Tensor>(std::vector<Variable>&, const Tensor&)>;

void check_updates(const std::string& name, const Step& step, int64_t n = 300, int steps = 3) {
  INFO(name);
  auto fresh = [&] {
    std::vector<Variable> v;
    for (uint32_t i = 0; i < 3; ++i) v.emplace_back(numbers(DType::f32, {n, 5}, -1, 1, i));
    return v;
  };
  std::vector<Variable> eager = fresh(), compiled = fresh();
  const auto f = function([&](Tensor x) -> std::vector<Tensor> { return step(compiled, x); }, {.name = "updates"});
  for (int i = 0; i < steps; ++i) {
    const Tensor x = numbers(DType::f32, {n, 5}, -1, 1, 10 + static_cast<uint32_t>(i));
    // What a step returned before must stay as it was when later steps write the Variables in place.
    const std::vector<Tensor> want = step(eager, x), got = f(x);
    std::vector<Tensor> kept;
    for (const Tensor& y : got) kept.push_back(tensor_of({{y.dtype(), y.shape()}, constant_of(y + 0).data}));
    const Tensor before = compiled[0].read();
    const Tensor copy = before + 0;
    REQUIRE(want.size() == got.size());
    for (size_t k = 0; k < want.size(); ++k) CHECK(difference(want[k], got[k]) == "");
    for (size_t k = 0; k < eager.size(); ++k) CHECK(difference(eager[k].read(), compiled[k].read()) == "");
    step(eager, x);
    f(x);
    for (size_t k = 0; k < got.size(); ++k) CHECK(difference(kept[k], got[k]) == "");
    CHECK(difference(copy, before) == "");
  }
}

}  // namespace

TEST_CASE("updates of Variables in compiled functions", "[quick]") {
  for (const int64_t n : {1, 300, 20000}) {
    check_updates(
        "add",
        [](auto& v, const Tensor& x) {
          v[0].assign_add(x);
          return Out{};
        },
        n);
    check_updates(
        "scaled",
        [](auto& v, const Tensor& x) {
          v[0].assign(v[0] * 0.5f + x);
          return Out{v[0] * 1};
        },
        n);
    check_updates(
        "swap",
        [](auto& v, const Tensor&) {
          const Tensor old = v[0].read();
          v[0].assign(v[1]);
          v[1].assign(old);
          return Out{old};
        },
        n);
    check_updates(
        "turn of three",
        [](auto& v, const Tensor& x) {
          const Tensor a = v[0].read(), b = v[1].read(), c = v[2].read();
          v[0].assign(b);
          v[1].assign(c);
          v[2].assign(a + x);
          return Out{};
        },
        n);
    check_updates(
        "old value after the update",
        [](auto& v, const Tensor& x) {
          const Tensor old = v[0].read();
          v[0].assign(exp(v[0]) + x);
          return Out{old + 1, old, v[0] - old};
        },
        n);
    check_updates(
        "two updates",
        [](auto& v, const Tensor& x) {
          v[0].assign_add(x);
          v[1].assign(v[0] * v[1]);
          v[0].assign_sub(v[1]);
          return Out{v[0] + v[1]};
        },
        n);
    check_updates(
        "read with a transpose and a reduction",
        [](auto& v, const Tensor& x) {
          const Tensor norm = sqrt(sum(square(v[0])) + 1);
          v[0].assign(v[0] / norm + matmul(x, matmul(x, v[1], {.transpose_x = true})) * 1e-3f);
          v[1].assign(v[1] - sum(v[0], {{0}}));
          return Out{norm};
        },
        n);
    check_updates(
        "copied and both changed",
        [](auto& v, const Tensor& x) {
          v[1].assign(v[0]);
          v[0].assign_add(x);
          v[2].assign(v[1] - v[0]);
          return Out{};
        },
        n);
    check_updates(
        "given the input",
        [](auto& v, const Tensor& x) {
          v[0].assign(x);
          v[1].assign(x);
          return Out{x, v[0] + 0};
        },
        n);
    check_updates(
        "given a constant",
        [n](auto& v, const Tensor& x) {
          v[0].assign(zeros({n, 5}));
          v[1].assign(x + v[0]);
          return Out{};
        },
        n);
    check_updates(
        "sliced",
        [](auto& v, const Tensor& x) {
          v[0].assign(concat({slice(v[0], {1, 0}, {-1, -1}), slice(x, {0, 0}, {1, -1})}, 0));
          v[1].assign(reverse(v[1], {0}));
          return Out{v[0][0] + 0};
        },
        n);
    check_updates(
        "Adam",
        [](auto& v, const Tensor& x) {
          v[1].assign(0.9f * v[1] + 0.1f * x);
          v[2].assign(abs(0.999f * v[2]) + 0.001f * square(x));
          v[0].assign_sub(0.01f * v[1] / (sqrt(v[2]) + 1e-7f));
          return Out{};
        },
        n);
  }
}
