// The register tile that matmul and conv share: rows x columns of the result, each element one chain
// c = fma(a, b, c) in the order of k. Longer chains than fit a cache block go on from what is in c, which changes
// nothing.
#pragma once
#include "kernels/cpu/vectors.h"

namespace kiln::KILN_ISA {

// One tile. k runs through segments of equal length: element k of segment s, row m, is at
// a[segments[s] + m * a_row + k * a_k], one of the two strides being 1. Rows of b follow each other at b_k elements,
// through all segments.
template <class T>
struct Tile {
  const T* a;
  int64_t a_row, a_k;
  const int64_t* segments;
  int64_t segment_count, segment_length;
  const T* b;
  int64_t b_k;
  T* c;
  int64_t c_row;
  bool onto;  // the chains go on from c; else from 0
};

// Rows x Vectors vectors; the last vector has `last` columns (all lanes if !Tail). UnitRows: a_row is 1, else a_k is 1.
// (No checks of pointer arithmetic here: they would make a sanitized build minutes longer.)
template <class T, int Rows, int Vectors, bool Tail, bool UnitRows>
[[clang::no_sanitize("undefined")]] void micro_kernel(const Tile<T>& t, int64_t last) {
  Vector<T> acc[Rows][Vectors];
  if (t.onto) {
#pragma clang loop unroll(full)
    for (int m = 0; m < Rows; ++m)
#pragma clang loop unroll(full)
      for (int v = 0; v < Vectors; ++v) {
        const T* c = t.c + m * t.c_row + v * lanes<T>;
        acc[m][v] = Tail && v == Vectors - 1 ? load_first(c, last) : load(c);
      }
  } else {
#pragma clang loop unroll(full)
    for (int m = 0; m < Rows; ++m)
#pragma clang loop unroll(full)
      for (int v = 0; v < Vectors; ++v) acc[m][v] = Vector<T>{};
  }
  const T* b = t.b;
  const int64_t a_row = t.a_row, a_k = t.a_k, b_k = t.b_k, length = t.segment_length;
  // Rows in threes: addresses are p, p + row, p + 2 * row, so that all pointers stay in registers.
  constexpr int groups = (Rows + 2) / 3;
  for (int64_t s = 0; s < t.segment_count; ++s) {
    const T* p[groups];
#pragma clang loop unroll(full)
    for (int g = 0; g < groups; ++g) p[g] = t.a + t.segments[s] + (UnitRows ? 0 : 3 * g * a_row);
    for (int64_t k = 0; k < length; ++k) {
      if constexpr (UnitRows) {  // strided: the hardware does not guess it
        __builtin_prefetch(p[0] + 12 * a_k);
        __builtin_prefetch(p[0] + 12 * a_k + Rows - 1);
      }
      Vector<T> bv[Vectors];
#pragma clang loop unroll(full)
      for (int v = 0; v < Vectors; ++v)
        bv[v] = Tail && v == Vectors - 1 ? load_first(b + v * lanes<T>, last) : load(b + v * lanes<T>);
#pragma clang loop unroll(full)
      for (int m = 0; m < Rows; ++m) {
        const Vector<T> av = splat<T>(UnitRows ? p[0][m] : p[m / 3][(m % 3) * a_row]);
#pragma clang loop unroll(full)
        for (int v = 0; v < Vectors; ++v) acc[m][v] = fma<T>(av, bv[v], acc[m][v]);
      }
      b += b_k;
      if constexpr (UnitRows) {
        p[0] += a_k;
      } else {
#pragma clang loop unroll(full)
        for (int g = 0; g < groups; ++g) {
          ++p[g];
          asm volatile("" : "+r"(p[g]));
        }
      }
    }
  }
#pragma clang loop unroll(full)
  for (int m = 0; m < Rows; ++m)
#pragma clang loop unroll(full)
    for (int v = 0; v < Vectors; ++v) {
      T* c = t.c + m * t.c_row + v * lanes<T>;
      if (Tail && v == Vectors - 1)
        store_first(c, acc[m][v], last);
      else
        store(c, acc[m][v]);
    }
}

// The largest tile: as many accumulators as the registers hold beside one row of b and one element of a.
#ifdef __AVX512F__
inline constexpr int max_rows = 14;
constexpr int vectors_for(int rows) { return rows <= 2 ? 8 : rows <= 6 ? 4 : 2; }
#else
inline constexpr int max_rows = 6;
constexpr int vectors_for(int rows) { return rows <= 1 ? 8 : rows <= 2 ? 4 : 2; }
#endif

// Rows [0, total) cut into tiles of at most max_rows, as even as can be.
struct RowTiles {
  int64_t count, base, extra;
  explicit RowTiles(int64_t total)
      : count(ceil_div(total, max_rows)), base(count ? total / count : 0), extra(count ? total % count : 0) {}
  int64_t start(int64_t i) const { return i * base + smaller(i, extra); }
  int rows(int64_t i) const { return static_cast<int>(base + (i < extra)); }
  int largest() const { return static_cast<int>(base + (extra > 0)); }
};

// Columns [0, total) are walked in pieces of 8, 4, 2 or 1 vectors; only the last can be partly filled.
struct Piece {
  int vectors;
  int64_t last;  // columns in the last vector
};
template <class T>
inline Piece next_piece(int64_t columns_left, int max_vectors) {
  int v = max_vectors;
  while (v > 2 && v * lanes<T> > columns_left) v /= 2;
  if (v == 2 && columns_left <= lanes<T>) v = 1;
  return {v, smaller(lanes<T>, columns_left - (v - 1) * lanes<T>)};
}

template <class T>
using MicroKernel = void (*)(const Tile<T>&, int64_t last);

template <class T>
struct MicroKernels {
  MicroKernel<T> of[max_rows + 1][4][2][2] = {};  // rows, log2 of vectors, tail, unit rows
  template <int Rows, int Log>
  constexpr void add() {
    constexpr int vectors = 1 << Log;
    of[Rows][Log][0][0] = micro_kernel<T, Rows, vectors, false, false>;
    of[Rows][Log][0][1] = micro_kernel<T, Rows, vectors, false, true>;
    if constexpr (Log < 2) {
      of[Rows][Log][1][0] = micro_kernel<T, Rows, vectors, true, false>;
      of[Rows][Log][1][1] = micro_kernel<T, Rows, vectors, true, true>;
    }
    if constexpr (2 * vectors <= vectors_for(Rows)) add<Rows, Log + 1>();
  }
  template <int Rows>
  constexpr void add_rows() {
    add<Rows, 0>();
    if constexpr (Rows < max_rows) add_rows<Rows + 1>();
  }
  constexpr MicroKernels() { add_rows<1>(); }
};
template <class T>
inline constexpr MicroKernels<T> micro_kernels{};

template <class T>
inline void run_tile(const Tile<T>& t, int rows, Piece piece) {
  const bool tail = piece.last < lanes<T>;
  micro_kernels<T>.of[rows][__builtin_ctz(piece.vectors)][tail][t.a_row == 1](t, piece.last);
}

}  // namespace kiln::KILN_ISA
