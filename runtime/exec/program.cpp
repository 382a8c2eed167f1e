#include "runtime/exec/program.h"

#include <algorithm>

#include "runtime/base/cpu.h"
#include "runtime/base/no_throw.h"

namespace kiln {
namespace {

constexpr int max_depth = 64;  // of nested if_ and while_

Status damaged(const Executable& e, const std::string& what) {
  return Status(Code::data_loss, "function '" + e.name + "' does not hold together: " + what);
}

bool supported(const std::string& target) { return target.empty() || target == "x86-64" || cpu_supports(target); }

}  // namespace

const char* host_target() { return name_of(cpu_target()).data(); }

class ProgramLoader {
 public:
  explicit ProgramLoader(const Executable& e, Program& p) : e_(e), p_(p) {}

  Status load() {
    if (!supported(e_.target))
      return Status(Code::unavailable,
                    "function '" + e_.name + "' was made for " + e_.target + "; this CPU is " + host_target());
    KILN_RETURN_IF_ERROR(check_dims());
    KILN_RETURN_IF_ERROR(check_interface());
    KILN_RETURN_IF_ERROR(check_buffers());
    for (const std::string& object : e_.code) {
      KILN_ASSIGN_OR_RETURN(auto loaded, CodeObject::load(object));
      p_.code_.push_back(std::move(loaded));
    }
    p_.lifetimes_.resize(e_.buffers.size());
    KILN_RETURN_IF_ERROR(add_steps(e_.steps, 0));
    extend_over_loops();
    return Status();
  }

 private:
  struct LoopUse {
    int32_t loop, buffer, number;
    bool reads;
  };

  static bool valid(Dim d, int32_t count) { return d.known() || (d.id() >= 0 && d.id() < count); }
  bool valid(Dim d) const { return valid(d, e_.dims.size()); }
  bool valid(const Shape& s) const {
    return std::all_of(s.begin(), s.end(), [&](Dim d) { return valid(d); });
  }

  Status check_dims() {
    for (int32_t i = 0; i < e_.dims.size(); ++i) {
      const DimExpr& x = e_.dims[i];
      bool good;
      if (x.op == DimOp::symbol)
        good = x.a.raw() >= 0 && x.a.raw() < static_cast<int64_t>(e_.inputs.size()) && x.b.raw() >= 0 &&
               x.b.raw() < e_.inputs[x.a.raw()].shape.rank();
      else
        good = valid(x.a, i) && valid(x.b, i);
      if (!good) return damaged(e_, "dim " + std::to_string(i) + " is made of what does not exist");
    }
    return Status();
  }

  Status check_interface() {
    for (const InputInfo& input : e_.inputs)
      if (!valid(input.shape)) return damaged(e_, "input '" + input.name + "' has an unknown dim without a definition");
    std::vector<bool> updated(e_.inputs.size());
    for (size_t i = 0; i < e_.outputs.size(); ++i) {
      const OutputInfo& output = e_.outputs[i];
      const std::string name = "output " + std::to_string(i);
      if (!valid(output.shape)) return damaged(e_, name + " has an unknown dim without a definition");
      if (output.updates < 0) {
        p_.results_.push_back(static_cast<int32_t>(i));
        continue;
      }
      const size_t input = static_cast<size_t>(output.updates);
      if (input >= e_.inputs.size() || !e_.inputs[input].is_variable || updated[input] ||
          e_.inputs[input].dtype != output.dtype || e_.inputs[input].shape.rank() != output.shape.rank())
        return damaged(e_, name + " updates input " + std::to_string(input) + ", which is not a variable of its type");
      updated[input] = true;
    }
    return Status();
  }

