// TraceContext: records the ops of one run of a lambda as a Graph. One per function being traced; a stack per thread.
#pragma once
#include <map>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/api/graph.h"
#include "frontend/tensor/rep.h"
#include "frontend/variable/state.h"

namespace kiln {

// Where the value of a graph input comes from at a call.
struct TraceInput {
  enum class Kind : uint8_t { tensor_argument, variable_argument, captured_variable, captured_tensor };
  Kind kind;
  int index = 0;                                    // of the argument
  std::shared_ptr<detail::VariableState> variable;  // captured_variable
  Tensor tensor;                                    // captured_tensor
};

class TraceContext {
 public:
  explicit TraceContext(std::string name);
  ~TraceContext();
  TraceContext(const TraceContext&) = delete;

  // The innermost trace of this thread; null in eager code.
  static TraceContext* current();

  const std::string& name() const { return graph_.name; }
  DimTable& dims() { return graph_.dims; }

  // Arguments, in order, before anything else.
  Tensor add_tensor_argument(const TensorType& type, std::string name, int index);
  // A stand-in for argument `index`, which is `real` in this call.
  Variable add_variable_argument(const Variable& real, std::string name, int index);

  // Adds a node; its result types are known. Operands that are concrete become constants or hidden inputs.
  std::vector<Tensor> emit(OpId op, std::span<const Tensor> operands, std::span<const Attribute> attributes,
                           std::span<const TensorType> results, std::source_location where);
  // The value of x in this trace: itself if it is symbolic (an error if it belongs to another trace or to a closed
  // region), else a constant or a hidden input.
  Tensor import(const Tensor& x, const char* op, std::source_location where);
  // A symbolic Tensor for an existing value.
  Tensor tensor_of(ValueId value, const char* op, SourceLocation made) const;

  Tensor read(detail::VariableState& variable, std::source_location where);
  void assign(detail::VariableState& variable, const Tensor& value, std::source_location where);
  // The value of a Variable as seen from an enclosing region (a tape's); imports it if need be.
  Tensor read_at(detail::VariableState& variable, int depth, std::source_location where);

  // Regions of cond and while_loop. close_region gives what was recorded; assigned Variables stay with it.
  struct OpenRegion {
    Region region;
    int32_t id = 0;
    bool is_loop = false;
    struct VariableValue {
      ValueId current = -1;
      ValueId placeholder = -1;  // loops: stands for the value at the start of an iteration
      bool assigned = false;
    };
    std::map<int, VariableValue> variables;  // by number in variables_
  };
  void open_region(bool is_loop);
  OpenRegion close_region();
  std::vector<ValueId>& open_arguments() { return regions_.back().region.arguments; }
  std::vector<ValueId>& open_results() { return regions_.back().region.results; }
  void abandon_regions(int depth) { regions_.erase(regions_.begin() + depth + 1, regions_.end()); }
  int depth() const { return static_cast<int>(regions_.size()) - 1; }
  int32_t region_id() const { return regions_.back().id; }
  ValueId new_value(const TensorType& type);
  // The value of Variable number `variable` in the innermost region.
  ValueId variable_value(int variable) { return variable_value(variable, depth()); }
  void set_variable_value(int variable, ValueId value);
  // Adds a finished node with regions and gives its results.
  std::vector<Tensor> add_node(Node node, const char* op);

  // The finished graph: `results` and, after them, the new values of assigned Variables. The trace is over.
  Graph finish(std::span<const Tensor> results, std::source_location where);
  const Graph& graph() const { return graph_; }
  const std::vector<TraceInput>& sources() const { return sources_; }
  const std::vector<TensorType>& types() const { return graph_.values; }

  // Argument Variables that were also reached by capture: argument index -> true.
  bool captured_too(int argument) const;

 private:
  struct TracedVariable {
    detail::VariableState* state;  // canonical
    int input = -1;                // graph input number
    int argument = -1;             // >= 0: passed as that argument
    bool by_argument = false, by_capture = false;
    ValueId initial = -1;
  };
  int find_variable(detail::VariableState& variable);
  ValueId variable_value(int variable, int depth);
  int add_input(const TensorType& type, std::string name, bool is_variable, TraceInput source);

  Graph graph_;
  std::shared_ptr<detail::TraceTag> tag_;
  std::vector<TraceInput> sources_;
  std::vector<OpenRegion> regions_;  // [0] is the body
  int32_t next_region_ = 0;
  std::vector<TracedVariable> variables_;
  std::unordered_map<detail::VariableState*, int> variable_numbers_;
  struct CaptureKey {
    const Buffer* buffer;
    int64_t offset;
    DType dtype;
    std::vector<int64_t> dims;
    auto operator<=>(const CaptureKey&) const = default;
  };
  std::map<CaptureKey, ValueId> captures_;
  std::vector<Tensor> kept_;  // keeps captured buffers, and so their addresses, alive during the trace
  TraceContext* previous_;
  DimTable::Scope dim_scope_;
};

namespace detail {
// The text for a symbolic tensor used where it has no meaning; `use` is what was tried ("add").
[[noreturn]] void throw_escaped(const TensorRep& rep, const char* use, std::source_location where);
}  // namespace detail

}  // namespace kiln
