/* Runs saved models (.kiln files) without the compiler: link libkiln_runtime only.
 *
 * First the C interface, below it a thin C++ layer, kiln::rt. Nothing here throws, prints or aborts, and no C++ type
 * crosses the library's border. Each call that can fail returns a code (0: ok) and, if `status` is not null, a text.
 *
 * Threads: a model may be used by all threads at once; a session belongs to one thread. Variables saved in a model are
 * its state, shared by its sessions: calls of functions that update variables run one after the other. */
#ifndef KILN_RUNTIME_H
#define KILN_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#define KILN_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

enum { KILN_MAX_RANK = 8 };

/* Codes of failures. */
enum {
  KILN_OK = 0,
  KILN_INVALID_ARGUMENT = 3,    /* wrong shapes, dtypes, names of options */
  KILN_NOT_FOUND = 5,           /* no such file or function */
  KILN_RESOURCE_EXHAUSTED = 8,  /* no memory */
  KILN_FAILED_PRECONDITION = 9, /* right call, wrong time */
  KILN_OUT_OF_RANGE = 11,       /* an index outside its bounds */
  KILN_UNIMPLEMENTED = 12,      /* not supported by this build */
  KILN_INTERNAL = 13,           /* a bug in Kiln */
  KILN_UNAVAILABLE = 14,        /* a library or device is missing */
  KILN_DATA_LOSS = 15           /* a damaged file */
};

/* Element types. The numbers never change. */
enum {
  KILN_BOOL = 0,
  KILN_I8 = 1,
  KILN_I16 = 2,
  KILN_I32 = 3,
  KILN_I64 = 4,
  KILN_U8 = 5,
  KILN_U16 = 6,
  KILN_U32 = 7,
  KILN_U64 = 8,
  KILN_F16 = 9,
  KILN_BF16 = 10,
  KILN_F32 = 11,
  KILN_F64 = 12,
  KILN_C64 = 13,
  KILN_C128 = 14
};

typedef struct kiln_status {
  int32_t code;
  char message[508]; /* zero-terminated; set only if code is not 0 */
} kiln_status;

/* Memory of the caller as a tensor: dense, row-major, aligned to its element size. */
typedef struct kiln_view {
  int32_t dtype;
  int32_t rank;
  int64_t dims[KILN_MAX_RANK];
  void* data;
} kiln_view;

/* What a function takes or gives. A dim that is known only at the call is -1. */
typedef struct kiln_tensor_info {
  const char* name; /* "" for results; lives as long as the model */
  int32_t dtype;
  int32_t rank;
  int64_t dims[KILN_MAX_RANK];
} kiln_tensor_info;

typedef struct kiln_load_options {
  const char* device; /* "cpu"; null means the same */
  int32_t threads;    /* threads of the process' pool, the caller included; 0: leave it as it is */
} kiln_load_options;

typedef struct kiln_model kiln_model;
typedef struct kiln_session kiln_session;

/* "bool", "f32"; null for a number that is no dtype. */
KILN_API const char* kiln_dtype_name(int32_t dtype);
/* Bytes of one element; 0 for a number that is no dtype. */
KILN_API size_t kiln_dtype_size(int32_t dtype);

/* Loads a .kiln file. `options` may be null. not_found, data_loss (damaged), unimplemented (made by a newer Kiln),
 * unavailable (made for another CPU). The file may change or vanish afterwards. */
KILN_API int32_t kiln_model_load(const char* path, const kiln_load_options* options, kiln_model** model,
                                 kiln_status* status);
KILN_API void kiln_model_retain(kiln_model* model);
KILN_API void kiln_model_release(kiln_model* model);

