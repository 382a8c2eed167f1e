#include "frontend/function/function.h"

#include <ostream>

#include "frontend/autodiff/tape_impl.h"
#include "frontend/function/concrete.h"
#include "frontend/function/core.h"
#include "frontend/include/kiln/error.h"

namespace kiln {
namespace detail {

std::shared_ptr<FunctionCore> make_function_core(FunctionBody body, FunctionOptions options, int tensor_parameters) {
  return std::make_shared<FunctionCore>(std::move(body), std::move(options), tensor_parameters);
}
bool runs_eagerly(const FunctionCore& core) { return core.eager.load(std::memory_order_relaxed); }
void invoke(FunctionCore& core, FunctionCall& call) { core.invoke(call); }
std::shared_ptr<const Concrete> concrete_for(FunctionCore& core, FunctionCall& call) { return core.concrete_of(call); }

}  // namespace detail

const std::string& ConcreteFunction::name() const { return impl_->graph().name; }
std::string ConcreteFunction::signature() const { return impl_->signature(); }
std::string ConcreteFunction::ir(Stage stage) const { return impl_->ir(stage); }
const Graph& ConcreteFunction::graph() const { return impl_->graph(); }
const CompileResult& ConcreteFunction::compiled() const { return impl_->compiled({}); }
std::shared_ptr<const Executable> ConcreteFunction::executable() const { return compiled().executable; }

std::vector<Variable> ConcreteFunction::variables() const {
  std::vector<Variable> result;
  for (auto& state : impl_->captured_variables()) result.emplace_back(std::move(state));
  return result;
}

std::vector<Tensor> ConcreteFunction::operator()(const std::vector<Tensor>& inputs, std::source_location where) const {
  impl_->check_inputs(inputs, where);
  std::vector<const Tensor*> pointers;
  for (const Tensor& x : inputs) pointers.push_back(&x);
  detail::InlineVector<Tensor, 4> results;
  if (TraceContext::current())
    impl_->replay(pointers, {}, results, where);
  else if (detail::tapes_active())
    impl_->run_recorded(pointers, {}, results, where);
  else
    impl_->run(pointers, {}, results, where);
  return {results.begin(), results.end()};
}

ConcreteFunction AnyFunction::concrete(const std::vector<TensorSpec>& specs, std::source_location where) const {
  return ConcreteFunction(core_->concrete_of(specs, where));
}
const std::string& AnyFunction::name() const { return core_->name(); }
int AnyFunction::trace_count() const { return core_->traces; }
void AnyFunction::clear_cache() const { core_->clear(); }
void AnyFunction::run_eagerly(bool on) const { core_->eager = on; }
std::string AnyFunction::explain() const { return core_->explain(); }

std::vector<ConcreteFunction> AnyFunction::concretes() const {
  std::vector<ConcreteFunction> result;
  for (auto& concrete : core_->concretes()) result.emplace_back(std::move(concrete));
  return result;
}

std::ostream& operator<<(std::ostream& out, const ConcreteFunction& f) { return out << f.signature(); }

std::ostream& operator<<(std::ostream& out, const AnyFunction& f) {
  const auto concretes = f.concretes();
  out << f.name() << ": " << concretes.size() << (concretes.size() == 1 ? " signature" : " signatures");
  for (const ConcreteFunction& c : concretes) {
    out << "\n  " << c << ", " << c.impl()->hits << " calls";
    if (const CompileResult* compiled = c.impl()->compiled_if_any())
      out << ", " << compiled->milliseconds << (compiled->from_cache ? " ms from the cache" : " ms to compile");
  }
  return out;
}

}  // namespace kiln
