// The state that the copies of a Variable share. Internal.
#pragma once
#include <memory>
#include <mutex>
#include <string>

#include "frontend/variable/variable.h"

namespace kiln::detail {

struct VariableState : std::enable_shared_from_this<VariableState> {
  std::string name;
  bool trainable = true;
  uint64_t id = 0;
  DType dtype = DType::f32;
  Shape shape;
  std::mutex mutex;  // guards `value`
  Tensor value;      // concrete
  // In a trace an argument Variable is a stand-in; the Variable of the call that is being traced.
  std::shared_ptr<VariableState> stands_for;

  // One state per Variable: stand-ins count as what they stand for.
  VariableState* canonical() { return stands_for ? stands_for.get() : this; }
  Tensor load() {
    std::lock_guard lock(mutex);
    return value;
  }
  void store(Tensor v) {
    std::lock_guard lock(mutex);
    value = std::move(v);
  }
};

// A Variable's state from a concrete value; unlike the constructor of Variable, also in a trace: for layers and
// optimizers, which keep what they make and so make it once.
std::shared_ptr<VariableState> make_state(const Tensor& value, const VariableOptions& options);

}  // namespace kiln::detail
