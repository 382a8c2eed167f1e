// cond and while_loop, eagerly and compiled, and their gradients.
#include <catch2/catch.hpp>
#include <cmath>

#include "kiln/kiln.h"

using namespace kiln;
using Catch::Matchers::Contains;

namespace {
struct Cell {
  Tensor h, c;
  KILN_FIELDS(h, c)
};

// The same lambda eagerly and compiled.
template <class F, class... A>
void same_both_ways(F f, float expected, const A&... args) {
  CHECK(f(Tensor(args)...).template item<float>() == expected);
  CHECK(function(f)(args...).template item<float>() == expected);
}
}  // namespace

TEST_CASE("cond: one branch runs (T3)") {
  auto square_if_positive = [](Tensor x) { return cond(x > 0, [&] { return x * x; }, [&] { return zeros_like(x); }); };
  CHECK(square_if_positive(3).item<int>() == 9);
  auto f = function(square_if_positive);
  CHECK(f(1).item<int>() == 1);
  CHECK(f(-1).item<int>() == 0);
  CHECK(f(4).item<int>() == 16);
  CHECK(f.trace_count() == 1);
  int conds = 0;
  for (const Node& node : f.concretes()[0].graph().body.nodes) conds += node.op == OpId::cond;
  CHECK(conds == 1);
}

TEST_CASE("cond: structures, captured constants and Variables (68, 76)") {
  Variable v{1.f}, w{10.f};
  auto f = function([&](Tensor x) {
    auto [a, b] = cond(
        x > 0,
        [&] {
          v.assign_add(x);
          return std::tuple(x * 2, Tensor{1, 2});
        },
        [&] {
          w.assign(v + 1);
          return std::tuple(-x, Tensor{3, 4});
        });
    return std::tuple(a + v, b);
  });
  auto [a, b] = f(3.f);
  CHECK(a.item<float>() == 10);
  CHECK(b.to_vector<int>() == std::vector<int>{1, 2});
  CHECK(v.item<float>() == 4);
  CHECK(w.item<float>() == 10);
  auto [c, d] = f(-1.f);
  CHECK(c.item<float>() == 5);
  CHECK(d.to_vector<int>() == std::vector<int>{3, 4});
  CHECK(v.item<float>() == 4);
  CHECK(w.item<float>() == 5);
}

TEST_CASE("cond: branches of unlike type are refused, with both types") {
  auto f = function([](Tensor x) { return cond(x > 0, [&] { return x; }, [&] { return Tensor(0); }); });
  CHECK_THROWS_WITH(f(1.f), Contains("cond: result 0 is f32[] in the first branch and i32[] in the second") &&
                                Contains("frontend_control_test.cpp"));
  CHECK(f(1).item<int>() == 1);
  CHECK_THROWS_WITH(cond(Tensor{true, false}, [] { return 1; }, [] { return 2; }), Contains("must be bool[]"));
  Tensor escaped;
  auto leak = function([&](Tensor x) {
    cond(x > 0, [&] { escaped = x + 1; }, [] {});
    return escaped * 2;
  });
  CHECK_THROWS_WITH(leak(1.f), Contains("body of a loop or branch"));
}

TEST_CASE("while_loop: sums, whatever the number of iterations (70)") {
  auto sum_to = [](Tensor n) {
    auto [i, s] = while_loop([&](Tensor i, Tensor) { return i < n; },
                             [](Tensor i, Tensor s) { return std::tuple(i + 1, s + i); }, std::tuple(0, 0));
    return s;
  };
  auto f = function(sum_to);
  for (int n : {0, 1, 5, 100}) {
    CHECK(sum_to(n).item<int>() == n * (n - 1) / 2);
    CHECK(f(n).item<int>() == n * (n - 1) / 2);
  }
  CHECK(f.trace_count() == 1);
}

TEST_CASE("while_loop: Variables assigned inside are carried, others are read") {
  Variable total{0.f}, step{2.f};
  auto f = function([&](Tensor n) {
    while_loop([&](Tensor i) { return i < n; },
               [&](Tensor i) {
                 total.assign_add(step * 1.5f);
                 return i + 1;
               },
               0);
    return total;
  });
  CHECK(f(4).item<float>() == 12);
  CHECK(f(0).item<float>() == 12);
  CHECK(f(1).item<float>() == 15);
  step.assign(4);
  CHECK(f(1).item<float>() == 21);
  CHECK(total.item<float>() == 21);
}