KILN_API int32_t kiln_model_function_count(const kiln_model* model);
/* null if there is no function of this number. */
KILN_API const char* kiln_model_function_name(const kiln_model* model, int32_t function);
/* The number of the function called `name` (`length` bytes), -1 if there is none. */
KILN_API int32_t kiln_model_find_function(const kiln_model* model, const char* name, size_t length);
KILN_API int32_t kiln_model_argument_count(const kiln_model* model, int32_t function);
KILN_API int32_t kiln_model_result_count(const kiln_model* model, int32_t function);
/* Return 0, or KILN_INVALID_ARGUMENT if there is no such thing. */
KILN_API int32_t kiln_model_argument(const kiln_model* model, int32_t function, int32_t index, kiln_tensor_info* info);
KILN_API int32_t kiln_model_result(const kiln_model* model, int32_t function, int32_t index, kiln_tensor_info* info);

/* A session keeps the model alive. */
KILN_API int32_t kiln_session_create(kiln_model* model, kiln_session** session, kiln_status* status);
KILN_API void kiln_session_release(kiln_session* session);

/* Sets dtype, rank and dims of the results for these arguments, so that the caller can provide memory. */
KILN_API int32_t kiln_session_infer(kiln_session* session, int32_t function, const kiln_view* arguments,
                                    int32_t argument_count, kiln_view* results, int32_t result_count,
                                    kiln_status* status);
/* Runs a function. The results' dtypes and dims must be those that kiln_session_infer gives; their memory must not
 * overlap that of arguments or each other. After the first call with the same dims nothing is allocated. */
KILN_API int32_t kiln_session_run(kiln_session* session, int32_t function, const kiln_view* arguments,
                                  int32_t argument_count, const kiln_view* results, int32_t result_count,
                                  kiln_status* status);

#ifdef __cplusplus
} /* extern "C" */

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

// The C++ layer: all of it inline, over the C interface.
//   namespace rt = kiln::rt;
//   static rt::Result<rt::Model> model = rt::Model::load("model.kiln", {.threads = 4});
//   if (!model.ok()) return model.status();
//   thread_local rt::Result<rt::Session> session = model->session();
//   rt::View in{rt::f32, {1, 784}, pixels.data()}, out{rt::f32, {1, 10}, scores.data()};
//   rt::Status status = session->run("serve", {&in, 1}, {&out, 1});
namespace kiln::rt {

enum class Code : int32_t {
  ok = KILN_OK,
  invalid_argument = KILN_INVALID_ARGUMENT,
  not_found = KILN_NOT_FOUND,
  resource_exhausted = KILN_RESOURCE_EXHAUSTED,
  failed_precondition = KILN_FAILED_PRECONDITION,
  out_of_range = KILN_OUT_OF_RANGE,
  unimplemented = KILN_UNIMPLEMENTED,
  internal = KILN_INTERNAL,
  unavailable = KILN_UNAVAILABLE,
  data_loss = KILN_DATA_LOSS,
};

enum class DType : int32_t {};
inline constexpr DType bool_{KILN_BOOL}, i8{KILN_I8}, i16{KILN_I16}, i32{KILN_I32}, i64{KILN_I64}, u8{KILN_U8},
    u16{KILN_U16}, u32{KILN_U32}, u64{KILN_U64}, f16{KILN_F16}, bf16{KILN_BF16}, f32{KILN_F32}, f64{KILN_F64},
    c64{KILN_C64}, c128{KILN_C128};

class [[nodiscard]] Status {
 public:
  Status() = default;  // ok
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}
  explicit Status(const kiln_status& s) : code_(static_cast<Code>(s.code)) {
    if (s.code != KILN_OK) message_ = s.message;
  }
  bool ok() const { return code_ == Code::ok; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  Code code_ = Code::ok;
  std::string message_;
};

// A value or the reason why there is none. Ask ok() before you use the value.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}
  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

// Memory of the caller as a tensor. A view of more than KILN_MAX_RANK dims is refused by the call it is given to.
struct View : kiln_view {
  View() : kiln_view{} {}
  View(DType type, std::initializer_list<int64_t> sizes, const void* memory)
      : View(type, std::span<const int64_t>(sizes.begin(), sizes.size()), memory) {}
  View(DType type, std::span<const int64_t> sizes, const void* memory) : kiln_view{} {
    dtype = static_cast<int32_t>(type);
    rank = static_cast<int32_t>(sizes.size());
    for (size_t i = 0; i < sizes.size() && i < KILN_MAX_RANK; ++i) dims[i] = sizes[i];
    data = const_cast<void*>(memory);
  }
};
static_assert(sizeof(View) == sizeof(kiln_view));

struct LoadOptions {
  const char* device = "cpu";
  int threads = 0;  // of the process' pool, the caller included; 0: leave it as it is
};

// Belongs to one thread; keeps its model alive.
class Session {
 public:
  Session(Session&& o) noexcept : handle_(std::exchange(o.handle_, nullptr)), model_(o.model_) {}
  Session& operator=(Session&& o) noexcept {
    std::swap(handle_, o.handle_);
    std::swap(model_, o.model_);
    return *this;
  }
  ~Session() { kiln_session_release(handle_); }

