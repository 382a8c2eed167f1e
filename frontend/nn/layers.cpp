#include "frontend/nn/layers.h"

#include <cctype>

#include "compiler/api/graph.h"
#include "frontend/data/integer_random.h"
#include "frontend/include/kiln/error.h"
#include "frontend/ops/random.h"
#include "frontend/trace/scope.h"
#include "frontend/variable/state.h"
#include "generated/ops.h"

namespace kiln {
namespace {

std::string type_text(const Tensor& x) { return std::string(name_of(x.dtype())) + to_string(x.shape()); }

void at_least_one(int64_t value, const char* what, std::source_location where) {
  if (value < 1)
    throw_error(Code::invalid_argument, std::string(what) + " is " + std::to_string(value) + ", it must be at least 1",
                where);
}

// The input of a layer that needs `rank` axes or more.
Tensor checked_input(const Operand& x, const std::string& label, int rank, bool exact) {
  Tensor input = x.tensor();
  if (!input.defined()) throw_error(Code::invalid_argument, label + ": the input is an empty Tensor", x.where());
  if (exact ? input.rank() != rank : input.rank() < rank)
    throw_error(Code::invalid_argument,
                label + ": the input is " + type_text(input) + ", it needs rank " + std::to_string(rank) +
                    (exact ? "" : " or more"),
                x.where());
  return input;
}

// The size of the last axis, for which weights are made.
int64_t features_of(const Tensor& input, const std::string& label, std::source_location where) {
  if (!is_floating(input.dtype()))
    throw_error(Code::invalid_argument,
                label + ": the input is " + type_text(input) + ", it must be f32 or f64; use .to(f32)", where);
  if (!input.shape().back().known())
    throw_error(
        Code::failed_precondition,
        label + ": the input is " + type_text(input) + ", its last axis must be known when the weights are made",
        where);
  return input.shape().back().size();
}

// A kernel made for another input.
void check_fits(const Tensor& input, const Variable& kernel, int64_t wanted, const std::string& label,
                std::source_location where) {
  if (input.dtype() != kernel.dtype() || (input.shape().back().known() && input.shape().back().size() != wanted))
    throw_error(Code::invalid_argument,
                label + ": the input is " + type_text(input) + ", the weights were made for " +
                    std::string(name_of(kernel.dtype())) + "[...," + std::to_string(wanted) + "]",
                where);
}

}  // namespace

Variable detail::make_weight(const Tensor& value, const std::string& name, bool trainable) {
  return Variable(make_state(value, {name, trainable}));
}

std::string detail::snake_case(const std::string& class_name) {
  std::string text;
  for (size_t i = 0; i < class_name.size(); ++i) {
    const auto c = static_cast<unsigned char>(class_name[i]);
    const bool after_lower = i > 0 && std::islower(static_cast<unsigned char>(class_name[i - 1]));
    if (std::isupper(c) && after_lower) text += '_';
    text += static_cast<char>(std::tolower(c));
  }
  return text;
}

template <class Options>
void WeightedLayer::take(Weights& weights, const Options& options) {
  weights.name = options.name;
  weights.activation = options.activation;
  weights.use_bias = options.use_bias;
  weights.kernel_initializer = options.kernel_initializer;
  weights.bias_initializer = options.bias_initializer;
  weights.seed = options.seed ? *options.seed : detail::next_seed();
}

std::vector<Part> WeightedLayer::parts() const {
  auto& weights = this->weights();
  std::vector<Part> parts = {{"kernel", nullptr, {state_, &weights.kernel}}};
  if (weights.use_bias) parts.push_back({"bias", nullptr, {state_, &weights.bias}});
  return parts;
}

template <class F>
void WeightedLayer::build_once(F kernel_type) const {
  Weights& weights = this->weights();
  std::call_once(weights.once, [&] {
    const TensorType type = kernel_type();
    Variable kernel =
        detail::make_weight(weights.kernel_initializer(type.shape, type.dtype, weights.seed), name() + "/kernel");
    if (weights.use_bias)
      weights.bias = detail::make_weight(weights.bias_initializer({type.shape.back()}, type.dtype, weights.seed + 1),
                                         name() + "/bias");
    weights.kernel = std::move(kernel);
  });
}

Tensor WeightedLayer::finish(const Tensor& x, std::source_location where) const {
  const Weights& weights = this->weights();
  Tensor y = weights.use_bias ? bias_add(Operand(x, where), Operand(weights.bias, where)) : x;
  return noted(weights.activation(Operand(y, where)));
}

Dense::Dense(int64_t units, const DenseOptions& options, std::source_location where)
    : WeightedLayer(std::make_shared<Weights>()), units_(units) {
  at_least_one(units, "Dense: units", where);
  take(weights(), options);
  if (options.input != 0) {
    at_least_one(options.input, "Dense: input", where);
    build(options.input);
  }
}

void Dense::build(int64_t features, DType dtype) const {
  build_once([&] { return TensorType{dtype, {features, units_}}; });
}

Tensor Dense::operator()(const Operand& x) const {
  const Tensor input = checked_input(x, label(), 2, false);
  build_once([&] { return TensorType{input.dtype(), {features_of(input, label(), x.where()), units_}}; });
  check_fits(input, kernel(), kernel().shape()[0].size(), label(), x.where());
  return finish(matmul(Operand(input, x.where()), Operand(kernel(), x.where())), x.where());
}

Conv2D::Conv2D(int64_t filters, Size2D kernel_size, const Conv2DOptions& options, std::source_location where)
    : WeightedLayer(std::make_shared<Weights>()),
      filters_(filters),
      kernel_size_(kernel_size),
      strides_(options.strides),
      dilation_(options.dilation),
      padding_(options.padding),
      groups_(options.groups) {
  at_least_one(filters, "Conv2D: filters", where);
  at_least_one(std::min(kernel_size.height, kernel_size.width), "Conv2D: kernel_size", where);
  at_least_one(std::min(strides_.height, strides_.width), "Conv2D: strides", where);
  at_least_one(std::min(dilation_.height, dilation_.width), "Conv2D: dilation", where);
  at_least_one(groups_, "Conv2D: groups", where);
  if (padding_ != "valid" && padding_ != "same")
    throw_error(Code::invalid_argument, "Conv2D: padding is \"" + padding_ + "\", it must be \"valid\" or \"same\"",
                where);
  take(weights(), options);
}

Shape Conv2D::kernel_shape(int64_t channels, std::source_location where) const {
  if (channels % groups_ != 0 || filters_ % groups_ != 0)
    throw_error(Code::invalid_argument,
                label() + ": " + std::to_string(channels) + " channels and " + std::to_string(filters_) +
                    " filters do not divide into " + std::to_string(groups_) + " groups",
                where);
  return {kernel_size_.height, kernel_size_.width, channels / groups_, filters_};
}

void Conv2D::build(int64_t channels, DType dtype, std::source_location where) const {
  build_once([&] { return TensorType{dtype, kernel_shape(channels, where)}; });
}

Tensor Conv2D::operator()(const Operand& x) const {
  const Tensor input = checked_input(x, label(), 4, true);
  build_once(
      [&] { return TensorType{input.dtype(), kernel_shape(features_of(input, label(), x.where()), x.where())}; });
  check_fits(input, kernel(), kernel().shape()[2].size() * groups_, label(), x.where());
  return finish(
      conv2d(Operand(input, x.where()), Operand(kernel(), x.where()),
             {.strides = strides_.list(), .padding = padding_, .dilations = dilation_.list(), .groups = groups_}),
      x.where());
}

namespace {
std::shared_ptr<detail::LayerState> named_state(const std::string& name) {
  auto state = std::make_shared<detail::LayerState>();
  state->name = name;
  return state;
}
}  // namespace

MaxPool2D::MaxPool2D(Size2D pool_size, const Pooling2DOptions& options)
    : Layer(named_state(options.name)),
      pool_size_(pool_size),
      strides_(options.strides.value_or(pool_size)),
      padding_(options.padding) {}
Tensor MaxPool2D::operator()(const Operand& x) const {
  const Tensor input = checked_input(x, label(), 4, true);
  return noted(max_pool2d(Operand(input, x.where()),
                          {.pool_size = pool_size_.list(), .strides = strides_.list(), .padding = padding_}));
}

AveragePooling2D::AveragePooling2D(Size2D pool_size, const Pooling2DOptions& options)
    : Layer(named_state(options.name)),
      pool_size_(pool_size),
      strides_(options.strides.value_or(pool_size)),
      padding_(options.padding) {}
Tensor AveragePooling2D::operator()(const Operand& x) const {
  const Tensor input = checked_input(x, label(), 4, true);
  return noted(avg_pool2d(Operand(input, x.where()),
                          {.pool_size = pool_size_.list(), .strides = strides_.list(), .padding = padding_}));
}

Flatten::Flatten(const LayerOptions& options) : Layer(named_state(options.name)) {}
Tensor Flatten::operator()(const Operand& x) const {
  const Tensor input = checked_input(x, label(), 1, false);
  Dim features = 1;
  for (int i = 1; i < input.rank(); ++i) features = features * input.shape()[i];
  return noted(reshape(Operand(input, x.where()), {input.shape()[0], features}));
}

Dropout::Dropout(double rate, const DropoutOptions& options, std::source_location where)
    : Layer(std::make_shared<State>()), rate_(rate) {
  if (!(rate >= 0 && rate <= 1))
    throw_error(Code::invalid_argument, "Dropout: rate is " + std::to_string(rate) + ", it must be in [0, 1]", where);
  auto& state = static_cast<State&>(*state_);
  state.name = options.name;
  if (options.seed)
    state.seed_state = detail::make_weight(Tensor(std::vector<int64_t>{*options.seed, 0}), "seed_state", false);
}
std::vector<Part> Dropout::parts() const {
  auto& state = static_cast<State&>(*state_);
  if (!state.seed_state.defined()) return {};
  return {{"seed_state", nullptr, {state_, &state.seed_state}}};
}
Tensor Dropout::operator()(const Operand& x, Mode mode) const {
  const Tensor input = checked_input(x, label(), 0, false);
  if (mode == inference || rate_ == 0) return noted(input);
  const detail::UserScope scope("dropout", x.where());
  const Variable& own = static_cast<State&>(*state_).seed_state;
  const Tensor seed = own.defined() ? own.read(x.where()) : random_state(std::nullopt, x.where());
  if (own.defined()) own.assign_add(Tensor(std::vector<int64_t>{0, 1}));
  return noted(dropout(Operand(input, x.where()), Operand(seed, x.where()), rate_));
}

Activation::Activation(UnaryFunction function, const LayerOptions& options)
    : Layer(named_state(options.name)), function_(std::move(function)) {}
Tensor Activation::operator()(const Operand& x) const { return noted(function_(x)); }

}  // namespace kiln
