#include "frontend/variable/variable.h"

#include <atomic>

#include "frontend/autodiff/tape_impl.h"
#include "frontend/include/kiln/error.h"
#include "frontend/tensor/rep.h"
#include "frontend/trace/trace.h"
#include "frontend/variable/state.h"
#include "generated/ops.h"

namespace kiln {
namespace {

detail::VariableState& state_or_throw(const Variable& v, const char* what, std::source_location where) {
  if (!v.defined()) throw_error(Code::failed_precondition, std::string(what) + ": the Variable is empty", where);
  return *v.state();
}

void assign_tensor(detail::VariableState& state, const Tensor& value, const char* what, std::source_location where) {
  if (!value.defined())
    throw_error(Code::invalid_argument, std::string(what) + ": the value is an empty Tensor", where);
  if (value.dtype() != state.dtype || !(value.shape() == state.shape))
    throw_error(Code::invalid_argument,
                std::string(what) + ": Variable \"" + state.name + "\" is " + std::string(name_of(state.dtype)) +
                    to_string(state.shape) + ", the value is " + std::string(name_of(value.dtype())) +
                    to_string(value.shape()),
                where);
  if (TraceContext* trace = TraceContext::current()) return trace->assign(state, value, where);
  const detail::TensorRep& rep = *value.rep();
  if (rep.trace) detail::throw_escaped(rep, what, where);
  // A handle of its own: to the tapes a stored value is another tensor than the one it came from.
  state.canonical()->store(detail::make_concrete(rep.dtype, rep.shape, rep.buffer, rep.offset));
}

// Bare numbers fill the Variable's shape.
Tensor filled(detail::VariableState& state, const Operand& value) {
  Tensor x = value.tensor(state.dtype);
  return value.is_number() ? broadcast_to(Operand(x, value.where()), state.shape) : x;
}

}  // namespace

Variable::Variable(const Operand& initial, const VariableOptions& options) {
  const std::string name = options.name.empty() ? "variable" : options.name;
  if (TraceContext::current())
    throw_error(Code::failed_precondition,
                "Variable \"" + name +
                    "\" would be created anew by each trace; make it once outside of the function, or "
                    "guard it with if (!v.defined())",
                initial.where());
  const Tensor value = initial.tensor();
  if (!value.defined())
    throw_error(Code::invalid_argument, "Variable \"" + name + "\": the initial value is an empty Tensor",
                initial.where());
  if (value.symbolic()) detail::throw_escaped(*value.rep(), "Variable", initial.where());
  state_ = detail::make_state(value, {name, options.trainable});
}

std::shared_ptr<detail::VariableState> detail::make_state(const Tensor& value, const VariableOptions& options) {
  static std::atomic<uint64_t> next_id{1};
  auto state = std::make_shared<VariableState>();
  state->name = options.name;
  state->trainable = options.trainable;
  state->id = next_id++;
  state->dtype = value.dtype();
  state->shape = value.shape();
  const TensorRep& rep = *value.rep();
  state->value = make_concrete(rep.dtype, rep.shape, rep.buffer, rep.offset);
  return state;
}

Tensor Variable::read(std::source_location where) const {
  detail::VariableState& state = state_or_throw(*this, "read", where);
  TraceContext* trace = TraceContext::current();
  Tensor value = trace ? trace->read(state, where) : state.canonical()->load();
  detail::note_variable_read(state, value);
  return value;
}

void Variable::assign(const Operand& value) const {
  detail::VariableState& state = state_or_throw(*this, "assign", value.where());
  assign_tensor(state, filled(state, value), "assign", value.where());
}

void Variable::assign_add(const Operand& value) const {
  detail::VariableState& state = state_or_throw(*this, "assign_add", value.where());
  const detail::TapePause pause;
  assign_tensor(state, add(Operand(read(value.where()), value.where()), value), "assign_add", value.where());
}

void Variable::assign_sub(const Operand& value) const {
  detail::VariableState& state = state_or_throw(*this, "assign_sub", value.where());
  const detail::TapePause pause;
  assign_tensor(state, subtract(Operand(read(value.where()), value.where()), value), "assign_sub", value.where());
}

const std::string& Variable::name(std::source_location where) const {
  return state_or_throw(*this, "name", where).name;
}
DType Variable::dtype(std::source_location where) const { return state_or_throw(*this, "dtype", where).dtype; }
const Shape& Variable::shape(std::source_location where) const { return state_or_throw(*this, "shape", where).shape; }
bool Variable::trainable(std::source_location where) const {
  return state_or_throw(*this, "trainable", where).trainable;
}
uint64_t Variable::id(std::source_location where) const { return state_or_throw(*this, "id", where).id; }

}  // namespace kiln
