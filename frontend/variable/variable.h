// Variable: a Tensor that can change. Copies of a Variable are one Variable. Functions use it by reference: they see
// its value at each call and may change it.
#pragma once
#include <concepts>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include "frontend/tensor/operand.h"
#include "frontend/tensor/tensor.h"

namespace kiln {

struct VariableOptions {
  std::string name = {};  // in printed IR and saved files; empty: "variable"
  bool trainable = true;  // gradient tapes watch it by themselves
};

namespace detail {
struct VariableState;
}

class Variable {
 public:
  // The empty handle; `if (!v.defined()) v = Variable(...)` makes a Variable once.
  Variable() = default;
  // Must not be called in the trace of a compiled function: each trace would make another Variable.
  //   Variable w{zeros({784, 10}), {.name = "w"}};
  Variable(const Operand& initial, const VariableOptions& options = {});

  bool defined() const { return state_ != nullptr; }
  Tensor read(std::source_location where = std::source_location::current()) const;
  operator Tensor() const { return read(); }
  // The new value must have the Variable's dtype and shape. A bare number fills it.
  void assign(const Operand& value) const;
  void assign_add(const Operand& value) const;
  void assign_sub(const Operand& value) const;

  const std::string& name(std::source_location where = std::source_location::current()) const;
  DType dtype(std::source_location where = std::source_location::current()) const;
  const Shape& shape(std::source_location where = std::source_location::current()) const;
  int64_t size() const { return shape().size(); }
  bool trainable(std::source_location where = std::source_location::current()) const;
  uint64_t id(std::source_location where =
                  std::source_location::current()) const;  // one per Variable of the process; never used again
  template <Number T>
  T item(std::source_location where = std::source_location::current()) const {
    return read(where).item<T>(where);
  }
  template <Number T>
  std::vector<T> to_vector(std::source_location where = std::source_location::current()) const {
    return read(where).to_vector<T>(where);
  }
  Tensor operator[](const Index& index) const { return read(index.where())[index]; }
  Tensor matmul(const Operand& y) const { return read(y.where()).matmul(y); }

  // For Kiln's own layers.
  template <std::same_as<std::shared_ptr<detail::VariableState>> S>  // a template: Variable{0} must not mean a null
                                                                     // state
  explicit Variable(S state) : state_(std::move(state)) {}
  const std::shared_ptr<detail::VariableState>& state() const { return state_; }

 private:
  std::shared_ptr<detail::VariableState> state_;
};

std::ostream& operator<<(std::ostream& out, const Variable& v);

}  // namespace kiln
