// Lesson 2: handwritten digits with two dense layers.
//
//   lesson_mlp [--data FOLDER]      the folder with the four files of MNIST
//
// New here: layers, a data pipeline, and a training step that is one compiled function.
#include <kiln/kiln.h>
#include <iostream>
#include <string>
using namespace kiln;

int main(int argc, char** argv) {
  const bool given = argc == 3 && std::string(argv[1]) == "--data";
  if (argc != 1 && !given) {
    std::cerr << "usage: lesson_mlp [--data FOLDER]\n";
    return 2;
  }
  try {
    // 60,000 images to learn from, 10,000 to be tested on: f32[n,28,28,1] from 0 to 1, and their digits, i32[n].
    auto [train, test] = load_mnist(given ? argv[2] : "test/data/mnist");

    // Layers one after the other. Each makes its weights when it first sees an input.
    Sequential net{Flatten(), Dense(100, {.activation = relu, .seed = 1}), Dense(10, {.seed = 2})};
    SparseCategoricalCrossentropy loss_fn({.from_logits = true});
    Adam adam({.learning_rate = 1e-3});

    // Forward, backward and update in one function. It is traced at its first call; later calls run machine code.
    auto step = function(
        [&](Tensor images, Tensor labels) {
          auto [loss, gradients] = value_and_gradient([&] { return loss_fn(labels, net(images)); }, net.variables());
          adam.apply(gradients, net.variables());
          return loss;
        },
        {.name = "train_step"});

    // Batches of 50 in random order, made ahead by another thread.
    Mean mean_loss;
    auto batches = from_slices(train.images, train.labels).shuffle(60'000, {.seed = 3}).batch(50).prefetch(4);
    int64_t count = 0;
    for (auto [images, labels] : batches) {
      mean_loss.update(step(images, labels));
      if (++count % 200 == 0) {
        std::cout << "step " << count << "  loss " << mean_loss.result().item<float>() << std::endl;
        mean_loss.reset();
      }
    }
    std::cout << net;

    // The share of right answers on images that it has never seen.
    Accuracy accuracy;
    for (auto [images, labels] : from_slices(test.images, test.labels).batch(1000))
      accuracy.update(labels, net(images));
    const float share = accuracy.result().item<float>();
    std::cout << "test accuracy " << share << "\n";
    return share >= 0.94f && step.trace_count() == 1 ? 0 : 1;
  } catch (const Error& error) {
    std::cerr << "lesson_mlp: " << error.what() << "\n";
    return 1;
  }
}
