// Arithmetic, element by element: one record, one scalar body, every mode.
#ifndef KILN_ARITHMETIC_TD
#define KILN_ARITHMETIC_TD
include "dialects/kiln/ops/base.td"

def Kiln_AddOp : Kiln_Binary<"add"> {
  let summary = "x + y, element by element. Integers wrap.";
  let dtypes = numbers;
  let body = [{ return x + y; }];
  let gradient = [{ return {dresult, dresult}; }];
  let numpy = "x + y";
  let example = "Tensor z = add(Tensor{1.f, 2.f}, 3);  // [4, 5], the same as x + 3";
}

def Kiln_SubtractOp : Kiln_Binary<"subtract"> {
  let summary = "x - y, element by element. Integers wrap.";
  let dtypes = numbers;
  let body = [{ return x - y; }];
  let gradient = [{ return {dresult, -dresult}; }];
  let numpy = "x - y";
  let example = "Tensor z = subtract(Tensor{1.f, 2.f}, 3);  // [-2, -1]";
}

def Kiln_MultiplyOp : Kiln_Binary<"multiply"> {
  let summary = "x * y, element by element. Integers wrap.";
  let dtypes = numbers;
  let body = [{ return x * y; }];
  let gradient = [{ return {dresult * y, dresult * x}; }];
  let numpy = "x * y";
  let example = "Tensor z = multiply(Tensor{1.f, 2.f}, 3);  // [3, 6]";
}

def Kiln_DivideOp : Kiln_Binary<"divide"> {
  let summary = "x / y, element by element. Integers are divided in f64 (see floordiv for whole quotients).";
  let dtypes = floats;
  let promotions = ["i32->f64", "i64->f64"];
  let aliases = ["truediv"];
  let body = [{ return x / y; }];
  let gradient = [{ return {dresult / y, -dresult * result / y}; }];
  let domain = ["-4", "4", "0.5", "4"];
  let numpy = "np.true_divide(x, y)";
  let example = "Tensor z = divide(Tensor{1.f, 2.f}, 4);  // [0.25, 0.5]";
}

def Kiln_FloordivOp : Kiln_Binary<"floordiv"> {
  let summary = "The quotient rounded down. Integers: x // 0 = 0 and MIN // -1 = MIN. Floats: exact for quotients up to 2^46 (f64: 2^104).";
  let dtypes = numbers;
  let body = [{ return floor_divide(x, y); }];
  let non_differentiable = "piecewise constant";
  let domain = ["-9", "9", "1", "4"];
  let numpy = "np.floor_divide(x, y)";
  let example = "Tensor q = floordiv(Tensor{-7, 7}, 2);  // [-4, 3]";
}

def Kiln_FloormodOp : Kiln_Binary<"floormod"> {
  let summary = "The remainder of floordiv: it has the sign of y. Integers: x % 0 = 0 and MIN % -1 = 0. Floats: exact for quotients up to 2^46 (f64: 2^104).";
  let dtypes = numbers;
  let aliases = ["mod"];
  let body = [{ return floor_remainder(x, y); }];
  let gradient = [{ return {dresult, -dresult * floordiv(x, y)}; }];
  let domain = ["-9", "9", "1", "4"];
  let numpy = "np.mod(x, y)";
  let example = "Tensor r = floormod(Tensor{-7, 7}, 2);  // [1, 1]";
}

def Kiln_PowOp : Kiln_Binary<"pow"> {
  let summary = "x to the power y. Gradients: 0 by x where y = 0, 0 by y where x <= 0.";
  let dtypes = floats;
  let body = [{ return pow(x, y); }];
  let gradient = [{
    const Tensor dx = where(equal(y, 0), zeros_like(result), y * pow(x, y - 1));
    const Tensor log_x = where(greater(x, 0), log(where(greater(x, 0), x, ones_like(x))), zeros_like(x));
    return {dresult * dx, dresult * result * log_x};
  }];
  let domain = ["0.1", "4", "-3", "3"];
  let numpy = "np.power(x, y)";
  let accuracy = "4 ulp";
  let example = "Tensor y = pow(Tensor{1.f, 2.f}, 3);  // [1, 8]";
}

def Kiln_MaximumOp : Kiln_Binary<"maximum"> {
  let summary = "The larger of x and y; NaN where either is NaN. Where they are equal, each gets half of the gradient.";
  let dtypes = numbers;
  let body = [{ return select((x > y) | (x != x), x, y); }];
  let gradient = [{ return {share_gradient(greater(x, y), equal(x, y), dresult), share_gradient(less(x, y), equal(x, y), dresult)}; }];
  let numpy = "np.maximum(x, y)";
  let example = "Tensor z = maximum(Tensor{1.f, -2.f}, 0);  // [1, 0]";
}

def Kiln_MinimumOp : Kiln_Binary<"minimum"> {
  let summary = "The smaller of x and y; NaN where either is NaN. Where they are equal, each gets half of the gradient.";
  let dtypes = numbers;
  let body = [{ return select((x < y) | (x != x), x, y); }];
  let gradient = [{ return {share_gradient(less(x, y), equal(x, y), dresult), share_gradient(greater(x, y), equal(x, y), dresult)}; }];
  let numpy = "np.minimum(x, y)";
  let example = "Tensor z = minimum(Tensor{1.f, -2.f}, 0);  // [0, -2]";
}

