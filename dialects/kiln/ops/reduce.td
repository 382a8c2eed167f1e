// Reductions and scans. Order of the sum: docs/design, "reduction order".
#ifndef KILN_REDUCE_TD
#define KILN_REDUCE_TD
include "dialects/kiln/ops/base.td"

def Kiln_ReduceSumOp : Kiln_Reduction<"reduce_sum"> {
  let summary = "Sum of the elements along the axes; 0 where there are none.";
  let dtypes = ["i64", "f32", "f64"];
  let promotions = ["bool->i64", "i32->i64"];
  let aliases = ["sum"];
  let combine = [{ return a + b; }];
  let identity = [{ return constant(x, 0); }];
  let gradient = [{ return {broadcast_to(restore_axes(dresult, x, axis, keepdims), x.shape())}; }];
  let numpy = "np.sum(x, axis=tuple(axis) or None, keepdims=keepdims, dtype=x.dtype if x.dtype.kind == 'f' else np.int64)";
  let accuracy = "4 log2(n) eps sum|x|";
  let example = "Tensor s = reduce_sum(x, {.axis = {0}});";
}

def Kiln_ReduceProdOp : Kiln_Reduction<"reduce_prod"> {
  let summary = "Product of the elements along the axes; 1 where there are none.";
  let dtypes = ["i64", "f32", "f64"];
  let promotions = ["bool->i64", "i32->i64"];
  let aliases = ["prod"];
  let combine = [{ return a * b; }];
  let identity = [{ return constant(x, 1); }];
  let gradient = [{ return {prod_gradient(x, axis, keepdims, dresult)}; }];
  let domain = ["0.5", "2"];
  let numpy = "np.prod(x, axis=tuple(axis) or None, keepdims=keepdims, dtype=x.dtype if x.dtype.kind == 'f' else np.int64)";
  let accuracy = "2 n ulp";
  let example = "Tensor p = reduce_prod(x, {.axis = {0}});";
}

def Kiln_ReduceMaxOp : Kiln_Reduction<"reduce_max"> {
  let summary = "The largest element along the axes; NaN if there is one. Equal largest elements share the gradient equally.";
  let dtypes = numbers;
  let aliases = ["max"];
  let combine = [{ return select(b != b, b, select(b > a, b, a)); }];
  let identity = [{ return lowest_of(x); }];
  let empty_is_error = "the largest of no elements has no value";
  let gradient = [{ return {extreme_gradient(x, result, axis, keepdims, dresult)}; }];
  let numpy = "np.max(x, axis=tuple(axis) or None, keepdims=keepdims)";
  let example = "Tensor m = reduce_max(x, {.axis = {-1}, .keepdims = true});";
}

def Kiln_ReduceMinOp : Kiln_Reduction<"reduce_min"> {
  let summary = "The smallest element along the axes; NaN if there is one. Equal smallest elements share the gradient equally.";
  let dtypes = numbers;
  let aliases = ["min"];
  let combine = [{ return select(b != b, b, select(b < a, b, a)); }];
  let identity = [{ return highest_of(x); }];
  let empty_is_error = "the smallest of no elements has no value";
  let gradient = [{ return {extreme_gradient(x, result, axis, keepdims, dresult)}; }];
  let numpy = "np.min(x, axis=tuple(axis) or None, keepdims=keepdims)";
  let example = "Tensor m = reduce_min(x, {.axis = {-1}});";
}

def Kiln_ReduceAnyOp : Kiln_Reduction<"reduce_any"> {
  let summary = "Whether any element along the axes is true; false where there are none.";
  let dtypes = ["bool"];
  let aliases = ["any"];
  let combine = [{ return a | b; }];
  let identity = [{ return constant(x, 0); }];
  let non_differentiable = "the result is bool";
  let numpy = "np.any(x, axis=tuple(axis) or None, keepdims=keepdims)";
  let example = "Tensor b = reduce_any(is_nan(x));";
}

def Kiln_ReduceAllOp : Kiln_Reduction<"reduce_all"> {
  let summary = "Whether all elements along the axes are true; true where there are none.";
  let dtypes = ["bool"];
  let aliases = ["all_of"];
  let combine = [{ return a & b; }];
  let identity = [{ return constant(x, 1); }];
  let non_differentiable = "the result is bool";
  let numpy = "np.all(x, axis=tuple(axis) or None, keepdims=keepdims)";
  let example = "Tensor b = reduce_all(is_finite(x));";
}

class Kiln_CompositeReduction<string mnemonic> : Kiln_Composite<mnemonic> {
  let arguments = (ins Kiln_Tensor:$x, Default<Kiln_Ints, "{}">:$axis, Default<Kiln_Bool, "false">:$keepdims);
  let options = "ReduceOptions";
  let dtypes = floats;
}

def Kiln_ReduceMeanOp : Kiln_CompositeReduction<"reduce_mean"> {
  let summary = "The mean of the elements along the axes: their sum divided by their number; NaN where there are none.";
  let promotions = ["bool->f64", "i32->f64", "i64->f64"];
  let aliases = ["mean"];
  let composite = [{ return divided_by_count(reduce_sum(x, {axis, keepdims}), x, axis); }];
  let numpy = "np.mean(x, axis=tuple(axis) or None, keepdims=keepdims)";
  let accuracy = "4 log2(n) eps mean|x|";
  let example = "Tensor m = reduce_mean(x, {.axis = {0}});";
}

def Kiln_ReduceVarianceOp : Kiln_CompositeReduction<"reduce_variance"> {
  let summary = "The mean of the squared distances from the mean, along the axes; NaN where there are no elements.";
  let promotions = ["i32->f64", "i64->f64"];
  let aliases = ["variance"];
  let composite = [{
    const Tensor center = reduce_mean(x, {axis, true});
    return reduce_mean(square(x - center), {axis, keepdims});
  }];
  let numpy = "np.var(x, axis=tuple(axis) or None, keepdims=keepdims)";
  let accuracy = "8 log2(n) eps max|x|^2";
  let example = "Tensor v = reduce_variance(x, {.axis = {0}});";
}

