// What the reference interpreter's parts share: arrays read and written as RefScalars.
#pragma once
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "compiler/api/graph.h"
#include "kernels/reference/ref_scalar.h"

namespace kiln::reference {

// A dense row-major array in somebody else's memory.
struct Array {
  DType dtype;
  std::vector<int64_t> dims;
  std::byte* data;

  explicit Array(const Constant& c) : dtype(c.type.dtype), data(c.data->data()) {
    for (Dim d : c.type.shape) dims.push_back(d.size());
  }
  int rank() const { return static_cast<int>(dims.size()); }
  int64_t size() const { return product(0, rank()); }
  int64_t product(int begin, int end) const {  // of the dims [begin, end)
    int64_t n = 1;
    for (int i = begin; i < end; ++i) n *= dims[i];
    return n;
  }
  RefScalar operator[](int64_t i) const { return RefScalar::load(dtype, data + i * size_of(dtype)); }
  void set(int64_t i, RefScalar v) const { v.store(data + i * size_of(dtype)); }
  int64_t integer(int64_t i) const { return convert((*this)[i], DType::i64).value<int64_t>(); }
  RefScalar zero() const { return RefScalar::from_bits(dtype, 0); }
  // The number of the element at the index.
  int64_t offset(std::span<const int64_t> index) const {
    int64_t at = 0;
    for (int i = 0; i < rank(); ++i) at = at * dims[i] + index[i];
    return at;
  }
};

// Calls f(index) for each index below dims, in row-major order.
template <class F>
void for_each_index(std::span<const int64_t> dims, F&& f) {
  for (int64_t d : dims)
    if (d == 0) return;
  std::vector<int64_t> index(dims.size());
  for (;;) {
    f(std::span<const int64_t>(index));
    size_t i = dims.size();
    while (i > 0 && ++index[i - 1] == dims[i - 1]) index[--i] = 0;
    if (i == 0) return;
  }
}

// One op at work; results are allocated.
struct OpCall {
  OpId op;
  std::span<const Array> operands;
  std::span<const Attribute> attributes;
  std::span<const Array> results;

  template <class T>
  const T& attribute(int i) const {
    return std::get<T>(attributes[i]);
  }
  int64_t integer(int i) const { return attribute<int64_t>(i); }
  const std::vector<int64_t>& ints(int i) const { return attribute<std::vector<int64_t>>(i); }
  // An axis attribute, made non-negative.
  int axis(int i, int rank) const { return static_cast<int>(integer(i) < 0 ? integer(i) + rank : integer(i)); }
  Status fail(Code code, const std::string& text) const { return {code, std::string(name_of(op)) + ": " + text}; }
};

using OpFunction = Status (*)(const OpCall&);
OpFunction find_structured(OpId op);  // null if the op is not structured
OpFunction find_neural(OpId op);      // products, convolutions, pools; null for others

}  // namespace kiln::reference
