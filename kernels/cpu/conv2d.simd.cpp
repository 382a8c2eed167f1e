// conv2d and conv2d_backward_input: implicit matrix products. Rows of the left matrix are windows of the input, which
// are read in place, or from a strip of input rows with the padding filled in; the filter is packed first.
#include <cstring>

#include "kernels/cpu/conv_geometry.h"
#include "kernels/cpu/library_table.h"
#include "kernels/cpu/transpose_tile.h"

namespace kiln::KILN_ISA {
namespace {

template <class T, bool Backward>
struct Plan {
  const ConvParams& p;
  int64_t in_h, in_w, out_h, out_w, groups;
  int64_t in_channels, out_channels;  // per group
  int64_t classes_h, classes_w;
  int64_t most_taps = 0, rows_needed = 0, columns_needed = 0;
  bool strips = false;  // some window reaches into the padding
  bool depthwise;
  int vectors;
  int64_t rows_per_item, blocks;

  explicit Plan(const int64_t* params) : p(conv_params(params)), groups(p.groups) {
    in_h = Backward ? p.oh : p.h;
    in_w = Backward ? p.ow : p.w;
    out_h = Backward ? p.h : p.oh;
    out_w = Backward ? p.w : p.ow;
    in_channels = (Backward ? p.f : p.c) / groups;
    out_channels = (Backward ? p.c : p.f) / groups;
    classes_h = Backward ? p.stride_h : 1;
    classes_w = Backward ? p.stride_w : 1;
    depthwise = in_channels == 1 && out_channels == 1 && groups > 1;
    int64_t taps_h = 0, taps_w = 0, rows = 0, in_step = 1, span_h = 0;
    for (int64_t i = 0; i < classes_h; ++i) {
      const ConvAxis a = axis_h(i);
      strips |= !a.inside(in_h);
      taps_h = larger(taps_h, a.taps);
      rows = larger(rows, a.count);
      in_step = a.in_step;
      span_h = larger(span_h, a.span());
    }
    int64_t columns = 0;
    for (int64_t i = 0; i < classes_w; ++i) {
      const ConvAxis a = axis_w(i);
      strips |= !a.inside(in_w);
      taps_w = larger(taps_w, a.taps);
      columns = larger(columns, a.count);
      columns_needed = larger(columns_needed, (a.count - 1) * a.in_step + a.span());
    }
    most_taps = taps_h * taps_w;
    vectors = vectors_for(RowTiles(columns).largest());

    // Items of some 50 us, at least 8 if there are rows enough, strips that fit the second cache.
    row_cost = 20 + columns * most_taps * in_channels * out_channels * groups / (lanes<T> * (depthwise ? 2 : 8));
    rows_per_item = larger(1, smaller(rows, 50000 / row_cost));
    const int64_t images = larger(1, p.n * classes_h * classes_w);
    rows_per_item = larger(1, smaller(rows_per_item, ceil_div(rows, ceil_div(8, images))));
    for (;; rows_per_item = rows_per_item / 2) {
      rows_needed = (rows_per_item - 1) * in_step + span_h;
      if (rows_per_item == 1 || strip_size() * int64_t{sizeof(T)} <= (256 << 10)) break;
    }
    blocks = ceil_div(rows, rows_per_item);
  }

