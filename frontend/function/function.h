// function(lambda): a compiled function. The lambda runs once for each new signature, recording its ops (a trace); the
// compiled trace serves every later call with that signature. Copies of a Function are one Function; it may be called
// from any thread.
//
// What makes a signature: dtype and shape of Tensors (never their values), the value of numbers, bools, enums and
// strings, the lengths of vectors, and which Variables are the same. Host effects (printing, counters) happen only in
// the trace. Captured Variables are read at call time and may be changed; captured Tensors and other captures are
// frozen.
#pragma once
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include "compiler/api/compiler.h"
#include "frontend/function/flatten.h"

namespace kiln {

// A dim of an input signature: a size, or a name for an unknown one. Equal names must be equal sizes in each call. -1 is
// an unknown dim without a name.
class DimSpec {
 public:
  template <std::integral T>
  DimSpec(T size) : size_(static_cast<int64_t>(size)), name_(size_ < 0 ? "?" : "") {}
  DimSpec(const char* name) : name_(name) {}
  DimSpec(std::string name) : name_(std::move(name)) {}
  bool known() const { return size_ >= 0; }
  int64_t size() const { return size_; }
  const std::string& name() const { return name_; }  // "?": unlike any other

 private:
  int64_t size_ = -1;
  std::string name_;
};

// {f32, {"batch", 784}}
struct TensorSpec {
  DType dtype;
  std::vector<DimSpec> dims = {};
  std::string name = {};
};

struct FunctionOptions {
  std::string name = {};                         // in IR, errors and saved files; empty: "function"
  std::vector<TensorSpec> input_signature = {};  // one per Tensor argument (also inside vectors and structs)
  int max_signatures = 128;                      // the least recently used is dropped beyond this
};

namespace detail {
class FunctionCore;
class Concrete;
struct FunctionCall {
  Leaves leaves;
  std::source_location where;
  InlineVector<Tensor, 4> results;
  std::span<const uint64_t> result_words;  // lives as long as `concrete`
  std::shared_ptr<const Concrete> concrete;
};
// The lambda on taken-apart arguments.
using FunctionBody = std::function<OwnedLeaves(LeafReader&)>;

// tensor_parameters: how many parameters there are if all are Tensors, else -1.
std::shared_ptr<FunctionCore> make_function_core(FunctionBody body, FunctionOptions options, int tensor_parameters);
std::shared_ptr<const Concrete> concrete_for(FunctionCore& core, FunctionCall& call);
bool runs_eagerly(const FunctionCore& core);
void invoke(FunctionCore& core, FunctionCall& call);
}  // namespace detail

// One signature of a Function, traced and compiled. Lives on after its Function.
class ConcreteFunction {
 public:
  const std::string& name() const;
  // "train_step(x: f32[batch,784], y: i32[batch]) -> f32[]"
  std::string signature() const;
  // The IR after a stage, with your file:line on each op. Needs the compiler.
  std::string ir(Stage stage) const;
  const Graph& graph() const;
  std::shared_ptr<const Executable> executable() const;
  const CompileResult& compiled() const;    // how long compiling took, and whether it came from the disk cache
  std::vector<Variable> variables() const;  // the captured ones
  // The tensors among the arguments, in order; gives the tensors among the results.
  std::vector<Tensor> operator()(const std::vector<Tensor>& inputs,
                                 std::source_location where = std::source_location::current()) const;

  explicit ConcreteFunction(std::shared_ptr<const detail::Concrete> impl) : impl_(std::move(impl)) {}
  const std::shared_ptr<const detail::Concrete>& impl() const { return impl_; }

 private:
  std::shared_ptr<const detail::Concrete> impl_;
};

// The part of a Function that does not depend on its argument types: what save() takes.
class AnyFunction {
 public:
  // Traces and compiles for the given types of the Tensor arguments, without running. The same specs give the same
  // object.
  ConcreteFunction concrete(const std::vector<TensorSpec>& specs,
                            std::source_location where = std::source_location::current()) const;
  const std::string& name() const;
  int trace_count() const;
  // Drops all traces; trace_count() is 0 again.
  void clear_cache() const;
  // true: the lambda itself runs at every call (for a debugger); false: back to the compiled traces.
  void run_eagerly(bool on) const;
  // Why it last traced: what was new against the nearest trace, and at which call.
  std::string explain() const;
  std::vector<ConcreteFunction> concretes() const;

