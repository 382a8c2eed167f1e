// Networks with fixed weights and inputs: logits, losses and gradients from a float64 run of TensorFlow 2.21.
#include "runtime/base/thread_pool.h"
#include "test/bench/mlp_run.h"
#include "test/unit/nn_testing.h"

using namespace kiln;
using nn_testing::hashed;

namespace {

Sequential mlp() { return {Flatten(), Dense(100, {.activation = relu}), Dense(10)}; }
Sequential cnn() {
  return {Conv2D(32, 5, {.padding = "same", .activation = relu}),
          MaxPool2D(2),
          Conv2D(64, 5, {.padding = "same", .activation = relu}),
          MaxPool2D(2),
          Flatten(),
          Dense(1024, {.activation = relu}),
          Dense(10)};
}
Sequential fashion_cnn() {
  return {Conv2D(32, 5, {.activation = relu}),
          MaxPool2D(2),
          Conv2D(64, 3, {.activation = relu}),
          MaxPool2D(2),
          Flatten(),
          Dense(1024, {.activation = relu}),
          Dropout(0.5),
          Dense(10)};
}

Sequential dqn() { return {Dense(24, {.activation = relu}), Dense(24, {.activation = relu}), Dense(2)}; }

struct Wanted {
  std::vector<double> first;
  double sum, norm;
  size_t argmax;
};

// The logits of row 0, eagerly and compiled for any batch. The wanted values are of float64 runs, with ten digits; in
// f32 the rounding of weights, input and sums shows.
template <class T>
void check_logits(const Sequential& net, const Shape& input, const Wanted& wanted, double tolerance) {
  Shape any = input;
  any[0] = -1;
  net.build(any, dtype_of<T>);
  nn_testing::set_fixed_weights(net.trainable_variables());
  const Tensor x = hashed<T>(input, 999);
  auto compiled =
      function([&](Tensor images) { return net(images); },
               {.input_signature = {{dtype_of<T>, input.rank() == 2 ? std::vector<DimSpec>{"batch", 4}
                                                                    : std::vector<DimSpec>{"batch", 28, 28, 1}}}});
  const Tensor logits = net(x);
  const std::vector<T> all = logits.to_vector<T>();
  CHECK(compiled(x).template to_vector<T>() == all);
  const std::vector<double> row(all.begin(), all.begin() + logits.shape()[1].size());
  double sum = 0, squares = 0, longest = 0;
  size_t largest = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    sum += row[i], squares += row[i] * row[i];
    longest = std::max(longest, std::abs(row[i]));
    if (row[i] > row[largest]) largest = i;
  }
  const double allowed = tolerance * longest;
  for (size_t i = 0; i < wanted.first.size(); ++i) CHECK(std::abs(row[i] - wanted.first[i]) < allowed);
  CHECK(std::abs(sum - wanted.sum) < 4 * allowed);
  CHECK(std::abs(std::sqrt(squares) - wanted.norm) < 2 * allowed);
  CHECK(largest == wanted.argmax);
}

// In f64 and f32.
void check_logits(Sequential (*make)(), const Shape& input, const Wanted& wanted) {
  check_logits<double>(make(), input, wanted, 2e-9);
  check_logits<float>(make(), input, wanted, 2e-6);
}

const LabelledImages& mnist_train() {
  static const Mnist mnist = load_mnist(std::string(KILN_TEST_DATA) + "/mnist");
  return mnist.train;
}

