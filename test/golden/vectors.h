// Reads vectors.bin (made by make_vectors.py): the inputs and NumPy's results of every op.
//
// Format, little-endian: "KILNVEC1", u32 number of cases; each case: text op; u8 n, n attributes; u8 n, n operands; u8
// n, n results. text: u8 length, bytes. attribute: text name, u8 AttributeKind, value (bool u8, int i64, float f64,
// dtype u8, string text, ints and dims u8 n, n times i64). array: u8 DType, u8 rank, rank times i64, elements. result:
// array, u8: 0 bits must agree (NaN: any), 1 values must be equal, 2 an array of the largest allowed errors follows, of
// the result's dtype and shape.
#pragma once
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "compiler/api/graph.h"

namespace kiln::golden {

struct ExpectedResult {
  Constant value;
  int check = 0;
  std::vector<double> allowed;  // check 2
};

struct Case {
  std::string op;
  std::vector<Attribute> attributes;
  std::vector<Constant> operands;
  std::vector<ExpectedResult> results;
};

class Reader {
 public:
  explicit Reader(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    data_.assign(std::istreambuf_iterator<char>(in), {});
  }
  // All cases, in the order of the records; empty if the file is missing or of another format.
  std::vector<Case> read() {
    if (data_.compare(0, 8, "KILNVEC1") != 0) return {};
    at_ = 8;
    std::vector<Case> cases(take<uint32_t>());
    for (Case& c : cases) {
      c.op = text();
      for (int n = take<uint8_t>(); n > 0; --n) c.attributes.push_back(attribute());
      for (int n = take<uint8_t>(); n > 0; --n) c.operands.push_back(array());
      for (int n = take<uint8_t>(); n > 0; --n) c.results.push_back(result());
    }
    return cases;
  }

 private:
  template <class T>
  T take() {
    T v;
    std::memcpy(&v, data_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return v;
  }
  std::string text() {
    const size_t n = take<uint8_t>();
    at_ += n;
    return data_.substr(at_ - n, n);
  }
  std::vector<int64_t> numbers() {
    std::vector<int64_t> result(take<uint8_t>());
    for (int64_t& v : result) v = take<int64_t>();
    return result;
  }
  Attribute attribute() {
    text();  // the name, for people
    switch (static_cast<AttributeKind>(take<uint8_t>())) {
      case AttributeKind::boolean:
        return take<uint8_t>() != 0;
      case AttributeKind::integer:
        return take<int64_t>();
      case AttributeKind::floating:
        return take<double>();
      case AttributeKind::dtype:
        return static_cast<DType>(take<uint8_t>());
      case AttributeKind::string:
        return text();
      case AttributeKind::ints:
        return numbers();
      case AttributeKind::dims:
        return Shape(std::span<const int64_t>(numbers()));
    }
    return false;
  }
  Constant array() {
    Constant c;
    c.type.dtype = static_cast<DType>(take<uint8_t>());
    for (int rank = take<uint8_t>(); rank > 0; --rank) c.type.shape.push_back(Dim(take<int64_t>()));
    const size_t bytes = static_cast<size_t>(c.type.shape.size()) * size_of(c.type.dtype);
    c.data = Buffer::allocate(bytes).value();
    std::memcpy(c.data->data(), data_.data() + at_, bytes);
    at_ += bytes;
    return c;
  }
  ExpectedResult result() {
    ExpectedResult r{array(), take<uint8_t>(), {}};
    if (r.check == 2)
      for (int64_t n = r.value.type.shape.size(); n > 0; --n)
        r.allowed.push_back(r.value.type.dtype == DType::f32 ? double{take<float>()} : take<double>());
    return r;
  }

  std::string data_;
  size_t at_ = 0;
};

// Why `got` (dense elements of the result's type) is not the expected result; nothing if it is.
inline std::optional<std::string> mismatch(const ExpectedResult& want, const void* got) {
  std::optional<std::string> found;
  visit_dtype(want.value.type.dtype, [&](auto tag) {
    using T = decltype(tag);
    for (int64_t i = 0; i < want.value.type.shape.size() && !found; ++i) {
      T w, g;
      std::memcpy(&w, want.value.data->data() + i * sizeof(T), sizeof(T));
      std::memcpy(&g, static_cast<const char*>(got) + i * sizeof(T), sizeof(T));
      bool same = std::memcmp(&w, &g, sizeof(T)) == 0 || (w != w && g != g);
      if (!same && want.check >= 1) same = w == g;
      if (!same && want.check == 2)
        same = std::fabs(static_cast<long double>(w) - static_cast<long double>(g)) <=
               static_cast<long double>(want.allowed[i]);
      if (!same)
        found = "element " + std::to_string(i) + " is " + std::to_string(g) + ", NumPy's is " + std::to_string(w);
    }
  });
  return found;
}

}  // namespace kiln::golden
