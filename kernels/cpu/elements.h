// What the data movement kernels share: an element of n bytes, counting through an index space.
#pragma once
#include <cstdint>

#include "runtime/base/shape.h"

namespace kiln {

struct Bytes16 {
  uint64_t low, high;
};

// X(name, type) for each element size.
#define KILN_FOR_EACH_SIZE(X) X(b1, uint8_t) X(b2, uint16_t) X(b4, uint32_t) X(b8, uint64_t) X(b16, Bytes16)
#define KILN_FOR_EACH_NUMBER(X) X(f32, float) X(f64, double) X(i32, int32_t) X(i64, int64_t)

// A multi-dimensional counter, row-major, with two offsets that follow it by a stride per dim. Always inline: files
// of several instruction sets use it, and must not share one copy.
class Counter {
 public:
  [[gnu::always_inline]] Counter(int rank, const int64_t* sizes, const int64_t* strides_a, const int64_t* strides_b)
      : rank_(rank), sizes_(sizes), a_strides_(strides_a), b_strides_(strides_b) {}
  [[gnu::always_inline]] void set(int64_t position) {
    a = b = 0;
    for (int d = rank_ - 1; d >= 0; --d) {
      index_[d] = position % sizes_[d];
      position /= sizes_[d];
      a += index_[d] * a_strides_[d];
      b += index_[d] * b_strides_[d];
    }
  }
  [[gnu::always_inline]] void next() {
    for (int d = rank_ - 1; d >= 0; --d) {
      a += a_strides_[d];
      b += b_strides_[d];
      if (++index_[d] < sizes_[d]) return;
      a -= sizes_[d] * a_strides_[d];
      b -= sizes_[d] * b_strides_[d];
      index_[d] = 0;
    }
  }
  int64_t a = 0, b = 0;

 private:
  int rank_;
  const int64_t *sizes_, *a_strides_, *b_strides_;
  int64_t index_[max_rank] = {};
};

}  // namespace kiln
