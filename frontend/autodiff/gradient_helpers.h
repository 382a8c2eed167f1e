// What the records' gradient rules share; all written with public ops.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "frontend/ops/composite_helpers.h"
#include "generated/ops.h"

namespace kiln {

// g summed over the axes along which a tensor of `shape` was broadcast to g's shape.
Tensor sum_to_shape(const Tensor& g, const Shape& shape);

// The gradient (or result) of a reduction of x with its reduced axes back, as size 1.
Tensor restore_axes(const Tensor& g, const Tensor& x, const std::vector<int64_t>& axis, bool keepdims);

// g where `wins`, half of it where `ties`, else 0.
Tensor share_gradient(const Tensor& wins, const Tensor& ties, const Tensor& g);
// The gradient of reduce_max and reduce_min: elements equal to the result share it equally.
Tensor extreme_gradient(const Tensor& x, const Tensor& result, const std::vector<int64_t>& axis, bool keepdims,
                        const Tensor& g);
// The gradient of reduce_prod, right for zeros too.
Tensor prod_gradient(const Tensor& x, const std::vector<int64_t>& axis, bool keepdims, const Tensor& g);

std::vector<Tensor> matmul_gradient(const Tensor& x, const Tensor& y, bool transpose_x, bool transpose_y,
                                    const Tensor& g);
std::vector<Tensor> concat_gradient(std::span<const Tensor> xs, int64_t axis, const Tensor& g);
Tensor take_along_axis_gradient(const Tensor& x, const Tensor& indices, int64_t axis, const Tensor& g);

// The permutation that undoes `perm` (empty: reversed).
std::vector<int64_t> inverse_permutation(const std::vector<int64_t>& perm, int rank);

}  // namespace kiln
