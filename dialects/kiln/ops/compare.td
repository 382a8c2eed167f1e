// Comparisons, logic, bits, choices and casts, element by element.
#ifndef KILN_COMPARE_TD
#define KILN_COMPARE_TD
include "dialects/kiln/ops/base.td"

def Kiln_EqualOp : Kiln_Comparison<"equal"> {
  let summary = "x == y; false where either is NaN.";
  let body = [{ return x == y; }];
  let numpy = "x == y";
  let example = "Tensor b = equal(Tensor{1.f, 5.f}, 5);  // [false, true]";
}
def Kiln_NotEqualOp : Kiln_Comparison<"not_equal"> {
  let summary = "x != y; true where either is NaN.";
  let body = [{ return x != y; }];
  let numpy = "x != y";
  let example = "Tensor b = not_equal(Tensor{1.f, 5.f}, 5);  // [true, false]";
}
def Kiln_LessOp : Kiln_Comparison<"less"> {
  let summary = "x < y; false where either is NaN.";
  let dtypes = numbers;
  let body = [{ return x < y; }];
  let numpy = "x < y";
  let example = "Tensor b = less(Tensor{1.f, 5.f}, 3);  // [true, false]";
}
def Kiln_LessEqualOp : Kiln_Comparison<"less_equal"> {
  let summary = "x <= y; false where either is NaN.";
  let dtypes = numbers;
  let body = [{ return x <= y; }];
  let numpy = "x <= y";
  let example = "Tensor b = less_equal(Tensor{1.f, 3.f}, 3);  // [true, true]";
}
def Kiln_GreaterOp : Kiln_Comparison<"greater"> {
  let summary = "x > y; false where either is NaN.";
  let dtypes = numbers;
  let body = [{ return x > y; }];
  let numpy = "x > y";
  let example = "Tensor b = greater(Tensor{1.f, 5.f}, 3);  // [false, true]";
}
def Kiln_GreaterEqualOp : Kiln_Comparison<"greater_equal"> {
  let summary = "x >= y; false where either is NaN.";
  let dtypes = numbers;
  let body = [{ return x >= y; }];
  let numpy = "x >= y";
  let example = "Tensor b = greater_equal(Tensor{1.f, 3.f}, 3);  // [false, true]";
}

class Kiln_Logical<string mnemonic> : Kiln_Binary<mnemonic> {
  let dtypes = ["bool"];
  let non_differentiable = "the result is bool";
}
def Kiln_LogicalAndOp : Kiln_Logical<"logical_and"> {
  let summary = "x and y.";
  let body = [{ return x & y; }];
  let numpy = "np.logical_and(x, y)";
  let example = "Tensor b = logical_and(x > 0, x < 1);";
}
def Kiln_LogicalOrOp : Kiln_Logical<"logical_or"> {
  let summary = "x or y.";
  let body = [{ return x | y; }];
  let numpy = "np.logical_or(x, y)";
  let example = "Tensor b = logical_or(x < 0, x > 1);";
}
def Kiln_LogicalXorOp : Kiln_Logical<"logical_xor"> {
  let summary = "Either x or y, not both.";
  let body = [{ return x ^ y; }];
  let numpy = "np.logical_xor(x, y)";
  let example = "Tensor b = logical_xor(x > 0, y > 0);";
}
def Kiln_LogicalNotOp : Kiln_Unary<"logical_not"> {
  let summary = "Not x.";
  let dtypes = ["bool"];
  let body = [{ return ~x; }];
  let non_differentiable = "the result is bool";
  let numpy = "np.logical_not(x)";
  let example = "Tensor b = logical_not(x > 0);";
}

class Kiln_FloatTest<string mnemonic> : Kiln_Unary<mnemonic> {
  let dtypes = floats;
  let result_dtype = [{DType::bool_}];
  let non_differentiable = "the result is bool";
}
def Kiln_IsNanOp : Kiln_FloatTest<"is_nan"> {
  let summary = "Whether x is NaN.";
  let body = [{ return x != x; }];
  let numpy = "np.isnan(x)";
  let example = "Tensor b = is_nan(Tensor{1.f, NAN});  // [false, true]";
}
def Kiln_IsInfOp : Kiln_FloatTest<"is_inf"> {
  let summary = "Whether x is inf or -inf.";
  let body = [{ return abs(x) == constant(x, std::numeric_limits<double>::infinity()); }];
  let numpy = "np.isinf(x)";
  let example = "Tensor b = is_inf(Tensor{1.f, -INFINITY});  // [false, true]";
}
def Kiln_IsFiniteOp : Kiln_FloatTest<"is_finite"> {
  let summary = "Whether x is neither NaN nor infinite.";
  let body = [{ return abs(x) < constant(x, std::numeric_limits<double>::infinity()); }];
  let numpy = "np.isfinite(x)";
  let example = "Tensor b = is_finite(Tensor{1.f, NAN});  // [true, false]";
}

