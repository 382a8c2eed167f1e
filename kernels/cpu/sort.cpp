// sort, argsort, top_k, searchsorted along the last dim of [O, R]: see calls.h. Sorting is a merge sort of indices in
// the workspace.
#include <algorithm>
#include <cstring>

#include "kernels/cpu/elements.h"
#include "kernels/cpu/library_table.h"

namespace kiln {
namespace {

enum class Give { values, indices, best };

// NaN comes last either way; equal values keep their order.
template <class T>
bool before(T a, T b, bool descending) {
  return (descending ? a > b : a < b) || (b != b && a == a);
}

// Sorts the indices 0..n-1 by their value; `order` and `spare` have room for n. Returns the one that holds the result.
template <class T>
int64_t* sort_indices(const T* x, int64_t n, bool descending, int64_t* order, int64_t* spare) {
  constexpr int64_t run = 16;
  for (int64_t begin = 0; begin < n; begin += run)
    for (int64_t i = begin; i < std::min(n, begin + run); ++i) {
      int64_t j = i;
      for (; j > begin && before(x[i], x[order[j - 1]], descending); --j) order[j] = order[j - 1];
      order[j] = i;
    }
  for (int64_t width = run; width < n; width *= 2, std::swap(order, spare))
    for (int64_t begin = 0; begin < n; begin += 2 * width) {
      const int64_t middle = std::min(n, begin + width), end = std::min(n, begin + 2 * width);
      int64_t a = begin, b = middle;
      for (int64_t k = begin; k < end; ++k)
        spare[k] = a < middle && (b >= end || !before(x[order[b]], x[order[a]], descending)) ? order[a++] : order[b++];
    }
  return order;
}

// One item: one row.
template <class T, Give What>
int32_t sort(void* const* buffers, const int64_t* params, int64_t begin, int64_t end, CallContext*) {
  const int64_t n = params[1], k = What == Give::best ? params[2] : n;
  const bool descending = What == Give::best || params[2];
  int64_t* order = static_cast<int64_t*>(buffers[What == Give::best ? 3 : 2]) + begin * 2 * n;
  for (int64_t i = begin; i < end; ++i) {
    const T* x = static_cast<const T*>(buffers[0]) + i * n;
    const int64_t* sorted = sort_indices(x, n, descending, order, order + n);
    if (What != Give::indices) {
      T* values = static_cast<T*>(buffers[1]) + i * k;
      for (int64_t j = 0; j < k; ++j) values[j] = x[sorted[j]];
    }
    if (What != Give::values && k)
      std::memcpy(static_cast<int64_t*>(buffers[What == Give::best ? 2 : 1]) + i * k, sorted,
                  static_cast<size_t>(k) * sizeof(int64_t));
  }
  return 0;
}

int64_t extent(const int64_t* params) { return params[1] == 0 ? 0 : params[0]; }
int64_t cost(const int64_t* params) {
  int64_t levels = 4;
  for (int64_t n = params[1]; n > 16; n /= 2) ++levels;
  return 10 + params[1] * levels * 2;
}
int64_t workspace(const int64_t* params) { return params[0] * params[1] * 2 * int64_t{sizeof(int64_t)}; }

// One item: one of the values, whose place is found by halving.
template <class T>
int32_t search(void* const* buffers, const int64_t* params, int64_t begin, int64_t end, CallContext*) {
  const int64_t n = params[1], count = params[2];
  const bool right = params[3];
  const T* values = static_cast<const T*>(buffers[1]);
  for (int64_t i = begin; i < end; ++i) {
    const T* row = static_cast<const T*>(buffers[0]) + i / count * n;
    int64_t low = 0;
    for (int64_t left = n; left > 0;) {
      const int64_t half = left / 2;
      const T at = row[low + half];
      const bool goes_behind = right ? !before(values[i], at, false) : before(at, values[i], false);
      low = goes_behind ? low + half + 1 : low;
      left = goes_behind ? left - half - 1 : half;
    }
    static_cast<int64_t*>(buffers[2])[i] = low;
  }
  return 0;
}
int64_t search_extent(const int64_t* params) { return params[0] * params[2]; }
int64_t search_cost(const int64_t* params) {
  int64_t steps = 1;
  for (int64_t n = params[1]; n > 0; n /= 2) ++steps;
  return 3 + steps * 3;
}

template <class T>
constexpr LibraryPhase search_phase{search<T>, search_extent, search_cost};
template <class T, Give What>
constexpr LibraryPhase phase{sort<T, What>, extent, cost};

constexpr LibraryKernel kernels[] = {
#define KILN_ROWS(name, type)                                        \
  {"sort." #name, &phase<type, Give::values>, 1, workspace},         \
      {"argsort." #name, &phase<type, Give::indices>, 1, workspace}, \
      {"top_k." #name, &phase<type, Give::best>, 1, workspace},      \
      {"searchsorted." #name, &search_phase<type>, 1, nullptr},
    KILN_FOR_EACH_NUMBER(KILN_ROWS)
#undef KILN_ROWS
};

}  // namespace

KernelSpan sort_kernels() { return kernels; }

}  // namespace kiln
