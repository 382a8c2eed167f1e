// Element-wise ops: one record, one scalar body, every mode.
#ifndef KILN_ELEMENTWISE_TD
#define KILN_ELEMENTWISE_TD
include "dialects/kiln/ops/base.td"

def Kiln_AddOp : Kiln_Binary<"add"> {
  let summary = "x + y, element by element. Integers wrap.";
  let dtypes = numbers;
  let body = [{ return x + y; }];
  let gradient = [{ return {dresult, dresult}; }];
  let numpy = "x + y";
  let example = "Tensor z = add(Tensor{1.f, 2.f}, 3);  // [4, 5], the same as x + 3";
}

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

def Kiln_LessOp : Kiln_Comparison<"less"> {
  let summary = "x < y; false where either is NaN.";
  let dtypes = numbers;
  let body = [{ return x < y; }];
  let numpy = "x < y";
  let example = "Tensor b = less(Tensor{1.f, 5.f}, 3);  // [true, false]";
}

def Kiln_WhereOp : Kiln_Elementwise<"where"> {
  let summary = "x where condition is true, else y; the three broadcast together.";
  let arguments = (ins Kiln_Tensor:$condition, Kiln_Tensor:$x, Kiln_Tensor:$y);
  let dtypes = ["bool"];
  let constraints = ["C1: condition is bool.", "C2: x and y have one dtype, the result's."];
  let result_dtype = [{x.dtype}];
  let body = [{ return select(condition, x, y); }];
  let gradient = [{ return {Tensor{}, where(condition, dresult, zeros_like(dresult)), where(condition, zeros_like(dresult), dresult)}; }];
  let numpy = "np.where(condition, x, y)";
  let example = "Tensor y = where(x > 0, x, 0.1f * x);";
}

#endif
