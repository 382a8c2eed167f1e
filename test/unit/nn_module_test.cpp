#include <memory>
#include <thread>

#include "test/unit/nn_testing.h"

using namespace kiln;
using nn_testing::error_of;
using nn_testing::hashed;

namespace {

std::vector<std::string> paths(const Module& module) {
  std::vector<std::string> names;
  for (const auto& [path, variable] : module.named_variables()) names.push_back(path);
  return names;
}

struct Block : Module {
  Dense up{8, {.activation = relu}}, down{4};
  Variable scale{ones({4}), {.name = "scale"}};
  std::vector<Dense> more{Dense(4), Dense(4, {.use_bias = false})};
  KILN_CHILDREN(up, down, scale, more)
  Tensor operator()(const Tensor& x, Mode mode = inference) const {
    Tensor y = down(up(x)) * scale;
    for (const Dense& layer : more) y = layer(y);
    return mode == training ? y * 2 : y;
  }
};

}  // namespace

TEST_CASE("a module names its parts once") {
  const Block block;
  CHECK(paths(block) == std::vector<std::string>{"scale"});  // layers make theirs later
  CHECK(block(ones({2, 3})).shape() == Shape{2, 4});
  CHECK(paths(block) == std::vector<std::string>{"up/kernel", "up/bias", "down/kernel", "down/bias", "scale",
                                                 "more/0/kernel", "more/0/bias", "more/1/kernel"});
  CHECK(block.variables().size() == 8);
  CHECK(block.parameter_count() == 3 * 8 + 8 + 8 * 4 + 4 + 4 + 4 * 4 + 4 + 4 * 4);
  CHECK(block.variable("up/kernel").shape() == Shape{3, 8});
  CHECK(error_of(Code::not_found, [&] { block.variable("up/weights"); }).find("down/bias") != std::string::npos);
  CHECK(block.type_name() == "Block");
}

TEST_CASE("copies of a layer are one layer, and a shared Variable counts once") {
  const Dense layer(3);
  const Dense copy = layer;
  const Sequential net{layer, copy};
  CHECK(net(ones({1, 3})).shape() == Shape{1, 3});
  CHECK(copy.kernel().id() == layer.kernel().id());
  CHECK(net.variables().size() == 2);
  CHECK(net.parameter_count() == 12);
}

TEST_CASE("a list of Variables is looked up when it is used") {
  const Sequential net{Dense(3, {.activation = relu}), Dense(1)};
  const VariableList list = net.variables();
  const std::string text = error_of(Code::failed_precondition, [&] { list.size(); });
  CHECK(text.find("dense/kernel") != std::string::npos);
  auto [loss, gradients] = value_and_gradient([&] { return mean(square(net(ones({2, 5})))); }, net.variables());
  CHECK(gradients.size() == 4);
  CHECK(list.size() == 4);
  CHECK(gradients[0].shape() == Shape{5, 3});
}

TEST_CASE("Sequential calls anything that makes a Tensor of a Tensor") {
  const Sequential identity{};
  CHECK(identity(Tensor{1.f, 2.f}).to_vector<float>() == std::vector<float>{1, 2});
  const Sequential net{relu,
                       [](Tensor x) { return x * 3; },
                       Activation(softplus),
                       gelu,
                       [](Tensor x, Mode mode) { return mode == training ? x : x + 1; },
                       Sequential{relu},
                       Block{}};
  CHECK(net(ones({2, 3})).shape() == Shape{2, 4});
  CHECK(net(ones({2, 3}), training).shape() == Shape{2, 4});
  const Sequential modes{[](Tensor x, Mode mode) { return mode == training ? x : x + 1; }};
  CHECK(modes(Tensor{1.f}).item<float>() == 2.f);
  CHECK(modes(Tensor{1.f}, training).item<float>() == 1.f);
}

TEST_CASE("names in a Sequential are made as Keras makes them") {
  Sequential net{Dense(2), Dense(2), Dense(2, {.name = "head"}), Conv2D(1, 1), Dense(2, {.name = "head"})};
  net.add(Dense(3));
  std::vector<std::string> names;
  for (const Part& part : net.parts()) names.push_back(part.name);
  CHECK(names == std::vector<std::string>{"dense", "dense_1", "head", "conv2d", "head_1", "dense_2"});
}

TEST_CASE("build makes the weights without computing") {
  const Sequential net{Flatten(), Dense(100, {.activation = relu}), Dense(10)};
  net.build({-1, 28, 28, 1});
  CHECK(net.parameter_count() == 79510);
  CHECK(net(zeros({3, 28, 28, 1})).shape() == Shape{3, 10});
  const Sequential wrong{Dense(3)};
  error_of(Code::invalid_argument, [&] { wrong.build({5}); });
  CHECK(ones({2}).to_vector<float>() == std::vector<float>{1, 1});  // no trace is left open
  const Dense known(4, {.input = 7});
  CHECK(known.kernel().shape() == Shape{7, 4});
}