// The losses before each of 6 steps on the first 50 training images, and the norms of the first gradients.
template <class T>
void check_training(const Sequential& net, Optimizer& optimizer, bool compiled, const std::vector<double>& wanted,
                    const std::vector<double>& norms, double tolerance) {
  const Tensor labels = mnist_train().labels[slice(0, 50)];
  // Divided by 255 in T.
  std::vector<T> pixels(50 * 784);
  for (size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<T>(std::lround(mnist_train().images.data<float>()[i] * 255.f)) / T(255);
  const Tensor images(pixels, {50, 28, 28, 1});
  net.build({-1, 28, 28, 1}, dtype_of<T>);
  nn_testing::set_fixed_weights(net.trainable_variables());
  const SparseCategoricalCrossentropy loss_fn({.from_logits = true});
  auto step = function([&](Tensor x, Tensor y) {
    auto [loss, gradients] = value_and_gradient([&] { return loss_fn(y, net(x)); }, net.trainable_variables());
    optimizer.apply(gradients, net.trainable_variables());
    std::vector<Tensor> all = {loss};
    for (const Tensor& g : gradients) all.push_back(sqrt(sum(square(g))));
    return all;
  });
  step.run_eagerly(!compiled);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const std::vector<Tensor> all = step(images, labels);
    INFO("step " << i << (compiled ? " compiled" : " eager"));
    CHECK(std::abs(static_cast<double>(all[0].item<T>()) - wanted[i]) < tolerance * wanted[i]);
    if (i > 0) continue;
    REQUIRE(all.size() == norms.size() + 1);
    // The wanted norms have eight digits.
    for (size_t k = 0; k < norms.size(); ++k)
      CHECK(std::abs(static_cast<double>(all[k + 1].item<T>()) - norms[k]) < std::max(tolerance, 5e-8) * norms[k]);
  }
}

const std::vector<double> mlp_norms = {1.7570672, .17033046, .5982377, .14358823};
const std::vector<double> cnn_norms = {.45862751, .28898831, 3.4788847, .28437045,
                                       7.0405552, .20854943, 4.3189851, .21632621};
const std::vector<double> mlp_sgd = {2.406993791, 2.37246458, 2.339377561, 2.307746392, 2.277975617, 2.249594266};
const std::vector<double> mlp_adam = {2.406993791, 2.172484133, 1.973527778, 1.800491974, 1.650307517, 1.513863392};
const std::vector<double> cnn_sgd = {2.573370986, 2.170019642, 1.980789951, 1.826174036, 1.687401677, 1.560175039};

}  // namespace

TEST_CASE("logits of the tutorials' networks with fixed weights") {
  check_logits(mlp, {2, 28, 28, 1},
               {{-1.071301707, -1.484867755, -.2714033153, -.9769548646}, -8.487967181, 3.797396936, 4});
  check_logits(cnn, {2, 28, 28, 1},
               {{1.542991922, 1.692396952, -1.157992633, -.2230477294}, 3.134922695, 3.216782897, 6});
  check_logits(fashion_cnn, {2, 28, 28, 1},
               {{1.731711105, 1.965781537, -1.122284734, .2783710322}, 3.311940243, 3.757072382, 1});
  check_logits(dqn, {2, 4}, {{-.9180186591, .7872658492}, -.13075281, 1.209357588, 1});
}

TEST_CASE("six training steps of the MLP with fixed weights") {
  for (bool compiled : {false, true}) {
    SGD sgd, sgd_f32;
    check_training<double>(mlp(), sgd, compiled, mlp_sgd, mlp_norms, 1e-9);
    check_training<float>(mlp(), sgd_f32, compiled, mlp_sgd, mlp_norms, 2e-6);
    Adam adam, adam_f32;
    check_training<double>(mlp(), adam, compiled, mlp_adam, mlp_norms, 1e-9);
    check_training<float>(mlp(), adam_f32, compiled, mlp_adam, mlp_norms, 2e-6);
  }
}

TEST_CASE("six training steps of the CNN with fixed weights") {
  SGD sgd, sgd_f32;
  check_training<double>(cnn(), sgd, true, cnn_sgd, cnn_norms, 1e-9);
  check_training<float>(cnn(), sgd_f32, true, cnn_sgd, cnn_norms, 2e-6);
}

TEST_CASE("training gives the same bits eagerly and compiled, at any number of threads") {
  uint64_t first = 0;
  for (int threads : {1, 2}) {
    set_thread_count(threads);
    const uint64_t eager = mlp_run::train(200, false);
    CHECK(mlp_run::train(200, true) == eager);
    if (first) CHECK(eager == first);
    first = eager;
  }
  set_thread_count(0);
}
