// Indexing by tensors, sorting. An index out of range is an error that names it; nothing is read or written then.
#ifndef KILN_INDEX_TD
#define KILN_INDEX_TD
include "dialects/kiln/ops/base.td"

def Kiln_GatherOp : Kiln_Structured<"gather"> {
  let summary = "The slices of x along the axis that indices names; indices' dims take the place of the axis.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Tensor:$indices, Default<Kiln_Int, "0">:$axis);
  let operand_dtypes = ["T", "index"];
  let constraints = ["C1: x has rank >= 1; axis is in [-rank, rank).", "C2: 0 <= index < size of the axis."];
  let shape_rule = [{ return gather_type(x, indices, axis); }];
  let call = [{ return gather_call(x, indices, axis); }];
  let gradient = [{ return {gather_backward(dresult, indices, x.shape(), {axis}), Tensor{}}; }];
  let domain = ["-4", "4", "0", "1"];
  let numpy = "np.take(x, indices, axis)";
  let example = "Tensor rows = gather(table, Tensor{2, 0, 2});";
}

def Kiln_GatherBackwardOp : Kiln_Structured<"gather_backward"> {
  let summary = "Zeros of the shape, onto whose slices x's slices are added at the places that gather would take them from: gather's gradient.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Tensor:$indices, Kiln_Dims:$shape, Default<Kiln_Int, "0">:$axis);
  let options = "GatherOptions";
  let operand_dtypes = ["T", "index"];
  let dtypes = numbers;
  let constraints = ["C1: x has the shape of gather(result, indices, axis).", "C2: 0 <= index < size of the axis; equal indices add up, in order."];
  let shape_rule = [{ return gather_backward_type(x, indices, shape, axis); }];
  let call = [{ return scatter_call("scatter_add", indices, axis, result); }];
  let gradient = [{ return {gather(dresult, indices, {axis}), Tensor{}}; }];
  let example = "Tensor y = gather_backward(Tensor{1.f, 2.f, 3.f}, Tensor{1, 1, 2}, {4});  // [0, 3, 3, 0]";
}

def Kiln_ScatterAddOp : Kiln_Structured<"scatter_add"> {
  let summary = "x, onto whose slices along the axis the slices of updates are added at indices; equal indices add up, in order.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Tensor:$indices, Kiln_Tensor:$updates, Default<Kiln_Int, "0">:$axis);
  let options = "GatherOptions";
  let operand_dtypes = ["T", "index", "T"];
  let dtypes = numbers;
  let constraints = ["C1: updates has the shape of gather(x, indices, axis).", "C2: 0 <= index < size of the axis."];
  let shape_rule = [{ return scatter_add_type(x, indices, updates, axis); }];
  let call = [{ return scatter_call("tensor_scatter_add", indices, axis, result); }];
  let gradient = [{ return {dresult, Tensor{}, gather(dresult, indices, {axis})}; }];
  let example = "Tensor y = scatter_add(zeros({3}), Tensor{0, 0}, Tensor{1.f, 2.f});  // [3, 0, 0]";
}

def Kiln_TakeOp : Kiln_Composite<"take"> {
  let summary = "gather whose indices may be negative: -1 is the last slice.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Tensor:$indices, Default<Kiln_Int, "0">:$axis);
  let options = "GatherOptions";
  let operand_dtypes = ["T", "index"];
  let constraints = ["C1: -n <= index < n, the size of the axis, which is known."];
  let composite = [{
    const int64_t n = known_dim(x, checked_axis(axis, x.rank()));
    // An index below -n stays as it is: the error then names the user's number.
    const Tensor wrapped = where(logical_and(less(indices, 0), greater_equal(indices, -n)), indices + n, indices);
    return gather(x, wrapped, {axis});
  }];
  let domain = ["-4", "4", "-1", "1"];
  let numpy = "np.take(x, indices, axis)";
  let example = "Tensor last = take(x, -1);";
}

def Kiln_TakeAlongAxisOp : Kiln_Structured<"take_along_axis"> {
  let summary = "For each element of indices the element of x at that index along the axis, and at the same place in all other axes.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Tensor:$indices, Default<Kiln_Int, "-1">:$axis);
  let operand_dtypes = ["T", "index"];
  let constraints = ["C1: x and indices have one rank >= 1 and equal dims but for the axis.", "C2: 0 <= index < size of the axis."];
  let shape_rule = [{ return take_along_axis_type(x, indices, axis); }];
  let call = [{ return take_along_axis_call(x, indices, axis); }];
  let gradient = [{ return {take_along_axis_gradient(x, indices, axis, dresult), Tensor{}}; }];
  let domain = ["-4", "4", "0", "1"];
  let numpy = "np.take_along_axis(x, indices, axis)";
  let example = "Tensor best = take_along_axis(x, expand_dims(argmax(x, {1}), 1));";
}

