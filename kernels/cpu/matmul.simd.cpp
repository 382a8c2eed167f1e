// matmul: see calls.h. x is always read in place; y too where that is fast, else it is packed into pieces first.
#include "kernels/cpu/library_table.h"
#include "kernels/cpu/micro_kernel.h"
#include "kernels/cpu/transpose_tile.h"

namespace kiln::KILN_ISA {
namespace {

constexpr int max_batch_rank = 6;

// in_place: y's rows are read where they are. once: a first phase packs all of y. late: an item packs each block just
// before it is used (few rows: a block is used once, so it had better stay in the cache).
enum class Packing { in_place, once, late };

template <class T>
struct Plan {
  int64_t m, n, k;
  bool transpose_x, transpose_y;
  int batch_rank;
  int64_t x_dims[max_batch_rank], y_dims[max_batch_rank];
  int64_t batches = 1, x_batches = 1, y_batches = 1;
  RowTiles tiles{0};
  int vectors;  // widest piece
  Packing packing;
  int64_t k_block;  // k is cut so that a tile of x and a piece of y stay in the cache
  int64_t tiles_per_item, columns_per_item, m_items, n_items;
  int64_t pack_rows_per_item, pack_items;

  explicit Plan(const int64_t* p) : m(p[0]), n(p[1]), k(p[2]), transpose_x(p[3]), transpose_y(p[4]) {
    batch_rank = static_cast<int>(p[5]);
    for (int i = 0; i < batch_rank; ++i) {
      x_dims[i] = p[6 + i];
      y_dims[i] = p[6 + batch_rank + i];
      x_batches *= x_dims[i];
      y_batches *= y_dims[i];
      batches *= x_dims[i] == 1 ? y_dims[i] : x_dims[i];
    }
    if (y_batches == 1 && !transpose_x) {  // one y for all: the batch is only more rows
      m *= batches;
      batches = x_batches = 1;
      batch_rank = 0;
    }
    tiles = RowTiles(m);
    vectors = vectors_for(tiles.largest());
    choose_packing();
    choose_items();
  }

  void choose_packing() {
    const bool few_rows = tiles.count <= 4, very_few = tiles.count <= 1 && tiles.largest() <= 2;
    if (transpose_y && n > 1 && k > 0)
      packing = few_rows ? Packing::late : Packing::once;
    else
      packing =
          !transpose_y && !few_rows && k * n * int64_t{sizeof(T)} > (64 << 10) ? Packing::once : Packing::in_place;
    // Very few rows: y is read once, row by row, at the speed of memory.
    const int64_t largest = very_few                                  ? (packing == Packing::late ? 64 : 16)
                            : transpose_x || packing == Packing::late ? 256
                                                                      : 1024;
    k_block = ceil_div(larger(k, 1), ceil_div(larger(k, 1), largest));
  }

  void choose_items() {
    const int64_t width = vectors * lanes<T>;
    tiles_per_item = smaller(16, tiles.count);
    columns_per_item = smaller(larger(8, 16 / vectors) * width, ceil_div(n, width) * width);
    for (;;) {
      m_items = tiles.count ? ceil_div(tiles.count, tiles_per_item) : 0;
      n_items = n ? ceil_div(n, columns_per_item) : 0;
      if (batches * m_items * n_items >= 8 || cost_per_item() < 4000) break;
      const bool wide = columns_per_item > width;
      if (tiles_per_item > 1 && (!wide || tiles_per_item * max_rows >= columns_per_item))
        tiles_per_item = ceil_div(tiles_per_item, 2);
      else if (wide)
        columns_per_item = ceil_div(columns_per_item / width, 2) * width;
      else
        break;
    }
    pack_rows_per_item = larger(lanes<T>, (16384 / larger(n, 1)) / lanes<T> * lanes<T>);
    pack_items = packing == Packing::once ? ceil_div(k, pack_rows_per_item) : 0;
  }

