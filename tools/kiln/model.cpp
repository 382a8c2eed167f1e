// kiln info, kiln run: saved models.
#include "tools/kiln/model.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include "frontend/tensor/tensor.h"
#include "runtime/artifact/format.h"
#include "runtime/artifact/reader.h"
#include "runtime/exec/session.h"
#include "tools/kiln/command.h"
#include "tools/kiln/npy.h"

namespace kiln::cli {

bool is_model(const std::string& path) {
  char start[format::magic.size()] = {};
  std::ifstream(path, std::ios::binary).read(start, sizeof start);
  return std::string_view(start, sizeof start) == format::magic || path.ends_with(".kiln");
}

namespace {

template <class T>
T check(Result<T> result) {
  if (!result.ok()) throw Failure(std::string(result.status().message()));
  return std::move(result).value();
}
void check(const Status& status) {
  if (!status.ok()) throw Failure(std::string(status.message()));
}

std::string size_text(size_t bytes) {
  char text[32];
  if (bytes < 1000)
    std::snprintf(text, sizeof text, "%zu bytes", bytes);
  else if (bytes < 1'000'000)
    std::snprintf(text, sizeof text, "%.1f kB", static_cast<double>(bytes) / 1e3);
  else
    std::snprintf(text, sizeof text, "%.1f MB", static_cast<double>(bytes) / 1e6);
  return text;
}

std::string type_text(DType dtype, const Shape& shape, const DimTable& dims) {
  return std::string(name_of(dtype)) + to_string(shape, &dims);
}

// For each argument of the function, which input of the Executable it is.
std::vector<size_t> arguments_of(const SavedFunction& function) {
  std::map<int32_t, size_t> by_index;
  for (size_t i = 0; i < function.inputs.size(); ++i)
    if (function.inputs[i].source == InputSource::argument) by_index[function.inputs[i].index] = i;
  std::vector<size_t> inputs;
  for (const auto& [index, input] : by_index) inputs.push_back(input);
  return inputs;
}

// "predict(x: f32[batch,784]) -> f32[batch,10]"
std::string signature(const SavedFunction& function) {
  const Executable& e = *function.executable;
  std::string text = function.name + "(";
  for (size_t i : arguments_of(function))
    text += (text.back() == '(' ? "" : ", ") + e.inputs[i].name + ": " +
            type_text(e.inputs[i].dtype, e.inputs[i].shape, e.dims);
  text += ") ->";
  bool first = true;
  for (const OutputInfo& output : e.outputs) {
    if (output.updates >= 0) continue;
    text += (first ? " " : ", ") + type_text(output.dtype, output.shape, e.dims);
    first = false;
  }
  return first ? text + " nothing" : text;
}

void print_tensors(const char* title, const std::vector<SavedTensor>& tensors) {
  if (tensors.empty()) return;
  size_t total = 0;
  for (const SavedTensor& t : tensors) total += t.data->bytes();
  std::printf("\n%s: %zu, %s\n", title, tensors.size(), size_text(total).c_str());
  for (const SavedTensor& t : tensors)
    std::printf("  %-24s %s, %s\n", t.name.c_str(), describe(t.dtype, t.dims).c_str(),
                size_text(t.data->bytes()).c_str());
}

// Number of steps, those in branches and loops too.
size_t count_steps(const std::vector<Step>& steps) {
  size_t n = steps.size();
  for (const Step& s : steps) n += count_steps(s.first) + count_steps(s.second);
  return n;
}

}  // namespace

ModelFile open_model(const std::string& path) { return check(load_model(path)); }

const SavedFunction& find_function(const ModelFile& model, const std::string& name) {
  std::string known;
  for (const SavedFunction& f : model.functions) {
    if (f.name == name || (name.empty() && model.functions.size() == 1)) return f;
    known += (known.empty() ? "" : ", ") + f.name;
  }
  throw Misuse((name.empty() ? "which function? --function NAME; the model has: "
                             : "the model has no function '" + name + "'; it has: ") +
               known);
}

int info(Arguments arguments) {
  const std::vector<std::string> words = arguments.rest();
  if (words.size() != 1) throw Misuse("info: one model file is needed");
  const ModelFile model = open_model(words[0]);
  std::printf("%s: %s\n\nfunctions: %zu\n", words[0].c_str(), size_text(std::filesystem::file_size(words[0])).c_str(),
              model.functions.size());
  for (const SavedFunction& f : model.functions) {
    const Executable& e = *f.executable;
    size_t code = 0, constants = 0;
    for (const std::string& object : e.code) code += object.size();
    for (const auto& constant : e.constants) constants += constant->bytes();
    std::printf("  %s\n    for %s, %zu steps, %s of code, %s of constants\n", signature(f).c_str(), e.target.c_str(),
                count_steps(e.steps), size_text(code).c_str(), size_text(constants).c_str());
  }
  print_tensors("variables", model.variables);
  print_tensors("captured tensors", model.constants);
  return 0;
}

namespace {

std::string printed(DType dtype, std::span<const int64_t> dims, const Buffer& data) {
  std::string text;
  const bool known = visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    Shape shape(dims);
    text =
        to_string(Tensor(std::span(reinterpret_cast<const T*>(data.data()), static_cast<size_t>(shape.size())), shape));
  });
  if (!known) throw Failure("cannot print " + std::string(name_of(dtype)) + "; use --output");
  return text;
}

}  // namespace

