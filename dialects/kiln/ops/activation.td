// Activation functions, element by element.
#ifndef KILN_ACTIVATION_TD
#define KILN_ACTIVATION_TD
include "dialects/kiln/ops/base.td"

def Kiln_ReluOp : Kiln_Unary<"relu"> {
  let summary = "max(x, 0); NaN stays. The gradient at 0 is 0.";
  let dtypes = numbers;
  let body = [{ return select(x <= constant(x, 0), constant(x, 0), x); }];
  let gradient = [{ return {where(greater(x, 0), dresult, zeros_like(dresult))}; }];
  let numpy = "np.maximum(x, 0)";
  let example = "Tensor y = relu(Tensor{-1.f, 2.f});  // [0, 2]";
}

def Kiln_Relu6Op : Kiln_Unary<"relu6"> {
  let summary = "min(max(x, 0), 6); NaN stays. The gradient at 0 and 6 is 0.";
  let dtypes = numbers;
  let body = [{ return select(x <= constant(x, 0), constant(x, 0), select(x >= constant(x, 6), constant(x, 6), x)); }];
  let gradient = [{ return {where(logical_and(greater(x, 0), less(x, 6)), dresult, zeros_like(dresult))}; }];
  let domain = ["-9", "9"];
  let numpy = "np.minimum(np.maximum(x, 0), 6)";
  let example = "Tensor y = relu6(Tensor{-1.f, 8.f});  // [0, 6]";
}

def Kiln_HardSigmoidOp : Kiln_Unary<"hard_sigmoid"> {
  let summary = "relu6(x + 3) / 6: a sigmoid of straight lines. The gradient at -3 and 3 is 0.";
  let dtypes = floats;
  let body = [{
    const S shifted = x + constant(x, 3), six = constant(x, 6);
    return select(shifted <= constant(x, 0), constant(x, 0), select(shifted >= six, six, shifted)) / six;
  }];
  let gradient = [{ return {where(logical_and(greater(x, -3), less(x, 3)), dresult / 6, zeros_like(dresult))}; }];
  let domain = ["-6", "6"];
  let numpy = "np.clip(x + 3, 0, 6) / 6";
  let accuracy = "2 ulp";
  let example = "Tensor y = hard_sigmoid(Tensor{-4.f, 0.f, 1.5f});  // [0, 0.5, 0.75]";
}

def Kiln_LeakyReluOp : Kiln_Unary<"leaky_relu"> {
  let summary = "x where x > 0, else alpha * x.";
  let arguments = (ins Kiln_Tensor:$x, Default<Kiln_Float, "0.2">:$alpha);
  let dtypes = floats;
  let body = [{ return select(x > constant(x, 0), x, x * constant(x, alpha)); }];
  let gradient = [{ return {where(greater(x, 0), dresult, alpha * dresult)}; }];
  let numpy = "np.where(x > 0, x, x.dtype.type(alpha) * x)";
  let example = "Tensor y = leaky_relu(Tensor{-1.f, 2.f}, {.alpha = 0.1});  // [-0.1, 2]";
}

def Kiln_EluOp : Kiln_Unary<"elu"> {
  let summary = "x where x > 0, else alpha * (exp(x) - 1).";
  let arguments = (ins Kiln_Tensor:$x, Default<Kiln_Float, "1">:$alpha);
  let dtypes = floats;
  let body = [{ return select(x > constant(x, 0), x, constant(x, alpha) * expm1(x)); }];
  let gradient = [{ return {where(greater(x, 0), dresult, dresult * (result + alpha))}; }];
  let numpy = "np.where(x > 0, x, x.dtype.type(alpha) * np.expm1(x))";
  let accuracy = "4 ulp";
  let example = "Tensor y = elu(Tensor{-1.f, 2.f});  // [-0.63212055, 2]";
}

def Kiln_GeluOp : Kiln_Unary<"gelu"> {
  let summary = "x times the normal distribution's probability of a value below x; `approximate` uses tanh.";
  let arguments = (ins Kiln_Tensor:$x, Default<Kiln_Bool, "false">:$approximate);
  let dtypes = floats;
  let body = [{
    const S half = constant(x, 0.5), one = constant(x, 1);
    if (approximate)
      return half * x * (one + tanh(constant(x, 0.7978845608028654) * (x + constant(x, 0.044715) * (x * x * x))));
    return half * x * (one + erf(x * constant(x, 0.7071067811865476)));
  }];
  let gradient = [{
    if (approximate) {
      const Tensor t = tanh(0.7978845608028654 * (x + 0.044715 * (x * x * x)));
      const Tensor dt = (1 - t * t) * (0.7978845608028654 * (1 + 0.134145 * (x * x)));
      return {dresult * (0.5 * (1 + t) + 0.5 * x * dt)};
    }
    const Tensor density = 0.3989422804014327 * exp(-0.5 * (x * x));
    return {dresult * (0.5 * (1 + erf(x * 0.7071067811865476)) + x * density)};
  }];
  let numpy = "0.5 * x * (1 + (np.tanh(0.7978845608028654 * (x + 0.044715 * x ** 3)) if approximate else sp.erf(x * 0.7071067811865476)))";
  let accuracy = "8 ulp of max(|x|, 1)";
  let example = "Tensor y = gelu(Tensor{-1.f, 2.f});  // [-0.15865529, 1.9544997]";
}

def Kiln_SiluOp : Kiln_Unary<"silu"> {
  let summary = "x * sigmoid(x).";
  let dtypes = floats;
  let aliases = ["swish"];
  let body = [{ return x * sigmoid_of(x); }];
  let gradient = [{ const Tensor s = sigmoid(x); return {dresult * (s * (1 + x * (1 - s)))}; }];
  let numpy = "x * sp.expit(x)";
  let accuracy = "5 ulp";
  let example = "Tensor y = silu(Tensor{0.f, 2.f});  // [0, 1.7615942]";
}

def Kiln_SoftplusOp : Kiln_Unary<"softplus"> {
  let summary = "log(1 + exp(x)), without overflow.";
  let dtypes = floats;
  let body = [{ return select(x > constant(x, 0), x, constant(x, 0)) + log1p(exp(-abs(x))); }];
  let gradient = [{ return {dresult * sigmoid(x)}; }];
  let domain = ["-30", "30"];
  let numpy = "np.logaddexp(x, 0)";
  let accuracy = "4 ulp";
  let example = "Tensor y = softplus(Tensor{0.f, 100.f});  // [0.6931472, 100]";
}

def Kiln_SoftsignOp : Kiln_Unary<"softsign"> {
  let summary = "x / (1 + |x|).";
  let dtypes = floats;
  let body = [{ return x / (constant(x, 1) + abs(x)); }];
  let gradient = [{ return {dresult / square(1 + abs(x))}; }];
  let numpy = "x / (1 + np.abs(x))";
  let accuracy = "2 ulp";
  let example = "Tensor y = softsign(Tensor{-1.f, 3.f});  // [-0.5, 0.75]";
}

#endif
