// What a GradientTape has recorded, and the list of tapes of a thread. Internal.
#pragma once
#include <functional>
#include <map>
#include <span>
#include <unordered_set>
#include <vector>

#include "compiler/api/graph.h"
#include "frontend/autodiff/tape.h"

namespace kiln {
class TraceContext;
}

namespace kiln::detail {

// The gradients of an entry's operands from those of its results; entries may be empty Tensors.
using Backward = std::function<std::vector<Tensor>(std::span<const Tensor> result_gradients)>;

struct TapeEntry {
  OpId op;
  std::vector<Tensor> operands, results;
  std::vector<Attribute> attributes;
  SourceLocation where;
  Backward backward = {};      // set: used instead of the op's rule
  const char* name = nullptr;  // for errors; the op's if null
};

class TapeImpl {
 public:
  explicit TapeImpl(const TapeOptions& options);
  ~TapeImpl();
  TapeImpl(const TapeImpl&) = delete;

  void record(const TapeEntry& entry);
  bool wants(std::span<const Tensor> operands) const;
  void watch(const Tensor& x);
  void watch_variable(VariableState& variable);
  void note_read(VariableState& variable, const Tensor& value);
  std::vector<Tensor> gradients(std::span<const Tensor> targets, std::span<const Source> sources,
                                const GradientOptions& options, std::source_location where);
  std::vector<Variable> watched_variables() const;
  void reset();

  TraceContext* context;  // the trace it was made in; null: eager
  int depth = 0;          // its region of that trace
  int32_t region = 0;
  bool recording = true;
  int paused = 0;

 private:
  struct WatchedVariable {
    Variable handle;
    bool watched = false;
    std::vector<Tensor> values;  // what reads of it gave
  };
  WatchedVariable& slot(VariableState& variable);
  Tensor sum(Tensor a, const Tensor& b) const;

  TapeOptions options_;
  bool used_ = false;
  std::vector<TapeEntry> entries_;
  std::unordered_set<uint64_t> connected_;  // keys of what depends on a watched tensor
  std::vector<Tensor> kept_;                // keeps watched keys from being used again
  std::vector<VariableState*> order_;       // of the variables, as first watched
  std::map<VariableState*, WatchedVariable> variables_;
};

// True if a tape of the present trace (or of eager code) is recording.
bool tapes_active();
// True if some tape records here and depends on one of the operands: the op's entry is wanted.
bool tapes_want(std::span<const Tensor> operands);
// Tells the tapes that record here.
void record_on_tapes(const TapeEntry& entry);
// Tells them that a Variable's read gave `value`.
void note_variable_read(VariableState& variable, const Tensor& value);

// No tape records while it lives.
class TapePause {
 public:
  TapePause();
  ~TapePause();
  TapePause(const TapePause&) = delete;
};

// What identifies a Tensor on a tape: the value of the trace, or the shared state of the handle.
uint64_t tape_key(const Tensor& x);

}  // namespace kiln::detail
