// IrScalar models S (dialects/kiln/math/scalar.h): each operation emits MLIR on a scalar or a vector.
#pragma once
#include "compiler/pch.h"
#include "runtime/base/dtype.h"

namespace kiln::compiler {

// Unsigned dtypes are signless in arithmetic; `t` remembers what they are.
struct IrScalar {
  mlir::OpBuilder* builder = nullptr;
  mlir::LocationAttr loc;
  mlir::Value v;
  DType t = DType::f32;
};

mlir::Type elementTypeOf(mlir::MLIRContext* context, DType t);      // as arithmetic sees it: u32 -> i32, bool -> i1
mlir::Type tensorElementType(mlir::MLIRContext* context, DType t);  // as tensors carry it: u32 -> ui32
DType dtypeOf(mlir::Type tensorElement);                            // inverse of tensorElementType
// `element` with the vector shape of `like`, or itself where `like` is a scalar.
mlir::Type likeType(mlir::Type like, mlir::Type element);

// The number behind a constant of equal elements.
IrScalar splatNumber(mlir::OpBuilder& b, mlir::Location loc, mlir::DenseElementsAttr splat, DType t);

inline DType dtype(const IrScalar& x) { return x.t; }

IrScalar operator+(const IrScalar& x, const IrScalar& y);
IrScalar operator-(const IrScalar& x, const IrScalar& y);
IrScalar operator*(const IrScalar& x, const IrScalar& y);
IrScalar operator/(const IrScalar& x, const IrScalar& y);
IrScalar operator-(const IrScalar& x);
IrScalar remainder(const IrScalar& x, const IrScalar& y);
IrScalar operator<(const IrScalar& x, const IrScalar& y);
IrScalar operator<=(const IrScalar& x, const IrScalar& y);
IrScalar operator>(const IrScalar& x, const IrScalar& y);
IrScalar operator>=(const IrScalar& x, const IrScalar& y);
IrScalar operator==(const IrScalar& x, const IrScalar& y);
IrScalar operator!=(const IrScalar& x, const IrScalar& y);
IrScalar operator&(const IrScalar& x, const IrScalar& y);
IrScalar operator|(const IrScalar& x, const IrScalar& y);
IrScalar operator^(const IrScalar& x, const IrScalar& y);
IrScalar operator~(const IrScalar& x);
IrScalar shift_left(const IrScalar& x, const IrScalar& y);
IrScalar shift_right_logical(const IrScalar& x, const IrScalar& y);
IrScalar shift_right_arithmetic(const IrScalar& x, const IrScalar& y);
IrScalar multiply_high(const IrScalar& x, const IrScalar& y);
IrScalar select(const IrScalar& condition, const IrScalar& x, const IrScalar& y);
IrScalar constant_bits(const IrScalar& x, DType t, uint64_t bits);
IrScalar constant_of(const IrScalar& x, DType t, double v);
IrScalar constant_of(const IrScalar& x, DType t, int64_t v);
inline IrScalar constant_of(const IrScalar& x, DType t, int v) { return constant_of(x, t, int64_t{v}); }
inline IrScalar constant_of(const IrScalar& x, DType t, bool v) { return constant_of(x, t, int64_t{v}); }
template <class Number>
IrScalar constant(const IrScalar& x, Number v) {
  return constant_of(x, x.t, v);
}
IrScalar convert(const IrScalar& x, DType t);
IrScalar bitcast(const IrScalar& x, DType t);
IrScalar fma(const IrScalar& x, const IrScalar& y, const IrScalar& z);
IrScalar sqrt(const IrScalar& x);
IrScalar abs(const IrScalar& x);
IrScalar floor(const IrScalar& x);
IrScalar ceil(const IrScalar& x);
IrScalar trunc(const IrScalar& x);
IrScalar round_even(const IrScalar& x);
IrScalar copysign(const IrScalar& x, const IrScalar& y);

// The functions of dialects/kiln/math/functions.h and the math dialect's op for each; expanded after vectorisation.
// clang-format off
#define KILN_FOR_EACH_UNARY_FUNCTION(X)                                                                      \
  X(exp, ExpOp) X(exp2, Exp2Op) X(expm1, ExpM1Op) X(log, LogOp) X(log2, Log2Op) X(log10, Log10Op)            \
  X(log1p, Log1pOp) X(sin, SinOp) X(cos, CosOp) X(tan, TanOp) X(asin, AsinOp) X(acos, AcosOp)                \
  X(atan, AtanOp) X(sinh, SinhOp) X(cosh, CoshOp) X(tanh, TanhOp) X(asinh, AsinhOp) X(acosh, AcoshOp)        \
  X(atanh, AtanhOp) X(erf, ErfOp) X(erfc, ErfcOp) X(cbrt, CbrtOp) X(rsqrt, RsqrtOp)
// clang-format on
#define KILN_FOR_EACH_BINARY_FUNCTION(X) X(pow, PowFOp) X(atan2, Atan2Op)

#define KILN_DECLARE(name, Op) IrScalar name(const IrScalar& x);
KILN_FOR_EACH_UNARY_FUNCTION(KILN_DECLARE)
#undef KILN_DECLARE
#define KILN_DECLARE(name, Op) IrScalar name(const IrScalar& x, const IrScalar& y);
KILN_FOR_EACH_BINARY_FUNCTION(KILN_DECLARE)
#undef KILN_DECLARE

}  // namespace kiln::compiler
