// kiln::Error: the one exception of the frontend.
#pragma once
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace kiln {

// Thrown by every public function of the frontend. what() names the op, what it got, what it needs, and where the
// user called it: `matmul: x f32[2,2] has 2 columns, y f32[64,128] has 64 rows (page.cc:80, in "train_step")`.
//   try { a.matmul(b); } catch (const Error& e) { if (e.code() != Code::invalid_argument) throw; }
class Error : public std::runtime_error {
 public:
  Error(Code code, const std::string& text) : std::runtime_error(text), code_(code) {}
  Code code() const { return code_; }

 private:
  Code code_;
};

// Throws an Error; adds the user's file:line and the function being traced, if any.
[[noreturn]] void throw_error(Code code, std::string_view text, std::source_location where);
[[noreturn]] void throw_error(const Status& status, std::source_location where);

// The one place where a Status of the layers below becomes an Error.
inline void check(const Status& status, std::source_location where) {
  if (!status.ok()) throw_error(status, where);
}
template <class T>
T check(Result<T> result, std::source_location where) {
  if (!result.ok()) throw_error(result.status(), where);
  return std::move(result).value();
}

}  // namespace kiln
