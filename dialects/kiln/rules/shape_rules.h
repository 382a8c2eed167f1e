// What the records' `shape_rule` and `call` snippets may use: written once over Dim, so they serve eager calls, traces
// and the verifier alike. Errors name what was got and what is needed; infer_types() adds the op's name, the frontend
// the user's line.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/api/graph.h"
#include "runtime/base/shape.h"
#include "runtime/base/status.h"

namespace kiln {

// "f32[2,3]"
std::string to_string(const TensorType& type);

// invalid_argument with this text.
Status bad(std::string text);

// The common shape under NumPy broadcasting. Two unlike unknown dims give a DimOp::broadcast dim.
Result<Shape> broadcast_shapes(std::span<const Shape> shapes);

// axis in [-rank, rank) made non-negative; several: sorted, no repeats.
Result<int64_t> normalize_axis(int64_t axis, int rank);
Result<std::vector<int64_t>> normalize_axes(const std::vector<int64_t>& axes, int rank);  // empty: all

// Whether two dims are the same for sure. Unlike unknown dims are not: kernels rely on it.
inline bool same(Dim a, Dim b) { return a == b; }

// Elementwise ops: the operands broadcast together, or into a shape that the op is given.
Result<TensorType> elementwise_type(DType dtype, std::span<const TensorType> operands,
                                    std::span<const std::string_view> names);
Result<TensorType> broadcast_to_type(const TensorType& x, const Shape& shape);
Result<TensorType> broadcast_all_to(std::span<const TensorType> operands, const Shape& shape, DType dtype);
Result<TensorType> random_type(std::span<const TensorType> operands, const Shape& shape, DType dtype);  // a float
Result<TensorType> source_type(const Shape& shape, DType dtype);

// empty_is_error: what to say where a reduction over no elements has no value; "": it has one.
Result<TensorType> reduction_type(const TensorType& x, const std::vector<int64_t>& axis, bool keepdims, DType dtype,
                                  std::string_view empty_is_error);
Result<TensorType> arg_type(const TensorType& x, int64_t axis);
Result<TensorType> same_with_axis(const TensorType& x, int64_t axis);                      // x, after a check of axis
Result<TensorType> same_with_axes(const TensorType& x, const std::vector<int64_t>& axes);  // x, after a check of axes

// Shapes.
Result<TensorType> reshape_type(const TensorType& x, const Shape& shape);
Result<TensorType> expand_dims_type(const TensorType& x, int64_t axis);
Result<TensorType> squeeze_type(const TensorType& x, const std::vector<int64_t>& axis);
Result<TensorType> transpose_type(const TensorType& x, const std::vector<int64_t>& perm);
std::vector<int64_t> full_permutation(const std::vector<int64_t>& perm, int rank);  // empty: reversed
Result<TensorType> slice_type(const TensorType& x, const Shape& begin, const Shape& size,
                              const std::vector<int64_t>& strides);
Result<TensorType> slice_backward_type(const TensorType& x, const Shape& shape, const Shape& begin,
                                       const std::vector<int64_t>& strides);
Result<TensorType> pad_type(const TensorType& x, const std::vector<int64_t>& paddings);
Shape pad_begin(const std::vector<int64_t>& paddings);  // the padding before each axis
Result<TensorType> concat_type(std::span<const TensorType> xs, int64_t axis);

Result<TensorType> matmul_type(const TensorType& x, const TensorType& y, bool transpose_x, bool transpose_y);

}  // namespace kiln
