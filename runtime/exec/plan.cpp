#include "runtime/exec/plan.h"

#include "runtime/exec/launch.h"
#include "runtime/memory/planner.h"

namespace kiln {
namespace {

std::string input_name(const Executable& e, size_t i) {
  return e.inputs[i].name.empty() ? "input " + std::to_string(i) : "input '" + e.inputs[i].name + "'";
}

class Planner {
 public:
  Planner(const Program& program, std::span<const TensorRef> inputs, Plan& plan)
      : program_(program), e_(program.executable()), inputs_(inputs), plan_(plan) {}

  Status make() {
    KILN_RETURN_IF_ERROR(check_inputs());
    KILN_RETURN_IF_ERROR(find_results());
    KILN_RETURN_IF_ERROR(size_buffers());
    KILN_RETURN_IF_ERROR(size_steps());
    return place();
  }

 private:
  Status error(const std::string& what) const { return Status(Code::invalid_argument, e_.name + ": " + what); }
  Status broken(const std::string& what) const {
    return Status(Code::internal, "function '" + e_.name + "': " + what + "; this is a bug in Kiln");
  }

  Status check_inputs() {
    if (inputs_.size() != e_.inputs.size())
      return error("got " + std::to_string(inputs_.size()) + " inputs, needs " + std::to_string(e_.inputs.size()));
    std::vector<std::span<const int64_t>> dims;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const TensorRef& got = inputs_[i];
      const InputInfo& needed = e_.inputs[i];
      const bool has_rank = got.rank >= 0 && got.rank <= max_rank && (got.rank == 0 || got.dims);
      dims.push_back(has_rank ? std::span(got.dims, got.rank) : std::span<const int64_t>());
      bool good = has_rank && got.dtype == needed.dtype && got.rank == needed.shape.rank();
      for (int axis = 0; good && axis < got.rank; ++axis)
        good = got.dims[axis] >= 0 && (!needed.shape[axis].known() || needed.shape[axis].size() == got.dims[axis]);
      if (!good)
        return error(input_name(e_, i) + " is " + describe(got.dtype, dims[i]) + ", needs " +
                     std::string(name_of(needed.dtype)) + to_string(needed.shape, &e_.dims));
      plan_.input_dims.insert(plan_.input_dims.end(), dims[i].begin(), dims[i].end());
    }
    Result<std::vector<int64_t>> values = e_.dims.evaluate(dims);
    if (!values.ok()) return error(std::string(values.status().message()));
    values_ = std::move(*values);
    for (size_t i = 0; i < inputs_.size(); ++i)
      for (int axis = 0; axis < inputs_[i].rank; ++axis) KILN_RETURN_IF_ERROR(check_dim(i, axis));
    return Status();
  }

  // An unknown dim that stands in several places has one value.
  Status check_dim(size_t input, int axis) const {
    const Dim needed = e_.inputs[input].shape[axis];
    const int64_t got = inputs_[input].dims[axis];
    if (needed.known() || values_[needed.id()] == got) return Status();
    const std::string name = e_.dims.to_string(needed);
    std::string text = "dim " + std::to_string(axis) + " of " + input_name(e_, input) + " is " + std::to_string(got) +
                       ", but '" + name + "' is " + std::to_string(values_[needed.id()]);
    if (const DimExpr& x = e_.dims[needed.id()]; x.op == DimOp::symbol)
      text += " in dim " + std::to_string(x.b.raw()) + " of " + input_name(e_, static_cast<size_t>(x.a.raw()));
    return error(text);
  }

  int64_t value(Dim d) const { return d.known() ? d.size() : values_[d.id()]; }

  // Bytes of a tensor; fails where a dim is negative or the size does not fit.
  Result<size_t> bytes_of(DType dtype, const Shape& shape) const {
    size_t bytes = size_of(dtype);
    bool overflow = false, empty = false;
    for (Dim d : shape) {
      const int64_t n = value(d);
      if (n < 0) return error("dim " + e_.dims.to_string(d) + " is " + std::to_string(n) + " for these inputs");
      empty |= n == 0;
      overflow |= n != 0 && __builtin_mul_overflow(bytes, static_cast<size_t>(n), &bytes);
    }
    if (empty) return size_t{0};
    if (overflow || bytes > SIZE_MAX / 4)
      return Status(Code::resource_exhausted, e_.name + ": a value of type " + std::string(name_of(dtype)) +
                                                  to_string(shape, &e_.dims) + " does not fit in memory");
    return bytes;
  }

  Status find_results() {
    std::vector<size_t> begins;
    for (int32_t r : program_.results()) {
      begins.push_back(plan_.result_dims.size());
      for (Dim d : e_.outputs[r].shape) plan_.result_dims.push_back(value(d));
    }
    for (size_t i = 0; i < begins.size(); ++i) {
      const OutputInfo& output = e_.outputs[program_.results()[i]];
      KILN_ASSIGN_OR_RETURN(size_t bytes, bytes_of(output.dtype, output.shape));
      plan_.results.push_back(
          {output.dtype, {plan_.result_dims.data() + begins[i], static_cast<size_t>(output.shape.rank())}, bytes});
    }
    return Status();
  }

