// Reductions. Order of the sum: docs/design, "reduction order".
#ifndef KILN_REDUCE_TD
#define KILN_REDUCE_TD
include "dialects/kiln/ops/base.td"

def Kiln_ReduceSumOp : Kiln_Reduction<"reduce_sum"> {
  let summary = "Sum of the elements along the axes; 0 where there are none.";
  let dtypes = numbers;
  let aliases = ["sum"];
  let combine = [{ return a + b; }];
  let identity = [{ return constant(x, 0); }];
  let gradient = [{ return {broadcast_to(restore_axes(dresult, x, axis, keepdims), x.shape())}; }];
  let numpy = "np.sum(x, axis=axis, keepdims=keepdims, dtype=x.dtype)";
  let accuracy = "4 log2(n) eps sum|x|";
  let example = "Tensor s = reduce_sum(x, {.axis = {0}});";
}

#endif
