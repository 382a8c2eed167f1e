// The way of every op: run it now (eager), or add it to the trace of the function being traced; then tell the tapes.
// Generated ops (generated/ops.cpp.inc) call this.
#pragma once
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include "compiler/api/graph.h"
#include "frontend/tensor/operand.h"
#include "frontend/trace/scope.h"

namespace kiln {

// `where` is the user's line. A bare number becomes a tensor of the dtype that the op needs.
Tensor dispatch(OpId op, std::span<const Operand* const> operands, std::span<const Attribute> attributes,
                std::source_location where);
// For ops with several results.
std::vector<Tensor> dispatch_all(OpId op, std::span<const Operand* const> operands,
                                 std::span<const Attribute> attributes, std::source_location where);
// The same on tensors of the right dtypes: for replayed nodes of a graph.
std::vector<Tensor> dispatch_tensors(OpId op, std::span<const Tensor> operands, std::span<const Attribute> attributes,
                                     std::source_location where);

// For the length of a composite op: its operands as Tensors, checked. The ops of its body carry the user's line, and
// errors name the composite op that the user called.
class CompositeScope {
 public:
  CompositeScope(OpId op, std::span<const Operand* const> operands, std::source_location where);
  const std::vector<Tensor>& operands() const { return operands_; }

 private:
  detail::UserScope scope_;
  std::vector<Tensor> operands_;
};

// Throws an Error with the name and line of the outermost composite op (or "kiln"): for bodies of composite ops.
[[noreturn]] void fail(Code code, const std::string& text);

}  // namespace kiln
