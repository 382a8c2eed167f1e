#include "frontend/ops/random.h"

#include "frontend/autodiff/tape_impl.h"
#include "frontend/data/integer_random.h"
#include "frontend/trace/trace.h"
#include "frontend/variable/state.h"

namespace kiln {
namespace {

Tensor state_of(int64_t seed) { return Tensor(std::vector<int64_t>{seed, 0}); }

// Made at the first use, which may be in a trace: so not through Variable's constructor.
const Variable& generator() {
  static const Variable made = [] {
    auto state = std::make_shared<detail::VariableState>();
    state->name = "random_state";
    state->trainable = false;
    state->dtype = DType::i64;
    state->shape = Shape{2};
    state->value = state_of(0);
    return Variable(std::move(state));
  }();
  return made;
}

}  // namespace

void set_seed(int64_t seed) {
  generator().assign(state_of(seed));
  detail::restart_seeds(static_cast<uint64_t>(seed));
}

Tensor random_state(std::optional<int64_t> seed, std::source_location where) {
  if (seed) return state_of(*seed);
  const detail::TapePause pause;
  const Variable& state = generator();
  if (!TraceContext::current()) {  // one step for all threads
    detail::VariableState& shared = *state.state();
    std::lock_guard lock(shared.mutex);
    Tensor present = shared.value;
    const int64_t* parts = present.data<int64_t>();
    shared.value = Tensor(std::vector<int64_t>{parts[0], parts[1] + 1});
    return present;
  }
  const Tensor present = state.read(where);
  state.assign(add(Operand(present, where), Operand(Tensor(std::vector<int64_t>{0, 1}), where)));
  return present;
}

namespace random {

Tensor normal(const Shape& shape, const NormalOptions& options, std::source_location where) {
  return stateless_random_normal(Operand(random_state(options.seed, where), where), shape,
                                 {options.mean, options.stddev, options.dtype});
}
Tensor uniform(const Shape& shape, const UniformOptions& options, std::source_location where) {
  return stateless_random_uniform(Operand(random_state(options.seed, where), where), shape,
                                  {options.minval, options.maxval, options.dtype});
}

}  // namespace random
}  // namespace kiln
