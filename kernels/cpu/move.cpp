// slice, pad, concat, tile: see calls.h.
#include <algorithm>
#include <cstring>

#include "kernels/cpu/elements.h"
#include "kernels/cpu/library_table.h"

namespace kiln {
namespace {

constexpr int64_t block = 16384;  // elements of a row that one item copies

int64_t blocks_of(int64_t row) { return (row + block - 1) / block; }

// The elements begin + i * step (i < size) in each dim of an array; as few dims as possible.
struct Region {
  int rank = 0;
  int64_t sizes[max_rank + 1], strides[max_rank + 1];  // i in dim d moves strides[d] elements in the array
  int64_t dense[max_rank + 1];                         // and dense[d] in the region
  int64_t start = 0;                                   // the region's first element
  int64_t rows = 1;

  Region(int n, const int64_t* dims, const int64_t* size, const int64_t* begin, const int64_t* step,
         const int64_t* backwards) {
    int64_t all_strides[max_rank], stride = 1;
    for (int d = n - 1; d >= 0; --d) {
      all_strides[d] = (backwards[d] ? -step[d] : step[d]) * stride;
      start += begin[d] * stride;
      stride *= dims[d];
    }
    for (int d = 0; d < n; ++d) {
      if (size[d] == 1) continue;
      if (rank && strides[rank - 1] == size[d] * all_strides[d]) {
        sizes[rank - 1] *= size[d];
        strides[rank - 1] = all_strides[d];
      } else {
        sizes[rank] = size[d];
        strides[rank++] = all_strides[d];
      }
    }
    if (rank == 0) sizes[0] = strides[0] = rank = 1;
    int64_t inner = 1;
    for (int d = rank - 1; d >= 0; --d) {
      dense[d] = inner;
      inner *= sizes[d];
    }
    for (int d = 0; d + 1 < rank; ++d) rows *= sizes[d];
  }
  int64_t row() const { return sizes[rank - 1]; }
  int64_t step() const { return strides[rank - 1]; }
  int64_t extent() const { return rows * blocks_of(row()); }
};

Region slice_region(const int64_t* p) {
  const int64_t n = p[0];
  return Region(static_cast<int>(n), p + 1, p + 1 + n, p + 1 + 2 * n, p + 1 + 3 * n, p + 1 + 4 * n);
}
// The place of x in the result of pad.
Region pad_region(const int64_t* p) {
  const int64_t n = p[0];
  return Region(static_cast<int>(n), p + 1 + n, p + 1, p + 1 + 2 * n, p + 1 + 3 * n, p + 1 + 4 * n);
}

// Copies items [begin, end) of a region out of its array, or into it.
template <class T, bool Out>
void copy(const Region& r, T* array, T* region, int64_t begin, int64_t end) {
  Counter counter(r.rank - 1, r.sizes, r.strides, r.dense);
  const int64_t per_row = blocks_of(r.row()), step = r.step();
  if (begin < end) counter.set(begin / per_row);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t first = i % per_row * block, n = std::min(block, r.row() - first);
    T* a = array + r.start + counter.a + first * step;
    T* b = region + counter.b + first;
    if (step == 1) {
      std::memcpy(Out ? b : a, Out ? a : b, static_cast<size_t>(n) * sizeof(T));
    } else {
      for (int64_t k = 0; k < n; ++k) (Out ? b[k] : a[k * step]) = Out ? a[k * step] : b[k];
    }
    if ((i + 1) % per_row == 0) counter.next();
  }
}

template <class T>
int32_t slice(void* const* buffers, const int64_t* params, int64_t begin, int64_t end, CallContext*) {
  copy<T, true>(slice_region(params), static_cast<T*>(buffers[0]), static_cast<T*>(buffers[1]), begin, end);
  return 0;
}
int64_t slice_extent(const int64_t* params) { return slice_region(params).extent(); }
template <class T>
int64_t slice_cost(const int64_t* params) {
  return 4 + std::min(block, slice_region(params).row()) * int64_t{sizeof(T)} / 10;
}

int64_t pad_result_size(const int64_t* params) {
  int64_t n = 1;
  for (int64_t d = 0; d < params[0]; ++d) n *= params[1 + params[0] + d];
  return n;
}
template <class T>
int32_t pad_fill(void* const* buffers, const int64_t* params, int64_t begin, int64_t end, CallContext*) {
  const int64_t* bits = params + 1 + 5 * params[0];
  const uint64_t all = static_cast<uint64_t>(bits[0]) | static_cast<uint64_t>(bits[1]) << 32;
  T value{};
  std::memcpy(&value, &all, std::min(sizeof value, sizeof all));
  T* result = static_cast<T*>(buffers[1]);
  std::fill(result + begin * block, result + std::min(pad_result_size(params), end * block), value);
  return 0;
}
int64_t pad_fill_extent(const int64_t* params) { return blocks_of(pad_result_size(params)); }
template <class T>
int64_t pad_fill_cost(const int64_t* params) {
  return 4 + std::min(block, pad_result_size(params)) * int64_t{sizeof(T)} / 20;
}
template <class T>
int32_t pad_copy(void* const* buffers, const int64_t* params, int64_t begin, int64_t end, CallContext*) {
  copy<T, false>(pad_region(params), static_cast<T*>(buffers[1]), static_cast<T*>(buffers[0]), begin, end);
  return 0;
}
int64_t pad_copy_extent(const int64_t* params) { return pad_region(params).extent(); }
template <class T>
int64_t pad_copy_cost(const int64_t* params) {
  return 4 + std::min(block, pad_region(params).row()) * int64_t{sizeof(T)} / 10;
}

// One item: one input of one outer index.
template <class T>
int32_t concat(void* const* buffers, const int64_t* params, int64_t begin, int64_t end, CallContext*) {
  const int64_t n = params[0], inner = params[2];
  const int64_t* sizes = params + 3;
  int64_t total = 0;
  for (int64_t i = 0; i < n; ++i) total += sizes[i];
  T* result = static_cast<T*>(buffers[n]);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t outer = item / n, input = item % n;
    int64_t before = 0;
    for (int64_t i = 0; i < input; ++i) before += sizes[i];
    const int64_t size = sizes[input] * inner;
    if (size)
      std::memcpy(result + (outer * total + before) * inner, static_cast<const T*>(buffers[input]) + outer * size,
                  static_cast<size_t>(size) * sizeof(T));
  }
  return 0;
}
int64_t concat_extent(const int64_t* params) { return params[1] * params[0]; }
template <class T>
int64_t concat_cost(const int64_t* params) {
  int64_t total = 0;
  for (int64_t i = 0; i < params[0]; ++i) total += params[3 + i];
  return 6 + total * params[2] / std::max<int64_t>(params[0], 1) * int64_t{sizeof(T)} / 10;
}

