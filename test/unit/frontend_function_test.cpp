// Compiled functions: numbers are those of function-semantics.md (T: its acceptance programs, else its checklist
// items).
#include <catch2/catch.hpp>
#include <limits>
#include <sstream>
#include <thread>

#include "kiln/kiln.h"

using namespace kiln;
using Catch::Matchers::Contains;

namespace {
enum class Kind { plain, doubled };
struct Pair {
  Tensor a, b;
  KILN_FIELDS(a, b)
};
template <class F>
std::string error_of(F&& f, Code code) {
  try {
    f();
  } catch (const Error& e) {
    CHECK(e.code() == code);
    return e.what();
  }
  FAIL("no error");
  return {};
}
}  // namespace

TEST_CASE("function: the lambda runs once per signature (T1, 1 to 3)") {
  int runs = 0;
  auto f = function([&](Tensor x) {
    ++runs;
    return x + 1;
  });
  CHECK(f(1).item<int>() == 2);
  CHECK(f(2).item<int>() == 3);
  CHECK(f(std::vector<int>{5})[0].item<int>() == 6);
  CHECK(f(0.5f).item<float>() == 1.5f);
  CHECK(f(0.25f).item<float>() == 1.25f);
  CHECK(runs == 3);
  CHECK(f.trace_count() == 3);
  f.clear_cache();
  CHECK(f.trace_count() == 0);
  CHECK(f(1).item<int>() == 2);
  CHECK(runs == 4);
}

TEST_CASE("function: statics are keyed by value (5 to 8)") {
  int runs = 0;
  auto f = function([&](Tensor x, int k, bool twice, Kind kind, std::string name, std::vector<int> list) {
    ++runs;
    Tensor y = x * k;
    if (twice) y = y + y;
    if (kind == Kind::doubled) y = y * 2;
    if (name == "a long name of more than eight characters") y = y + 1000;
    for (int i : list) y = y + i;
    return y;
  });
  CHECK(f(1, 3, false, Kind::plain, "", {}).item<int>() == 3);
  CHECK(f(2, 3, false, Kind::plain, "", {}).item<int>() == 6);
  CHECK(runs == 1);
  CHECK(f(1, 3, true, Kind::plain, "", {}).item<int>() == 6);
  CHECK(f(1, 3, true, Kind::doubled, "", {}).item<int>() == 12);
  CHECK(f(1, 3, true, Kind::doubled, "a long name of more than eight characters", {}).item<int>() == 1012);
  CHECK(f(1, 3, false, Kind::plain, "", {1, 2}).item<int>() == 6);
  CHECK(f(1, 3, false, Kind::plain, "", {2, 1}).item<int>() == 6);
  CHECK(runs == 6);
  auto g = function([&](double d) { return Tensor(1 / d); });
  g(0.0), g(-0.0), g(std::numeric_limits<double>::quiet_NaN()), g(std::numeric_limits<double>::quiet_NaN());
  CHECK(g.trace_count() == 3);
}

TEST_CASE("function: structs, tuples and vectors as arguments and results (8, 10, 44)") {
  auto f = function([](Pair p, std::vector<Tensor> list, std::tuple<Tensor, int> t) {
    return std::tuple(Pair{p.b, p.a + std::get<0>(t)}, list, std::get<1>(t), 2.5f);
  });
  auto [pair, list, number, constant] = f({Tensor(1), Tensor(2)}, {Tensor(3), Tensor(4)}, {Tensor(10), 7});
  CHECK(pair.a.item<int>() == 2);
  CHECK(pair.b.item<int>() == 11);
  CHECK(list.size() == 2);
  CHECK(list[1].item<int>() == 4);
  CHECK(number == 7);
  CHECK(constant == 2.5f);
  f({Tensor(1), Tensor(2)}, {Tensor(3)}, {Tensor(10), 7});
  CHECK(f.trace_count() == 2);
  Variable v{0};
  auto nothing = function([&](Tensor x) { v.assign(x); });
  nothing(5);
  CHECK(v.item<int>() == 5);
  auto twice = function([](Tensor x) { return std::pair(x, x); });
  auto [a, b] = twice(3);
  CHECK(a.item<int>() == 3);
  CHECK(b.item<int>() == 3);
}

TEST_CASE("function: Variables are read and changed at each call (T2, 35, 46)") {
  Variable a{0.f};
  auto g = function([&] {
    a.assign(a + 1);
    return a;
  });
  CHECK(g().item<float>() == 1);
  CHECK(g().item<float>() == 2);
  const Tensor kept = a.read();
  CHECK(g().item<float>() == 3);
  CHECK(kept.item<float>() == 2);
  a.assign(100);
  CHECK(g().item<float>() == 101);
  CHECK(g.trace_count() == 1);
  CHECK(g.concretes()[0].variables().size() == 1);
}

