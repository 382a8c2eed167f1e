// Runs one kernel on the thread pool: what a Session does for each step and the frontend for each eager op.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/base/fp_environment.h"
#include "runtime/base/status.h"
#include "runtime/exec/kernel.h"

namespace kiln {

namespace detail {
// As below, for callers that have set the default floating-point mode themselves.
Status run_kernel(KernelFunction kernel, void* const* buffers, const int64_t* params, int64_t extent, double item_cost);
Status run_library_kernel(const LibraryKernel& kernel, void* const* buffers, const int64_t* params);
}  // namespace detail

// Runs all of [0, extent). A failure of any part fails the call, with the text of the first part that failed (the
// lowest begin), whatever the number of threads. `item_cost`: rough cost of one work item in ns.
//   Status s = run_kernel(find_prebuilt_kernel("add.f32.vv"), buffers, nullptr, n, 1);
inline Status run_kernel(KernelFunction kernel, void* const* buffers, const int64_t* params, int64_t extent,
                         double item_cost) {
  const FpEnvironment environment;
  return detail::run_kernel(kernel, buffers, params, extent, item_cost);
}

// Bytes of workspace that the kernel wants as its last buffer; 0: none.
size_t workspace_bytes(const LibraryKernel& kernel, const int64_t* params);

// Runs all phases. `buffers` ends with the workspace where workspace_bytes() is not 0.
inline Status run_library_kernel(const LibraryKernel& kernel, void* const* buffers, const int64_t* params) {
  const FpEnvironment environment;
  return detail::run_library_kernel(kernel, buffers, params);
}

// "gather: index 7 is out of range for a dim of size 3 (model.cc:41)": how an error names its op and the user's line.
std::string located_message(std::string_view op, std::string_view message, std::string_view file, int line);

}  // namespace kiln
