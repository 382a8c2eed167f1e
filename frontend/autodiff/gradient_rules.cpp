#include "frontend/autodiff/gradient_rules.h"

#include "dialects/kiln/rules/shape_rules.h"
#include "frontend/autodiff/gradient_helpers.h"
#include "frontend/ops/dispatch.h"
#include "generated/ops.h"

namespace kiln {
namespace {

using GradientFunction = std::vector<Tensor> (*)(std::span<const Tensor>, std::span<const Tensor>,
                                                 std::span<const Tensor>, std::span<const Attribute>);

}  // namespace
}  // namespace kiln

#include "generated/gradients.cpp.inc"

namespace kiln {

std::vector<Tensor> gradient_rule(OpId op, std::span<const Tensor> operands, std::span<const Tensor> results,
                                  std::span<const Tensor> gradients, std::span<const Attribute> attributes) {
  const GradientFunction rule = gradient_table[static_cast<size_t>(op)];
  if (!rule) return std::vector<Tensor>(operands.size());
  std::vector<Tensor> made = rule(operands, results, gradients, attributes);
  made.resize(operands.size());
  if (info(op).kind == OpKind::elementwise)  // operands that were broadcast
    for (size_t i = 0; i < made.size(); ++i)
      if (made[i].defined()) made[i] = sum_to_shape(made[i], operands[i].shape());
  return made;
}

}  // namespace kiln
