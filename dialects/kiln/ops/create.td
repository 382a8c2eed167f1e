// Tensors out of nothing: sources (elements from their number) and what is made of them.
#ifndef KILN_CREATE_TD
#define KILN_CREATE_TD
include "dialects/kiln/ops/base.td"

def Kiln_ConstantOp : Kiln_Source<"constant"> {
  let summary = "A tensor whose elements are known when the function is traced.";
  let arguments = (ins Kiln_Int:$index);
  let non_differentiable = "a constant";
  let is_public = 0;
}

def Kiln_IotaOp : Kiln_Source<"iota"> {
  let summary = "0, 1, 2, ...: each element is its own row-major number.";
  let arguments = (ins Kiln_Dims:$shape, Default<Kiln_DType, "DType::i32">:$dtype);
  let shape_rule = [{ return source_type(shape, dtype); }];
  let body = [{ return convert(index, dtype); }];
  let non_differentiable = "a constant";
  let numpy = "np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)";
  let example = "Tensor x = iota({2, 3});  // [[0, 1, 2], [3, 4, 5]]";
}

def Kiln_ZerosOp : Kiln_Source<"zeros"> {
  let summary = "A tensor of zeros (false for bool).";
  let arguments = (ins Kiln_Dims:$shape, Default<Kiln_DType, "DType::f32">:$dtype);
  let shape_rule = [{ return source_type(shape, dtype); }];
  let body = [{ return constant_of(index, result, 0); }];
  let non_differentiable = "a constant";
  let numpy = "np.zeros(shape, dtype)";
  let example = "Tensor x = zeros({64, 128}, {.dtype = DType::f64});";
}

def Kiln_OnesOp : Kiln_Source<"ones"> {
  let summary = "A tensor of ones (true for bool).";
  let arguments = (ins Kiln_Dims:$shape, Default<Kiln_DType, "DType::f32">:$dtype);
  let shape_rule = [{ return source_type(shape, dtype); }];
  let body = [{ return constant_of(index, result, 1); }];
  let non_differentiable = "a constant";
  let numpy = "np.ones(shape, dtype)";
  let example = "Tensor x = ones({3});  // [1, 1, 1]";
}

def Kiln_ZerosLikeOp : Kiln_Composite<"zeros_like"> {
  let summary = "Zeros of x's shape and dtype.";
  let arguments = (ins Kiln_Tensor:$x);
  let composite = [{ return zeros(x.shape(), {.dtype = x.dtype()}); }];
  let numpy = "np.zeros_like(x)";
  let example = "Tensor z = zeros_like(x);";
}

def Kiln_OnesLikeOp : Kiln_Composite<"ones_like"> {
  let summary = "Ones of x's shape and dtype.";
  let arguments = (ins Kiln_Tensor:$x);
  let composite = [{ return ones(x.shape(), {.dtype = x.dtype()}); }];
  let numpy = "np.ones_like(x)";
  let example = "Tensor z = ones_like(x);";
}

def Kiln_FullOp : Kiln_Composite<"full"> {
  let summary = "A tensor of the shape whose elements are all `fill_value`, of its dtype.";
  let arguments = (ins Kiln_Dims:$shape, Kiln_Tensor:$fill_value);
  let aliases = ["fill"];
  let constraints = ["C1: fill_value broadcasts to shape."];
  let composite = [{ return broadcast_to(fill_value, shape); }];
  let example = "Tensor x = full({2, 2}, 7.f);  // [[7, 7], [7, 7]]";
}

def Kiln_FullLikeOp : Kiln_Composite<"full_like"> {
  let summary = "A tensor of x's shape and dtype whose elements are all `fill_value`.";
  let arguments = (ins Kiln_Tensor:$x, Kiln_Tensor:$fill_value);
  let composite = [{ return broadcast_to(fill_value, x.shape()); }];
  let numpy = "np.broadcast_to(fill_value, x.shape)";
  let example = "Tensor z = full_like(x, 3);";
}

def Kiln_EyeOp : Kiln_Composite<"eye"> {
  let summary = "The identity matrix: ones on the main diagonal.";
  let arguments = (ins Kiln_Int:$rows, Default<Kiln_Int, "-1">:$columns, Default<Kiln_DType, "DType::f32">:$dtype);
  let constraints = ["C1: rows >= 0; columns = -1 means as many as rows."];
  let composite = [{
    if (rows < 0 || columns < -1) fail(Code::invalid_argument, "a size is negative");
    const int64_t width = columns < 0 ? rows : columns;
    return cast(equal(iota({rows, 1}), iota({1, width})), dtype);
  }];
  let numpy = "np.eye(rows, None if columns < 0 else columns, dtype=dtype)";
  let example = "Tensor i = eye(3);";
}