// One item: one row (last dim) of the result.
template <class T>
int32_t tile(void* const* buffers, const int64_t* params, int64_t begin, int64_t end, CallContext*) {
  const int64_t n = params[0];
  const int64_t* dims = params + 1;
  const int64_t* multiples = dims + n;
  const int64_t row = n ? dims[n - 1] : 1, times = n ? multiples[n - 1] : 1;
  for (int64_t i = begin; i < end; ++i) {
    int64_t left = i, source = 0, stride = row;
    for (int64_t d = n - 2; d >= 0; --d) {
      const int64_t size = dims[d] * multiples[d];
      source += left % size % dims[d] * stride;
      left /= size;
      stride *= dims[d];
    }
    const T* from = static_cast<const T*>(buffers[0]) + source;
    T* to = static_cast<T*>(buffers[1]) + i * row * times;
    if (row == 1) {
      std::fill(to, to + times, *from);
      continue;
    }
    for (int64_t k = 0; k < times; ++k) std::memcpy(to + k * row, from, static_cast<size_t>(row) * sizeof(T));
  }
  return 0;
}
int64_t tile_extent(const int64_t* params) {
  const int64_t n = params[0];
  int64_t rows = 1;
  for (int64_t d = 0; d < n; ++d) {
    const int64_t size = params[1 + d] * params[1 + n + d];
    if (d + 1 < n || size == 0) rows *= size;
  }
  return rows;
}
template <class T>
int64_t tile_cost(const int64_t* params) {
  const int64_t n = params[0];
  return 8 + (n ? params[n] * params[2 * n] : 1) * int64_t{sizeof(T)} / 10;
}

template <class T>
constexpr LibraryPhase slice_phases[] = {{slice<T>, slice_extent, slice_cost<T>}};
template <class T>
constexpr LibraryPhase pad_phases[] = {{pad_fill<T>, pad_fill_extent, pad_fill_cost<T>},
                                       {pad_copy<T>, pad_copy_extent, pad_copy_cost<T>}};
template <class T>
constexpr LibraryPhase concat_phases[] = {{concat<T>, concat_extent, concat_cost<T>}};
template <class T>
constexpr LibraryPhase tile_phases[] = {{tile<T>, tile_extent, tile_cost<T>}};

constexpr LibraryKernel kernels[] = {
#define KILN_ROWS(name, type)                                                                     \
  {"slice." #name, slice_phases<type>, 1, nullptr}, {"pad." #name, pad_phases<type>, 2, nullptr}, \
      {"concat." #name, concat_phases<type>, 1, nullptr}, {"tile." #name, tile_phases<type>, 1, nullptr},
    KILN_FOR_EACH_SIZE(KILN_ROWS)
#undef KILN_ROWS
};

}  // namespace

KernelSpan move_kernels() { return kernels; }

}  // namespace kiln
