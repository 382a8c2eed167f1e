// log and its kin. Method: x = m 2^e with m around 1 (fdlibm's and Cephes' forms), minimax polynomials from fit.py.
#pragma once
#include "dialects/kiln/math/parts.h"

namespace kiln::strict {

// What C99 Annex F says of logarithms outside (0, inf): log(0) = -inf, log(<0) = NaN, log(inf) = inf, NaN stays.
template <class S>
S log_special_cases(S x, S result) {
  S zero = constant(x, 0.0);
  result = select(x < infinity(x), result, x);
  return select(x > zero, result, select(x == zero, -infinity(x), not_a_number(x)));
}

// log(1+f) = f + tail for sqrt(1/2) <= 1+f <= sqrt(2).
template <class S>
S log_tail(S f) {
  if (dtype(f) == DType::f32) {
    S z = f * f;
    return fma(z, constant(f, -0.5), f * z * polynomial(f, log_f32));
  }
  S s = f / (f + constant(f, 2.0));
  S z = s * s;
  S square = constant(f, 0.5) * f * f;
  return s * (square + z * polynomial(z, log_f64)) - square;
}

// log(1+f) + e ln2.
template <class S>
S log_sum(S f, S e) {
  std::span<const double> ln2 = pick(f, ln2_f32, ln2_f64);
  return fma(e, constant(f, ln2[0]), f + fma(e, constant(f, ln2[1]), log_tail(f)));
}

// ln x, subnormals included.
template <class S>
S log(S x) {
  auto [m, e] = split_exponent(x);
  return log_special_cases(x, log_sum(m - constant(x, 1.0), e));
}

// log2 x; exact for powers of two.
template <class S>
S log2(S x) {
  auto [m, e] = split_exponent(x);
  std::span<const double> c = pick(x, log2e_f32, log2e_f64);
  S high = constant(x, c[0]);
  S f = m - constant(x, 1.0);
  S low = fma(log_tail(f), high, f * constant(x, c[1]));
  // f high + low in two parts, so that adding e costs one rounding.
  S product = f * high;
  low = low + fma(f, high, -product);
  return log_special_cases(x, (e + product) + (((e - (e + product)) + product) + low));
}

// log10 x.
template <class S>
S log10(S x) {
  auto [m, e] = split_exponent(x);
  std::span<const double> c = pick(x, log10e_f32, log10e_f64), two = pick(x, log10_2_f32, log10_2_f64);
  S high = constant(x, c[0]);
  S f = m - constant(x, 1.0);
  S low = fma(e, constant(x, two[1]), fma(log_tail(f), high, f * constant(x, c[1])));
  S product = f * high;
  low = low + fma(f, high, -product);
  S whole = e * constant(x, two[0]);  // exact: log10(2)'s first part is short
  S sum = whole + product;
  return log_special_cases(x, sum + (((whole - sum) + product) + low));
}

// log(1 + x) for x >= -1, from m 2^e = 1 + x rounded and the rounding error carried along.
template <class S>
S log1p_core(S x) {
  S one = constant(x, 1.0);
  S u = one + x;
  S from_x = u - one;
  S error = (one - (u - from_x)) + (x - from_x);
  auto [m, e] = split_exponent(u);
  FloatLayout layout = layout_of(dtype(x));
  // 2^-e; e >= -mantissa_bits - 1, and where it is so large that 2^-e underflows, the error no longer matters.
  S magic = constant(x, (dtype(x) == DType::f32 ? 0x1.8p23 : 0x1.8p52) + layout.bias);
  S scale = from_exponent_bits(bitcast(magic - at_most(e, layout.bias), layout.integer), dtype(x));
  return log_sum(fma(error, scale, m - one), e);
}

// ln(1 + x) without loss near 0.
template <class S>
S log1p(S x) {
  S result = log_special_cases(x + constant(x, 1.0), log1p_core(x));
  return select(abs(x) < constant(x, dtype(x) == DType::f32 ? 0x1p-25 : 0x1p-54), x, result);
}

}  // namespace kiln::strict
