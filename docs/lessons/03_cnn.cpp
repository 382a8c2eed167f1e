// Lesson 3: a convolutional network, a compiled training step, and a model file for another program.
//
//   lesson_cnn [--data FOLDER] [--epochs N] [--steps N] [--save FILE]
//
// --steps ends the training early. --save writes the function "serve", which a program without a compiler can run.
#include <kiln/kiln.h>
#include <unistd.h>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>
using namespace kiln;

namespace {

struct Arguments {
  std::string data = "test/data/mnist", save;
  int64_t epochs = 1;
  int64_t steps = 0;  // 0: all
};

bool parse(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) return false;
    const std::string value = argv[i + 1];
    if (name == "--data")
      arguments.data = value;
    else if (name == "--save")
      arguments.save = value;
    else if (name == "--epochs")
      arguments.epochs = std::atoll(value.c_str());
    else if (name == "--steps")
      arguments.steps = std::atoll(value.c_str());
    else
      return false;
  }
  return arguments.epochs > 0 && arguments.steps >= 0;
}

// The image that embed_runtime makes when it is given none: a hash of each pixel's number, in [-0.5, 0.5).
Tensor fixed_image() {
  std::vector<float> pixels(28 * 28);
  for (uint32_t i = 0; i < pixels.size(); ++i) {
    uint32_t h = i + 0x9E3779B9u;
    h = (h ^ h >> 16) * 0x85EBCA6Bu;
    h = (h ^ h >> 13) * 0xC2B2AE35u;
    pixels[i] = static_cast<float>((h ^ h >> 16) >> 8) * 0x1p-24f - 0.5f;
  }
  return Tensor(pixels).reshape({1, 28, 28, 1});
}

// One line, written over and over on a terminal; elsewhere a line now and then.
class Progress {
 public:
  Progress(int64_t steps, int64_t batch) : steps_(steps), batch_(batch) {}
  void show(int64_t step, float loss) {
    const bool terminal = isatty(STDOUT_FILENO);
    if (step % (terminal ? 10 : 200) != 0 && step != steps_) return;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const double left = seconds / static_cast<double>(step) * static_cast<double>(steps_ - step);
    std::printf("%sstep %lld/%lld  loss %.4f  %.0f examples/s  %.0f s left   %s", terminal ? "\r" : "",
                static_cast<long long>(step), static_cast<long long>(steps_), static_cast<double>(loss),
                static_cast<double>(step * batch_) / seconds, left, terminal && step != steps_ ? "" : "\n");
    std::fflush(stdout);
  }

 private:
  int64_t steps_, batch_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

int run(const Arguments& arguments) {
  auto [train, test] = load_mnist(arguments.data);

  // The network: two convolutions that find strokes and their parts, each followed by pooling, then two dense layers.
  // Dropout makes the network forget 40 % of its features at random, in training only.
  Sequential net{
      Conv2D(32, 5, {.padding = "same", .activation = relu, .seed = 1}),
      MaxPool2D(2),
      Conv2D(64, 5, {.padding = "same", .activation = relu, .seed = 2}),
      MaxPool2D(2),
      Flatten(),
      Dense(1024, {.activation = relu, .seed = 3}),
      Dropout(0.4, {.seed = 4}),
      Dense(10, {.seed = 5}),
  };
  net.build({-1, 28, 28, 1});  // -1: any number of images
  std::printf("%s", net.summary().c_str());

  // The whole step is one compiled function: forward, loss, backward, and Adam's update of each weight.
  SparseCategoricalCrossentropy loss_fn({.from_logits = true});
  Adam adam({.learning_rate = 1e-3});
  const std::vector<Variable> weights = net.trainable_variables();
  auto train_step = function(
      [&](Tensor images, Tensor labels) {
        auto [loss, gradients] = value_and_gradient([&] { return loss_fn(labels, net(images, training)); }, weights);
        adam.apply(gradients, weights);
        return loss;
      },
      {.name = "train_step"});

  constexpr int64_t batch = 50;
  auto batches = from_slices(train.images, train.labels).shuffle(60'000, {.seed = 6}).batch(batch).prefetch(4);
  int64_t steps = arguments.epochs * *batches.size();
  if (arguments.steps) steps = std::min(steps, arguments.steps);

  Progress progress(steps, batch);
  int64_t step = 0;
  float first_loss = 0, loss = 0;
  for (auto [images, labels] : batches.repeat(arguments.epochs).take(steps)) {
    const float now = train_step(images, labels).item<float>();
    if (step == 0) first_loss = loss = now;
    loss += 0.05f * (now - loss);  // a running mean: single batches jump
    progress.show(++step, loss);
  }

  // A second function, for any number of images: its batch dim has a name instead of a size.
  auto serve = function([&](Tensor images) { return net(images); },
                        {.name = "serve", .input_signature = {{f32, {"batch", 28, 28, 1}, "images"}}});
  Accuracy accuracy;
  for (auto [images, labels] : from_slices(test.images, test.labels).batch(500)) accuracy.update(labels, serve(images));

  if (!arguments.save.empty()) {
    save(arguments.save, {{"serve", serve}});
    std::printf("saved \"serve\" to %s; a program without the compiler runs it:\n  build/bin/embed_runtime %s\n",
                arguments.save.c_str(), arguments.save.c_str());
    std::printf("and prints, bit for bit, the numbers that come out here:\n");
    for (float score : serve(fixed_image()).to_vector<float>()) std::printf("%a %.9g\n", score, score);
  }
  std::printf("next, look at the code that was made of train_step, and run the model without the compiler:\n");
  std::printf("  build/bin/kiln ir build/bin/lesson_cnn --function train_step --stage fused\n");
  if (arguments.save.empty())
    std::printf("  build/bin/lesson_cnn --save model.kiln && build/bin/embed_runtime model.kiln\n");
  const float share = accuracy.result().item<float>();
  std::printf("test accuracy %.4f\n", static_cast<double>(share));

  // After a whole epoch the network must be good; after a few steps it must have begun to learn.
  const bool learned = arguments.steps ? std::isfinite(loss) && (steps < 100 || loss < first_loss) : share >= 0.985f;
  return learned && train_step.trace_count() == 1 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!parse(argc, argv, arguments)) {
    std::fprintf(stderr, "usage: lesson_cnn [--data FOLDER] [--epochs N] [--steps N] [--save FILE]\n");
    return 2;
  }
  try {
    return run(arguments);
  } catch (const Error& error) {
    std::fprintf(stderr, "lesson_cnn: %s\n", error.what());
    return 1;
  }
}
