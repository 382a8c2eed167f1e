// exp and its kin. Method: x = n ln2 + r (Cody and Waite), a minimax polynomial (fit.py) for exp(r), scaled by 2^n.
#pragma once
#include "dialects/kiln/math/parts.h"

namespace kiln::strict {

// e^r - 1 on |r| <= ln2/2, with small relative error.
template <class S>
S expm1_polynomial(S r) {
  std::span<const double> c = pick(r, exp_f32, exp_f64);
  return fma(r * r, polynomial(r, c.subspan(2)), r);
}

// e^x, subnormal results kept, inf on overflow. f32: 20 operations.
template <class S>
S exp(S x) {
  bool single = dtype(x) == DType::f32;
  S y = at_least(at_most(x, single ? 89.0 : 710.0), single ? -104.0 : -746.0);
  auto parts = split_by_ln2(y, 2 * layout_of(dtype(x)).bias);
  return scale_in_two_steps(polynomial(parts.r, pick(x, exp_f32, exp_f64)), parts.bits);
}

// e^(x + low) times y, where x <= 0 and low is small beside 1: for products whose exponent needs more bits than one
// float.
template <class S>
S exp_times(S x, S low, S y) {
  S z = at_least(x, dtype(x) == DType::f32 ? -120.0 : -760.0);
  auto parts = split_by_ln2(z, 2 * layout_of(dtype(x)).bias);
  S p = polynomial(parts.r + low, pick(x, exp_f32, exp_f64));
  return scale_in_two_steps(p * y, parts.bits);
}

// 2^x; exact for whole x.
template <class S>
S exp2(S x) {
  bool single = dtype(x) == DType::f32;
  S y = at_least(at_most(x, single ? 129.0 : 1025.0), single ? -151.0 : -1076.0);
  FloatLayout layout = layout_of(dtype(x));
  S magic = constant(x, (single ? 0x1.8p23 : 0x1.8p52) + 2 * layout.bias);
  S t = y + magic;
  S r = y - (t - magic);
  return scale_in_two_steps(polynomial(r, pick(x, exp2_f32, exp2_f64)), bitcast(t, layout.integer));
}

// (e^a - 1)/4 and e^a/4, a <= 89 or 711: a quarter, so that the power of two stays finite up to twice the largest
// float.
template <class S>
struct QuarterExp {
  S minus_one;
  S whole;
};
template <class S>
QuarterExp<S> quarter_exp(S a) {
  auto parts = split_by_ln2(a, layout_of(dtype(a)).bias - 2);
  S scale = from_exponent_bits(parts.bits, dtype(a));
  S p = expm1_polynomial(parts.r);
  return {fma(scale, p, scale - constant(a, 0.25)), fma(scale, p, scale)};
}

// e^x - 1 without loss near 0.
template <class S>
S expm1(S x) {
  bool single = dtype(x) == DType::f32;
  S y = at_least(at_most(x, single ? 89.0 : 710.0), single ? -20.0 : -50.0);
  S result = quarter_exp(y).minus_one * constant(x, 4.0);
  return select(abs(x) < constant(x, single ? 0x1p-26 : 0x1p-55), x, result);
}

}  // namespace kiln::strict
