#include "runtime/exec/session.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "runtime/base/fp_environment.h"
#include "runtime/base/no_throw.h"
#include "runtime/base/thread_pool.h"
#include "runtime/exec/launch.h"

namespace kiln {
namespace {

constexpr size_t most_plans = 16;

// KILN_POISON=1: the arena is filled with 0xFF (NaN) before each call, so that a read of memory not yet written shows.
bool poison_arena() {
  static const bool on = [] {
    const char* text = std::getenv("KILN_POISON");
    return text && *text && std::strcmp(text, "0") != 0;
  }();
  return on;
}

void copy_bytes(void* to, const void* from, int64_t bytes) {
  if (to == from || bytes == 0) return;
  constexpr int64_t block = 65536, block_ns = 6000;
  if (bytes <= 2 * block) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
    return;
  }
  parallel_for((bytes + block - 1) / block, block_ns, [&](int64_t begin, int64_t end) {
    const int64_t offset = begin * block, length = std::min(end * block, bytes) - offset;
    std::memcpy(static_cast<char*>(to) + offset, static_cast<const char*>(from) + offset, static_cast<size_t>(length));
  });
}

bool overlap(const void* a, size_t a_bytes, const void* b, size_t b_bytes) {
  const auto x = reinterpret_cast<uintptr_t>(a), y = reinterpret_cast<uintptr_t>(b);
  return x < y + b_bytes && y < x + a_bytes;
}

bool misaligned(const TensorRef& t) {
  return reinterpret_cast<uintptr_t>(t.data) & (std::min<size_t>(size_of(t.dtype), 8) - 1);
}

size_t bytes_of(const TensorRef& t) {
  size_t bytes = size_of(t.dtype);
  for (int i = 0; i < t.rank; ++i) bytes *= static_cast<size_t>(t.dims[i]);
  return bytes;
}

}  // namespace

Session::Session(std::shared_ptr<const Program> program) : program_(std::move(program)) {
  const Executable& e = program_->executable();
  std::vector<int32_t> result_of_output(e.outputs.size(), -1);
  for (size_t r = 0; r < program_->results().size(); ++r)
    result_of_output[program_->results()[r]] = static_cast<int32_t>(r);
  const std::vector<int32_t>& slots = program_->pointer_buffers();
  for (size_t s = 0; s < slots.size(); ++s) {
    if (slots[s] < 0) continue;
    const BufferInfo& b = e.buffers[program_->roots()[slots[s]]];
    if (b.kind == BufferKind::input)
      inputs_.push_back({b.index, static_cast<int32_t>(s)});
    else if (b.kind == BufferKind::output && e.outputs[b.index].updates >= 0)
      inputs_.push_back({e.outputs[b.index].updates, static_cast<int32_t>(s)});
    else if (b.kind == BufferKind::output)
      results_.push_back({result_of_output[b.index], static_cast<int32_t>(s)});
  }
}

bool Session::matches(const Plan& plan, std::span<const TensorRef> inputs) const {
  const std::vector<InputInfo>& needed = program_->executable().inputs;
  if (inputs.size() != needed.size()) return false;
  const int64_t* key = plan.input_dims.data();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorRef& t = inputs[i];
    if (t.dtype != needed[i].dtype || t.rank != needed[i].shape.rank()) return false;
    for (int axis = 0; axis < t.rank; ++axis)
      if (t.dims[axis] != *key++) return false;
  }
  return true;
}

Status Session::plan(std::span<const TensorRef> inputs) {
  bound_ = false;
  if (plan_ && matches(*plan_, inputs)) return Status();
  return no_throw([&] { return find_plan(inputs); });
}

Status Session::bind(std::span<const TensorRef> inputs) {
  KILN_RETURN_IF_ERROR(plan(inputs));
  uintptr_t wrong = 0;
  for (const TensorRef& t : inputs) wrong |= (t.data == nullptr) | misaligned(t);
  if (wrong) KILN_RETURN_IF_ERROR(check_data(inputs));
  if (plan_->arena_base == nullptr || plan_->arena_base != arena_->data()) KILN_RETURN_IF_ERROR(prepare_arena());
  void** pointers = plan_->pointers.data();
  for (const Target& t : inputs_) pointers[t.slot] = inputs[t.external].data;
  bound_ = true;
  return Status();
}

Status Session::find_plan(std::span<const TensorRef> inputs) {
  auto found = std::find_if(plans_.begin(), plans_.end(), [&](const auto& plan) { return matches(*plan, inputs); });
  if (found == plans_.end()) {
    KILN_ASSIGN_OR_RETURN(auto plan, make_plan(*program_, inputs));
    if (plans_.size() >= most_plans) plans_.pop_back();
    plans_.push_back(std::move(plan));
    found = plans_.end() - 1;
  }
  std::rotate(plans_.begin(), found, found + 1);
  plan_ = plans_.front().get();
  return Status();
}

Status Session::check_data(std::span<const TensorRef> inputs) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const char* what = nullptr;
    if (!inputs[i].data && bytes_of(inputs[i]) != 0) what = " has no data";
    if (misaligned(inputs[i])) what = " is not aligned to its element size";
    if (what)
      return Status(Code::invalid_argument,
                    program_->executable().name + ": input '" + program_->executable().inputs[i].name + "'" + what);
  }
  return Status();
}

