// Operand: what ops take. Made from a Tensor, a Variable, a number or a list of numbers; it remembers the user's line.
#pragma once
#include <initializer_list>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include "frontend/tensor/tensor.h"

namespace kiln {

class Variable;

class Operand {
 public:
  Operand(const Tensor& x, std::source_location where = std::source_location::current()) : tensor_(x), where_(where) {}
  Operand(Tensor&& x, std::source_location where = std::source_location::current())
      : tensor_(std::move(x)), where_(where) {}
  // Reads the Variable.
  Operand(const Variable& x, std::source_location where = std::source_location::current());
  // A bare number: takes the dtype of the op's tensor operand, if it can hold the number.
  template <Number T>
  Operand(T v, std::source_location where = std::source_location::current())
      : number_dtype_(detail::number_dtype<T>()), is_number_(true), where_(where) {
    if constexpr (std::floating_point<T>)
      real_ = v;
    else
      integer_ = static_cast<int64_t>(v), real_ = static_cast<double>(v);
  }
  Operand(std::initializer_list<Literal> items, std::source_location where = std::source_location::current())
      : tensor_(items, where), where_(where) {}
  template <Number T>
  Operand(const std::vector<T>& values, std::source_location where = std::source_location::current())
      : tensor_(values, where), where_(where) {}

  std::source_location where() const { return where_; }
  bool is_number() const { return is_number_; }
  DType number_dtype() const { return number_dtype_; }  // of a bare number
  // The Tensor; a bare number becomes a 0-d tensor of its own dtype.
  Tensor tensor() const { return is_number_ ? number(number_dtype_) : tensor_; }
  // The same, a bare number in `dtype`; an error if it does not fit (0.5 in i32).
  Tensor tensor(DType dtype) const { return is_number_ ? number(dtype) : tensor_; }
  // Without a copy; only if !is_number().
  const Tensor& held() const { return tensor_; }
  DType dtype() const { return is_number_ ? number_dtype_ : tensor_.dtype(); }
  Shape shape() const { return is_number_ ? Shape{} : tensor_.shape(); }

 private:
  Tensor number(DType dtype) const;

  Tensor tensor_;
  double real_ = 0;
  int64_t integer_ = 0;
  DType number_dtype_ = DType::f32;
  bool is_number_ = false;
  std::source_location where_;
};

// Any number of operands: concat({a, b}), concat(parts).
class Operands {
 public:
  Operands(std::initializer_list<Operand> items, std::source_location where = std::source_location::current())
      : items_(items), where_(where) {}
  Operands(const std::vector<Tensor>& items, std::source_location where = std::source_location::current());
  Operands(const std::vector<Variable>& items, std::source_location where = std::source_location::current());
  const std::vector<Operand>& items() const { return items_; }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  size_t size() const { return items_.size(); }
  const Operand& operator[](size_t i) const { return items_[i]; }
  std::source_location where() const { return where_; }

 private:
  std::vector<Operand> items_;
  std::source_location where_;
};

// Arithmetic with NumPy broadcasting. `/` divides floats; `%` has the sign of the divisor. Comparisons give bool
// tensors.
//   Tensor y = 2 * a + a / 3;      Tensor mask = a > 2;
Tensor operator+(const Operand& x, const Operand& y);
Tensor operator-(const Operand& x, const Operand& y);
Tensor operator*(const Operand& x, const Operand& y);
Tensor operator/(const Operand& x, const Operand& y);
Tensor operator%(const Operand& x, const Operand& y);
Tensor operator-(const Operand& x);
Tensor operator<(const Operand& x, const Operand& y);
Tensor operator<=(const Operand& x, const Operand& y);
Tensor operator>(const Operand& x, const Operand& y);
Tensor operator>=(const Operand& x, const Operand& y);
Tensor operator==(const Operand& x, const Operand& y);
Tensor operator!=(const Operand& x, const Operand& y);
Tensor operator&(const Operand& x, const Operand& y);
Tensor operator|(const Operand& x, const Operand& y);
Tensor operator^(const Operand& x, const Operand& y);
Tensor operator~(const Operand& x);

}  // namespace kiln
