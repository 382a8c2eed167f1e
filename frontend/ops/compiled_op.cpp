// Ops without an eager kernel run as compiled functions of one op, kept by op, attributes and operand types.
#include <map>
#include <mutex>

#include "compiler/api/compiler.h"
#include "compiler/api/graph_hash.h"
#include "frontend/function/runner.h"
#include "frontend/ops/eager.h"
#include "frontend/tensor/rep.h"

namespace kiln::detail {
namespace {

constexpr size_t max_kept = 1024;

Graph one_op_graph(OpId op, std::span<const Tensor> operands, std::span<const Attribute> attributes,
                   std::span<const TensorType> results) {
  Graph graph;
  graph.name = std::string(info(op).name);
  Node node{op, {}, {attributes.begin(), attributes.end()}, {}, {}, {}};
  for (const Tensor& x : operands) {
    const auto value = static_cast<ValueId>(graph.values.size());
    graph.values.push_back(x.rep()->type());
    graph.inputs.push_back({value, "x" + std::to_string(value), false});
    graph.body.arguments.push_back(value);
    node.operands.push_back(value);
  }
  for (const TensorType& type : results) {
    const auto value = static_cast<ValueId>(graph.values.size());
    graph.values.push_back(type);
    graph.outputs.push_back({value, -1});
    graph.body.results.push_back(value);
    node.results.push_back(value);
  }
  graph.body.nodes.push_back(std::move(node));
  return graph;
}

}  // namespace

Result<std::vector<Tensor>> run_compiled_op(OpId op, std::span<const Tensor> operands,
                                            std::span<const Attribute> attributes,
                                            std::span<const TensorType> results) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Runner>> kept;
  const Graph graph = one_op_graph(op, operands, attributes, results);
  const std::string key = graph_bytes(graph);
  std::shared_ptr<const Runner> runner;
  {
    std::lock_guard lock(mutex);
    if (const auto it = kept.find(key); it != kept.end()) runner = it->second;
  }
  if (!runner) {
    KILN_ASSIGN_OR_RETURN(const CompileResult compiled, compile(graph));
    KILN_ASSIGN_OR_RETURN(auto program, Program::load(compiled.executable));
    std::vector<TraceInput> sources;
    for (size_t i = 0; i < operands.size(); ++i)
      sources.push_back({TraceInput::Kind::tensor_argument, static_cast<int>(i), {}, {}});
    runner = std::make_shared<Runner>(std::move(program), std::move(sources));
    std::lock_guard lock(mutex);
    if (kept.size() >= max_kept) kept.clear();
    kept.emplace(key, runner);
  }
  std::vector<const Tensor*> pointers;
  for (const Tensor& x : operands) pointers.push_back(&x);
  InlineVector<Tensor, 4> made;
  KILN_RETURN_IF_ERROR(runner->run(pointers, {}, made));
  return std::vector<Tensor>(made.begin(), made.end());
}

}  // namespace kiln::detail
