// What goes wrong while a lambda is traced, and with tensors that leave their trace.
#include <stdexcept>
#include <thread>

#include "test/errors/errors_testing.h"

using namespace kiln;
using testing::refused;
using testing::refuses;

namespace {

constexpr Code state = Code::failed_precondition;

}  // namespace

TEST_CASE("a lambda that throws in its trace: nothing is kept, the next call traces anew") {
  int runs = 0;
  Variable v{1.f};
  auto f = function(
      [&](Tensor x) {
        v.assign_add(1.f);
        if (++runs == 1) throw std::runtime_error("the file is missing");
        return x * v;
      },
      {.name = "flaky"});
  CHECK_THROWS_WITH(f(2.f), "the file is missing");  // the user's own exception, unchanged
  CHECK(f.trace_count() == 0);
  CHECK(f.concretes().empty());
  CHECK(v.item<float>() == 1.f);
  CHECK(f(2.f).item<float>() == 4.f);
  CHECK(f(2.f).item<float>() == 6.f);
  CHECK(f.trace_count() == 1);
}
TEST_CASE("a lambda that throws for one signature leaves the others") {
  auto f = function([](Tensor x) { return matmul(x, ones({2, 2})); }, {.name = "f"});
  CHECK(f(ones({1, 2})).shape() == Shape{1, 2});
  refused(Code::invalid_argument, {"matmul", "f32[1,3]", "in \"f\"", "trace_errors.cpp:"}, [&] { f(ones({1, 3})); });
  CHECK(f.concretes().size() == 1);
  CHECK(f(ones({1, 2})).to_vector<float>() == std::vector<float>{2, 2});
  CHECK(f.trace_count() == 1);
}
TEST_CASE("an exception that is caught inside of the lambda") {
  auto f = function([](Tensor x) {
    try {
      return matmul(x, ones({3, 3}));
    } catch (const Error&) {
      return x + 1;
    }
  });
  CHECK(f(ones({2, 2})).to_vector<float>() == std::vector<float>{2, 2, 2, 2});
}
TEST_CASE("a failed trace ends: eager code after it is eager again, on this and on nested functions") {
  auto inner = function([](Tensor) -> Tensor { throw std::runtime_error("inner"); }, {.name = "inner"});
  auto outer = function([&](Tensor x) { return inner(x * 2); }, {.name = "outer"});
  CHECK_THROWS_WITH(outer(1), "inner");
  CHECK_FALSE((Tensor(1) + 1).symbolic());
  CHECK(inner.trace_count() + outer.trace_count() == 0);
}
TEST_CASE("a symbolic tensor used after its trace, in every way") {
  Tensor kept;
  auto f = function([&](Tensor x) { return kept = exp(x); }, {.name = "leaky"});
  f(1.f);
  refuses(state, {"exp", "\"leaky\"", "trace_errors.cpp:", "return it", "Variable"}, [&] { kept + 1; });
  refuses(state, {"item", "\"leaky\""}, [&] { kept.item<float>(); });
  refuses(state, {"to_vector", "\"leaky\""}, [&] { kept.to_vector<float>(); });
  refused(state, {"bool", "\"leaky\""}, [&] { (void)static_cast<bool>(kept); });
  refuses(state, {"\"leaky\""}, [&] { f(kept); });
  refuses(state, {"\"leaky\""}, [&] { Variable{kept}; });
  CHECK(to_string(kept).find("f32[]") != std::string::npos);  // printing it is safe
}
TEST_CASE("a symbolic tensor in the trace of another function") {
  Tensor kept;
  auto f = function([&](Tensor x) { return kept = x * 2; }, {.name = "first"});
  f(1);
  auto g = function([&](Tensor x) { return x + kept; }, {.name = "second"});
  refused(state, {"add", "\"first\"", "\"second\"", "trace_errors.cpp:"}, [&] { g(1); });
  CHECK(g.trace_count() == 0);
}
TEST_CASE("a symbolic tensor of a function's first trace in its second") {
  Tensor kept;
  auto f = function([&](Tensor x) {
    if (kept.defined()) return x + kept;
    return kept = x * 2;
  });
  f(1);
  refused(state, {"add", "trace_errors.cpp:"}, [&] { f(Tensor{1, 2}); });
  CHECK(f(5).item<int>() == 10);
}
TEST_CASE("a symbolic tensor on another thread, while its trace goes on") {
  std::string text;
  auto f = function(
      [&](Tensor x) {
        std::thread([&] {
          text = refused(state, {"add", "\"threaded\"", "trace_errors.cpp:"}, [&] { x + 1; });
        }).join();
        return x * 2;
      },
      {.name = "threaded"});
  CHECK(f(3).item<int>() == 6);
  CHECK_FALSE(text.empty());
}
TEST_CASE("a symbolic tensor outlives its function") {
  Tensor kept;
  {
    function([&](Tensor x) { return kept = x * 2; }, {.name = "gone"})(1);
  }
  refuses(state, {"\"gone\""}, [&] { kept + 1; });
}
TEST_CASE("the value of a symbolic tensor: item, data, bool, size, a mask") {
  auto with = [](auto body) {
    return function(
        [body](Tensor x) {
          body(x);
          return x;
        },
        {.name = "f"});
  };
  refused(state, {"item", "in \"f\"", "trace_errors.cpp:"}, [&] { with([](Tensor x) { x.item<float>(); })(1.f); });
  refused(state, {"data", "in \"f\"", "trace_errors.cpp:"}, [&] { with([](Tensor x) { x.data<float>(); })(1.f); });
  refused(state, {"to_vector", "in \"f\""}, [&] { with([](Tensor x) { x.to_vector<float>(); })(1.f); });
  refused(state, {"bool", "cond", "in \"f\""}, [&] {
    with([](Tensor x) {
      if (x > 0) return;
    })(1.f);
  });
  auto masked = function([](Tensor x) { return x[x > 0]; }, {.name = "f"});
  refused(Code::unimplemented, {"mask", "in \"f\"", "trace_errors.cpp:"}, [&] { masked(ones({3})); });
}
TEST_CASE("size of a dim that is not known in the trace") {
  auto f = function([](Tensor x) { return x * static_cast<float>(x.size()); },
                    {.name = "f", .input_signature = {{f32, {"n"}}}});
  refused(state, {"size", "[n]", "run time", "trace_errors.cpp:"}, [&] { f(ones({3})); });
}
TEST_CASE("a Variable made in each trace, by name and in a layer made anew") {
  auto f = function([](Tensor x) { return x * Variable(2.f, {.name = "scale"}); }, {.name = "f"});
  for (int again = 0; again < 2; ++again)
    refused(state, {"\"scale\"", "each trace", "in \"f\"", "trace_errors.cpp:"}, [&] { f(1.f); });
  CHECK(f.trace_count() == 0);
}
TEST_CASE("Variable: assign of another dtype or shape, eagerly and in a trace") {
  Variable v{ones({2}), {.name = "weights"}};
  refuses(Code::invalid_argument, {"assign", "\"weights\"", "f32[2]", "i32[2]"}, [&] { v.assign(Tensor{1, 2}); });
  refuses(Code::invalid_argument, {"assign", "\"weights\"", "f32[2]", "f32[3]"}, [&] { v.assign(ones({3})); });
  refuses(Code::invalid_argument, {"f32[2]", "f32[3]"}, [&] { v.assign_add(ones({3})); });
  refuses(Code::invalid_argument, {"f32[2]", "f32[2,2]"}, [&] { v.assign_sub(ones({2, 2})); });  // would broadcast
  refuses(Code::invalid_argument, {"assign", "empty"}, [&] { v.assign(Tensor()); });
  auto f = function([&](Tensor x) { v.assign(x); }, {.name = "f"});
  refused(Code::invalid_argument, {"assign", "\"weights\"", "f32[3]", "in \"f\"", "trace_errors.cpp:"},
          [&] { f(ones({3})); });
  CHECK(v.to_vector<float>() == std::vector<float>{1, 1});
  f(zeros({2}));
  CHECK(v.to_vector<float>() == std::vector<float>{0, 0});
}
TEST_CASE("Variable: the empty handle") {
  const Variable none;
  refuses(state, {"read", "empty"}, [&] { none.read(); });
  refuses(state, {"assign", "empty"}, [&] { none.assign(1.f); });
  refuses(state, {"read", "empty"}, [&] { none + 1.f; });
  auto f = function([](Variable v) { return v.read(); }, {.name = "f"});
  refuses(Code::invalid_argument, {"f:", "Variable", "empty"}, [&] { f(none); });
}
