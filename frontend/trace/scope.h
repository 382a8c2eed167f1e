// Which public op the user called: ops made inside of a composite op or of a gradient rule count as that op's, and keep
// the user's line.
#pragma once
#include <source_location>
#include <string>

#include "compiler/api/graph.h"

namespace kiln::detail {

class UserScope {
 public:
  enum class Nesting : uint8_t { outermost, innermost };  // whose name and line count
  UserScope(const char* op, std::source_location where)
      : UserScope(op, SourceLocation{where.file_name(), static_cast<int32_t>(where.line())}) {}
  UserScope(const char* op, SourceLocation where, Nesting nesting = Nesting::outermost);
  ~UserScope();
  UserScope(const UserScope&) = delete;

  static const UserScope* current();
  const char* op() const { return op_; }
  SourceLocation where() const { return where_; }

 private:
  const char* op_;
  SourceLocation where_;
  const UserScope* previous_;
};

// The user's line of an op called at `where`.
inline SourceLocation user_line(std::source_location where) {
  const UserScope* scope = UserScope::current();
  return scope ? scope->where() : SourceLocation{where.file_name(), static_cast<int32_t>(where.line())};
}

// "model.cpp:41"
std::string place(SourceLocation location);

}  // namespace kiln::detail