def Kiln_ReduceStdOp : Kiln_CompositeReduction<"reduce_std"> {
  let summary = "The square root of reduce_variance.";
  let promotions = ["i32->f64", "i64->f64"];
  let composite = [{ return sqrt(reduce_variance(x, {axis, keepdims})); }];
  let numpy = "np.std(x, axis=tuple(axis) or None, keepdims=keepdims)";
  let accuracy = "8 log2(n) eps max|x|";
  let example = "Tensor s = reduce_std(x);";
}

def Kiln_ReduceEuclideanNormOp : Kiln_CompositeReduction<"reduce_euclidean_norm"> {
  let summary = "The square root of the sum of squares along the axes. The gradient where it is 0 is 0.";
  let aliases = ["norm"];
  let composite = [{
    const Tensor sum = reduce_sum(square(x), {axis, keepdims});
    const Tensor zero = equal(sum, 0);
    return where(zero, zeros_like(sum), sqrt(where(zero, ones_like(sum), sum)));
  }];
  let numpy = "np.sqrt(np.sum(np.square(x), axis=tuple(axis) or None, keepdims=keepdims))";
  let accuracy = "4 log2(n) ulp";
  let example = "Tensor n = norm(Tensor{3.f, 4.f});  // 5";
}

def Kiln_ReduceLogsumexpOp : Kiln_CompositeReduction<"reduce_logsumexp"> {
  let summary = "log(sum(exp(x))) along the axes, without overflow; -inf, with gradient 0, where all x are -inf.";
  let aliases = ["logsumexp"];
  let composite = [{
    const Tensor highest = stop_gradient(reduce_max(x, {axis, true}));
    const Tensor shift = where(is_finite(highest), highest, zeros_like(highest));
    const Tensor sum = reduce_sum(exp(x - shift), {axis, keepdims});
    const Tensor none = equal(sum, 0);
    const Tensor log_sum = where(none, full_like(sum, -std::numeric_limits<double>::infinity()), log(where(none, ones_like(sum), sum)));
    return log_sum + reshape_like(shift, sum);
  }];
  let numpy = "sp.logsumexp(x, axis=tuple(axis) or None, keepdims=keepdims)";
  let accuracy = "4 ulp of max(|result|, 1)";
  let example = "Tensor l = reduce_logsumexp(Tensor{0.f, 0.f});  // 0.6931472";
}

class Kiln_ArgExtreme<string mnemonic> : Kiln_Structured<mnemonic> {
  let arguments = (ins Kiln_Tensor:$x, Default<Kiln_Int, "0">:$axis);
  let options = "ArgOptions";
  let dtypes = numbers;
  let constraints = ["C1: x has rank >= 1 and axis is in [-rank, rank).", "C2: the axis is not empty."];
  let shape_rule = [{ return arg_type(x, axis); }];
  let non_differentiable = "the result is an index";
}
def Kiln_ArgmaxOp : Kiln_ArgExtreme<"argmax"> {
  let summary = "The index (i64) of the largest element along the axis: the lowest one where several are equal, the first NaN if there is one.";
  let call = [{ return arg_call("argmax", x, axis); }];
  let numpy = "np.argmax(x, axis=axis)";
  let example = "Tensor i = argmax(Tensor{3.f, 9.f, 9.f});  // 1";
}
def Kiln_ArgminOp : Kiln_ArgExtreme<"argmin"> {
  let summary = "The index (i64) of the smallest element along the axis: the lowest one where several are equal, the first NaN if there is one.";
  let call = [{ return arg_call("argmin", x, axis); }];
  let numpy = "np.argmin(x, axis=axis)";
  let example = "Tensor i = argmin(Tensor{3.f, 9.f, 1.f});  // 2";
}

class Kiln_Scan<string mnemonic> : Kiln_Structured<mnemonic> {
  let arguments = (ins Kiln_Tensor:$x, Default<Kiln_Int, "0">:$axis, Default<Kiln_Bool, "false">:$exclusive, Default<Kiln_Bool, "false">:$reverse);
  let options = "ScanOptions";
  let dtypes = ["i64", "f32", "f64"];
  let promotions = ["bool->i64", "i32->i64"];
  let constraints = ["C1: x has rank >= 1 and axis is in [-rank, rank)."];
  let shape_rule = [{ return same_with_axis(x, axis); }];
  let accuracy = "n eps sum|x|";
}
def Kiln_CumsumOp : Kiln_Scan<"cumsum"> {
  let summary = "Running sums along the axis, one after the other; exclusive: without the element itself; reverse: from the end.";
  let call = [{ return scan_call("cumsum", x, axis, exclusive, reverse); }];
  let gradient = [{ return {cumsum(dresult, {axis, exclusive, !reverse})}; }];
  let example = "Tensor s = cumsum(Tensor{1.f, 2.f, 3.f});  // [1, 3, 6]";
}
def Kiln_CumprodOp : Kiln_Scan<"cumprod"> {
  let summary = "Running products along the axis, one after the other; exclusive and reverse as in cumsum. The gradient needs x without zeros.";
  let call = [{ return scan_call("cumprod", x, axis, exclusive, reverse); }];
  let gradient = [{ return {cumsum(result * dresult, {axis, exclusive, !reverse}) / x}; }];
  let domain = ["0.5", "2"];
  let example = "Tensor p = cumprod(Tensor{1.f, 2.f, 3.f});  // [1, 2, 6]";
}

#endif
