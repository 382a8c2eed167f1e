#include "frontend/io/save/save.h"

#include <algorithm>

#include "frontend/function/concrete.h"
#include "frontend/function/core.h"
#include "frontend/include/kiln/error.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/writer.h"

namespace kiln {
namespace {

std::shared_ptr<const detail::Concrete> concrete_to_save(const NamedFunction& named, std::source_location where) {
  if (const auto* concrete = std::get_if<ConcreteFunction>(&named.function())) return concrete->impl();
  detail::FunctionCore& core = *std::get<AnyFunction>(named.function()).core();
  if (!core.input_signature().empty() && core.only_tensors()) return core.concrete_of(core.input_signature(), where);
  const auto traced = core.concretes();
  if (traced.size() == 1) return traced[0];
  throw_error(Code::invalid_argument,
              "save: \"" + named.name() + "\" has " + std::to_string(traced.size()) +
                  " signatures; give the function an input_signature, or save f.concrete(...)",
              where);
}

SavedTensor saved(const std::string& name, const Tensor& x) {
  const detail::TensorRep& rep = *x.rep();
  SavedTensor result{name, rep.dtype, {}, nullptr};
  for (Dim d : rep.shape) result.dims.push_back(d.size());
  const size_t bytes = static_cast<size_t>(rep.shape.size()) * size_of(rep.dtype);
  if (rep.offset == 0 && rep.buffer->bytes() == bytes)
    result.data = rep.buffer;
  else
    result.data = Buffer::wrap(rep.data(), bytes, rep.buffer);
  return result;
}

// Collects the functions' Variables and captured tensors, each once.
class ModelBuilder {
 public:
  explicit ModelBuilder(std::source_location where) : where_(where) {}

  void add(const std::string& name, const detail::Concrete& concrete) {
    SavedFunction function{name, concrete.compiled(where_).executable, {}};
    for (const TraceInput& source : concrete.sources()) {
      switch (source.kind) {
        case TraceInput::Kind::tensor_argument:
          function.inputs.push_back({InputSource::argument, source.index});
          break;
        case TraceInput::Kind::captured_variable:
          function.inputs.push_back({InputSource::variable, variable(*source.variable)});
          break;
        case TraceInput::Kind::captured_tensor:
          function.inputs.push_back({InputSource::constant, constant(source.tensor)});
          break;
        case TraceInput::Kind::variable_argument:
          throw_error(Code::invalid_argument,
                      "save: \"" + name + "\" has a Variable among its parameters; capture it instead", where_);
      }
    }
    model_.functions.push_back(std::move(function));
  }
  const ModelFile& model() const { return model_; }

 private:
  int32_t variable(detail::VariableState& state) {
    const auto [it, fresh] = variables_.try_emplace(&state, static_cast<int32_t>(model_.variables.size()));
    if (fresh) {
      held_.push_back(state.load());  // whole, even if another thread assigns meanwhile
      model_.variables.push_back(saved(state.name, held_.back()));
    }
    return it->second;
  }
  int32_t constant(const Tensor& x) {
    const auto [it, fresh] = constants_.try_emplace(x.rep().get(), static_cast<int32_t>(model_.constants.size()));
    if (fresh) model_.constants.push_back(saved("constant_" + std::to_string(it->second), x));
    return it->second;
  }

