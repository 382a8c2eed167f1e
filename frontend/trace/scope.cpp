#include "frontend/trace/scope.h"

namespace kiln::detail {
namespace {
thread_local const UserScope* current_scope = nullptr;
}

UserScope::UserScope(const char* op, SourceLocation where, Nesting nesting)
    : op_(op), where_(where), previous_(current_scope) {
  if (!previous_ || nesting == Nesting::innermost) current_scope = this;
}
UserScope::~UserScope() { current_scope = previous_; }
const UserScope* UserScope::current() { return current_scope; }

std::string place(SourceLocation location) {
  const std::string_view file = location.file ? location.file : "";
  const size_t slash = file.rfind('/');
  return std::string(slash == std::string_view::npos ? file : file.substr(slash + 1)) + ":" +
         std::to_string(location.line);
}

}  // namespace kiln::detail
