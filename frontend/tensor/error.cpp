#include "frontend/include/kiln/error.h"

#include "frontend/trace/scope.h"
#include "frontend/trace/trace.h"

namespace kiln {

void throw_error(Code code, std::string_view text, std::source_location where) {
  const SourceLocation line = detail::user_line(where);
  const std::string_view path = line.file;
  const size_t slash = path.rfind('/');
  std::string full(text);
  full += " (";
  full += slash == std::string_view::npos ? path : path.substr(slash + 1);
  full += ":" + std::to_string(line.line);
  if (const TraceContext* trace = TraceContext::current()) full += ", in \"" + trace->name() + "\"";
  full += ")";
  throw Error(code, full);
}

void throw_error(const Status& status, std::source_location where) { throw_error(status.code(), status.message(), where); }

}  // namespace kiln
