#include "frontend/trace/trace.h"

#include <cstring>

#include "frontend/autodiff/tape_impl.h"
#include "frontend/include/kiln/error.h"
#include "frontend/trace/scope.h"

namespace kiln {
namespace {

thread_local TraceContext* current_trace = nullptr;

// Captured tensors up to this many elements become constants of the graph, larger ones hidden inputs.
constexpr int64_t max_constant_elements = 128;

}  // namespace

void detail::throw_escaped(const TensorRep& rep, const char* use, std::source_location where) {
  const std::string made = std::string("the result of ") + rep.op + " (" + place(rep.made) + ")";
  const std::string function = "\"" + rep.trace->function + "\"";
  if (rep.trace->context && rep.trace->context == TraceContext::current())
    throw_error(Code::failed_precondition,
                std::string(use) + ": " + made + " belongs to the body of a loop or branch of " + function +
                    " and has no value outside of it; return it from the body or assign it to a Variable",
                where);
  throw_error(Code::failed_precondition,
              std::string(use) + ": " + made + " is symbolic: it belongs to the trace of " + function +
                  " and has no value outside of it; return it from the function or assign it to a Variable",
              where);
}

TraceContext::TraceContext(std::string name)
    : tag_(std::make_shared<detail::TraceTag>()), previous_(current_trace), dim_scope_(&graph_.dims) {
  graph_.name = std::move(name);
  tag_->function = graph_.name;
  tag_->context = this;
  open_region(false);
  current_trace = this;
}

TraceContext::~TraceContext() {
  tag_->context = nullptr;
  current_trace = previous_;
}

TraceContext* TraceContext::current() { return current_trace; }

ValueId TraceContext::new_value(const TensorType& type) {
  graph_.values.push_back(type);
  return static_cast<ValueId>(graph_.values.size() - 1);
}

Tensor TraceContext::tensor_of(ValueId value, const char* op, SourceLocation made) const {
  auto rep = std::make_shared<detail::TensorRep>();
  rep->dtype = graph_.values[value].dtype;
  rep->shape = graph_.values[value].shape;
  rep->trace = tag_;
  rep->value = value;
  rep->region = region_id();
  rep->op = op;
  rep->made = made;
  return Tensor(std::shared_ptr<const detail::TensorRep>(std::move(rep)));
}

int TraceContext::add_input(const TensorType& type, std::string name, bool is_variable, TraceInput source) {
  const ValueId value = new_value(type);
  graph_.inputs.push_back({value, std::move(name), is_variable});
  regions_[0].region.arguments.push_back(value);
  sources_.push_back(std::move(source));
  return static_cast<int>(graph_.inputs.size() - 1);
}

Tensor TraceContext::add_tensor_argument(const TensorType& type, std::string name, int index) {
  const int input = add_input(type, std::move(name), false, {TraceInput::Kind::tensor_argument, index, {}, {}});
  return tensor_of(graph_.inputs[input].value, "argument", {});
}

Variable TraceContext::add_variable_argument(const Variable& real, std::string name, int index) {
  detail::VariableState& canonical = *real.state()->canonical();
  auto stand_in = std::make_shared<detail::VariableState>();
  stand_in->name = canonical.name;
  stand_in->trainable = canonical.trainable;
  stand_in->id = canonical.id;
  stand_in->dtype = canonical.dtype;
  stand_in->shape = canonical.shape;
  stand_in->stands_for = real.state()->stands_for ? real.state()->stands_for : real.state();
  if (!variable_numbers_.count(&canonical)) {
    const int input = add_input({canonical.dtype, canonical.shape}, name.empty() ? canonical.name : std::move(name),
                                true, {TraceInput::Kind::variable_argument, index, {}, {}});
    variable_numbers_[&canonical] = static_cast<int>(variables_.size());
    variables_.push_back({&canonical, input, index, true, false, graph_.inputs[input].value});
  }
  return Variable(std::move(stand_in));
}

int TraceContext::find_variable(detail::VariableState& variable) {
  detail::VariableState* canonical = variable.canonical();
  const auto [it, fresh] = variable_numbers_.try_emplace(canonical, static_cast<int>(variables_.size()));
  if (fresh) {
    std::shared_ptr<detail::VariableState> owner =
        variable.stands_for ? variable.stands_for : variable.shared_from_this();
    const int input = add_input({canonical->dtype, canonical->shape}, canonical->name, true,
                                {TraceInput::Kind::captured_variable, 0, std::move(owner), {}});
    variables_.push_back({canonical, input, -1, false, true, graph_.inputs[input].value});
  }
  TracedVariable& found = variables_[it->second];
  if (!variable.stands_for) found.by_capture = true;
  return it->second;
}

bool TraceContext::captured_too(int argument) const {
  for (const TracedVariable& v : variables_)
    if (v.argument == argument) return v.by_capture;
  return false;
}

ValueId TraceContext::variable_value(int variable, int depth) {
  OpenRegion& region = regions_[depth];
  if (const auto it = region.variables.find(variable); it != region.variables.end()) return it->second.current;
  if (depth == 0) return variables_[variable].initial;
  const ValueId outer = variable_value(variable, depth - 1);
  if (!region.is_loop) return outer;
  const ValueId placeholder = new_value(graph_.values[outer]);
  regions_[depth].variables[variable] = {placeholder, placeholder, false};
  return placeholder;
}

void TraceContext::set_variable_value(int variable, ValueId value) {
  variable_value(variable);  // in a loop: makes the value of the iteration's start
  OpenRegion::VariableValue& v = regions_.back().variables[variable];
  v.current = value;
  v.assigned = true;
}

Tensor TraceContext::read(detail::VariableState& variable, std::source_location where) {
  const int number = find_variable(variable);
  return tensor_of(variable_value(number), "a Variable's read", detail::user_line(where));
}

Tensor TraceContext::read_at(detail::VariableState& variable, int depth, std::source_location where) {
  const int number = find_variable(variable);
  return tensor_of(variable_value(number, depth), "a Variable's read", detail::user_line(where));
}

void TraceContext::assign(detail::VariableState& variable, const Tensor& value, std::source_location where) {
  const int number = find_variable(variable);
  Tensor imported = import(value, "assign", where);
  // Under a tape the stored value gets an id of its own: no gradient flows through a Variable's state.
  if (detail::tapes_active()) {
    const TensorType type = imported.rep()->type();
    const Attribute shape[] = {type.shape};
    imported = emit(OpId::reshape, {&imported, 1}, shape, {&type, 1}, where)[0];
  }
  set_variable_value(number, imported.rep()->value);
}

Tensor TraceContext::import(const Tensor& x, const char* op, std::source_location where) {
  const detail::TensorRep& rep = *x.rep();
  if (rep.trace) {
    if (rep.trace != tag_) detail::throw_escaped(rep, op, where);
    for (const OpenRegion& open : regions_)
      if (open.id == rep.region) return x;
    detail::throw_escaped(rep, op, where);
  }
  CaptureKey key{rep.buffer.get(), rep.offset, rep.dtype, {}};
  for (Dim d : rep.shape) key.dims.push_back(d.size());
  const auto it = captures_.find(key);
  ValueId value;
  if (it != captures_.end()) {
    value = it->second;
  } else if (rep.shape.size() <= max_constant_elements) {
    const size_t bytes = static_cast<size_t>(rep.shape.size()) * size_of(rep.dtype);
    std::shared_ptr<Buffer> data = rep.buffer;
    if (rep.offset != 0 || data->bytes() != bytes) {
      data = check(Buffer::allocate(bytes), where);
      std::memcpy(data->data(), rep.data(), bytes);
    }
    Node node{OpId::constant, {}, {int64_t(graph_.constants.size())}, {}, detail::user_line(where), {}};
    value = new_value(rep.type());
    node.results = {value};
    graph_.constants.push_back({rep.type(), std::move(data)});
    regions_[0].region.nodes.push_back(std::move(node));
  } else {
    const int input = add_input(rep.type(), "captured_" + std::to_string(captures_.size()), false,
                                {TraceInput::Kind::captured_tensor, 0, {}, x});
    value = graph_.inputs[input].value;
  }
  if (it == captures_.end()) {
    captures_[key] = value;
    kept_.push_back(x);
  }
  auto imported = std::make_shared<detail::TensorRep>();
  imported->dtype = rep.dtype;
  imported->shape = rep.shape;
  imported->trace = tag_;
  imported->value = value;
  imported->region = regions_[0].id;
  imported->op = "capture";
  imported->made = detail::user_line(where);
  return Tensor(std::shared_ptr<const detail::TensorRep>(std::move(imported)));
}

std::vector<Tensor> TraceContext::emit(OpId op, std::span<const Tensor> operands, std::span<const Attribute> attributes,
                                       std::span<const TensorType> results, std::source_location where) {
  Node node{op, {}, {attributes.begin(), attributes.end()}, {}, detail::user_line(where), {}};
  const char* name = info(op).name.data();
  node.operands.reserve(operands.size());
  for (const Tensor& x : operands) node.operands.push_back(import(x, name, where).rep()->value);
  for (const TensorType& type : results) node.results.push_back(new_value(type));
  return add_node(std::move(node), name);
}

std::vector<Tensor> TraceContext::add_node(Node node, const char* op) {
  std::vector<Tensor> results;
  results.reserve(node.results.size());
  for (ValueId value : node.results) results.push_back(tensor_of(value, op, node.location));
  regions_.back().region.nodes.push_back(std::move(node));
  return results;
}

void TraceContext::open_region(bool is_loop) {
  OpenRegion open;
  open.id = next_region_++;
  open.is_loop = is_loop;
  regions_.push_back(std::move(open));
}

TraceContext::OpenRegion TraceContext::close_region() {
  OpenRegion closed = std::move(regions_.back());
  regions_.pop_back();
  return closed;
}

Graph TraceContext::finish(std::span<const Tensor> results, std::source_location where) {
  for (const Tensor& x : results) {
    if (!x.defined()) throw_error(Code::invalid_argument, "function: the lambda returned an empty Tensor", where);
    graph_.outputs.push_back({import(x, "return", where).rep()->value, -1});
  }
  for (const auto& [number, value] : regions_[0].variables)
    if (value.assigned) graph_.outputs.push_back({value.current, variables_[number].input});
  graph_.body = std::move(regions_[0].region);
  for (const GraphOutput& output : graph_.outputs) graph_.body.results.push_back(output.value);
  tag_->context = nullptr;
  return std::move(graph_);
}

}  // namespace kiln