  int64_t cost_per_item() const {
    const int64_t rows = smaller(tiles_per_item * max_rows, larger(m, 1));
    const int64_t columns = smaller(columns_per_item, larger(n, 1));
    // Some 100 multiply-adds per ns, 20 bytes of y per ns.
    return 50 + larger(rows * columns * k / (lanes<T> * 8), columns * k * int64_t{sizeof(T)} / 20);
  }
  // Elements of the workspace: one packed matrix of y, or the block of one item.
  int64_t packed_size() const {
    if (packing == Packing::once) return k * ceil_div(n, lanes<T>) * lanes<T>;
    return packing == Packing::late ? k_block * vectors * lanes<T> : 0;
  }
  int64_t items() const { return batches * m_items * n_items; }
};

// Calls f(first column, piece) for each piece of y.
template <class T, class F>
void for_each_piece(int64_t begin, int64_t end, int vectors, F f) {
  for (int64_t j = begin; j < end;) {
    const Piece piece = next_piece<T>(end - j, vectors);
    f(j, piece);
    j += piece.vectors * lanes<T>;
  }
}

// Rows [k_begin, k_end) of the piece at column j, one after the other, filled up with zeros.
template <class T>
void pack_piece(const Plan<T>& p, const T* y, T* to, int64_t j, Piece piece, int64_t k_begin, int64_t k_end) {
  const int64_t at = (piece.vectors - 1) * lanes<T>, width = at + lanes<T>;
  if (p.transpose_y) {
    transpose_block(y + j * p.k + k_begin, p.k, to, width, at + piece.last, k_end - k_begin);
    return;
  }
  const T* from = y + k_begin * p.n + j;
  for (int64_t k = k_begin; k < k_end; ++k, from += p.n, to += width) {
    for (int64_t i = 0; i < at; i += lanes<T>) store(to + i, load(from + i));
    store(to + at, piece.last < lanes<T> ? load_first(from + at, piece.last) : load(from + at));
  }
}

// Packs some rows of y. The piece at column j lies at j * k of its matrix.
template <class T>
int32_t pack(void* const* buffers, const int64_t* params, int64_t begin, int64_t end, CallContext*) {
  const Plan<T> p(params);
  const T* y = static_cast<const T*>(buffers[1]);
  T* packed = static_cast<T*>(buffers[3]);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t b = i / p.pack_items, k = i % p.pack_items * p.pack_rows_per_item;
    const int64_t k_end = smaller(p.k, k + p.pack_rows_per_item);
    for_each_piece<T>(0, p.n, p.vectors, [&](int64_t j, Piece piece) {
      T* to = packed + b * p.packed_size() + j * p.k + k * piece.vectors * lanes<T>;
      pack_piece(p, y + b * p.k * p.n, to, j, piece, k, k_end);
    });
  }
  return 0;
}

template <class T>
int64_t pack_extent(const int64_t* params) {
  const Plan<T> p(params);
  return p.items() == 0 ? 0 : p.y_batches * p.pack_items;
}

template <class T>
int64_t pack_cost(const int64_t* params) {
  const Plan<T> p(params);
  return 50 + p.pack_rows_per_item * p.n / 4;
}

// Rows of tiles [tile_begin, tile_end), columns [n_begin, n_end) of one result matrix.
template <class T>
void multiply(const Plan<T>& p, const T* x, const T* y, T* result, T* block, int64_t tile_begin, int64_t tile_end,
              int64_t n_begin, int64_t n_end) {
  const int64_t segment = 0;
  int64_t k = 0;
  do {
    Tile<T> t;
    t.segments = &segment;
    t.segment_count = 1;
    t.segment_length = smaller(p.k_block, p.k - k);
    t.a_row = p.transpose_x ? 1 : p.k;
    t.a_k = p.transpose_x ? p.m : 1;
    t.c_row = p.n;
    t.onto = k > 0;
    for_each_piece<T>(n_begin, n_end, p.vectors, [&](int64_t j, Piece piece) {
      const int64_t width = piece.vectors * lanes<T>;
      t.b_k = p.packing != Packing::in_place ? width : p.transpose_y ? 1 : p.n;
      if (p.packing == Packing::late) {
        pack_piece(p, y, block, j, piece, k, k + t.segment_length);
        t.b = block;
      } else {
        t.b = p.packing == Packing::once ? y + j * p.k + k * width : y + j + k * t.b_k;
      }
      for (int64_t i = tile_begin; i < tile_end; ++i) {
        const int64_t row = p.tiles.start(i);
        t.a = x + row * t.a_row + k * t.a_k;
        t.c = result + row * p.n + j;
        run_tile(t, p.tiles.rows(i), piece);
      }
    });
    k += p.k_block;
  } while (k < p.k);
}

template <class T>
int32_t run(void* const* buffers, const int64_t* params, int64_t begin, int64_t end, CallContext*) {
  const Plan<T> p(params);
  const T* x = static_cast<const T*>(buffers[0]);
  const T* y = static_cast<const T*>(buffers[1]);
  T* result = static_cast<T*>(buffers[2]);
  int64_t y_size = p.k * p.n;
  T* block = nullptr;
  if (p.packing == Packing::once) {
    y = static_cast<const T*>(buffers[3]);
    y_size = p.packed_size();
  } else if (p.packing == Packing::late) {
    block = static_cast<T*>(buffers[3]) + begin * p.packed_size();  // no other chunk begins here
  }
  for (int64_t i = begin; i < end; ++i) {
    const int64_t n_item = i % p.n_items, m_item = i / p.n_items % p.m_items, batch = i / p.n_items / p.m_items;
    int64_t x_batch = 0, y_batch = 0, x_step = 1, y_step = 1, left = batch;
    for (int d = p.batch_rank - 1; d >= 0; --d) {
      const int64_t size = p.x_dims[d] == 1 ? p.y_dims[d] : p.x_dims[d], at = left % size;
      left /= size;
      if (p.x_dims[d] != 1) x_batch += at * x_step;
      if (p.y_dims[d] != 1) y_batch += at * y_step;
      x_step *= p.x_dims[d];
      y_step *= p.y_dims[d];
    }
    const int64_t tile = m_item * p.tiles_per_item, column = n_item * p.columns_per_item;
    multiply(p, x + x_batch * p.m * p.k, y + y_batch * y_size, result + batch * p.m * p.n, block, tile,
             smaller(p.tiles.count, tile + p.tiles_per_item), column, smaller(p.n, column + p.columns_per_item));
  }
  return 0;
}

template <class T>
int64_t extent(const int64_t* params) {
  return Plan<T>(params).items();
}

template <class T>
int64_t cost(const int64_t* params) {
  return Plan<T>(params).cost_per_item();
}

template <class T>
int64_t workspace(const int64_t* params) {
  const Plan<T> p(params);
  return p.packed_size() * (p.packing == Packing::once ? p.y_batches : p.items()) * int64_t{sizeof(T)};
}

template <class T>
constexpr LibraryPhase phases[] = {{pack<T>, pack_extent<T>, pack_cost<T>}, {run<T>, extent<T>, cost<T>}};

// Integers are multiplied as unsigned: they wrap.
constexpr LibraryKernel kernels[] = {
    {"matmul.f32", phases<float>, 2, workspace<float>},
    {"matmul.f64", phases<double>, 2, workspace<double>},
    {"matmul.i32", phases<uint32_t>, 2, workspace<uint32_t>},
    {"matmul.i64", phases<uint64_t>, 2, workspace<uint64_t>},
};

}  // namespace

KernelSpan matmul_kernels() { return kernels; }

}  // namespace kiln::KILN_ISA