class Kiln_Bitwise<string mnemonic> : Kiln_Binary<mnemonic> {
  let dtypes = ints;
  let non_differentiable = "of integers";
  let domain = ["-100", "100"];
}
def Kiln_BitwiseAndOp : Kiln_Bitwise<"bitwise_and"> {
  let summary = "The bits that are set in both x and y.";
  let dtypes = ["bool", "i32", "i64"];
  let body = [{ return x & y; }];
  let numpy = "np.bitwise_and(x, y)";
  let example = "Tensor z = bitwise_and(Tensor{6}, 3);  // [2]";
}
def Kiln_BitwiseOrOp : Kiln_Bitwise<"bitwise_or"> {
  let summary = "The bits that are set in x or y.";
  let dtypes = ["bool", "i32", "i64"];
  let body = [{ return x | y; }];
  let numpy = "np.bitwise_or(x, y)";
  let example = "Tensor z = bitwise_or(Tensor{6}, 3);  // [7]";
}
def Kiln_BitwiseXorOp : Kiln_Bitwise<"bitwise_xor"> {
  let summary = "The bits that are set in one of x and y.";
  let dtypes = ["bool", "i32", "i64"];
  let body = [{ return x ^ y; }];
  let numpy = "np.bitwise_xor(x, y)";
  let example = "Tensor z = bitwise_xor(Tensor{6}, 3);  // [5]";
}
def Kiln_InvertOp : Kiln_Unary<"invert"> {
  let summary = "All bits of x turned over; not x for bool.";
  let dtypes = ["bool", "i32", "i64"];
  let body = [{ return ~x; }];
  let non_differentiable = "of integers";
  let domain = ["-100", "100"];
  let numpy = "np.invert(x)";
  let example = "Tensor z = invert(Tensor{0, 5});  // [-1, -6]";
}
def Kiln_LeftShiftOp : Kiln_Bitwise<"left_shift"> {
  let summary = "x moved y bits to the left; 0 where y is negative or not below the width.";
  let body = [{
    const S width = constant(x, static_cast<int64_t>(8 * size_of(dtype(x))));
    const S inside = (y >= constant(y, 0)) & (y < width);
    return select(inside, shift_left(x, select(inside, y, constant(y, 0))), constant(x, 0));
  }];
  let domain = ["-100", "100", "0", "31"];
  let numpy = "np.left_shift(x, y)";
  let example = "Tensor z = left_shift(Tensor{1, 3}, 2);  // [4, 12]";
}
def Kiln_RightShiftOp : Kiln_Bitwise<"right_shift"> {
  let summary = "x moved y bits to the right, keeping its sign; 0 or -1 by the sign where y is negative or not below the width.";
  let body = [{
    const S width = constant(x, static_cast<int64_t>(8 * size_of(dtype(x))));
    const S inside = (y >= constant(y, 0)) & (y < width);
    return shift_right_arithmetic(x, select(inside, y, width - constant(x, 1)));
  }];
  let domain = ["-100", "100", "0", "31"];
  let numpy = "np.right_shift(x, y)";
  let example = "Tensor z = right_shift(Tensor{8, -8}, 2);  // [2, -2]";
}

def Kiln_WhereOp : Kiln_Elementwise<"where"> {
  let summary = "x where condition is true, else y; the three broadcast together.";
  let arguments = (ins Kiln_Tensor:$condition, Kiln_Tensor:$x, Kiln_Tensor:$y);
  let operand_dtypes = ["bool"];
  let body = [{ return select(condition, x, y); }];
  let gradient = [{ return {Tensor{}, where(condition, dresult, zeros_like(dresult)), where(condition, zeros_like(dresult), dresult)}; }];
  let numpy = "np.where(condition, x, y)";
  let example = "Tensor y = where(x > 0, x, 0.1f * x);";
}

def Kiln_CastOp : Kiln_Elementwise<"cast"> {
  let summary = "x in another dtype: floats to integers drop the fraction and saturate (NaN: 0), integers wrap, bool is x != 0.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_DType:$dtype);
  let result_dtype = [{dtype}];
  let body = [{ return convert(x, result); }];
  let gradient = [{ return {is_floating(dtype) ? cast(dresult, x.dtype()) : Tensor{}}; }];
  let numpy = "x.astype(dtype)";
  let example = "Tensor y = cast(Tensor{1.9f, -1.9f}, DType::i32);  // [1, -1]";
}

#endif
