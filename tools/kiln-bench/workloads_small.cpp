// call: one call of a compiled function on tiny tensors. eager: one operation, or ten, without any compiled function.
#include "tools/kiln-bench/bench.h"

namespace kiln::bench {
namespace {

Tensor vec4(uint32_t seed = 1) { return u({4}, seed); }

Tensor chain10(Tensor x) {
  for (int i = 0; i < 5; ++i) {
    x = x * 1.01f;
    x = x + 0.1f;
  }
  return x;
}

std::tuple<Tensor, Tensor> square_and_gradient(const Tensor& x) {
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * x;
  return {y, tape.gradient(y, x)};
}

}  // namespace

void add_call(Workloads& w) {
  w.add("call/scalar_add",
        [] { return [f = function([](Tensor x) { return x + 1; }), x = u({}, 1)] { return f(x); }; });
  w.add("call/vec4_add", [] { return [f = function([](Tensor x) { return x + 1; }), x = vec4()] { return f(x); }; });
  w.add("call/sum10", [] {
    auto f = function([](Tensor a0, Tensor a1, Tensor a2, Tensor a3, Tensor a4, Tensor a5, Tensor a6, Tensor a7,
                         Tensor a8, Tensor a9) { return a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9; });
    std::array<Tensor, 10> a;
    for (uint32_t i = 0; i < 10; ++i) a[i] = vec4(i + 1);
    return [f, a] { return f(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9]); };
  });
  w.add("call/static_int",
        [] { return [f = function([](Tensor x, int n) { return x * n; }), x = vec4()] { return f(x, 3); }; });
  w.add("call/nested", [] {
    auto g = function([](Tensor x) { return x * 2; });
    return [f = function([g](Tensor x) { return g(x) + 1; }), x = vec4()] { return f(x); };
  });
  w.add("call/grad_tape", [] {
     return [f = function([](Tensor x) { return x * x; }), x = vec4()] {
       GradientTape tape;
       tape.watch(x);
       const Tensor y = f(x);
       return std::tuple(y, tape.gradient(y, x));
     };
   }).note = "a tape outside the function";
  w.add("call/grad_inside",
        [] { return [f = function([](Tensor x) { return square_and_gradient(x); }), x = vec4()] { return f(x); }; });
}

void add_eager(Workloads& w) {
  w.add("eager/add_scalar", [] { return [x = u({}, 1), y = u({}, 2)] { return x + y; }; });
  w.add("eager/add_1000", [] { return [x = u({1000}, 1), y = u({1000}, 2)] { return x + y; }; });
  w.add("eager/matmul_2x2", [] { return [x = u({2, 2}, 1), y = u({2, 2}, 2)] { return x.matmul(y); }; });
  w.add("eager/reshape", [] { return [x = u({1000}, 1)] { return x.reshape({10, 100}); }; });
  w.add("eager/slice", [] { return [x = u({1000}, 1)] { return x[slice(10, 20)]; }; });
  w.add("eager/chain10", [] { return [x = u({100}, 1)] { return chain10(x); }; });
  w.add("eager/grad_chain10", [] {
    return [x = u({100}, 1)] {
      GradientTape tape;
      tape.watch(x);
      return tape.gradient(sum(chain10(x)), x);
    };
  });
}

}  // namespace kiln::bench
