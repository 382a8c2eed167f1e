// What Kiln's own layers share. A layer is a handle: copies of it are one layer, with the same weights.
#pragma once
#include <atomic>
#include <concepts>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "frontend/nn/initializers.h"
#include "frontend/nn/module.h"
#include "frontend/tensor/operand.h"

namespace kiln {

// A function from Tensor to Tensor, as an option of a layer: an op (relu, gelu, softmax) or a lambda. Empty: x itself.
//   Dense(128, {.activation = relu})    Dense(1, {.activation = [](Tensor x) { return x / (1 + abs(x)); }})
class UnaryFunction {
 public:
  UnaryFunction() = default;
  UnaryFunction(std::nullptr_t) {}
  UnaryFunction(Tensor (*op)(const Operand&)) : call_(op) {}
  // An op with options, which keep their defaults.
  template <class Options>
  UnaryFunction(Tensor (*op)(const Operand&, const Options&))
      : call_([op](const Operand& x) { return op(x, Options{}); }) {}
  template <class F>
    requires(std::is_class_v<F> && !std::same_as<F, UnaryFunction> && std::is_invocable_r_v<Tensor, F&, const Tensor&>)
  UnaryFunction(F f) : call_([f = std::move(f)](const Operand& x) mutable -> Tensor { return f(x.tensor()); }) {}

  explicit operator bool() const { return call_ != nullptr; }
  Tensor operator()(const Operand& x) const { return call_ ? call_(x) : x.tensor(); }

 private:
  std::function<Tensor(const Operand&)> call_;
};

namespace detail {

// Remembers the shape of the first result, for the summary.
class OutputNote {
 public:
  void record(const Shape& shape) {
    if (known_.load(std::memory_order_acquire)) return;
    std::lock_guard lock(mutex_);
    shape_ = shape;
    for (int i = 0; i < shape_.rank(); ++i)
      if (i == 0 || !shape_[i].known()) shape_[i] = -1;
    known_.store(true, std::memory_order_release);
  }
  std::optional<Shape> get() const {
    if (!known_.load(std::memory_order_acquire)) return std::nullopt;
    std::lock_guard lock(mutex_);
    return shape_;
  }

 private:
  std::atomic<bool> known_ = false;
  mutable std::mutex mutex_;
  Shape shape_;
};

struct LayerState {
  virtual ~LayerState() = default;
  std::string name;  // "dense_1"; empty: that of the class
  OutputNote output;
};

// A Variable made by a layer, also in a trace.
Variable make_weight(const Tensor& value, const std::string& name, bool trainable = true);

// `ClassName` as Keras makes names of it: "dense", "conv2d", "max_pooling2d".
std::string snake_case(const std::string& class_name);

}  // namespace detail

class Layer : public Module {
 public:
  // Given by the options or by the Sequential it is in; else that of its class: "dense".
  std::string name() const { return state_->name.empty() ? detail::snake_case(type_name()) : state_->name; }
  std::optional<Shape> output_shape() const override { return state_->output.get(); }

 protected:
  explicit Layer(std::shared_ptr<detail::LayerState> state) : state_(std::move(state)) {}
  // For errors: dense_1 (Dense).
  std::string label() const { return name() + " (" + type_name() + ")"; }
  Tensor noted(Tensor result) const {
    state_->output.record(result.shape());
    return result;
  }
  std::shared_ptr<detail::LayerState> state_;

 private:
  friend class AnyLayer;
};

}  // namespace kiln
