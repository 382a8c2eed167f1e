#include "kernels/reference/interpreter.h"

#include <algorithm>

#include "kernels/reference/array.h"
#include "runtime/base/fp_environment.h"
#include "runtime/base/no_throw.h"

#include "generated/scalar_bodies.h.inc"  // after the scalar it is used with

namespace kiln {
namespace reference {
namespace {

Result<Constant> allocate(const TensorType& type) {
  size_t bytes = size_of(type.dtype);
  for (Dim d : type.shape) {
    if (!d.known()) return Status(Code::internal, "the reference interpreter met an unknown dim");
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(d.size()), &bytes))
      return Status(Code::resource_exhausted, "a tensor does not fit in memory");
  }
  KILN_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> data, Buffer::allocate(bytes));
  return Constant{type, std::move(data)};
}

// Elementwise and source ops: NumPy broadcasting, trailing dims aligned.
void run_elementwise(const OpCall& call) {
  const Array& result = call.results[0];
  std::vector<RefScalar> scalars(call.operands.size());
  int64_t number = 0;
  for_each_index(result.dims, [&](std::span<const int64_t> index) {
    for (size_t k = 0; k < call.operands.size(); ++k) {
      const Array& x = call.operands[k];
      int64_t at = 0;
      for (int i = 0; i < x.rank(); ++i)
        at = at * x.dims[i] + (x.dims[i] == 1 ? 0 : index[index.size() - x.rank() + i]);
      scalars[k] = x[at];
    }
    const RefScalar value =
        scalar_body<RefScalar>(call.op, scalars, call.attributes, RefScalar::of(number), result.dtype);
    result.set(number++, value);
  });
}

constexpr int lanes = 32;
constexpr int64_t row_chunk = 4096, column_chunk = 1024;

// `read(i)`, i < count, in the order of docs/design, "Reduction order".
template <class Read>
RefScalar reduce_row(OpId op, RefScalar identity, int64_t count, Read read) {
  RefScalar total = identity;
  for (int64_t begin = 0; begin < count; begin += row_chunk) {
    const int64_t end = std::min(begin + row_chunk, count);
    std::vector<RefScalar> lane(lanes, identity);
    for (int64_t i = begin; i < end; ++i)
      lane[(i - begin) % lanes] = combine_body(op, lane[(i - begin) % lanes], read(i));
    for (int half = lanes / 2; half > 0; half /= 2)
      for (int j = 0; j < half; ++j) lane[j] = combine_body(op, lane[j], lane[j + half]);
    total = begin == 0 ? lane[0] : combine_body(op, total, lane[0]);
  }
  return total;
}
template <class Read>
RefScalar reduce_column(OpId op, RefScalar identity, int64_t count, Read read) {
  RefScalar total = identity;
  for (int64_t begin = 0; begin < count; begin += column_chunk) {
    RefScalar chunk = identity;
    for (int64_t i = begin; i < std::min(begin + column_chunk, count); ++i) chunk = combine_body(op, chunk, read(i));
    total = begin == 0 ? chunk : combine_body(op, total, chunk);
  }
  return total;
}

// Runs of neighbouring axes one by one, the last first; a run that ends with the last axis is a row.
void run_reduction(const OpCall& call) {
  const Array& x = call.operands[0];
  std::vector<bool> reduced(x.rank(), call.ints(0).empty());
  for (int64_t a : call.ints(0)) reduced[a < 0 ? a + x.rank() : a] = true;
  std::vector<RefScalar> values;
  for (int64_t i = 0; i < x.size(); ++i) values.push_back(x[i]);
  std::vector<int64_t> dims = x.dims;  // reduced ones are 1 once done
  const RefScalar identity = identity_body(call.op, x.zero());
  for (int last = x.rank() - 1; last >= 0; --last) {
    if (!reduced[last]) continue;
    int first = last;
    while (first > 0 && reduced[first - 1]) --first;
    const bool row = last == x.rank() - 1;
    int64_t outer = 1, count = 1, inner = 1;
    for (int i = 0; i < x.rank(); ++i) (i < first ? outer : i <= last ? count : inner) *= dims[i];
    std::vector<RefScalar> next;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        auto read = [&](int64_t r) { return values[(o * count + r) * inner + i]; };
        next.push_back(row ? reduce_row(call.op, identity, count, read)
                           : reduce_column(call.op, identity, count, read));
      }
    values = std::move(next);
    for (int i = first; i <= last; ++i) dims[i] = 1;
    last = first;
  }
  for (size_t i = 0; i < values.size(); ++i) call.results[0].set(static_cast<int64_t>(i), values[i]);
}

