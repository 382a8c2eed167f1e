// Module: anything with Variables. A model is a struct that derives from it and names its parts once:
//   struct Block : Module {
//     Dense up{64, {.activation = relu}}, down{10};
//     KILN_CHILDREN(up, down)
//     Tensor operator()(const Tensor& x, Mode mode = inference) const { return down(up(x)); }
//   };
#pragma once
#include <array>
#include <concepts>
#include <iosfwd>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/autodiff/tape.h"
#include "frontend/variable/variable.h"

namespace kiln {

// What a model is called for; layers like Dropout do something in training only.
enum class Mode : uint8_t { inference, training };
inline constexpr Mode inference = Mode::inference;
inline constexpr Mode training = Mode::training;

class Module;

// A part of a Module: another Module, or a Variable, perhaps not made yet.
struct Part {
  std::string name;
  const Module* module = nullptr;
  std::shared_ptr<const Variable> variable = {};
};

// The Variables of a module. Layers make theirs when they first see an input, so the list is looked up each time it is
// used: it may be handed to value_and_gradient() before the model's first call. Using it while a Variable is still
// missing is an error that says how to build the model.
class VariableList {
 public:
  explicit VariableList(bool trainable_only) : trainable_only_(trainable_only) {}
  operator std::vector<Variable>() const { return get(); }
  std::vector<Variable> get() const;
  size_t size() const { return get().size(); }
  Variable operator[](size_t i) const { return get().at(i); }
  std::vector<Variable>::const_iterator begin() const { return (held_ = get()).begin(); }
  std::vector<Variable>::const_iterator end() const { return held_.end(); }

 private:
  friend class Module;
  bool trainable_only_;
  std::vector<std::pair<std::string, std::shared_ptr<const Variable>>> slots_;
  mutable std::vector<Variable> held_;  // what a range-for walks over
};

class Module {
 public:
  virtual ~Module() = default;

  // All Variables, part by part in the order of KILN_CHILDREN; each once, also if parts share it.
  VariableList variables() const;
  // Those that training changes.
  VariableList trainable_variables() const;
  // With their paths: "up/kernel", "blocks/0/bias".
  std::vector<std::pair<std::string, Variable>> named_variables() const;
  // The Variable with that path; an error that lists the paths there are.
  Variable variable(std::string_view path, std::source_location where = std::source_location::current()) const;
  // Numbers in all Variables but the states of random layers, as Keras counts them.
  int64_t parameter_count() const;
  // A table of the parts: name, type, output shape (once called), parameters.
  std::string summary() const;

  // What it is made of; KILN_CHILDREN writes this.
  virtual std::vector<Part> parts() const { return {}; }
  // As in the summary: the name of the class.
  virtual std::string type_name() const;
  // The shape of the last axes of what it gave at its first call; the batch axis is -1. Nothing before.
  virtual std::optional<Shape> output_shape() const { return std::nullopt; }

 protected:
  // Lines of the summary.
  struct Row {
    std::string name, type;
    std::optional<Shape> output;
    std::optional<int64_t> parameters;  // nothing: not built
  };
  virtual std::vector<Row> rows() const;
  virtual std::string title() const { return type_name(); }
  static std::optional<int64_t> count_parameters(const Module& module, bool trainable_only);

 private:
  VariableList list(bool trainable_only) const;
};

std::ostream& operator<<(std::ostream& out, const Module& module);

// As value_and_gradient() of a vector; the Variables may be made in f.
//   auto [loss, grads] = value_and_gradient([&] { return loss_fn(y, net(x, training)); }, net.variables());
template <class F>
auto value_and_gradient(F&& f, const VariableList& variables,
                        std::source_location where = std::source_location::current()) {
  GradientTape tape;
  auto value = f();
  std::vector<Tensor> gradients = tape.gradient(Operand(detail::loss_of(value), where), variables.get());
  return std::pair(std::move(value), std::move(gradients));
}

namespace detail {

template <class T>
concept Range = requires(const T& t) { t.begin() == t.end(); } && !std::derived_from<T, Module>;
template <class T>
concept Pointer =
    requires(const T& t) { *t, static_cast<bool>(t); } && !std::derived_from<T, Module> && !std::same_as<T, Variable>;

template <class T>
void add_part(std::vector<Part>& parts, const std::string& name, const T& child) {
  if constexpr (std::same_as<T, Variable>) {
    parts.push_back({name, nullptr, std::make_shared<Variable>(child)});
  } else if constexpr (std::derived_from<T, Module>) {
    parts.push_back({name, &child, {}});
  } else if constexpr (Range<T>) {
    size_t i = 0;
    for (const auto& item : child) add_part(parts, name + "/" + std::to_string(i++), item);
  } else if constexpr (Pointer<T>) {  // optional, unique_ptr, shared_ptr
    if (child) add_part(parts, name, *child);
  } else {
    static_assert(Pointer<T>,
                  "KILN_CHILDREN: a part must be a Variable, a Module, or a vector, array, optional or "
                  "smart pointer of these");
  }
}

// The next name of a comma-separated list.
std::string next_name(std::string_view& names);

template <class... T>
std::vector<Part> name_parts(std::string_view names, const T&... children) {
  std::vector<Part> parts;
  (add_part(parts, next_name(names), children), ...);
  return parts;
}

}  // namespace detail

// Names the parts of a Module: Variables, Modules, and vectors, arrays, optionals or smart pointers of these.
#define KILN_CHILDREN(...) \
  std::vector<::kiln::Part> parts() const override { return ::kiln::detail::name_parts(#__VA_ARGS__, __VA_ARGS__); }

}  // namespace kiln