  int64_t row_cost;
  ConvAxis axis_h(int64_t i) const {
    return Backward ? backward_axis(p.h, p.kh, p.stride_h, p.dilation_h, p.pad_top, i)
                    : forward_axis(p.oh, p.kh, p.stride_h, p.dilation_h, p.pad_top);
  }
  ConvAxis axis_w(int64_t i) const {
    return Backward ? backward_axis(p.w, p.kw, p.stride_w, p.dilation_w, p.pad_left, i)
                    : forward_axis(p.ow, p.kw, p.stride_w, p.dilation_w, p.pad_left);
  }
  int64_t in_pixel() const { return groups * in_channels; }
  int64_t out_pixel() const { return groups * out_channels; }
  int64_t items() const { return out_w * out_pixel() == 0 ? 0 : p.n * classes_h * classes_w * blocks; }
  int64_t strip_size() const { return strips ? ceil_div(rows_needed * columns_needed * in_pixel(), 16) * 16 : 0; }
  // Packed filter: [class][group][tap][input channel][result channels, in pieces].
  int64_t group_size() const { return most_taps * in_channels * ceil_div(out_channels, lanes<T>) * lanes<T>; }
  int64_t filter_size() const {
    return depthwise ? 0 : ceil_div(classes_h * classes_w * groups * group_size(), 16) * 16;
  }
};

template <class T, class F>
void for_each_piece(int64_t columns, int vectors, F f) {
  for (int64_t j = 0; j < columns;) {
    const Piece piece = next_piece<T>(columns - j, vectors);
    f(j, piece);
    j += piece.vectors * lanes<T>;
  }
}

// One item: one tap of one group and class.
template <class T, bool Backward>
int32_t pack(void* const* buffers, const int64_t* params, int64_t begin, int64_t end, CallContext*) {
  const Plan<T, Backward> p(params);
  const T* filter = static_cast<const T*>(buffers[Backward ? 0 : 1]);
  T* packed = static_cast<T*>(buffers[3]);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t tap = item % p.most_taps, group = item / p.most_taps % p.groups,
                  which = item / p.most_taps / p.groups;
    const ConvAxis h = p.axis_h(which / p.classes_w), w = p.axis_w(which % p.classes_w);
    if (tap >= h.taps * w.taps) continue;
    const int64_t fh = h.filter_start + tap / w.taps * h.filter_step,
                  fw = w.filter_start + tap % w.taps * w.filter_step;
    const int64_t channels = p.p.c / p.groups, f = p.p.f / p.groups;
    const T* from = filter + (fh * p.p.kw + fw) * channels * p.p.f + group * f;
    const int64_t k = h.taps * w.taps * p.in_channels;
    for_each_piece<T>(p.out_channels, p.vectors, [&](int64_t j, Piece piece) {
      const int64_t width = piece.vectors * lanes<T>, columns = width - lanes<T> + piece.last;
      T* to = packed + (which * p.groups + group) * p.group_size() + j * k + tap * p.in_channels * width;
      if (Backward) {
        transpose_block(from + j * p.p.f, p.p.f, to, width, columns, p.in_channels);
        return;
      }
      for (int64_t i = 0; i < p.in_channels; ++i)
        std::memcpy(to + i * width, from + i * p.p.f + j, static_cast<size_t>(columns) * sizeof(T));
    });
  }
  return 0;
}

template <class T, bool Backward>
int64_t pack_extent(const int64_t* params) {
  const Plan<T, Backward> p(params);
  return p.filter_size() == 0 || p.items() == 0 ? 0 : p.classes_h * p.classes_w * p.groups * p.most_taps;
}

template <class T, bool Backward>
int64_t pack_cost(const int64_t* params) {
  const Plan<T, Backward> p(params);
  return 20 + p.in_channels * p.out_channels / 4;
}

// What an item reads: element (r, c, channel) of its input, counted from its first row and column, is at
// data[r * row + c * pixel + channel].
template <class T>
struct Window {
  const T* data;
  int64_t row;
};

// Rows [first, first + rows), columns [left, left + columns) of an image, in place, or copied with zeros around.
template <class T, bool Backward>
Window<T> window(const Plan<T, Backward>& p, const T* image, T* strip, int64_t first, int64_t rows, int64_t left,
                 int64_t columns) {
  const int64_t pixel = p.in_pixel();
  if (first >= 0 && first + rows <= p.in_h && left >= 0 && left + columns <= p.in_w)
    return {image + (first * p.in_w + left) * pixel, p.in_w * pixel};
  const int64_t from = smaller(larger(0, -left), columns), to = larger(from, smaller(columns, p.in_w - left));
  auto zero = [&](T* at, int64_t n) { std::memset(at, 0, static_cast<size_t>(n * pixel) * sizeof(T)); };
  for (int64_t r = 0; r < rows; ++r) {
    T* line = strip + r * columns * pixel;
    if (first + r < 0 || first + r >= p.in_h) {
      zero(line, columns);
      continue;
    }
    zero(line, from);
    std::memcpy(line + from * pixel, image + ((first + r) * p.in_w + left + from) * pixel,
                static_cast<size_t>((to - from) * pixel) * sizeof(T));
    zero(line + to * pixel, columns - to);
  }
  return {strip, columns * pixel};
}

constexpr int max_segments = 64;

// One group of one block of rows.
template <class T, bool Backward>
void multiply(const Plan<T, Backward>& p, const ConvAxis& h, const ConvAxis& w, Window<T> in, const T* packed, T* out,
              int64_t rows) {
  const bool joined = w.tap_step == 1 && p.groups == 1;  // the taps of a row lie side by side
  const int64_t length = (joined ? w.taps : 1) * p.in_channels;
  const int64_t per_row = joined ? 1 : w.taps, count = w.taps ? h.taps * per_row : 0;
  const int64_t most = larger(1, smaller(max_segments, 2048 / larger(1, length)));
  const RowTiles tiles(w.count);
  int64_t done = 0;
  do {
    int64_t segments[max_segments];
    Tile<T> t;
    t.segments = segments;
    t.segment_count = smaller(most, count - done);
    for (int64_t s = 0; s < t.segment_count; ++s)
      segments[s] = (done + s) / per_row * h.tap_step * in.row + (done + s) % per_row * w.tap_step * p.in_pixel();
    t.segment_length = length;
    t.a_row = w.in_step * p.in_pixel();
    t.a_k = 1;
    t.c_row = w.out_step * p.out_pixel();
    t.onto = done > 0;
    for_each_piece<T>(p.out_channels, p.vectors, [&](int64_t j, Piece piece) {
      t.b_k = piece.vectors * lanes<T>;
      t.b = packed + j * count * length + done * length * t.b_k;
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t i = 0; i < tiles.count; ++i) {
          t.a = in.data + r * h.in_step * in.row + tiles.start(i) * t.a_row;
          t.c = out + r * h.out_step * p.out_w * p.out_pixel() + tiles.start(i) * t.c_row + j;
          run_tile(t, tiles.rows(i), piece);
        }
    });
    done += most;
  } while (done < count);
}

