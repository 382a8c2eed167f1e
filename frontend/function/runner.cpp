#include "frontend/function/runner.h"

#include <algorithm>
#include <cstring>

#include "frontend/tensor/rep.h"
#include "frontend/variable/state.h"

namespace kiln::detail {
namespace {

// The Variable behind an input, or null.
VariableState* variable_of(const TraceInput& source, std::span<const Variable* const> variables) {
  if (source.kind == TraceInput::Kind::captured_variable) return source.variable.get();
  if (source.kind == TraceInput::Kind::variable_argument) return variables[source.index]->state()->canonical();
  return nullptr;
}

// The memory of an updated Variable must be its own: a Tensor read from it before keeps the old value.
Status detach(VariableState& state) {
  const TensorRep& rep = *state.value.rep();
  if (state.value.rep().use_count() == 1 && rep.buffer.use_count() == 1 && rep.offset == 0) return {};
  const size_t bytes = static_cast<size_t>(rep.shape.size()) * size_of(rep.dtype);
  KILN_ASSIGN_OR_RETURN(auto own, Buffer::allocate(bytes));
  std::memcpy(own->data(), rep.data(), bytes);
  state.value = make_concrete(rep.dtype, rep.shape, std::move(own));
  return {};
}

TensorRef ref_of(const TensorRep& rep) {
  static_assert(sizeof(Dim) == sizeof(int64_t));  // a known Dim is its size
  return {rep.data(), rep.dtype, reinterpret_cast<const int64_t*>(rep.shape.begin()), rep.shape.rank()};
}

}  // namespace

Runner::Runner(std::shared_ptr<const Program> program, std::vector<TraceInput> sources)
    : program_(std::move(program)), sources_(std::move(sources)), updated_(sources_.size(), false) {
  for (const OutputInfo& output : program_->executable().outputs)
    if (output.updates >= 0) updated_[static_cast<size_t>(output.updates)] = true, ++updates_;
}

Runner::~Runner() {
  for (auto& slot : idle_) delete slot.load();
}

std::unique_ptr<Session> Runner::take() const {
  for (auto& slot : idle_)
    if (slot.load(std::memory_order_relaxed))
      if (Session* session = slot.exchange(nullptr, std::memory_order_acquire))
        return std::unique_ptr<Session>(session);
  return std::make_unique<Session>(program_);
}

void Runner::give(std::unique_ptr<Session> session) const {
  for (auto& slot : idle_) {
    Session* empty = nullptr;
    if (slot.load(std::memory_order_relaxed)) continue;
    if (slot.compare_exchange_strong(empty, session.get(), std::memory_order_release, std::memory_order_relaxed)) {
      (void)session.release();
      return;
    }
  }
}

Status Runner::run(std::span<const Tensor* const> tensors, std::span<const Variable* const> variables,
                   InlineVector<Tensor, 4>& results) const {
  InlineVector<TensorRef, 8> inputs;
  // Values of Variables that are only read. Taken before any lock is held: no two calls wait for each other.
  InlineVector<Tensor, 8> held;
  for (size_t i = 0; i < sources_.size(); ++i)
    if (VariableState* state = updated_[i] ? nullptr : variable_of(sources_[i], variables))
      held.push_back(state->load());
  std::vector<std::unique_lock<std::mutex>> locks;
  if (updates_) {
    std::vector<VariableState*> updated;
    updated.reserve(static_cast<size_t>(updates_));
    for (size_t i = 0; i < sources_.size(); ++i)
      if (updated_[i]) updated.push_back(variable_of(sources_[i], variables));
    std::sort(updated.begin(), updated.end());  // one order in all threads
    locks.reserve(updated.size());
    for (VariableState* state : updated) {
      locks.emplace_back(state->mutex);
      KILN_RETURN_IF_ERROR(detach(*state));
    }
  }
  size_t next_held = 0;
  for (size_t i = 0; i < sources_.size(); ++i) {
    const TraceInput& source = sources_[i];
    if (VariableState* state = variable_of(source, variables)) {
      if (updated_[i]) {
        inputs.push_back(ref_of(*state->value.rep()));
      } else {
        inputs.push_back(ref_of(*held[next_held++].rep()));
      }
    } else {
      const Tensor& x = source.kind == TraceInput::Kind::tensor_argument ? *tensors[static_cast<size_t>(source.index)]
                                                                         : source.tensor;
      inputs.push_back(ref_of(*x.rep()));
    }
  }
  std::unique_ptr<Session> session = take();
  Status status = session->bind(inputs.span());
  if (status.ok()) {
    InlineVector<void*, 8> addresses;
    for (const ResultInfo& result : session->results()) {
      Result<std::shared_ptr<Buffer>> buffer = Buffer::allocate(result.bytes);
      if (!buffer.ok()) {
        status = buffer.status();
        break;
      }
      addresses.push_back((*buffer)->data());
      results.push_back(make_concrete(result.dtype, Shape(result.dims), std::move(buffer).value()));
    }
    if (status.ok()) status = session->execute({addresses.data(), addresses.size()});
  }
  give(std::move(session));
  return status;
}

}  // namespace kiln::detail
