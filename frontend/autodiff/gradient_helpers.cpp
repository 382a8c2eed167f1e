#include "frontend/autodiff/gradient_helpers.h"

#include "dialects/kiln/rules/shape_rules.h"

namespace kiln {

Tensor sum_to_shape(const Tensor& g, const Shape& shape) {
  if (g.shape() == shape) return g;
  const int extra = g.rank() - shape.rank();
  std::vector<int64_t> axes;
  for (int i = 0; i < g.rank(); ++i) {
    if (i < extra) {
      axes.push_back(i);
    } else if (!(shape[i - extra] == g.shape()[i])) {
      if (!(shape[i - extra] == Dim(1)))
        fail(Code::unimplemented, "the gradient cannot tell before the dims are known whether " + to_string(shape) +
                                      " was broadcast to " + to_string(g.shape()) +
                                      "; give both dims one name, or reshape to a dim of 1");
      axes.push_back(i);
    }
  }
  return reshape(reduce_sum(g, {axes, false}), shape);
}

Tensor restore_axes(const Tensor& g, const Tensor& x, const std::vector<int64_t>& axis, bool keepdims) {
  if (keepdims) return g;
  Shape shape = x.shape();
  for (int64_t a : checked_axes(axis, x.rank())) shape[static_cast<int>(a)] = 1;
  return reshape(g, shape);
}

Tensor share_gradient(const Tensor& wins, const Tensor& ties, const Tensor& g) {
  const Tensor zero = zeros_like(g);
  return where(wins, g, where(ties, 0.5 * g, zero));
}

Tensor extreme_gradient(const Tensor& x, const Tensor& result, const std::vector<int64_t>& axis, bool keepdims,
                        const Tensor& g) {
  const Tensor chosen = equal(x, restore_axes(result, x, axis, keepdims));
  const Tensor count = reduce_sum(cast(chosen, g.dtype()), {axis, true});
  return where(chosen, restore_axes(g, x, axis, keepdims) / count, zeros_like(x));
}

Tensor prod_gradient(const Tensor& x, const std::vector<int64_t>& axis, bool keepdims, const Tensor& g) {
  const Tensor zero = equal(x, 0);
  const Tensor zeros = reduce_sum(cast(zero, x.dtype()), {axis, true});
  const Tensor others = where(zero, ones_like(x), x);
  const Tensor product = reduce_prod(others, {axis, true});
  // With one zero only that element has a gradient: the product of the others. With more, none has.
  const Tensor at_zero = where(logical_and(zero, equal(zeros, 1)), product, zeros_like(x));
  return restore_axes(g, x, axis, keepdims) * where(equal(zeros, 0), product / others, at_zero);
}

std::vector<Tensor> matmul_gradient(const Tensor& x, const Tensor& y, bool transpose_x, bool transpose_y,
                                    const Tensor& g) {
  const Tensor dx = transpose_x ? matmul(y, g, {transpose_y, true}) : matmul(g, y, {false, !transpose_y});
  const Tensor dy = transpose_y ? matmul(g, x, {true, transpose_x}) : matmul(x, g, {!transpose_x, false});
  return {sum_to_shape(dx, x.shape()), sum_to_shape(dy, y.shape())};
}

std::vector<Tensor> concat_gradient(std::span<const Tensor> xs, int64_t axis, const Tensor& g) {
  const int at = static_cast<int>(checked_axis(axis, g.rank()));
  Shape begin;
  for (int i = 0; i < g.rank(); ++i) begin.push_back(0);
  std::vector<Tensor> gradients;
  for (const Tensor& x : xs) {
    gradients.push_back(slice(g, begin, x.shape()));
    begin[at] = begin[at] + x.shape()[at];
  }
  return gradients;
}

Tensor take_along_axis_gradient(const Tensor& x, const Tensor& indices, int64_t axis, const Tensor& g) {
  const int at = static_cast<int>(checked_axis(axis, x.rank()));
  Dim outer = 1, inner = 1;
  for (int i = 0; i < at; ++i) outer = outer * x.shape()[i];
  for (int i = at + 1; i < x.rank(); ++i) inner = inner * x.shape()[i];
  const int64_t n = known_dim(x, at);
  if (!inner.known())
    fail(Code::unimplemented,
         "the axes after axis " + std::to_string(at) + " of " + type_text(x) + " must have known sizes here");
  // Each index as the row-major number of the element it names.
  const Tensor rows =
      iota({outer, 1, 1}, {DType::i64}) * n + cast(reshape(indices, {outer, indices.shape()[at], inner}), DType::i64);
  const Tensor numbers = rows * inner.size() + iota({1, 1, inner}, {DType::i64});
  return reshape(gather_backward(reshape(g, {-1}), reshape(numbers, {-1}), {outer * Dim(n) * inner}), x.shape());
}

std::vector<int64_t> inverse_permutation(const std::vector<int64_t>& perm, int rank) {
  const std::vector<int64_t> full = full_permutation(perm, rank);
  std::vector<int64_t> inverse(full.size());
  for (size_t i = 0; i < full.size(); ++i) inverse[full[i]] = static_cast<int64_t>(i);
  return inverse;
}

}  // namespace kiln
