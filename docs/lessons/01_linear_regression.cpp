// Lesson 1: a straight line through five points, by gradient descent.
//
// House prices of five years; we look for a and b so that a * year + b is close to the price. Four things carry all
// that comes later: Tensor (values), Variable (values that change), GradientTape (derivatives), function (compiled
// code).
#include <kiln/kiln.h>
#include <cmath>
#include <iostream>
using namespace kiln;

int main() {
  // Tensors are immutable arrays. A bare number in a formula takes the dtype of the tensor beside it.
  Tensor year = {2013.f, 2014.f, 2015.f, 2016.f, 2017.f};
  Tensor price = {12000.f, 14000.f, 15000.f, 16500.f, 17500.f};
  std::cout << "year   " << year << "\nprice  " << price << "\n";

  // Gradient descent likes numbers near 1: scale both to [0, 1].
  Tensor x = (year - min(year)) / (max(year) - min(year));
  Tensor y = (price - min(price)) / (max(price) - min(price));

  // The two numbers we look for.
  Variable a{0.f, {.name = "a"}}, b{0.f, {.name = "b"}};

  // One step: the tape records what the loss is made of, then gives its derivatives; the optimizer goes a little
  // downhill.
  SGD sgd({.learning_rate = 1e-3});
  auto step = [&] {
    GradientTape tape;
    Tensor loss = 0.5f * sum(square(a * x + b - y));
    std::vector<Variable> variables = {a, b};
    sgd.apply(tape.gradient(loss, variables), variables);
  };

  constexpr int steps = 10'000;
  for (int i = 0; i < steps; ++i) step();
  const float eager_a = a.item<float>(), eager_b = b.item<float>();
  std::cout << "eager:    a = " << eager_a << ", b = " << eager_b << "\n";

  // The same lambda, compiled: it is run once to record its operations, and from then on its machine code is called.
  a.assign(0);
  b.assign(0);
  auto compiled_step = function(step, {.name = "step"});
  for (int i = 0; i < steps; ++i) compiled_step();
  const float compiled_a = a.item<float>(), compiled_b = b.item<float>();
  std::cout << "compiled: a = " << compiled_a << ", b = " << compiled_b << ", traced " << compiled_step.trace_count()
            << " time\n";

  // What the line says about 2018.
  Tensor next = a * ((2018.f - min(year)) / (max(year) - min(year))) + b;
  std::cout << "price in 2018: " << next * (max(price) - min(price)) + min(price) << "\n";

  // This lesson checks itself: the answer is known, and eager and compiled code agree to the last bit.
  const bool right = std::abs(eager_a - 0.97637f) < 1e-6f && std::abs(eager_b - 0.057565f) < 1e-6f;
  const bool same = eager_a == compiled_a && eager_b == compiled_b && compiled_step.trace_count() == 1;
  if (!right) std::cerr << "expected a = 0.97637 and b = 0.057565\n";
  if (!same) std::cerr << "eager and compiled results differ\n";
  return right && same ? 0 : 1;
}
