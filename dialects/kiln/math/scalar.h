// S: the dynamically typed scalar that op bodies and math functions are written over. Two types model it: IrScalar
// (compiler/lower/ir_scalar.h) emits MLIR on scalars or vectors, RefScalar (kernels/reference/ref_scalar.h) computes on
// the host. No operation here may be contracted, reassociated or approximated.
//
//   dtype(x)                             DType of x
//   x + y  x - y  x * y  -x              integers wrap
//   x / y                                floats: IEEE. integers: truncating; the caller rules out y = 0 and MIN / -1
//   remainder(x, y)                      integers: truncating, same rule. floats: C fmod
//   x < y  <=  >  >=  ==                 bool; false where either is NaN
//   x != y                               bool; true where either is NaN
//   x & y  x | y  x ^ y  ~x              bool and integers
//   shift_left(x, y) shift_right_logical(x, y) shift_right_arithmetic(x, y)   0 <= y < width
//   multiply_high(x, y)                  u32, u64: the upper half of the product
//   select(condition, x, y)
//   constant(x, v)                       the number v (double or int64_t) in x's dtype
//   constant_of(x, t, v)                 v in dtype t (x only carries the context)
//   constant_bits(x, t, bits)            uint64_t bit pattern in dtype t
//   convert(x, t)                        value conversion: int <-> int wraps or extends by the source's sign, bool from
//   x != 0,
//                                        int -> float rounds to nearest even, float -> int truncates and saturates, NaN
//                                        -> 0
//   bitcast(x, t)                        same width
//   fma(x, y, z)                         one rounding
//   sqrt(x) abs(x) floor(x) ceil(x) trunc(x) round_even(x)   floats, IEEE; abs also integers (wraps at MIN)
//   copysign(x, y)
//   exp(x) log(x) tanh(x) ...            the functions of functions.h: one name each, floats. Inside namespace strict
//   they call
//                                        each other as strict::name, so a type may map the bare names to ops of its own
//
// `if` on S is not possible: write select. A body must not divide integers by zero even in lanes it does not use.
#pragma once
#include "runtime/base/dtype.h"
