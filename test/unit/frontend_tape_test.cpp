// Gradient tapes, eagerly. Expected values: the tutorials' (function-semantics T6 to T9) and closed forms.
#include <catch2/catch.hpp>

#include "kiln/kiln.h"

using namespace kiln;
using Catch::Matchers::Contains;

TEST_CASE("tape: a watched tensor, an unwatched one") {
  Tensor x = 4.f;
  GradientTape tape;
  tape.watch(x);
  CHECK(tape.gradient(x * x, x).item<float>() == 8.f);

  GradientTape blind;
  CHECK_FALSE(blind.gradient(x * x, x).defined());
}

TEST_CASE("tape: variables are watched by themselves; persistent tapes answer more than once") {
  Variable x{4.f}, y{2.f}, fixed{3.f, {.trainable = false}};
  GradientTape tape({.persistent = true});
  Tensor z = x + y, w = x * x + fixed;
  CHECK(tape.gradient(z, y).item<float>() == 1.f);
  CHECK(tape.gradient(z, x).item<float>() == 1.f);
  CHECK(tape.gradient(w, x).item<float>() == 8.f);
  CHECK_FALSE(tape.gradient(w, fixed).defined());
  CHECK_FALSE(tape.gradient(w, y).defined());
  CHECK(tape.watched_variables().size() == 2);
}

TEST_CASE("tape: a second question is an error that names persistent") {
  Variable x{4.f};
  GradientTape tape;
  Tensor y = x * x;
  tape.gradient(y, x);
  CHECK_THROWS_WITH(tape.gradient(y, x), Contains("persistent") && Contains("frontend_tape_test.cpp"));
}

TEST_CASE("tape: linear regression's gradients") {
  Tensor X = {{1.f, 2.f}, {3.f, 4.f}}, y = {{1.f}, {2.f}};
  Variable w{Tensor{{1.f}, {2.f}}}, b{1.f};
  GradientTape tape;
  Tensor loss = 0.5f * sum(square(X.matmul(w) + b - y));
  auto [dw, db] = tape.gradient(loss, w, b);
  CHECK(loss.item<float>() == 62.5f);
  CHECK(dw.to_vector<float>() == std::vector<float>{35, 50});
  CHECK(db.item<float>() == 15.f);
}

TEST_CASE("tape: targets add up, sources may repeat, a target may be a source") {
  Tensor x = 2.f;
  GradientTape tape({.persistent = true});
  tape.watch(x);
  Tensor y = x * x;
  auto g = tape.gradients({x, y}, {x, x});
  CHECK(g[0].item<float>() == 5.f);
  CHECK(g[1].item<float>() == 5.f);
  CHECK(tape.gradient(y, std::vector<Tensor>{x}, {.output_gradients = {Tensor(3.f)}})[0].item<float>() == 12.f);
  Tensor other = 1.f;
  CHECK(tape.gradient(y, std::vector<Tensor>{other}, {.unconnected = Unconnected::zero})[0].item<float>() == 0.f);
}

TEST_CASE("tape: third derivative by nested tapes") {
  Variable x{3.f};
  GradientTape outer;
  Tensor second;
  {
    GradientTape middle;
    Tensor first;
    {
      GradientTape inner;
      first = inner.gradient(x * x * x, x);
    }
    CHECK(first.item<float>() == 27.f);
    second = middle.gradient(first, x);
  }
  CHECK(second.item<float>() == 18.f);
  CHECK(outer.gradient(second, x).item<float>() == 6.f);
}

TEST_CASE("tape: stop_recording, reset and watch_accessed_variables") {
  Variable x{3.f}, y{5.f};
  GradientTape tape({.persistent = true, .watch_accessed_variables = false});
  tape.watch(x);
  Tensor a = x * y;
  Tensor b;
  {
    auto pause = tape.stop_recording();
    b = x * x;
  }
  CHECK(tape.gradient(a, x).item<float>() == 5.f);
  CHECK_FALSE(tape.gradient(a, y).defined());
  CHECK_FALSE(tape.gradient(b, x).defined());
  tape.reset();
  CHECK_FALSE(tape.gradient(a, x).defined());
}

TEST_CASE("tape: no gradient flows through a Variable's state") {
  Variable x{3.f}, v{0.f};
  GradientTape tape({.persistent = true});
  v.assign(x * 2);
  Tensor y = v * v;
  CHECK_FALSE(tape.gradient(y, x).defined());
  CHECK(tape.gradient(y, v).item<float>() == 12.f);
}

TEST_CASE("tape: integers have no gradient") {
  Variable n{3};
  GradientTape tape;
  CHECK_FALSE(tape.gradient(n * n, n).defined());
}

TEST_CASE("tape: broadcast operands get gradients of their own shape") {
  Variable w{ones({3, 1})}, b{ones({4})};
  GradientTape tape;
  auto [dw, db] = tape.gradient(sum(w * b), w, b);
  CHECK(dw.shape() == Shape{3, 1});
  CHECK(dw.to_vector<float>() == std::vector<float>{4, 4, 4});
  CHECK(db.to_vector<float>() == std::vector<float>{3, 3, 3, 3});
}

TEST_CASE("value_and_gradient gives the lambda's value and one gradient per variable") {
  Variable x{2.f}, unused{1.f};
  auto [value, grads] = value_and_gradient([&] { return x * x; }, {x, unused});
  CHECK(value.item<float>() == 4.f);
  CHECK(grads[0].item<float>() == 4.f);
  CHECK_FALSE(grads[1].defined());
  auto [both, more] = value_and_gradient([&] { return std::tuple(x * x, 7); }, {x});
  CHECK(std::get<1>(both) == 7);
  CHECK(more[0].item<float>() == 4.f);
}