def Kiln_GatherNdOp : Kiln_Structured<"gather_nd"> {
  let summary = "The slices of x at the positions in the last dim of indices.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Tensor:$indices);
  let operand_dtypes = ["T", "index"];
  let constraints = ["C1: indices has rank >= 1; its last dim is known and at most x's rank.", "C2: each index is within its axis."];
  let shape_rule = [{ return gather_nd_type(x, indices); }];
  let call = [{ return gather_nd_call(x, indices); }];
  let gradient = [{ return {tensor_scatter_nd_add(zeros_like(x), indices, dresult), Tensor{}}; }];
  let domain = ["-4", "4", "0", "1"];
  let example = "Tensor y = gather_nd(x, Tensor{{0, 1}, {2, 0}});  // [x[0,1], x[2,0]]";
}

def Kiln_TensorScatterNdAddOp : Kiln_Composite<"tensor_scatter_nd_add"> {
  let summary = "x, onto whose slices at the positions in the last dim of indices the slices of updates are added.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Tensor:$indices, Kiln_Tensor:$updates);
  let operand_dtypes = ["T", "index", "T"];
  let dtypes = numbers;
  let constraints = ["C1: indices has rank >= 1; its last dim is known and at most x's rank.", "C2: updates has the shape of gather_nd(x, indices).",
                     "C3: each index is within its axis; equal positions add up, in order."];
  let composite = [{ return scatter_nd_add(x, indices, updates); }];
  let example = "Tensor y = tensor_scatter_nd_add(zeros({3}), Tensor{{0}, {2}}, Tensor{1.f, 2.f});  // [1, 0, 2]";
}

def Kiln_ScatterNdOp : Kiln_Composite<"scatter_nd"> {
  let summary = "Zeros of the shape, onto whose slices at the positions in the last dim of indices the slices of updates are added.";
  let arguments = (ins Kiln_Tensor:$indices, Kiln_Tensor:$updates, Kiln_Dims:$shape);
  let operand_dtypes = ["index"];
  let dtypes = numbers;
  let composite = [{ return tensor_scatter_nd_add(zeros(shape, {updates.dtype()}), indices, updates); }];
  let example = "Tensor y = scatter_nd(Tensor{{0}, {2}}, Tensor{1.f, 2.f}, {3});  // [1, 0, 2]";
}

def Kiln_CheckRangeOp : Kiln_Structured<"check_range"> {
  let summary = "x; an error at run time if an element is not in [0, limit).";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Dims:$limit);
  let dtypes = ints;
  let constraints = ["C1: limit is one number."];
  let shape_rule = [{ return check_range_type(x, limit); }];
  let call = [{ return check_range_call(x, limit); }];
  let non_differentiable = "of integers";
  let example = "Tensor labels = check_range(y, {10});";
}

def Kiln_ArgsortRowsOp : Kiln_Structured<"argsort_rows"> {
  let summary = "argsort along the last axis.";
  let arguments = (ins Kiln_Tensor:$x, Default<Kiln_Bool, "false">:$descending);
  let options = "SortRowsOptions";
  let dtypes = numbers;
  let constraints = ["C1: x has rank >= 1."];
  let shape_rule = [{ return argsort_rows_type(x); }];
  let call = [{ return sort_call("argsort", x, descending); }];
  let non_differentiable = "the result is an index";
  let numpy = "np.argsort(x, kind='stable')";
  let example = "Tensor order = argsort_rows(x);";
}

def Kiln_ArgsortOp : Kiln_Composite<"argsort"> {
  let summary = "The indices (i64) that sort x along the axis. Stable: equal elements keep their order; NaN comes last, either way.";
  let arguments = (ins Kiln_Tensor:$x, Default<Kiln_Int, "-1">:$axis, Default<Kiln_Bool, "false">:$descending);
  let options = "SortOptions";
  let dtypes = numbers;
  let constraints = ["C1: x has rank >= 1; axis is in [-rank, rank)."];
  let composite = [{
    const int64_t at = checked_axis(axis, x.rank());
    const std::vector<int64_t> perm = swapped_with_last(at, x.rank());
    if (at == x.rank() - 1) return argsort_rows(x, {descending});
    return transpose(argsort_rows(transpose(x, {perm}), {descending}), {perm});
  }];
  let numpy = "np.argsort(x, axis=axis, kind='stable')";
  let example = "Tensor order = argsort(Tensor{3, 1, 2});  // [1, 2, 0]";
}

