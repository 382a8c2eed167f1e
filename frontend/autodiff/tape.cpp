#include "frontend/autodiff/tape.h"

#include <algorithm>
#include <unordered_map>

#include "frontend/autodiff/gradient_rules.h"
#include "frontend/autodiff/tape_impl.h"
#include "frontend/include/kiln/error.h"
#include "frontend/ops/composite_helpers.h"
#include "frontend/tensor/rep.h"
#include "frontend/trace/scope.h"
#include "frontend/trace/trace.h"
#include "frontend/variable/state.h"
#include "generated/ops.h"

namespace kiln {
namespace detail {
namespace {

thread_local std::vector<TapeImpl*> tapes;
thread_local int all_paused = 0;

bool records_here(const TapeImpl& tape) {
  if (!tape.recording || tape.paused) return false;
  const TraceContext* trace = TraceContext::current();
  return tape.context == trace && (!trace || tape.region == trace->region_id());
}

}  // namespace

uint64_t tape_key(const Tensor& x) {
  const TensorRep& rep = *x.rep();
  return rep.trace ? static_cast<uint64_t>(rep.value) : reinterpret_cast<uint64_t>(&rep);
}

bool tapes_active() {
  if (all_paused) return false;
  for (const TapeImpl* tape : tapes)
    if (tape->recording && !tape->paused && tape->context == TraceContext::current()) return true;
  return false;
}

bool tapes_want(std::span<const Tensor> operands) {
  if (all_paused) return false;
  for (const TapeImpl* tape : tapes)
    if (records_here(*tape) && tape->wants(operands)) return true;
  return false;
}

void record_on_tapes(const TapeEntry& entry) {
  if (all_paused) return;
  for (TapeImpl* tape : tapes)
    if (records_here(*tape) && tape->wants(entry.operands)) tape->record(entry);
}

void note_variable_read(VariableState& variable, const Tensor& value) {
  if (all_paused) return;
  TraceContext* trace = TraceContext::current();
  for (TapeImpl* tape : tapes) {
    if (!tape->recording || tape->paused || tape->context != trace) continue;
    // A tape outside of the present loop or branch sees the value that goes into it.
    tape->note_read(variable, trace ? trace->read_at(variable, tape->depth, {}) : value);
  }
}

TapePause::TapePause() { ++all_paused; }
TapePause::~TapePause() { --all_paused; }

TapeImpl::TapeImpl(const TapeOptions& options) : context(TraceContext::current()), options_(options) {
  if (context) depth = context->depth(), region = context->region_id();
  tapes.push_back(this);
}

TapeImpl::~TapeImpl() { tapes.erase(std::find(tapes.begin(), tapes.end(), this)); }

bool TapeImpl::wants(std::span<const Tensor> operands) const {
  for (const Tensor& x : operands)
    if (x.defined() && is_floating(x.rep()->dtype) && connected_.count(tape_key(x))) return true;
  return false;
}

void TapeImpl::record(const TapeEntry& entry) {
  entries_.push_back(entry);
  for (const Tensor& x : entry.results)
    if (is_floating(x.rep()->dtype)) connected_.insert(tape_key(x));
}

void TapeImpl::watch(const Tensor& x) {
  Tensor watched = context ? context->import(x, "watch", {}) : x;
  connected_.insert(tape_key(watched));
  kept_.push_back(std::move(watched));
}

TapeImpl::WatchedVariable& TapeImpl::slot(VariableState& variable) {
  VariableState* canonical = variable.canonical();
  const auto [it, fresh] = variables_.try_emplace(canonical);
  if (fresh) it->second.handle = Variable(canonical->shared_from_this());
  return it->second;
}

void TapeImpl::watch_variable(VariableState& variable) {
  WatchedVariable& v = slot(variable);
  if (!v.watched) order_.push_back(variable.canonical());
  v.watched = true;
  note_read(variable, context ? context->read_at(variable, depth, {}) : variable.canonical()->load());
}

void TapeImpl::note_read(VariableState& variable, const Tensor& value) {
  if (!is_floating(variable.dtype)) return;
  WatchedVariable& v = slot(variable);
  if (!v.watched) {
    if (!options_.watch_accessed_variables || !variable.trainable) return;
    v.watched = true;
    order_.push_back(variable.canonical());
  }
  if (connected_.insert(tape_key(value)).second) v.values.push_back(value);
}

std::vector<Variable> TapeImpl::watched_variables() const {
  std::vector<Variable> result;
  for (VariableState* state : order_) result.push_back(variables_.at(state).handle);
  return result;
}

void TapeImpl::reset() {
  entries_.clear(), connected_.clear(), kept_.clear(), order_.clear(), variables_.clear();
  used_ = false, recording = true;
}

Tensor TapeImpl::sum(Tensor a, const Tensor& b) const { return a.defined() ? add(a, b) : b; }

std::vector<Tensor> TapeImpl::gradients(std::span<const Tensor> targets, std::span<const Source> sources,
                                        const GradientOptions& options, std::source_location where) {
  if (context != TraceContext::current())
    throw_error(Code::failed_precondition, "gradient: the tape belongs to another trace", where);
  if (used_ && !options_.persistent)
    throw_error(Code::failed_precondition,
                "gradient: the tape was used before; make it with {.persistent = true} to ask it more than once",
                where);
  if (!options.output_gradients.empty() && options.output_gradients.size() != targets.size())
    throw_error(Code::invalid_argument,
                "gradient: " + std::to_string(options.output_gradients.size()) + " output_gradients for " +
                    std::to_string(targets.size()) + " targets",
                where);
  auto check_present = [&](const Tensor& x, const char* what) {
    if (!x.defined())
      throw_error(Code::invalid_argument, std::string("gradient: ") + what + " is an empty Tensor", where);
    if (!context && x.symbolic()) throw_escaped(*x.rep(), "gradient", where);
  };
  for (const Tensor& target : targets) check_present(target, "the target");
  for (const Source& source : sources)
    if (!source.variable().defined()) check_present(source.tensor(), "a source");
  for (size_t i = 0; i < options.output_gradients.size(); ++i) {
    const Tensor &given = options.output_gradients[i], &target = targets[i];
    check_present(given, "one of the output_gradients");
    bool fits = given.dtype() == target.dtype() && given.rank() == target.rank();
    for (int d = 0; fits && d < given.rank(); ++d) {
      const Dim a = given.shape()[d], b = target.shape()[d];
      fits = a == b || !a.known() || !b.known();
    }
    if (!fits)
      throw_error(Code::invalid_argument,
                  "gradient: output_gradients[" + std::to_string(i) + "] is " + type_text(given) + ", its target is " +
                      type_text(target),
                  where);
  }
  used_ = true;
  if (!options_.persistent) recording = false;

  std::unordered_map<uint64_t, Tensor> gradient;  // of each tensor reached, by key
  for (size_t i = 0; i < targets.size(); ++i) {
    const UserScope scope("gradient", where);
    const Tensor target = context ? context->import(targets[i], "gradient", where) : targets[i];
    if (!is_floating(target.dtype())) continue;
    Tensor seed = options.output_gradients.empty() ? ones_like(target) : options.output_gradients[i];
    Tensor& g = gradient[tape_key(target)];
    g = sum(std::move(g), seed);
  }
  for (size_t i = entries_.size(); i-- > 0;) {
    std::vector<Tensor> incoming;
    bool reached = false;
    for (const Tensor& r : entries_[i].results) {
      const auto it = gradient.find(tape_key(r));
      incoming.push_back(it == gradient.end() ? Tensor() : it->second);
      reached |= incoming.back().defined();
    }
    if (!reached) continue;
    const TapeEntry entry = entries_[i];  // a persistent tape may grow meanwhile
    const UserScope scope(entry.name ? entry.name : info(entry.op).name.data(), entry.where);
    const std::vector<Tensor> outgoing =
        entry.backward ? entry.backward(incoming)
                       : gradient_rule(entry.op, entry.operands, entry.results, incoming, entry.attributes);
    for (size_t k = 0; k < outgoing.size() && k < entry.operands.size(); ++k) {
      if (!outgoing[k].defined() || !connected_.count(tape_key(entry.operands[k]))) continue;
      Tensor& g = gradient[tape_key(entry.operands[k])];
      g = sum(std::move(g), outgoing[k]);
    }
  }

  const UserScope scope("gradient", where);
  std::vector<Tensor> result;
  auto found = [&](const Tensor& x) {
    const auto it = gradient.find(tape_key(x));
    return it == gradient.end() || !connected_.count(tape_key(x)) ? Tensor() : it->second;
  };
  for (const Source& source : sources) {
    Tensor g;
    if (source.variable().defined()) {
      const auto it = variables_.find(source.variable().state()->canonical());
      if (it != variables_.end())
        for (const Tensor& value : it->second.values)
          if (Tensor part = found(value); part.defined()) g = sum(std::move(g), part);
      if (!g.defined() && options.unconnected == Unconnected::zero) g = zeros_like(source.variable());
    } else {
      g = found(context ? context->import(source.tensor(), "gradient", where) : source.tensor());
      if (!g.defined() && options.unconnected == Unconnected::zero) g = zeros_like(source.tensor());
    }
    result.push_back(std::move(g));
  }
  if (!options_.persistent) entries_.clear();
  return result;
}

}  // namespace detail

GradientTape::GradientTape(const TapeOptions& options) : impl_(std::make_unique<detail::TapeImpl>(options)) {}
GradientTape::~GradientTape() = default;

void GradientTape::watch(const Tensor& x, std::source_location where) {
  if (!x.defined()) throw_error(Code::invalid_argument, "watch: the Tensor is empty", where);
  impl_->watch(x);
}
void GradientTape::watch(const Variable& x, std::source_location where) {
  if (!x.defined()) throw_error(Code::invalid_argument, "watch: the Variable is empty", where);
  impl_->watch_variable(*x.state());
}
std::vector<Variable> GradientTape::watched_variables() const { return impl_->watched_variables(); }
void GradientTape::reset() { impl_->reset(); }

std::vector<Tensor> GradientTape::gradient(const Operand& target, const std::vector<Variable>& sources,
                                           const GradientOptions& options) {
  return gradients({target.tensor()}, std::vector<Source>(sources.begin(), sources.end()), options, target.where());
}
std::vector<Tensor> GradientTape::gradient(const Operand& target, const std::vector<Tensor>& sources,
                                           const GradientOptions& options) {
  return gradients({target.tensor()}, std::vector<Source>(sources.begin(), sources.end()), options, target.where());
}
std::vector<Tensor> GradientTape::gradients(const std::vector<Tensor>& targets, const std::vector<Source>& sources,
                                            const GradientOptions& options, std::source_location where) {
  return impl_->gradients(targets, sources, options, where);
}

GradientTape::Pause::Pause(detail::TapeImpl* tape) : tape_(tape) { ++tape_->paused; }
GradientTape::Pause::~Pause() { --tape_->paused; }

}  // namespace kiln
