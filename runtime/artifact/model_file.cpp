#include "runtime/artifact/model_file.h"

namespace kiln {
namespace {

Status wrong(const std::string& what) { return Status(Code::invalid_argument, what); }

Status check_tensor(const SavedTensor& t, const char* kind) {
  size_t bytes = size_of(t.dtype);
  bool good = t.data != nullptr && t.dims.size() <= static_cast<size_t>(max_rank);
  for (int64_t d : t.dims) good = good && d >= 0 && !__builtin_mul_overflow(bytes, static_cast<size_t>(d), &bytes);
  if (!good || t.data->bytes() != bytes)
    return wrong(std::string(kind) + " '" + t.name + "' has not the size that its dims say");
  return Status();
}

Status check_function(const SavedFunction& f, const ModelFile& model) {
  const std::string name = "function '" + f.name + "'";
  if (!f.executable) return wrong(name + " has no code");
  const Executable& e = *f.executable;
  if (f.inputs.size() != e.inputs.size())
    return wrong(name + " has " + std::to_string(e.inputs.size()) + " inputs, " + std::to_string(f.inputs.size()) +
                 " of them bound");
  std::vector<bool> seen(f.inputs.size());
  size_t arguments = 0;
  for (size_t i = 0; i < f.inputs.size(); ++i) {
    const InputBinding& b = f.inputs[i];
    const std::string input = name + ": input '" + e.inputs[i].name + "'";
    if (b.source == InputSource::argument) {
      if (b.index < 0 || static_cast<size_t>(b.index) >= seen.size() || seen[b.index])
        return wrong(input + " is argument " + std::to_string(b.index) + ", which is not free");
      seen[b.index] = true;
      ++arguments;
      continue;
    }
    const auto& tensors = b.source == InputSource::variable ? model.variables : model.constants;
    if (b.index < 0 || static_cast<size_t>(b.index) >= tensors.size())
      return wrong(input + " is bound to a tensor that does not exist");
    const SavedTensor& t = tensors[b.index];
    bool good = t.dtype == e.inputs[i].dtype && static_cast<int>(t.dims.size()) == e.inputs[i].shape.rank();
    for (size_t d = 0; good && d < t.dims.size(); ++d)
      good = !e.inputs[i].shape[d].known() || e.inputs[i].shape[d].size() == t.dims[d];
    if (!good) return wrong(input + " is bound to '" + t.name + "', which has another type");
  }
  for (size_t i = 0; i < arguments; ++i)
    if (!seen[i]) return wrong(name + ": argument " + std::to_string(i) + " is bound to no input");
  for (const OutputInfo& o : e.outputs)
    if (o.updates >= 0 &&
        (static_cast<size_t>(o.updates) >= f.inputs.size() || f.inputs[o.updates].source != InputSource::variable))
      return wrong(name + " updates an input that is not a variable");
  return Status();
}

}  // namespace

Status check_model(const ModelFile& model) {
  for (const SavedTensor& t : model.variables) KILN_RETURN_IF_ERROR(check_tensor(t, "variable"));
  for (const SavedTensor& t : model.constants) KILN_RETURN_IF_ERROR(check_tensor(t, "constant"));
  for (size_t i = 0; i < model.functions.size(); ++i) {
    KILN_RETURN_IF_ERROR(check_function(model.functions[i], model));
    for (size_t k = 0; k < i; ++k)
      if (model.functions[k].name == model.functions[i].name)
        return wrong("two functions have the name '" + model.functions[i].name + "'");
  }
  return Status();
}

}  // namespace kiln
