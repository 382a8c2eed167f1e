// Wrong uses of cond, while_loop and tapes.
#include "test/errors/errors_testing.h"

using namespace kiln;
using testing::refused;
using testing::refuses;

namespace {

constexpr Code invalid = Code::invalid_argument;
constexpr Code state = Code::failed_precondition;

// Runs body(x) in a function named "f".
template <class F>
Tensor traced(F body, const Tensor& x) {
  return function([body](Tensor t) { return body(t); }, {.name = "f"})(x);
}

}  // namespace

TEST_CASE("cond in a trace: branches of unlike dtype, shape, rank (68)") {
  refused(invalid, {"cond", "result 0", "f32[2]", "i32[2]", "in \"f\"", "control_errors.cpp:"}, [] {
    traced([](Tensor x) { return cond(sum(x) > 0, [&] { return x; }, [&] { return x.to(i32); }); }, ones({2}));
  });
  refused(invalid, {"cond", "f32[2]", "f32[3]"}, [] {
    traced([](Tensor x) { return cond(sum(x) > 0, [&] { return x; }, [&] { return ones({3}); }); }, ones({2}));
  });
  refused(invalid, {"cond", "f32[2]", "f32[1,2]"}, [] {
    traced([](Tensor x) { return cond(sum(x) > 0, [&] { return x; }, [&] { return expand_dims(x, 0); }); }, ones({2}));
  });
}
TEST_CASE("cond in a trace: branches of unlike lengths, and an empty Tensor") {
  refused(invalid, {"cond", "structure"}, [] {
    traced(
        [](Tensor x) {
          return cond(sum(x) > 0, [&] { return std::vector<Tensor>{x}; }, [&] { return std::vector<Tensor>{x, x}; })[0];
        },
        ones({2}));
  });
  refused(invalid, {"cond", "empty"}, [] {
    traced([](Tensor x) { return cond(sum(x) > 0, [&] { return x; }, [] { return Tensor(); }); }, ones({2}));
  });
}
TEST_CASE("cond: the predicate, eagerly and in a trace") {
  refuses(invalid, {"cond", "f32[2]", "bool[]"}, [] { cond(ones({2}), [] {}, [] {}); });
  refused(invalid, {"cond", "bool[2]", "bool[]", "in \"f\""},
          [] { traced([](Tensor x) { return cond(x > 0, [&] { return x; }, [&] { return -x; }); }, ones({2})); });
}
TEST_CASE("a tensor of a branch used outside of it, and in the other branch") {
  Tensor leaked;
  refused(state, {"add", "multiply", "loop or branch", "Variable", "control_errors.cpp:"}, [&] {
    traced(
        [&](Tensor x) {
          Tensor y = cond(sum(x) > 0, [&] { return leaked = x * 2; }, [&] { return x; });
          return y + leaked;
        },
        ones({2}));
  });
  refused(state, {"add", "loop or branch"}, [&] {
    traced([&](Tensor x) { return cond(sum(x) > 0, [&] { return leaked = x * 2; }, [&] { return x + leaked; }); },
           ones({2}));
  });
}
TEST_CASE("a branch that throws: the trace is dropped, the next call works") {
  bool bad = true;
  auto f = function([&](Tensor x) { return cond(x > 0, [&] { return bad ? matmul(x, x) : x; }, [&] { return -x; }); },
                    {.name = "f"});
  refused(invalid, {"matmul", "in \"f\""}, [&] { f(1.f); });
  bad = false;
  CHECK(f(-2.f).item<float>() == 2);
  CHECK(f.trace_count() == 1);
}
TEST_CASE("while_loop: a state that changes its dtype or shape, eagerly and in a trace (72)") {
  auto shape = [](Tensor x) {
    return while_loop([](Tensor s) { return sum(s) < 9; }, [](Tensor s) { return concat({s, s}, 0); }, x);
  };
  refused(invalid, {"while_loop", "part 0", "f32[1]", "f32[2]", "control_errors.cpp:"}, [&] { shape(ones({1})); });
  refused(invalid, {"while_loop", "part 0", "f32[1]", "f32[2]", "in \"f\"", "control_errors.cpp:"},
          [&] { traced(shape, ones({1})); });
  auto dtype = [](Tensor x) {
    return while_loop([](Tensor s) { return s < 9; }, [](Tensor s) { return (s + 1).to(f64); }, x);
  };
  refused(invalid, {"while_loop", "f32[]", "f64[]", ".to("}, [&] { dtype(1.f); });
  refused(invalid, {"while_loop", "f32[]", "f64[]", ".to("}, [&] { traced(dtype, 1.f); });
}
TEST_CASE("while_loop: the condition is no bool, or of more than one element") {
  auto number = [](Tensor x) { return while_loop([](Tensor s) { return s; }, [](Tensor s) { return s; }, x); };
  refused(invalid, {"while_loop", "i32[]", "bool[]"}, [&] { number(1); });
  refused(invalid, {"while_loop", "i32[]", "bool[]", "in \"f\""}, [&] { traced(number, 1); });
  auto many = [](Tensor x) { return while_loop([](Tensor s) { return s < 2; }, [](Tensor s) { return s; }, x); };
  refused(invalid, {"while_loop", "bool[2]"}, [&] { traced(many, ones({2})); });
}
TEST_CASE("while_loop: an empty Tensor in the state, another structure") {
  refused(invalid, {"while_loop", "empty"},
          [] { while_loop([](Tensor s) { return s < 2; }, [](Tensor s) { return s; }, Tensor()); });
  auto grows = [](Tensor x) {
    return while_loop([](std::vector<Tensor> s) { return s[0] < 2; },
                      [](std::vector<Tensor> s) {
                        s.push_back(s[0]);
                        return s;
                      },
                      std::vector<Tensor>{x})[0];
  };
  refused(invalid, {"while_loop", "structure"}, [&] { grows(1); });
  refused(invalid, {"while_loop", "structure"}, [&] { traced(grows, 1); });
}
TEST_CASE("while_loop: an index out of range in the third iteration") {
  auto f = function(
      [](Tensor x) {
        auto [i, s] =
            while_loop([](Tensor i, Tensor) { return i < 5; },
                       [&](Tensor i, Tensor s) { return std::tuple(i + 1, s + gather(x, i)); }, std::tuple(0, 0.f));
        return s;
      },
      {.name = "f"});
  refused(Code::out_of_range, {"gather", "3", "control_errors.cpp:"}, [&] { f(ones({3})); });
  CHECK(f(ones({5})).item<float>() == 5);
}
TEST_CASE("tape: asked twice, after the first answer nothing is lost but the tape (93)") {
  Variable x{3.f};
  GradientTape tape;
  Tensor y = x * x;
  CHECK(tape.gradient(y, x).item<float>() == 6);
  refuses(state, {"gradient", "persistent"}, [&] { tape.gradient(y, x); });
  GradientTape again;
  Tensor z = x * x;
  CHECK(again.gradient(z, x).item<float>() == 6);
}
TEST_CASE("tape: unconnected, integers, stop_gradient give none, or zeros on request (94)") {
  Variable x{3.f}, other{ones({2})}, whole{3};
  GradientTape tape({.persistent = true});
  Tensor y = x * x, stopped = stop_gradient(y), n = whole * 2;
  CHECK_FALSE(tape.gradient(y, other).defined());
  CHECK_FALSE(tape.gradient(stopped, x).defined());
  CHECK_FALSE(tape.gradient(n, whole).defined());
  const auto zero = tape.gradient(y, std::vector<Variable>{other}, {.unconnected = Unconnected::zero});
  CHECK(zero[0].to_vector<float>() == std::vector<float>{0, 0});
}
TEST_CASE("tape: a target of integers, and an op without gradient") {
  Variable x{Tensor{3.f, 1.f, 2.f}};
  GradientTape tape({.persistent = true});
  CHECK_FALSE(tape.gradient(argsort(x), x).defined());
  CHECK_FALSE(tape.gradient(x > 1.f, x).defined());
}
TEST_CASE("tape: empty targets, sources, watched tensors") {
  Variable x{3.f};
  GradientTape tape({.persistent = true});
  Tensor y = x * x;
  refuses(invalid, {"gradient", "target", "empty"}, [&] { tape.gradient(Tensor(), x); });
  refuses(invalid, {"gradient", "source", "empty"}, [&] { tape.gradient(y, Tensor()); });
  refuses(invalid, {"gradient", "source", "empty"}, [&] { tape.gradient(y, Variable()); });
  refuses(invalid, {"watch", "empty"}, [&] { tape.watch(Tensor()); });
  refuses(invalid, {"watch", "empty"}, [&] { tape.watch(Variable()); });
  CHECK(tape.gradient(y, x).item<float>() == 6);
}
TEST_CASE("tape: output_gradients of another shape, dtype or number") {
  Variable x{ones({2})};
  GradientTape tape({.persistent = true});
  Tensor y = x * x;
  const std::vector<Variable> all{x};
  refuses(invalid, {"output_gradients", "f32[3]", "f32[2]"},
          [&] { tape.gradient(y, all, {.output_gradients = {ones({3})}}); });
  refuses(invalid, {"output_gradients", "f64[2]", "f32[2]"},
          [&] { tape.gradient(y, all, {.output_gradients = {ones({2}, {.dtype = f64})}}); });
  refuses(invalid, {"output_gradients", "empty"}, [&] { tape.gradient(y, all, {.output_gradients = {Tensor()}}); });
  refuses(invalid, {"2 output_gradients", "1 target"}, [&] { tape.gradient(y, all, {.output_gradients = {y, y}}); });
}
TEST_CASE("tape: a symbolic target after its trace") {
  Tensor kept;
  Variable x{2.f};
  GradientTape tape;
  function([&] { kept = x * x; }, {.name = "leaky"})();
  refuses(state, {"gradient", "\"leaky\""}, [&] { tape.gradient(kept, x); });
}
