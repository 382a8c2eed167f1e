#include "frontend/function/concrete.h"

#include <algorithm>

#include "frontend/autodiff/tape_impl.h"
#include "frontend/include/kiln/error.h"
#include "frontend/trace/scope.h"

namespace kiln::detail {

struct Concrete::Ready {
  Status status;
  CompileResult compiled;
  std::unique_ptr<Runner> runner;
};

Concrete::Concrete(Graph graph, std::vector<TraceInput> sources)
    : graph_(std::move(graph)), sources_(std::move(sources)) {}
Concrete::~Concrete() = default;

const Concrete::Ready& Concrete::ready(std::source_location where) const {
  std::call_once(once_, [&] {
    auto made = std::make_unique<Ready>();
    Result<CompileResult> compiled = compile(graph_);
    if (!compiled.ok()) {
      made->status = compiled.status();
    } else {
      made->compiled = std::move(compiled).value();
      Result<std::shared_ptr<const Program>> program = Program::load(made->compiled.executable);
      if (program.ok())
        made->runner = std::make_unique<Runner>(std::move(program).value(), sources_);
      else
        made->status = program.status();
    }
    ready_ = std::move(made);
    is_ready_.store(true, std::memory_order_release);
  });
  check(ready_->status, where);
  return *ready_;
}

const CompileResult& Concrete::compiled(std::source_location where) const { return ready(where).compiled; }

const CompileResult* Concrete::compiled_if_any() const {
  return is_ready_.load(std::memory_order_acquire) && ready_->status.ok() ? &ready_->compiled : nullptr;
}

void Concrete::check_inputs(std::span<const Tensor> inputs, std::source_location where) const {
  size_t needed = 0;
  for (const TraceInput& source : sources_) {
    if (source.kind == TraceInput::Kind::variable_argument)
      throw_error(Code::invalid_argument, graph_.name + ": a Variable is among the parameters; call the Function",
                  where);
    needed += source.kind == TraceInput::Kind::tensor_argument;
  }
  if (inputs.size() != needed)
    throw_error(Code::invalid_argument,
                graph_.name + ": got " + std::to_string(inputs.size()) + " tensors, needs " + std::to_string(needed),
                where);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorType& type = graph_.values[graph_.inputs[i].value];
    const std::string needs = std::string(name_of(type.dtype)) + to_string(type.shape, &graph_.dims);
    if (!inputs[i].defined())
      throw_error(Code::invalid_argument, graph_.name + ": argument " + std::to_string(i) + " is an empty Tensor",
                  where);
    if (inputs[i].symbolic() && !TraceContext::current()) throw_escaped(*inputs[i].rep(), graph_.name.c_str(), where);
    bool fits = inputs[i].dtype() == type.dtype && inputs[i].rank() == type.shape.rank();
    for (int d = 0; fits && d < type.shape.rank(); ++d)
      fits = !type.shape[d].known() || inputs[i].shape()[d] == type.shape[d];
    if (!fits)
      throw_error(Code::invalid_argument,
                  graph_.name + ": argument " + std::to_string(i) + " is " + std::string(name_of(inputs[i].dtype())) +
                      to_string(inputs[i].shape()) + ", needs " + needs,
                  where);
  }
}

std::string Concrete::ir(Stage stage) const { return check(lower_to_text(graph_, stage), {}); }

std::string Concrete::signature() const {
  std::string text = graph_.name + "(";
  bool first = true;
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    const TraceInput::Kind kind = sources_[i].kind;
    if (kind != TraceInput::Kind::tensor_argument && kind != TraceInput::Kind::variable_argument) continue;
    const TensorType& type = graph_.values[graph_.inputs[i].value];
    text += (first ? "" : ", ") + graph_.inputs[i].name + ": " + std::string(name_of(type.dtype)) +
            to_string(type.shape, &graph_.dims);
    first = false;
  }
  text += ") -> ";
  std::vector<std::string> results;
  for (const GraphOutput& output : graph_.outputs)
    if (output.updates < 0) {
      const TensorType& type = graph_.values[output.value];
      results.push_back(std::string(name_of(type.dtype)) + to_string(type.shape, &graph_.dims));
    }
  if (results.size() != 1) text += "(";
  for (size_t i = 0; i < results.size(); ++i) text += (i ? ", " : "") + results[i];
  if (results.size() != 1) text += ")";
  return text;
}

std::vector<std::shared_ptr<VariableState>> Concrete::captured_variables() const {
  std::vector<std::shared_ptr<VariableState>> result;
  for (const TraceInput& source : sources_)
    if (source.kind == TraceInput::Kind::captured_variable) result.push_back(source.variable);
  return result;
}

bool Concrete::accepts(std::span<const Variable* const> variables) const {
  for (size_t i = 0; i < variables.size(); ++i) {
    const VariableState* state = variables[i]->state()->canonical();
    if (argument_captures[i]) {
      if (argument_captures[i] != state) return false;
      continue;
    }
    for (const TraceInput& source : sources_)
      if (source.kind == TraceInput::Kind::captured_variable && source.variable.get() == state) return false;
  }
  return true;
}

bool Concrete::generalizes(std::span<const ArgumentType> types, int* unknown) const {
  if (types.size() != arguments.size()) return false;
  std::map<int64_t, int64_t> sizes;  // of each class of unknown dims
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i].dtype != arguments[i].dtype || types[i].dims.size() != arguments[i].dims.size()) return false;
    for (size_t d = 0; d < types[i].dims.size(); ++d) {
      const int64_t own = arguments[i].dims[d], given = types[i].dims[d];
      if (own >= 0 ? own != given : sizes.try_emplace(own, given).first->second != given) return false;
      *unknown += own < 0;
    }
  }
  return *unknown > 0;
}

