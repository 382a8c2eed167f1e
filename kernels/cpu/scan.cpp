// argmax, argmin, cumsum, cumprod over the middle dim of [O, R, I]: see calls.h.
#include <algorithm>
#include <type_traits>

#include "kernels/cpu/elements.h"
#include "kernels/cpu/library_table.h"

namespace kiln {
namespace {

struct ScanParams {
  int64_t outer, size, inner, exclusive, reverse;
};
const ScanParams& scan_params(const int64_t* params) { return *reinterpret_cast<const ScanParams*>(params); }

constexpr int64_t block = 64;  // columns of one item

int64_t blocks_of(const ScanParams& p) { return (p.inner + block - 1) / block; }
int64_t extent(const int64_t* params) { return scan_params(params).outer * blocks_of(scan_params(params)); }
int64_t cost(const int64_t* params) {
  const ScanParams& p = scan_params(params);
  return 5 + p.size * std::max<int64_t>(1, std::min(block, p.inner) / 2);
}

// Whether x takes the place of the best so far: it is better, or the first NaN.
template <class T, bool Max>
bool better(T x, T best) {
  if constexpr (std::is_floating_point_v<T>) {
    if (best != best) return false;
    if (x != x) return true;
  }
  return Max ? x > best : x < best;
}

template <class T, bool Max>
int32_t arg_best(void* const* buffers, const int64_t* params, int64_t begin, int64_t end, CallContext*) {
  const ScanParams& p = scan_params(params);
  const int64_t blocks = blocks_of(p);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t outer = item / blocks, first = item % blocks * block, n = std::min(block, p.inner - first);
    const T* x = static_cast<const T*>(buffers[0]) + outer * p.size * p.inner + first;
    int64_t* result = static_cast<int64_t*>(buffers[1]) + outer * p.inner + first;
    T best[block];
    std::fill(result, result + n, 0);
    if (p.size) std::copy(x, x + n, best);
    for (int64_t r = 1; r < p.size; ++r) {
      const T* row = x + r * p.inner;
      for (int64_t k = 0; k < n; ++k)
        if (better<T, Max>(row[k], best[k])) {
          best[k] = row[k];
          result[k] = r;
        }
    }
  }
  return 0;
}

template <class T, bool Product>
int32_t scan(void* const* buffers, const int64_t* params, int64_t begin, int64_t end, CallContext*) {
  using Number = std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
  const ScanParams& p = scan_params(params);
  const int64_t blocks = blocks_of(p), step = p.reverse ? -p.inner : p.inner;
  for (int64_t item = begin; item < end; ++item) {
    const int64_t outer = item / blocks, first = item % blocks * block, n = std::min(block, p.inner - first);
    int64_t at = outer * p.size * p.inner + first + (p.reverse ? (p.size - 1) * p.inner : 0);
    Number sums[block];
    std::fill(sums, sums + block, Number(Product));
    for (int64_t r = 0; r < p.size; ++r, at += step) {
      const T* x = static_cast<const T*>(buffers[0]) + at;
      T* result = static_cast<T*>(buffers[1]) + at;
      for (int64_t k = 0; k < n; ++k) {
        const Number before = sums[k], value = static_cast<Number>(x[k]);
        sums[k] = Product ? before * value : before + value;
        result[k] = static_cast<T>(p.exclusive ? before : sums[k]);
      }
    }
  }
  return 0;
}

template <class T, bool Max>
constexpr LibraryPhase arg_phase{arg_best<T, Max>, extent, cost};
template <class T, bool Product>
constexpr LibraryPhase scan_phase{scan<T, Product>, extent, cost};

constexpr LibraryKernel kernels[] = {
#define KILN_ROWS(name, type)                                                                                    \
  {"argmax." #name, &arg_phase<type, true>, 1, nullptr}, {"argmin." #name, &arg_phase<type, false>, 1, nullptr}, \
      {"cumsum." #name, &scan_phase<type, false>, 1, nullptr},                                                   \
      {"cumprod." #name, &scan_phase<type, true>, 1, nullptr},
    KILN_FOR_EACH_NUMBER(KILN_ROWS)
#undef KILN_ROWS
};

}  // namespace

KernelSpan scan_kernels() { return kernels; }

}  // namespace kiln
