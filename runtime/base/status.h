// Status and Result<T>: how everything below the frontend reports failure. Nothing here throws; the library never
// prints and never aborts. The frontend turns a Status into kiln::Error in one place.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace kiln {

// Canonical codes, with when to use each.
enum class Code : int {
  ok = 0,
  invalid_argument = 3,     // the caller's values are wrong whatever the state: shapes, dtypes, options
  not_found = 5,            // a named thing (file, function, variable) does not exist
  resource_exhausted = 8,   // memory or disk
  failed_precondition = 9,  // right call, wrong time: a symbolic tensor's value, a tape used twice
  out_of_range = 11,        // an index or label outside its bounds
  unimplemented = 12,       // valid, but not supported by this build
  internal = 13,            // a bug in Kiln
  unavailable = 14,         // a needed library or device is missing
  data_loss = 15,           // a damaged or truncated file
};

constexpr std::string_view code_name(Code c) {
  switch (c) {
    case Code::ok:
      return "ok";
    case Code::invalid_argument:
      return "invalid_argument";
    case Code::not_found:
      return "not_found";
    case Code::resource_exhausted:
      return "resource_exhausted";
    case Code::failed_precondition:
      return "failed_precondition";
    case Code::out_of_range:
      return "out_of_range";
    case Code::unimplemented:
      return "unimplemented";
    case Code::internal:
      return "internal";
    case Code::unavailable:
      return "unavailable";
    case Code::data_loss:
      return "data_loss";
  }
  return "unknown";
}

class [[nodiscard]] Status {
 public:
  Status() = default;  // ok
  Status(Code code, std::string message) : rep_(std::make_unique<Rep>(Rep{code, std::move(message)})) {}
  Status(const Status& o) : rep_(o.rep_ ? std::make_unique<Rep>(*o.rep_) : nullptr) {}
  Status(Status&&) noexcept = default;
  Status& operator=(Status o) noexcept {
    rep_ = std::move(o.rep_);
    return *this;
  }
  bool ok() const { return !rep_; }
  Code code() const { return rep_ ? rep_->code : Code::ok; }
  std::string_view message() const { return rep_ ? std::string_view(rep_->message) : std::string_view(); }

 private:
  struct Rep {
    Code code;
    std::string message;
  };
  std::unique_ptr<Rep> rep_;
};

// A value or the reason why there is none. Ask ok() before value().
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}
  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }

 private:
  std::optional<T> value_;
  Status status_;
};

// KILN_RETURN_IF_ERROR(expr): leaves the function with the status if it is not ok.
#define KILN_RETURN_IF_ERROR(expr)                                                  \
  do {                                                                              \
    if (::kiln::Status kiln_status = (expr); !kiln_status.ok()) return kiln_status; \
  } while (0)

// KILN_ASSIGN_OR_RETURN(auto x, expr): x = value of the Result, or leaves with its status.
#define KILN_CONCAT_INNER(a, b) a##b
#define KILN_CONCAT(a, b) KILN_CONCAT_INNER(a, b)
#define KILN_ASSIGN_OR_RETURN(lhs, expr) KILN_ASSIGN_OR_RETURN_IMPL(KILN_CONCAT(kiln_result_, __LINE__), lhs, expr)
#define KILN_ASSIGN_OR_RETURN_IMPL(tmp, lhs, expr) \
  auto tmp = (expr);                               \
  if (!tmp.ok()) return tmp.status();              \
  lhs = std::move(tmp).value()

}  // namespace kiln
