// control: loops and branches inside a compiled function; the trip count is a tensor.
#include "tools/kiln-bench/bench.h"

namespace kiln::bench {
namespace {

Tensor sum_loop(Tensor n) {
  auto [i, s] = while_loop([&](Tensor i, Tensor) { return i < n; },
                           [](Tensor i, Tensor s) { return std::tuple(i + 1, s + i.to(f32)); }, std::tuple(0, 0.f));
  return s;
}

Tensor collatz(Tensor n) {
  auto [start, total] = while_loop(
      [&](Tensor start, Tensor) { return start < n; },
      [](Tensor start, Tensor total) {
        auto [v, steps] = while_loop([](Tensor v, Tensor) { return v != 1; },
                                     [](Tensor v, Tensor steps) {
                                       const Tensor next =
                                           cond(v % 2 == 0, [&] { return floordiv(v, 2); }, [&] { return 3 * v + 1; });
                                       return std::tuple(next, steps + 1);
                                     },
                                     std::tuple(start, total));
        return std::tuple(start + 1, steps);
      },
      std::tuple(27, 0));
  return total;
}

Tensor matmul_loop(Tensor x, Tensor w, Tensor n) {
  auto [i, y] = while_loop([&](Tensor i, Tensor) { return i < n; },
                           [&](Tensor i, Tensor y) { return std::tuple(i + 1, y.matmul(w)); }, std::tuple(0, x));
  return y;
}

Tensor fizzbuzz(Tensor n) {
  auto code_of = [](Tensor i) {
    return cond(
        i % 15 == 0, [] { return Tensor(3); },
        [&] {
          return cond(
              i % 3 == 0, [] { return Tensor(1); },
              [&] { return cond(i % 5 == 0, [] { return Tensor(2); }, [] { return Tensor(0); }); });
        });
  };
  auto [i, out] =
      while_loop([&](Tensor i, Tensor) { return i <= n; },
                 [&](Tensor i, Tensor out) {
                   return std::tuple(i + 1, scatter_add(out, (i - 1).reshape({1}), code_of(i).reshape({1})));
                 },
                 std::tuple(1, zeros({1000}, {.dtype = i32})));
  return out;
}

Tensor rnn(Tensor x, Tensor wx, Tensor wh, Tensor b) {
  Tensor h = zeros({32, 64});
  std::vector<Tensor> states;
  for (const Tensor& now : unstack(x)) {
    h = tanh(now.matmul(wx) + h.matmul(wh) + b);
    states.push_back(h);
  }
  return stack(states);
}

Tensor grad_while(Tensor start, Tensor w) {
  GradientTape tape;
  tape.watch(w);
  auto [i, h] = while_loop([](Tensor i, Tensor) { return i < 50; },
                           [&](Tensor i, Tensor h) { return std::tuple(i + 1, tanh(h.matmul(w))); },
                           std::tuple(0, start), {.max_iterations = 50});
  return tape.gradient(sum(h * h), w);
}

}  // namespace

void add_control(Workloads& w) {
  w.add("control/sum_loop", [] { return [f = function(sum_loop), n = Tensor(100000)] { return f(n); }; });
  w.add("control/collatz", [] { return [f = function(collatz), n = Tensor(127)] { return f(n); }; });
  w.add("control/matmul_loop", [] {
    return [f = function(matmul_loop), x = u({64, 64}, 1), w = u({64, 64}, 2, 0.4f), n = Tensor(100)] {
      return f(x, w, n);
    };
  });
  w.add("control/fizzbuzz", [] { return [f = function(fizzbuzz), n = Tensor(1000)] { return f(n); }; });
  w.add("control/rnn", [] {
     return [f = function(rnn), x = u({100, 32, 64}, 1), wx = u({64, 64}, 2, 0.4f), wh = u({64, 64}, 3, 0.4f),
             b = u({64}, 4)] { return f(x, wx, wh, b); };
   }).note = "unrolled in the trace";
  w.add("control/grad_while", [] {
     return [f = function(grad_while), h = u({32, 64}, 1), w = u({64, 64}, 2, 0.4f)] { return f(h, w); };
   }).note = "the trip count is a constant";
}

}  // namespace kiln::bench