TEST_CASE("while_loop: struct state, max_iterations, cond inside, loop inside") {
  auto cell = function([](Tensor n) {
    return while_loop([&](const Cell& s) { return s.c < n; }, [](const Cell& s) { return Cell{s.h * 2, s.c + 1}; },
                      Cell{Tensor(1.f), Tensor(0)});
  });
  CHECK(cell(10).h.item<float>() == 1024);
  auto forever = [](Tensor x) {
    return while_loop([](Tensor) { return Tensor(true); }, [](Tensor x) { return x + 1; }, x, {.max_iterations = 7});
  };
  CHECK(forever(1).item<int>() == 8);
  CHECK(function(forever)(1).item<int>() == 8);
  // Collatz: steps until 1.
  auto collatz = function([](Tensor n) {
    auto [value, steps] = while_loop(
        [](Tensor v, Tensor) { return v > 1; },
        [](Tensor v, Tensor k) {
          return std::tuple(cond(v % 2 == 0, [&] { return floordiv(v, 2); }, [&] { return 3 * v + 1; }), k + 1);
        },
        std::tuple(n, 0));
    return steps;
  });
  CHECK(collatz(27).item<int>() == 111);
  auto product = function([](Tensor n) {  // sum over i < n of i * i, by an inner loop
    auto [i, total] = while_loop(
        [&](Tensor i, Tensor) { return i < n; },
        [](Tensor i, Tensor total) {
          auto [j, t] = while_loop([&](Tensor j, Tensor) { return j < i; },
                                   [&](Tensor j, Tensor t) { return std::tuple(j + 1, t + i); }, std::tuple(0, total));
          return std::tuple(i + 1, t);
        },
        std::tuple(0, 0));
    return total;
  });
  CHECK(product(5).item<int>() == 30);
}

TEST_CASE("while_loop: a state that changes its type is refused (72)") {
  auto f = function(
      [](Tensor x) { return while_loop([](Tensor x) { return x < 9.f; }, [](Tensor x) { return x.to(i32); }, x); });
  CHECK_THROWS_WITH(f(1.f), Contains("part 0 of the state is f32[] at the start and i32[] after one pass"));
  CHECK_THROWS_WITH(
      while_loop([](Tensor x) { return x.size() < 9; }, [](Tensor x) { return concat({x, x}, 0); }, ones({1})),
      Contains("f32[1] at the start and f32[2]"));
}

TEST_CASE("gradient: through cond") {
  Variable w{3.f};
  auto derivative = [&](Tensor x) {
    GradientTape tape;
    tape.watch(x);
    Tensor y = cond(x > 0, [&] { return w * x * x; }, [&] { return exp(x) * 2; });
    return sum(tape.gradient(y, x));
  };
  auto f = function(derivative);
  CHECK(f(2.f).item<float>() == 12);
  CHECK(f(-1.f).item<float>() == derivative(-1.f).item<float>());
  auto by_w = function([&](Tensor x) {
    GradientTape tape;
    Tensor y = cond(x > 0, [&] { return w * w * x; }, [&] { return x; });
    return tape.gradient(y, w);
  });
  CHECK(by_w(2.f).item<float>() == 12);
  CHECK(by_w(-2.f).item<float>() == 0);
}

TEST_CASE("gradient: through while_loop, for any number of iterations") {
  Variable w{1.1};
  auto power = [&](Tensor n) {  // x = w^n
    auto [i, x] = while_loop([&](Tensor i, Tensor) { return i < n; },
                             [&](Tensor i, Tensor x) { return std::tuple(i + 1, x * w); }, std::tuple(0, 1.0));
    return x;
  };
  auto derivative = [&](Tensor n) {
    GradientTape tape;
    Tensor y = power(n);
    return tape.gradient(std::vector<Tensor>{y}[0], std::vector<Variable>{w}, {.unconnected = Unconnected::zero})[0];
  };
  auto f = function(derivative);
  for (int n : {0, 1, 3, 10, 300}) CHECK(f(n).item<double>() == Approx(n * std::pow(1.1, n - 1)).epsilon(1e-12));
  // Bit for bit what eager code gives.
  CHECK(f(10).item<double>() == derivative(10).item<double>());
}

TEST_CASE("gradient: through a loop with a limit, a tensor state, a cond inside; second order") {
  Tensor x0 = {0.5, -2.0};
  auto value = [](Tensor x) {
    Tensor y =
        while_loop([](Tensor) { return Tensor(true); },
                   [](Tensor y) { return cond(sum(y) > 0, [&] { return y * y; }, [&] { return y * 3.0 + 1.0; }); }, x,
                   {.max_iterations = 4});
    return sum(y * y);
  };
  auto first = [&](Tensor x) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(value(x), x);
  };
  const std::vector<double> eager = first(x0).to_vector<double>(), compiled = function(first)(x0).to_vector<double>();
  CHECK(eager == compiled);
  auto second = [&](Tensor x) {
    GradientTape outer;
    outer.watch(x);
    return outer.gradient(sum(first(x)), x);
  };
  auto compiled_second = function(second);
  const auto a = second(x0).to_vector<double>(), b = compiled_second(x0).to_vector<double>();
  for (size_t i = 0; i < a.size(); ++i) CHECK(b[i] == Approx(a[i]).epsilon(1e-12));
}
