#include "test/unit/nn_testing.h"

using namespace kiln;
using nn_testing::check_close;
using nn_testing::error_of;
using nn_testing::hashed;

namespace {

// The parameters after some steps with made-up gradients, as test/golden/make_keras.py takes them.
void check_trajectory(const std::string& name, Optimizer& optimizer, bool compiled) {
  const auto golden = nn_testing::read_golden("keras_optimizers.txt", 2);
  const std::vector<Variable> variables = {Variable(hashed({2, 3}, 1, 2, -1)), Variable(hashed({3}, 2, 2, -1))};
  auto apply = function([&](Tensor w, Tensor b) { optimizer.apply({w, b}, variables); });
  apply.run_eagerly(!compiled);
  int compared = 0;
  for (uint64_t step = 1; step <= 50; ++step) {
    const Tensor b = hashed({3}, 200 + step, 2, -1) * 0.1f;
    apply(hashed({2, 3}, 100 + step, 2, -1), b);
    const auto wanted = golden.find(name + " " + std::to_string(step));
    if (wanted == golden.end()) continue;
    INFO(name << " step " << step << (compiled ? " compiled" : " eager"));
    std::vector<float> got = variables[0].to_vector<float>();
    for (float x : variables[1].to_vector<float>()) got.push_back(x);
    check_close(got, wanted->second, 1e-6);
    ++compared;
  }
  CHECK(compared == 4);
  CHECK(optimizer.iterations().item<int64_t>() == 50);
}

}  // namespace

TEST_CASE("optimizers follow Keras's trajectories, eagerly and compiled") {
  for (bool compiled : {false, true}) {
    SGD sgd, momentum({.learning_rate = 0.05, .momentum = 0.9}),
        nesterov({.learning_rate = 0.05, .momentum = 0.9, .nesterov = true}),
        clipped({.learning_rate = 0.1, .clip_norm = 0.5}), together({.learning_rate = 0.1, .global_clip_norm = 0.5});
    check_trajectory("sgd", sgd, compiled);
    check_trajectory("sgd_momentum", momentum, compiled);
    check_trajectory("sgd_nesterov", nesterov, compiled);
    check_trajectory("sgd_clip_norm", clipped, compiled);
    check_trajectory("sgd_global_clip_norm", together, compiled);
    Adam adam, other({.learning_rate = 0.02, .beta_1 = 0.8, .beta_2 = 0.95, .epsilon = 1e-3}),
        adam_clipped({.learning_rate = 0.01, .clip_norm = 0.7});
    check_trajectory("adam", adam, compiled);
    check_trajectory("adam_other", other, compiled);
    check_trajectory("adam_clip_norm", adam_clipped, compiled);
  }
}

TEST_CASE("a linear fit by 100 steps of SGD") {
  // Closed iteration in f64: kernel [0.407845, 1.191065, 1.974286], bias 0.783221.
  const Dense layer(1, {.kernel_initializer = init::zeros});
  const Tensor x = {{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}}, y = {{10.f}, {20.f}};
  SGD sgd({.learning_rate = 0.01});
  std::vector<double> losses;
  for (int step = 0; step <= 100; ++step) {
    auto [loss, gradients] = value_and_gradient([&] { return MeanSquaredError()(y, layer(x)); }, layer.variables());
    losses.push_back(loss.item<float>());
    if (step < 100) sgd.apply(gradients, layer.variables());
  }
  check_close(layer.kernel().to_vector<float>(), {0.407845, 1.191065, 1.974286}, 2e-6);
  check_close(layer.bias().to_vector<float>(), {0.783221}, 2e-6);
  CHECK(losses[0] == 250);
  CHECK(std::abs(losses[1] - 2.41) < 1e-4);
  CHECK(std::abs(losses[100] - 0.150232) < 1e-5);
}

TEST_CASE("clip_by_norm and clip_by_global_norm") {
  check_close(clip_by_norm(Tensor{3.f, 4.f}, 1).to_vector<float>(), {0.6, 0.8}, 1e-7);
  CHECK(clip_by_norm(Tensor{0.f, 0.f}, 1).to_vector<float>() == std::vector<float>{0, 0});
  CHECK(clip_by_norm(Tensor{0.3f, 0.4f}, 1).to_vector<float>() == std::vector<float>{0.3f, 0.4f});
  const std::vector<Tensor> clipped = clip_by_global_norm({Tensor{3.f}, Tensor(), Tensor{4.f}}, 1);
  check_close({clipped[0].item<float>(), clipped[2].item<float>()}, {0.6, 0.8}, 1e-7);
  CHECK(!clipped[1].defined());
  error_of(Code::invalid_argument, [] { clip_by_norm(Tensor{1.f}, 0); });
}

