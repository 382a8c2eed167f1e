// Runs a Program on Tensors and Variables. Internal.
#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "frontend/function/flatten.h"
#include "frontend/trace/trace.h"
#include "runtime/exec/session.h"

namespace kiln::detail {

class Runner {
 public:
  // `sources`: where each of the executable's inputs comes from.
  Runner(std::shared_ptr<const Program> program, std::vector<TraceInput> sources);
  ~Runner();
  Runner(const Runner&) = delete;

  // Safe from any thread. Variables that the program updates are locked meanwhile, and written in place.
  Status run(std::span<const Tensor* const> tensors, std::span<const Variable* const> variables,
             InlineVector<Tensor, 4>& results) const;
  const Program& program() const { return *program_; }

 private:
  std::unique_ptr<Session> take() const;
  void give(std::unique_ptr<Session> session) const;

  std::shared_ptr<const Program> program_;
  std::vector<TraceInput> sources_;
  std::vector<bool> updated_;  // by input: a Variable that the program writes
  int updates_ = 0;
  // Idle sessions. A call takes one and puts it back; calls that overlap make more.
  mutable std::array<std::atomic<Session*>, 4> idle_{};
};

}  // namespace kiln::detail