  std::source_location where_;
  ModelFile model_;
  std::vector<Tensor> held_;
  std::map<detail::VariableState*, int32_t> variables_;
  std::map<const detail::TensorRep*, int32_t> constants_;
};

std::string type_text(const Executable& e, DType dtype, const Shape& shape) {
  return std::string(name_of(dtype)) + to_string(shape, &e.dims);
}

}  // namespace

struct detail::LoadedImpl {
  std::string name;
  std::unique_ptr<Runner> runner;
  std::vector<size_t> arguments;  // input number of each argument
};

void save(const std::string& path, const std::vector<NamedFunction>& functions, const SaveOptions& options,
          std::source_location where) {
  if (functions.empty()) throw_error(Code::invalid_argument, "save: no function is given", where);
  for (const std::string& target : options.targets)
    if (target != host_target() || options.targets.size() > 1)
      throw_error(Code::unimplemented,
                  "save: code for " + target + " cannot be made on this machine, which is " + host_target(), where);
  ModelBuilder builder(where);
  for (const NamedFunction& named : functions) builder.add(named.name(), *concrete_to_save(named, where));
  check(save_model(path, builder.model()), where);
}

LoadedModel load(const std::string& path, std::source_location where) {
  ModelFile file = check(load_model(path), where);
  LoadedModel model;
  for (const SavedTensor& v : file.variables)
    model.variables_.emplace_back(
        Operand(detail::make_concrete(v.dtype, Shape(std::span<const int64_t>(v.dims)), v.data), where),
        VariableOptions{.name = v.name});
  std::vector<Tensor> constants;
  for (const SavedTensor& c : file.constants)
    constants.push_back(detail::make_concrete(c.dtype, Shape(std::span<const int64_t>(c.dims)), c.data));
  for (const SavedFunction& f : file.functions) {
    auto impl = std::make_shared<detail::LoadedImpl>();
    impl->name = f.name;
    std::vector<TraceInput> sources;
    for (const InputBinding& binding : f.inputs) {
      const auto index = static_cast<size_t>(binding.index);
      switch (binding.source) {
        case InputSource::argument:
          if (impl->arguments.size() <= index) impl->arguments.resize(index + 1);
          impl->arguments[index] = sources.size();
          sources.push_back({TraceInput::Kind::tensor_argument, binding.index, {}, {}});
          break;
        case InputSource::variable:
          sources.push_back({TraceInput::Kind::captured_variable, 0, model.variables_[index].state(), {}});
          break;
        case InputSource::constant:
          sources.push_back({TraceInput::Kind::captured_tensor, 0, {}, constants[index]});
          break;
      }
    }
    impl->runner = std::make_unique<detail::Runner>(check(Program::load(f.executable), where), std::move(sources));
    model.functions_.emplace(f.name, LoadedFunction(std::move(impl)));
  }
  return model;
}

const LoadedFunction& LoadedModel::operator[](const std::string& name) const {
  if (const auto it = functions_.find(name); it != functions_.end()) return it->second;
  std::string known;
  for (const auto& [other, f] : functions_) known += (known.empty() ? "" : ", ") + other;
  throw_error(Code::not_found, "the file has no function \"" + name + "\" (it has: " + known + ")", {});
}

const std::string& LoadedFunction::name() const { return impl_->name; }

std::string LoadedFunction::signature() const {
  const Executable& e = impl_->runner->program().executable();
  std::string text = impl_->name + "(";
  for (size_t i = 0; i < impl_->arguments.size(); ++i) {
    const InputInfo& input = e.inputs[impl_->arguments[i]];
    text += (i ? ", " : "") + input.name + ": " + type_text(e, input.dtype, input.shape);
  }
  text += ") -> (";
  bool first = true;
  for (const OutputInfo& output : e.outputs) {
    if (output.updates >= 0) continue;
    text += (first ? "" : ", ") + type_text(e, output.dtype, output.shape);
    first = false;
  }
  return text + ")";
}

std::vector<Tensor> LoadedFunction::operator()(const std::vector<Tensor>& inputs, std::source_location where) const {
  if (TraceContext::current())
    throw_error(Code::unimplemented, "\"" + name() + "\" was loaded from a file and cannot be called in a trace",
                where);
  if (inputs.size() != impl_->arguments.size())
    throw_error(Code::invalid_argument,
                name() + ": got " + std::to_string(inputs.size()) + " tensors, needs " +
                    std::to_string(impl_->arguments.size()),
                where);
  std::vector<const Tensor*> pointers;
  for (const Tensor& x : inputs) {
    if (!x.defined()) throw_error(Code::invalid_argument, name() + ": an argument is an empty Tensor", where);
    if (x.symbolic()) detail::throw_escaped(*x.rep(), name().c_str(), where);
    pointers.push_back(&x);
  }
  detail::InlineVector<Tensor, 4> results;
  check(impl_->runner->run(pointers, {}, results), where);
  return {results.begin(), results.end()};
}

std::string LoadedFunction::ir(Stage stage) const {
  const std::string& text = impl_->runner->program().executable().ir;
  return stage == Stage::kiln ? text : check(lower_to_text(text, stage), {});
}

}  // namespace kiln
