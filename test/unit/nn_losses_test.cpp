#include <limits>

#include "test/unit/nn_testing.h"

using namespace kiln;
using nn_testing::check_close;
using nn_testing::error_of;
using nn_testing::hashed;

namespace {

// Values under each reduction, and the gradient of the mean, against Keras.
template <class Loss, class Options>
void check_loss(const std::string& name, Options options, const Tensor& labels, const Tensor& predictions) {
  const auto golden = nn_testing::read_golden("keras_losses.txt", 2);
  for (bool compiled : {false, true}) {
    INFO(name << (compiled ? " compiled" : " eager"));
    for (auto [reduction, word] : {std::pair(Reduction::mean, "sum_over_batch_size"), std::pair(Reduction::sum, "sum"),
                                   std::pair(Reduction::none, "none")}) {
      options.reduction = reduction;
      const Loss loss(options);
      auto value = function([&](Tensor y, Tensor p) { return loss(y, p); });
      value.run_eagerly(!compiled);
      check_close(value(labels, predictions).template to_vector<float>(), golden.at(name + " " + word), 2e-6);
    }
    options.reduction = Reduction::mean;
    const Loss loss(options);
    auto gradient = function([&](Tensor y, Tensor p) {
      GradientTape tape;
      tape.watch(p);
      const Tensor value = loss(y, p);
      return tape.gradient(value, p);
    });
    gradient.run_eagerly(!compiled);
    check_close(gradient(labels, predictions).template to_vector<float>(), golden.at(name + " gradient"), 2e-6);
  }
}

}  // namespace

TEST_CASE("losses and their gradients equal Keras's") {
  const auto golden = nn_testing::read_golden("keras_losses.txt", 1);
  const std::vector<double>& p = golden.at("probabilities");
  const Tensor probabilities(std::vector<float>(p.begin(), p.end()), {4, 3});
  const Tensor logits = hashed({4, 3}, 3, 6, -3), scores = hashed({4, 3}, 6);
  const Tensor classes = {2, 0, 1, 2};
  const Tensor right = one_hot(classes, 3), bits = (hashed({4, 3}, 5) > 0.5f).to(f32);
  const Tensor raw = hashed({4, 3}, 4), soft = raw / sum(raw, {.axis = {-1}, .keepdims = true});

  const CrossentropyOptions from_logits{.from_logits = true}, from_probabilities;
  check_loss<SparseCategoricalCrossentropy>("sparse_logits", from_logits, classes, logits);
  check_loss<SparseCategoricalCrossentropy>("sparse_probabilities", from_probabilities, classes, probabilities);
  check_loss<CategoricalCrossentropy>("categorical_logits", from_logits, right, logits);
  check_loss<CategoricalCrossentropy>("categorical_soft", from_logits, soft, logits);
  check_loss<CategoricalCrossentropy>("categorical_probabilities", from_probabilities, right, probabilities);
  check_loss<BinaryCrossentropy>("binary_logits", from_logits, bits, logits);
  check_loss<BinaryCrossentropy>("binary_probabilities", from_probabilities, bits, scores);
  check_loss<MeanSquaredError>("mean_squared_error", LossOptions{}, bits, logits);
}

TEST_CASE("cross-entropy stays exact at the edges") {
  const float inf = std::numeric_limits<float>::infinity();
  const SparseCategoricalCrossentropy sparse({.from_logits = true});
  auto with_gradient = [](auto&& loss, const Tensor& y, const Tensor& p) {
    GradientTape tape;
    tape.watch(p);
    const Tensor value = loss(y, p);
    std::vector<float> all = {value.item<float>()};
    for (float g : tape.gradient(value, p).to_vector<float>()) all.push_back(g);
    return all;
  };
  check_close(with_gradient(sparse, Tensor{1}, Tensor{{-inf, 0.f, 0.f}}), {0.6931472, 0, -0.5, 0.5}, 1e-7);
  check_close(with_gradient(sparse, Tensor{1}, Tensor{{1e4f, -1e4f}}), {20000, 1, -1}, 1e-7);
  const BinaryCrossentropy binary({.from_logits = true});
  check_close(with_gradient(binary, Tensor{{1.f}}, Tensor{{-1000.f}}), {1000, -1}, 1e-7);
  check_close(with_gradient(binary, Tensor{{0.f}}, Tensor{{1000.f}}), {1000, 1}, 1e-7);
  const CategoricalCrossentropy dense({.from_logits = true});
  CHECK(dense(Tensor{{1.f, 0.f}}, Tensor{{-1.f, 3.f}}).item<float>() == Approx(4.0181499).epsilon(1e-6));
  CHECK(dense(Tensor{{0.f, 1.f, 0.f}}, Tensor{{-inf, 0.f, 0.f}}).item<float>() == Approx(0.6931472).epsilon(1e-6));
}

TEST_CASE("labels outside of the classes and wrong shapes are errors") {
  const SparseCategoricalCrossentropy sparse({.from_logits = true});
  const Tensor logits = ones({2, 3});
  auto compiled = function([&](Tensor y, Tensor p) { return sparse(y, p); });
  for (const Tensor& labels : {Tensor{0, 3}, Tensor{-1, 0}}) {
    error_of(Code::out_of_range, [&] { sparse(labels, logits); });
    error_of(Code::out_of_range, [&] { compiled(labels, logits); });
  }
  CHECK(compiled(Tensor{0, 2}, logits).item<float>() == Approx(1.0986123).epsilon(1e-6));  // the error is not sticky
  CHECK(sparse(Tensor{{0}, {2}}, logits).item<float>() == Approx(1.0986123).epsilon(1e-6));
  const std::string text = error_of(Code::invalid_argument, [&] { sparse(Tensor{0, 1, 2}, logits); });
  INFO(text);
  CHECK(text.find("nn_losses_test.cpp") != std::string::npos);

  const MeanSquaredError squared;
  CHECK(squared(Tensor{1.f, 2.f}, Tensor{{1.f}, {4.f}}).item<float>() == 2.f);
  CHECK(squared(Tensor{1, 2}, Tensor{1.f, 4.f}).item<float>() == 2.f);
  error_of(Code::invalid_argument, [&] { squared(Tensor{1.f, 2.f}, ones({2, 3})); });
  error_of(Code::invalid_argument, [&] { squared(Tensor{1, 2}, Tensor{1, 2}); });
  error_of(Code::invalid_argument, [&] { squared(Tensor(), Tensor{1.f}); });
}

TEST_CASE("metrics") {
  const Mean mean_of;
  CHECK(mean_of.result().item<float>() == 0);
  mean_of.update(Tensor{1.f, 2.f, 6.f});
  mean_of.update(7.f);
  CHECK(mean_of.result().item<float>() == 4);

  const Accuracy accuracy;
  accuracy.update(Tensor{1, 0, 2}, Tensor{{0.f, 1.f, 0.f}, {0.f, 1.f, 0.f}, {0.f, 0.f, 9.f}});
  CHECK(accuracy.result().item<float>() == Approx(2.0 / 3));
  accuracy.update(Tensor{4}, Tensor{4});
  CHECK(accuracy.result().item<float>() == 0.75f);
  error_of(Code::invalid_argument, [&] { accuracy.update(Tensor{1, 2}, Tensor{1, 2, 3}); });
}
