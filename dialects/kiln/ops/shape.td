// Shapes: views (no copy) and rearrangements (library kernels).
#ifndef KILN_SHAPE_TD
#define KILN_SHAPE_TD
include "dialects/kiln/ops/base.td"

def Kiln_ReshapeOp : Kiln_View<"reshape"> {
  let summary = "The same elements in row-major order under another shape; one dim may be -1: it is worked out from the others.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Dims:$shape);
  let constraints = ["C1: at most one dim is -1.", "C2: both shapes have the same number of elements."];
  let shape_rule = [{ return reshape_type(x, shape); }];
  let gradient = [{ return {reshape(dresult, x.shape())}; }];
  let numpy = "np.reshape(x, shape)";
  let example = "Tensor y = reshape(x, {-1, 784});";
}

def Kiln_ExpandDimsOp : Kiln_View<"expand_dims"> {
  let summary = "A new axis of size 1, before which the result has `axis` axes; negative: from the end of the result's.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Int:$axis);
  let constraints = ["C1: axis is in [-rank - 1, rank]."];
  let shape_rule = [{ return expand_dims_type(x, axis); }];
  let gradient = [{ return {reshape(dresult, x.shape())}; }];
  let numpy = "np.expand_dims(x, axis)";
  let example = "Tensor column = expand_dims(Tensor{1, 2, 3}, 1);  // i32[3,1]";
}

def Kiln_SqueezeOp : Kiln_View<"squeeze"> {
  let summary = "Without the given axes, whose size must be 1; without all axes of size 1 if none is given.";
  let arguments = (ins Kiln_Tensor:$x, Default<Kiln_Ints, "{}">:$axis);
  let constraints = ["C1: each axis is in [-rank, rank) and has size 1."];
  let shape_rule = [{ return squeeze_type(x, axis); }];
  let gradient = [{ return {reshape(dresult, x.shape())}; }];
  let numpy = "np.squeeze(x, tuple(axis) or None)";
  let example = "Tensor y = squeeze(x, {.axis = {-1}});";
}

def Kiln_IdentityOp : Kiln_View<"identity"> {
  let summary = "x.";
  let arguments = (ins Kiln_Tensor:$x);
  let shape_rule = [{ return x; }];
  let gradient = [{ return {dresult}; }];
  let numpy = "x";
  let example = "Tensor y = identity(x);";
}

def Kiln_StopGradientOp : Kiln_View<"stop_gradient"> {
  let summary = "x, through which no gradient flows.";
  let arguments = (ins Kiln_Tensor:$x);
  let shape_rule = [{ return x; }];
  let non_differentiable = "that is what it is for";
  let numpy = "x";
  let example = "Tensor target = stop_gradient(prediction);";
}

def Kiln_BroadcastToOp : Kiln_Unary<"broadcast_to"> {
  let summary = "x repeated along its dims of size 1, and along new leading dims, up to the shape.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Dims:$shape);
  let constraints = ["C1: x broadcasts to shape."];
  let shape_rule = [{ return broadcast_to_type(x, shape); }];
  let body = [{ return x; }];
  let gradient = [{ return {dresult}; }];
  let numpy = "np.broadcast_to(x, shape)";
  let example = "Tensor y = broadcast_to(Tensor{1, 2}, {3, 2});  // [[1, 2], [1, 2], [1, 2]]";
}

def Kiln_TransposeOp : Kiln_Structured<"transpose"> {
  let summary = "The axes in another order: axis i of the result is axis perm[i] of x; no perm: all axes reversed.";
  let arguments = (ins Kiln_Tensor:$x, Default<Kiln_Ints, "{}">:$perm);
  let aliases = ["permute"];
  let constraints = ["C1: perm names each axis of x once."];
  let shape_rule = [{ return transpose_type(x, perm); }];
  let call = [{ return transpose_call(x, perm); }];
  let gradient = [{ return {transpose(dresult, {inverse_permutation(perm, x.rank())})}; }];
  let numpy = "np.transpose(x, tuple(perm) or None)";
  let example = "Tensor y = transpose(x, {.perm = {0, 2, 1}});";
}

def Kiln_MatrixTransposeOp : Kiln_Composite<"matrix_transpose"> {
  let summary = "The last two axes swapped.";
  let arguments = (ins Kiln_Tensor:$x);
  let constraints = ["C1: x has rank >= 2."];
  let composite = [{
    if (x.rank() < 2) fail(Code::invalid_argument, "x is " + type_text(x) + ", it needs rank 2 or more");
    std::vector<int64_t> perm;
    for (int i = 0; i < x.rank(); ++i) perm.push_back(i);
    std::swap(perm[x.rank() - 1], perm[x.rank() - 2]);
    return transpose(x, {perm});
  }];
  let numpy = "np.swapaxes(x, -1, -2)";
  let example = "Tensor y = matrix_transpose(x);";
}

