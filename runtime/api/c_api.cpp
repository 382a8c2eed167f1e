// The C interface of kiln/runtime.h over ModelFile, Program and Session.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "runtime/artifact/reader.h"
#include "runtime/base/no_throw.h"
#include "runtime/base/thread_pool.h"
#include "runtime/exec/session.h"
#include "runtime/include/kiln/runtime.h"

// A loaded model: immutable but for the variables' memory, which `mutex` guards if any function updates them.
struct kiln_model {
  struct Function {
    std::shared_ptr<const kiln::Program> program;
    std::vector<int32_t> arguments;  // the program's input of each argument
    bool uses_variables = false, updates = false;
  };
  std::atomic<int64_t> references{1};
  kiln::ModelFile file;
  std::vector<Function> functions;
  bool any_updates = false;
  std::shared_mutex mutex;
};

struct kiln_session {
  struct Function {
    explicit Function(std::shared_ptr<const kiln::Program> program) : session(std::move(program)) {}
    kiln::Session session;
    std::vector<kiln::TensorRef> inputs, results;  // variables and constants stay bound
  };
  kiln_model* model;
  std::vector<Function> functions;
  std::atomic_flag running;
};

namespace {

using namespace kiln;

#define KILN_CHECK_DTYPE(name, type, size, kind) \
  static_assert(static_cast<int>(rt::name) == static_cast<int>(DType::name));
KILN_FOR_EACH_DTYPE(KILN_CHECK_DTYPE)
static_assert(dtype_count == KILN_C128 + 1 && max_rank == KILN_MAX_RANK);

int32_t report(const Status& from, kiln_status* to) {
  if (to) {
    to->code = static_cast<int32_t>(from.code());
    const size_t n = std::min(from.message().size(), sizeof(to->message) - 1);
    if (n) std::memcpy(to->message, from.message().data(), n);
    to->message[n] = 0;
  }
  return static_cast<int32_t>(from.code());
}

Status invalid(const std::string& what) { return Status(Code::invalid_argument, what); }

TensorRef tensor_of(SavedTensor& t) {
  return {t.data->data(), t.dtype, t.dims.data(), static_cast<int>(t.dims.size())};
}

// A view that names no dtype or too many dims becomes a tensor that matches nothing; the Session then says what it got.
TensorRef tensor_of(const kiln_view& v) {
  const bool good = v.dtype >= 0 && v.dtype < dtype_count && v.rank >= 0 && v.rank <= KILN_MAX_RANK;
  return {v.data, static_cast<DType>(good ? v.dtype : dtype_count), v.dims, good ? v.rank : -1};
}

Status load(const char* path, const kiln_load_options* options, kiln_model** out) {
  if (!path || !out) return invalid("kiln_model_load needs a path and where to put the model");
  if (options && options->device && std::string_view(options->device) != "cpu")
    return Status(Code::unavailable, "there is no device '" + std::string(options->device) + "'; this build has 'cpu'");
  if (options && options->threads < 0) return invalid("threads is " + std::to_string(options->threads));
  auto model = std::make_unique<kiln_model>();
  KILN_ASSIGN_OR_RETURN(model->file, load_model(path));
  for (const SavedFunction& f : model->file.functions) {
    Result<std::shared_ptr<const Program>> program = Program::load(f.executable);
    if (!program.ok())
      return Status(program.status().code(), "'" + std::string(path) + "': " + std::string(program.status().message()));
    kiln_model::Function function{std::move(*program), {}};
    for (size_t i = 0; i < f.inputs.size(); ++i) {
      const InputBinding& b = f.inputs[i];
      function.uses_variables |= b.source == InputSource::variable;
      if (b.source != InputSource::argument) continue;
      if (static_cast<size_t>(b.index) >= function.arguments.size()) function.arguments.resize(b.index + 1);
      function.arguments[b.index] = static_cast<int32_t>(i);
    }
    for (const OutputInfo& o : f.executable->outputs) function.updates |= o.updates >= 0;
    model->any_updates |= function.updates;
    model->functions.push_back(std::move(function));
  }
  if (options && options->threads > 0) set_thread_count(options->threads);
  *out = model.release();
  return Status();
}

Status create(kiln_model* model, kiln_session** out) {
  if (!model || !out) return invalid("kiln_session_create needs a model and where to put the session");
  auto session = std::make_unique<kiln_session>();
  session->model = model;
  session->functions.reserve(model->functions.size());
  for (size_t i = 0; i < model->functions.size(); ++i) {
    kiln_session::Function& f = session->functions.emplace_back(model->functions[i].program);
    for (const InputBinding& b : model->file.functions[i].inputs)
      f.inputs.push_back(b.source == InputSource::variable   ? tensor_of(model->file.variables[b.index])
                         : b.source == InputSource::constant ? tensor_of(model->file.constants[b.index])
                                                             : TensorRef{});
    f.results.resize(model->functions[i].program->results().size());
  }
  kiln_model_retain(model);
  *out = session.release();
  return Status();
}

const kiln_model::Function* function_of(const kiln_model* model, int32_t function) {
  return model && function >= 0 && function < static_cast<int32_t>(model->functions.size())
             ? &model->functions[function]
             : nullptr;
}

void describe(const std::string* name, DType dtype, const Shape& shape, kiln_tensor_info* info) {
  *info = {};
  info->name = name ? name->c_str() : "";
  info->dtype = static_cast<int32_t>(dtype);
  info->rank = shape.rank();
  for (int i = 0; i < shape.rank(); ++i) info->dims[i] = shape[i].known() ? shape[i].size() : -1;
}

// Marks the session as running for a block.
class Running {
 public:
  explicit Running(kiln_session& s) : session_(s), mine_(!s.running.test_and_set(std::memory_order_acquire)) {}
  ~Running() {
    if (mine_) session_.running.clear(std::memory_order_release);
  }
  bool mine() const { return mine_; }