Result<std::vector<Constant>> run_op(OpId op, std::span<const Constant> operands, std::span<const Attribute> attributes,
                                     std::span<const TensorType> result_types) {
  if (info(op).kind == OpKind::view) return std::vector<Constant>{{result_types[0], operands[0].data}};
  std::vector<Constant> results;
  std::vector<Array> in, out;
  for (const Constant& x : operands) in.emplace_back(x);
  for (const TensorType& type : result_types) {
    KILN_ASSIGN_OR_RETURN(Constant result, allocate(type));
    out.emplace_back(result);
    results.push_back(std::move(result));
  }
  const OpCall call{op, in, attributes, out};
  if (has_scalar_body(op)) {
    run_elementwise(call);
  } else if (info(op).kind == OpKind::reduction) {
    run_reduction(call);
  } else {
    OpFunction function = find_structured(op);
    if (!function) function = find_neural(op);
    if (!function) return call.fail(Code::unimplemented, "the reference interpreter has no such op");
    KILN_RETURN_IF_ERROR(function(call));
  }
  return results;
}

class Interpreter {
 public:
  Interpreter(const Graph& graph, std::vector<int64_t> dims)
      : graph_(graph), dims_(std::move(dims)), values_(graph.values.size()) {}

  Status bind(ValueId id, Constant value) {
    values_[id] = std::move(value);
    return {};
  }
  const Constant& operator[](ValueId id) const { return values_[id]; }

  Status run(const Region& region) {
    for (const Node& node : region.nodes)
      if (Status status = run(node); !status.ok()) return status;
    return {};
  }

 private:
  Status run(const Node& node) {
    if (node.op == OpId::constant)
      return bind(node.results[0], graph_.constants[std::get<int64_t>(node.attributes[0])]);
    if (node.op == OpId::cond) return run_cond(node);
    if (node.op == OpId::while_loop) return run_while(node);
    std::vector<Constant> operands;
    for (ValueId id : node.operands) operands.push_back(values_[id]);
    std::vector<Attribute> attributes = node.attributes;
    for (Attribute& a : attributes)
      if (Shape* shape = std::get_if<Shape>(&a)) *shape = resolved(*shape);
    std::vector<TensorType> types;
    for (ValueId id : node.results) types.push_back({graph_.values[id].dtype, resolved(graph_.values[id].shape)});
    KILN_ASSIGN_OR_RETURN(std::vector<Constant> results, run_op(node.op, operands, attributes, types));
    assign(node.results, std::move(results));
    return {};
  }

  Status run_cond(const Node& node) {
    const Region& branch = node.regions[is_true(node.operands[0]) ? 0 : 1];
    KILN_RETURN_IF_ERROR(run(branch));
    assign(node.results, collect(branch.results));
    return {};
  }

  Status run_while(const Node& node) {
    std::vector<Constant> carried = collect(node.operands);
    const Region &condition = node.regions[0], &body = node.regions[1];
    for (;;) {
      assign(condition.arguments, carried);
      KILN_RETURN_IF_ERROR(run(condition));
      if (!is_true(condition.results[0])) break;
      assign(body.arguments, carried);
      KILN_RETURN_IF_ERROR(run(body));
      carried = collect(body.results);
    }
    assign(node.results, std::move(carried));
    return {};
  }

