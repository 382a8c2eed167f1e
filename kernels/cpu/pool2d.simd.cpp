// 2-D pooling over NHWC: see calls.h. Vectors of channels.
#include <cstring>
#include <limits>

#include "kernels/cpu/library_table.h"
#include "kernels/cpu/vectors.h"

namespace kiln::KILN_ISA {
namespace {

struct PoolParams {
  int64_t n, h, w, c, kh, kw, oh, ow, stride_h, stride_w, pad_top, pad_left;
};
const PoolParams& pool_params(const int64_t* params) { return *reinterpret_cast<const PoolParams*>(params); }

// Cells [top, bottom) x [left, right) of x under one window, padding left out.
struct Cells {
  int64_t top, bottom, left, right;
  Cells(const PoolParams& p, int64_t oh, int64_t ow) {
    const int64_t y = oh * p.stride_h - p.pad_top, x = ow * p.stride_w - p.pad_left;
    top = larger(0, y), bottom = smaller(p.h, y + p.kh);
    left = larger(0, x), right = smaller(p.w, x + p.kw);
  }
  int64_t count() const { return bottom > top && right > left ? (bottom - top) * (right - left) : 0; }
};

template <class T>
Vector<T> get(const T* p, int64_t n) {
  return n < lanes<T> ? load_first(p, n) : load(p);
}
template <class T>
void put(T* p, Vector<T> v, int64_t n) {
  if (n < lanes<T>)
    store_first(p, v, n);
  else
    store(p, v);
}

// Lanes where x replaces the maximum so far: it is greater, or the first NaN.
template <class T>
auto replaces(Vector<T> x, Vector<T> best) {
  if constexpr (std::is_floating_point_v<T>)
    return (x > best) | ((x != x) & (best == best));
  else
    return x > best;
}

template <class T>
constexpr T lowest = std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::min();

// Forward kernels: one item is one row of the result. Body(p, image, cells, channel, lanes) is one vector of it.
template <class T, auto Body>
int32_t forward(void* const* buffers, const int64_t* params, int64_t begin, int64_t end, CallContext*) {
  const PoolParams& p = pool_params(params);
  const T* x = static_cast<const T*>(buffers[0]);
  T* result = static_cast<T*>(buffers[1]);
  for (int64_t item = begin; item < end; ++item) {
    const T* image = x + item / p.oh * p.h * p.w * p.c;
    for (int64_t ow = 0; ow < p.ow; ++ow) {
      const Cells cells(p, item % p.oh, ow);
      T* to = result + (item * p.ow + ow) * p.c;
      for (int64_t c = 0; c < p.c; c += lanes<T>) {
        const int64_t n = smaller(lanes<T>, p.c - c);
        put(to + c, Body(p, image + c, cells, n), n);
      }
    }
  }
  return 0;
}

template <class T>
Vector<T> maximum(const PoolParams& p, const T* image, const Cells& cells, int64_t n) {
  Vector<T> best = splat(lowest<T>);
  for (int64_t h = cells.top; h < cells.bottom; ++h)
    for (int64_t w = cells.left; w < cells.right; ++w) {
      const Vector<T> x = get(image + (h * p.w + w) * p.c, n);
      best = replaces<T>(x, best) ? x : best;
    }
  return best;
}

template <class T>
Vector<T> average(const PoolParams& p, const T* image, const Cells& cells, int64_t n) {
  Vector<T> sum{};
  if (cells.count() == 0) return sum;
  for (int64_t h = cells.top; h < cells.bottom; ++h)
    for (int64_t w = cells.left; w < cells.right; ++w) sum += get(image + (h * p.w + w) * p.c, n);
  return sum / splat(static_cast<T>(cells.count()));
}

// Backward kernels: one item is a block of channels of one image, so that windows add in order.
template <class T>
constexpr int64_t block = 2 * lanes<T>;

template <class T, bool Max>
int32_t backward(void* const* buffers, const int64_t* params, int64_t begin, int64_t end, CallContext*) {
  const PoolParams& p = pool_params(params);
  const T* x = static_cast<const T*>(buffers[0]);
  const T* dresult = static_cast<const T*>(buffers[Max ? 1 : 0]);
  T* dx = static_cast<T*>(buffers[Max ? 2 : 1]);
  const int64_t blocks = ceil_div(p.c, block<T>), image_size = p.h * p.w * p.c;
  for (int64_t item = begin; item < end; ++item) {
    const int64_t image = item / blocks, first = item % blocks * block<T>, channels = smaller(block<T>, p.c - first);
    T* to = dx + image * image_size + first;
    const T* from = x + image * image_size + first;
    for (int64_t i = 0; i < p.h * p.w; ++i) std::memset(to + i * p.c, 0, static_cast<size_t>(channels) * sizeof(T));
    for (int64_t oh = 0; oh < p.oh; ++oh)
      for (int64_t ow = 0; ow < p.ow; ++ow) {
        const Cells cells(p, oh, ow);
        if (cells.count() == 0) continue;
        const T* d_pixel = dresult + ((image * p.oh + oh) * p.ow + ow) * p.c + first;
        for (int64_t c = 0; c < channels; c += lanes<T>) {
          const int64_t n = smaller(lanes<T>, channels - c);
          const Vector<T> d = get(d_pixel + c, n);
          auto each_cell = [&](auto f) {
            for (int64_t h = cells.top; h < cells.bottom; ++h)
              for (int64_t w = cells.left; w < cells.right; ++w) f((h * p.w + w) * p.c + c);
          };
          if constexpr (Max) {
            using Index = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
            Vector<T> best = get(from + (cells.top * p.w + cells.left) * p.c + c, n);
            Vector<Index> where{}, at{};
            each_cell([&](int64_t offset) {
              const Vector<T> value = get(from + offset, n);
              const auto take = replaces<T>(value, best);
              best = take ? value : best;
              where = take ? at : where;
              at += 1;
            });
            at = Vector<Index>{};
            each_cell([&](int64_t offset) {
              put(to + offset, get(to + offset, n) + (where == at ? d : Vector<T>{}), n);
              at += 1;
            });
          } else {
            const Vector<T> share = d / splat(static_cast<T>(cells.count()));
            each_cell([&](int64_t offset) { put(to + offset, get(to + offset, n) + share, n); });
          }
        }
      }
  }
  return 0;
}

int64_t forward_extent(const int64_t* params) {
  const PoolParams& p = pool_params(params);
  return p.ow * p.c == 0 ? 0 : p.n * p.oh;
}
template <class T>
int64_t forward_cost(const int64_t* params) {
  const PoolParams& p = pool_params(params);
  return 20 + p.ow * ceil_div(p.c, lanes<T>) * (2 + p.kh * p.kw);
}
template <class T>
int64_t backward_extent(const int64_t* params) {
  const PoolParams& p = pool_params(params);
  return p.h * p.w == 0 ? 0 : p.n * ceil_div(p.c, block<T>);
}
template <class T>
int64_t backward_cost(const int64_t* params) {
  const PoolParams& p = pool_params(params);
  return 20 + p.h * p.w * 4 + p.oh * p.ow * (4 + 4 * p.kh * p.kw);
}

template <class T>
constexpr LibraryPhase max_phase{forward<T, maximum<T>>, forward_extent, forward_cost<T>};
template <class T>
constexpr LibraryPhase average_phase{forward<T, average<T>>, forward_extent, forward_cost<T>};
template <class T, bool Max>
constexpr LibraryPhase backward_phase{backward<T, Max>, backward_extent<T>, backward_cost<T>};

constexpr LibraryKernel kernels[] = {
    {"max_pool2d.f32", &max_phase<float>, 1, nullptr},
    {"max_pool2d.f64", &max_phase<double>, 1, nullptr},
    {"max_pool2d.i32", &max_phase<int32_t>, 1, nullptr},
    {"max_pool2d.i64", &max_phase<int64_t>, 1, nullptr},
    {"max_pool2d_backward.f32", &backward_phase<float, true>, 1, nullptr},
    {"max_pool2d_backward.f64", &backward_phase<double, true>, 1, nullptr},
    {"avg_pool2d.f32", &average_phase<float>, 1, nullptr},
    {"avg_pool2d.f64", &average_phase<double>, 1, nullptr},
    {"avg_pool2d_backward.f32", &backward_phase<float, false>, 1, nullptr},
    {"avg_pool2d_backward.f64", &backward_phase<double, false>, 1, nullptr},
};

}  // namespace

KernelSpan pool2d_kernels() { return kernels; }

}  // namespace kiln::KILN_ISA