def Kiln_SliceOp : Kiln_Structured<"slice"> {
  let summary = "A box of x: in each axis `size` elements from `begin` on, every stride-th one; size -1: all to the end.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Dims:$begin, Kiln_Dims:$size, Default<Kiln_Ints, "{}">:$strides);
  let constraints = ["C1: begin, size and strides (if given) have one entry per axis; begin >= 0, strides >= 1.", "C2: the box lies within x."];
  let shape_rule = [{ return slice_type(x, begin, size, strides); }];
  let call = [{ return slice_call(x, begin, strides, result); }];
  let gradient = [{ return {slice_backward(dresult, x.shape(), begin, {strides})}; }];
  let example = "Tensor y = slice(x, {0, 1}, {2, -1});";
}

def Kiln_SliceBackwardOp : Kiln_Structured<"slice_backward"> {
  let summary = "Zeros of the shape, with x's elements where slice(begin, size of x, strides) would take them from: the gradient of slice.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Dims:$shape, Kiln_Dims:$begin, Default<Kiln_Ints, "{}">:$strides);
  let options = "SliceOptions";
  let constraints = ["C1: shape, begin and strides (if given) have one entry per axis; begin >= 0, strides >= 1.", "C2: x fits into shape."];
  let shape_rule = [{ return slice_backward_type(x, shape, begin, strides); }];
  let call = [{ return pad_call(x, begin, strides, 0, result); }];
  let gradient = [{ return {slice(dresult, begin, x.shape(), {strides})}; }];
  let example = "Tensor y = slice_backward(Tensor{1, 2}, {4}, {1});  // [0, 1, 2, 0]";
}

def Kiln_PadOp : Kiln_Structured<"pad"> {
  let summary = "x with `constant_value` around it: paddings holds the number before and after, axis by axis.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Ints:$paddings, Default<Kiln_Float, "0">:$constant_value);
  let constraints = ["C1: paddings has two entries >= 0 per axis."];
  let shape_rule = [{ return pad_type(x, paddings); }];
  let call = [{ return pad_call(x, pad_begin(paddings), {}, constant_value, result); }];
  let gradient = [{ return {slice(dresult, pad_begin(paddings), x.shape())}; }];
  let numpy = "np.pad(x, np.reshape(paddings, (-1, 2)), constant_values=constant_value)";
  let example = "Tensor y = pad(Tensor{1, 2}, {1, 2});  // [0, 1, 2, 0, 0]";
}

def Kiln_ReverseOp : Kiln_Structured<"reverse"> {
  let summary = "The elements in reverse order along the axes.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Ints:$axis);
  let aliases = ["flip"];
  let constraints = ["C1: each axis is in [-rank, rank), none twice."];
  let shape_rule = [{ return same_with_axes(x, axis); }];
  let call = [{ return reverse_call(x, axis); }];
  let gradient = [{ return {reverse(dresult, axis)}; }];
  let numpy = "np.flip(x, axis)";
  let example = "Tensor y = reverse(Tensor{1, 2, 3}, {0});  // [3, 2, 1]";
}

def Kiln_ConcatOp : Kiln_Structured<"concat"> {
  let summary = "The tensors one after the other along the axis.";
  let arguments = (ins Variadic<Kiln_Tensor>:$xs, Kiln_Int:$axis);
  let constraints = ["C1: one tensor or more, all of one dtype and rank >= 1; axis is in [-rank, rank).", "C2: all dims but the axis are equal."];
  let shape_rule = [{ return concat_type(xs, axis); }];
  let call = [{ return concat_call(xs, axis, result); }];
  let gradient = [{ return concat_gradient(xs, axis, dresult); }];
  let numpy = "np.concatenate(xs, axis)";
  let example = "Tensor y = concat({a, b}, 0);";
}

def Kiln_StackOp : Kiln_Composite<"stack"> {
  let summary = "The tensors along a new axis.";
  let arguments = (ins Variadic<Kiln_Tensor>:$xs, Default<Kiln_Int, "0">:$axis);
  let constraints = ["C1: one tensor or more, all of one shape; axis is in [-rank - 1, rank]."];
  let composite = [{
    if (xs.empty()) fail(Code::invalid_argument, "no tensor is given");
    std::vector<Tensor> parts;
    for (const Tensor& x : xs) parts.push_back(expand_dims(x, axis));
    return concat(parts, axis);
  }];
  let numpy = "np.stack(xs, axis)";
  let example = "Tensor y = stack({Tensor{1, 2}, Tensor{3, 4}});  // [[1, 2], [3, 4]]";
}