TEST_CASE("function: program order of a Variable's reads and writes (T5, 59)") {
  Variable x{1}, y{2};
  auto f = function([&] {
    std::vector<Tensor> products;
    for (int i = 0; i < 5; ++i) {
      y.assign_add(1);
      products.push_back(x * y);
    }
    return products;
  });
  const auto products = f();
  for (int i = 0; i < 5; ++i) CHECK(products[i].item<int>() == 3 + i);
  CHECK(y.item<int>() == 7);
}

TEST_CASE("function: Variable arguments are keyed by alias pattern (55, 56)") {
  Variable v1{1.f}, v2{2.f};
  auto twice = function([](Variable& v) { v.assign(v * 2); });
  twice(v1), twice(v2);
  CHECK(twice.trace_count() == 1);
  CHECK(v1.item<float>() == 2);
  CHECK(v2.item<float>() == 4);
  auto sum_of = function([](Variable& a, Variable& b) {
    a.assign_add(1);
    return a + b;
  });
  v1.assign(1), v2.assign(5);
  CHECK(sum_of(v1, v1).item<float>() == 4);
  CHECK(sum_of(v1, v2).item<float>() == 8);
  CHECK(sum_of.trace_count() == 2);
  // A captured Variable that is also passed.
  Variable c{2.f}, d{5.f};
  auto g = function([&](Variable& v) { return v * c; });
  CHECK(g(c).item<float>() == 4);
  CHECK(g(d).item<float>() == 10);
  auto h = function([&](Variable& v) {
    v.assign(5);
    return v + c;
  });
  CHECK(h(c).item<float>() == 10);
  c.assign(1);
  CHECK(h(d).item<float>() == 6);
}

TEST_CASE("function: captures are frozen, small tensors as constants (34, 38)") {
  int foo = 1;
  Tensor small = 10, large = ones({1000}, {.dtype = i32});
  auto f = function([&](Tensor x) { return x + foo + small + reduce_max(large); });
  CHECK(f(1).item<int>() == 13);
  foo = 100;
  small = 0;
  CHECK(f(1).item<int>() == 13);
  const Graph& graph = f.concretes()[0].graph();
  CHECK(graph.inputs.size() == 2);  // the argument and the large capture
}

TEST_CASE("function: a throwing lambda leaves nothing behind (17)") {
  bool fail = true;
  auto f = function([&](Tensor x) {
    Tensor y = x + 1;
    if (fail) throw std::runtime_error("stop");
    return y;
  });
  CHECK_THROWS_WITH(f(1), "stop");
  CHECK_THROWS_WITH(f(1), "stop");
  CHECK(f.trace_count() == 0);
  CHECK((Tensor(1) + 1).item<int>() == 2);  // eager code is eager again
  fail = false;
  CHECK(f(1).item<int>() == 2);
}

TEST_CASE("function: a declared signature serves all sizes and refuses other types (19 to 21)") {
  auto f = function([](Tensor x, Tensor y) { return x * 2 + reduce_sum(y); },
                    {.name = "f", .input_signature = {{f32, {"batch", 2}, "x"}, {f32, {"batch"}}}});
  CHECK(f(ones({3, 2}), ones({3})).to_vector<float>() == std::vector<float>(6, 5.f));
  CHECK(f(ones({1, 2}), ones({1})).to_vector<float>() == std::vector<float>(2, 3.f));
  CHECK(f(ones({0, 2}), ones({0})).shape() == Shape{0, 2});
  CHECK(f.trace_count() == 1);
  CHECK_THAT(error_of([&] { f(ones({3, 3}), ones({3})); }, Code::invalid_argument),
             Contains("argument 0") && Contains("f32[batch,2]") && Contains("f32[3,3]"));
  CHECK_THAT(error_of([&] { f(Tensor{{1, 2}}, ones({1})); }, Code::invalid_argument), Contains("i32[1,2]"));
  CHECK_THAT(error_of([&] { f(ones({3, 2}), ones({4})); }, Code::invalid_argument), Contains("3") && Contains("4"));
  CHECK_THAT(f.concretes()[0].signature(), Contains("f(x: f32[batch,2], arg1: f32[batch]) -> f32[batch,2]"));
}

