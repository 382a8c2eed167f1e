#include "compiler/lower/IrScalar.h"

#include <bit>

using namespace mlir;

namespace kiln::compiler {

Type elementTypeOf(MLIRContext* context, DType t) {
  switch (info(t).kind) {
    case DTypeKind::boolean:
      return IntegerType::get(context, 1);
    case DTypeKind::floating:
      if (t == DType::f16) return Float16Type::get(context);
      if (t == DType::bf16) return BFloat16Type::get(context);
      return t == DType::f32 ? Type(Float32Type::get(context)) : Type(Float64Type::get(context));
    case DTypeKind::complex:
      return ComplexType::get(t == DType::c64 ? Type(Float32Type::get(context)) : Type(Float64Type::get(context)));
    default:
      return IntegerType::get(context, size_of(t) * 8);
  }
}

Type tensorElementType(MLIRContext* context, DType t) {
  if (info(t).kind == DTypeKind::unsigned_int) return IntegerType::get(context, size_of(t) * 8, IntegerType::Unsigned);
  return elementTypeOf(context, t);
}

DType dtypeOf(Type element) {
  for (int i = 0; i < dtype_count; ++i)
    if (tensorElementType(element.getContext(), static_cast<DType>(i)) == element) return static_cast<DType>(i);
  return DType::f32;
}

Type likeType(Type like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like)) return VectorType::get(vector.getShape(), element);
  return element;
}

namespace {

bool isFloat(const IrScalar& x) { return is_floating(x.t); }
bool isUnsigned(const IrScalar& x) { return info(x.t).kind == DTypeKind::unsigned_int || x.t == DType::bool_; }

template <class Op>
IrScalar make(const IrScalar& x, ValueRange operands) {
  return {x.builder, x.loc, Op::create(*x.builder, x.loc, operands[0].getType(), operands).getResult(), x.t};
}

template <class FloatOp, class IntOp>
IrScalar arithmetic(const IrScalar& x, const IrScalar& y) {
  OpBuilder& b = *x.builder;
  Value v = isFloat(x) ? Value(FloatOp::create(b, x.loc, x.v, y.v)) : Value(IntOp::create(b, x.loc, x.v, y.v));
  return {x.builder, x.loc, v, x.t};
}

IrScalar compare(const IrScalar& x, const IrScalar& y, arith::CmpFPredicate f, arith::CmpIPredicate s,
                 arith::CmpIPredicate u) {
  OpBuilder& b = *x.builder;
  Value v = isFloat(x) ? Value(arith::CmpFOp::create(b, x.loc, f, x.v, y.v))
                       : Value(arith::CmpIOp::create(b, x.loc, isUnsigned(x) ? u : s, x.v, y.v));
  return {x.builder, x.loc, v, DType::bool_};
}

template <class Op>
IrScalar integerOp(const IrScalar& x, const IrScalar& y) {
  return {x.builder, x.loc, Op::create(*x.builder, x.loc, x.v, y.v), x.t};
}

template <class Op>
IrScalar unaryMath(const IrScalar& x) {
  return {x.builder, x.loc, Op::create(*x.builder, x.loc, x.v), x.t};
}

IrScalar constantAttr(const IrScalar& x, DType t, TypedAttr scalar) {
  Type type = likeType(x.v.getType(), scalar.getType());
  TypedAttr attr = scalar;
  if (auto vector = dyn_cast<VectorType>(type)) attr = DenseElementsAttr::get(vector, mlir::Attribute(scalar));
  return {x.builder, x.loc, arith::ConstantOp::create(*x.builder, x.loc, attr), t};
}

}  // namespace

IrScalar splatNumber(OpBuilder& b, mlir::Location loc, DenseElementsAttr splat, DType t) {
  mlir::Attribute value = splat.getSplatValue<mlir::Attribute>();
  if (auto integer = dyn_cast<IntegerAttr>(value))
    value = IntegerAttr::get(elementTypeOf(b.getContext(), t), integer.getValue());
  return {&b, loc, arith::ConstantOp::create(b, loc, cast<TypedAttr>(value)), t};
}