  const std::shared_ptr<detail::FunctionCore>& core() const { return core_; }

 protected:
  explicit AnyFunction(std::shared_ptr<detail::FunctionCore> core) : core_(std::move(core)) {}
  std::shared_ptr<detail::FunctionCore> core_;
};

// Name, signatures, hits, compile time.
std::ostream& operator<<(std::ostream& out, const AnyFunction& f);
std::ostream& operator<<(std::ostream& out, const ConcreteFunction& f);

template <class Signature>
class Function;

template <class R, class... Args>
class Function<R(Args...)> : public AnyFunction {
 public:
  using Result = detail::ResultOf<R>;

  Function(std::function<R(Args...)> lambda, FunctionOptions options)
      : AnyFunction(detail::make_function_core(body_of(lambda), std::move(options), tensor_parameters)),
        lambda_(std::make_shared<std::function<R(Args...)>>(std::move(lambda))) {}

  using AnyFunction::concrete;
  // Traces and compiles for arguments like these, without running.
  ConcreteFunction concrete(Args... args, std::source_location where = std::source_location::current()) const
    requires(sizeof...(Args) > 0)
  {
    detail::FunctionCall call;
    call.where = where;
    (detail::Flatten<std::remove_cvref_t<Args>>::write(args, call.leaves), ...);
    return ConcreteFunction(detail::concrete_for(*core_, call));
  }

  // Runs the trace for this signature; makes it first if there is none.
  Result operator()(Args... args, std::source_location where = std::source_location::current()) const {
    if (detail::runs_eagerly(*core_)) return static_cast<Result>((*lambda_)(std::forward<Args>(args)...));
    detail::FunctionCall call;
    call.where = where;
    (detail::Flatten<std::remove_cvref_t<Args>>::write(args, call.leaves), ...);
    detail::invoke(*core_, call);
    if constexpr (!std::is_void_v<R>) {
      detail::LeafReader reader{call.results.span(), {}, call.result_words};
      return detail::Flatten<Result>::read(reader);
    }
  }

 private:
  static detail::FunctionBody body_of(std::function<R(Args...)> lambda) {
    return [lambda = std::move(lambda)](detail::LeafReader& in) {
      // Braces: read in order.
      std::tuple<std::remove_cvref_t<Args>...> args{detail::Flatten<std::remove_cvref_t<Args>>::read(in)...};
      detail::OwnedLeaves out;
      if constexpr (std::is_void_v<R>)
        std::apply([&](auto&... a) { lambda(static_cast<Args>(a)...); }, args);
      else
        std::apply([&](auto&... a) { out.take<std::remove_cvref_t<R>>(lambda(static_cast<Args>(a)...)); }, args);
      return out;
    };
  }
  static constexpr int tensor_parameters =
      (std::same_as<std::remove_cvref_t<Args>, Tensor> && ...) ? static_cast<int>(sizeof...(Args)) : -1;
  std::shared_ptr<std::function<R(Args...)>> lambda_;
};

// Makes a compiled function. Parameters and results of the lambda: Tensor, Variable&, numbers, bool, enums,
// std::string, std::vector, array, pair, tuple, optional of these, structs with KILN_FIELDS; nothing or any of these as
// the result.
//   auto step = function([&](Tensor x, Tensor y) { ...; return loss; }, {.name = "train_step"});
template <class F>
auto function(F lambda, FunctionOptions options = {}) {
  static_assert(detail::HasSignature<F>,
                "kiln::function: give the lambda's parameters their types (Tensor x, not auto x), and no overloads");
  if constexpr (detail::HasSignature<F>)
    return Function<typename detail::Callable<F>::Signature>(std::move(lambda), std::move(options));
}

}  // namespace kiln
