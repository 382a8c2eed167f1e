// The gradient rule of every differentiable op, generated from the records.
#pragma once
#include <span>
#include <vector>

#include "compiler/api/graph.h"
#include "frontend/tensor/tensor.h"

namespace kiln {

// The gradients with respect to the operands, from those with respect to the results (an undefined Tensor: none; at
// least one is defined). An undefined Tensor where there is none. Control ops: frontend/autodiff differentiates their
// regions.
std::vector<Tensor> gradient_rule(OpId op, std::span<const Tensor> operands, std::span<const Tensor> results,
                                  std::span<const Tensor> gradients, std::span<const Attribute> attributes);

}  // namespace kiln