 private:
  kiln_session& session_;
  bool mine_;
};

Status bind_arguments(kiln_session& s, int32_t function, const kiln_view* arguments, int32_t argument_count) {
  const kiln_model::Function& f = s.model->functions[function];
  if (argument_count != static_cast<int32_t>(f.arguments.size()) || (argument_count > 0 && !arguments))
    return invalid(s.model->file.functions[function].name + ": got " + std::to_string(argument_count) +
                   " arguments, needs " + std::to_string(f.arguments.size()));
  for (int32_t i = 0; i < argument_count; ++i) s.functions[function].inputs[f.arguments[i]] = tensor_of(arguments[i]);
  return Status();
}

// Both calls: check, bind, then `finish` with the session's function.
template <class F>
Status with_arguments(kiln_session* s, int32_t function, const kiln_view* arguments, int32_t argument_count,
                      int32_t result_count, F&& finish) {
  if (!s || !function_of(s->model, function)) return invalid("there is no such session or function");
  const Running running(*s);
  if (!running.mine()) return Status(Code::failed_precondition, "the session is in use by another thread");
  KILN_RETURN_IF_ERROR(bind_arguments(*s, function, arguments, argument_count));
  kiln_session::Function& f = s->functions[function];
  if (result_count != static_cast<int32_t>(f.results.size()))
    return invalid(s->model->file.functions[function].name + ": got " + std::to_string(result_count) +
                   " results, needs " + std::to_string(f.results.size()));
  return finish(f);
}

}  // namespace

const char* kiln_dtype_name(int32_t dtype) {
  return dtype >= 0 && dtype < dtype_count ? name_of(static_cast<DType>(dtype)).data() : nullptr;
}

size_t kiln_dtype_size(int32_t dtype) {
  return dtype >= 0 && dtype < dtype_count ? size_of(static_cast<DType>(dtype)) : 0;
}

int32_t kiln_model_load(const char* path, const kiln_load_options* options, kiln_model** model, kiln_status* status) {
  return report(no_throw([&] { return load(path, options, model); }), status);
}

void kiln_model_retain(kiln_model* model) {
  if (model) model->references.fetch_add(1, std::memory_order_relaxed);
}