TEST_CASE("clipping and metrics in a compiled step do what they do eagerly") {
  auto run = [](bool compiled) {
    const Dense layer(3, {.seed = 1});
    layer.build(4);
    Adam adam({.learning_rate = 0.1, .clip_norm = 0.01});
    Mean mean_loss;
    Accuracy accuracy;
    SparseCategoricalCrossentropy loss_fn({.from_logits = true});
    auto step = function([&](Tensor x, Tensor y) {
      auto [loss, gradients] = value_and_gradient([&] { return loss_fn(y, layer(x)); }, layer.variables());
      adam.apply(gradients, layer.variables());
      mean_loss.update(loss);
      accuracy.update(y, layer(x));
    });
    step.run_eagerly(!compiled);
    for (uint64_t i = 0; i < 10; ++i) step(hashed({8, 4}, i, 2, -1), (hashed({8}, 50 + i) * 3).to(i32));
    std::vector<float> all = layer.kernel().to_vector<float>();
    all.push_back(mean_loss.result().item<float>());
    all.push_back(accuracy.result().item<float>());
    CHECK(mean_loss.count.item<double>() == 10);
    CHECK(accuracy.named_variables()[1].second.item<double>() == 80);
    mean_loss.reset();
    accuracy.reset();
    CHECK(mean_loss.result().item<float>() == 0);
    CHECK(accuracy.result().item<float>() == 0);
    return all;
  };
  CHECK(run(true) == run(false));
}

TEST_CASE("an optimizer makes its slots once, for a fixed set of Variables") {
  Variable a(Tensor{1.f, 2.f}, {.name = "a"}), b(Tensor{3.f}, {.name = "b"});
  Adam adam, second;
  auto step = function([&](Tensor x) {
    adam.apply({x, Tensor()}, {a, b});
    second.apply({x * 2}, {a});
  });
  step(Tensor{1.f, 1.f});
  step(Tensor{1.f, 1.f});
  CHECK(adam.variables().size() == 2 + 2 * 2);
  CHECK(second.variables().size() == 2 + 2);
  CHECK(adam.variables()[2].name() == "adam/a/m");
  CHECK(b.to_vector<float>() == std::vector<float>{3});
  CHECK(adam.iterations().item<int64_t>() == 2);
  CHECK(step.trace_count() == 1);

  const Variable c(Tensor{1.f}, {.name = "c"});
  const std::string text = error_of(Code::invalid_argument, [&] { adam.apply({Tensor{1.f}}, {c}); });
  CHECK(text.find("\"c\"") != std::string::npos);
  error_of(Code::failed_precondition, [&] { adam.build({c}); });
  SGD built({.momentum = 0.5});
  built.build({a, b});
  CHECK(built.variables().size() == 4);
}

TEST_CASE("a compiled step sees a new learning rate") {
  const Variable a(Tensor{1.f});
  SGD sgd({.learning_rate = 1});
  auto step = function([&](Tensor g) { sgd.apply({g}, {a}); });
  step(Tensor{0.25f});
  CHECK(a.item<float>() == 0.75f);
  sgd.learning_rate().assign(2);
  step(Tensor{0.25f});
  CHECK(a.item<float>() == 0.25f);
  CHECK(step.trace_count() == 1);
}

TEST_CASE("wrong uses of optimizers are errors") {
  const Variable a(Tensor{1.f, 2.f}, {.name = "a"});
  SGD sgd;
  error_of(Code::invalid_argument, [&] { sgd.apply({}, {a}); });
  error_of(Code::invalid_argument, [&] { sgd.apply({Tensor()}, {a}); });
  const std::string text = error_of(Code::invalid_argument, [&] { sgd.apply({Tensor{1.f}}, {a}); });
  for (const char* word : {"sgd", "\"a\"", "f32[2]", "f32[1]", "nn_optimizer_test.cpp"}) {
    INFO(text);
    CHECK(text.find(word) != std::string::npos);
  }
  error_of(Code::invalid_argument, [&] { sgd.apply({Tensor{1.0, 2.0}}, {a}); });
  error_of(Code::invalid_argument, [] { SGD({.momentum = 2}); });
  error_of(Code::invalid_argument, [] { Adam({.beta_2 = 1}); });
  error_of(Code::invalid_argument, [] { Adam({.clip_norm = 0}); });
}
