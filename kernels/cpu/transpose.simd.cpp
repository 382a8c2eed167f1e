// transpose: dims that stay together are merged; then either whole rows move, or two dims change places in blocks that
// fit the registers.
#include <cstring>

#include "kernels/cpu/elements.h"
#include "kernels/cpu/library_table.h"
#include "kernels/cpu/transpose_tile.h"

namespace kiln::KILN_ISA {
namespace {

constexpr int64_t block_columns = 64, block_rows = 512;

struct Plan {
  int rank = 0;  // of the outer index space: all but the moved row, or but the two dims that change places
  int64_t sizes[max_rank], from[max_rank], to[max_rank];  // strides in x and result
  int64_t outer = 1;
  bool rows_move;                       // the last dim stays last
  int64_t row = 1;                      // its size
  int64_t columns = 1, x_stride = 1;    // result's last dim: size, stride in x
  int64_t rows = 1, result_stride = 1;  // x's last dim: size, stride in the result

  explicit Plan(const int64_t* params) {
    const int n = static_cast<int>(params[0]);
    const int64_t* x_dims = params + 1;
    const int64_t* perm = x_dims + n;
    int64_t x_strides[max_rank];
    int64_t stride = 1;
    for (int d = n - 1; d >= 0; --d) {
      x_strides[d] = stride;
      stride *= x_dims[d];
    }
    // Result dims, without those of size 1, merged where they are neighbours in x too.
    int64_t dims[max_rank], strides[max_rank];
    int count = 0;
    for (int i = 0; i < n; ++i) {
      const int64_t size = x_dims[perm[i]], s = x_strides[perm[i]];
      if (size == 1) continue;
      if (count && strides[count - 1] == size * s) {
        dims[count - 1] *= size;
        strides[count - 1] = s;
      } else {
        dims[count] = size;
        strides[count++] = s;
      }
    }
    rows_move = count == 0 || strides[count - 1] == 1;
    int64_t result_at = 1;
    for (int i = count - 1; i >= 0; --i) {
      if (i == count - 1) {
        (rows_move ? row : columns) = dims[i];
        x_stride = strides[i];
      } else if (!rows_move && strides[i] == 1) {
        rows = dims[i];
        result_stride = result_at;
      } else {
        ++rank;
      }
      result_at *= dims[i];
    }
    int at = rank;
    result_at = 1;
    for (int i = count - 1; i >= 0; --i) {
      if (i < count - 1 && (rows_move || strides[i] != 1)) {
        sizes[--at] = dims[i];
        from[at] = strides[i];
        to[at] = result_at;
        outer *= dims[i];
      }
      result_at *= dims[i];
    }
  }
  int64_t row_blocks() const { return ceil_div(rows, block_columns); }
  int64_t column_blocks() const { return ceil_div(columns, block_rows); }
  int64_t extent() const { return row * rows * columns == 0 ? 0 : outer * row_blocks() * column_blocks(); }
};

template <class T>
int32_t run(void* const* buffers, const int64_t* params, int64_t begin, int64_t end, CallContext*) {
  const Plan p(params);
  const T* x = static_cast<const T*>(buffers[0]);
  T* result = static_cast<T*>(buffers[1]);
  Counter counter(p.rank, p.sizes, p.from, p.to);
  if (p.rows_move) {
    counter.set(begin);
    for (int64_t i = begin; i < end; ++i, counter.next()) {
      if (p.row == 1)
        result[counter.b] = x[counter.a];
      else
        std::memcpy(result + counter.b, x + counter.a, static_cast<size_t>(p.row) * sizeof(T));
    }
    return 0;
  }
  for (int64_t i = begin; i < end; ++i) {
    const int64_t row = i % p.row_blocks() * block_columns;
    const int64_t column = i / p.row_blocks() % p.column_blocks() * block_rows;
    counter.set(i / p.row_blocks() / p.column_blocks());
    const T* from = x + counter.a + column * p.x_stride + row;
    T* to = result + counter.b + row * p.result_stride + column;
    const int64_t rows = smaller(block_columns, p.rows - row), columns = smaller(block_rows, p.columns - column);
    if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
      transpose_block(from, p.x_stride, to, p.result_stride, columns, rows);
    } else {
      for (int64_t c = 0; c < columns; c += 32)
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t k = c; k < smaller(columns, c + 32); ++k) to[r * p.result_stride + k] = from[k * p.x_stride + r];
    }
  }
  return 0;
}

int64_t extent(const int64_t* params) { return Plan(params).extent(); }

template <class T>
int64_t cost(const int64_t* params) {
  const Plan p(params);
  return 2 + p.row * smaller(p.rows, block_columns) * smaller(p.columns, block_rows) * int64_t{sizeof(T)} / 8;
}

template <class T>
constexpr LibraryPhase phase{run<T>, extent, cost<T>};

constexpr LibraryKernel kernels[] = {
#define KILN_ROW(name, type) {"transpose." #name, &phase<type>, 1, nullptr},
    KILN_FOR_EACH_SIZE(KILN_ROW)
#undef KILN_ROW
};

}  // namespace

KernelSpan transpose_kernels() { return kernels; }

}  // namespace kiln::KILN_ISA