  bool is_true(ValueId id) const { return Array(values_[id])[0].value<bool>(); }
  std::vector<Constant> collect(const std::vector<ValueId>& ids) const {
    std::vector<Constant> result;
    for (ValueId id : ids) result.push_back(values_[id]);
    return result;
  }
  void assign(const std::vector<ValueId>& ids, std::vector<Constant> values) {
    for (size_t i = 0; i < ids.size(); ++i) values_[ids[i]] = std::move(values[i]);
  }
  Shape resolved(Shape shape) const {
    for (Dim& d : shape)
      if (!d.known() && !d.inferred()) d = Dim(dims_[d.id()]);
    return shape;
  }

  const Graph& graph_;
  std::vector<int64_t> dims_;
  std::vector<Constant> values_;
};

// Known dims of an input's declared type must be the value's; unknown ones are checked by the dim table's evaluation.
Status check_input(const Graph& graph, size_t i, const Constant& value, std::span<const int64_t> dims) {
  const TensorType& declared = graph.values[graph.inputs[i].value];
  const std::string name = graph.name + ": input " + std::to_string(i) + " ('" + graph.inputs[i].name + "')";
  if (value.type.dtype != declared.dtype)
    return {Code::invalid_argument, name + " is " + std::string(name_of(value.type.dtype)) + ", it needs " +
                                        std::string(name_of(declared.dtype))};
  bool fits = value.type.shape.rank() == declared.shape.rank();
  for (int k = 0; fits && k < declared.shape.rank(); ++k) {
    const Dim d = declared.shape[k];
    fits = value.type.shape[k] == (d.known() ? d : Dim(dims[d.id()]));
  }
  if (!fits)
    return {Code::invalid_argument, name + " has shape " + to_string(value.type.shape) + ", it needs " +
                                        to_string(declared.shape, &graph.dims)};
  return {};
}

Result<std::vector<Constant>> run_graph(const Graph& graph, std::span<const Constant> inputs) {
  if (inputs.size() != graph.inputs.size())
    return Status(Code::invalid_argument, graph.name + ": " + std::to_string(inputs.size()) +
                                              " inputs are given, it needs " + std::to_string(graph.inputs.size()));
  std::vector<std::vector<int64_t>> input_dims;
  std::vector<std::span<const int64_t>> spans;
  for (const Constant& x : inputs) input_dims.push_back(Array(x).dims);
  for (const auto& d : input_dims) spans.emplace_back(d);
  KILN_ASSIGN_OR_RETURN(std::vector<int64_t> dims, graph.dims.evaluate(spans));
  for (size_t i = 0; i < inputs.size(); ++i) KILN_RETURN_IF_ERROR(check_input(graph, i, inputs[i], dims));
  Interpreter interpreter(graph, std::move(dims));
  for (size_t i = 0; i < inputs.size(); ++i) KILN_RETURN_IF_ERROR(interpreter.bind(graph.inputs[i].value, inputs[i]));
  KILN_RETURN_IF_ERROR(interpreter.run(graph.body));
  std::vector<Constant> results;
  for (const GraphOutput& output : graph.outputs) results.push_back(interpreter[output.value]);
  return results;
}

}  // namespace
}  // namespace reference

Result<std::vector<Constant>> interpret(const Graph& graph, std::span<const Constant> inputs) {
  FpEnvironment mode;
  return no_throw([&] { return reference::run_graph(graph, inputs); });
}

Result<std::vector<Constant>> interpret_op(OpId op, std::span<const Constant> operands,
                                           std::span<const Attribute> attributes, std::span<const TensorType> results) {
  FpEnvironment mode;
  return no_throw([&] { return reference::run_op(op, operands, attributes, results); });
}

}  // namespace kiln