void kiln_model_release(kiln_model* model) {
  if (model && model->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete model;
}

int32_t kiln_model_function_count(const kiln_model* model) {
  return model ? static_cast<int32_t>(model->functions.size()) : 0;
}

const char* kiln_model_function_name(const kiln_model* model, int32_t function) {
  return function_of(model, function) ? model->file.functions[function].name.c_str() : nullptr;
}

int32_t kiln_model_find_function(const kiln_model* model, const char* name, size_t length) {
  if (!model || !name) return -1;
  for (size_t i = 0; i < model->functions.size(); ++i)
    if (model->file.functions[i].name == std::string_view(name, length)) return static_cast<int32_t>(i);
  return -1;
}

int32_t kiln_model_argument_count(const kiln_model* model, int32_t function) {
  const auto* f = function_of(model, function);
  return f ? static_cast<int32_t>(f->arguments.size()) : 0;
}

int32_t kiln_model_result_count(const kiln_model* model, int32_t function) {
  const auto* f = function_of(model, function);
  return f ? static_cast<int32_t>(f->program->results().size()) : 0;
}

int32_t kiln_model_argument(const kiln_model* model, int32_t function, int32_t index, kiln_tensor_info* info) {
  if (!info || index < 0 || index >= kiln_model_argument_count(model, function)) return KILN_INVALID_ARGUMENT;
  const auto& f = model->functions[function];
  const InputInfo& input = f.program->executable().inputs[f.arguments[index]];
  describe(&input.name, input.dtype, input.shape, info);
  return KILN_OK;
}

int32_t kiln_model_result(const kiln_model* model, int32_t function, int32_t index, kiln_tensor_info* info) {
  if (!info || index < 0 || index >= kiln_model_result_count(model, function)) return KILN_INVALID_ARGUMENT;
  const Program& program = *model->functions[function].program;
  const OutputInfo& output = program.executable().outputs[program.results()[index]];
  describe(nullptr, output.dtype, output.shape, info);
  return KILN_OK;
}

int32_t kiln_session_create(kiln_model* model, kiln_session** session, kiln_status* status) {
  return report(no_throw([&] { return create(model, session); }), status);
}

void kiln_session_release(kiln_session* session) {
  if (!session) return;
  kiln_model* model = session->model;
  delete session;
  kiln_model_release(model);
}

int32_t kiln_session_infer(kiln_session* session, int32_t function, const kiln_view* arguments, int32_t argument_count,
                           kiln_view* results, int32_t result_count, kiln_status* status) {
  const auto infer = [&](kiln_session::Function& f) -> Status {
    if (result_count > 0 && !results) return invalid("kiln_session_infer needs where to put the results");
    KILN_RETURN_IF_ERROR(f.session.plan(f.inputs));
    for (int32_t i = 0; i < result_count; ++i) {
      const ResultInfo& r = f.session.results()[i];
      results[i].dtype = static_cast<int32_t>(r.dtype);
      results[i].rank = static_cast<int32_t>(r.dims.size());
      std::copy(r.dims.begin(), r.dims.end(), results[i].dims);
    }
    return Status();
  };
  return report(
      no_throw([&] { return with_arguments(session, function, arguments, argument_count, result_count, infer); }),
      status);
}

int32_t kiln_session_run(kiln_session* session, int32_t function, const kiln_view* arguments, int32_t argument_count,
                         const kiln_view* results, int32_t result_count, kiln_status* status) {
  const auto run = [&](kiln_session::Function& f) -> Status {
    if (result_count > 0 && !results) return invalid("kiln_session_run needs the results' memory");
    for (int32_t i = 0; i < result_count; ++i) f.results[i] = tensor_of(results[i]);
    const kiln_model::Function& m = session->model->functions[function];
    if (!session->model->any_updates || !m.uses_variables) return f.session.run(f.inputs, f.results);
    if (m.updates) {
      std::unique_lock lock(session->model->mutex);
      return f.session.run(f.inputs, f.results);
    }
    std::shared_lock lock(session->model->mutex);
    return f.session.run(f.inputs, f.results);
  };
  return report(
      no_throw([&] { return with_arguments(session, function, arguments, argument_count, result_count, run); }),
      status);
}
