// GradientTape: records ops, then gives the gradient of a result with respect to what it was made from. Works eagerly
// and in the trace of a compiled function, by the same rules. A tape belongs to the thread that made it.
#pragma once
#include <array>
#include <memory>
#include <source_location>
#include <utility>
#include <vector>

#include "frontend/variable/variable.h"

namespace kiln {

struct TapeOptions {
  bool persistent = false;               // gradient() may be called more than once
  bool watch_accessed_variables = true;  // false: only what watch() names
};

// What gradient() gives for a source that the target does not depend on.
enum class Unconnected : uint8_t { none, zero };

struct GradientOptions {
  Unconnected unconnected = Unconnected::none;
  std::vector<Tensor> output_gradients = {};  // one per target; empty: ones
};

// A Tensor or a Variable.
class Source {
 public:
  Source(const Tensor& x) : tensor_(x) {}
  Source(const Variable& x) : variable_(x) {}
  const Tensor& tensor() const { return tensor_; }
  const Variable& variable() const { return variable_; }

 private:
  Tensor tensor_;
  Variable variable_;
};

namespace detail {
class TapeImpl;
}

class GradientTape {
 public:
  // Records from here until gradient() is called (persistent: to the end of its block).
  //   GradientTape tape;  Tensor loss = mean(square(x.matmul(w) - t));
  //   Tensor dw = tape.gradient(loss, w);
  explicit GradientTape(const TapeOptions& options = {});
  ~GradientTape();
  GradientTape(const GradientTape&) = delete;
  GradientTape& operator=(const GradientTape&) = delete;

  // Variables that are trainable are watched by themselves.
  void watch(const Tensor& x, std::source_location where = std::source_location::current());
  void watch(const Variable& x, std::source_location where = std::source_location::current());
  std::vector<Variable> watched_variables() const;

  // The gradient of the sum of `target`, one per source: auto [dw, db] = tape.gradient(loss, w, b). An empty Tensor
  // where the target does not depend on the source. An error if called twice on a tape that is not persistent.
  Tensor gradient(const Operand& target, const Source& source) {
    return gradients({target.tensor()}, {source}, {}, target.where())[0];
  }
  template <class... More>
    requires(std::constructible_from<Source, const More&> && ...)
  std::array<Tensor, 2 + sizeof...(More)> gradient(const Operand& target, const Source& first, const Source& second,
                                                   const More&... more) {
    std::vector<Tensor> all = gradients({target.tensor()}, {first, second, Source(more)...}, {}, target.where());
    std::array<Tensor, 2 + sizeof...(More)> result;
    std::move(all.begin(), all.end(), result.begin());
    return result;
  }
  std::vector<Tensor> gradient(const Operand& target, const std::vector<Variable>& sources,
                               const GradientOptions& options = {});
  std::vector<Tensor> gradient(const Operand& target, const std::vector<Tensor>& sources,
                               const GradientOptions& options = {});
  // The general form: the gradients of several targets add up.
  std::vector<Tensor> gradients(const std::vector<Tensor>& targets, const std::vector<Source>& sources,
                                const GradientOptions& options = {},
                                std::source_location where = std::source_location::current());

  // Forgets all that was recorded and what was watched.
  void reset();

  // Ops are not recorded while the returned object lives.
  class [[nodiscard]] Pause {
   public:
    explicit Pause(detail::TapeImpl* tape);
    ~Pause();
    Pause(const Pause&) = delete;

   private:
    detail::TapeImpl* tape_;
  };
  Pause stop_recording() { return Pause(impl_.get()); }

 private:
  std::unique_ptr<detail::TapeImpl> impl_;
};

namespace detail {
inline const Tensor& loss_of(const Tensor& x) { return x; }
template <class T>
const Tensor& loss_of(const T& values) {
  return std::get<0>(values);
}
}  // namespace detail

// Calls f, which returns the loss or a tuple that starts with it: (what f returned, the gradients).
//   auto [loss, grads] = value_and_gradient([&] { return loss_fn(y, net(x)); }, net.variables());
template <class F>
auto value_and_gradient(F&& f, const std::vector<Variable>& variables,
                        std::source_location where = std::source_location::current()) {
  GradientTape tape;
  auto value = f();
  std::vector<Tensor> gradients = tape.gradient(Operand(detail::loss_of(value), where), variables);
  return std::pair(std::move(value), std::move(gradients));
}

}  // namespace kiln
