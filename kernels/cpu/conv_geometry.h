// The geometry of a 2-D convolution as the kernels see it: see calls.h for the params and the order of the chains.
#pragma once
#include "kernels/cpu/micro_kernel.h"

namespace kiln::KILN_ISA {

struct ConvParams {
  int64_t n, h, w, c, kh, kw, f, oh, ow, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left, groups;
};
inline const ConvParams& conv_params(const int64_t* params) { return *reinterpret_cast<const ConvParams*>(params); }

// One spatial axis of "result position i reads input i * in_step + tap_start + j * tap_step with filter element
// filter_start + j * filter_step", j = 0 .. taps - 1 in the order of the chain. Position i is out_start + i * out_step.
struct ConvAxis {
  int64_t count, out_start, out_step, in_step, taps, tap_start, tap_step, filter_start, filter_step;

  int64_t span() const { return taps ? (taps - 1) * tap_step + 1 : 0; }
  bool inside(int64_t in_size) const {
    return count == 0 || taps == 0 || (tap_start >= 0 && (count - 1) * in_step + tap_start + span() <= in_size);
  }
};

inline ConvAxis forward_axis(int64_t out, int64_t k, int64_t stride, int64_t dilation, int64_t pad) {
  return {out, 0, 1, stride, k, -pad, dilation, 0, 1};
}

// The gradient with respect to the input is a convolution of dresult for each remainder of h + pad by the stride: only
// some filter elements reach those positions, and for them it has stride 1.
inline ConvAxis backward_axis(int64_t in, int64_t k, int64_t stride, int64_t dilation, int64_t pad, int64_t remainder) {
  const int64_t first = ((remainder - pad) % stride + stride) % stride;
  int64_t step = 1;  // filter elements of one remainder are this far apart
  while (step * dilation % stride != 0) ++step;
  int64_t lowest = 0;
  while (lowest < step && lowest * dilation % stride != remainder) ++lowest;
  const int64_t taps = lowest < step && lowest < k ? (k - 1 - lowest) / step + 1 : 0;
  const int64_t highest = lowest + (taps - 1) * step;
  return {first < in ? (in - 1 - first) / stride + 1 : 0,
          first,
          stride,
          1,
          taps,
          taps ? (first + pad - highest * dilation) / stride : 0,
          step * dilation / stride,
          highest,
          -step};
}

}  // namespace kiln::KILN_ISA