def Kiln_ClipByValueOp : Kiln_Elementwise<"clip_by_value"> {
  let summary = "x cut to [min, max]; NaN stays. The gradient goes to the bound where x is outside.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Tensor:$min, Kiln_Tensor:$max);
  let dtypes = numbers;
  let aliases = ["clip"];
  let body = [{
    const S low = select((x > min) | (x != x), x, min);
    return select((low < max) | (low != low), low, max);
  }];
  let gradient = [{
    const Tensor zero = zeros_like(dresult);
    const Tensor below = less(x, min), above = greater(x, max);
    return {where(logical_or(below, above), zero, dresult), where(below, dresult, zero), where(above, dresult, zero)};
  }];
  let domain = ["-4", "4", "-2", "-1", "1", "2"];
  let numpy = "np.minimum(np.maximum(x, min), max)";
  let example = "Tensor y = clip_by_value(Tensor{-3.f, 0.5f, 9.f}, -1, 1);  // [-1, 0.5, 1]";
}

def Kiln_SquaredDifferenceOp : Kiln_Binary<"squared_difference"> {
  let summary = "(x - y)^2, element by element. Integers wrap.";
  let dtypes = numbers;
  let body = [{ const S d = x - y; return d * d; }];
  let gradient = [{ const Tensor dx = 2 * dresult * (x - y); return {dx, -dx}; }];
  let numpy = "(x - y) ** 2";
  let example = "Tensor z = squared_difference(Tensor{1.f, 4.f}, 2);  // [1, 4]";
}

def Kiln_NegativeOp : Kiln_Unary<"negative"> {
  let summary = "-x. Integers wrap at their smallest value.";
  let dtypes = numbers;
  let body = [{ return -x; }];
  let gradient = [{ return {-dresult}; }];
  let numpy = "np.negative(x)";
  let example = "Tensor y = negative(Tensor{1.f, -2.f});  // [-1, 2], the same as -x";
}

def Kiln_AbsOp : Kiln_Unary<"abs"> {
  let summary = "The absolute value. Integers wrap at their smallest value; the gradient at 0 is 0.";
  let dtypes = numbers;
  let body = [{ return abs(x); }];
  let gradient = [{ return {dresult * sign(x)}; }];
  let numpy = "np.abs(x)";
  let example = "Tensor y = abs(Tensor{1.f, -2.f});  // [1, 2]";
}

def Kiln_SignOp : Kiln_Unary<"sign"> {
  let summary = "-1, 0 or 1 by the sign of x; NaN for NaN.";
  let dtypes = numbers;
  let body = [{
    return select(x > constant(x, 0), constant(x, 1), select(x < constant(x, 0), constant(x, -1), select(x == x, constant(x, 0), x)));
  }];
  let non_differentiable = "piecewise constant";
  let numpy = "np.sign(x)";
  let example = "Tensor y = sign(Tensor{3.f, 0.f, -2.f});  // [1, 0, -1]";
}

def Kiln_SquareOp : Kiln_Unary<"square"> {
  let summary = "x * x. Integers wrap.";
  let dtypes = numbers;
  let body = [{ return x * x; }];
  let gradient = [{ return {2 * dresult * x}; }];
  let numpy = "np.square(x)";
  let example = "Tensor y = square(Tensor{1.f, -2.f});  // [1, 4]";
}

def Kiln_SqrtOp : Kiln_Unary<"sqrt"> {
  let summary = "The square root; NaN for negative x. The gradient at 0 is inf.";
  let dtypes = floats;
  let body = [{ return sqrt(x); }];
  let gradient = [{ return {dresult / (2 * result)}; }];
  let domain = ["0.1", "9"];
  let numpy = "np.sqrt(x)";
  let example = "Tensor y = sqrt(Tensor{4.f, 9.f});  // [2, 3]";
}

def Kiln_RsqrtOp : Kiln_Unary<"rsqrt"> {
  let summary = "1 / sqrt(x).";
  let dtypes = floats;
  let body = [{ return constant(x, 1) / sqrt(x); }];
  let gradient = [{ return {-0.5 * dresult * (result * result * result)}; }];
  let domain = ["0.1", "9"];
  let numpy = "1 / np.sqrt(x)";
  let accuracy = "1 ulp";
  let example = "Tensor y = rsqrt(Tensor{4.f, 0.25f});  // [0.5, 2]";
}

def Kiln_ReciprocalOp : Kiln_Unary<"reciprocal"> {
  let summary = "1 / x.";
  let dtypes = floats;
  let body = [{ return constant(x, 1) / x; }];
  let gradient = [{ return {-dresult * (result * result)}; }];
  let domain = ["0.5", "4"];
  let numpy = "1 / x";
  let example = "Tensor y = reciprocal(Tensor{4.f, 0.5f});  // [0.25, 2]";
}

#endif