void Concrete::run(std::span<const Tensor* const> tensors, std::span<const Variable* const> variables,
                   InlineVector<Tensor, 4>& results, std::source_location where) const {
  check(ready(where).runner->run(tensors, variables, results), where);
}

std::vector<Tensor> Concrete::input_values(std::span<const Tensor* const> tensors,
                                           std::span<const Variable* const> variables) const {
  std::vector<Tensor> values;
  for (const TraceInput& source : sources_) {
    switch (source.kind) {
      case TraceInput::Kind::tensor_argument:
        values.push_back(*tensors[source.index]);
        break;
      case TraceInput::Kind::variable_argument:
        values.push_back(variables[source.index]->read());
        break;
      case TraceInput::Kind::captured_variable:
        values.push_back(Variable(source.variable).read());
        break;
      case TraceInput::Kind::captured_tensor:
        values.push_back(source.tensor);
        break;
    }
  }
  return values;
}

void Concrete::replay(std::span<const Tensor* const> tensors, std::span<const Variable* const> variables,
                      InlineVector<Tensor, 4>& results, std::source_location) const {
  const std::vector<Tensor> inputs = input_values(tensors, variables);
  Replayer replayer(graph_, inputs);
  replayer.run(graph_.body);
  for (const GraphOutput& output : graph_.outputs) {
    const Tensor value = replayer.get(output.value);
    if (output.updates < 0) {
      results.push_back(value);
      continue;
    }
    const TraceInput& source = sources_[output.updates];
    if (source.kind == TraceInput::Kind::captured_variable)
      Variable(source.variable).assign(value);
    else
      variables[source.index]->assign(value);
  }
}

// The gradients of some results with respect to all floating inputs: a function of the inputs and of the gradients of
// those results. Compiled once for each set of results that matter.
const Concrete::Backward& Concrete::backward(const std::vector<bool>& wanted, std::source_location where) const {
  std::lock_guard lock(backward_mutex_);
  if (const auto it = backward_.find(wanted); it != backward_.end()) return it->second;
  TraceContext trace(graph_.name + "_gradient");
  std::vector<Tensor> inputs, results, incoming;
  int index = 0;
  // Inputs come first and in order, so that dims made of input dims keep their meaning.
  trace.dims() = graph_.dims;
  for (const GraphInput& input : graph_.inputs) {
    inputs.push_back(trace.add_tensor_argument(graph_.values[input.value], input.name, index++));
  }
  std::vector<Tensor> targets;
  for (int i = 0, r = 0; i < static_cast<int>(graph_.outputs.size()); ++i) {
    if (graph_.outputs[i].updates >= 0) continue;
    if (wanted[r++])
      incoming.push_back(trace.add_tensor_argument(graph_.values[graph_.outputs[i].value], "gradient", index++));
  }
  TapeImpl tape({.persistent = false, .watch_accessed_variables = false});
  for (const Tensor& x : inputs)
    if (is_floating(x.dtype())) tape.watch(x);
  Replayer replayer(graph_, inputs);
  replayer.run(graph_.body);
  for (int i = 0, r = 0; i < static_cast<int>(graph_.outputs.size()); ++i) {
    if (graph_.outputs[i].updates >= 0) continue;
    if (wanted[r++]) targets.push_back(replayer.get(graph_.outputs[i].value));
  }
  const std::vector<Source> sources(inputs.begin(), inputs.end());
  const std::vector<Tensor> gradients = tape.gradients(targets, sources, {.output_gradients = incoming}, where);
  Backward made;
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined()) continue;
    made.inputs.push_back(static_cast<int>(i));
    results.push_back(gradients[i]);
  }
  Graph graph = trace.finish(results, where);
  made.function = std::make_shared<Concrete>(std::move(graph), trace.sources());
  return backward_.emplace(wanted, std::move(made)).first->second;
}

void Concrete::run_recorded(std::span<const Tensor* const> tensors, std::span<const Variable* const> variables,
                            InlineVector<Tensor, 4>& results, std::source_location where) const {
  std::vector<Tensor> inputs = input_values(tensors, variables);  // before the call: it may assign Variables
  run(tensors, variables, results, where);
  if (!tapes_want(inputs)) return;
  std::vector<Tensor> values(results.begin(), results.end());
  auto self = shared_from_this();
  record_on_tapes({{},
                   inputs,
                   values,
                   {},
                   user_line(where),
                   [self, inputs, where](std::span<const Tensor> incoming) {
                     std::vector<bool> wanted;
                     std::vector<Tensor> arguments = inputs;
                     for (size_t i = 0; i < incoming.size(); ++i)
                       if (wanted.push_back(incoming[i].defined()); wanted.back()) arguments.push_back(incoming[i]);
                     const Backward& backward = self->backward(wanted, where);
                     std::vector<const Tensor*> pointers;
                     for (const Tensor& x : arguments) pointers.push_back(&x);
                     InlineVector<Tensor, 4> made;
                     backward.function->run_recorded(pointers, {}, made, where);
                     std::vector<Tensor> outgoing(inputs.size());
                     for (size_t i = 0; i < made.size(); ++i) outgoing[backward.inputs[i]] = made[i];
                     return outgoing;
                   },
                   "gradient"});
}

}  // namespace kiln::detail