  // Bytes of each buffer; they must be those of the memory it stands for.
  Status size_buffers() {
    for (const BufferInfo& b : e_.buffers) {
      KILN_ASSIGN_OR_RETURN(size_t bytes, bytes_of(b.dtype, b.shape));
      bytes_.push_back(bytes);
    }
    for (size_t i = 0; i < e_.buffers.size(); ++i) {
      const BufferInfo& b = e_.buffers[i];
      size_t needed = bytes_[program_.roots()[i]];
      if (b.kind == BufferKind::constant) {
        if (bytes_[i] > e_.constants[b.index]->bytes()) return broken("a constant is too short");
      } else if (b.kind == BufferKind::input) {
        KILN_ASSIGN_OR_RETURN(needed, bytes_of(e_.inputs[b.index].dtype, e_.inputs[b.index].shape));
      } else if (b.kind == BufferKind::output) {
        const OutputInfo& output = e_.outputs[b.index];
        KILN_ASSIGN_OR_RETURN(needed, bytes_of(output.dtype, output.shape));
        if (output.updates >= 0) {
          const InputInfo& variable = e_.inputs[output.updates];
          KILN_ASSIGN_OR_RETURN(size_t room, bytes_of(variable.dtype, variable.shape));
          if (room != needed)
            return error("the new value of '" + variable.name + "' is " + std::string(name_of(output.dtype)) +
                         to_string(output.shape, &e_.dims) + " of " + std::to_string(needed) + " bytes, it has " +
                         std::to_string(room));
        }
      }
      if (bytes_[i] != needed) return broken("buffer " + std::to_string(i) + " has another size than its memory");
    }
    return Status();
  }

  Status size_steps() {
    for (const ProgramStep& step : program_.steps()) {
      for (Dim d : step.source->params) plan_.params.push_back(d.inferred() ? -1 : value(d));
      int64_t extent = value(step.source->extent);
      if (step.kind == StepKind::copy) {
        const size_t from = bytes_[step.source->buffers[0]], to = bytes_[step.source->buffers[1]];
        if (from != to)
          return broken("a copy between buffers of " + std::to_string(from) + " and " + std::to_string(to) + " bytes");
        extent = static_cast<int64_t>(to);
      }
      plan_.extents.push_back(extent);
    }
    return Status();
  }

  Status place() {
    const std::vector<int32_t>& slots = program_.pointer_buffers();
    std::vector<Lifetime> values(e_.buffers.size());
    for (size_t b = 0; b < values.size(); ++b)
      if (e_.buffers[b].kind == BufferKind::temp)
        values[b] = {bytes_[b], program_.lifetimes()[b].first, program_.lifetimes()[b].last};
    std::vector<int32_t> value_of_slot(slots.size());
    for (size_t s = 0; s < slots.size(); ++s) value_of_slot[s] = slots[s] < 0 ? -1 : program_.roots()[slots[s]];
    for (const ProgramStep& step : program_.steps()) {
      if (step.kind != StepKind::library) continue;
      const size_t bytes = workspace_bytes(*step.library, plan_.params.data() + step.params);
      if (bytes == 0) continue;
      value_of_slot[step.pointers + step.source->buffers.size()] = static_cast<int32_t>(values.size());
      values.push_back({bytes, step.position, step.position});
    }
    Result<ArenaPlan> arena = plan_arena(values);
    if (!arena.ok()) return Status(arena.status().code(), e_.name + ": " + std::string(arena.status().message()));
    plan_.arena_bytes = arena->bytes;
    plan_.arena_offsets.assign(slots.size(), Plan::no_arena);
    plan_.pointers.assign(slots.size(), nullptr);
    for (size_t s = 0; s < slots.size(); ++s) {
      const int32_t v = value_of_slot[s];
      if (v < 0) continue;  // a kernel that wants no workspace for these dims
      if (v >= static_cast<int32_t>(e_.buffers.size()) || e_.buffers[v].kind == BufferKind::temp)
        plan_.arena_offsets[s] = arena->offsets[v];
      else if (e_.buffers[v].kind == BufferKind::constant)
        plan_.pointers[s] = e_.constants[e_.buffers[v].index]->data();
    }
    return Status();
  }

  const Program& program_;
  const Executable& e_;
  std::span<const TensorRef> inputs_;
  Plan& plan_;
  std::vector<int64_t> values_;  // of the DimTable
  std::vector<size_t> bytes_;    // of each buffer
};

}  // namespace

std::string describe(DType dtype, std::span<const int64_t> dims) {
  std::string text(static_cast<int>(dtype) < dtype_count ? name_of(dtype) : "dtype?");
  text += '[';
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? "," : "") + std::to_string(dims[i]);
  return text + ']';
}

Result<std::unique_ptr<Plan>> make_plan(const Program& program, std::span<const TensorRef> inputs) {
  auto plan = std::make_unique<Plan>();
  KILN_RETURN_IF_ERROR(Planner(program, inputs, *plan).make());
  return plan;
}

}  // namespace kiln
