// The generated public functions, the operators, and the short forms that are members of Tensor.
#include <array>

#include "frontend/autodiff/gradient_helpers.h"
#include "frontend/ops/dispatch.h"
#include "generated/ops.h"

namespace kiln {

#define KILN_BINARY_OPERATOR(symbol, op) \
  Tensor operator symbol(const Operand& x, const Operand& y) { return op(x, y); }
KILN_BINARY_OPERATOR(+, add)
KILN_BINARY_OPERATOR(-, subtract)
KILN_BINARY_OPERATOR(*, multiply)
KILN_BINARY_OPERATOR(/, divide)
KILN_BINARY_OPERATOR(%, floormod)
KILN_BINARY_OPERATOR(<, less)
KILN_BINARY_OPERATOR(<=, less_equal)
KILN_BINARY_OPERATOR(>, greater)
KILN_BINARY_OPERATOR(>=, greater_equal)
KILN_BINARY_OPERATOR(==, equal)
KILN_BINARY_OPERATOR(!=, not_equal)
KILN_BINARY_OPERATOR(&, bitwise_and)
KILN_BINARY_OPERATOR(|, bitwise_or)
KILN_BINARY_OPERATOR(^, bitwise_xor)
#undef KILN_BINARY_OPERATOR
Tensor operator-(const Operand& x) { return negative(x); }
Tensor operator~(const Operand& x) { return invert(x); }

Tensor All::operator()(const Operand& x) const { return reduce_all(x); }
Tensor All::operator()(const Operand& x, const ReduceOptions& options) const { return reduce_all(x, options); }

Tensor Tensor::matmul(const Operand& y) const { return kiln::matmul(Operand(*this, y.where()), y); }
Tensor Tensor::matmul(const Operand& y, const MatmulOptions& options) const {
  return kiln::matmul(Operand(*this, y.where()), y, options);
}
Tensor Tensor::reshape(const Shape& shape, std::source_location where) const {
  return kiln::reshape(Operand(*this, where), shape);
}
Tensor Tensor::to(DType dtype, std::source_location where) const { return cast(Operand(*this, where), dtype); }
Tensor Tensor::transpose(std::source_location where) const { return kiln::transpose(Operand(*this, where)); }

#define KILN_REDUCTION_MEMBER(name, op)                                                       \
  Tensor Tensor::name(std::source_location where) const { return op(Operand(*this, where)); } \
  Tensor Tensor::name(const ReduceOptions& options, std::source_location where) const {       \
    return op(Operand(*this, where), options);                                                \
  }
KILN_REDUCTION_MEMBER(sum, reduce_sum)
KILN_REDUCTION_MEMBER(mean, reduce_mean)
KILN_REDUCTION_MEMBER(max, reduce_max)
KILN_REDUCTION_MEMBER(min, reduce_min)
#undef KILN_REDUCTION_MEMBER

}  // namespace kiln

#include "generated/ops.cpp.inc"