TEST_CASE("function: concrete() traces without running; a general trace serves later calls (13, 31, 88)") {
  int runs = 0;
  auto f = function([&](Tensor x) {
    ++runs;
    return x + x;
  });
  ConcreteFunction general = f.concrete({{f32, {"n"}}});
  CHECK(f.concrete({{f32, {"n"}}}).impl() == general.impl());
  CHECK(runs == 1);
  CHECK(f(ones({3})).to_vector<float>() == std::vector<float>{2, 2, 2});
  CHECK(runs == 1);
  CHECK(general({ones({2})})[0].to_vector<float>() == std::vector<float>{2, 2});
  CHECK_THAT(error_of([&] { general({Tensor{1}}); }, Code::invalid_argument), Contains("i32[1]") && Contains("f32[n]"));
  CHECK_THAT(error_of([&] { general({}); }, Code::invalid_argument), Contains("got 0 tensors, needs 1"));
}

TEST_CASE("function: a symbolic tensor has no value and does not survive its trace (41, 42)") {
  std::vector<Tensor> kept;
  auto f = function(
      [&](Tensor x) {
        kept.push_back(x * 2);
        return x;
      },
      {.name = "leaky"});
  f(1);
  CHECK_THAT(error_of([&] { kept[0] + 1; }, Code::failed_precondition), Contains("multiply") && Contains("leaky") &&
                                                                            Contains("frontend_function_test.cpp") &&
                                                                            Contains("Variable"));
  CHECK_THAT(error_of([&] { kept[0].item<int>(); }, Code::failed_precondition), Contains("leaky"));
  auto g = function([&](Tensor x) { return x + kept[0]; });
  CHECK_THAT(error_of([&] { g(1); }, Code::failed_precondition), Contains("leaky"));
  auto asks = function([](Tensor x) { return bool(x > 0) ? x : -x; });
  CHECK_THAT(error_of([&] { asks(1); }, Code::failed_precondition), Contains("cond"));
  auto item = function([](Tensor x) { return Tensor(x.item<int>()); });
  CHECK_THAT(error_of([&] { item(1); }, Code::failed_precondition), Contains("item") && Contains("being traced"));
}

TEST_CASE("function: a Variable cannot be made in a trace, unless only once and outside (48, 49)") {
  auto f = function([](Tensor x) { return x * Variable{12.f, {.name = "w"}}; });
  CHECK_THAT(error_of([&] { f(1.f); }, Code::failed_precondition), Contains("\"w\"") && Contains("each trace"));
}

TEST_CASE("function: functions call functions (80)") {
  Variable v{1.f};
  auto inner = function([&](Tensor x) {
    v.assign_add(1);
    return x * v;
  });
  auto outer = function([&](Tensor x) { return inner(x) + inner(x + 1); });
  CHECK(outer(1.f).item<float>() == 1 * 2 + 2 * 3);
  CHECK(v.item<float>() == 3);
  CHECK(inner.trace_count() == 1);
  auto recursive = std::make_shared<std::function<Tensor(Tensor)>>();
  auto loop = function([&](Tensor x) { return (*recursive)(x) + 1; });
  *recursive = [&](Tensor x) { return loop(x); };
  CHECK_THAT(error_of([&] { loop(1); }, Code::failed_precondition), Contains("calls itself"));
  auto down = function([&](int n) -> Tensor { return n == 0 ? Tensor(1) : (*recursive)(Tensor(n)); });
  CHECK(down(0).item<int>() == 1);
}

TEST_CASE("function: nested in a function with unknown dims") {
  auto inner = function([](Tensor x) { return reshape(x, {-1}) * 2; });
  auto outer = function([&](Tensor x) { return reduce_sum(inner(x)); }, {.input_signature = {{f32, {"n", 3}}}});
  CHECK(outer(ones({2, 3})).item<float>() == 12);
  CHECK(outer(ones({5, 3})).item<float>() == 30);
  CHECK(inner.trace_count() == 1);
}

TEST_CASE("function: run_eagerly runs the lambda at every call (83)") {
  int runs = 0;
  auto f = function([&](Tensor x) {
    ++runs;
    return x + 1;
  });
  f(1);
  f.run_eagerly(true);
  f(1), f(1);
  CHECK(runs == 3);
  f.run_eagerly(false);
  CHECK(f(5).item<int>() == 6);
  CHECK(runs == 3);
}

TEST_CASE("function: the cache is bounded, the least recently used goes (18)") {
  auto f = function([](Tensor x, int k) { return x + k; }, {.max_signatures = 3});
  for (int k = 0; k < 5; ++k) CHECK(f(1, k).item<int>() == 1 + k);
  CHECK(f.concretes().size() == 3);
  CHECK(f(1, 0).item<int>() == 1);
  CHECK(f.trace_count() == 6);
}

TEST_CASE("function: explain names what was new") {
  auto f = function([](Tensor x) { return x; }, {.name = "f"});
  f(ones({31}));
  CHECK_THAT(f.explain(), Contains("first call"));
  f(ones({32}));
  CHECK_THAT(f.explain(),
             Contains("tensor argument 0 was f32[31], is now f32[32]") && Contains("frontend_function_test.cpp"));
  std::ostringstream text;
  text << f;
  CHECK_THAT(text.str(), Contains("f: 2 signatures") && Contains("f(arg0: f32[31]) -> f32[31]"));
}

