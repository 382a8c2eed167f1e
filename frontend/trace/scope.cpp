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

}  // namespace kiln::detail