def Kiln_UnstackOp : Kiln_Composite<"unstack"> {
  let summary = "The slices of x along the axis, without it.";
  let arguments = (ins Kiln_Tensor:$x, Default<Kiln_Int, "0">:$axis);
  let results = (outs Variadic<Kiln_Tensor>:$parts);
  let constraints = ["C1: the size of the axis is known."];
  let composite = [{
    const int64_t at = checked_axis(axis, x.rank());
    std::vector<Tensor> parts;
    for (const Tensor& part : split(x, std::vector<int64_t>(known_dim(x, at), 1), {at})) parts.push_back(squeeze(part, {{at}}));
    return parts;
  }];
  let example = "std::vector<Tensor> rows = unstack(x);";
}

def Kiln_SplitOp : Kiln_Composite<"split"> {
  let summary = "x cut along the axis: `sizes` of the parts; one number n alone: n equal parts.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Ints:$sizes, Default<Kiln_Int, "0">:$axis);
  let results = (outs Variadic<Kiln_Tensor>:$parts);
  let constraints = ["C1: the size of the axis is known and is the sum of sizes, or divisible by the one number."];
  let composite = [{
    const int64_t at = checked_axis(axis, x.rank());
    std::vector<Tensor> parts;
    Shape begin, size = x.shape();
    for (int i = 0; i < x.rank(); ++i) begin.push_back(0);
    for (int64_t n : split_sizes(known_dim(x, at), sizes)) {
      size[at] = n;
      parts.push_back(slice(x, begin, size));
      begin[at] = begin[at] + Dim(n);
    }
    return parts;
  }];
  let example = "std::vector<Tensor> halves = split(x, {2}, {.axis = 1});";
}

def Kiln_TileOp : Kiln_Composite<"tile"> {
  let summary = "x repeated `multiples` times along each axis.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Ints:$multiples);
  let constraints = ["C1: multiples has one entry >= 0 per axis."];
  let composite = [{
    if (static_cast<int>(multiples.size()) != x.rank())
      fail(Code::invalid_argument, "x is " + type_text(x) + ": multiples has " + std::to_string(multiples.size()) + " entries, it needs " + std::to_string(x.rank()));
    Tensor result = x;
    for (int i = 0; i < x.rank(); ++i) {  // one axis at a time: the rank stays small
      if (multiples[i] < 0) fail(Code::invalid_argument, "the multiple " + std::to_string(multiples[i]) + " of axis " + std::to_string(i) + " is negative");
      if (multiples[i] == 1) continue;
      Shape wide = result.shape(), final_shape = result.shape();
      wide.insert(i, multiples[i]);
      final_shape[i] = final_shape[i] * Dim(multiples[i]);
      result = reshape(broadcast_to(expand_dims(result, i), wide), final_shape);
    }
    return result;
  }];
  let numpy = "np.tile(x, multiples)";
  let example = "Tensor y = tile(Tensor{1, 2}, {2});  // [1, 2, 1, 2]";
}

def Kiln_RollOp : Kiln_Composite<"roll"> {
  let summary = "The elements moved by `shift` along the axis; those pushed over the end come in at the other.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Int:$shift, Kiln_Int:$axis);
  let constraints = ["C1: the size of the axis is known."];
  let composite = [{
    const int64_t at = checked_axis(axis, x.rank()), n = known_dim(x, at);
    const int64_t first = n == 0 ? 0 : (shift % n + n) % n;
    if (first == 0) return identity(x);
    std::vector<Tensor> parts = split(x, {n - first, first}, {at});
    return concat({parts[1], parts[0]}, at);
  }];
  let numpy = "np.roll(x, shift, axis)";
  let example = "Tensor y = roll(Tensor{1, 2, 3}, 1, 0);  // [3, 1, 2]";
}

def Kiln_SizeOp : Kiln_Composite<"size"> {
  let summary = "The number of elements along the axes (none given: of all) as a 0-d tensor; works for dims known only at run time.";
  let arguments = (ins Kiln_Tensor:$x, Default<Kiln_Ints, "{}">:$axis, Default<Kiln_DType, "DType::i64">:$dtype);
  let composite = [{
    int64_t known = 1;
    Tensor unknown;
    for (int64_t a : checked_axes(axis, x.rank())) {
      const Dim d = x.shape()[a];
      if (d.known()) known *= d.size();
      else unknown = unknown.defined() ? unknown * reduce_sum(ones({d}, {DType::i64})) : reduce_sum(ones({d}, {DType::i64}));
    }
    return cast(unknown.defined() ? unknown * known : Tensor(known), dtype);
  }];
  let numpy = "np.array(np.prod([x.shape[a] for a in axis] if axis else x.shape), dtype)";
  let example = "Tensor n = size(x);";
}

#endif
