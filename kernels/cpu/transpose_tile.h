// Transposition of one block in registers, for packing and for the transpose kernel.
#pragma once
#include "kernels/cpu/vectors.h"

namespace kiln::KILN_ISA {

// One stage of the butterfly: exchanges bit Step of the row number with bit Step of the lane number.
template <class V, int Lanes, int Step, bool High, int... I>
inline V exchange(V a, V b, std::integer_sequence<int, I...>) {
  if constexpr (High)
    return __builtin_shufflevector(a, b, ((I & Step) ? Lanes + I : I + Step)...);
  else
    return __builtin_shufflevector(a, b, ((I & Step) ? Lanes + I - Step : I)...);
}
template <class V, int Lanes, int Step>
inline void transpose_stages(V (&v)[Lanes]) {
#pragma clang loop unroll(full)
  for (int i = 0; i < Lanes; ++i) {
    if (i & Step) continue;
    const V a = v[i], b = v[i + Step];
    v[i] = exchange<V, Lanes, Step, false>(a, b, std::make_integer_sequence<int, Lanes>());
    v[i + Step] = exchange<V, Lanes, Step, true>(a, b, std::make_integer_sequence<int, Lanes>());
  }
  if constexpr (Step > 1) transpose_stages<V, Lanes, Step / 2>(v);
}

// to[j * to_stride + i] = from[i * from_stride + j] for i < rows, j < columns, both at most lanes<T>.
template <class T>
inline void transpose_tile(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t rows,
                           int64_t columns) {
  constexpr int n = lanes<T>;
  Vector<T> v[n];
  if (rows == n && columns == n) {
#pragma clang loop unroll(full)
    for (int i = 0; i < n; ++i) v[i] = load(from + i * from_stride);
    transpose_stages<Vector<T>, n, n / 2>(v);
#pragma clang loop unroll(full)
    for (int i = 0; i < n; ++i) store(to + i * to_stride, v[i]);
    return;
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < n; ++i) v[i] = i < rows ? load_first(from + i * from_stride, columns) : Vector<T>{};
  transpose_stages<Vector<T>, n, n / 2>(v);
#pragma clang loop unroll(full)
  for (int i = 0; i < n; ++i)
    if (i < columns) store_first(to + i * to_stride, v[i], rows);
}

// The same for a block of any size; rows of `to` are written one after the other (strided writes are what is slow).
template <class T>
inline void transpose_block(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t rows,
                            int64_t columns) {
  constexpr int n = lanes<T>;
  for (int64_t j = 0; j < columns; j += n)
    for (int64_t i = 0; i < rows; i += n)
      transpose_tile(from + i * from_stride + j, from_stride, to + j * to_stride + i, to_stride, smaller(n, rows - i),
                     smaller(n, columns - j));
}

}  // namespace kiln::KILN_ISA
