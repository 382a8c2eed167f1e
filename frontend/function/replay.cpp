#include "frontend/control/control.h"
#include "frontend/function/concrete.h"
#include "frontend/include/kiln/error.h"
#include "frontend/ops/dispatch.h"
#include "frontend/trace/scope.h"

namespace kiln::detail {

Replayer::Replayer(const Graph& graph, std::span<const Tensor> inputs) : graph_(graph) {
  for (size_t i = 0; i < inputs.size(); ++i) values_[graph.inputs[i].value] = inputs[i];
  for (const DimExpr& e : graph.dims.exprs()) {
    const Dim a = e.op == DimOp::symbol ? Dim() : mapped(e.a), b = e.op == DimOp::symbol ? Dim() : mapped(e.b);
    switch (e.op) {
      case DimOp::symbol:
        dims_.push_back(inputs[e.a.raw()].shape()[static_cast<int>(e.b.raw())]);
        break;
      case DimOp::add:
        dims_.push_back(a + b);
        break;
      case DimOp::subtract:
        dims_.push_back(a - b);
        break;
      case DimOp::multiply:
        dims_.push_back(a * b);
        break;
      case DimOp::floor_div:
        dims_.push_back(floor_div(a, b));
        break;
      case DimOp::maximum:
        dims_.push_back(maximum(a, b));
        break;
      case DimOp::broadcast:
        if (a.known() && b.known())
          dims_.push_back(a == Dim(1) ? b : a);
        else
          dims_.push_back(DimTable::current()->intern(DimOp::broadcast, a, b));
        break;
      case DimOp::positive:
        dims_.push_back(a.known() ? a : DimTable::current()->intern(DimOp::positive, a, b));
        break;
    }
  }
}

Dim Replayer::mapped(Dim d) const {
  return d.known() || d.inferred() || trace_ ? d : dims_[static_cast<size_t>(d.id())];
}

Attribute Replayer::mapped(const Attribute& attribute) const {
  const Shape* shape = std::get_if<Shape>(&attribute);
  if (!shape) return attribute;
  Shape result;
  for (Dim d : *shape) result.push_back(mapped(d));
  return result;
}

Tensor Replayer::get(ValueId value) {
  const auto it = values_.find(value);
  if (it != values_.end()) return it->second;
  return trace_->tensor_of(value, "gradient", {});
}

void Replayer::run(const Region& region) {
  for (const Node& node : region.nodes) run_node(node);
}

void Replayer::run_node(const Node& node) {
  // Its user is the node's, not whoever asked for the replay.
  const UserScope scope(info(node.op).name.data(), node.location, UserScope::Nesting::innermost);
  const std::source_location where;
  if (node.op == OpId::constant) {
    const Constant& constant = graph_.constants[static_cast<size_t>(std::get<int64_t>(node.attributes[0]))];
    set(node.results[0], make_concrete(constant.type.dtype, constant.type.shape, constant.data));
    return;
  }
  std::vector<Tensor> operands;
  for (ValueId value : node.operands) operands.push_back(get(value));
  std::vector<Tensor> results;
  auto yields = [this](const Region& region) {
    OwnedLeaves out;
    run(region);
    for (ValueId value : region.results) out.tensors.push_back(get(value));
    return out;
  };
  if (node.op == OpId::cond) {
    results = run_cond(
                  Operand(operands[0], where), [&] { return yields(node.regions[0]); },
                  [&] { return yields(node.regions[1]); })
                  .tensors;
  } else if (node.op == OpId::while_loop) {
    auto bind = [this](const Region& region, LeafReader& in) {
      for (ValueId argument : region.arguments) set(argument, in.tensor());
    };
    OwnedLeaves initial;
    initial.tensors = operands;
    results = run_while(
                  [&](LeafReader& in) {
                    bind(node.regions[0], in);
                    return yields(node.regions[0]).tensors[0];
                  },
                  [&](LeafReader& in) {
                    bind(node.regions[1], in);
                    return yields(node.regions[1]);
                  },
                  std::move(initial), {}, where)
                  .tensors;
  } else {
    std::vector<Attribute> attributes;
    for (const Attribute& a : node.attributes) attributes.push_back(mapped(a));
    results = dispatch_tensors(node.op, operands, attributes, where);
  }
  for (size_t i = 0; i < results.size(); ++i) set(node.results[i], results[i]);
}

}  // namespace kiln::detail
