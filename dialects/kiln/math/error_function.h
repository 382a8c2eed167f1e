// erf and erfc.
#pragma once
#include "dialects/kiln/math/exponential.h"

namespace kiln::strict {

// erfc(a) for a >= 0.6: e^(-a^2) times a polynomial in t = (a-k)/(a+k), over 1+2a (Shepherd and Laframboise 1981).
template <class S>
S erfc_positive(S a) {
  bool single = dtype(a) == DType::f32;
  S b = at_most(a, single ? 11.0 : 28.0);
  S square = b * b;
  S low = fma(b, b, -square);
  S k = constant(a, single ? 2.0 : 5.0), one = constant(a, 1.0);
  S t = (b - k) / (b + k);
  S g = polynomial(t, pick(a, erfc_f32, erfc_f64)) / fma(b, constant(a, 2.0), one);
  return exp_times(-square, -low, g);
}

// erf x for |x| <= 1, from z = x^2.
template <class S>
S erf_small(S x, S z) {
  return fma(x, polynomial(z, pick(x, erf_f32, erf_f64)), x);
}

// 1 - erf x without loss for large x.
template <class S>
S erfc(S x) {
  S a = abs(x);
  S tail = erfc_positive(a);
  S far = select(x < constant(x, 0.0), constant(x, 2.0) - tail, tail);
  // Outside its range the polynomial may overflow; it is not used there.
  return select(a < constant(x, 0.625), constant(x, 1.0) - erf_small(x, x * x), far);
}

// erf x: an odd polynomial up to 1, then 1 - erfc. f32: erfc as the fourth power of a polynomial, 30 operations.
template <class S>
S erf(S x) {
  bool single = dtype(x) == DType::f32;
  S a = at_most(abs(x), single ? 3.92 : 6.0);
  S z = a * a;
  S small = erf_small(a, z);
  S tail = a;
  if (single) {
    S root = polynomial(a - constant(x, 2.46), erfc_root_f32);
    root = root * root;
    tail = root * root;
  } else {
    tail = erfc_positive(a);
  }
  S one = constant(x, 1.0);
  return copysign(select(a < one, small, one - tail), x);
}

}  // namespace kiln::strict
