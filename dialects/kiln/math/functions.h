// The math functions over S: every mode of Kiln computes them with this text, so eager, compiled and reference
// results agree bit for bit. f32 and f64. Operations used: + - * / fma sqrt, comparisons, select, bit casts,
// conversions, integer operations; no branch depends on a value. Special values are those of C99 Annex F, subnormals
// are kept. Largest errors, checked by test/unit/math_test.cpp: see the tables below.
#pragma once
#include "dialects/kiln/math/error_function.h"
#include "dialects/kiln/math/exponential.h"
#include "dialects/kiln/math/hyperbolic.h"
#include "dialects/kiln/math/logarithm.h"
#include "dialects/kiln/math/power.h"
#include "dialects/kiln/math/trigonometric.h"

// X(name, largest error in ulp for f32, for f64)
#define KILN_FOR_EACH_UNARY_MATH(X) \
  X(exp, 1, 1)                      \
  X(exp2, 1, 1)                     \
  X(expm1, 2, 2)                    \
  X(log, 1, 1)                      \
  X(log2, 2, 2)                     \
  X(log10, 1, 1)                    \
  X(log1p, 2, 2)                    \
  X(sin, 1, 1)                      \
  X(cos, 1, 2)                      \
  X(tan, 1, 3)                      \
  X(asin, 1, 3)                     \
  X(acos, 1, 2)                     \
  X(atan, 1, 2)                     \
  X(sinh, 1, 3)                     \
  X(cosh, 1, 2)                     \
  X(tanh, 3, 3)                     \
  X(asinh, 1, 3)                    \
  X(acosh, 1, 3)                    \
  X(atanh, 1, 3)                    \
  X(erf, 2, 2)                      \
  X(erfc, 4, 4)                     \
  X(cbrt, 1, 1)                     \
  X(rsqrt, 2, 2)
#define KILN_FOR_EACH_BINARY_MATH(X) \
  X(pow, 1, 1)                       \
  X(atan2, 1, 2)