  Status check_buffers() {
    const int32_t count = static_cast<int32_t>(e_.buffers.size());
    std::vector<int> written(e_.outputs.size());
    for (int32_t i = 0; i < count; ++i) {
      const BufferInfo& b = e_.buffers[i];
      const auto index = static_cast<size_t>(b.index);
      bool good = valid(b.shape);
      switch (b.kind) {
        case BufferKind::input:
          good &= b.index >= 0 && index < e_.inputs.size();
          break;
        case BufferKind::output:
          good &= b.index >= 0 && index < e_.outputs.size() && ++written[index] == 1;
          break;
        case BufferKind::constant:
          good &= b.index >= 0 && index < e_.constants.size() && e_.constants[index] != nullptr;
          break;
        case BufferKind::view:
          good &= b.index >= 0 && b.index < count;
          break;
        case BufferKind::temp:
          break;
        default:
          good = false;
      }
      if (!good) return damaged(e_, "buffer " + std::to_string(i) + " stands for what does not exist");
    }
    for (size_t i = 0; i < written.size(); ++i)
      if (written[i] != 1) return damaged(e_, "output " + std::to_string(i) + " has no buffer");
    p_.roots_.resize(count);
    for (int32_t i = 0; i < count; ++i) {
      int32_t root = i;
      for (int32_t hops = 0; e_.buffers[root].kind == BufferKind::view; root = e_.buffers[root].index)
        if (++hops > count) return damaged(e_, "buffer " + std::to_string(i) + " is a view of itself");
      p_.roots_[i] = root;
    }
    return Status();
  }

  void use(int32_t buffer, bool reads) {
    const int32_t root = p_.roots_[buffer];
    LiveRange& range = p_.lifetimes_[root];
    if (range.last < range.first) range.first = now_;
    range.last = now_;
    for (int32_t loop : open_loops_) loop_uses_.push_back({loop, root, static_cast<int32_t>(loop_uses_.size()), reads});
  }

  Status add_steps(const std::vector<Step>& steps, int depth) {
    if (depth > max_depth) return damaged(e_, "branches and loops are nested too deeply");
    for (const Step& step : steps) KILN_RETURN_IF_ERROR(add_step(step, depth));
    return Status();
  }

  Status check_step(const Step& step) {
    const int32_t count = static_cast<int32_t>(step.buffers.size());
    bool good = step.output_count >= 0 && step.output_count <= count && valid(step.extent) &&
                step.location < static_cast<int32_t>(e_.locations.size());
    for (Dim d : step.params) good &= d.inferred() || valid(d);  // a param may be -1
    for (int32_t b : step.buffers) good &= b >= 0 && b < static_cast<int32_t>(e_.buffers.size());
    if (!good) return damaged(e_, "step '" + step.callee + "' names what does not exist");
    const auto written = [&](int32_t i) {
      const BufferKind kind = e_.buffers[p_.roots_[step.buffers[i]]].kind;
      return kind == BufferKind::output || kind == BufferKind::temp;
    };
    switch (step.kind) {
      case StepKind::kernel:
      case StepKind::library:
        for (int32_t i = count - step.output_count; i < count; ++i) good &= written(i);
        break;
      case StepKind::copy:
        good = count == 2 && written(1);
        break;
      case StepKind::if_:
      case StepKind::while_:
        good = count == 1 && e_.buffers[step.buffers[0]].dtype == DType::bool_ &&
               e_.buffers[step.buffers[0]].shape.rank() == 0;
        break;
      default:
        good = false;
    }
    if (!good) return damaged(e_, "step '" + step.callee + "' has wrong buffers");
    return Status();
  }

  Status find_callee(const Step& step, ProgramStep& out) {
    if (step.kind == StepKind::kernel) {
      for (const auto& object : p_.code_)
        if (void* f = object->find(step.callee)) {
          out.kernel = reinterpret_cast<KernelFunction>(f);
          return Status();
        }
      out.kernel = find_prebuilt_kernel(step.callee.c_str());
      if (!out.kernel) return damaged(e_, "its code has no kernel '" + step.callee + "'");
    } else if (step.kind == StepKind::library) {
      out.library = find_library_kernel(step.callee.c_str());
      if (!out.library)
        return Status(Code::unavailable, "function '" + e_.name + "' needs the kernel '" + step.callee +
                                             "', which this build does not have");
    }
    return Status();
  }

