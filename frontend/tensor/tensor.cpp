#include "frontend/tensor/tensor.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "frontend/include/kiln/error.h"
#include "frontend/tensor/operand.h"
#include "frontend/tensor/rep.h"
#include "frontend/trace/scope.h"
#include "frontend/trace/trace.h"
#include "frontend/variable/variable.h"

namespace kiln {
namespace {

const detail::TensorRep& rep_or_throw(const Tensor& x, const char* what, std::source_location where) {
  if (!x.defined()) throw_error(Code::failed_precondition, std::string(what) + ": the Tensor is empty", where);
  return *x.rep();
}

// Shape and numbers of a nested list.
struct ListReader {
  std::source_location where;
  Shape shape;
  DType dtype = DType::bool_;
  bool first = true;
  std::vector<const Literal*> numbers;

  void measure(std::span<const Literal> items, int depth) {
    if (depth == max_rank)
      throw_error(Code::invalid_argument, "Tensor: a list nests deeper than " + std::to_string(max_rank), where);
    if (shape.rank() == depth) {
      if (!numbers.empty()) uneven();
      shape.push_back(static_cast<int64_t>(items.size()));
    } else if (shape[depth] != Dim(static_cast<int64_t>(items.size()))) {
      uneven();
    }
    for (const Literal& item : items) {
      if (item.is_list()) {
        measure(item.items(), depth + 1);
      } else {
        if (shape.rank() != depth + 1) uneven();
        if (first || (is_floating(item.dtype()) && !is_floating(dtype)) ||
            (is_floating(item.dtype()) == is_floating(dtype) && size_of(item.dtype()) > size_of(dtype)))
          dtype = item.dtype();
        first = false;
        numbers.push_back(&item);
      }
    }
  }
  [[noreturn]] void uneven() {
    throw_error(Code::invalid_argument, "Tensor: the lists in braces have different lengths or depths", where);
  }
};

}  // namespace

Tensor detail::make_uninitialised(DType dtype, const Shape& shape, std::source_location where) {
  size_t bytes = size_of(dtype);
  for (Dim d : shape)
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(d.size()), &bytes))
      throw_error(Code::resource_exhausted, "a tensor of shape " + kiln::to_string(shape) + " does not fit in memory",
                  where);
  return make_concrete(dtype, shape, check(Buffer::allocate(bytes), where));
}

Tensor::Tensor(const void* data, DType dtype, const Shape& shape, std::source_location where, int64_t count) {
  if (Status rank = check_rank(shape); !rank.ok())
    throw_error(rank.code(), "Tensor: " + std::string(rank.message()), where);
  for (Dim d : shape)
    if (!d.known())
      throw_error(Code::invalid_argument, "Tensor: shape " + kiln::to_string(shape) + " has an unknown dim", where);
  Tensor made = detail::make_uninitialised(dtype, shape, where);
  if (shape.size() != count)
    throw_error(Code::invalid_argument,
                "Tensor: " + std::to_string(count) + " elements do not fill shape " + kiln::to_string(shape), where);
  if (count) std::memcpy(made.rep_->data(), data, static_cast<size_t>(count) * kiln::size_of(dtype));
  rep_ = std::move(made.rep_);
}

Tensor::Tensor(std::initializer_list<Literal> items, std::source_location where) {
  ListReader reader{where, {}, {}, true, {}};
  reader.measure({items.begin(), items.size()}, 0);
  if (reader.numbers.empty()) reader.dtype = DType::f32;
  Tensor made = detail::make_uninitialised(reader.dtype, reader.shape, where);
  visit_dtype(reader.dtype, [&]<class T>(T) {
    T* out = reinterpret_cast<T*>(made.rep_->data());
    for (const Literal* number : reader.numbers)
      *out++ = is_floating(number->dtype()) ? static_cast<T>(number->real()) : static_cast<T>(number->integer());
  });
  rep_ = std::move(made.rep_);
}

DType Tensor::dtype(std::source_location where) const { return rep_or_throw(*this, "dtype", where).dtype; }
const Shape& Tensor::shape(std::source_location where) const { return rep_or_throw(*this, "shape", where).shape; }
bool Tensor::symbolic() const { return rep_ && rep_->trace; }

