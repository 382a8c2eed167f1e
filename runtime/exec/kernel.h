// The one calling convention of all kernels, generated or written in C++: what a Step of an Executable calls.
#pragma once
#include <cstdint>

#include "runtime/base/dtype.h"

namespace kiln {

// Where a kernel leaves the text of an error before it returns a non-zero Code.
struct CallContext {
  char message[480];
};

// Runs the part [begin, end) of a kernel's parallel extent. `buffers`: the step's buffers in order (inputs, outputs,
// workspace). `params`: the step's integers (dims, strides, flags). Returns 0 or a kiln::Code.
using KernelFunction = int32_t (*)(void* const* buffers, const int64_t* params, int64_t begin, int64_t end,
                                   CallContext* context);

// A kernel written in C++ ("library call"): one or more phases run one after the other, each spread over the threads.
struct LibraryPhase {
  KernelFunction run;
  int64_t (*extent)(const int64_t* params);     // number of independent work items
  int64_t (*item_cost)(const int64_t* params);  // rough cost of one item in ns, for the choice of chunk size
};
struct LibraryKernel {
  const char* name;  // "matmul.f32"
  const LibraryPhase* phases;
  int phase_count;
  int64_t (*workspace_bytes)(const int64_t* params);  // last buffer of the call; null or 0: none
};

// The table of library kernels (kernels/cpu) for this machine's CPU; null if there is no such name.
const LibraryKernel* find_library_kernel(const char* name);

// The table of prebuilt generated kernels ("add.f32.vs"), made at build time by Kiln's compiler; null if unknown.
KernelFunction find_prebuilt_kernel(const char* name);

}  // namespace kiln
