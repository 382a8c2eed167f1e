#include "frontend/ops/composite_helpers.h"

#include <cmath>

#include "dialects/kiln/rules/shape_rules.h"

namespace kiln {
namespace {

template <class T>
T checked(Result<T> result) {
  if (!result.ok()) fail(result.status().code(), std::string(result.status().message()));
  return *std::move(result);
}

Dim product(const Shape& shape, int from, int to) {
  Dim d = 1;
  for (int i = from; i < to; ++i) d = d * shape[i];
  return d;
}

}  // namespace

std::string type_text(const Tensor& x) { return to_string(TensorType{x.dtype(), x.shape()}); }

int64_t checked_axis(int64_t axis, int rank) { return checked(normalize_axis(axis, rank)); }

std::vector<int64_t> checked_axes(const std::vector<int64_t>& axes, int rank) {
  return checked(normalize_axes(axes, rank));
}

int64_t known_dim(const Tensor& x, int64_t axis) {
  const Dim d = x.shape()[static_cast<int>(axis)];
  if (!d.known())
    fail(Code::unimplemented, "axis " + std::to_string(axis) + " of " + type_text(x) + " must have a known size here");
  return d.size();
}

std::vector<int64_t> swapped_with_last(int64_t axis, int rank) {
  std::vector<int64_t> perm;
  for (int i = 0; i < rank; ++i) perm.push_back(i);
  if (rank > 0) std::swap(perm[axis], perm[rank - 1]);
  return perm;
}

int64_t arange_count(double start, double limit, double delta, DType dtype) {
  const double count = std::ceil((limit - start) / delta);
  if (delta == 0 || !std::isfinite(start) || !std::isfinite(delta) || std::isnan(count) || count > 0x1p53)
    fail(Code::invalid_argument, "start " + std::to_string(start) + ", limit " + std::to_string(limit) + " and delta " +
                                     std::to_string(delta) + " give no finite number of elements");
  if (!is_floating(dtype) && (start != std::trunc(start) || delta != std::trunc(delta) || std::abs(start) > 0x1p53 ||
                              std::abs(delta) > 0x1p53))
    fail(Code::invalid_argument, "start " + std::to_string(start) + " and delta " + std::to_string(delta) +
                                     " must be whole numbers for dtype " + std::string(name_of(dtype)) +
                                     "; pass {.dtype = DType::f32}");
  return count > 0 ? static_cast<int64_t>(count) : 0;
}

std::vector<int64_t> split_sizes(int64_t n, const std::vector<int64_t>& sizes) {
  if (sizes.size() == 1 && sizes[0] != n) {
    if (sizes[0] < 1 || n % sizes[0] != 0)
      fail(Code::invalid_argument,
           "an axis of size " + std::to_string(n) + " has no " + std::to_string(sizes[0]) + " equal parts");
    return std::vector<int64_t>(sizes[0], n / sizes[0]);
  }
  if (sizes.size() == 1) return std::vector<int64_t>(n, 1);  // n parts of one element
  int64_t rest = n;
  for (int64_t s : sizes) {
    if (s < 0 || s > rest) rest = -1;
    if (rest < 0) break;
    rest -= s;
  }
  if (rest != 0) fail(Code::invalid_argument, "the sizes do not add up to the axis' size " + std::to_string(n));
  return sizes;
}

Tensor divided_by_count(const Tensor& sum, const Tensor& x, const std::vector<int64_t>& axis) {
  double count = 1;
  for (int64_t a : checked_axes(axis, x.rank())) {
    const Dim d = x.shape()[static_cast<int>(a)];
    if (!d.known()) return sum / size(x, {axis, sum.dtype()});
    count *= static_cast<double>(d.size());
  }
  return sum / count;
}

Tensor reshape_like(const Tensor& x, const Tensor& like) { return reshape(x, like.shape()); }

Tensor contract(const Tensor& x, const Tensor& y, const std::vector<int64_t>& x_axes,
                const std::vector<int64_t>& y_axes) {
  if (x_axes.size() != y_axes.size()) fail(Code::invalid_argument, "x_axes and y_axes have unlike lengths");
  std::vector<bool> x_used(x.rank(), false), y_used(y.rank(), false);
  std::vector<int64_t> x_perm, y_perm;
  Dim inner = 1;
  for (size_t i = 0; i < x_axes.size(); ++i) {
    const int64_t a = checked_axis(x_axes[i], x.rank()), b = checked_axis(y_axes[i], y.rank());
    if (x_used[a] || y_used[b]) fail(Code::invalid_argument, "an axis is given twice");
    if (!(x.shape()[static_cast<int>(a)] == y.shape()[static_cast<int>(b)]))
      fail(Code::invalid_argument, "x is " + type_text(x) + " and y is " + type_text(y) + ": axis " +
                                       std::to_string(a) + " of x and " + std::to_string(b) +
                                       " of y must have equal sizes");
    x_used[a] = y_used[b] = true;
    x_perm.push_back(a);
    y_perm.push_back(b);
    inner = inner * x.shape()[static_cast<int>(a)];
  }
  Shape shape;
  Dim rows = 1, columns = 1;
  std::vector<int64_t> x_free;
  for (int i = 0; i < x.rank(); ++i) {
    if (x_used[i]) continue;
    x_free.push_back(i);
    shape.push_back(x.shape()[i]);
    rows = rows * x.shape()[i];
  }
  x_perm.insert(x_perm.begin(), x_free.begin(), x_free.end());
  for (int i = 0; i < y.rank(); ++i) {
    if (y_used[i]) continue;
    y_perm.push_back(i);
    shape.push_back(y.shape()[i]);
    columns = columns * y.shape()[i];
  }
  if (x_free.size() + y.rank() - y_axes.size() > static_cast<size_t>(max_rank))
    fail(Code::invalid_argument, "the result's rank would be above " + std::to_string(max_rank));
  auto ordered = [](const Tensor& t, const std::vector<int64_t>& perm) {
    return std::is_sorted(perm.begin(), perm.end()) ? t : transpose(t, {perm});
  };
  return reshape(matmul(reshape(ordered(x, x_perm), {rows, inner}), reshape(ordered(y, y_perm), {inner, columns})),
                 shape);
}

Tensor scatter_nd_add(const Tensor& x, const Tensor& indices, const Tensor& updates) {
  const int rank = indices.rank();
  if (rank < 1 || !indices.shape().back().known() || indices.shape().back().size() < 1 ||
      indices.shape().back().size() > x.rank())
    fail(Code::invalid_argument, "x is " + type_text(x) + " and indices is " + type_text(indices) +
                                     ": the last dim of indices must be known and in [1, " + std::to_string(x.rank()) +
                                     "]");
  const int depth = static_cast<int>(indices.shape().back().size());
  Shape wanted = indices.shape();
  wanted.erase(rank - 1);
  const Dim count = product(wanted, 0, wanted.rank());
  for (int i = depth; i < x.rank(); ++i) wanted.push_back(x.shape()[i]);
  if (!(updates.shape() == wanted))
    fail(Code::invalid_argument,
         "updates is " + type_text(updates) + ", x and indices need shape " + to_string(wanted));
  // Positions as one number over the first `depth` axes of x.
  const Tensor rows = reshape(indices, {count, depth});
  Tensor position;
  for (int i = 0; i < depth; ++i) {
    const int64_t n = known_dim(x, i);
    const Tensor part = check_range(reshape(slice(rows, {0, i}, {-1, 1}), {count}), {n});
    position = position.defined() ? position * n + part : part;
  }
  const Dim outer = product(x.shape(), 0, depth), inner = product(x.shape(), depth, x.rank());
  return reshape(scatter_add(reshape(x, {outer, inner}), position, reshape(updates, {count, inner})), x.shape());
}

std::pair<Tensor, Tensor> mixed_seed(const Tensor& seed) {
  if (seed.dtype() != DType::i64 || !(seed.shape() == Shape{2}))
    fail(Code::invalid_argument, "seed is " + type_text(seed) + ", it must be i64[2]");
  constexpr int64_t mixing_key = 0x02461e293ec8f720;
  const Tensor low = reshape(slice(seed, {0}, {1}), {}), high = reshape(slice(seed, {1}, {1}), {});
  return {philox(mixing_key, low, high, Shape{}, {.first = 0}), philox(mixing_key, low, high, Shape{}, {.first = 1})};
}

}  // namespace kiln
