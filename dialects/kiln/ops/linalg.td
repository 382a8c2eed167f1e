// Linear algebra.
#ifndef KILN_LINALG_TD
#define KILN_LINALG_TD
include "dialects/kiln/ops/base.td"

def Kiln_MatmulOp : Kiln_Structured<"matmul"> {
  let summary = "Matrix product over the last two dims; leading dims broadcast.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Tensor:$y, Default<Kiln_Bool, "false">:$transpose_x, Default<Kiln_Bool, "false">:$transpose_y);
  let options = "MatmulOptions";
  let dtypes = numbers;
  let constraints = ["C1: x and y have rank >= 2 and one dtype.", "C2: columns of x (after its transpose) = rows of y (after its transpose).", "C3: leading dims broadcast."];
  let shape = [{ return matmul_type(x, y, transpose_x, transpose_y); }];
  let call = [{ return matmul_call(x, y, transpose_x, transpose_y, result); }];
  let gradient = [{ return matmul_gradient(x, y, transpose_x, transpose_y, dresult); }];
  let domain = ["-1", "1"];
  let numpy = "np.matmul(np.swapaxes(x, -1, -2) if transpose_x else x, np.swapaxes(y, -1, -2) if transpose_y else y)";
  let accuracy = "n eps sum|x||y|";
  let example = "Tensor c = matmul(a, b, {.transpose_y = true});";
}

#endif
