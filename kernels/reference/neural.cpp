// Matrix products, convolutions and pools. The order of each sum is the op's definition (docs/design, "Reduction
// order"): one chain of fma for each element of the result.
#include <algorithm>

#include "kernels/reference/array.h"

namespace kiln::reference {
namespace {

RefScalar multiply_add(RefScalar a, RefScalar b, RefScalar c) {
  return is_floating(c.type()) ? fma(a, b, c) : a * b + c;
}

Status matmul(const OpCall& call) {
  const Array &x = call.operands[0], &y = call.operands[1], &result = call.results[0];
  const bool transpose_x = call.attribute<bool>(0), transpose_y = call.attribute<bool>(1);
  const int64_t depth = x.dims[x.rank() - (transpose_x ? 2 : 1)];
  const int rank = result.rank();
  // The element (row, column) of the matrix of `a` that belongs to the result's batch index.
  auto element = [&](const Array& a, std::span<const int64_t> index, int64_t row, int64_t column) {
    int64_t at = 0;
    for (int i = 0; i < a.rank() - 2; ++i) at = at * a.dims[i] + (a.dims[i] == 1 ? 0 : index[rank - a.rank() + i]);
    at = at * a.dims[a.rank() - 2] + row;
    return a[at * a.dims[a.rank() - 1] + column];
  };
  for_each_index(result.dims, [&](std::span<const int64_t> index) {
    const int64_t row = index[rank - 2], column = index[rank - 1];
    RefScalar sum = result.zero();
    for (int64_t k = 0; k < depth; ++k)
      sum = multiply_add(transpose_x ? element(x, index, k, row) : element(x, index, row, k),
                         transpose_y ? element(y, index, column, k) : element(y, index, k, column), sum);
    result.set(result.offset(index), sum);
  });
  return {};
}

// One spatial axis of a window op.
struct Axis {
  int64_t in, out, window, stride, dilation, before;
  // The input position of result position o and window cell k; outside [0, in): padding.
  int64_t position(int64_t o, int64_t k) const { return o * stride + k * dilation - before; }
  bool inside(int64_t p) const { return p >= 0 && p < in; }
};

// The attributes strides, padding, paddings from number `first` on.
Axis make_axis(const OpCall& call, int first, int which, int64_t in, int64_t out, int64_t window, int64_t stride,
               int64_t dilation) {
  const std::string& padding = call.attribute<std::string>(first);
  Axis axis{in, out, window, stride, dilation, 0};
  if (padding == "explicit") axis.before = call.ints(first + 1)[2 * which];
  if (padding == "same") axis.before = std::max<int64_t>((out - 1) * stride + (window - 1) * dilation + 1 - in, 0) / 2;
  return axis;
}

struct Convolution {
  Array x, filter, result;  // in the roles of the forward op
  int64_t groups;
  Axis rows, columns;
};
Convolution convolution(const OpCall& call, const Array& x, const Array& filter, const Array& result, int first) {
  auto axis = [&](int i) {
    return make_axis(call, first + 1, i, x.dims[1 + i], result.dims[1 + i], filter.dims[i], call.ints(first)[i],
                     call.ints(first + 3)[i]);
  };
  return {x, filter, result, call.integer(first + 4), axis(0), axis(1)};
}

int64_t at4(const Array& a, int64_t i, int64_t j, int64_t k, int64_t l) {
  return ((i * a.dims[1] + j) * a.dims[2] + k) * a.dims[3] + l;
}
// An element of an NHWC image; 0 in the padding.
RefScalar pixel(const Array& image, int64_t n, int64_t row, int64_t column, int64_t channel) {
  const bool inside = row >= 0 && row < image.dims[1] && column >= 0 && column < image.dims[2];
  return inside ? image[at4(image, n, row, column, channel)] : image.zero();
}

Status conv2d(const OpCall& call) {
  const Convolution c = convolution(call, call.operands[0], call.operands[1], call.results[0], 0);
  const int64_t channels = c.filter.dims[2], filters = c.filter.dims[3] / c.groups;
  for_each_index(c.result.dims, [&](std::span<const int64_t> index) {
    RefScalar sum = c.result.zero();
    const int64_t group = index[3] / filters;
    for (int64_t kh = 0; kh < c.rows.window; ++kh)
      for (int64_t kw = 0; kw < c.columns.window; ++kw)
        for (int64_t k = 0; k < channels; ++k)
          sum = fma(pixel(c.x, index[0], c.rows.position(index[1], kh), c.columns.position(index[2], kw),
                          group * channels + k),
                    c.filter[at4(c.filter, kh, kw, k, index[3])], sum);
    c.result.set(c.result.offset(index), sum);
  });
  return {};
}

// Filter cells that reach an element do so from whole result positions; both directions descend.
Status conv2d_backward_input(const OpCall& call) {
  const Array& dx = call.results[0];
  const Convolution c = convolution(call, dx, call.operands[0], call.operands[1], 1);
  const int64_t channels = c.filter.dims[2], filters = c.filter.dims[3] / c.groups;
  for_each_index(dx.dims, [&](std::span<const int64_t> index) {
    RefScalar sum = dx.zero();
    const int64_t group = index[3] / channels;
    for (int64_t kh = c.rows.window; kh-- > 0;) {
      const int64_t row = index[1] + c.rows.before - kh * c.rows.dilation;
      if (row % c.rows.stride != 0) continue;
      for (int64_t kw = c.columns.window; kw-- > 0;) {
        const int64_t column = index[2] + c.columns.before - kw * c.columns.dilation;
        if (column % c.columns.stride != 0) continue;
        for (int64_t f = group * filters; f < (group + 1) * filters; ++f)
          sum = fma(pixel(c.result, index[0], row / c.rows.stride, column / c.columns.stride, f),
                    c.filter[at4(c.filter, kh, kw, index[3] % channels, f)], sum);
      }
    }
    dx.set(dx.offset(index), sum);
  });
  return {};
}

Status conv2d_backward_filter(const OpCall& call) {
  const Array& dfilter = call.results[0];
  const Convolution c = convolution(call, call.operands[0], dfilter, call.operands[1], 1);
  const int64_t channels = dfilter.dims[2], filters = dfilter.dims[3] / c.groups;
  for_each_index(dfilter.dims, [&](std::span<const int64_t> index) {
    RefScalar sum = dfilter.zero();
    const int64_t channel = index[3] / filters * channels + index[2];
    for (int64_t n = 0; n < c.result.dims[0]; ++n)
      for (int64_t oh = 0; oh < c.rows.out; ++oh)
        for (int64_t ow = 0; ow < c.columns.out; ++ow)
          sum = fma(pixel(c.x, n, c.rows.position(oh, index[0]), c.columns.position(ow, index[1]), channel),
                    c.result[at4(c.result, n, oh, ow, index[3])], sum);
    dfilter.set(dfilter.offset(index), sum);
  });
  return {};
}

struct Pool {
  Axis rows, columns;
};
Pool pool(const OpCall& call, const Array& x, const Array& result, int first) {
  const std::vector<int64_t>& size = call.ints(first);
  const std::vector<int64_t>& strides = call.ints(first + 1).empty() ? size : call.ints(first + 1);
  auto axis = [&](int i) {
    return make_axis(call, first + 2, i, x.dims[1 + i], result.dims[1 + i], size[i], strides[i], 1);
  };
  return {axis(0), axis(1)};
}
// Calls f(number of the element of x) for the cells of a window that are not padding, in row-major order.
template <class F>
void for_each_cell(const Pool& p, const Array& x, std::span<const int64_t> at, F&& f) {
  for (int64_t kh = 0; kh < p.rows.window; ++kh)
    for (int64_t kw = 0; kw < p.columns.window; ++kw) {
      const int64_t row = p.rows.position(at[1], kh), column = p.columns.position(at[2], kw);
      if (p.rows.inside(row) && p.columns.inside(column)) f(at4(x, at[0], row, column, at[3]));
    }
}
// The element of the window that wins: the first NaN, else the first of the largest; -1 if all is padding.
int64_t winner(const Pool& p, const Array& x, std::span<const int64_t> at) {
  int64_t best = -1;
  for_each_cell(p, x, at, [&](int64_t cell) {
    if (best < 0) {
      best = cell;
      return;
    }
    const RefScalar held = x[best], next = x[cell];
    const bool held_nan = (held != held).value<bool>(), next_nan = (next != next).value<bool>();
    if (!held_nan && (next_nan || (next > held).value<bool>())) best = cell;
  });
  return best;
}

RefScalar lowest(DType t) {
  RefScalar result;
  visit_dtype(t, [&](auto tag) {
    using Limits = std::numeric_limits<decltype(tag)>;
    result = RefScalar::of(Limits::has_infinity ? static_cast<decltype(tag)>(-Limits::infinity()) : Limits::lowest());
  });
  return result;
}

Status max_pool2d(const OpCall& call) {
  const Array &x = call.operands[0], &result = call.results[0];
  const Pool p = pool(call, x, result, 0);
  for_each_index(result.dims, [&](std::span<const int64_t> at) {
    const int64_t best = winner(p, x, at);
    result.set(result.offset(at), best < 0 ? lowest(x.dtype) : x[best]);
  });
  return {};
}

Status max_pool2d_backward(const OpCall& call) {
  const Array &x = call.operands[0], &gradient = call.operands[1], &dx = call.results[0];
  const Pool p = pool(call, x, gradient, 0);
  for (int64_t i = 0; i < dx.size(); ++i) dx.set(i, dx.zero());
  for_each_index(gradient.dims, [&](std::span<const int64_t> at) {
    if (const int64_t best = winner(p, x, at); best >= 0) dx.set(best, dx[best] + gradient[gradient.offset(at)]);
  });
  return {};
}

Status avg_pool2d(const OpCall& call) {
  const Array &x = call.operands[0], &result = call.results[0];
  const Pool p = pool(call, x, result, 0);
  for_each_index(result.dims, [&](std::span<const int64_t> at) {
    RefScalar sum = x.zero();
    int64_t count = 0;
    for_each_cell(p, x, at, [&](int64_t cell) {
      sum = sum + x[cell];
      ++count;
    });
    result.set(result.offset(at), count ? sum / constant(sum, count) : x.zero());
  });
  return {};
}

Status avg_pool2d_backward(const OpCall& call) {
  const Array &gradient = call.operands[0], &dx = call.results[0];
  const Pool p = pool(call, dx, gradient, 1);
  for (int64_t i = 0; i < dx.size(); ++i) dx.set(i, dx.zero());
  for_each_index(gradient.dims, [&](std::span<const int64_t> at) {
    int64_t count = 0;
    for_each_cell(p, dx, at, [&](int64_t) { ++count; });
    if (count == 0) return;
    const RefScalar part = gradient[gradient.offset(at)] / constant(dx.zero(), count);
    for_each_cell(p, dx, at, [&](int64_t cell) { dx.set(cell, dx[cell] + part); });
  });
  return {};
}

}  // namespace

OpFunction find_neural(OpId op) {
  switch (op) {
    case OpId::matmul:
      return matmul;
    case OpId::conv2d:
      return conv2d;
    case OpId::conv2d_backward_input:
      return conv2d_backward_input;
    case OpId::conv2d_backward_filter:
      return conv2d_backward_filter;
    case OpId::max_pool2d:
      return max_pool2d;
    case OpId::max_pool2d_backward:
      return max_pool2d_backward;
    case OpId::avg_pool2d:
      return avg_pool2d;
    case OpId::avg_pool2d_backward:
      return avg_pool2d_backward;
    default:
      return nullptr;
  }
}

}  // namespace kiln::reference
