#include "frontend/ops/dispatch.h"

#include "dialects/kiln/rules/infer_types.h"
#include "frontend/autodiff/tape_impl.h"
#include "frontend/include/kiln/error.h"
#include "frontend/ops/eager.h"
#include "frontend/tensor/rep.h"
#include "frontend/trace/trace.h"
#include "generated/ops.h"

namespace kiln {
namespace {

// Errors of an op inside of a composite op start with the name that the user wrote.
[[noreturn]] void throw_status(const Status& status, std::source_location where) {
  const detail::UserScope* scope = detail::UserScope::current();
  if (scope && !status.message().starts_with(scope->op()))
    throw_error(status.code(), std::string(scope->op()) + ": " + std::string(status.message()), where);
  throw_error(status, where);
}

const OperandInfo& operand_info(const OpInfo& op, size_t i) { return op.operands[op.variadic ? 0 : i]; }

// Bare numbers become tensors, and `same` operands get the dtype in which the op computes.
std::vector<Tensor> convert(OpId op, std::span<const Operand* const> operands) {
  const OpInfo& row = info(op);
  // The dtype of the `same` operands: of the first Tensor among them, else of the first number.
  DType same = DType::f32;
  bool found = false;
  for (const bool numbers : {false, true})
    for (size_t i = 0; i < operands.size() && !found; ++i) {
      if (operand_info(row, i).dtype != OperandDType::same || operands[i]->is_number() != numbers) continue;
      if (!numbers && !operands[i]->held().defined()) continue;
      same = operands[i]->dtype();
      found = true;
    }
  if (found && operands.size() > 1 && is_integer(same)) {  // 1 + 2.5: the numbers alone decide
    bool all_numbers = true;
    for (const Operand* x : operands) all_numbers &= x->is_number();
    for (const Operand* x : operands)
      if (all_numbers && is_floating(x->number_dtype())) same = x->number_dtype();
  }
  const DType computed = found ? promoted(op, same) : same;
  std::vector<Tensor> tensors;
  tensors.reserve(operands.size() + 1);
  for (size_t i = 0; i < operands.size(); ++i) {
    const Operand& x = *operands[i];
    const OperandInfo& wanted = operand_info(row, i);
    if (!x.is_number()) {
      if (!x.held().defined())
        throw_error(Code::invalid_argument,
                    std::string(row.name) + ": " + std::string(wanted.name) + " is an empty Tensor", x.where());
      tensors.push_back(x.held());
    } else {
      switch (wanted.dtype) {
        case OperandDType::same:
          tensors.push_back(x.tensor(same));
          break;
        case OperandDType::boolean:
          tensors.push_back(x.tensor(DType::bool_));
          break;
        case OperandDType::index:
        case OperandDType::i64:
          tensors.push_back(x.tensor(DType::i64));
          break;
        case OperandDType::any:
          tensors.push_back(x.tensor());
          break;
      }
    }
    if (wanted.dtype == OperandDType::same && computed != same && tensors.back().dtype() == same)
      tensors.back() = cast(Operand(tensors.back(), x.where()), computed);
  }
  return tensors;
}

// Compiled code walks an operand by which of its dims are those of the result. An unknown dim that is another one may
// turn out as 1 or as the result's: such an operand is spread out first. Most calls have none.
std::vector<Tensor> spread(std::span<const Tensor> operands, const Shape& result, std::source_location where) {
  std::vector<Tensor> spread;
  for (size_t k = 0; k < operands.size(); ++k) {
    for (int axis = 0; axis < operands[k].rank(); ++axis) {
      const Dim from = operands[k].shape()[axis], to = result[result.rank() - operands[k].rank() + axis];
      if (from.known() || from == to) continue;
      if (spread.empty()) spread.assign(operands.begin(), operands.end());
      const Tensor last = size(Operand(operands[k], where), {.axis = {axis}}) - 1;
      spread[k] = gather(Operand(spread[k], where), minimum(iota({to}, {DType::i64}, where), last), {.axis = axis});
    }
  }
  return spread;
}

}  // namespace

std::vector<Tensor> dispatch_tensors(OpId op, std::span<const Tensor> operands, std::span<const Attribute> attributes,
                                     std::source_location where) {
  TraceContext* trace = TraceContext::current();
  std::vector<TensorType> types;
  types.reserve(operands.size());
  for (const Tensor& x : operands) {
    const detail::TensorRep& rep = *x.rep();
    if (!trace && rep.trace) detail::throw_escaped(rep, info(op).name.data(), where);
    types.push_back({rep.dtype, rep.shape});
  }
  if (Status status = check_operands(op, types); !status.ok()) throw_status(status, where);
  Result<std::vector<TensorType>> inferred = infer_types(op, types, attributes);
  if (!inferred.ok()) throw_status(inferred.status(), where);

  std::vector<Tensor> spread_out, imported, results;
  if (trace) {
    if (info(op).kind == OpKind::elementwise && !(*inferred)[0].shape.known()) {
      spread_out = spread(operands, (*inferred)[0].shape, where);
      if (!spread_out.empty()) operands = spread_out;
    }
    // The tapes must see what the trace sees: captured tensors as values of the trace.
    for (const Tensor& x : operands) imported.push_back(trace->import(x, info(op).name.data(), where));
    operands = imported;
    results = trace->emit(op, operands, attributes, *inferred, where);
  } else {
    Result<std::vector<Tensor>> made = detail::run_eager(op, operands, attributes, *inferred);
    if (!made.ok()) throw_status(made.status(), where);
    results = std::move(made).value();
  }
  if (info(op).non_differentiable.empty() && detail::tapes_want(operands))
    detail::record_on_tapes({op,
                             {operands.begin(), operands.end()},
                             results,
                             {attributes.begin(), attributes.end()},
                             detail::user_line(where)});
  return results;
}

std::vector<Tensor> dispatch_all(OpId op, std::span<const Operand* const> operands,
                                 std::span<const Attribute> attributes, std::source_location where) {
  return dispatch_tensors(op, convert(op, operands), attributes, where);
}

Tensor dispatch(OpId op, std::span<const Operand* const> operands, std::span<const Attribute> attributes,
                std::source_location where) {
  return std::move(dispatch_all(op, operands, attributes, where)[0]);
}

CompositeScope::CompositeScope(OpId op, std::span<const Operand* const> operands, std::source_location where)
    : scope_(info(op).name.data(), where), operands_(convert(op, operands)) {
  std::vector<TensorType> types;
  for (const Tensor& x : operands_) types.push_back(x.rep()->type());
  if (Status status = check_operands(op, types); !status.ok()) throw_status(status, where);
}

void fail(Code code, const std::string& text) {
  const detail::UserScope* scope = detail::UserScope::current();
  throw_error(code, (scope ? scope->op() : "kiln") + (": " + text), std::source_location::current());
}

}  // namespace kiln
