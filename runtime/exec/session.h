// Session: runs a Program. It owns the arena and the plans; a session belongs to one thread, a Program to all.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/exec/plan.h"
#include "runtime/exec/program.h"
#include "runtime/memory/buffer.h"

namespace kiln {

class Session {
 public:
  explicit Session(std::shared_ptr<const Program> program);

  // Checks the inputs (all of Executable::inputs, in order, variables too) and works out all sizes for their dims. The
  // memory must stay in place until execute(). Errors: invalid_argument, with the input, what it is and what is needed.
  Status bind(std::span<const TensorRef> inputs);

  // Only the sizes: the inputs' data may be null. For results() without a call to come.
  Status plan(std::span<const TensorRef> inputs);

  // After bind() or plan(): dtype, dims and bytes of each result, so that the caller can allocate them. Outputs that
  // update a variable are not among them: they are written into the variable's input memory. Valid until the next
  // bind().
  std::span<const ResultInfo> results() const { return plan_->results; }

  // After bind(): runs it; results[i] is where result i goes. Results must not overlap inputs or each other.
  //   session.bind(inputs); ... allocate session.results()[i].bytes ...; session.execute(addresses);
  Status execute(std::span<void* const> results);

  // Both in one, with the checks that memory given by a stranger needs: types, dims, alignment, overlap.
  Status run(std::span<const TensorRef> inputs, std::span<const TensorRef> results);

  const Program& program() const { return *program_; }

 private:
  struct Target {  // where the address of an input or result goes in the pointer table
    int32_t external;
    int32_t slot;
  };

  bool matches(const Plan& plan, std::span<const TensorRef> inputs) const;
  Status find_plan(std::span<const TensorRef> inputs);
  Status check_data(std::span<const TensorRef> inputs) const;
  Status prepare_arena();
  Status run_steps(int32_t begin, int32_t end);
  Status run_step(int32_t index);
  [[gnu::noinline]] Status located(Status status, const Step& step) const;

  std::shared_ptr<const Program> program_;
  std::vector<Target> inputs_, results_;
  std::vector<std::unique_ptr<Plan>> plans_;  // the latest used first
  Plan* plan_ = nullptr;                      // that of the last bind()
  bool bound_ = false;
  std::shared_ptr<Buffer> arena_;
};

}  // namespace kiln
