// Runs one op on concrete tensors now. Internal.
#pragma once
#include <span>
#include <vector>

#include "compiler/api/graph.h"
#include "frontend/tensor/tensor.h"
#include "runtime/base/status.h"

namespace kiln::detail {

// Operands are concrete, checked, and of the op's dtypes; `results` are their inferred types.
Result<std::vector<Tensor>> run_eager(OpId op, std::span<const Tensor> operands, std::span<const Attribute> attributes,
                                      std::span<const TensorType> results);

// The same as a compiled function of one op, kept for the next call: for ops without an eager kernel.
Result<std::vector<Tensor>> run_compiled_op(OpId op, std::span<const Tensor> operands,
                                            std::span<const Attribute> attributes, std::span<const TensorType> results);

}  // namespace kiln::detail
