// pow, cbrt, rsqrt.
#pragma once
#include "dialects/kiln/math/parts.h"

namespace kiln::strict {

// A number as the sum of two floats, the second below the last bit of the first.
template <class S>
struct Pair {
  S high, low;
};
template <class S>
Pair<S> fast_two_sum(S x, S y) {  // |x| >= |y|
  S sum = x + y;
  return {sum, y - (sum - x)};
}
template <class S>
Pair<S> two_product(S x, S y) {
  S product = x * y;
  return {product, fma(x, y, -product)};
}

// log2 x of an f64 x > 0 to some 2^-68 relative: 2 atanh(s), s = (m-1)/(m+1), the first two terms in pairs.
template <class S>
Pair<S> log2_pair(S x) {
  auto [m, e] = split_exponent(x);
  S one = constant(x, 1.0);
  S f = m - one;
  auto bottom = fast_two_sum(constant(x, 2.0), f);
  S s = f / bottom.high;
  S s_low = (fma(-s, bottom.high, f) - s * bottom.low) / bottom.high;
  auto z = two_product(s, s);
  z.low = fma(s + s, s_low, z.low);
  // c = 1/3 + z q(z); atanh(s)/s = 1 + z c.
  auto c = fast_two_sum(constant(x, third_f64[0]), z.high * polynomial(z.high, log_tail_f64));
  c.low = c.low + constant(x, third_f64[1]);
  auto product = two_product(z.high, c.high);
  product.low = product.low + fma(z.high, c.low, z.low * c.high);
  auto factor = fast_two_sum(one, product.high);
  factor.low = factor.low + product.low;
  // 2 s factor log2(e)
  auto scaled = two_product(s + s, factor.high);
  scaled.low = scaled.low + fma(s + s, factor.low, (s_low + s_low) * factor.high);
  S log2e = constant(x, log2e_f64[0]);
  auto log = two_product(scaled.high, log2e);
  log.low = log.low + fma(scaled.high, constant(x, log2e_f64[1]), scaled.low * log2e);
  auto sum = fast_two_sum(e, log.high);  // e is 0 or the larger
  return fast_two_sum(sum.high, sum.low + log.low);
}

// The same in one f64 to 2^-44, enough for f32 results.
template <class S>
Pair<S> log2_short(S x) {
  auto [m, e] = split_exponent(x);
  S f = m - constant(x, 1.0);
  S s = f / (f + constant(x, 2.0));
  S z = s * s;
  S log = s * fma(z, polynomial(z, log_short_f64), constant(x, 2.0));
  return {fma(log, constant(x, log2e_f64[0]), e), constant(x, 0.0)};
}

// |x|^y in f64 for x > 0, inf and 0 at the ends.
template <class S>
S power_of_positive(S a, S y, bool single) {
  S zero = constant(a, 0.0);
  auto log = single ? log2_short(a) : log2_pair(a);
  S log_high = select(a == zero, -infinity(a), select(a < infinity(a), log.high, a));
  S high = y * log_high;
  S usable = abs(high) < constant(a, 1100.0);
  S p = at_least(at_most(high, 1100.0), -1100.0);
  S magic = constant(a, 0x1.8p52 + 2046);
  S t = p + magic;
  S r = p - (t - magic);
  if (!single) r = r + select(usable, fma(y, log_high, -high) + y * log.low, zero);
  return scale_in_two_steps(polynomial(r, exp2_f64), bitcast(t, DType::i64));
}

// x^y with the signs and special values of C99; f64.
template <class S>
S signed_power(S x, S y, bool single) {
  S one = constant(x, 1.0), zero = constant(x, 0.0), half = constant(x, 0.5);
  S a = abs(x);
  S magnitude = power_of_positive(a, y, single);
  magnitude = select((a == one) & (y == y), one, magnitude);
  S whole = trunc(y) == y;
  S half_y = y * half;
  S odd = whole & (trunc(half_y) != half_y);
  S result = select(odd, copysign(magnitude, x), magnitude);
  S undefined = (x < zero) & (x > -infinity(x)) & ~whole;
  result = select(undefined, not_a_number(x), result);
  return select((x == one) | (y == zero), one, result);
}

// x to the power y, with C99's special values: pow(x, 0) = pow(1, y) = 1, NaN for x < 0 and fractional y, signs of odd
// y.
template <class S>
S pow(S x, S y) {
  bool single = dtype(x) == DType::f32;
  if (single) {
    S wide = signed_power(convert(x, DType::f64), convert(y, DType::f64), true);
    return convert(wide, DType::f32);
  }
  return signed_power(x, y, false);
}

// The real cube root. x = m 2^(3q + r): a cubic for cbrt(m), then Halley's and Newton's steps.
template <class S>
S cbrt(S x) {
  bool single = dtype(x) == DType::f32;
  return in_f64(
      [&](S y) {
        S a = abs(y), one = constant(y, 1.0), zero = constant(y, 0.0), two = constant(y, 2.0);
        auto [m, e] = split_exponent(a);
        S magic = constant(y, 0x1.8p52 + 1023);
        S t = fma(e, constant(y, 1.0 / 3.0), magic);
        S q = t - magic;
        S r = fma(q, constant(y, -3.0), e);  // -1, 0 or 1
        S up = r > zero, down = r < zero;
        S v = m * select(up, two, select(down, constant(y, 0.5), one));
        S root = polynomial(m, cbrt_f64) *
                 select(up, constant(y, cbrt2_f64[1]), select(down, constant(y, cbrt2_f64[0]), one));
        S cube = root * root * root;
        root = root * ((cube + two * v) / (two * cube + v));
        if (!single) {
          auto square = two_product(root, root);
          S residue = fma(square.high, root, -v) + square.low * root;
          root = root - residue / (constant(y, 3.0) * square.high);
        }
        S result = copysign(root * from_exponent_bits(bitcast(t, DType::i64), DType::f64), y);
        return select((a > zero) & (a < infinity(y)), result, y);
      },
      x);
}

// 1 / sqrt(x), each rounded.
template <class S>
S rsqrt(S x) {
  return constant(x, 1.0) / sqrt(x);
}

}  // namespace kiln::strict
