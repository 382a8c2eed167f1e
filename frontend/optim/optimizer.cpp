#include "frontend/optim/optimizer.h"

#include <cmath>

#include "frontend/autodiff/tape_impl.h"
#include "frontend/include/kiln/error.h"
#include "frontend/nn/initializers.h"
#include "frontend/nn/layer.h"
#include "frontend/trace/scope.h"
#include "generated/ops.h"

namespace kiln {

Optimizer::Optimizer(Settings settings, std::source_location where)
    : settings_(std::move(settings)), state_(std::make_shared<State>()) {
  const std::string name = settings_.name;
  if (!std::isfinite(settings_.learning_rate))
    throw_error(Code::invalid_argument, name + ": learning_rate is not a number", where);
  for (const std::optional<double>& norm : {settings_.clip_norm, settings_.global_clip_norm})
    if (norm && !(*norm > 0))
      throw_error(Code::invalid_argument,
                  name + ": a norm to clip to is " + std::to_string(*norm) + ", it must be positive", where);
  state_->learning_rate = detail::make_weight(Tensor(settings_.learning_rate), name + "/learning_rate", false);
  state_->iterations = detail::make_weight(Tensor(int64_t{0}), name + "/iterations", false);
}

void Optimizer::build(const std::vector<Variable>& variables, std::source_location where) {
  State& state = *state_;
  std::lock_guard lock(state.mutex);
  if (state.built)
    throw_error(Code::failed_precondition, std::string(settings_.name) + ": the slots are made already", where);
  for (const Variable& v : variables) {
    if (!v.defined()) throw_error(Code::invalid_argument, std::string(settings_.name) + ": an empty Variable", where);
    if (!state.first_slot.try_emplace(v.id(), state.slots.size()).second) continue;
    for (const char* slot : settings_.slots)
      state.slots.push_back(detail::make_weight(init::zeros(v.shape(), v.dtype(), 0),
                                                std::string(settings_.name) + "/" + v.name() + "/" + slot, false));
  }
  state.built = true;
}

std::vector<Variable> Optimizer::variables() const {
  std::vector<Variable> all = {state_->learning_rate, state_->iterations};
  std::lock_guard lock(state_->mutex);
  all.insert(all.end(), state_->slots.begin(), state_->slots.end());
  return all;
}

void Optimizer::apply(const std::vector<Tensor>& gradients, const std::vector<Variable>& variables,
                      std::source_location where) {
  const std::string name = settings_.name;
  if (gradients.size() != variables.size())
    throw_error(Code::invalid_argument,
                name + ": " + std::to_string(gradients.size()) + " gradients for " + std::to_string(variables.size()) +
                    " Variables",
                where);
  bool any = false;
  for (size_t i = 0; i < variables.size(); ++i) {
    const Tensor& g = gradients[i];
    if (!g.defined()) continue;
    any = true;
    if (g.dtype() != variables[i].dtype() || !(g.shape() == variables[i].shape()))
      throw_error(Code::invalid_argument,
                  name + ": Variable \"" + variables[i].name() + "\" is " + std::string(name_of(variables[i].dtype())) +
                      to_string(variables[i].shape()) + ", its gradient is " + std::string(name_of(g.dtype())) +
                      to_string(g.shape()),
                  where);
  }
  if (!any)
    throw_error(Code::invalid_argument, name + ": no gradient: the loss does not depend on any of the Variables",
                where);

  State& state = *state_;
  bool built;
  {
    std::lock_guard lock(state.mutex);
    built = state.built;
  }
  if (!built) {
    std::vector<Variable> changing;
    for (size_t i = 0; i < variables.size(); ++i)
      if (variables[i].trainable() || gradients[i].defined()) changing.push_back(variables[i]);
    build(changing, where);
  }
  const detail::UserScope scope(settings_.name, where);
  const detail::TapePause pause;
  const std::vector<Tensor> clipped = this->clipped(gradients);
  const Tensor step = state.iterations.read(where) + 1;
  const Tensor rate = prepare(state.learning_rate.read(where), cast(step, DType::f64));
  for (size_t i = 0; i < variables.size(); ++i) {
    if (!clipped[i].defined()) continue;
    const auto slot = state.first_slot.find(variables[i].id());
    if (slot == state.first_slot.end())
      throw_error(Code::invalid_argument,
                  name + ": Variable \"" + variables[i].name() +
                      "\" was not among those it was built for; make an optimizer "
                      "for each set of Variables",
                  where);
    update(variables[i], clipped[i], std::span(state.slots).subspan(slot->second, settings_.slots.size()),
           cast(rate, variables[i].dtype()));
  }
  state.iterations.assign(step);
}

std::vector<Tensor> Optimizer::clipped(std::vector<Tensor> gradients) const {
  if (settings_.clip_norm)
    for (Tensor& g : gradients)
      if (g.defined()) g = clip_by_norm(g, *settings_.clip_norm);
  if (settings_.global_clip_norm) gradients = clip_by_global_norm(gradients, *settings_.global_clip_norm);
  return gradients;
}

SGD::SGD(const SgdOptions& options, std::source_location where)
    : Optimizer({"sgd", options.learning_rate, options.clip_norm, options.global_clip_norm,
                 options.momentum != 0 ? std::vector{"momentum"} : std::vector<const char*>{}},
                where),
      options_(options) {
  if (!(options.momentum >= 0 && options.momentum <= 1))
    throw_error(Code::invalid_argument,
                "sgd: momentum is " + std::to_string(options.momentum) + ", it must be in [0, 1]", where);
}

Tensor SGD::prepare(const Tensor& learning_rate, const Tensor&) const { return learning_rate; }

void SGD::update(const Variable& variable, const Tensor& gradient, std::span<const Variable> slots,
                 const Tensor& rate) const {
  const Tensor step = gradient * rate;
  if (slots.empty()) {
    variable.assign_sub(step);
    return;
  }
  const Tensor momentum = slots[0].read() * options_.momentum - step;
  slots[0].assign(momentum);
  variable.assign_add(options_.nesterov ? momentum * options_.momentum - step : momentum);
}

Adam::Adam(const AdamOptions& options, std::source_location where)
    : Optimizer({"adam", options.learning_rate, options.clip_norm, options.global_clip_norm, {"m", "v"}}, where),
      options_(options) {
  for (double beta : {options.beta_1, options.beta_2})
    if (!(beta >= 0 && beta < 1))
      throw_error(Code::invalid_argument, "adam: a beta is " + std::to_string(beta) + ", it must be in [0, 1)", where);
}

// In f64: 1 - beta_2^step would lose most of its digits in f32. The betas themselves are f32, as Keras has them.
Tensor Adam::prepare(const Tensor& learning_rate, const Tensor& step) const {
  const double beta_1 = static_cast<float>(options_.beta_1), beta_2 = static_cast<float>(options_.beta_2);
  return learning_rate * sqrt(1 - pow(beta_2, step)) / (1 - pow(beta_1, step));
}

void Adam::update(const Variable& variable, const Tensor& gradient, std::span<const Variable> slots,
                  const Tensor& rate) const {
  const Tensor old_m = slots[0].read(), old_v = slots[1].read();
  const Tensor m = old_m + (gradient - old_m) * (1 - options_.beta_1);
  const Tensor v = old_v + (square(gradient) - old_v) * (1 - options_.beta_2);
  slots[0].assign(m);
  slots[1].assign(v);
  variable.assign_sub(m * rate / (sqrt(v) + options_.epsilon));
}

namespace {

Tensor sum_of_squares(const Tensor& x) { return reduce_sum(square(x)); }

// The root, with a gradient of 0 instead of infinity at 0.
Tensor safe_norm(const Tensor& sum) {
  const Tensor positive = sum > 0;
  return where(positive, sqrt(where(positive, sum, ones_like(sum))), sum);
}

void check_norm(double norm, const char* op, std::source_location at) {
  if (!(norm > 0))
    throw_error(Code::invalid_argument,
                std::string(op) + ": the norm is " + std::to_string(norm) + ", it must be positive", at);
}

}  // namespace

Tensor clip_by_norm(const Operand& x, double norm) {
  check_norm(norm, "clip_by_norm", x.where());
  const detail::UserScope scope("clip_by_norm", x.where());
  const Tensor input = x.tensor(), length = safe_norm(sum_of_squares(input));
  return where(length > norm, input * norm / maximum(length, norm), input);
}

std::vector<Tensor> clip_by_global_norm(const std::vector<Tensor>& xs, double norm, std::source_location at) {
  check_norm(norm, "clip_by_global_norm", at);
  const detail::UserScope scope("clip_by_global_norm", at);
  Tensor sum;
  for (const Tensor& x : xs)
    if (x.defined()) sum = sum.defined() ? sum + sum_of_squares(x) : sum_of_squares(x);
  std::vector<Tensor> clipped = xs;
  if (!sum.defined()) return clipped;
  const Tensor length = safe_norm(sum);
  for (Tensor& x : clipped)
    if (x.defined()) x = where(length > norm, x * norm / maximum(length, norm), x);
  return clipped;
}

}  // namespace kiln