def Kiln_ArangeOp : Kiln_Composite<"arange"> {
  let summary = "start, start + delta, ... up to but without limit. Computed in f64 (integer dtypes: exactly), then cast.";
  let arguments = (ins Kiln_Float:$start, Kiln_Float:$limit, Default<Kiln_Float, "1">:$delta, Default<Kiln_DType, "DType::i32">:$dtype);
  let constraints = ["C1: delta is not 0.", "C2: for an integer dtype start and delta are whole numbers."];
  let composite = [{
    const int64_t count = arange_count(start, limit, delta, dtype);
    if (is_floating(dtype)) return cast(iota({count}, {.dtype = DType::f64}) * delta + start, dtype);
    return cast(iota({count}, {.dtype = DType::i64}) * static_cast<int64_t>(delta) + static_cast<int64_t>(start), dtype);
  }];
  let numpy = "np.arange(start, limit, delta).astype(dtype)";
  let example = "Tensor x = arange(0, 5);  // [0, 1, 2, 3, 4]  i32";
}

def Kiln_LinspaceOp : Kiln_Composite<"linspace"> {
  let summary = "`count` numbers from start to stop, both included, at equal distances. Computed in f64, then cast.";
  let arguments = (ins Kiln_Float:$start, Kiln_Float:$stop, Kiln_Int:$count, Default<Kiln_DType, "DType::f32">:$dtype);
  let dtypes = floats;
  let constraints = ["C1: count >= 1."];
  let composite = [{
    if (count < 1) fail(Code::invalid_argument, "count is " + std::to_string(count) + ", it must be 1 or more");
    const double step = count == 1 ? 0 : (stop - start) / static_cast<double>(count - 1);
    const Tensor i = iota({count}, {.dtype = DType::f64});
    if (count == 1) return cast(i + start, dtype);
    return cast(where(equal(i, static_cast<double>(count - 1)), stop, i * step + start), dtype);
  }];
  let numpy = "np.linspace(start, stop, count).astype(dtype)";
  let accuracy = "1 ulp";
  let example = "Tensor x = linspace(0, 1, 5);  // [0, 0.25, 0.5, 0.75, 1]";
}

def Kiln_OneHotOp : Kiln_Composite<"one_hot"> {
  let summary = "A new axis of size depth: on_value at the index, off_value elsewhere; an index out of range gives off_value everywhere.";
  let arguments = (ins Kiln_Tensor:$indices, Kiln_Int:$depth, Default<Kiln_Float, "1">:$on_value, Default<Kiln_Float, "0">:$off_value,
                       Default<Kiln_Int, "-1">:$axis, Default<Kiln_DType, "DType::f32">:$dtype);
  let operand_dtypes = ["index"];
  let constraints = ["C1: depth >= 0.", "C2: axis is in [-rank - 1, rank]."];
  let composite = [{
    if (depth < 0) fail(Code::invalid_argument, "depth is " + std::to_string(depth) + ", it must not be negative");
    const int64_t at = checked_axis(axis, indices.rank() + 1);
    Shape along;
    for (int i = 0; i <= indices.rank(); ++i) along.push_back(i == at ? depth : 1);
    const Tensor hit = equal(expand_dims(indices, at), reshape(iota({depth}, {.dtype = indices.dtype()}), along));
    return where(hit, cast(on_value, dtype), cast(off_value, dtype));
  }];
  let domain = ["0", "5"];
  let example = "Tensor y = one_hot(Tensor{0, 2}, 3);  // [[1, 0, 0], [0, 0, 1]]";
}

class Kiln_Triangle<string mnemonic, string comparison> : Kiln_Composite<mnemonic> {
  let arguments = (ins Kiln_Tensor:$x, Default<Kiln_Int, "0">:$diagonal);
  let options = "TriangleOptions";
  let constraints = ["C1: x has rank >= 2."];
  let composite = "if (x.rank() < 2) fail(Code::invalid_argument, \"x is \" + type_text(x) + \", it needs rank 2 or more\");\n"
                  # "const int64_t shift = std::clamp(diagonal, -(int64_t{1} << 62), int64_t{1} << 62);\n"
                  # "const Tensor rows = iota({x.shape()[x.rank() - 2], 1}, {.dtype = DType::i64});\n"
                  # "const Tensor columns = iota({1, x.shape().back()}, {.dtype = DType::i64});\n"
                  # "return where(" # comparison # "(columns, rows + shift), x, zeros_like(x));\n";
}
def Kiln_TrilOp : Kiln_Triangle<"tril", "less_equal"> {
  let summary = "The lower triangle of each matrix of x: zeros above the diagonal (0: the main one, 1: the one above it).";
  let numpy = "np.tril(x, diagonal)";
  let example = "Tensor l = tril(ones({3, 3}));";
}
def Kiln_TriuOp : Kiln_Triangle<"triu", "greater_equal"> {
  let summary = "The upper triangle of each matrix of x: zeros below the diagonal.";
  let numpy = "np.triu(x, diagonal)";
  let example = "Tensor u = triu(ones({3, 3}), {.diagonal = 1});";
}

#endif
