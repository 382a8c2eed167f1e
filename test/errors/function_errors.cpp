// Wrong uses of compiled functions, tapes and control flow, one each.
#include "test/errors/errors_testing.h"

using namespace kiln;
using testing::refused;

TEST_CASE("function: bool of a tensor in a trace") {
  auto f = function([](Tensor x) { return x > 0 ? x : -x; }, {.name = "absolute"});
  refused(Code::failed_precondition, {"bool", "cond", "in \"absolute\""}, [&] { f(1); });
}
TEST_CASE("function: item in a trace") {
  auto f = function([](Tensor x) { return x + x.item<int>(); }, {.name = "f"});
  refused(Code::failed_precondition, {"item", "being traced", "function_errors.cpp:", "in \"f\""}, [&] { f(1); });
}
TEST_CASE("function: a symbolic tensor after its trace") {
  Tensor kept;
  auto f = function([&](Tensor x) { return kept = x * 2; }, {.name = "leaky"});
  f(1);
  refused(Code::failed_precondition, {"add", "multiply", "\"leaky\"", "Variable", "function_errors.cpp:"},
          [&] { kept + 1; });
  refused(Code::failed_precondition, {"assign", "\"leaky\""}, [&] { Variable(0).assign(kept); });
}
TEST_CASE("function: a Variable made in a trace") {
  auto f = function([](Tensor x) { return Variable(x, {.name = "inner"}).read(); });
  refused(Code::failed_precondition, {"\"inner\"", "each trace", "function_errors.cpp:"}, [&] { f(1); });
}
TEST_CASE("function: an empty Tensor as argument and as result") {
  auto f = function([](Tensor x) { return x; }, {.name = "f"});
  refused(Code::invalid_argument, {"f:", "empty"}, [&] { f(Tensor()); });
  auto g = function([](Tensor) { return Tensor(); });
  refused(Code::invalid_argument, {"empty"}, [&] { g(1); });
}
TEST_CASE("function: a declared signature is not met") {
  auto f = function([](Tensor x) { return x; }, {.name = "f", .input_signature = {{f32, {"batch", 3}}}});
  refused(Code::invalid_argument, {"f:", "f32[batch,3]", "f32[2,4]"}, [&] { f(ones({2, 4})); });
  refused(Code::invalid_argument, {"f32[batch,3]", "f32[3]"}, [&] { f(ones({3})); });
  CHECK(f.trace_count() == 0);
}
TEST_CASE("function: a signature for another number of tensors") {
  auto f = function([](Tensor x, Tensor y) { return x + y; }, {.input_signature = {{f32, {}}}});
  refused(Code::invalid_argument, {"declares 1", "has 2"}, [&] { f(1.f, 2.f); });
}
TEST_CASE("function: equal names of unknown dims are equal sizes") {
  auto f = function([](Tensor x, Tensor y) { return reduce_sum(x) + reduce_sum(y); },
                    {.input_signature = {{f32, {"n"}}, {f32, {"n"}}}});
  CHECK(f(ones({2}), ones({2})).item<float>() == 4);
  refused(Code::invalid_argument, {"2", "3"}, [&] { f(ones({2}), ones({3})); });
}
TEST_CASE("function: unknown dims that turn out not to broadcast") {
  auto f = function([](Tensor x, Tensor y) { return x + y; }, {.input_signature = {{f32, {"n"}}, {f32, {"m"}}}});
  CHECK(f(ones({3}), ones({1})).shape() == Shape{3});
  refused(Code::invalid_argument, {"2", "3"}, [&] { f(ones({2}), ones({3})); });
}
TEST_CASE("function: calls itself without end") {
  std::function<Tensor(Tensor)> again;
  auto f = function([&](Tensor x) { return again(x); }, {.name = "endless"});
  again = [&](Tensor x) { return f(x); };
  refused(Code::failed_precondition, {"\"endless\"", "calls itself"}, [&] { f(1); });
}
TEST_CASE("function: an index out of range at run time names the op and its line") {
  auto f = function([](Tensor x, Tensor i) { return gather(x, i) * 2; }, {.name = "pick"});
  refused(Code::out_of_range, {"gather", "9", "function_errors.cpp:"}, [&] { f(ones({3}), 9); });
  CHECK(f(ones({3}), 2).item<float>() == 2);  // the next good call works
}
TEST_CASE("tape: used twice") {
  Variable x{2.f};
  GradientTape tape;
  Tensor y = x * x;
  tape.gradient(y, x);
  refused(Code::failed_precondition, {"gradient", "persistent", "function_errors.cpp:"}, [&] { tape.gradient(y, x); });
}
TEST_CASE("tape: another trace's tape") {
  Variable x{2.f};
  GradientTape tape;
  auto f = function([&](Tensor y) { return tape.gradient(y, x); });
  refused(Code::failed_precondition, {"another trace"}, [&] { f(1.f); });
}
TEST_CASE("tape: output_gradients of another number") {
  Variable x{2.f};
  GradientTape tape;
  Tensor y = x * x;
  refused(Code::invalid_argument, {"2 output_gradients", "1 targets"},
          [&] { tape.gradient(y, std::vector<Variable>{x}, {.output_gradients = {Tensor(1.f), Tensor(1.f)}}); });
}
TEST_CASE("cond: a predicate of more than one element, or not bool") {
  refused(Code::invalid_argument, {"cond", "bool[2]", "bool[]"}, [] { cond(Tensor{true, false}, [] {}, [] {}); });
  refused(Code::invalid_argument, {"cond", "i32[]"}, [] { cond(Tensor(1), [] {}, [] {}); });
}
TEST_CASE("cond: branches of unlike shapes in a trace") {
  auto f = function([](Tensor x) { return cond(sum(x) > 0, [&] { return x; }, [&] { return sum(x); }); });
  refused(Code::invalid_argument, {"cond", "f32[2]", "f32[]", "function_errors.cpp:"}, [&] { f(ones({2})); });
}
TEST_CASE("while_loop: a condition that assigns a Variable") {
  Variable v{0};
  auto f = function([&](Tensor x) {
    return while_loop(
        [&](Tensor i) {
          v.assign(1);
          return i < 3;
        },
        [](Tensor i) { return i + 1; }, x);
  });
  refused(Code::invalid_argument, {"condition", "Variable"}, [&] { f(1); });
}
TEST_CASE("while_loop: a tensor of the body used outside") {
  Tensor leaked;
  auto f = function([&](Tensor x) {
    Tensor y = while_loop([](Tensor i) { return i < 3; }, [&](Tensor i) { return leaked = i + 1; }, x);
    return y + leaked;
  });
  refused(Code::failed_precondition, {"body of a loop or branch", "Variable"}, [&] { f(1); });
}