// One arena serves all plans; it grows to the largest.
Status Session::prepare_arena() {
  if (!arena_ || arena_->bytes() < plan_->arena_bytes) {
    arena_.reset();
    for (auto& plan : plans_) plan->arena_base = nullptr;
    Result<std::shared_ptr<Buffer>> arena = Buffer::allocate(plan_->arena_bytes);
    if (!arena.ok())
      return Status(arena.status().code(),
                    program_->executable().name + ": " + std::string(arena.status().message()) + " (temporary values)");
    arena_ = std::move(*arena);
  }
  plan_->arena_base = arena_->data();
  for (size_t s = 0; s < plan_->pointers.size(); ++s)
    if (plan_->arena_offsets[s] != Plan::no_arena) plan_->pointers[s] = arena_->data() + plan_->arena_offsets[s];
  return Status();
}

Status Session::execute(std::span<void* const> results) {
  if (!bound_ || results.size() != plan_->results.size())
    return Status(Code::failed_precondition, program_->executable().name + ": execute() needs bound inputs and " +
                                                 std::to_string(program_->results().size()) + " results");
  void** pointers = plan_->pointers.data();
  for (const Target& t : results_) pointers[t.slot] = results[t.external];
  if (poison_arena()) std::memset(arena_->data(), 0xFF, plan_->arena_bytes);
  const FpEnvironment environment;
  return run_steps(0, static_cast<int32_t>(program_->steps().size()));
}

Status Session::run(std::span<const TensorRef> inputs, std::span<const TensorRef> results) {
  KILN_RETURN_IF_ERROR(bind(inputs));
  const auto error = [&](const std::string& what) {
    return Status(Code::invalid_argument, program_->executable().name + ": " + what);
  };
  const std::span<const ResultInfo> needed = this->results();
  constexpr size_t most_in_place = 16;
  void* in_place[most_in_place];
  std::vector<void*> more(results.size() > most_in_place ? results.size() : 0);
  void** addresses = more.empty() ? in_place : more.data();
  if (results.size() != needed.size())
    return error("got " + std::to_string(results.size()) + " results, needs " + std::to_string(needed.size()));
  for (size_t i = 0; i < results.size(); ++i) {
    const TensorRef& r = results[i];
    const auto name = [&] { return "result " + std::to_string(i); };
    if (r.dtype != needed[i].dtype || r.rank != static_cast<int>(needed[i].dims.size()) ||
        !std::equal(needed[i].dims.begin(), needed[i].dims.end(), r.dims))
      return error(name() + " is " + describe(r.dtype, {r.dims, static_cast<size_t>(std::clamp(r.rank, 0, max_rank))}) +
                   ", needs " + describe(needed[i].dtype, needed[i].dims));
    if (needed[i].bytes != 0 && (!r.data || misaligned(r)))
      return error(name() + (r.data ? " is not aligned to its element size" : " has no memory"));
    for (size_t k = 0; k < inputs.size(); ++k)
      if (overlap(r.data, needed[i].bytes, inputs[k].data, bytes_of(inputs[k])))
        return error(name() + " overlaps input '" + program_->executable().inputs[k].name + "'");
    for (size_t k = 0; k < i; ++k)
      if (overlap(r.data, needed[i].bytes, results[k].data, needed[k].bytes))
        return error(name() + " overlaps result " + std::to_string(k));
    addresses[i] = r.data;
  }
  return execute({addresses, results.size()});
}

Status Session::run_steps(int32_t begin, int32_t end) {
  const ProgramStep* steps = program_->steps().data();
  for (int32_t i = begin; i < end;) {
    KILN_RETURN_IF_ERROR(run_step(i));
    const ProgramStep& step = steps[i];
    i = step.kind == StepKind::if_ || step.kind == StepKind::while_ ? step.second_end : i + 1;
  }
  return Status();
}

Status Session::run_step(int32_t index) {
  const ProgramStep& step = program_->steps()[index];
  void* const* buffers = plan_->pointers.data() + step.pointers;
  const int64_t* params = plan_->params.data() + step.params;
  Status status;
  switch (step.kind) {
    case StepKind::kernel:
      status = detail::run_kernel(step.kernel, buffers, params, plan_->extents[index],
                                  static_cast<double>(step.source->item_cost) * 1e-3);
      break;
    case StepKind::library:
      status = detail::run_library_kernel(*step.library, buffers, params);
      break;
    case StepKind::copy:
      copy_bytes(buffers[1], buffers[0], plan_->extents[index]);
      return Status();
    case StepKind::if_:
      return *static_cast<const uint8_t*>(buffers[0]) ? run_steps(index + 1, step.first_end)
                                                      : run_steps(step.first_end, step.second_end);
    case StepKind::while_:
      for (;;) {
        KILN_RETURN_IF_ERROR(run_steps(index + 1, step.first_end));
        if (!*static_cast<const uint8_t*>(buffers[0])) return Status();
        KILN_RETURN_IF_ERROR(run_steps(step.first_end, step.second_end));
      }
  }
  return status.ok() ? status : located(std::move(status), *step.source);
}

Status Session::located(Status status, const Step& step) const {
  const Executable& e = program_->executable();
  const Location here = step.location >= 0 ? e.locations[step.location] : Location{};
  return Status(status.code(), located_message(here.op, status.message(), here.file, here.line));
}

}  // namespace kiln
