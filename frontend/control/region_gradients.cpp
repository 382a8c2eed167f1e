#include "frontend/control/region_gradients.h"

#include <memory>
#include <set>

#include "frontend/autodiff/tape_impl.h"
#include "frontend/function/concrete.h"
#include "frontend/trace/scope.h"
#include "frontend/trace/trace.h"
#include "generated/ops.h"

namespace kiln::detail {
namespace {

// Values that a region takes from outside, in the order of their first use.
void free_values(const Region& region, std::set<ValueId>& known, std::vector<ValueId>& found) {
  for (ValueId argument : region.arguments) known.insert(argument);
  auto use = [&](ValueId value) {
    if (known.insert(value).second) found.push_back(value);
  };
  for (const Node& node : region.nodes) {
    for (ValueId operand : node.operands) use(operand);
    for (const Region& inner : node.regions) free_values(inner, known, found);
    for (ValueId result : node.results) known.insert(result);
  }
  for (ValueId result : region.results) use(result);
}

// Those of them that some tape depends on.
std::vector<Tensor> wanted_free_values(TraceContext& trace, const Node& node) {
  std::set<ValueId> known;
  std::vector<ValueId> found;
  for (const Region& region : node.regions) free_values(region, known, found);
  std::vector<Tensor> wanted;
  for (ValueId value : found) {
    const Tensor x = trace.tensor_of(value, "capture", node.location);
    if (tapes_want({&x, 1})) wanted.push_back(x);
  }
  return wanted;
}

// The region again, under a tape: the gradients of its results with respect to the sources. Zeros where there is none.
std::vector<Tensor> gradients_of_region(TraceContext& trace, const Region& region, std::span<const Tensor> arguments,
                                        std::span<const Tensor> sources, std::span<const Tensor> incoming) {
  TapeImpl tape({.persistent = false, .watch_accessed_variables = false});
  for (const Tensor& x : sources) tape.watch(x);
  Replayer replayer(trace.graph(), trace);
  for (size_t i = 0; i < arguments.size(); ++i) replayer.set(region.arguments[i], arguments[i]);
  replayer.run(region);
  std::vector<Tensor> targets;
  GradientOptions options;
  options.unconnected = Unconnected::zero;
  for (size_t i = 0; i < incoming.size(); ++i) {
    if (!incoming[i].defined()) continue;
    targets.push_back(replayer.get(region.results[i]));
    options.output_gradients.push_back(incoming[i]);
  }
  return tape.gradients(targets, std::vector<Source>(sources.begin(), sources.end()), options, {});
}

}  // namespace

void record_cond_on_tapes(TraceContext& trace, const Node& node, std::span<const Tensor> results) {
  const std::vector<Tensor> sources = wanted_free_values(trace, node);
  if (sources.empty()) return;
  const auto kept = std::make_shared<const Node>(node);
  record_on_tapes({OpId::cond,
                   sources,
                   {results.begin(), results.end()},
                   {},
                   node.location,
                   [&trace, kept, sources](std::span<const Tensor> incoming) {
                     auto branch = [&](const Region& region) {
                       return OwnedLeaves{gradients_of_region(trace, region, {}, sources, incoming), {}};
                     };
                     const Tensor predicate = trace.tensor_of(kept->operands[0], "cond", kept->location);
                     return run_cond(
                                predicate, [&] { return branch(kept->regions[0]); },
                                [&] { return branch(kept->regions[1]); })
                         .tensors;
                   }});
}

namespace {

// Saved states of a loop, per part of the state; memory is bounded whatever the trip count.
constexpr int64_t saved_states = 256;

// The backward pass of a loop of N iterations. It needs the state before each iteration, the last one first. Two
// levels: the loop runs again and saves every q-th state, q = ceil(N / saved_states); then, the last stretch of q
// first, each stretch runs again and saves its states, and is walked backwards. (A stretch too long for that keeps
// every r-th state and runs the up to r - 1 iterations between once more.) Where N has a small known limit one level is
// enough.
class LoopGradient {
 public:
  LoopGradient(TraceContext& trace, const Node& node, std::vector<Tensor> captured, int64_t max_iterations)
      : trace_(trace), node_(node), captured_(std::move(captured)), max_iterations_(max_iterations) {
    for (ValueId operand : node.operands) start_.push_back(trace.tensor_of(operand, "while_loop", node.location));
    for (size_t i = 0; i < start_.size(); ++i)
      if (is_floating(start_[i].dtype())) floating_.push_back(i);
  }

