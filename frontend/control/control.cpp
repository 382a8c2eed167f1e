#include "frontend/control/control.h"

#include <algorithm>
#include <set>

#include "frontend/autodiff/tape_impl.h"
#include "frontend/control/region_gradients.h"
#include "frontend/include/kiln/error.h"
#include "frontend/trace/scope.h"
#include "frontend/trace/trace.h"
#include "generated/ops.h"

namespace kiln::detail {
namespace {

// Closes the regions that are open when an exception leaves a branch or body.
class RegionGuard {
 public:
  explicit RegionGuard(TraceContext& trace) : trace_(trace), depth_(trace.depth()) {}
  ~RegionGuard() { trace_.abandon_regions(depth_); }
  RegionGuard(const RegionGuard&) = delete;

 private:
  TraceContext& trace_;
  int depth_;
};

std::string describe(const TensorType& type) { return std::string(name_of(type.dtype)) + to_string(type.shape); }

Tensor checked_predicate(const Operand& predicate, const char* op) {
  Tensor p = predicate.tensor();
  if (!p.defined())
    throw_error(Code::invalid_argument, std::string(op) + ": the condition is an empty Tensor", predicate.where());
  if (p.rank() != 0 || p.dtype() != DType::bool_)
    throw_error(Code::invalid_argument,
                std::string(op) + ": the condition is " + describe({p.dtype(), p.shape()}) + ", it must be bool[]",
                predicate.where());
  return p;
}

[[noreturn]] void throw_changed_type(size_t part, const TensorType& before, const TensorType& after,
                                     std::source_location where) {
  throw_error(Code::invalid_argument,
              "while_loop: part " + std::to_string(part) + " of the state is " + describe(before) +
                  " at the start and " + describe(after) + " after one pass; a loop must keep dtypes and shapes" +
                  (after.dtype == before.dtype ? "" : " (convert with .to(...))"),
              where);
}

// A region being recorded: what its lambda yields, as values of the trace.
struct Recorded {
  TraceContext::OpenRegion open;
  OwnedLeaves leaves;
};

template <class F>
Recorded record(TraceContext& trace, bool is_loop, const char* op, std::source_location where, F&& body) {
  trace.open_region(is_loop);
  Recorded recorded;
  recorded.leaves = body();
  for (const Tensor& x : recorded.leaves.tensors) {
    if (!x.defined()) throw_error(Code::invalid_argument, std::string(op) + ": a result is an empty Tensor", where);
    trace.open_results().push_back(trace.import(x, op, where).rep()->value);
  }
  recorded.open = trace.close_region();
  return recorded;
}

OwnedLeaves trace_cond(TraceContext& trace, const Operand& predicate, const std::function<OwnedLeaves()>& then_branch,
                       const std::function<OwnedLeaves()>& else_branch) {
  const std::source_location where = predicate.where();
  const Tensor p = trace.import(checked_predicate(predicate, "cond"), "cond", where);
  const RegionGuard guard(trace);
  Recorded yes = record(trace, false, "cond", where, then_branch),
           no = record(trace, false, "cond", where, else_branch);
  if (yes.leaves.tensors.size() != no.leaves.tensors.size() || yes.leaves.words != no.leaves.words)
    throw_error(Code::invalid_argument, "cond: the branches return different structures (numbers, lengths)", where);
  // Variables assigned in either branch are further results.
  std::set<int> assigned;
  for (const auto* open : {&yes.open, &no.open})
    for (const auto& [variable, value] : open->variables)
      if (value.assigned) assigned.insert(variable);
  for (int variable : assigned)
    for (auto* open : {&yes.open, &no.open}) {
      const auto it = open->variables.find(variable);
      open->region.results.push_back(it == open->variables.end() ? trace.variable_value(variable) : it->second.current);
    }
  Node node{OpId::cond, {p.rep()->value}, {}, {}, user_line(where), {}};
  for (size_t i = 0; i < yes.open.region.results.size(); ++i) {
    const TensorType a = trace.types()[yes.open.region.results[i]], b = trace.types()[no.open.region.results[i]];
    if (!(a == b))
      throw_error(Code::invalid_argument,
                  "cond: result " + std::to_string(i) + " is " + describe(a) + " in the first branch and " +
                      describe(b) + " in the second; both must be of one dtype and shape",
                  where);
    node.results.push_back(trace.new_value(a));
  }
  node.regions = {std::move(yes.open.region), std::move(no.open.region)};
  const std::vector<Tensor> results = trace.add_node(node, "cond");
  record_cond_on_tapes(trace, node, results);
  size_t next = yes.leaves.tensors.size();
  for (int variable : assigned) trace.set_variable_value(variable, results[next++].rep()->value);
  return {{results.begin(), results.begin() + static_cast<std::ptrdiff_t>(yes.leaves.tensors.size())},
          yes.leaves.words};
}

// Replaces values in a region and the regions inside of it.
void substitute(Region& region, const std::map<ValueId, ValueId>& changes) {
  auto replace = [&](ValueId& value) {
    if (const auto it = changes.find(value); it != changes.end()) value = it->second;
  };
  for (Node& node : region.nodes) {
    for (ValueId& operand : node.operands) replace(operand);
    for (Region& inner : node.regions) substitute(inner, changes);
  }
  for (ValueId& result : region.results) replace(result);
}

OwnedLeaves trace_while(TraceContext& trace, const std::function<Tensor(LeafReader&)>& condition,
                        const RegionBody& body, OwnedLeaves initial, int64_t max_iterations,
                        std::source_location where) {
  const RegionGuard guard(trace);
  std::vector<Tensor> start;
  std::vector<TensorType> types;
  for (const Tensor& x : initial.tensors) {
    start.push_back(trace.import(x, "while_loop", where));
    types.push_back(start.back().rep()->type());
  }
  // Fresh arguments of a region, as Tensors of the state.
  auto arguments = [&] {
    std::vector<Tensor> state;
    for (const TensorType& type : types) {
      const ValueId value = trace.new_value(type);
      trace.open_arguments().push_back(value);
      state.push_back(trace.tensor_of(value, "while_loop's state", user_line(where)));
    }
    return state;
  };
  Recorded test = record(trace, true, "while_loop", where, [&] {
    const std::vector<Tensor> state = arguments();
    LeafReader reader{state, {}, initial.words};
    return OwnedLeaves{{checked_predicate(Operand(condition(reader), where), "while_loop")}, {}};
  });
  for (const auto& [variable, value] : test.open.variables)
    if (value.assigned)
      throw_error(Code::invalid_argument, "while_loop: the condition assigns a Variable; do it in the body", where);
  Recorded next = record(trace, true, "while_loop", where, [&] {
    const std::vector<Tensor> state = arguments();
    LeafReader reader{state, {}, initial.words};
    return body(reader);
  });
  if (next.leaves.tensors.size() != types.size() || next.leaves.words != initial.words)
    throw_error(Code::invalid_argument, "while_loop: the body returns another structure than the initial state", where);
  for (size_t i = 0; i < types.size(); ++i) {
    const TensorType& got = trace.types()[next.open.region.results[i]];
    if (!(got == types[i])) throw_changed_type(i, types[i], got, where);
  }
  // A Variable assigned in the body is carried; one that is only read keeps the value from before the loop.
  Node node{OpId::while_loop, {}, {}, {}, user_line(where), {}};
  for (const Tensor& x : start) node.operands.push_back(x.rep()->value);
  std::map<ValueId, ValueId> outer;
  std::vector<int> carried;
  for (const auto& [variable, value] : next.open.variables)
    if (value.assigned) carried.push_back(variable);
  for (auto* open : {&test.open, &next.open})
    for (const auto& [variable, value] : open->variables)
      if (!std::binary_search(carried.begin(), carried.end(), variable))
        outer[value.placeholder] = trace.variable_value(variable);
  for (int variable : carried) {
    const ValueId before = trace.variable_value(variable);
    node.operands.push_back(before);
    const auto tested = test.open.variables.find(variable);
    test.open.region.arguments.push_back(tested == test.open.variables.end() ? trace.new_value(trace.types()[before])
                                                                             : tested->second.placeholder);
    const auto& value = next.open.variables.at(variable);
    next.open.region.arguments.push_back(value.placeholder);
    next.open.region.results.push_back(value.current);
  }
  substitute(test.open.region, outer);
  substitute(next.open.region, outer);
  for (ValueId operand : node.operands) node.results.push_back(trace.new_value(trace.types()[operand]));
  node.regions = {std::move(test.open.region), std::move(next.open.region)};
  const std::vector<Tensor> results = trace.add_node(node, "while_loop");
  record_while_on_tapes(trace, node, results, max_iterations);
  size_t at = types.size();
  for (int variable : carried) trace.set_variable_value(variable, results[at++].rep()->value);
  return {{results.begin(), results.begin() + static_cast<std::ptrdiff_t>(types.size())}, initial.words};
}

OwnedLeaves eager_while(const std::function<Tensor(LeafReader&)>& condition, const RegionBody& body, OwnedLeaves state,
                        std::source_location where) {
  for (;;) {
    LeafReader tested{state.tensors, {}, state.words};
    if (!bool(checked_predicate(Operand(condition(tested), where), "while_loop"))) return state;
    LeafReader present{state.tensors, {}, state.words};
    OwnedLeaves next = body(present);
    if (next.tensors.size() != state.tensors.size() || next.words != state.words)
      throw_error(Code::invalid_argument, "while_loop: the body returns another structure than the initial state",
                  where);
    for (size_t i = 0; i < next.tensors.size(); ++i) {
      const TensorType before = state.tensors[i].rep()->type(), after = next.tensors[i].rep()->type();
      if (!(before == after)) throw_changed_type(i, before, after, where);
    }
    state = std::move(next);
  }
}

}  // namespace

OwnedLeaves run_cond(const Operand& predicate, const std::function<OwnedLeaves()>& then_branch,
                     const std::function<OwnedLeaves()>& else_branch) {
  if (TraceContext* trace = TraceContext::current()) return trace_cond(*trace, predicate, then_branch, else_branch);
  return bool(checked_predicate(predicate, "cond")) ? then_branch() : else_branch();
}

OwnedLeaves run_while(const std::function<Tensor(LeafReader&)>& condition, const RegionBody& body, OwnedLeaves initial,
                      const WhileOptions& options, std::source_location where) {
  for (const Tensor& x : initial.tensors)
    if (!x.defined())
      throw_error(Code::invalid_argument, "while_loop: a part of the initial state is an empty Tensor", where);
  TraceContext* trace = TraceContext::current();
  const bool limited = options.max_iterations >= 0;
  auto run = [&](const auto& test, const auto& step, OwnedLeaves start) {
    return trace ? trace_while(*trace, test, step, std::move(start), options.max_iterations, where)
                 : eager_while(test, step, std::move(start), where);
  };
  // The gradient of a traced loop needs the number of iterations, as a limit does: a counter in front of the state.
  if (!limited && !(trace && tapes_active())) return run(condition, body, std::move(initial));
  initial.tensors.insert(initial.tensors.begin(), Tensor(int64_t{0}));
  const std::function<Tensor(LeafReader&)> test = [&](LeafReader& in) {
    const Tensor count = in.tensor();
    const Tensor more = condition(in);
    return limited ? logical_and(count < options.max_iterations, checked_predicate(Operand(more, where), "while_loop"))
                   : more;
  };
  const RegionBody step = [&](LeafReader& in) {
    const Tensor count = in.tensor();
    OwnedLeaves next = body(in);
    next.tensors.insert(next.tensors.begin(), count + 1);
    return next;
  };
  OwnedLeaves last = run(test, step, std::move(initial));
  last.tensors.erase(last.tensors.begin());
  return last;
}

}  // namespace kiln::detail
