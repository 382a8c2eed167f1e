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
  let shape_rule = [{ return matmul_type(x, y, transpose_x, transpose_y); }];
  let call = [{ return matmul_call(x, y, transpose_x, transpose_y, result); }];
  let gradient = [{ return matmul_gradient(x, y, transpose_x, transpose_y, dresult); }];
  let domain = ["-1", "1"];
  let numpy = "np.matmul(np.swapaxes(x, -1, -2) if transpose_x else x, np.swapaxes(y, -1, -2) if transpose_y else y)";
  let accuracy = "n eps sum|x||y|";
  let example = "Tensor c = matmul(a, b, {.transpose_y = true});";
}

def Kiln_TensordotOp : Kiln_Composite<"tensordot"> {
  let summary = "Sums of products over pairs of axes: x_axes[i] of x with y_axes[i] of y; the result has x's other axes, then y's.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Tensor:$y, Kiln_Ints:$x_axes, Kiln_Ints:$y_axes);
  let dtypes = numbers;
  let constraints = ["C1: x_axes and y_axes are equally long, in range, without repeats.", "C2: the paired axes have equal sizes."];
  let composite = [{ return contract(x, y, x_axes, y_axes); }];
  let domain = ["-1", "1"];
  let numpy = "np.tensordot(x, y, (x_axes, y_axes))";
  let accuracy = "n eps sum|x||y|";
  let example = "Tensor c = tensordot(a, b, {1}, {0});  // for matrices: a @ b";
}

def Kiln_DotOp : Kiln_Composite<"dot"> {
  let summary = "The sum of products over the last axis of x and the last but one of y (the only one, if y is a vector), as NumPy's dot.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Tensor:$y);
  let dtypes = numbers;
  let constraints = ["C1: x and y have rank >= 1.", "C2: the two axes have equal sizes."];
  let composite = [{
    if (x.rank() < 1 || y.rank() < 1) fail(Code::invalid_argument, "x and y need rank 1 or more");
    return contract(x, y, {x.rank() - 1}, {y.rank() == 1 ? 0 : y.rank() - 2});
  }];
  let domain = ["-1", "1"];
  let numpy = "np.dot(x, y)";
  let accuracy = "n eps sum|x||y|";
  let example = "Tensor s = dot(Tensor{1.f, 2.f}, Tensor{3.f, 4.f});  // 11";
}

def Kiln_OuterOp : Kiln_Composite<"outer"> {
  let summary = "All products of an element of x with one of y, both flattened.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Tensor:$y);
  let dtypes = numbers;
  let composite = [{ return reshape(x, {-1, 1}) * reshape(y, {1, -1}); }];
  let numpy = "np.outer(x, y)";
  let example = "Tensor m = outer(Tensor{1, 2}, Tensor{3, 4});  // [[3, 4], [6, 8]]";
}

#endif
