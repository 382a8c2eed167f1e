#include "dialects/kiln/rules/library_calls.h"

#include <bit>
#include <cstring>

namespace kiln {
namespace {

using CallFunction = Result<LibraryCall> (*)(std::span<const TensorType>, std::span<const TensorType>,
                                             std::span<const Attribute>);

// "matmul.f32"
std::string by_dtype(const std::string& name, DType t) { return name + "." + std::string(name_of(t)); }
// "slice.b4": kernels that only move elements.
std::string by_size(const std::string& name, DType t) { return name + ".b" + std::to_string(size_of(t)); }

void append(std::vector<Dim>& params, const Shape& shape) { params.insert(params.end(), shape.begin(), shape.end()); }

// Product of the dims [from, to).
Dim product(const Shape& shape, int from, int to) {
  Dim d = 1;
  for (int i = from; i < to; ++i) d = d * shape[i];
  return d;
}

int64_t positive(int64_t axis, int rank) { return axis < 0 ? axis + rank : axis; }

// A shape around an axis: [outer, size, inner].
struct Around {
  Dim outer, size, inner;
};
Around around(const Shape& shape, int64_t axis) {
  const int at = static_cast<int>(positive(axis, shape.rank()));
  return {product(shape, 0, at), shape[at], product(shape, at + 1, shape.rank())};
}

// The bits of `value` in dtype t.
uint64_t bits_of(double value, DType t) {
  uint64_t bits = 0;
  visit_dtype(t, [&](auto tag) {
    const auto v = static_cast<decltype(tag)>(value);
    std::memcpy(&bits, &v, sizeof(v));
  });
  return bits;
}

std::vector<Dim> box(const Shape& begin, const std::vector<int64_t>& strides) {
  std::vector<Dim> params(begin.begin(), begin.end());
  for (int i = 0; i < begin.rank(); ++i) params.push_back(strides.empty() ? 1 : strides[i]);
  params.insert(params.end(), begin.rank(), Dim(0));  // no axis backwards
  return params;
}

void append_all(std::vector<Dim>& params, const std::vector<Dim>& more) {
  params.insert(params.end(), more.begin(), more.end());
}

}  // namespace

LibraryCall matmul_call(const TensorType& x, const TensorType& y, bool transpose_x, bool transpose_y,
                        const TensorType& result) {
  const int rx = x.shape.rank(), ry = y.shape.rank(), batch = result.shape.rank() - 2;
  const Dim inner = x.shape[rx - (transpose_x ? 2 : 1)];
  LibraryCall call{
      by_dtype("matmul", x.dtype),
      {result.shape[batch], result.shape[batch + 1], inner, transpose_x ? 1 : 0, transpose_y ? 1 : 0, batch}};
  for (int i = 0; i < batch; ++i)
    call.params.push_back(i < batch - (rx - 2) ? Dim(1) : x.shape[i - (batch - (rx - 2))]);
  for (int i = 0; i < batch; ++i)
    call.params.push_back(i < batch - (ry - 2) ? Dim(1) : y.shape[i - (batch - (ry - 2))]);
  return call;
}

Result<LibraryCall> conv2d_call(const std::string& name, const TensorType& x, const TensorType& filter,
                                const TensorType& result, const ConvAttributes& a) {
  KILN_ASSIGN_OR_RETURN(const WindowAxis height, window_axis(x.shape[1], filter.shape[0], a.strides[0], a.dilations[0],
                                                             a.padding, a.paddings, 0));
  KILN_ASSIGN_OR_RETURN(const WindowAxis width, window_axis(x.shape[2], filter.shape[1], a.strides[1], a.dilations[1],
                                                            a.padding, a.paddings, 1));
  LibraryCall call{by_dtype(name, x.dtype), {}};
  append(call.params, x.shape);
  append_all(call.params,
             {filter.shape[0], filter.shape[1], filter.shape[3], result.shape[1], result.shape[2], a.strides[0],
              a.strides[1], a.dilations[0], a.dilations[1], height.before, width.before, a.groups});
  return call;
}

Result<LibraryCall> pool2d_call(const std::string& name, const TensorType& x, const TensorType& result,
                                const PoolAttributes& a) {
  const std::vector<int64_t>& strides = a.strides.empty() ? a.pool_size : a.strides;
  KILN_ASSIGN_OR_RETURN(const WindowAxis height,
                        window_axis(x.shape[1], a.pool_size[0], strides[0], 1, a.padding, a.paddings, 0));
  KILN_ASSIGN_OR_RETURN(const WindowAxis width,
                        window_axis(x.shape[2], a.pool_size[1], strides[1], 1, a.padding, a.paddings, 1));
  LibraryCall call{by_dtype(name, x.dtype), {}};
  append(call.params, x.shape);
  append_all(call.params, {a.pool_size[0], a.pool_size[1], result.shape[1], result.shape[2], strides[0], strides[1],
                           height.before, width.before});
  return call;
}

LibraryCall transpose_call(const TensorType& x, const std::vector<int64_t>& perm) {
  LibraryCall call{by_size("transpose", x.dtype), {x.shape.rank()}};
  append(call.params, x.shape);
  for (int64_t p : full_permutation(perm, x.shape.rank())) call.params.push_back(p);
  return call;
}

LibraryCall slice_call(const TensorType& x, const Shape& begin, const std::vector<int64_t>& strides,
                       const TensorType& result) {
  LibraryCall call{by_size("slice", x.dtype), {x.shape.rank()}};
  append(call.params, x.shape);
  append(call.params, result.shape);
  append_all(call.params, box(begin, strides));
  return call;
}

LibraryCall reverse_call(const TensorType& x, const std::vector<int64_t>& axis) {
  const int rank = x.shape.rank();
  std::vector<bool> backwards(rank, false);
  for (int64_t a : axis) backwards[positive(a, rank)] = true;
  LibraryCall call{by_size("slice", x.dtype), {rank}};
  append(call.params, x.shape);
  append(call.params, x.shape);
  for (int i = 0; i < rank; ++i) {  // the last element; an empty axis has none and nothing is read
    const bool none = !backwards[i] || x.shape[i] == Dim(0);
    call.params.push_back(none                 ? Dim(0)
                          : x.shape[i].known() ? Dim(x.shape[i].size() - 1)
                                               : maximum(x.shape[i], 1) - Dim(1));
  }
  for (int i = 0; i < rank; ++i) call.params.push_back(1);
  for (int i = 0; i < rank; ++i) call.params.push_back(backwards[i] ? 1 : 0);
  return call;
}

LibraryCall pad_call(const TensorType& x, const Shape& begin, const std::vector<int64_t>& strides, double value,
                     const TensorType& result) {
  LibraryCall call{by_size("pad", x.dtype), {x.shape.rank()}};
  append(call.params, x.shape);
  append(call.params, result.shape);
  append_all(call.params, box(begin, strides));
  const uint64_t bits = bits_of(value, x.dtype);
  call.params.push_back(static_cast<int64_t>(bits & 0xffffffffu));
  call.params.push_back(static_cast<int64_t>(bits >> 32));
  return call;
}

LibraryCall concat_call(std::span<const TensorType> xs, int64_t axis, const TensorType& result) {
  const Around a = around(result.shape, axis);
  LibraryCall call{by_size("concat", result.dtype), {static_cast<int64_t>(xs.size()), a.outer, a.inner}};
  for (const TensorType& x : xs) call.params.push_back(around(x.shape, axis).size);
  return call;
}

LibraryCall gather_call(const TensorType& x, const TensorType& indices, int64_t axis) {
  const Around a = around(x.shape, axis);
  return {by_dtype(by_size("gather", x.dtype), indices.dtype), {a.outer, a.size, a.inner, indices.shape.elements()}};
}

LibraryCall gather_nd_call(const TensorType& x, const TensorType& indices) {
  const int depth = static_cast<int>(indices.shape.back().size());
  LibraryCall call{
      by_dtype(by_size("gather_nd", x.dtype), indices.dtype),
      {product(indices.shape, 0, indices.shape.rank() - 1), product(x.shape, depth, x.shape.rank()), depth}};
  for (int i = 0; i < depth; ++i) call.params.push_back(x.shape[i]);
  return call;
}

LibraryCall take_along_axis_call(const TensorType& x, const TensorType& indices, int64_t axis) {
  const Around a = around(x.shape, axis);
  return {by_dtype(by_size("take_along_axis", x.dtype), indices.dtype),
          {a.outer, a.size, a.inner, around(indices.shape, axis).size}};
}

LibraryCall scatter_call(const std::string& name, const TensorType& indices, int64_t axis, const TensorType& result) {
  const Around a = around(result.shape, axis);
  return {by_dtype(by_dtype(name, result.dtype), indices.dtype), {a.outer, a.size, a.inner, indices.shape.elements()}};
}

LibraryCall check_range_call(const TensorType& x, const Shape& limit) {
  return {by_dtype("check_range", x.dtype), {x.shape.elements(), 0, limit[0]}};
}

LibraryCall arg_call(const std::string& name, const TensorType& x, int64_t axis) {
  const Around a = around(x.shape, axis);
  return {by_dtype(name, x.dtype), {a.outer, a.size, a.inner}};
}

LibraryCall scan_call(const std::string& name, const TensorType& x, int64_t axis, bool exclusive, bool reverse) {
  const Around a = around(x.shape, axis);
  return {by_dtype(name, x.dtype), {a.outer, a.size, a.inner, exclusive ? 1 : 0, reverse ? 1 : 0}};
}

LibraryCall sort_call(const std::string& name, const TensorType& x, bool descending) {
  const Around a = around(x.shape, -1);
  return {by_dtype(name, x.dtype), {a.outer, a.size, descending ? 1 : 0}};
}

LibraryCall top_k_call(const TensorType& x, int64_t k) {
  const Around a = around(x.shape, -1);
  return {by_dtype("top_k", x.dtype), {a.outer, a.size, k}};
}

}  // namespace kiln

#include "generated/library_calls.cpp.inc"

namespace kiln {

Result<LibraryCall> library_call(OpId op, std::span<const TensorType> operands, std::span<const TensorType> results,
                                 std::span<const Attribute> attributes) {
  const CallFunction call = call_table[static_cast<size_t>(op)];
  if (!call) return Status(Code::internal, std::string(name_of(op)) + ": the op is no library call");
  return call(operands, results, attributes);
}

}  // namespace kiln
