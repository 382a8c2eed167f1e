// conv2d_backward_filter: for each filter row a matrix product, transposed windows of x by dresult.
#include <cstring>

#include "kernels/cpu/conv_geometry.h"
#include "kernels/cpu/library_table.h"

namespace kiln::KILN_ISA {
namespace {

constexpr int depthwise_columns = 4, depthwise_vectors = 2;  // filter elements and vectors of channels of one item

template <class T>
struct Plan {
  const ConvParams& p;
  int64_t channels, f;  // per group
  bool depthwise;
  bool joined;             // the elements of a filter row lie side by side in x: they are rows of one product
  int64_t rows, products;  // rows of a product; products in all
  int64_t padded_h, padded_w;
  bool padded;
  RowTiles tiles{0};
  int vectors;
  int64_t tiles_per_item, items_per_product;

  explicit Plan(const int64_t* params) : p(conv_params(params)), channels(p.c / p.groups), f(p.f / p.groups) {
    depthwise = channels == 1 && f == 1 && p.groups > 1;
    joined = p.dilation_w == 1 && p.groups == 1;
    rows = joined ? p.kw * channels : channels;
    products = joined ? p.kh : p.kh * p.kw * p.groups;
    padded_h = (p.oh - 1) * p.stride_h + (p.kh - 1) * p.dilation_h + 1;
    padded_w = (p.ow - 1) * p.stride_w + (p.kw - 1) * p.dilation_w + 1;
    padded = p.pad_top || p.pad_left || padded_h > p.h || padded_w > p.w;
    if (!padded) padded_h = p.h, padded_w = p.w;
    tiles = RowTiles(rows);
    vectors = vectors_for(tiles.largest());
    if (depthwise) {
      products = p.kh * ceil_div(p.kw, depthwise_columns);
      items_per_product = ceil_div(p.c, depthwise_vectors * lanes<T>);
      return;
    }
    tiles_per_item = larger(1, smaller(8, tiles.count * products / 8));
    items_per_product = tiles.count ? ceil_div(tiles.count, tiles_per_item) : 0;
  }
  int64_t pixels() const { return p.n * p.oh * p.ow; }
  int64_t items() const { return f == 0 || p.groups == 0 ? 0 : products * items_per_product; }
  int64_t pad_items() const { return padded && pixels() && items() ? p.n * padded_h : 0; }
};

// One item: one row of one image with its padding.
template <class T>
int32_t pad(void* const* buffers, const int64_t* params, int64_t begin, int64_t end, CallContext*) {
  const Plan<T> p(params);
  const int64_t pixel = p.p.c, columns = smaller(p.p.w, larger(0, p.padded_w - p.p.pad_left));
  const T* x = static_cast<const T*>(buffers[0]);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t image = i / p.padded_h, row = i % p.padded_h - p.p.pad_top;
    T* to = static_cast<T*>(buffers[3]) + i * p.padded_w * pixel;
    auto zero = [&](T* at, int64_t n) { std::memset(at, 0, static_cast<size_t>(n * pixel) * sizeof(T)); };
    if (row < 0 || row >= p.p.h) {
      zero(to, p.padded_w);
      continue;
    }
    const int64_t left = smaller(p.p.pad_left, p.padded_w);
    zero(to, left);
    std::memcpy(to + left * pixel, x + (image * p.p.h + row) * p.p.w * pixel,
                static_cast<size_t>(columns * pixel) * sizeof(T));
    zero(to + (left + columns) * pixel, p.padded_w - left - columns);
  }
  return 0;
}

template <class T>
int64_t pad_extent(const int64_t* params) {
  return Plan<T>(params).pad_items();
}

template <class T>
int64_t pad_cost(const int64_t* params) {
  const Plan<T> p(params);
  return 20 + p.padded_w * p.p.c * int64_t{sizeof(T)} / 15;
}

constexpr int max_segments = 64;

// x points at the first element that row 0 of the product meets; tiles [begin, end).
template <class T>
void multiply(const Plan<T>& p, const T* x, const T* dresult, T* dfilter, int64_t begin, int64_t end) {
  const int64_t pixel = p.p.c, lines = p.pixels() ? p.p.n * p.p.oh : 0;
  const int64_t most = larger(1, smaller(max_segments, 256 / larger(1, p.p.ow)));
  int64_t done = 0;
  do {
    int64_t segments[max_segments];
    Tile<T> t;
    t.segments = segments;
    t.segment_count = smaller(most, lines - done);
    for (int64_t s = 0; s < t.segment_count; ++s) {
      const int64_t image = (done + s) / p.p.oh, row = (done + s) % p.p.oh;
      segments[s] = (image * p.padded_h + row * p.p.stride_h) * p.padded_w * pixel;
    }
    t.segment_length = p.p.ow;
    t.a_row = 1;
    t.a_k = p.p.stride_w * pixel;
    t.b_k = p.p.f;
    t.c_row = p.p.f;
    t.onto = done > 0;
    for (int64_t j = 0; j < p.f;) {
      const Piece piece = next_piece<T>(p.f - j, p.vectors);
      t.b = dresult + done * p.p.ow * p.p.f + j;
      for (int64_t i = begin; i < end; ++i) {
        t.a = x + p.tiles.start(i);
        t.c = dfilter + p.tiles.start(i) * p.p.f + j;
        run_tile(t, p.tiles.rows(i), piece);
      }
      j += piece.vectors * lanes<T>;
    }
    done += most;
  } while (done < lines);
}

// Neighbouring elements of a filter row, a few vectors of channels.
template <class T, int Columns, int Vectors, bool Tail>
void multiply_depthwise(const Plan<T>& p, const T* x, const T* dresult, T* dfilter, int64_t last) {
  Vector<T> sum[Columns][Vectors] = {};
  const int64_t pixel = p.p.c;
  auto get = [&](const T* from, int v) {
    return Tail && v == Vectors - 1 ? load_first(from + v * lanes<T>, last) : load(from + v * lanes<T>);
  };
  for (int64_t line = 0; line < p.p.n * p.p.oh; ++line) {
    const T* row = x + (line / p.p.oh * p.padded_h + line % p.p.oh * p.p.stride_h) * p.padded_w * pixel;
    const T* d = dresult + line * p.p.ow * pixel;
    for (int64_t i = 0; i < p.p.ow; ++i, row += p.p.stride_w * pixel, d += pixel)
#pragma clang loop unroll(full)
      for (int v = 0; v < Vectors; ++v) {
        const Vector<T> dv = get(d, v);
#pragma clang loop unroll(full)
        for (int q = 0; q < Columns; ++q) sum[q][v] = fma<T>(get(row + q * p.p.dilation_w * pixel, v), dv, sum[q][v]);
      }
  }
#pragma clang loop unroll(full)
  for (int q = 0; q < Columns; ++q)
#pragma clang loop unroll(full)
    for (int v = 0; v < Vectors; ++v) {
      T* to = dfilter + q * pixel + v * lanes<T>;
      if (Tail && v == Vectors - 1)
        store_first(to, sum[q][v], last);
      else
        store(to, sum[q][v]);
    }
}

template <class T, int Columns>
void multiply_depthwise(const Plan<T>& p, const T* x, const T* dresult, T* dfilter, int64_t columns, int64_t channels) {
  if (columns < Columns) {
    if constexpr (Columns > 1) multiply_depthwise<T, Columns - 1>(p, x, dresult, dfilter, columns, channels);
    return;
  }
  if (channels == 2 * lanes<T>)
    multiply_depthwise<T, Columns, 2, false>(p, x, dresult, dfilter, 0);
  else if (channels > lanes<T>)
    multiply_depthwise<T, Columns, 2, true>(p, x, dresult, dfilter, channels - lanes<T>);
  else
    multiply_depthwise<T, Columns, 1, true>(p, x, dresult, dfilter, channels);
}

template <class T>
int32_t run(void* const* buffers, const int64_t* params, int64_t begin, int64_t end, CallContext*) {
  const Plan<T> p(params);
  const T* x = static_cast<const T*>(buffers[p.pad_items() ? 3 : 0]);
  const T* dresult = static_cast<const T*>(buffers[1]);
  T* dfilter = static_cast<T*>(buffers[2]);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t product = item / p.items_per_product, part = item % p.items_per_product;
    const int64_t parts = ceil_div(p.p.kw, depthwise_columns);
    const int64_t group = p.joined || p.depthwise ? 0 : product % p.p.groups;
    const int64_t element = p.joined      ? product * p.p.kw
                            : p.depthwise ? product / parts * p.p.kw + product % parts * depthwise_columns
                                          : product / p.p.groups;
    const int64_t fh = element / p.p.kw, fw = element % p.p.kw;
    const T* at = x + (fh * p.p.dilation_h * p.padded_w + fw * p.p.dilation_w) * p.p.c + group * p.channels;
    T* to = dfilter + element * p.channels * p.p.f + group * p.f;
    if (p.depthwise) {
      constexpr int64_t most = depthwise_vectors * lanes<T>;
      const int64_t c = part * most;
      multiply_depthwise<T, depthwise_columns>(p, at + c, dresult + c, to + c, smaller(depthwise_columns, p.p.kw - fw),
                                               smaller(most, p.p.c - c));
    } else {
      const int64_t tile = part * p.tiles_per_item;
      multiply(p, at, dresult + group * p.f, to, tile, smaller(p.tiles.count, tile + p.tiles_per_item));
    }
  }
  return 0;
}

template <class T>
int64_t extent(const int64_t* params) {
  return Plan<T>(params).items();
}

template <class T>
int64_t cost(const int64_t* params) {
  const Plan<T> p(params);
  if (p.depthwise) return 50 + p.pixels() * 3;
  return 50 + p.pixels() * smaller(p.rows, p.tiles_per_item * max_rows) * p.f / (lanes<T> * 8);
}

template <class T>
int64_t workspace(const int64_t* params) {
  const Plan<T> p(params);
  return p.pad_items() * p.padded_w * p.p.c * int64_t{sizeof(T)};
}

template <class T>
constexpr LibraryPhase phases[] = {{pad<T>, pad_extent<T>, pad_cost<T>}, {run<T>, extent<T>, cost<T>}};

constexpr LibraryKernel kernels[] = {
    {"conv2d_backward_filter.f32", phases<float>, 2, workspace<float>},
    {"conv2d_backward_filter.f64", phases<double>, 2, workspace<double>},
};

}  // namespace

KernelSpan conv2d_filter_kernels() { return kernels; }

}  // namespace kiln::KILN_ISA
