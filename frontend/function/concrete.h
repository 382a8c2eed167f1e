// One signature of a function: its graph, its code, and how to run it. Internal.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/api/compiler.h"
#include "frontend/function/flatten.h"
#include "frontend/function/runner.h"
#include "frontend/tensor/rep.h"
#include "frontend/trace/trace.h"

namespace kiln::detail {

using Key = std::vector<uint64_t>;

// The type of one tensor argument. Unknown dims are -2 - class; those of one class are equal at each call.
struct ArgumentType {
  DType dtype;
  std::vector<int64_t> dims;
  std::vector<std::string> dim_names;  // of unknown dims; "": no name
  std::string name;
};

class Concrete : public std::enable_shared_from_this<Concrete> {
 public:
  Concrete(Graph graph, std::vector<TraceInput> sources);
  ~Concrete();

  const Graph& graph() const { return graph_; }
  const std::vector<TraceInput>& sources() const { return sources_; }
  // Compiles at the first call; later ones give what that gave.
  const CompileResult& compiled(std::source_location where) const;
  // Null before the first call.
  const CompileResult* compiled_if_any() const;
  // Throws if these are not what its tensor arguments must be.
  void check_inputs(std::span<const Tensor> inputs, std::source_location where) const;
  std::string signature() const;
  std::string ir(Stage stage) const;
  // The captured Variables in the order of the inputs.
  std::vector<std::shared_ptr<VariableState>> captured_variables() const;

  // Runs it. `results` gets the tensors that the lambda returned.
  void run(std::span<const Tensor* const> tensors, std::span<const Variable* const> variables,
           InlineVector<Tensor, 4>& results, std::source_location where) const;
  // The same where an eager tape depends on an input: also records the call.
  void run_recorded(std::span<const Tensor* const> tensors, std::span<const Variable* const> variables,
                    InlineVector<Tensor, 4>& results, std::source_location where) const;
  // Emits the graph's nodes into the present trace.
  void replay(std::span<const Tensor* const> tensors, std::span<const Variable* const> variables,
              InlineVector<Tensor, 4>& results, std::source_location where) const;

  // Whether a call with these Variables may use it: those that the lambda also reached by capture must be the same as
  // in the trace, the others must not be Variables that it captured.
  bool accepts(std::span<const Variable* const> variables) const;
  // Whether its unknown dims cover the types; *unknown: how many there are (0: it has none and covers nothing but
  // itself).
  bool generalizes(std::span<const ArgumentType> types, int* unknown) const;

  // Set by the function that owns it.
  Key key;
  std::vector<ArgumentType> arguments;
  std::vector<uint64_t> words, result_words;
  std::vector<const VariableState*> argument_captures;  // by Variable argument; null: not captured
  mutable std::atomic<uint64_t> hits{0};
  uint64_t made = 0, last_use = 0;  // times on the function's clock

 private:
  struct Ready;  // what compiling gives
  const Ready& ready(std::source_location where) const;
  // The value of each graph input at this call, in order.
  std::vector<Tensor> input_values(std::span<const Tensor* const> tensors,
                                   std::span<const Variable* const> variables) const;
  struct Backward {
    std::shared_ptr<const Concrete> function;
    std::vector<int> inputs;  // which inputs its results are the gradients of
  };
  const Backward& backward(const std::vector<bool>& wanted, std::source_location where) const;

  Graph graph_;
  std::vector<TraceInput> sources_;

  mutable std::once_flag once_;
  mutable std::unique_ptr<Ready> ready_;
  mutable std::atomic<bool> is_ready_{false};
  mutable std::mutex backward_mutex_;
  mutable std::map<std::vector<bool>, Backward> backward_;  // by the set of results that have a gradient
};

// Emits the nodes of a graph into the present trace; dims of the graph are mapped to those of the trace.
class Replayer {
 public:
  // `values` are the graph's inputs.
  Replayer(const Graph& graph, std::span<const Tensor> inputs);
  // A region of the graph of the present trace itself: values from outside of it stay as they are.
  Replayer(const Graph& graph, TraceContext& trace) : graph_(graph), trace_(&trace) {}

  void run(const Region& region);
  void set(ValueId value, Tensor x) { values_[value] = std::move(x); }
  Tensor get(ValueId value);

 private:
  void run_node(const Node& node);
  Attribute mapped(const Attribute& attribute) const;
  Dim mapped(Dim d) const;

  const Graph& graph_;
  TraceContext* trace_ = nullptr;
  std::vector<Dim> dims_;  // of the graph's DimTable, in the present trace
  std::unordered_map<ValueId, Tensor> values_;
};

}  // namespace kiln::detail