int run(Arguments arguments) {
  const std::string name = arguments.value("--function").value_or("");
  const std::vector<std::string> input_paths = arguments.values("--input"), output_paths = arguments.values("--output");
  const std::vector<std::string> words = arguments.rest();
  if (words.size() != 1) throw Misuse("run: one model file is needed");
  const ModelFile model = open_model(words[0]);
  const SavedFunction& function = find_function(model, name);
  const std::vector<size_t> wanted = arguments_of(function);
  if (input_paths.size() != wanted.size())
    throw Misuse("run: " + signature(function) + " needs " + std::to_string(wanted.size()) + " --input, got " +
                 std::to_string(input_paths.size()));

  std::vector<npy::Array> arrays;
  for (const std::string& path : input_paths) arrays.push_back(check(npy::read(path)));
  std::vector<TensorRef> inputs(function.inputs.size());
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    const InputBinding& binding = function.inputs[i];
    if (binding.source == InputSource::argument) {
      npy::Array& a = arrays[static_cast<size_t>(std::find(wanted.begin(), wanted.end(), i) - wanted.begin())];
      inputs[i] = {a.data.data(), a.dtype, a.dims.data(), static_cast<int>(a.dims.size())};
    } else {
      const auto& from = binding.source == InputSource::variable ? model.variables : model.constants;
      const SavedTensor& t = from[static_cast<size_t>(binding.index)];
      inputs[i] = {t.data->data(), t.dtype, t.dims.data(), static_cast<int>(t.dims.size())};
    }
  }

  Session session(check(Program::load(function.executable)));
  check(session.bind(inputs));
  const std::vector<ResultInfo> results(session.results().begin(), session.results().end());
  if (!output_paths.empty() && output_paths.size() != results.size())
    throw Misuse("run: " + signature(function) + " has " + std::to_string(results.size()) + " results, got " +
                 std::to_string(output_paths.size()) + " --output");
  std::vector<std::shared_ptr<Buffer>> buffers;
  std::vector<void*> addresses;
  for (const ResultInfo& r : results) {
    buffers.push_back(check(Buffer::allocate(r.bytes)));
    addresses.push_back(buffers.back()->data());
  }
  check(session.execute(addresses));
  for (size_t i = 0; i < results.size(); ++i) {
    const ResultInfo& r = results[i];
    if (output_paths.empty()) {
      std::printf("%s\n", printed(r.dtype, r.dims, *buffers[i]).c_str());
      continue;
    }
    check(npy::write(output_paths[i], r.dtype, {r.dims.begin(), r.dims.end()},
                     {reinterpret_cast<const char*>(buffers[i]->data()), r.bytes}));
  }
  return 0;
}

}  // namespace kiln::cli
