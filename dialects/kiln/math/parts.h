// Small parts the math functions share. S is the scalar of scalar.h.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "dialects/kiln/math/coefficients.h"
#include "dialects/kiln/math/scalar.h"

namespace kiln::strict {

// c[0] + c[1] x + c[2] x^2 + ..., by Horner's rule with fma.
template <class S>
S polynomial(S x, std::span<const double> c) {
  S sum = constant(x, c.back());
  for (size_t i = c.size() - 1; i-- > 0;) sum = fma(sum, x, constant(x, c[i]));
  return sum;
}

// The coefficients for x's dtype.
template <class S>
std::span<const double> pick(S x, std::span<const double> single, std::span<const double> wide) {
  return dtype(x) == DType::f32 ? single : wide;
}

// f(x) computed in f64; f32 arguments and results are converted, which leaves 0.5 ulp.
template <class S, class F>
S in_f64(F f, S x) {
  return dtype(x) == DType::f32 ? convert(f(convert(x, DType::f64)), DType::f32) : f(x);
}

template <class S>
S infinity(S x) {
  return constant(x, std::numeric_limits<double>::infinity());
}
template <class S>
S not_a_number(S x) {
  return constant(x, std::numeric_limits<double>::quiet_NaN());
}

// NaN stays NaN in both.
template <class S>
S at_most(S x, double bound) {
  S b = constant(x, bound);
  return select(x > b, b, x);
}
template <class S>
S at_least(S x, double bound) {
  S b = constant(x, bound);
  return select(x < b, b, x);
}

// The integer type of the same width as a float, its mantissa bits and exponent bias.
struct FloatLayout {
  DType integer;
  int mantissa_bits;
  int bias;
};
inline FloatLayout layout_of(DType t) {
  return t == DType::f32 ? FloatLayout{DType::i32, 23, 127} : FloatLayout{DType::i64, 52, 1023};
}

// An integer x of i32 or i64 times/over a power of two, by constant shifts.
template <class S>
S shifted_left(S x, int count) {
  return shift_left(x, constant(x, int64_t{count}));
}
template <class S>
S shifted_right(S x, int count) {
  return shift_right_logical(x, constant(x, int64_t{count}));
}

// The float 2^(n - bias) from the integer n, 0 < n < 2 bias + 1. Higher bits of n than the exponent field has are lost.
template <class S>
S from_exponent_bits(S n, DType t) {
  return bitcast(shifted_left(n, layout_of(t).mantissa_bits), t);
}

// x = n ln2 + r with |r| <= ln2/2 and n a whole number: |n| < 2^21 (f32) or 2^50 (f64), for |x| at most some 1000.
// Adding `magic` = 1.5 * 2^mantissa + offset rounds to a whole number and leaves n + offset in the lowest bits: no
// float-to-integer conversion, which vectors of i64 lack.
template <class S>
struct Ln2Parts {
  S n;     // as a float
  S bits;  // integer whose low bits are n + offset; the bits above the 16th are those of `magic`
  S r;
};
template <class S>
Ln2Parts<S> split_by_ln2(S x, int offset) {
  std::span<const double> ln2 = pick(x, ln2_f32, ln2_f64);
  S magic = constant(x, (dtype(x) == DType::f32 ? 0x1.8p23 : 0x1.8p52) + offset);
  S t = fma(x, constant(x, pick(x, log2e_f32, log2e_f64)[0]), magic);
  S n = t - magic;
  S r = fma(n, constant(x, -ln2[0]), x);
  r = fma(n, constant(x, -ln2[1]), r);
  return {n, bitcast(t, layout_of(dtype(x)).integer), r};
}

// y 2^n for bits = n + 2 bias (as from split_by_ln2), n from 2 - 2 bias to 2 bias, y not subnormal: in two steps, so
// that results may be subnormal (rounded once) or overflow.
template <class S>
S scale_in_two_steps(S y, S bits) {
  S half = shifted_right(bits, 1);
  DType t = dtype(y);
  return y * from_exponent_bits(half, t) * from_exponent_bits(bits - half, t);
}

// A float x > 0 as m 2^e with sqrt(1/2) <= m < sqrt(2); subnormals included. Other x give no meaningful value.
template <class S>
struct MantissaAndExponent {
  S m;
  S e;  // a whole number, as a float
};
template <class S>
MantissaAndExponent<S> split_exponent(S x) {
  bool single = dtype(x) == DType::f32;
  FloatLayout layout = layout_of(dtype(x));
  S tiny = x < constant(x, single ? 0x1p-126 : 0x1p-1022);
  S normal = select(tiny, x * constant(x, single ? 0x1p23 : 0x1p52), x);
  S shift = select(tiny, constant(x, -layout.mantissa_bits - 1.0 - layout.bias), constant(x, -1.0 - layout.bias));
  S bits = bitcast(normal, layout.integer);
  // Biased so that the shifted value is never negative: k = e + bias + 1.
  uint64_t root = single ? 0x3f3504f3 : 0x3fe6a09e667f3bcd;  // sqrt(1/2)
  uint64_t one = uint64_t(layout.bias + 1) << layout.mantissa_bits;
  uint64_t mask = single ? 0xffffffff : ~uint64_t{0};
  S k = shifted_right(bits + constant_bits(bits, layout.integer, (one - root) & mask), layout.mantissa_bits);
  S m = bitcast(bits - shifted_left(k, layout.mantissa_bits) + constant_bits(bits, layout.integer, one), dtype(x));
  // k as a float by its place in the mantissa of 2^mantissa_bits.
  uint64_t base = uint64_t(layout.bias + layout.mantissa_bits) << layout.mantissa_bits;
  S e = bitcast(k | constant_bits(k, layout.integer, base), dtype(x)) - constant(x, single ? 0x1p23 : 0x1p52) + shift;
  return {m, e};
}

}  // namespace kiln::strict
