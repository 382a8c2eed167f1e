#include "dialects/kiln/rules/image_rules.h"

#include <algorithm>

namespace kiln {
namespace {

Status check_pair(const std::vector<int64_t>& v, const char* name) {
  if (v.size() != 2 || v[0] < 1 || v[1] < 1) return bad(std::string(name) + " needs two entries of 1 or more");
  return {};
}

// Sizes beyond this make no sense for a window and could overflow in products.
Status check_small(const std::vector<int64_t>& v, const char* name) {
  constexpr int64_t limit = int64_t{1} << 31;
  for (int64_t n : v)
    if (n < 0 || n >= limit)
      return bad(std::string(name) + " has the entry " + std::to_string(n) + ", it must be in [0, 2^31)");
  return {};
}

}  // namespace

Result<WindowAxis> window_axis(Dim input, Dim taps, int64_t stride, int64_t dilation, const std::string& padding,
                               const std::vector<int64_t>& paddings, int axis) {
  if (!taps.known()) return bad("the size of the window must be known");
  const int64_t extent = taps.size() == 0 ? 0 : (taps.size() - 1) * dilation + 1;
  if (padding == "same") {
    const Dim size = floor_div(input + Dim(stride - 1), Dim(stride));
    if (input.known()) {
      const int64_t total = std::max<int64_t>((size.size() - 1) * stride + extent - input.size(), 0);
      return WindowAxis{size, input.size() == 0 ? 0 : total / 2};
    }
    if (stride == 1) return WindowAxis{size, std::max<int64_t>(extent - 1, 0) / 2};
    return WindowAxis{size, floor_div(maximum((size * Dim(stride) + Dim(extent)) - (input + Dim(stride)), 0), 2)};
  }
  int64_t before = 0, after = 0;
  if (padding == "explicit") {
    if (paddings.size() != 4)
      return bad("padding is \"explicit\": paddings needs four entries {top, bottom, left, right}");
    KILN_RETURN_IF_ERROR(check_small(paddings, "paddings"));
    before = paddings[2 * axis], after = paddings[2 * axis + 1];
  } else if (padding != "valid") {
    return bad("padding is \"" + padding + "\", it must be \"valid\", \"same\" or \"explicit\"");
  }
  const Dim padded = input + Dim(before + after);
  if (padded.known() && padded.size() < extent)
    return bad("the window is " + std::to_string(extent) + " long, axis " + std::to_string(axis + 1) + " of x only " +
               std::to_string(padded.size()) + " with its padding");
  return WindowAxis{floor_div(padded - Dim(extent), Dim(stride)) + Dim(1), before};
}

Result<TensorType> conv2d_type(const TensorType& x, const TensorType& filter, const ConvAttributes& a) {
  if (x.shape.rank() != 4 || filter.shape.rank() != 4)
    return bad("x is " + to_string(x) + " and filter is " + to_string(filter) + ": both need rank 4");
  KILN_RETURN_IF_ERROR(check_pair(a.strides, "strides"));
  KILN_RETURN_IF_ERROR(check_pair(a.dilations, "dilations"));
  KILN_RETURN_IF_ERROR(check_small(a.strides, "strides"));
  KILN_RETURN_IF_ERROR(check_small(a.dilations, "dilations"));
  const Dim channels = x.shape[3], filters = filter.shape[3];
  if (a.groups < 1) return bad("groups is " + std::to_string(a.groups) + ", it must be 1 or more");
  if (!same(channels, filter.shape[2] * Dim(a.groups)))
    return bad("x is " + to_string(x) + " and filter is " + to_string(filter) + " with " + std::to_string(a.groups) +
               " groups: x's channels must be groups times the filter's third dim");
  if (!filters.known() || filters.size() % a.groups != 0)
    return bad("filter is " + to_string(filter) + ": its last dim must be divisible by the " +
               std::to_string(a.groups) + " groups");
  KILN_ASSIGN_OR_RETURN(const WindowAxis height, window_axis(x.shape[1], filter.shape[0], a.strides[0], a.dilations[0],
                                                             a.padding, a.paddings, 0));
  KILN_ASSIGN_OR_RETURN(const WindowAxis width, window_axis(x.shape[2], filter.shape[1], a.strides[1], a.dilations[1],
                                                            a.padding, a.paddings, 1));
  return TensorType{x.dtype, {x.shape[0], height.size, width.size, filters}};
}

Result<TensorType> conv2d_backward_input_type(const TensorType& filter, const TensorType& gradient, const Shape& shape,
                                              const ConvAttributes& a) {
  const TensorType x{filter.dtype, shape};
  KILN_ASSIGN_OR_RETURN(const TensorType result, conv2d_type(x, filter, a));
  if (!(result.shape == gradient.shape))
    return bad("gradient is " + to_string(gradient) + ", a convolution of " + to_string(x) + " gives " +
               to_string(result));
  return x;
}

Result<TensorType> conv2d_backward_filter_type(const TensorType& x, const TensorType& gradient, const Shape& shape,
                                               const ConvAttributes& a) {
  const TensorType filter{x.dtype, shape};
  KILN_ASSIGN_OR_RETURN(const TensorType result, conv2d_type(x, filter, a));
  if (!(result.shape == gradient.shape))
    return bad("gradient is " + to_string(gradient) + ", a convolution with " + to_string(filter) + " gives " +
               to_string(result));
  return filter;
}

Result<TensorType> pool2d_type(const TensorType& x, const PoolAttributes& a) {
  if (x.shape.rank() != 4) return bad("x is " + to_string(x) + ", it needs rank 4");
  KILN_RETURN_IF_ERROR(check_pair(a.pool_size, "pool_size"));
  KILN_RETURN_IF_ERROR(check_small(a.pool_size, "pool_size"));
  const std::vector<int64_t>& strides = a.strides.empty() ? a.pool_size : a.strides;
  KILN_RETURN_IF_ERROR(check_pair(strides, "strides"));
  KILN_RETURN_IF_ERROR(check_small(strides, "strides"));
  KILN_ASSIGN_OR_RETURN(const WindowAxis height,
                        window_axis(x.shape[1], a.pool_size[0], strides[0], 1, a.padding, a.paddings, 0));
  KILN_ASSIGN_OR_RETURN(const WindowAxis width,
                        window_axis(x.shape[2], a.pool_size[1], strides[1], 1, a.padding, a.paddings, 1));
  return TensorType{x.dtype, {x.shape[0], height.size, width.size, x.shape[3]}};
}

Result<TensorType> pool2d_backward_type(const TensorType& x, const TensorType& gradient, const PoolAttributes& a) {
  KILN_ASSIGN_OR_RETURN(const TensorType result, pool2d_type(x, a));
  if (!(result.shape == gradient.shape))
    return bad("gradient is " + to_string(gradient) + ", a pool of " + to_string(x) + " gives " + to_string(result));
  return x;
}

}  // namespace kiln
