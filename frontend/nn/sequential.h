// Sequential: layers one after the other.
#pragma once
#include <concepts>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "frontend/nn/layer.h"

namespace kiln {

// Anything that makes a Tensor of a Tensor: a layer, a Module with operator(), a lambda, an op. Called as f(x, mode) if
// it can be, else as f(x).
class AnyLayer {
 public:
  AnyLayer(Tensor (*op)(const Operand&)) : AnyLayer(UnaryFunction(op)) {}
  template <class Options>
  AnyLayer(Tensor (*op)(const Operand&, const Options&)) : AnyLayer(UnaryFunction(op)) {}
  template <class F>
    requires(std::is_class_v<F> && !std::same_as<F, AnyLayer> &&
             (std::is_invocable_r_v<Tensor, F&, const Tensor&> ||
              std::is_invocable_r_v<Tensor, F&, const Tensor&, Mode>))
  AnyLayer(F f) {
    auto shared = std::make_shared<F>(std::move(f));
    if constexpr (std::derived_from<F, Module>) module_ = shared;
    if constexpr (std::derived_from<F, Layer>) layer_ = shared->state_;
    // Kiln's layers take the user's line along in the Operand.
    constexpr bool takes_operand = std::derived_from<F, Module> || std::same_as<F, UnaryFunction>;
    call_ = [shared](const Operand& x, Mode mode) -> Tensor {
      if constexpr (takes_operand && std::is_invocable_v<F&, const Operand&, Mode>)
        return (*shared)(x, mode);
      else if constexpr (std::is_invocable_v<F&, const Tensor&, Mode>)
        return (*shared)(x.tensor(), mode);
      else if constexpr (takes_operand && std::is_invocable_v<F&, const Operand&>)
        return (*shared)(x);
      else
        return (*shared)(x.tensor());
    };
  }

  Tensor operator()(const Operand& x, Mode mode) const;
  const Module* module() const { return module_.get(); }
  std::string type_name() const { return module_ ? module_->type_name() : "Lambda"; }
  std::optional<Shape> output_shape() const { return output_->get(); }
  // The name it was given by its options; empty if none.
  std::string own_name() const { return layer_ ? layer_->name : ""; }
  void set_name(const std::string& name) const {
    if (layer_ && layer_->name.empty()) layer_->name = name;
  }

 private:
  std::function<Tensor(const Operand&, Mode)> call_;
  std::shared_ptr<const Module> module_;
  std::shared_ptr<detail::LayerState> layer_;
  std::shared_ptr<detail::OutputNote> output_ = std::make_shared<detail::OutputNote>();
};

struct SequentialOptions {
  std::string name = "sequential";
};

// Each layer takes what the one before gave; none at all: x itself. The layers' names are those of their options, else
// of their classes with a number from the second on: "dense", "dense_1"; they name the Variables: "dense_1/kernel".
//   Sequential net{Flatten(), Dense(128, {.activation = relu}), Dropout(0.2f), Dense(10)};
//   Tensor logits = net(x), noisy = net(x, training);
class Sequential : public Module {
 public:
  Sequential() : Sequential(std::vector<AnyLayer>{}) {}
  Sequential(std::initializer_list<AnyLayer> layers, const SequentialOptions& options = {})
      : Sequential(std::vector<AnyLayer>(layers), options) {}
  explicit Sequential(std::vector<AnyLayer> layers, const SequentialOptions& options = {});
  void add(AnyLayer layer);

  Tensor operator()(const Operand& x, Mode mode = inference) const;
  // Makes all weights for an input of that shape, without computing anything; -1 stands for a size that may change.
  //   net.build({-1, 28, 28, 1});
  void build(const Shape& input, DType dtype = DType::f32,
             std::source_location where = std::source_location::current()) const;

  size_t size() const { return layers_.size(); }
  std::vector<Part> parts() const override;
  std::optional<Shape> output_shape() const override;

 protected:
  std::vector<Row> rows() const override;
  std::string title() const override { return name_; }

 private:
  std::vector<AnyLayer> layers_;
  std::vector<std::string> names_;
  std::string name_;
};

}  // namespace kiln
