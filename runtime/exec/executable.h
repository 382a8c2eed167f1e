// Executable: what the compiler makes and the runtime runs. A flat list of steps over numbered buffers. Serialised as
// a .kiln file (runtime/artifact); unknown dims are evaluated at each call from the shapes of the inputs.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/dtype.h"
#include "runtime/base/shape.h"
#include "runtime/memory/buffer.h"

namespace kiln {

enum class BufferKind : uint8_t {
  input,     // bound by the caller at each call; index = input number
  output,    // allocated by the caller or the session; index = result number
  constant,  // data lives in the executable; index into Executable::constants
  temp,      // lives in the arena between its first writer and its last reader
  view,      // the same memory as buffer `index` (reshape); never written by itself
};

struct BufferInfo {
  BufferKind kind;
  int32_t index = 0;
  DType dtype = DType::f32;
  Shape shape;
};

enum class StepKind : uint8_t { kernel, library, copy, if_, while_ };

struct Step {
  StepKind kind = StepKind::kernel;
  std::string callee;  // kernel: symbol in Executable::code; library: name of a library kernel
  std::vector<int32_t>
      buffers;               // kernel, library: inputs then outputs; copy: from, to; if_, while_: the bool[] predicate
  int32_t output_count = 0;  // how many of `buffers`, at the end, are written
  std::vector<Dim> params;   // integers given to the kernel, evaluated at each call
  Dim extent = 1;            // kernel: number of work items that may run in parallel
  int64_t item_cost = 1000;  // kernel: rough cost of one work item in ps
  int32_t location = -1;     // index into Executable::locations
  // if_: then, else. while_: steps that compute the predicate, then the body. Copies to result or carried buffers are
  // steps too.
  std::vector<Step> first, second;
};

struct Location {
  std::string file;
  int32_t line = 0;
  std::string op;  // the user's op: "matmul"
};

struct InputInfo {
  std::string name;  // "x"; a variable's name for variables
  bool is_variable = false;
  DType dtype;
  Shape shape;
};

struct OutputInfo {
  DType dtype;
  Shape shape;
  int32_t updates = -1;  // >= 0: this result is the new value of that variable input, written in place of it
};

struct Executable {
  std::string name;    // "train_step"
  std::string target;  // CPU the code was made for: "x86-64-v3" or "x86-64-v4"
  DimTable dims;
  std::vector<InputInfo> inputs;  // arguments, captured tensors, variables
  std::vector<OutputInfo> outputs;
  std::vector<BufferInfo> buffers;
  std::vector<std::shared_ptr<Buffer>> constants;
  std::vector<Step> steps;
  std::vector<Location> locations;
  std::vector<std::string> code;  // relocatable ELF objects, each self-contained, symbols = Step::callee
  std::string ir;                 // the kiln dialect text, for `kiln ir model.kiln`
};

}  // namespace kiln