  Status add_step(const Step& step, int depth) {
    KILN_RETURN_IF_ERROR(check_step(step));
    const size_t self = p_.steps_.size();
    ProgramStep out{.kind = step.kind,
                    .source = &step,
                    .pointers = static_cast<int32_t>(p_.pointer_buffers_.size()),
                    .params = p_.param_count_};
    KILN_RETURN_IF_ERROR(find_callee(step, out));
    p_.param_count_ += static_cast<int32_t>(step.params.size());
    p_.pointer_buffers_.insert(p_.pointer_buffers_.end(), step.buffers.begin(), step.buffers.end());
    if (out.library && out.library->workspace_bytes) p_.pointer_buffers_.push_back(-1);
    p_.steps_.push_back(out);
    const bool loop = step.kind == StepKind::while_, branch = step.kind == StepKind::if_;
    if (!loop && !branch) {
      const size_t inputs = step.kind == StepKind::copy ? 1 : step.buffers.size() - step.output_count;
      for (size_t i = 0; i < inputs; ++i) use(step.buffers[i], true);
      for (size_t i = inputs; i < step.buffers.size(); ++i) use(step.buffers[i], false);
      p_.steps_[self].position = now_++;
      return Status();
    }
    if (loop) {
      open_loops_.push_back(static_cast<int32_t>(loops_.size()));
      loops_.push_back({now_, now_});
    }
    if (branch) use(step.buffers[0], true);
    p_.steps_[self].position = now_++;
    KILN_RETURN_IF_ERROR(add_steps(step.first, depth + 1));
    p_.steps_[self].first_end = static_cast<int32_t>(p_.steps_.size());
    if (loop) use(step.buffers[0], true);
    ++now_;
    KILN_RETURN_IF_ERROR(add_steps(step.second, depth + 1));
    p_.steps_[self].second_end = static_cast<int32_t>(p_.steps_.size());
    if (loop) {
      loops_[open_loops_.back()].last = now_;
      open_loops_.pop_back();
    }
    ++now_;
    return Status();
  }

  // A buffer used in a loop lives over the whole of it, unless it is the loop's own: written first, and used nowhere
  // else.
  void extend_over_loops() {
    // Inner loops have higher numbers: going down, an outer loop sees what the inner ones have extended.
    std::sort(loop_uses_.begin(), loop_uses_.end(), [](const LoopUse& a, const LoopUse& b) {
      if (a.loop != b.loop) return a.loop > b.loop;
      return a.buffer != b.buffer ? a.buffer < b.buffer : a.number < b.number;
    });
    for (size_t i = 0, end; i < loop_uses_.size(); i = end) {
      end = i;
      while (end < loop_uses_.size() && loop_uses_[end].loop == loop_uses_[i].loop &&
             loop_uses_[end].buffer == loop_uses_[i].buffer)
        ++end;
      const LiveRange loop = loops_[loop_uses_[i].loop];
      LiveRange& range = p_.lifetimes_[loop_uses_[i].buffer];
      const bool inside = range.first >= loop.first && range.last <= loop.last;
      if (!inside || loop_uses_[i].reads) {
        range.first = std::min(range.first, loop.first);
        range.last = std::max(range.last, loop.last);
      }
    }
  }

  const Executable& e_;
  Program& p_;
  int32_t now_ = 0;
  std::vector<LiveRange> loops_;
  std::vector<int32_t> open_loops_;
  std::vector<LoopUse> loop_uses_;
};

Result<std::shared_ptr<const Program>> Program::load(std::shared_ptr<const Executable> executable) {
  if (!executable) return Status(Code::invalid_argument, "there is no function to load");
  return no_throw([&]() -> Result<std::shared_ptr<const Program>> {
    std::shared_ptr<Program> program(new Program);
    program->executable_ = std::move(executable);
    KILN_RETURN_IF_ERROR(ProgramLoader(*program->executable_, *program).load());
    return std::shared_ptr<const Program>(std::move(program));
  });
}

}  // namespace kiln