TEST_CASE("the summary of the tutorials' networks has Keras's numbers") {
  const Sequential cnn{Conv2D(32, 5, {.padding = "same", .activation = relu}),
                       MaxPool2D(2),
                       Conv2D(64, 5, {.padding = "same", .activation = relu}),
                       MaxPool2D(2),
                       Flatten(),
                       Dense(1024, {.activation = relu}),
                       Dropout(0.4),
                       Dense(10)};
  CHECK(cnn.summary().find("0 (unbuilt)") != std::string::npos);
  cnn.build({-1, 28, 28, 1});
  const std::string text = cnn.summary();
  for (const char* row : {"│ conv2d (Conv2D)                 │ (None, 28, 28, 32)     │           832 │",
                          "│ max_pooling2d (MaxPooling2D)    │ (None, 14, 14, 32)     │             0 │",
                          "│ conv2d_1 (Conv2D)               │ (None, 14, 14, 64)     │        51,264 │",
                          "│ flatten (Flatten)               │ (None, 3136)           │             0 │",
                          "│ dense (Dense)                   │ (None, 1024)           │     3,212,288 │",
                          "│ dropout (Dropout)               │ (None, 1024)           │             0 │",
                          "│ dense_1 (Dense)                 │ (None, 10)             │        10,250 │",
                          " Total params: 3,274,634 (12.49 MB)", " Trainable params: 3,274,634 (12.49 MB)",
                          " Non-trainable params: 0 (0.00 B)"}) {
    INFO(text << "\nlacks " << row);
    CHECK(text.find(row) != std::string::npos);
  }
  const Sequential fashion{Conv2D(32, 5, {.activation = relu}), MaxPool2D(),  Conv2D(64, 3), MaxPool2D(), Flatten(),
                           Dense(1024, {.activation = relu}),   Dropout(0.5), Dense(10)};
  fashion.build({-1, 28, 28, 1});
  CHECK(fashion.parameter_count() == 1'669'002);
}

TEST_CASE("weights start as Keras's: Glorot uniform kernels, zero biases, by the seed") {
  const Conv2D conv(64, 5, {.seed = 3}), again(64, 5, {.seed = 3}), other(64, 5, {.seed = 4});
  for (const Conv2D& layer : {conv, again, other}) layer.build(32);
  const std::vector<float> w = conv.kernel().to_vector<float>();
  const float limit = std::sqrt(6.f / (25 * (32 + 64)));
  double sum = 0, squares = 0;
  float largest = 0;
  for (float x : w) {
    sum += static_cast<double>(x), squares += static_cast<double>(x) * static_cast<double>(x);
    largest = std::max(largest, std::abs(x));
  }
  const auto n = static_cast<double>(w.size());
  const double variance = static_cast<double>(limit) * static_cast<double>(limit) / 3;
  CHECK(largest <= limit);
  CHECK(largest > 0.999f * limit);
  CHECK(std::abs(sum / n) < 5 * std::sqrt(variance / n));
  CHECK(std::abs(squares / n / variance - 1) < 5 * std::sqrt(0.8 / n));
  CHECK(again.kernel().to_vector<float>() == w);
  CHECK(other.kernel().to_vector<float>() != w);
  CHECK(conv.bias().to_vector<float>() == std::vector<float>(64));
  set_seed(7);
  const Dense first(3, {.input = 5});
  set_seed(7);
  const Dense second(3, {.input = 5}), third(3, {.input = 5});
  CHECK(first.kernel().to_vector<float>() == second.kernel().to_vector<float>());
  CHECK(second.kernel().to_vector<float>() != third.kernel().to_vector<float>());
}

TEST_CASE("layers are made once in the trace of a function") {
  const Sequential net{Dense(4, {.activation = relu}), Dense(1)};
  auto f = function([&](Tensor x) { return net(x); });
  const Tensor x = hashed({3, 5}, 1);
  const std::vector<float> compiled = f(x).to_vector<float>();
  CHECK(net.variables().size() == 4);
  CHECK(f.trace_count() == 1);
  CHECK(net(x).to_vector<float>() == compiled);
  f(hashed({2, 5}, 1));  // another trace, the same weights
  CHECK(net.variables().size() == 4);
}

TEST_CASE("several threads may make the first call of a layer") {
  const Dense layer(16);
  const Tensor x = ones({2, 8});
  std::vector<std::vector<float>> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results) threads.emplace_back([&] { result = layer(x).to_vector<float>(); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) CHECK(result == results[0]);
}

