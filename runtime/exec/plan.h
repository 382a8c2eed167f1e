// Plan: all that a Program needs to know for one set of input dims. Made at the first call with those dims, then
// reused.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/exec/program.h"

namespace kiln {

// A tensor of the caller: dense, row-major memory. `data` may be null if it has no elements.
struct TensorRef {
  void* data = nullptr;
  DType dtype = DType::f32;
  const int64_t* dims = nullptr;
  int rank = 0;
};

// What a result will be for the bound inputs.
struct ResultInfo {
  DType dtype = DType::f32;
  std::span<const int64_t> dims;
  size_t bytes = 0;
};

struct Plan {
  static constexpr size_t no_arena = SIZE_MAX;

  std::vector<int64_t> input_dims;   // of all inputs, one after the other: the key of the plan
  std::vector<int64_t> result_dims;  // what `results` points into
  std::vector<ResultInfo> results;
  std::vector<int64_t> params;        // of all steps
  std::vector<int64_t> extents;       // of each step: kernel: work items; copy: bytes
  std::vector<size_t> arena_offsets;  // of each slot of the pointer table, no_arena if its memory is elsewhere
  size_t arena_bytes = 0;
  // The pointer table itself, for the arena at arena_base. Slots of inputs and results are set at each call.
  std::vector<void*> pointers;
  const void* arena_base = nullptr;
};

// "f32[2,3]"
std::string describe(DType dtype, std::span<const int64_t> dims);

// Checks the inputs against the program and works out all sizes. Errors name the input, what it is and what is needed.
Result<std::unique_ptr<Plan>> make_plan(const Program& program, std::span<const TensorRef> inputs);

}  // namespace kiln
