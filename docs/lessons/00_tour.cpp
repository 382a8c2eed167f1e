// The page of code that README.md shows; `tools/presubmit` keeps the two equal.
// README begins
#include <kiln/kiln.h>
#include <iostream>
using namespace kiln;

int main(int argc, char** argv) {
  // Tensors are immutable values; copying one copies a handle. Shapes broadcast as in NumPy, and a bare number takes
  // the dtype of the tensor beside it.
  Tensor a = {{1.f, 2.f}, {3.f, 4.f}};                            // f32[2,2]
  Tensor y = 2 * a + exp(a[0]) / 3.f - a.matmul(a);               // f32[2,2]
  Tensor column = a[{all, -1}], large = a[a > 2];                 // [2, 4] and [3, 4]
  std::cout << mean(a, {.axis = {0}, .keepdims = true}) << "\n";  // [[2, 3]]  f32[1,2] cpu

  // Variables change. A tape records from here until it is asked for derivatives.
  Variable w{random::normal({2, 1}, {.seed = 7}), {.name = "w"}}, b{zeros({1}), {.name = "b"}};
  GradientTape tape;
  Tensor error = mean(square(a.matmul(w) + b - y.sum({.axis = {1}, .keepdims = true})));
  auto [dw, db] = tape.gradient(error, w, b);
  w.assign_sub(0.01f * dw);
  b.assign_sub(0.01f * db);

  // A compiled function: the lambda runs once for each new signature, and from then on as machine code. Forward,
  // backward and the optimizer's update of the weights are one piece of code.
  Sequential net{Flatten(), Dense(128, {.activation = relu}), Dropout(0.2f), Dense(10)};
  SparseCategoricalCrossentropy loss_fn({.from_logits = true});
  Adam adam({.learning_rate = 1e-3});
  auto step = function(
      [&](Tensor images, Tensor labels) {
        auto [loss, grads] =
            value_and_gradient([&] { return loss_fn(labels, net(images, training)); }, net.variables());
        adam.apply(grads, net.variables());
        return loss;
      },
      {.name = "train_step"});
  auto [train, test] = load_mnist("test/data/mnist");
  auto batches = from_slices(train.images, train.labels).shuffle(60'000, {.seed = 1}).batch(100);
  for (auto [images, labels] : batches.prefetch(2)) step(images, labels);

  // Control flow on the values of tensors stays in the compiled code.
  auto collatz = function([](Tensor n) {
    auto [last, count] = while_loop(
        [](Tensor k, Tensor) { return k > 1; },
        [](Tensor k, Tensor i) {
          return std::tuple(cond(k % 2 == 0, [&] { return floordiv(k, 2); }, [&] { return 3 * k + 1; }), i + 1);
        },
        std::tuple(n, 0));
    return count;
  });
  std::cout << collatz(27) << "\n";                             // 111  i32[] cpu
  std::cout << collatz.concretes()[0].ir(Stage::kiln) << "\n";  // MLIR, with your file and line on each op

  // A function for any number of images, saved for a program that has no compiler.
  auto serve = function([&](Tensor images) { return net(images); },
                        {.name = "serve", .input_signature = {{f32, {"batch", 28, 28, 1}, "images"}}});
  if (argc > 1) save(argv[1], {{"serve", serve}});

  // Errors name the op, what it got, what it needs, and your line.
  try {
    a.matmul(ones({3, 2}));
  } catch (const Error& e) {
    std::cout << e.what() << "\n";
  }

  Accuracy accuracy;
  for (auto [images, labels] : from_slices(test.images, test.labels).batch(1000))
    accuracy.update(labels, serve(images));
  std::cout << accuracy.result() << "\n";
  return accuracy.result().item<float>() > 0.9f && collatz(27).item<int>() == 111 ? 0 : 1;
}
// README ends