  // Runs the function of this name on the caller's memory. No allocation after the first call with the same dims.
  Status run(std::string_view function, std::span<const View> arguments, std::span<const View> results) {
    kiln_status status;
    const int32_t number = kiln_model_find_function(model_, function.data(), function.size());
    if (kiln_session_run(handle_, number, arguments.data(), static_cast<int32_t>(arguments.size()), results.data(),
                         static_cast<int32_t>(results.size()), &status) == KILN_OK)
      return Status();
    return number < 0 ? no_function(function) : Status(status);
  }

  // Sets dtype, rank and dims of the results for these arguments.
  Status infer(std::string_view function, std::span<const View> arguments, std::span<View> results) {
    kiln_status status;
    const int32_t number = kiln_model_find_function(model_, function.data(), function.size());
    if (kiln_session_infer(handle_, number, arguments.data(), static_cast<int32_t>(arguments.size()), results.data(),
                           static_cast<int32_t>(results.size()), &status) == KILN_OK)
      return Status();
    return number < 0 ? no_function(function) : Status(status);
  }

 private:
  friend class Model;
  Session(kiln_session* handle, const kiln_model* model) : handle_(handle), model_(model) {}
  Status no_function(std::string_view name) const {
    std::string text = "the model has no function '" + std::string(name) + "'; it has";
    for (int32_t i = 0; i < kiln_model_function_count(model_); ++i)
      text += std::string(i ? ", '" : " '") + kiln_model_function_name(model_, i) + "'";
    return Status(Code::not_found, std::move(text));
  }
  kiln_session* handle_;
  const kiln_model* model_;
};

// A loaded model. Copies share it; any thread may use it.
class Model {
 public:
  static Result<Model> load(const char* path, const LoadOptions& options = {}) {
    const kiln_load_options c{options.device, options.threads};
    kiln_model* handle = nullptr;
    kiln_status status;
    if (kiln_model_load(path, &c, &handle, &status) != KILN_OK) return Status(status);
    return Model(handle);
  }
  Model(const Model& o) : handle_(o.handle_) { kiln_model_retain(handle_); }
  Model(Model&& o) noexcept : handle_(std::exchange(o.handle_, nullptr)) {}
  Model& operator=(Model o) noexcept {
    std::swap(handle_, o.handle_);
    return *this;
  }
  ~Model() { kiln_model_release(handle_); }

  // One for each thread.
  Result<Session> session() const {
    kiln_session* session = nullptr;
    kiln_status status;
    if (kiln_session_create(handle_, &session, &status) != KILN_OK) return Status(status);
    return Session(session, handle_);
  }
  const kiln_model* handle() const { return handle_; }

 private:
  explicit Model(kiln_model* handle) : handle_(handle) {}
  kiln_model* handle_;
};

}  // namespace kiln::rt
#endif /* __cplusplus */
#endif /* KILN_RUNTIME_H */
