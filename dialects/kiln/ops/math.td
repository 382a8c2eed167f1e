// Functions of one float, element by element. Their algorithms: dialects/kiln/math/functions.h.
#ifndef KILN_MATH_TD
#define KILN_MATH_TD
include "dialects/kiln/ops/base.td"

def Kiln_ExpOp : Kiln_Unary<"exp"> {
  let summary = "e to the power x.";
  let dtypes = floats;
  let body = [{ return exp(x); }];
  let gradient = [{ return {dresult * result}; }];
  let domain = ["-90", "90"];
  let numpy = "np.exp(x)";
  let accuracy = "2 ulp";
  let example = "Tensor y = exp(Tensor{0.f, 1.f});  // [1, 2.7182817]";
}

def Kiln_Expm1Op : Kiln_Unary<"expm1"> {
  let summary = "e^x - 1, exact also near 0.";
  let dtypes = floats;
  let body = [{ return expm1(x); }];
  let gradient = [{ return {dresult * (result + 1)}; }];
  let domain = ["-20", "20"];
  let numpy = "np.expm1(x)";
  let accuracy = "2 ulp";
  let example = "Tensor y = expm1(Tensor{0.f, 1.f});  // [0, 1.7182819]";
}

def Kiln_LogOp : Kiln_Unary<"log"> {
  let summary = "The natural logarithm; -inf at 0, NaN below.";
  let dtypes = floats;
  let body = [{ return log(x); }];
  let gradient = [{ return {dresult / x}; }];
  let domain = ["0.01", "100"];
  let numpy = "np.log(x)";
  let accuracy = "2 ulp";
  let example = "Tensor y = log(Tensor{1.f, 2.f});  // [0, 0.6931472]";
}

def Kiln_Log1pOp : Kiln_Unary<"log1p"> {
  let summary = "log(1 + x), exact also near 0.";
  let dtypes = floats;
  let body = [{ return log1p(x); }];
  let gradient = [{ return {dresult / (x + 1)}; }];
  let domain = ["-0.9", "50"];
  let numpy = "np.log1p(x)";
  let accuracy = "2 ulp";
  let example = "Tensor y = log1p(Tensor{0.f, 1.f});  // [0, 0.6931472]";
}

def Kiln_SinOp : Kiln_Unary<"sin"> {
  let summary = "The sine of x in radians.";
  let dtypes = floats;
  let body = [{ return sin(x); }];
  let gradient = [{ return {dresult * cos(x)}; }];
  let domain = ["-10", "10"];
  let numpy = "np.sin(x)";
  let accuracy = "2 ulp";
  let example = "Tensor y = sin(Tensor{0.f, 1.f});  // [0, 0.84147096]";
}

def Kiln_CosOp : Kiln_Unary<"cos"> {
  let summary = "The cosine of x in radians.";
  let dtypes = floats;
  let body = [{ return cos(x); }];
  let gradient = [{ return {-dresult * sin(x)}; }];
  let domain = ["-10", "10"];
  let numpy = "np.cos(x)";
  let accuracy = "2 ulp";
  let example = "Tensor y = cos(Tensor{0.f, 1.f});  // [1, 0.5403023]";
}

def Kiln_TanOp : Kiln_Unary<"tan"> {
  let summary = "The tangent of x in radians.";
  let dtypes = floats;
  let body = [{ return tan(x); }];
  let gradient = [{ return {dresult * (1 + result * result)}; }];
  let domain = ["-1.5", "1.5"];
  let numpy = "np.tan(x)";
  let accuracy = "4 ulp";
  let example = "Tensor y = tan(Tensor{0.f, 1.f});  // [0, 1.5574077]";
}

def Kiln_AsinOp : Kiln_Unary<"asin"> {
  let summary = "The angle in [-pi/2, pi/2] whose sine is x; NaN where |x| > 1.";
  let dtypes = floats;
  let body = [{ return asin(x); }];
  let gradient = [{ return {dresult * rsqrt(1 - x * x)}; }];
  let domain = ["-0.9", "0.9"];
  let numpy = "np.arcsin(x)";
  let accuracy = "4 ulp";
  let example = "Tensor y = asin(Tensor{0.f, 1.f});  // [0, 1.5707964]";
}

def Kiln_AcosOp : Kiln_Unary<"acos"> {
  let summary = "The angle in [0, pi] whose cosine is x; NaN where |x| > 1.";
  let dtypes = floats;
  let body = [{ return acos(x); }];
  let gradient = [{ return {-dresult * rsqrt(1 - x * x)}; }];
  let domain = ["-0.9", "0.9"];
  let numpy = "np.arccos(x)";
  let accuracy = "4 ulp";
  let example = "Tensor y = acos(Tensor{1.f, 0.f});  // [0, 1.5707964]";
}

