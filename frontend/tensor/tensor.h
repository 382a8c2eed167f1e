// Tensor: an immutable array of one dtype. Copying one copies a handle. In the trace of a compiled function a Tensor is
// symbolic: it has a dtype and a shape, perhaps with unknown dims, but no elements yet.
#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "frontend/tensor/index.h"
#include "runtime/base/dtype.h"
#include "runtime/base/shape.h"

namespace kiln {

class Operand;
struct ReduceOptions;
struct MatmulOptions;
namespace detail {
struct TensorRep;
}

#define KILN_DTYPE_CONSTANT(name, type, size, kind) inline constexpr DType name = DType::name;
KILN_FOR_EACH_DTYPE(KILN_DTYPE_CONSTANT)
#undef KILN_DTYPE_CONSTANT

// C++ numbers that can be elements.
template <class T>
concept Number = std::same_as<T, bool> || (std::is_arithmetic_v<T> && !std::same_as<T, char> && sizeof(T) <= 8);

namespace detail {
// long long, unsigned long and so on have the DType of the fixed-width type of their size.
template <Number T>
constexpr DType number_dtype() {
  if constexpr (std::same_as<T, bool>)
    return DType::bool_;
  else if constexpr (std::floating_point<T>)
    return sizeof(T) == 4 ? DType::f32 : DType::f64;
  else if constexpr (std::signed_integral<T>)
    return sizeof(T) == 1 ? DType::i8 : sizeof(T) == 2 ? DType::i16 : sizeof(T) == 4 ? DType::i32 : DType::i64;
  else
    return sizeof(T) == 1 ? DType::u8 : sizeof(T) == 2 ? DType::u16 : sizeof(T) == 4 ? DType::u32 : DType::u64;
}
}  // namespace detail

// A number or a (nested) list of numbers in braces.
class Literal {
 public:
  template <Number T>
  Literal(T v) : dtype_(detail::number_dtype<T>()) {
    if constexpr (std::floating_point<T>)
      real_ = v, integer_ = 0;
    else
      integer_ = static_cast<int64_t>(v), real_ = static_cast<double>(v);
  }
  Literal(std::initializer_list<Literal> items) : is_list_(true), items_(items) {}
  bool is_list() const { return is_list_; }
  const std::vector<Literal>& items() const { return items_; }
  DType dtype() const { return dtype_; }
  double real() const { return real_; }
  int64_t integer() const { return integer_; }

 private:
  bool is_list_ = false;
  DType dtype_ = DType::f32;
  double real_ = 0;
  int64_t integer_ = 0;
  std::vector<Literal> items_;
};

class Tensor {
 public:
  // The empty handle: no dtype, no shape. A gradient that does not exist is one.
  Tensor() = default;
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  // Only to a variable: a[0] = 1 would change nothing, so it does not compile.
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  // A 0-d tensor. The C++ type gives the dtype: 1 is i32, 1.f is f32, 1.0 is f64, true is bool.
  template <Number T>
  Tensor(T value, std::source_location where = std::source_location::current())
      : Tensor(&value, dtype_of_number<T>(), Shape{}, where) {}
  // Tensor{1.f, 2.f} is f32[2], Tensor a = {{1, 2}, {3, 4}} is i32[2,2]. Where types are mixed, a floating one wins.
  Tensor(std::initializer_list<Literal> items, std::source_location where = std::source_location::current());
  // Copies the elements: Tensor x(pixels), Tensor x(pixels, {32, 784}).
  template <Number T>
  Tensor(const std::vector<T>& values, std::source_location where = std::source_location::current())
      : Tensor(values, Shape{static_cast<int64_t>(values.size())}, where) {}
  template <Number T>
  Tensor(const std::vector<T>& values, const Shape& shape,
         std::source_location where = std::source_location::current());
  template <Number T, size_t N>
  Tensor(const std::array<T, N>& values, std::source_location where = std::source_location::current())
      : Tensor(std::span<const T>(values), Shape{static_cast<int64_t>(N)}, where) {}
  template <Number T>
  Tensor(std::span<const T> values, const Shape& shape, std::source_location where = std::source_location::current())
      : Tensor(values.data(), dtype_of_number<T>(), shape, where, static_cast<int64_t>(values.size())) {}