  // From the gradients of the loop's results those of the initial state (empty for integers) and of what it captured.
  std::vector<Tensor> run(std::span<const Tensor> results, std::span<const Tensor> incoming) {
    std::vector<Tensor> gradients;
    for (size_t i : floating_) gradients.push_back(incoming[i].defined() ? incoming[i] : zeros_like(results[i]));
    for (const Tensor& x : captured_) gradients.push_back(zeros_like(x));
    const Tensor count = results[0];
    if (max_iterations_ >= 0 && max_iterations_ <= saved_states) {
      gradients = stretch(start_, count, std::max<int64_t>(max_iterations_, 1), false, std::move(gradients));
    } else {
      const Tensor q = maximum(floordiv(count + (saved_states - 1), saved_states), int64_t{1});
      const std::vector<Tensor> saved = save(start_, count, q, saved_states);
      std::vector<Tensor> state = {floordiv(count + q - 1, q) - 1};
      state.insert(state.end(), gradients.begin(), gradients.end());
      state = loop(
          state, [](const std::vector<Tensor>& s) { return s[0] >= int64_t{0}; },
          [&](const std::vector<Tensor>& s) {
            const Tensor first = s[0] * q;
            std::vector<Tensor> next =
                stretch(load(saved, s[0]), minimum(count - first, q), saved_states, true, {s.begin() + 1, s.end()});
            next.insert(next.begin(), s[0] - 1);
            return next;
          });
      gradients.assign(state.begin() + 1, state.end());
    }
    std::vector<Tensor> all(start_.size());
    for (size_t k = 0; k < floating_.size(); ++k) all[floating_[k]] = gradients[k];
    all.insert(all.end(), gradients.begin() + static_cast<std::ptrdiff_t>(floating_.size()), gradients.end());
    return all;
  }

 private:
  using State = std::vector<Tensor>;

  static State loop(State initial, const std::function<Tensor(const State&)>& condition,
                    const std::function<State(const State&)>& body) {
    OwnedLeaves start;
    start.tensors = std::move(initial);
    auto state_of = [](LeafReader& in) { return State(in.tensors.begin(), in.tensors.end()); };
    return run_while([&](LeafReader& in) { return condition(state_of(in)); },
                     [&](LeafReader& in) { return OwnedLeaves{body(state_of(in)), {}}; }, std::move(start), {}, {})
        .tensors;
  }

  // One iteration of the user's loop.
  State step(const State& state) {
    Replayer replayer(trace_.graph(), trace_);
    const Region& body = node_.regions[1];
    for (size_t i = 0; i < state.size(); ++i) replayer.set(body.arguments[i], state[i]);
    replayer.run(body);
    State next;
    for (ValueId value : body.results) next.push_back(replayer.get(value));
    return next;
  }

  // Runs `count` iterations from `state`; gives buffers of `capacity` states: those before iterations 0, q, 2q, ...
  State save(const State& state, const Tensor& count, const Tensor& q, int64_t capacity) {
    const size_t parts = state.size();
    State all = {Tensor(int64_t{0})};
    all.insert(all.end(), state.begin(), state.end());
    for (const Tensor& x : state) {
      Shape shape = x.shape();
      shape.insert(0, capacity);
      all.push_back(zeros(shape, {.dtype = x.dtype()}));
    }
    all = loop(
        all, [&](const State& s) { return s[0] < count; },
        [&](const State& s) {
          const State present(s.begin() + 1, s.begin() + 1 + static_cast<std::ptrdiff_t>(parts));
          const Tensor slot = floordiv(s[0], q);
          const Tensor here = logical_and(equal(iota({capacity}, {.dtype = DType::i64}), slot), equal(slot * q, s[0]));
          State next = step(present);
          next.insert(next.begin(), s[0] + 1);
          for (size_t i = 0; i < parts; ++i) {
            Shape column = {capacity};
            for (int d = 0; d < present[i].rank(); ++d) column.push_back(1);
            next.push_back(where(reshape(here, column), present[i], s[1 + parts + i]));
          }
          return next;
        });
    return {all.begin() + 1 + static_cast<std::ptrdiff_t>(parts), all.end()};
  }

