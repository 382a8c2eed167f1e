#include "frontend/include/kiln/error.h"

#include "frontend/trace/scope.h"
#include "frontend/trace/trace.h"

namespace kiln {

void throw_error(Code code, std::string_view text, std::source_location where) {
  const SourceLocation line = detail::user_line(where);
  const TraceContext* trace = TraceContext::current();
  std::string full(text);
  // Where a conversion or a bracket failed the user's line is not known.
  std::string origin = line.line > 0 ? detail::place(line) : std::string();
  if (trace) origin += (origin.empty() ? "in \"" : ", in \"") + trace->name() + "\"";
  // A compiled step's error names the op's line already; the caller's is added where it is another one.
  origin = origin.empty() ? origin : " (" + origin + ")";
  if (!full.ends_with(origin)) full += origin;
  throw Error(code, full);
}

void throw_error(const Status& status, std::source_location where) {
  throw_error(status.code(), status.message(), where);
}

}  // namespace kiln