def Kiln_AtanOp : Kiln_Unary<"atan"> {
  let summary = "The angle in [-pi/2, pi/2] whose tangent is x.";
  let dtypes = floats;
  let body = [{ return atan(x); }];
  let gradient = [{ return {dresult / (1 + x * x)}; }];
  let domain = ["-10", "10"];
  let numpy = "np.arctan(x)";
  let accuracy = "4 ulp";
  let example = "Tensor y = atan(Tensor{0.f, 1.f});  // [0, 0.7853982]";
}

def Kiln_SinhOp : Kiln_Unary<"sinh"> {
  let summary = "The hyperbolic sine.";
  let dtypes = floats;
  let body = [{ return sinh(x); }];
  let gradient = [{ return {dresult * cosh(x)}; }];
  let domain = ["-10", "10"];
  let numpy = "np.sinh(x)";
  let accuracy = "4 ulp";
  let example = "Tensor y = sinh(Tensor{0.f, 1.f});  // [0, 1.1752012]";
}

def Kiln_CoshOp : Kiln_Unary<"cosh"> {
  let summary = "The hyperbolic cosine.";
  let dtypes = floats;
  let body = [{ return cosh(x); }];
  let gradient = [{ return {dresult * sinh(x)}; }];
  let domain = ["-10", "10"];
  let numpy = "np.cosh(x)";
  let accuracy = "4 ulp";
  let example = "Tensor y = cosh(Tensor{0.f, 1.f});  // [1, 1.5430807]";
}

def Kiln_TanhOp : Kiln_Unary<"tanh"> {
  let summary = "The hyperbolic tangent.";
  let dtypes = floats;
  let body = [{ return tanh(x); }];
  let gradient = [{ return {dresult * (1 - result * result)}; }];
  let domain = ["-8", "8"];
  let numpy = "np.tanh(x)";
  let accuracy = "4 ulp";
  let example = "Tensor y = tanh(Tensor{0.f, 1.f});  // [0, 0.7615942]";
}

def Kiln_ErfOp : Kiln_Unary<"erf"> {
  let summary = "The error function.";
  let dtypes = floats;
  let body = [{ return erf(x); }];
  let gradient = [{ return {dresult * (1.1283791670955126 * exp(-(x * x)))}; }];
  let domain = ["-4", "4"];
  let numpy = "sp.erf(x)";
  let accuracy = "4 ulp";
  let example = "Tensor y = erf(Tensor{0.f, 1.f});  // [0, 0.8427008]";
}

def Kiln_SigmoidOp : Kiln_Unary<"sigmoid"> {
  let summary = "1 / (1 + exp(-x)), without overflow.";
  let dtypes = floats;
  let body = [{ return sigmoid_of(x); }];
  let gradient = [{ return {dresult * (result * (1 - result))}; }];
  let domain = ["-20", "20"];
  let numpy = "sp.expit(x)";
  let accuracy = "4 ulp";
  let example = "Tensor y = sigmoid(Tensor{0.f, 100.f});  // [0.5, 1]";
}

def Kiln_Atan2Op : Kiln_Binary<"atan2"> {
  let summary = "The angle of the point (y, x), in [-pi, pi], by the signs of both.";
  let arguments = (ins Kiln_Tensor:$y, Kiln_Tensor:$x);
  let dtypes = floats;
  let body = [{ return atan2(y, x); }];
  let gradient = [{
    const Tensor square_sum = x * x + y * y;
    return {dresult * x / square_sum, -dresult * y / square_sum};
  }];
  let numpy = "np.arctan2(y, x)";
  let accuracy = "4 ulp";
  let example = "Tensor a = atan2(Tensor{1.f}, Tensor{-1.f});  // [2.3561945]";
}

def Kiln_FloorOp : Kiln_Unary<"floor"> {
  let summary = "The largest whole number that is not above x.";
  let dtypes = floats;
  let body = [{ return floor(x); }];
  let non_differentiable = "piecewise constant";
  let numpy = "np.floor(x)";
  let example = "Tensor y = floor(Tensor{1.5f, -1.5f});  // [1, -2]";
}

def Kiln_CeilOp : Kiln_Unary<"ceil"> {
  let summary = "The smallest whole number that is not below x.";
  let dtypes = floats;
  let body = [{ return ceil(x); }];
  let non_differentiable = "piecewise constant";
  let numpy = "np.ceil(x)";
  let example = "Tensor y = ceil(Tensor{1.5f, -1.5f});  // [2, -1]";
}

def Kiln_RoundOp : Kiln_Unary<"round"> {
  let summary = "The nearest whole number, halves to the even one.";
  let dtypes = floats;
  let aliases = ["rint"];
  let body = [{ return round_even(x); }];
  let non_differentiable = "piecewise constant";
  let numpy = "np.rint(x)";
  let example = "Tensor y = round(Tensor{1.5f, 2.5f});  // [2, 2]";
}

def Kiln_TruncOp : Kiln_Unary<"trunc"> {
  let summary = "x without its fraction.";
  let dtypes = floats;
  let body = [{ return trunc(x); }];
  let non_differentiable = "piecewise constant";
  let numpy = "np.trunc(x)";
  let example = "Tensor y = trunc(Tensor{1.5f, -1.5f});  // [1, -1]";
}

#endif
