// Hyperbolic functions and their inverses.
#pragma once
#include "dialects/kiln/math/exponential.h"
#include "dialects/kiln/math/logarithm.h"

namespace kiln::strict {

// tanh x = -t/(2+t) with t = e^(-2|x|) - 1. 22 operations.
template <class S>
S tanh(S x) {
  S a = at_most(abs(x), dtype(x) == DType::f32 ? 10.0 : 20.0);
  auto parts = split_by_ln2(a * constant(x, -2.0), layout_of(dtype(x)).bias);
  S scale = from_exponent_bits(parts.bits, dtype(x));
  S t = fma(scale, expm1_polynomial(parts.r), scale - constant(x, 1.0));
  return copysign(t / (t + constant(x, 2.0)), x);
}

// Where sinh and cosh overflow in f64; f32 results overflow in the conversion.
inline constexpr double sinh_limit = 0x1.633ce8fb9f87dp+9;

// sinh x = (t + t/(t+1))/2 with t = e^|x| - 1, by quarters.
template <class S>
S sinh(S x) {
  return in_f64(
      [](S y) {
        S a = abs(y), limit = constant(y, sinh_limit), quarter = constant(y, 0.25);
        S q = quarter_exp(at_most(a, sinh_limit)).minus_one;
        S result = constant(y, 2.0) * fma(quarter, q / (q + quarter), q);
        result = select(a > limit, infinity(y), result);
        return select(a < constant(y, 0x1p-28), y, copysign(result, y));
      },
      x);
}

// cosh x = (e^|x| + e^-|x|)/2, by quarters.
template <class S>
S cosh(S x) {
  return in_f64(
      [](S y) {
        S a = abs(y);
        S q = quarter_exp(at_most(a, sinh_limit)).whole;
        S result = constant(y, 2.0) * (q + constant(y, 0.0625) / q);
        return select(a > constant(y, sinh_limit), infinity(y), result);
      },
      x);
}

// asinh x = strict::log1p(a + a^2/(1 + sqrt(a^2+1))), log(a) + ln2 for huge a.
template <class S>
S asinh(S x) {
  return in_f64(
      [](S y) {
        S a = abs(y), one = constant(y, 1.0);
        S huge = a > constant(y, 0x1p60);
        S square = a * a;
        S w = select(huge, a, a + square / (one + sqrt(square + one)));
        S result = strict::log1p(w) + select(huge, constant(y, ln2_f64[0] + ln2_f64[1]), constant(y, 0.0));
        return copysign(result, y);
      },
      x);
}

// acosh x = strict::log1p(t + sqrt(t (x+1))), t = x - 1; log(x) + ln2 for huge x; NaN below 1.
template <class S>
S acosh(S x) {
  return in_f64(
      [](S y) {
        S one = constant(y, 1.0);
        S huge = y > constant(y, 0x1p60);
        S t = y - one;
        S w = select(huge, y, t + sqrt(t * (y + one)));
        S result = strict::log1p(w) + select(huge, constant(y, ln2_f64[0] + ln2_f64[1]), constant(y, 0.0));
        return select(y < one, not_a_number(y), result);
      },
      x);
}

// atanh x = strict::log1p(2a/(1-a))/2; inf at 1, NaN beyond.
template <class S>
S atanh(S x) {
  return in_f64(
      [](S y) {
        S a = abs(y);
        S result = constant(y, 0.5) * strict::log1p((a + a) / (constant(y, 1.0) - a));
        return copysign(result, y);
      },
      x);
}

}  // namespace kiln::strict