def Kiln_SortOp : Kiln_Composite<"sort"> {
  let summary = "x sorted along the axis. NaN comes last, either way.";
  let arguments = (ins Kiln_Tensor:$x, Default<Kiln_Int, "-1">:$axis, Default<Kiln_Bool, "false">:$descending);
  let options = "SortOptions";
  let dtypes = numbers;
  let constraints = ["C1: x has rank >= 1; axis is in [-rank, rank)."];
  let composite = [{ return take_along_axis(x, argsort(x, {axis, descending}), {axis}); }];
  let numpy = "np.sort(x, axis=axis)";
  let example = "Tensor y = sort(Tensor{3, 1, 2});  // [1, 2, 3]";
}

def Kiln_SearchsortedOp : Kiln_Structured<"searchsorted"> {
  let summary = "For each of the values, the place (i64) where it goes into its sorted row: before equal elements, or after them (right). NaN comes last.";
  let arguments = (ins Kiln_Tensor:$sorted, Kiln_Tensor:$values, Default<Kiln_Bool, "false">:$right);
  let dtypes = numbers;
  let constraints = ["C1: sorted and values have one rank >= 1 and equal dims but for the last.", "C2: the rows of sorted ascend along the last axis (not checked)."];
  let shape_rule = [{
    const int rank = sorted.shape.rank();
    bool fits = rank >= 1 && rank == values.shape.rank();
    for (int i = 0; fits && i < rank - 1; ++i) fits = same(sorted.shape[i], values.shape[i]);
    if (!fits) return bad("sorted is " + to_string(sorted) + " but values is " + to_string(values) + ": all dims but the last must be equal");
    return TensorType{DType::i64, values.shape};
  }];
  let call = [{
    const Around row = around(sorted.shape, -1);
    return LibraryCall{by_dtype("searchsorted", sorted.dtype), {row.outer, row.size, around(values.shape, -1).size, right ? 1 : 0}};
  }];
  let non_differentiable = "the result is an index";
  let example = "Tensor i = searchsorted(Tensor{1.f, 3.f, 3.f, 7.f}, Tensor{3.f, 9.f});  // [1, 4]";
}

def Kiln_TopKOp : Kiln_Structured<"top_k"> {
  let summary = "The k largest elements along the last axis, the largest first, and their indices (i64); the lower index first where they are equal.";
  let arguments = (ins Kiln_Tensor:$x, Default<Kiln_Int, "1">:$k);
  let results = (outs Kiln_Tensor:$values, Kiln_Tensor:$indices);
  let dtypes = numbers;
  let constraints = ["C1: x has rank >= 1.", "C2: 0 <= k <= size of the last axis."];
  let shape_rule = [{ return top_k_types(x, k); }];
  let call = [{ return top_k_call(x, k); }];
  let gradient = [{ return {dvalues.defined() ? take_along_axis_gradient(x, indices, -1, dvalues) : Tensor{}}; }];
  let example = "auto [values, indices] = top_k(Tensor{1, 3, 3, 2}, {.k = 2});  // [3, 3], [1, 2]";
}

def Kiln_InTopKOp : Kiln_Composite<"in_top_k"> {
  let summary = "Whether each target's prediction is among the k largest of its row; not if it is NaN or infinite.";
  let arguments = (ins Kiln_Tensor:$targets, Kiln_Tensor:$predictions, Kiln_Int:$k);
  let operand_dtypes = ["index"];
  let dtypes = floats;
  let constraints = ["C1: predictions is [batch, classes], targets [batch].", "C2: 0 <= target < classes."];
  let composite = [{
    const Tensor own = take_along_axis(predictions, expand_dims(targets, -1), {-1});
    const Tensor larger = reduce_sum(cast(greater(predictions, own), DType::i64), {{-1}, false});
    return logical_and(less(larger, k), is_finite(squeeze(own, {{-1}})));
  }];
  let example = "Tensor hit = in_top_k(labels, logits, 5);";
}

#endif
