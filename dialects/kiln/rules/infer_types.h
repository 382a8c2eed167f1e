// Operand checks and result types of every op, generated from the records. Texts of errors start with the op's name.
#pragma once
#include <span>
#include <vector>

#include "compiler/api/graph.h"
#include "runtime/base/status.h"

namespace kiln {

// Number and dtypes of the operands.
Status check_operands(OpId op, std::span<const TensorType> operands);

// The types of the results, after check_operands(). Composite and control ops and `constant` have no rule: their types
// come from their parts, regions or data.
Result<std::vector<TensorType>> infer_types(OpId op, std::span<const TensorType> operands,
                                            std::span<const Attribute> attributes);

}  // namespace kiln
