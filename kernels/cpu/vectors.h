// Vectors of one instruction set. Included by the *.simd.cpp files only, which are compiled once per instruction set
// (KILN_ISA = v3: AVX2 and FMA, v4: AVX-512); everything lives in kiln::KILN_ISA, so that the linker can never give
// code of one set to the other.
#pragma once
#include <immintrin.h>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace kiln::KILN_ISA {

#ifdef __AVX512F__
inline constexpr int vector_bytes = 64;
#else
inline constexpr int vector_bytes = 32;
#endif

template <class T>
inline constexpr int lanes = vector_bytes / static_cast<int>(sizeof(T));
template <class T>
using Vector = T __attribute__((vector_size(vector_bytes)));

template <class T>
inline Vector<T> load(const T* p) {
  Vector<T> v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <class T>
inline void store(T* p, Vector<T> v) {
  __builtin_memcpy(p, &v, sizeof v);
}

// The first n lanes (0 < n <= lanes); the others are 0 and not touched in memory.
#ifdef __AVX512F__
template <class T>
inline Vector<T> load_first(const T* p, int64_t n) {
  if constexpr (sizeof(T) == 4)
    return (Vector<T>)_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1), p);
  else
    return (Vector<T>)_mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << n) - 1), p);
}
template <class T>
inline void store_first(T* p, Vector<T> v, int64_t n) {
  if constexpr (sizeof(T) == 4)
    _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << n) - 1), (__m512)v);
  else
    _mm512_mask_storeu_pd(p, static_cast<__mmask8>((1u << n) - 1), (__m512d)v);
}
#else
template <class T>
inline __m256i first_mask(int64_t n) {
  if constexpr (sizeof(T) == 4)
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  else
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
}
template <class T>
inline Vector<T> load_first(const T* p, int64_t n) {
  if constexpr (sizeof(T) == 4)
    return (Vector<T>)_mm256_maskload_epi32(reinterpret_cast<const int*>(p), first_mask<T>(n));
  else
    return (Vector<T>)_mm256_maskload_epi64(reinterpret_cast<const long long*>(p), first_mask<T>(n));
}
template <class T>
inline void store_first(T* p, Vector<T> v, int64_t n) {
  if constexpr (sizeof(T) == 4)
    _mm256_maskstore_epi32(reinterpret_cast<int*>(p), first_mask<T>(n), (__m256i)v);
  else
    _mm256_maskstore_epi64(reinterpret_cast<long long*>(p), first_mask<T>(n), (__m256i)v);
}
#endif

// a * b + c, rounded once; integers wrap (T is unsigned).
template <class T>
inline Vector<T> fma(Vector<T> a, Vector<T> b, Vector<T> c) {
  if constexpr (std::is_floating_point_v<T>)
    return __builtin_elementwise_fma(a, b, c);
  else
    return a * b + c;
}
template <class T>
inline Vector<T> splat(T x) {
  Vector<T> v;
#pragma clang loop unroll(full)
  for (int i = 0; i < lanes<T>; ++i) v[i] = x;
  return v;
}

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace kiln::KILN_ISA