TEST_CASE("Dense, pooling and Flatten: values and options") {
  const Dense layer(2, {.kernel_initializer = init::ones, .bias_initializer = init::ones});
  CHECK(layer(Tensor{{1.f, 2.f}, {3.f, 4.f}}).to_vector<float>() == std::vector<float>{4, 4, 8, 8});
  CHECK(Dense(2, {.use_bias = false})(ones({4, 3, 2})).shape() == Shape{4, 3, 2});
  CHECK(Dense(3, {.input = 2}).kernel().dtype() == f32);
  CHECK(layer(Tensor{{1.f, 2.f}}).dtype() == f32);
  const Dense wide(1);
  CHECK(wide(Tensor{{1.0, 2.0}}).dtype() == f64);

  const Tensor image(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 3, 3, 1});
  CHECK(MaxPool2D()(image).to_vector<float>() == std::vector<float>{5});
  CHECK(MaxPool2D(2, {.padding = "same"})(image).to_vector<float>() == std::vector<float>{5, 6, 8, 9});
  CHECK(MaxPool2D({2, 3}, {.strides = Size2D(1)})(image).to_vector<float>() == std::vector<float>{6, 9});
  CHECK(AveragePooling2D()(image).to_vector<float>() == std::vector<float>{3});
  CHECK(AveragePooling2D(2, {.padding = "same"})(image).to_vector<float>() == std::vector<float>{3, 4.5, 7.5, 9});
  CHECK(Flatten()(image).shape() == Shape{1, 9});
  CHECK(Flatten()(Tensor{1.f, 2.f}).shape() == Shape{2, 1});

  const Conv2D sum(1, 2, {.strides = 2, .padding = "same", .kernel_initializer = init::ones});
  CHECK(sum(image).to_vector<float>() == std::vector<float>{12, 9, 15, 9});
  CHECK(Conv2D(4, 3, {.groups = 2, .use_bias = false})(ones({1, 5, 5, 6})).shape() == Shape{1, 3, 3, 4});
  CHECK(Conv2D(4, 3, {.dilation = 2})(ones({1, 5, 5, 1})).shape() == Shape{1, 1, 1, 4});
}

TEST_CASE("wrong inputs of layers are errors that name the layer") {
  const Sequential net{Dense(3), Dense(4, {.name = "head"})};
  net.build({-1, 5});
  const std::string text = error_of(Code::invalid_argument, [&] { net(ones({2, 6})); });
  for (const char* word : {"dense (Dense)", "f32[2,6]", "[...,5]", "nn_module_test.cpp"}) {
    INFO(text);
    CHECK(text.find(word) != std::string::npos);
  }
  const Dense dense(3);
  error_of(Code::invalid_argument, [&] { dense(ones({5})); });
  error_of(Code::invalid_argument, [&] { dense(Tensor()); });
  error_of(Code::invalid_argument, [&] { dense(Tensor{{1, 2}}); });
  const Conv2D conv(3, 3);
  error_of(Code::invalid_argument, [&] { conv(ones({8, 8, 1})); });
  const Conv2D grouped(4, 3, {.groups = 2});
  error_of(Code::invalid_argument, [&] { grouped(ones({1, 8, 8, 3})); });
  CHECK(grouped(ones({1, 8, 8, 2})).shape() == Shape{1, 6, 6, 4});  // a failed call leaves the layer as it was
  error_of(Code::invalid_argument, [&] { Dense(0); });
  error_of(Code::invalid_argument, [&] { Conv2D(0, 3); });
  error_of(Code::invalid_argument, [&] { Conv2D(1, 3, {.padding = "full"}); });
  error_of(Code::invalid_argument, [&] { Conv2D(1, {3, 0}); });
  error_of(Code::invalid_argument, [&] { Dropout(1.5); });
  error_of(Code::invalid_argument, [&] { MaxPool2D()(ones({3, 3})); });
}

TEST_CASE("Dropout: kept elements are exactly 1 / (1 - rate), other masks at each call, alike eagerly and compiled") {
  const Tensor x = ones({4096});
  auto values = [](const Tensor& y) { return y.to_vector<float>(); };
  CHECK(values(Dropout(0.5)(x)) == values(x));
  CHECK(values(Dropout(0)(x, training)) == values(x));
  CHECK(values(Dropout(1)(x, training)) == std::vector<float>(4096));

  const Dropout drop(0.5, {.seed = 7}), same(0.5, {.seed = 7});
  const std::vector<float> first = values(drop(x, training)), second = values(drop(x, training));
  CHECK(first != second);
  double sum = 0;
  for (float v : first) {
    CHECK((v == 0.f || v == 2.f));
    sum += static_cast<double>(v);
  }
  CHECK(std::abs(sum / 4096 - 1) < 0.078125);  // five standard deviations
  auto compiled = function([&](Tensor t) { return same(t, training); });
  CHECK(values(compiled(x)) == first);
  CHECK(values(compiled(x)) == second);
  CHECK(compiled.trace_count() == 1);

  // Without a seed: the process's generator.
  const Dropout shared(0.3);
  auto compiled_shared = function([&](Tensor t) { return shared(t, training); });
  set_seed(7);
  const std::vector<float> a = values(shared(x, training)), b = values(shared(x, training));
  set_seed(7);
  CHECK(values(compiled_shared(x)) == a);
  CHECK(values(compiled_shared(x)) == b);
  CHECK(a != b);
}
