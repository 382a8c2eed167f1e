// Program: an Executable made ready to run. Everything that does not depend on the dims of a call is done here, once.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/exec/code_loader.h"
#include "runtime/exec/executable.h"
#include "runtime/exec/kernel.h"

namespace kiln {

// The steps as one flat list: an if_ or while_ is followed by its first steps, then its second ones.
struct ProgramStep {
  StepKind kind;
  KernelFunction kernel = nullptr;         // kernel
  const LibraryKernel* library = nullptr;  // library
  const Step* source = nullptr;
  int32_t pointers = 0;                   // first of its buffers in the session's table of addresses
  int32_t params = 0;                     // first of its params in the plan's table
  int32_t first_end = 0, second_end = 0;  // if_, while_: where its two lists end
  int32_t position = 0;                   // point in time, for lifetimes
};

// When the memory of a buffer is in use: positions of its first and last use (none: last < first).
struct LiveRange {
  int32_t first = 0, last = -1;
};

// Immutable and shared by all sessions. Keeps the Executable and its code alive.
class Program {
 public:
  // Checks that all of the Executable's numbers fit together (it may come from a file), loads its code and finds its
  // kernels. data_loss: it does not hold together. unavailable: made for another CPU, or a library kernel is missing.
  //   auto program = Program::load(executable); Session session(program.value());
  static Result<std::shared_ptr<const Program>> load(std::shared_ptr<const Executable> executable);

  const Executable& executable() const { return *executable_; }
  const std::vector<ProgramStep>& steps() const { return steps_; }
  const std::vector<int32_t>& pointer_buffers() const {
    return pointer_buffers_;
  }  // buffer of each slot, -1: workspace
  const std::vector<int32_t>& roots() const { return roots_; }            // of each buffer; itself if no view
  const std::vector<LiveRange>& lifetimes() const { return lifetimes_; }  // of each buffer; temps only
  const std::vector<int32_t>& results() const { return results_; }        // outputs that update no variable
  int param_count() const { return param_count_; }

 private:
  Program() = default;
  std::shared_ptr<const Executable> executable_;
  std::vector<std::shared_ptr<const CodeObject>> code_;
  std::vector<ProgramStep> steps_;
  std::vector<int32_t> pointer_buffers_, roots_, results_;
  std::vector<LiveRange> lifetimes_;
  int param_count_ = 0;
  friend class ProgramLoader;
};

// The target that code for this machine is compiled for: "x86-64-v4" or "x86-64-v3" (runtime/base/cpu.h).
const char* host_target();

}  // namespace kiln
