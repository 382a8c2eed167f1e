// Shape rules of indexing and sorting ops.
#pragma once
#include "dialects/kiln/rules/shape_rules.h"

namespace kiln {

Result<TensorType> gather_type(const TensorType& x, const TensorType& indices, int64_t axis);
Result<TensorType> gather_backward_type(const TensorType& x, const TensorType& indices, const Shape& shape,
                                        int64_t axis);
Result<TensorType> scatter_add_type(const TensorType& x, const TensorType& indices, const TensorType& updates,
                                    int64_t axis);
Result<TensorType> take_along_axis_type(const TensorType& x, const TensorType& indices, int64_t axis);
Result<TensorType> gather_nd_type(const TensorType& x, const TensorType& indices);
Result<TensorType> check_range_type(const TensorType& x, const Shape& limit);
Result<TensorType> argsort_rows_type(const TensorType& x);
Result<std::vector<TensorType>> top_k_types(const TensorType& x, int64_t k);

}  // namespace kiln
