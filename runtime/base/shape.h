// Dim and Shape. A Dim is a known size or an unknown one, known only at run time: an index into a DimTable of
// symbols and expressions. Shape rules are written once over Dim and serve eager calls (all known), traces and the
// compiler.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace kiln {

inline constexpr int max_rank = 8;

class Dim {
 public:
  constexpr Dim(int64_t size = 0) : v_(size < 0 ? -1 : size) {}  // -1 (any negative number): `inferred`
  static constexpr Dim symbol(int32_t id) { return Dim(Raw{}, -int64_t{id} - 2); }
  constexpr bool known() const { return v_ >= 0; }
  constexpr int64_t size() const { return v_; }                           // only if known()
  constexpr int32_t id() const { return static_cast<int32_t>(-v_ - 2); }  // only if !known(): index in the DimTable
  constexpr bool inferred() const { return v_ == -1; }  // the -1 of reshape({-1, 784}); in no Tensor's shape
  constexpr int64_t raw() const { return v_; }
  static constexpr Dim from_raw(int64_t v) { return Dim(Raw{}, v); }
  friend constexpr bool operator==(Dim, Dim) =
      default;  // the same size for sure; unequal Dims may still be equal at run time

 private:
  struct Raw {};
  constexpr Dim(Raw, int64_t v) : v_(v) {}
  int64_t v_;
};

// What an unknown Dim is made of.
enum class DimOp : uint8_t {
  symbol,     // a named input dim; a = input number, b = axis (raw numbers, not Dims)
  add,        // a + b
  subtract,   // a - b
  multiply,   // a * b
  floor_div,  // a / b, rounded down; b > 0
  maximum,    // max(a, b)
  broadcast,  // a == 1 ? b : a; at run time also requires a == b unless one is 1
  positive,   // a, which at run time must not be 0; b is 0
};

struct DimExpr {
  DimOp op;
  Dim a, b;
  std::string name;  // symbols only
  friend bool operator==(const DimExpr&, const DimExpr&) = default;
};

// The unknown dims of one traced function; equal expressions get equal ids. Dim arithmetic folds known values and
// interns the rest in the thread's current table.
class DimTable {
 public:
  Dim symbol(std::string name, int input, int axis);
  Dim intern(DimOp op, Dim a, Dim b);
  const DimExpr& operator[](int32_t id) const { return exprs_[id]; }
  int size() const { return static_cast<int>(exprs_.size()); }
  const std::vector<DimExpr>& exprs() const { return exprs_; }
  std::vector<DimExpr>& exprs() { return exprs_; }
  // Values of all exprs, in order, given each input's shape. Fails where dims that must agree do not.
  Result<std::vector<int64_t>> evaluate(std::span<const std::span<const int64_t>> input_dims) const;
  std::string to_string(Dim d) const;  // "50", "batch", "batch*784"

  static DimTable* current();  // the thread's table, null in eager code
  class Scope {                // makes a table current for a block
   public:
    explicit Scope(DimTable* t);
    ~Scope();
    Scope(const Scope&) = delete;

   private:
    DimTable* previous_;
  };

 private:
  std::vector<DimExpr> exprs_;
};

Dim operator+(Dim a, Dim b);
Dim operator-(Dim a, Dim b);
Dim operator*(Dim a, Dim b);
Dim floor_div(Dim a, Dim b);
Dim maximum(Dim a, Dim b);

// Up to max_rank Dims, stored in place.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<Dim> dims) {
    for (Dim d : dims) push_back(d);
  }
  explicit Shape(std::span<const Dim> dims) {
    for (Dim d : dims) push_back(d);
  }
  explicit Shape(std::span<const int64_t> dims) {
    for (int64_t d : dims) push_back(Dim(d));
  }
  int rank() const { return rank_; }
  bool known() const {
    for (Dim d : *this)
      if (!d.known()) return false;
    return true;
  }
  Dim operator[](int i) const { return dims_[i]; }
  Dim& operator[](int i) { return dims_[i]; }
  void push_back(Dim d) {
    if (rank_ < max_rank)
      dims_[rank_++] = d;
    else
      ++excess_;
  }
  int excess() const { return excess_; }  // how many dims did not fit; a shape with such is refused by every op
  void insert(int at, Dim d) {
    push_back(d);
    for (int i = rank_ - 1; i > at; --i) dims_[i] = dims_[i - 1];
    dims_[at] = d;
  }
  void erase(int at) {
    for (int i = at; i + 1 < rank_; ++i) dims_[i] = dims_[i + 1];
    --rank_;
  }
  Dim back() const { return dims_[rank_ - 1]; }
  const Dim* begin() const { return dims_.data(); }
  const Dim* end() const { return dims_.data() + rank_; }
  Dim* begin() { return dims_.data(); }
  Dim* end() { return dims_.data() + rank_; }
  Dim elements() const {
    Dim n = 1;
    for (Dim d : *this) n = n * d;
    return n;
  }
  int64_t size() const {
    int64_t n = 1;
    for (Dim d : *this) n *= d.size();
    return n;
  }  // only if known()
  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.rank_ != b.rank_ || a.excess_ != b.excess_) return false;
    for (int i = 0; i < a.rank_; ++i)
      if (!(a.dims_[i] == b.dims_[i])) return false;
    return true;
  }

 private:
  std::array<Dim, max_rank> dims_{};
  int rank_ = 0;
  int excess_ = 0;
};

// "[2,3]", "[batch,784]"; unknown dims without a table print as "?".
std::string to_string(const Shape& shape, const DimTable* table = DimTable::current());

// Fails if the shape was given more than max_rank dims.
Status check_rank(const Shape& shape);

}  // namespace kiln
