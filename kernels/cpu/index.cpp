// gather, gather_nd, take_along_axis, scatter_add, check_range: see calls.h. The first phase of each checks all indices
// in order, so that the error does not depend on the threads.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "kernels/cpu/elements.h"
#include "kernels/cpu/library_table.h"
#include "runtime/base/status.h"

namespace kiln {
namespace {

struct AxisParams {
  int64_t outer, axis, inner, count;
};
const AxisParams& axis_params(const int64_t* params) { return *reinterpret_cast<const AxisParams*>(params); }

int64_t one(const int64_t*) { return 1; }

// Position of the first value outside [0, size), or n.
template <class I>
int64_t first_outside(const I* indices, int64_t n, int64_t size) {
  bool bad = false;
  for (int64_t i = 0; i < n; ++i) bad |= indices[i] < 0 || indices[i] >= size;
  if (!bad) return n;
  int64_t i = 0;
  while (indices[i] >= 0 && indices[i] < size) ++i;
  return i;
}

int32_t outside(CallContext* context, int64_t index, int64_t position, int64_t size) {
  std::snprintf(context->message, sizeof context->message,
                "index %" PRId64 " at position %" PRId64 " is out of range for axis size %" PRId64, index, position,
                size);
  return static_cast<int32_t>(Code::out_of_range);
}

// Indices in buffer Buffer, `count` of them (times outer and inner if PerElement).
template <class I, int Buffer, bool PerElement>
int32_t check_axis(void* const* buffers, const int64_t* params, int64_t, int64_t, CallContext* context) {
  const AxisParams& p = axis_params(params);
  const I* indices = static_cast<const I*>(buffers[Buffer]);
  const int64_t n = PerElement ? p.outer * p.count * p.inner : p.count, i = first_outside(indices, n, p.axis);
  return i < n ? outside(context, indices[i], i, p.axis) : 0;
}
template <bool PerElement>
int64_t check_axis_cost(const int64_t* params) {
  const AxisParams& p = axis_params(params);
  return 10 + (PerElement ? p.outer * p.count * p.inner : p.count) / 2;
}

// One item: one row of `inner` elements.
template <class T, class I>
int32_t gather(void* const* buffers, const int64_t* params, int64_t begin, int64_t end, CallContext*) {
  const AxisParams& p = axis_params(params);
  const T* x = static_cast<const T*>(buffers[0]);
  const I* indices = static_cast<const I*>(buffers[1]);
  T* result = static_cast<T*>(buffers[2]);
  for (int64_t i = begin; i < end; ++i) {
    const T* from = x + (i / p.count * p.axis + indices[i % p.count]) * p.inner;
    if (p.inner == 1)
      result[i] = *from;
    else
      std::memcpy(result + i * p.inner, from, static_cast<size_t>(p.inner) * sizeof(T));
  }
  return 0;
}
int64_t gather_extent(const int64_t* params) {
  const AxisParams& p = axis_params(params);
  return p.inner == 0 ? 0 : p.outer * p.count;
}
template <class T>
int64_t gather_cost(const int64_t* params) {
  return 3 + axis_params(params).inner * int64_t{sizeof(T)} / 10;
}

struct GatherNdParams {
  int64_t count, inner, k, dims[max_rank];
};
const GatherNdParams& nd_params(const int64_t* params) { return *reinterpret_cast<const GatherNdParams*>(params); }

template <class I>
int32_t check_nd(void* const* buffers, const int64_t* params, int64_t, int64_t, CallContext* context) {
  const GatherNdParams& p = nd_params(params);
  const I* indices = static_cast<const I*>(buffers[1]);
  for (int64_t i = 0; i < p.count * p.k; ++i)
    if (indices[i] < 0 || indices[i] >= p.dims[i % p.k]) return outside(context, indices[i], i / p.k, p.dims[i % p.k]);
  return 0;
}
int64_t check_nd_cost(const int64_t* params) { return 10 + nd_params(params).count * nd_params(params).k; }

template <class T, class I>
int32_t gather_nd(void* const* buffers, const int64_t* params, int64_t begin, int64_t end, CallContext*) {
  const GatherNdParams& p = nd_params(params);
  const T* x = static_cast<const T*>(buffers[0]);
  const I* indices = static_cast<const I*>(buffers[1]) + begin * p.k;
  T* result = static_cast<T*>(buffers[2]) + begin * p.inner;
  for (int64_t i = begin; i < end; ++i, indices += p.k, result += p.inner) {
    int64_t row = 0;
    for (int64_t d = 0; d < p.k; ++d) row = row * p.dims[d] + indices[d];
    std::memcpy(result, x + row * p.inner, static_cast<size_t>(p.inner) * sizeof(T));
  }
  return 0;
}
int64_t gather_nd_extent(const int64_t* params) { return nd_params(params).inner == 0 ? 0 : nd_params(params).count; }
template <class T>
int64_t gather_nd_cost(const int64_t* params) {
  return 4 + nd_params(params).k + nd_params(params).inner * int64_t{sizeof(T)} / 10;
}

// One item: one (outer, count) pair, all inner elements.
template <class T, class I>
int32_t take_along(void* const* buffers, const int64_t* params, int64_t begin, int64_t end, CallContext*) {
  const AxisParams& p = axis_params(params);
  const T* x = static_cast<const T*>(buffers[0]);
  const I* indices = static_cast<const I*>(buffers[1]);
  T* result = static_cast<T*>(buffers[2]);
  for (int64_t i = begin; i < end; ++i) {
    const T* from = x + i / p.count * p.axis * p.inner;
    for (int64_t k = 0; k < p.inner; ++k) result[i * p.inner + k] = from[indices[i * p.inner + k] * p.inner + k];
  }
  return 0;
}
int64_t take_along_cost(const int64_t* params) { return 3 + axis_params(params).inner * 2; }

// scatter: an item owns a block of columns and a range of rows of one outer index and walks through all indices, so
// that equal indices add in order whatever the threads.
struct ScatterSplit {
  const AxisParams& p;
  static constexpr int64_t columns = 1024;
  int64_t column_blocks, ranges, rows;
  explicit ScatterSplit(const int64_t* params) : p(axis_params(params)) {
    column_blocks = (p.inner + columns - 1) / columns;
    const int64_t others = std::max<int64_t>(1, p.outer * column_blocks);
    ranges = std::clamp<int64_t>(8 / others, 1, std::max<int64_t>(1, p.axis));
    rows = (p.axis + ranges - 1) / ranges;
  }
  int64_t extent() const { return p.axis == 0 ? 0 : p.outer * column_blocks * ranges; }
};

template <class T, class I, bool Base>
int32_t scatter(void* const* buffers, const int64_t* params, int64_t begin, int64_t end, CallContext*) {
  using Sum = std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
  const ScatterSplit s(params);
  const AxisParams& p = s.p;
  const T* base = static_cast<const T*>(buffers[0]);
  const I* indices = static_cast<const I*>(buffers[1]);
  const T* updates = static_cast<const T*>(buffers[Base ? 2 : 0]);
  T* result = static_cast<T*>(buffers[Base ? 3 : 2]);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t column = item % s.column_blocks * s.columns, range = item / s.column_blocks % s.ranges,
                  outer = item / s.column_blocks / s.ranges;
    const int64_t n = std::min(s.columns, p.inner - column);
    const int64_t first = range * s.rows, last = std::min(p.axis, first + s.rows);
    for (int64_t r = first; r < last; ++r) {
      const int64_t at = (outer * p.axis + r) * p.inner + column;
      if (Base)
        std::memcpy(result + at, base + at, static_cast<size_t>(n) * sizeof(T));
      else
        std::memset(result + at, 0, static_cast<size_t>(n) * sizeof(T));
    }
    for (int64_t i = 0; i < p.count; ++i) {
      if (indices[i] < first || indices[i] >= last) continue;
      T* to = result + (outer * p.axis + indices[i]) * p.inner + column;
      const T* from = updates + (outer * p.count + i) * p.inner + column;
      for (int64_t k = 0; k < n; ++k) to[k] = static_cast<T>(static_cast<Sum>(to[k]) + static_cast<Sum>(from[k]));
    }
  }
  return 0;
}
int64_t scatter_extent(const int64_t* params) { return ScatterSplit(params).extent(); }
int64_t scatter_cost(const int64_t* params) {
  const ScatterSplit s(params);
  const int64_t n = std::min(s.columns, s.p.inner);
  return 10 + s.rows * n / 8 + s.p.count + s.p.count * n / 8 / s.ranges;
}

template <class I>
int32_t check_range(void* const* buffers, const int64_t* params, int64_t, int64_t, CallContext* context) {
  const I* x = static_cast<const I*>(buffers[0]);
  const int64_t n = params[0], lower = params[1], upper = params[2];
  for (int64_t i = 0; i < n; ++i)
    if (x[i] < lower || x[i] >= upper) {
      std::snprintf(context->message, sizeof context->message,
                    "label %" PRId64 " at position %" PRId64 " is out of range [%" PRId64 ", %" PRId64 ")",
                    static_cast<int64_t>(x[i]), i, lower, upper);
      return static_cast<int32_t>(Code::out_of_range);
    }
  if (n) std::memmove(buffers[1], x, static_cast<size_t>(n) * sizeof(I));
  return 0;
}
int64_t check_range_cost(const int64_t* params) { return 10 + params[0]; }

template <class T, class I>
constexpr LibraryPhase gather_phases[] = {{check_axis<I, 1, false>, one, check_axis_cost<false>},
                                          {gather<T, I>, gather_extent, gather_cost<T>}};
template <class T, class I>
constexpr LibraryPhase gather_nd_phases[] = {{check_nd<I>, one, check_nd_cost},
                                             {gather_nd<T, I>, gather_nd_extent, gather_nd_cost<T>}};
template <class T, class I>
constexpr LibraryPhase take_along_phases[] = {{check_axis<I, 1, true>, one, check_axis_cost<true>},
                                              {take_along<T, I>, gather_extent, take_along_cost}};
template <class T, class I, bool Base>
constexpr LibraryPhase scatter_phases[] = {{check_axis<I, 1, false>, one, check_axis_cost<false>},
                                           {scatter<T, I, Base>, scatter_extent, scatter_cost}};
template <class I>
constexpr LibraryPhase check_range_phases[] = {{check_range<I>, one, check_range_cost}};

constexpr LibraryKernel kernels[] = {
#define KILN_ROWS_FOR(name, type, index_name, index)                                   \
  {"gather." #name "." #index_name, gather_phases<type, index>, 2, nullptr},           \
      {"gather_nd." #name "." #index_name, gather_nd_phases<type, index>, 2, nullptr}, \
      {"take_along_axis." #name "." #index_name, take_along_phases<type, index>, 2, nullptr},
#define KILN_ROWS(name, type) KILN_ROWS_FOR(name, type, i32, int32_t) KILN_ROWS_FOR(name, type, i64, int64_t)
    KILN_FOR_EACH_SIZE(KILN_ROWS)
#undef KILN_ROWS_FOR
#define KILN_ROWS_FOR(name, type, index_name, index)                                      \
  {"scatter_add." #name "." #index_name, scatter_phases<type, index, false>, 2, nullptr}, \
      {"tensor_scatter_add." #name "." #index_name, scatter_phases<type, index, true>, 2, nullptr},
        KILN_FOR_EACH_NUMBER(KILN_ROWS)
#undef KILN_ROWS_FOR
#undef KILN_ROWS
            {"check_range.i32", check_range_phases<int32_t>, 1, nullptr},
    {"check_range.i64", check_range_phases<int64_t>, 1, nullptr},
};

}  // namespace

KernelSpan index_kernels() { return kernels; }

}  // namespace kiln
