// Shape rules of convolutions and pools over NHWC images, and the geometry their kernels need.
#pragma once
#include "dialects/kiln/rules/shape_rules.h"

namespace kiln {

// The attributes of conv2d and its gradients, as in their records.
struct ConvAttributes {
  std::vector<int64_t> strides;
  std::string padding;
  std::vector<int64_t> paddings;
  std::vector<int64_t> dilations;
  int64_t groups = 1;
};
struct PoolAttributes {
  std::vector<int64_t> pool_size;
  std::vector<int64_t> strides;  // empty: pool_size
  std::string padding;
  std::vector<int64_t> paddings;
};

// One spatial axis of a window op: the result's size and the padding before.
struct WindowAxis {
  Dim size;
  Dim before;
};
// The window covers `taps` cells, `dilation` apart.
Result<WindowAxis> window_axis(Dim input, Dim taps, int64_t stride, int64_t dilation, const std::string& padding,
                               const std::vector<int64_t>& paddings, int axis);

Result<TensorType> conv2d_type(const TensorType& x, const TensorType& filter, const ConvAttributes& a);
Result<TensorType> conv2d_backward_input_type(const TensorType& filter, const TensorType& gradient, const Shape& shape,
                                              const ConvAttributes& a);
Result<TensorType> conv2d_backward_filter_type(const TensorType& x, const TensorType& gradient, const Shape& shape,
                                               const ConvAttributes& a);
Result<TensorType> pool2d_type(const TensorType& x, const PoolAttributes& a);
Result<TensorType> pool2d_backward_type(const TensorType& x, const TensorType& gradient, const PoolAttributes& a);

}  // namespace kiln
