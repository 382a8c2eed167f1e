// Trigonometric functions and their inverses, computed in f64 (f32 is converted: at most 0.51 ulp).
#pragma once
#include "dialects/kiln/math/parts.h"

namespace kiln::strict {

// x = n pi/2 + r + low with |r| <= pi/4 (0.88 for the largest f64, where 2/pi is not known well enough for n) and |low|
// far below r's last bit; `quadrant`: i64 whose lowest 2 bits are n mod 4.
template <class S>
struct HalfPiParts {
  S quadrant;
  S r;
  S low;
};

// x: f64 with at most 24 significant bits (a converted f32) of any size. n and r come from the fraction of x 2/pi, of
// which only the bits that matter for x's exponent are multiplied (Payne and Hanek); the bits are picked by selects.
template <class S>
HalfPiParts<S> split_by_half_pi_short(S x) {
  S a = abs(x);
  auto bits = [&](int window, int part) { return constant(x, two_over_pi_windows[window][part]); };
  S c[3] = {bits(0, 0), bits(0, 1), bits(0, 2)};
  constexpr double limits[] = {0, 0x1p48, 0x1p75, 0x1p102};
  for (int window = 1; window < 4; ++window) {
    S beyond = a >= constant(x, limits[window]);
    for (int part = 0; part < 3; ++part) c[part] = select(beyond, bits(window, part), c[part]);
  }
  S first = x * c[0];  // exact, as is the next
  first = fma(round_even(first * constant(x, 0.25)), constant(x, -4.0), first);
  S second = x * c[1];
  S magic = constant(x, 0x1.8p52);
  S t = (first + second) + magic;
  S n = t - magic;
  S fraction = fma(x, c[2], (first - n) + second);
  return {bitcast(t, DType::i64), fraction * constant(x, half_pi_f64[0]), constant(x, 0.0)};
}

// x: any f64 with |x| <= 2^51. Cody and Waite with pi/2 in three parts; r - n pi2 is kept in two floats.
template <class S>
HalfPiParts<S> split_by_half_pi(S x) {
  S magic = constant(x, 0x1.8p52);
  S t = fma(x, constant(x, two_over_pi_f64[0]), magic);
  S n = t - magic;
  S first = fma(n, constant(x, -half_pi_f64[0]), x);  // exact
  S second = n * constant(x, half_pi_f64[1]);
  S second_low = fma(n, constant(x, half_pi_f64[1]), -second);
  S difference = first - second;
  S back = difference - first;
  S error = (first - (difference - back)) - (second + back);  // of the subtraction, exact
  S low = fma(n, constant(x, -half_pi_f64[2]), error - second_low);
  S r = difference + low;
  return {bitcast(t, DType::i64), r, (difference - r) + low};
}

// sin and cos of r + low, |r| <= 0.787 (single) or 0.88.
template <class S>
struct SinCos {
  S sin, cos;
};
template <class S>
SinCos<S> sin_cos_kernel(S r, S low, bool single) {
  std::span<const double> sines = single ? std::span<const double>(sin_short_f64) : sin_f64;
  std::span<const double> cosines = single ? std::span<const double>(cos_short_f64) : cos_f64;
  S one = constant(r, 1.0), half = constant(r, 0.5);
  S z = r * r;
  S sin = r + fma(z * r, polynomial(z, sines), low);
  S square = half * z;
  S w = one - square;
  S tail = (one - w) - square;
  S cos = w + (tail + fma(z * z, polynomial(z, cosines), -(r * low)));
  return {sin, cos};
}

// sin(x + shift pi/2) in f64; `single`: x has 24 bits and 30 bits of the result are enough.
template <class S>
S shifted_sin(S x, int shift, bool single) {
  auto parts = single ? split_by_half_pi_short(x) : split_by_half_pi(x);
  auto [sin, cos] = sin_cos_kernel(parts.r, parts.low, single);
  S n = parts.quadrant;
  if (shift) n = n + constant(n, int64_t{shift});
  S one = constant(n, int64_t{1}), two = constant(n, int64_t{2});
  S value = select((n & one) == one, cos, sin);
  S result = bitcast(bitcast(value, DType::i64) ^ shifted_left(n & two, 62), DType::f64);
  if (single) return result;
  return select(abs(x) <= constant(x, 0x1p51), result, not_a_number(x));
}

// sin x. f32: any x. f64: |x| <= 2^51 (beyond that neighbours are half a radian and more apart), NaN for larger ones.
template <class S>
S sin(S x) {
  bool single = dtype(x) == DType::f32;
  S result = in_f64([&](S y) { return shifted_sin(y, 0, single); }, x);
  return select(x == constant(x, 0.0), x, result);
}

// cos x, range as sin.
template <class S>
S cos(S x) {
  bool single = dtype(x) == DType::f32;
  return in_f64([&](S y) { return shifted_sin(y, 1, single); }, x);
}

// tan x, range as sin.
template <class S>
S tan(S x) {
  bool single = dtype(x) == DType::f32;
  S result = in_f64(
      [&](S y) {
        auto parts = single ? split_by_half_pi_short(y) : split_by_half_pi(y);
        auto [sin, cos] = sin_cos_kernel(parts.r, parts.low, single);
        S one = constant(parts.quadrant, int64_t{1});
        S odd = (parts.quadrant & one) == one;
        S quotient = select(odd, -cos, sin) / select(odd, sin, cos);
        return single ? quotient : select(abs(y) <= constant(y, 0x1p51), quotient, not_a_number(y));
      },
      x);
  return select(x == constant(x, 0.0), x, result);
}

// asin(s) - s for |s| <= 1/2 and z = s^2.
template <class S>
S asin_tail(S s, S z) {
  return s * z * polynomial(z, asin_f64);
}

// asin x; NaN outside [-1, 1]. Above 1/2: pi/2 - 2 asin(sqrt((1-x)/2)).
template <class S>
S asin(S x) {
  return in_f64(
      [](S y) {
        S a = abs(y), half = constant(y, 0.5);
        S big = a > half;
        S z = select(big, (constant(y, 1.0) - a) * half, y * y);
        S s = select(big, sqrt(z), a);
        S tail = asin_tail(s, z);
        S complement = constant(y, half_pi_f64[0]) - fma(constant(y, 2.0), s + tail, constant(y, -half_pi_f64[1]));
        return copysign(select(big, complement, s + tail), y);
      },
      x);
}

// acos x; NaN outside [-1, 1].
template <class S>
S acos(S x) {
  return in_f64(
      [](S y) {
        S a = abs(y), half = constant(y, 0.5), zero = constant(y, 0.0);
        S big = a > half;
        S z = select(big, (constant(y, 1.0) - a) * half, y * y);
        S s = select(big, sqrt(z), y);
        S tail = asin_tail(s, z);
        S middle = constant(y, half_pi_f64[0]) - (s + (tail - constant(y, half_pi_f64[1])));
        S twice = constant(y, 2.0) * (s + tail);
        S left = constant(y, 2.0 * half_pi_f64[0]) - (twice - constant(y, 2.0 * half_pi_f64[1]));
        return select(big, select(y < zero, left, twice), middle);
      },
      x);
}

// atan(numerator / denominator), both >= 0 and neither both 0-or-inf, as base + t + ...: in two parts.
template <class S>
S atan_of_ratio(S numerator, S denominator) {
  constexpr double tan_pi_8 = 0x1.a827999fcef32p-2, tan_3pi_8 = 0x1.3504f333f9de6p+1;
  S zero = constant(numerator, 0.0);
  S steep = numerator > denominator * constant(numerator, tan_3pi_8);
  S middle = numerator > denominator * constant(numerator, tan_pi_8);
  S top = select(steep, -denominator, select(middle, numerator - denominator, numerator));
  S bottom = select(steep, numerator, select(middle, numerator + denominator, denominator));
  S t = top / select(bottom == zero, constant(numerator, 1.0), bottom);
  S z = t * t;
  S tail = t * z * polynomial(z, atan_f64);
  auto base = [&](int part) {
    S half_pi = constant(numerator, half_pi_f64[part]), quarter_pi = constant(numerator, half_pi_f64[part] / 2);
    return select(steep, half_pi, select(middle, quarter_pi, zero));
  };
  return base(0) + (t + (tail + base(1)));
}

// atan x.
template <class S>
S atan(S x) {
  return in_f64([](S y) { return copysign(atan_of_ratio(abs(y), constant(y, 1.0)), y); }, x);
}

// The angle of the point (x, y), as C's atan2.
template <class S>
S atan2(S y, S x) {
  if (dtype(x) == DType::f32) return convert(strict::atan2(convert(y, DType::f64), convert(x, DType::f64)), DType::f32);
  S a = abs(y), b = abs(x), one = constant(x, 1.0);
  S both = (a == infinity(x)) & (b == infinity(x));
  a = select(both, one, a);
  b = select(both, one, b);
  // Powers of two keep sums finite and quotients of tiny numbers exact.
  S larger = select(a > b, a, b);
  S scale = select(larger > constant(x, 0x1p1000), constant(x, 0x1p-60),
                   select(larger < constant(x, 0x1p-900), constant(x, 0x1p100), one));
  S angle = atan_of_ratio(a * scale, b * scale);
  S left = constant(x, 2.0 * half_pi_f64[0]) - (angle - constant(x, 2.0 * half_pi_f64[1]));
  S negative = copysign(one, x) < constant(x, 0.0);
  return copysign(select(negative, left, angle), y);
}

}  // namespace kiln::strict