IrScalar operator+(const IrScalar& x, const IrScalar& y) { return arithmetic<arith::AddFOp, arith::AddIOp>(x, y); }
IrScalar operator-(const IrScalar& x, const IrScalar& y) { return arithmetic<arith::SubFOp, arith::SubIOp>(x, y); }
IrScalar operator*(const IrScalar& x, const IrScalar& y) { return arithmetic<arith::MulFOp, arith::MulIOp>(x, y); }
IrScalar operator/(const IrScalar& x, const IrScalar& y) {
  return isUnsigned(x) ? integerOp<arith::DivUIOp>(x, y) : arithmetic<arith::DivFOp, arith::DivSIOp>(x, y);
}
IrScalar operator-(const IrScalar& x) {
  if (isFloat(x)) return unaryMath<arith::NegFOp>(x);
  return constant(x, 0) - x;
}
IrScalar remainder(const IrScalar& x, const IrScalar& y) {
  return isUnsigned(x) ? integerOp<arith::RemUIOp>(x, y) : arithmetic<arith::RemFOp, arith::RemSIOp>(x, y);
}

#define KILN_COMPARE(op, f, i)                                                                             \
  IrScalar operator op(const IrScalar& x, const IrScalar& y) {                                             \
    return compare(x, y, arith::CmpFPredicate::f, arith::CmpIPredicate::s##i, arith::CmpIPredicate::u##i); \
  }
KILN_COMPARE(<, OLT, lt)
KILN_COMPARE(<=, OLE, le)
KILN_COMPARE(>, OGT, gt)
KILN_COMPARE(>=, OGE, ge)
#undef KILN_COMPARE
IrScalar operator==(const IrScalar& x, const IrScalar& y) {
  return compare(x, y, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq, arith::CmpIPredicate::eq);
}
IrScalar operator!=(const IrScalar& x, const IrScalar& y) {
  return compare(x, y, arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne, arith::CmpIPredicate::ne);
}

IrScalar operator&(const IrScalar& x, const IrScalar& y) { return integerOp<arith::AndIOp>(x, y); }
IrScalar operator|(const IrScalar& x, const IrScalar& y) { return integerOp<arith::OrIOp>(x, y); }
IrScalar operator^(const IrScalar& x, const IrScalar& y) { return integerOp<arith::XOrIOp>(x, y); }
IrScalar operator~(const IrScalar& x) { return x ^ constant_bits(x, x.t, ~uint64_t{0}); }
IrScalar shift_left(const IrScalar& x, const IrScalar& y) { return integerOp<arith::ShLIOp>(x, y); }
IrScalar shift_right_logical(const IrScalar& x, const IrScalar& y) { return integerOp<arith::ShRUIOp>(x, y); }
IrScalar shift_right_arithmetic(const IrScalar& x, const IrScalar& y) { return integerOp<arith::ShRSIOp>(x, y); }
IrScalar multiply_high(const IrScalar& x, const IrScalar& y) {
  auto op = arith::MulUIExtendedOp::create(*x.builder, x.loc, x.v, y.v);
  return {x.builder, x.loc, op.getHigh(), x.t};
}

IrScalar select(const IrScalar& c, const IrScalar& x, const IrScalar& y) {
  return {x.builder, x.loc, arith::SelectOp::create(*x.builder, x.loc, c.v, x.v, y.v), x.t};
}

IrScalar constant_bits(const IrScalar& x, DType t, uint64_t bits) {
  Type type = elementTypeOf(x.builder->getContext(), t);
  unsigned width = type.getIntOrFloatBitWidth();
  APInt value(width, bits, /*isSigned=*/false, /*implicitTrunc=*/true);
  if (auto f = dyn_cast<FloatType>(type))
    return constantAttr(x, t, FloatAttr::get(f, APFloat(f.getFloatSemantics(), value)));
  return constantAttr(x, t, IntegerAttr::get(type, value));
}

IrScalar constant_of(const IrScalar& x, DType t, double v) {
  Type type = elementTypeOf(x.builder->getContext(), t);
  if (isa<FloatType>(type)) return constantAttr(x, t, FloatAttr::get(type, v));
  return constant_of(x, t, static_cast<int64_t>(v));
}

IrScalar constant_of(const IrScalar& x, DType t, int64_t v) {
  if (is_floating(t)) return constant_of(x, t, static_cast<double>(v));
  return constant_bits(x, t, static_cast<uint64_t>(v));
}

IrScalar convert(const IrScalar& x, DType t) {
  if (x.t == t) return x;
  OpBuilder& b = *x.builder;
  if (t == DType::bool_) return x != constant(x, 0);
  Type to = likeType(x.v.getType(), elementTypeOf(b.getContext(), t));
  unsigned width = elementTypeOf(b.getContext(), t).getIntOrFloatBitWidth();
  unsigned from = elementTypeOf(b.getContext(), x.t).getIntOrFloatBitWidth();
  auto result = [&](Value v) { return IrScalar{x.builder, x.loc, v, t}; };
  if (isFloat(x) && is_floating(t))
    return result(width > from ? Value(arith::ExtFOp::create(b, x.loc, to, x.v))
                               : Value(arith::TruncFOp::create(b, x.loc, to, x.v)));
  if (isFloat(x)) {  // saturates, NaN -> 0
    const char* name = info(t).kind == DTypeKind::unsigned_int ? "llvm.fptoui.sat" : "llvm.fptosi.sat";
    return result(LLVM::CallIntrinsicOp::create(b, x.loc, to, b.getStringAttr(name), ValueRange{x.v}).getResult(0));
  }
  if (is_floating(t))
    return result(isUnsigned(x) ? Value(arith::UIToFPOp::create(b, x.loc, to, x.v))
                                : Value(arith::SIToFPOp::create(b, x.loc, to, x.v)));
  if (width == from) return result(x.v);
  if (width < from) return result(arith::TruncIOp::create(b, x.loc, to, x.v));
  return result(isUnsigned(x) ? Value(arith::ExtUIOp::create(b, x.loc, to, x.v))
                              : Value(arith::ExtSIOp::create(b, x.loc, to, x.v)));
}

IrScalar bitcast(const IrScalar& x, DType t) {
  Type to = likeType(x.v.getType(), elementTypeOf(x.builder->getContext(), t));
  if (to == x.v.getType()) return {x.builder, x.loc, x.v, t};
  return {x.builder, x.loc, arith::BitcastOp::create(*x.builder, x.loc, to, x.v), t};
}

IrScalar fma(const IrScalar& x, const IrScalar& y, const IrScalar& z) {
  return {x.builder, x.loc, math::FmaOp::create(*x.builder, x.loc, x.v, y.v, z.v), x.t};
}
IrScalar sqrt(const IrScalar& x) { return unaryMath<math::SqrtOp>(x); }
IrScalar abs(const IrScalar& x) {
  if (isFloat(x)) return unaryMath<math::AbsFOp>(x);
  return isUnsigned(x) ? x : select(x < constant(x, 0), -x, x);
}
IrScalar floor(const IrScalar& x) { return unaryMath<math::FloorOp>(x); }
IrScalar ceil(const IrScalar& x) { return unaryMath<math::CeilOp>(x); }
IrScalar trunc(const IrScalar& x) { return unaryMath<math::TruncOp>(x); }
IrScalar round_even(const IrScalar& x) { return unaryMath<math::RoundEvenOp>(x); }
IrScalar copysign(const IrScalar& x, const IrScalar& y) {
  return {x.builder, x.loc, math::CopySignOp::create(*x.builder, x.loc, x.v, y.v), x.t};
}

#define KILN_DEFINE(name, Op) \
  IrScalar name(const IrScalar& x) { return unaryMath<math::Op>(x); }
KILN_FOR_EACH_UNARY_FUNCTION(KILN_DEFINE)
#undef KILN_DEFINE
#define KILN_DEFINE(name, Op)                                                      \
  IrScalar name(const IrScalar& x, const IrScalar& y) {                            \
    return {x.builder, x.loc, math::Op::create(*x.builder, x.loc, x.v, y.v), x.t}; \
  }
KILN_FOR_EACH_BINARY_FUNCTION(KILN_DEFINE)
#undef KILN_DEFINE

}  // namespace kiln::compiler