  bool defined() const { return rep_ != nullptr; }
  DType dtype(std::source_location where = std::source_location::current()) const;
  const Shape& shape(std::source_location where = std::source_location::current()) const;
  int rank(std::source_location where = std::source_location::current()) const { return shape(where).rank(); }
  // The size of an axis, which may be negative (from the end); in a trace it may be unknown.
  Dim dim(int axis, std::source_location where = std::source_location::current()) const;
  // Number of elements; an error if a dim is unknown.
  int64_t size(std::source_location where = std::source_location::current()) const;
  bool symbolic() const;

  // The value of a tensor with one element; T must be its C++ type. An error in a trace: the value is not known yet.
  //   float loss = mean(x).item<float>();
  template <Number T>
  T item(std::source_location where = std::source_location::current()) const {
    return *static_cast<const T*>(elements(dtype_of_number<T>(), true, "item", where));
  }
  // The elements, row-major; valid as long as some Tensor holds them. T must be the dtype's C++ type.
  template <Number T>
  const T* data(std::source_location where = std::source_location::current()) const {
    return static_cast<const T*>(elements(dtype_of_number<T>(), false, "data", where));
  }
  template <Number T>
  std::vector<T> to_vector(std::source_location where = std::source_location::current()) const {
    const T* p = static_cast<const T*>(elements(dtype_of_number<T>(), false, "to_vector", where));
    return std::vector<T>(p, p + size(where));
  }
  // The truth of a tensor with one element (x != 0). In a trace: an error that names cond and while_loop.
  explicit operator bool() const;

  // a[0], a[-1], a[slice(0, 2)], a[a > 2]; several: a[{0, all, -1}]. An index outside its axis is an error.
  Tensor operator[](const Index& index) const { return at({&index, 1}); }
  Tensor operator[](std::initializer_list<Index> indices) const { return at({indices.begin(), indices.size()}); }

  // Short forms of the ops of the same names.
  Tensor matmul(const Operand& y) const;
  Tensor matmul(const Operand& y, const MatmulOptions& options) const;
  Tensor reshape(const Shape& shape, std::source_location where = std::source_location::current()) const;
  Tensor to(DType dtype, std::source_location where = std::source_location::current()) const;
  Tensor transpose(std::source_location where = std::source_location::current()) const;
  Tensor sum(std::source_location where = std::source_location::current()) const;
  Tensor sum(const ReduceOptions& options, std::source_location where = std::source_location::current()) const;
  Tensor mean(std::source_location where = std::source_location::current()) const;
  Tensor mean(const ReduceOptions& options, std::source_location where = std::source_location::current()) const;
  Tensor max(std::source_location where = std::source_location::current()) const;
  Tensor max(const ReduceOptions& options, std::source_location where = std::source_location::current()) const;
  Tensor min(std::source_location where = std::source_location::current()) const;
  Tensor min(const ReduceOptions& options, std::source_location where = std::source_location::current()) const;

  // For Kiln's own layers.
  explicit Tensor(std::shared_ptr<const detail::TensorRep> rep) : rep_(std::move(rep)) {}
  const std::shared_ptr<const detail::TensorRep>& rep() const { return rep_; }

 private:
  template <Number T>
  static constexpr DType dtype_of_number() {
    return detail::number_dtype<T>();
  }
  Tensor(const void* data, DType dtype, const Shape& shape, std::source_location where, int64_t count = 1);
  const void* elements(DType wanted, bool one, const char* what, std::source_location where) const;
  Tensor at(std::span<const Index> indices) const;

  std::shared_ptr<const detail::TensorRep> rep_;
};

template <Number T>
Tensor::Tensor(const std::vector<T>& values, const Shape& shape, std::source_location where) {
  if constexpr (std::same_as<T, bool>) {  // std::vector<bool> has no contiguous elements
    std::unique_ptr<bool[]> copy(new bool[values.size()]);
    for (size_t i = 0; i < values.size(); ++i) copy[i] = values[i];
    *this = Tensor(copy.get(), DType::bool_, shape, where, static_cast<int64_t>(values.size()));
  } else {
    *this = Tensor(values.data(), dtype_of_number<T>(), shape, where, static_cast<int64_t>(values.size()));
  }
}

// As NumPy prints it, then dtype, shape and device: "[[2, 3]]  f32[1,2] cpu"; big ones are summarised.
std::string to_string(const Tensor& x);
std::ostream& operator<<(std::ostream& out, const Tensor& x);

}  // namespace kiln
