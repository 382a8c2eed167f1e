#include "runtime/exec/launch.h"

#include <cstring>
#include <limits>
#include <mutex>

#include "runtime/base/thread_pool.h"

namespace kiln {
namespace {

[[gnu::noinline]] Status failure(int32_t code, CallContext& context) {
  context.message[sizeof(context.message) - 1] = 0;
  const Code known = code_name(static_cast<Code>(code)) == "unknown" ? Code::internal : static_cast<Code>(code);
  if (context.message[0]) return Status(known, context.message);
  return Status(known, "the kernel failed with code " + std::to_string(code));
}

// Loaded code carries no type marks for -fsanitize=function to read.
#if defined(__clang__)
[[clang::no_sanitize("function")]]
#endif
inline int32_t call(KernelFunction kernel, void* const* buffers, const int64_t* params, int64_t begin, int64_t end,
                    CallContext& context) {
  context.message[0] = 0;
  return kernel(buffers, params, begin, end, &context);
}

// The failure with the lowest begin of all parts.
struct FirstFailure {
  std::mutex mutex;
  int64_t begin = std::numeric_limits<int64_t>::max();
  int32_t code = 0;
  CallContext context;

  void offer(int64_t at, int32_t new_code, const CallContext& from) {
    std::lock_guard lock(mutex);
    if (at >= begin) return;
    begin = at;
    code = new_code;
    context = from;
  }
};

Status run_parallel(KernelFunction kernel, void* const* buffers, const int64_t* params, int64_t extent,
                    double item_cost) {
  FirstFailure first;
  parallel_for(extent, item_cost, [&](int64_t begin, int64_t end) {
    CallContext context;
    if (const int32_t code = call(kernel, buffers, params, begin, end, context)) first.offer(begin, code, context);
  });
  return first.code ? failure(first.code, first.context) : Status();
}

}  // namespace

namespace detail {

Status run_kernel(KernelFunction kernel, void* const* buffers, const int64_t* params, int64_t extent,
                  double item_cost) {
  if (extent <= 0) return Status();
  constexpr double small = 2000;  // surely below the pool's own limit: skips even asking it
  if (static_cast<double>(extent) * item_cost > small) return run_parallel(kernel, buffers, params, extent, item_cost);
  CallContext context;
  if (const int32_t code = call(kernel, buffers, params, 0, extent, context)) return failure(code, context);
  return Status();
}

Status run_library_kernel(const LibraryKernel& kernel, void* const* buffers, const int64_t* params) {
  for (int i = 0; i < kernel.phase_count; ++i) {
    const LibraryPhase& phase = kernel.phases[i];
    KILN_RETURN_IF_ERROR(detail::run_kernel(phase.run, buffers, params, phase.extent(params), phase.item_cost(params)));
  }
  return Status();
}

}  // namespace detail

size_t workspace_bytes(const LibraryKernel& kernel, const int64_t* params) {
  return kernel.workspace_bytes ? static_cast<size_t>(std::max<int64_t>(kernel.workspace_bytes(params), 0)) : 0;
}

std::string located_message(std::string_view op, std::string_view message, std::string_view file, int line) {
  std::string text;
  if (!op.empty()) text.append(op).append(": ");
  text.append(message);
  file.remove_prefix(file.rfind('/') + 1);
  if (!file.empty()) text.append(" (").append(file).append(":").append(std::to_string(line)).append(")");
  return text;
}

}  // namespace kiln
