// What the bodies of composite ops (records, `composite`) share. Errors are thrown with the name of the op that the
// user called.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "frontend/ops/dispatch.h"
#include "generated/ops.h"

namespace kiln {

// "f32[2,3]"
std::string type_text(const Tensor& x);

// An axis in [-rank, rank) made non-negative; several: sorted, none twice, all for none given.
int64_t checked_axis(int64_t axis, int rank);
std::vector<int64_t> checked_axes(const std::vector<int64_t>& axes, int rank);
// The size of an axis (not negative), which must be known.
int64_t known_dim(const Tensor& x, int64_t axis);
// The permutation that swaps an axis with the last one.
std::vector<int64_t> swapped_with_last(int64_t axis, int rank);

// Number of elements of arange.
int64_t arange_count(double start, double limit, double delta, DType dtype);
// The sizes of split's parts of an axis of n elements.
std::vector<int64_t> split_sizes(int64_t n, const std::vector<int64_t>& sizes);
// sum / the number of x's elements along the axes.
Tensor divided_by_count(const Tensor& sum, const Tensor& x, const std::vector<int64_t>& axis);
// x in the shape of `like`.
Tensor reshape_like(const Tensor& x, const Tensor& like);
// Sums of products over pairs of axes, as tensordot.
Tensor contract(const Tensor& x, const Tensor& y, const std::vector<int64_t>& x_axes,
                const std::vector<int64_t>& y_axes);
// tensor_scatter_nd_add.
Tensor scatter_nd_add(const Tensor& x, const Tensor& indices, const Tensor& updates);
// Key and high half of the counter of the Philox stream that belongs to a seed; see dialects/kiln/ops/random.td.
std::pair<Tensor, Tensor> mixed_seed(const Tensor& seed);

}  // namespace kiln