Dim Tensor::dim(int axis, std::source_location where) const {
  const Shape& s = rep_or_throw(*this, "dim", where).shape;
  if (axis < -s.rank() || axis >= s.rank())
    throw_error(Code::out_of_range,
                "dim: axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(s.rank()), where);
  return s[axis < 0 ? axis + s.rank() : axis];
}

int64_t Tensor::size(std::source_location where) const {
  const Shape& s = rep_or_throw(*this, "size", where).shape;
  if (!s.known())
    throw_error(Code::failed_precondition,
                "size: shape " + kiln::to_string(s) + " has a dim that is known only at run time", where);
  return s.size();
}

const void* Tensor::elements(DType wanted, bool one, const char* what, std::source_location where) const {
  const detail::TensorRep& rep = rep_or_throw(*this, what, where);
  if (rep.trace) {
    if (rep.trace->context && rep.trace->context == TraceContext::current())
      throw_error(Code::failed_precondition,
                  std::string(what) +
                      ": a tensor has no value while its function is being traced; keep working with "
                      "the Tensor, or use cond or while_loop to act on its value",
                  where);
    detail::throw_escaped(rep, what, where);
  }
  if (one && rep.shape.size() != 1)
    throw_error(Code::invalid_argument,
                std::string(what) + ": needs one element, the shape is " + kiln::to_string(rep.shape), where);
  if (rep.dtype != wanted)
    throw_error(Code::invalid_argument,
                std::string(what) + ": the tensor is " + std::string(name_of(rep.dtype)) + ", not " +
                    std::string(name_of(wanted)) + "; convert it with .to(" + std::string(name_of(wanted)) + ")",
                where);
  return rep.data();
}

Tensor::operator bool() const {
  const std::source_location where;  // a conversion cannot know the user's line
  const detail::TensorRep& rep = rep_or_throw(*this, "bool", where);
  if (rep.trace && rep.trace->context && rep.trace->context == TraceContext::current())
    throw_error(Code::failed_precondition,
                std::string("bool: the truth of the result of ") + rep.op + " (" + detail::place(rep.made) +
                    ") is not known while its function is being traced; use cond or while_loop",
                where);
  if (rep.trace) detail::throw_escaped(rep, "bool", where);
  if (rep.shape.size() != 1)
    throw_error(Code::invalid_argument,
                "bool: a tensor of shape " + kiln::to_string(rep.shape) + " has no single truth value; use any or all",
                where);
  bool truth = false;
  visit_dtype(rep.dtype, [&]<class T>(T) { truth = *reinterpret_cast<const T*>(rep.data()) != T(0); });
  return truth;
}

Operand::Operand(const Variable& x, std::source_location where) : tensor_(x.read(where)), where_(where) {}

Operands::Operands(const std::vector<Tensor>& items, std::source_location where) : where_(where) {
  items_.reserve(items.size());
  for (const Tensor& item : items) items_.emplace_back(item, where);
}
Operands::Operands(const std::vector<Variable>& items, std::source_location where) : where_(where) {
  items_.reserve(items.size());
  for (const Variable& item : items) items_.emplace_back(item, where);
}

Tensor Operand::number(DType dtype) const {
  auto refuse = [&](const std::string& why) {
    std::string text = is_floating(number_dtype_) ? std::to_string(real_) : std::to_string(integer_);
    throw_error(Code::invalid_argument,
                "the number " + text + " " + why + " " + std::string(name_of(dtype)) + "; convert the tensor first",
                where_);
  };
  const bool whole = !is_floating(number_dtype_);
  Tensor made = detail::make_uninitialised(dtype, {}, where_);
  const bool known = visit_dtype(dtype, [&]<class T>(T) {
    T value{};
    if constexpr (std::same_as<T, bool>) {
      if (number_dtype_ != DType::bool_) refuse("is not a");
      value = integer_ != 0;
    } else if constexpr (std::integral<T>) {
      if (!whole) refuse("has no exact value in");
      value = static_cast<T>(integer_);
      const bool huge = number_dtype_ == DType::u64 && integer_ < 0;  // above the largest i64
      if (static_cast<int64_t>(value) != integer_ || (std::signed_integral<T> ? huge : !huge && integer_ < 0))
        refuse("does not fit in");
    } else {
      value = whole && number_dtype_ != DType::u64 ? static_cast<T>(integer_) : static_cast<T>(real_);
    }
    std::memcpy(made.rep()->data(), &value, sizeof(T));
  });
  if (!known) refuse("cannot be made a");
  return made;
}

}  // namespace kiln
