// Optimizers: they change Variables by gradients. Names, defaults and formulas are those of Keras.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/variable/variable.h"

namespace kiln {

// An optimizer is a handle: copies are one optimizer. What it remembers for a Variable (its slots) is made once, by
// build() or by the first apply(), also if that is in the trace of a function.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Makes the slots. From then on apply() takes these Variables only, or some of them.
  void build(const std::vector<Variable>& variables, std::source_location where = std::source_location::current());
  // One step. gradients[i] belongs to variables[i]; where it is empty (the loss does not depend on the Variable), the
  // Variable stays as it is. Errors: counts, shapes or dtypes that differ; no gradient at all; a Variable that was not
  // there when the slots were made.
  //   auto [loss, grads] = value_and_gradient([&] { return loss_fn(y, net(x)); }, net.variables());
  //   adam.apply(grads, net.variables());
  void apply(const std::vector<Tensor>& gradients, const std::vector<Variable>& variables,
             std::source_location where = std::source_location::current());

  // May be assigned at any time; a compiled step sees the new value. f64[].
  const Variable& learning_rate() const { return state_->learning_rate; }
  // Steps so far. i64[]
  const Variable& iterations() const { return state_->iterations; }
  // learning_rate, iterations and all slots.
  std::vector<Variable> variables() const;

 protected:
  struct Settings {
    const char* name;  // "adam"
    double learning_rate;
    std::optional<double> clip_norm, global_clip_norm;
    std::vector<const char*> slots;  // per Variable: "momentum"
  };
  Optimizer(Settings settings, std::source_location where);

  // Called once per apply() and dtype: the numbers of this step that all Variables share. `step` counts from 1. f64[]
  virtual Tensor prepare(const Tensor& learning_rate, const Tensor& step) const = 0;
  // Changes one Variable; `rate` is what prepare() gave, in the Variable's dtype.
  virtual void update(const Variable& variable, const Tensor& gradient, std::span<const Variable> slots,
                      const Tensor& rate) const = 0;

 private:
  struct State {
    Variable learning_rate, iterations;
    std::mutex mutex;
    bool built = false;
    std::vector<Variable> slots;                      // Variable by Variable
    std::unordered_map<uint64_t, size_t> first_slot;  // by Variable::id()
  };
  std::vector<Tensor> clipped(std::vector<Tensor> gradients) const;

  Settings settings_;
  std::shared_ptr<State> state_;
};

struct SgdOptions {
  double learning_rate = 0.01;
  double momentum = 0;
  bool nesterov = false;
  std::optional<double> clip_norm = {};         // the greatest norm of each gradient
  std::optional<double> global_clip_norm = {};  // the greatest norm of all gradients together
};

// v -= learning_rate * g. With momentum: m = momentum * m - learning_rate * g, then v += m; with Nesterov's:
// v += momentum * m - learning_rate * g.
//   SGD sgd({.learning_rate = 0.1, .momentum = 0.9});
class SGD : public Optimizer {
 public:
  // An error unless 0 <= momentum <= 1, learning_rate is a number and the norms are positive.
  explicit SGD(const SgdOptions& options = {}, std::source_location where = std::source_location::current());

 protected:
  Tensor prepare(const Tensor& learning_rate, const Tensor& step) const override;
  void update(const Variable& variable, const Tensor& gradient, std::span<const Variable> slots,
              const Tensor& rate) const override;

 private:
  SgdOptions options_;
};

struct AdamOptions {
  double learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  std::optional<double> clip_norm = {};         // the greatest norm of each gradient
  std::optional<double> global_clip_norm = {};  // the greatest norm of all gradients together
};

// m += (g - m) * (1 - beta_1), v += (g^2 - v) * (1 - beta_2), then
// x -= m * alpha / (sqrt(v) + epsilon) with alpha = learning_rate * sqrt(1 - beta_2^step) / (1 - beta_1^step).
//   Adam adam({.learning_rate = 1e-3, .clip_norm = 1});
class Adam : public Optimizer {
 public:
  // An error unless both betas are in [0, 1), learning_rate is a number and the norms are positive.
  explicit Adam(const AdamOptions& options = {}, std::source_location where = std::source_location::current());

 protected:
  Tensor prepare(const Tensor& learning_rate, const Tensor& step) const override;
  void update(const Variable& variable, const Tensor& gradient, std::span<const Variable> slots,
              const Tensor& rate) const override;

 private:
  AdamOptions options_;
};

// x scaled down to the norm (the root of the sum of squares), where it is longer; else x itself.
//   clip_by_norm(Tensor{3.f, 4.f}, 1)   // [0.6, 0.8]
Tensor clip_by_norm(const Operand& x, double norm);
// All together; empty Tensors stay empty.
std::vector<Tensor> clip_by_global_norm(const std::vector<Tensor>& xs, double norm,
                                        std::source_location where = std::source_location::current());

}  // namespace kiln