  static State load(const State& buffers, const Tensor& slot) {
    State state;
    for (const Tensor& buffer : buffers) state.push_back(gather(buffer, slot));
    return state;
  }

  // Walks `count` iterations from `state` backwards. `gradients`: of the state after them, and sums for the captures.
  State stretch(const State& state, const Tensor& count, int64_t capacity, bool may_be_longer, State gradients) {
    const Tensor r =
        may_be_longer ? maximum(floordiv(count + (capacity - 1), capacity), int64_t{1}) : Tensor(int64_t{1});
    const State saved = save(state, count, r, capacity);
    gradients.insert(gradients.begin(), count - 1);
    gradients = loop(
        gradients, [](const State& s) { return s[0] >= int64_t{0}; },
        [&](const State& s) {
          State present = load(saved, may_be_longer ? floordiv(s[0], r) : s[0]);
          if (may_be_longer) present = rerun(std::move(present), s[0] - floordiv(s[0], r) * r);
          return back(present, s);
        });
    return {gradients.begin() + 1, gradients.end()};
  }

  State rerun(State state, const Tensor& count) {
    state.insert(state.begin(), Tensor(int64_t{0}));
    state = loop(
        state, [&](const State& s) { return s[0] < count; },
        [&](const State& s) {
          State next = step({s.begin() + 1, s.end()});
          next.insert(next.begin(), s[0] + 1);
          return next;
        });
    return {state.begin() + 1, state.end()};
  }

  // One iteration backwards. s: its number, the gradients after it, the sums for the captures.
  State back(const State& present, const State& s) {
    std::vector<Tensor> sources, incoming(present.size());
    for (size_t k = 0; k < floating_.size(); ++k) {
      // A handle of its own: two parts of the state may be one value.
      sources.push_back(identity(present[floating_[k]]));
      incoming[floating_[k]] = s[1 + k];
    }
    State arguments = present;
    for (size_t k = 0; k < floating_.size(); ++k) arguments[floating_[k]] = sources[k];
    sources.insert(sources.end(), captured_.begin(), captured_.end());
    State next = gradients_of_region(trace_, node_.regions[1], arguments, sources, incoming);
    for (size_t k = floating_.size(); k < next.size(); ++k) next[k] = s[1 + k] + next[k];
    next.insert(next.begin(), s[0] - 1);
    return next;
  }

  TraceContext& trace_;
  const Node& node_;
  State start_, captured_;
  std::vector<size_t> floating_;
  int64_t max_iterations_;
};

}  // namespace

void record_while_on_tapes(TraceContext& trace, const Node& node, std::span<const Tensor> results,
                           int64_t max_iterations) {
  const std::vector<Tensor> captured = wanted_free_values(trace, node);
  std::vector<Tensor> operands;
  for (ValueId operand : node.operands) operands.push_back(trace.tensor_of(operand, "while_loop", node.location));
  operands.insert(operands.end(), captured.begin(), captured.end());
  if (!tapes_want(operands)) return;
  const auto kept = std::make_shared<const Node>(node);
  const std::vector<Tensor> values(results.begin(), results.end());
  record_on_tapes({OpId::while_loop,
                   operands,
                   values,
                   {},
                   node.location,
                   [&trace, kept, captured, values, max_iterations](std::span<const Tensor> incoming) {
                     return LoopGradient(trace, *kept, captured, max_iterations).run(values, incoming);
                   }});
}

}  // namespace kiln::detail
