// Saving compiled functions with their Variables in a .kiln file, and loading them again: here, or in a program that
// has the runtime only (kiln/runtime.h).
#pragma once
#include <map>
#include <memory>
#include <source_location>
#include <string>
#include <variant>
#include <vector>

#include "frontend/function/function.h"

namespace kiln {

struct SaveOptions {
  // CPUs to compile for ("x86-64-v3", "x86-64-v4"); empty: the one of this machine. At present at most one.
  std::vector<std::string> targets = {};
};

// A name and what it stands for: a Function (with an input signature, or traced once), or one of its signatures.
class NamedFunction {
 public:
  NamedFunction(std::string name, const AnyFunction& f) : name_(std::move(name)), function_(f) {}
  NamedFunction(std::string name, const ConcreteFunction& f) : name_(std::move(name)), function_(f) {}
  const std::string& name() const { return name_; }
  const std::variant<AnyFunction, ConcreteFunction>& function() const { return function_; }

 private:
  std::string name_;
  std::variant<AnyFunction, ConcreteFunction> function_;
};

// Writes the functions, the Variables and tensors they use, and their machine code. The old file stays whole whatever
// goes wrong.
//   save("model.kiln", {{"serve", serve}});
void save(const std::string& path, const std::vector<NamedFunction>& functions, const SaveOptions& options = {},
          std::source_location where = std::source_location::current());

namespace detail {
class Runner;
struct LoadedImpl;
}  // namespace detail

// A function from a file. Has no gradient and cannot be called in a trace.
class LoadedFunction {
 public:
  const std::string& name() const;
  std::string signature() const;
  // The tensors of the arguments, in order; gives those of the results.
  std::vector<Tensor> operator()(const std::vector<Tensor>& inputs,
                                 std::source_location where = std::source_location::current()) const;
  // For functions with one result: Tensor y = serve.call(x).
  template <class... T>
  Tensor call(const T&... inputs) const {
    return (*this)(std::vector<Tensor>{Tensor(inputs)...}).at(0);
  }
  std::string ir(Stage stage = Stage::kiln) const;  // later stages need the compiler

  explicit LoadedFunction(std::shared_ptr<const detail::LoadedImpl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const detail::LoadedImpl> impl_;
};

class LoadedModel {
 public:
  // An error that lists the names if there is no such function.
  const LoadedFunction& operator[](const std::string& name) const;
  const std::map<std::string, LoadedFunction>& functions() const { return functions_; }
  // The state that its functions share, by the saved names.
  const std::vector<Variable>& variables() const { return variables_; }

 private:
  friend LoadedModel load(const std::string& path, std::source_location where);
  std::map<std::string, LoadedFunction> functions_;
  std::vector<Variable> variables_;
};

// LoadedModel model = load("model.kiln");  Tensor y = model["serve"].call(x);
LoadedModel load(const std::string& path, std::source_location where = std::source_location::current());

}  // namespace kiln