TEST_CASE("function: 16 threads make one trace (100)") {
  std::atomic<int> runs{0}, right{0};
  auto f = function([&](Tensor x) {
    ++runs;
    return x * 3;
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 20; ++k) right += f(i + k).item<int>() == 3 * (i + k);
    });
  for (std::thread& t : threads) t.join();
  CHECK(runs == 1);
  CHECK(right == 320);
}

TEST_CASE("function: concurrent updates of one Variable are whole") {
  Variable v{0};
  auto f = function([&] { v.assign_add(1); });
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 100; ++k) f();
    });
  for (std::thread& t : threads) t.join();
  CHECK(v.item<int>() == 400);
}

TEST_CASE("function: two functions that read each other's Variables never wait for each other") {
  Variable a{0}, b{0};
  auto f = function([&] { a.assign(b + 1); });
  auto g = function([&] { b.assign(a + 1); });
  f(), g();
  std::thread other([&] {
    for (int k = 0; k < 2000; ++k) g();
  });
  for (int k = 0; k < 2000; ++k) f();
  other.join();
  CHECK(a.item<int>() >= 1);
  CHECK(b.item<int>() >= 2);
}

TEST_CASE("function: a tape inside equals eager (91)") {
  Variable w{Tensor{{1.f}, {2.f}}}, b{1.f};
  Tensor X = {{1.f, 2.f}, {3.f, 4.f}}, y = {{1.f}, {2.f}};
  auto loss_of = [&](const Tensor& x, const Tensor& t) { return 0.5f * sum(square(x.matmul(w) + b - t)); };
  auto step = function([&](Tensor x, Tensor t) {
    GradientTape tape;
    Tensor loss = loss_of(x, t);
    auto [dw, db] = tape.gradient(loss, w, b);
    w.assign_sub(0.1f * dw);
    b.assign_sub(0.1f * db);
    return loss;
  });
  CHECK(step(X, y).item<float>() == 62.5f);
  CHECK(w.to_vector<float>() == std::vector<float>{1 - 0.1f * 35, 2 - 0.1f * 50});
  CHECK(b.item<float>() == 1 - 0.1f * 15);
}

TEST_CASE("function: a tape around a call (90), and around the gradient of one (96)") {
  Variable v{1.f};
  auto f = function([&](Tensor x) { return v * v * x; });
  {
    GradientTape tape;
    Tensor x = 3.f;
    tape.watch(x);
    Tensor y = f(x);
    auto [dv, dx] = tape.gradient(y, v, x);
    CHECK(dv.item<float>() == 6);
    CHECK(dx.item<float>() == 1);
  }
  v.assign(3.f);
  auto cube = function([&] { return v * v * v; });
  GradientTape outer;
  Tensor second;
  {
    GradientTape middle;
    Tensor first;
    {
      GradientTape inner;
      first = inner.gradient(cube(), v);
    }
    CHECK(first.item<float>() == 27);
    second = middle.gradient(first, v);
  }
  CHECK(second.item<float>() == 18);
  CHECK(outer.gradient(second, v).item<float>() == 6);
}

TEST_CASE("function: random numbers are new at every call and follow the seed (64, 65)") {
  auto f = function([](Tensor x) { return x + random::uniform({2}) + random::uniform({2}); });
  set_seed(7);
  const auto a = f(0.f).to_vector<float>(), b = f(0.f).to_vector<float>();
  CHECK(a != b);
  set_seed(7);
  CHECK(f(0.f).to_vector<float>() == a);
  set_seed(7);
  CHECK((Tensor(0.f) + random::uniform({2}) + random::uniform({2})).to_vector<float>() == a);
  CHECK(random::normal({3}, {.seed = 1}).to_vector<float>() == random::normal({3}, {.seed = 1}).to_vector<float>());
}

TEST_CASE("function: an op's error carries the function and the line of the op") {
  auto f = function([](Tensor x) { return x.matmul(x); }, {.name = "f"});
  CHECK_THAT(error_of([&] { f(ones({2, 3})); }, Code::invalid_argument),
             Contains("matmul") && Contains("in \"f\"") && Contains(":" + std::to_string(__LINE__ - 2)));
  auto g = function([](Tensor x, Tensor i) { return gather(x, i); }, {.name = "g"});
  CHECK_THAT(error_of([&] { g(ones({2}), Tensor(5)); }, Code::out_of_range), Contains("gather") && Contains("5"));
  CHECK(g(ones({2}), Tensor(1)).item<float>() == 1);
}