// One filter plane per channel: vectors of channels.
template <class T, bool Backward>
void multiply_depthwise(const Plan<T, Backward>& p, const ConvAxis& h, const ConvAxis& w, Window<T> in, const T* filter,
                        T* out, int64_t rows) {
  constexpr int at_once = 4;  // neighbouring pixels share the filter
  const int64_t channels = p.groups;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < channels; c += lanes<T>) {
      const int64_t last = smaller(lanes<T>, channels - c);
      auto get = [&](const T* from) { return last < lanes<T> ? load_first(from, last) : load(from); };
      for (int64_t i = 0; i < w.count; i += at_once) {
        const int64_t pixels = smaller(at_once, w.count - i);
        Vector<T> sum[at_once] = {};
        for (int64_t th = 0; th < h.taps; ++th)
          for (int64_t tw = 0; tw < w.taps; ++tw) {
            const int64_t fh = h.filter_start + th * h.filter_step, fw = w.filter_start + tw * w.filter_step;
            const Vector<T> f = get(filter + (fh * p.p.kw + fw) * channels + c);
            const T* x = in.data + (r * h.in_step + th * h.tap_step) * in.row + c;
            for (int64_t q = 0; q < at_once; ++q) {
              const int64_t at = (smaller(i + q, w.count - 1) * w.in_step + tw * w.tap_step) * channels;
              sum[q] = fma<T>(get(x + at), f, sum[q]);
            }
          }
        for (int64_t q = 0; q < pixels; ++q) {
          T* to = out + (r * h.out_step * p.out_w + (i + q) * w.out_step) * channels + c;
          if (last < lanes<T>)
            store_first(to, sum[q], last);
          else
            store(to, sum[q]);
        }
      }
    }
}

// One item: a block of rows of one class in one image.
template <class T, bool Backward>
int32_t run(void* const* buffers, const int64_t* params, int64_t begin, int64_t end, CallContext*) {
  const Plan<T, Backward> p(params);
  const T* input = static_cast<const T*>(buffers[Backward ? 1 : 0]);
  T* result = static_cast<T*>(buffers[2]);
  T* packed = p.filter_size() || p.strip_size() ? static_cast<T*>(buffers[3]) : nullptr;
  T* strip =
      p.strip_size() ? packed + p.filter_size() + begin * p.strip_size() : nullptr;  // no other chunk begins here
  for (int64_t item = begin; item < end; ++item) {
    const int64_t block = item % p.blocks, which = item / p.blocks % (p.classes_h * p.classes_w),
                  image = item / p.blocks / (p.classes_h * p.classes_w);
    const ConvAxis h = p.axis_h(which / p.classes_w), w = p.axis_w(which % p.classes_w);
    const int64_t first = block * p.rows_per_item, rows = smaller(p.rows_per_item, h.count - first);
    if (rows <= 0 || w.count == 0) continue;
    Window<T> in{input, 0};
    if (h.taps && w.taps && p.in_pixel())
      in = window(p, input + image * p.in_h * p.in_w * p.in_pixel(), strip, first * h.in_step + h.tap_start,
                  (rows - 1) * h.in_step + h.span(), w.tap_start, (w.count - 1) * w.in_step + w.span());
    T* out = result + ((image * p.out_h + h.out_start + first * h.out_step) * p.out_w + w.out_start) * p.out_pixel();
    if (p.depthwise) {
      multiply_depthwise(p, h, w, in, static_cast<const T*>(buffers[Backward ? 0 : 1]), out, rows);
      continue;
    }
    for (int64_t g = 0; g < p.groups; ++g)
      multiply(p, h, w, Window<T>{in.data + g * p.in_channels, in.row},
               packed + (which * p.groups + g) * p.group_size(), out + g * p.out_channels, rows);
  }
  return 0;
}

template <class T, bool Backward>
int64_t extent(const int64_t* params) {
  return Plan<T, Backward>(params).items();
}

template <class T, bool Backward>
int64_t cost(const int64_t* params) {
  const Plan<T, Backward> p(params);
  return 50 + p.rows_per_item * p.row_cost;
}

template <class T, bool Backward>
int64_t workspace(const int64_t* params) {
  const Plan<T, Backward> p(params);
  return (p.filter_size() + p.items() * p.strip_size()) * int64_t{sizeof(T)};
}

template <class T, bool Backward>
constexpr LibraryPhase phases[] = {{pack<T, Backward>, pack_extent<T, Backward>, pack_cost<T, Backward>},
                                   {run<T, Backward>, extent<T, Backward>, cost<T, Backward>}};

constexpr LibraryKernel kernels[] = {
    {"conv2d.f32", phases<float, false>, 2, workspace<float, false>},
    {"conv2d.f64", phases<double, false>, 2, workspace<double, false>},
    {"conv2d_backward_input.f32", phases<float, true>, 2, workspace<float, true>},
    {"conv2d_backward_input.f64", phases<double, true>, 2, workspace<double, true>},
};

}  // namespace

KernelSpan conv2d_kernels() { return kernels; }

}  // namespace kiln::KILN_ISA
