#include "frontend/metrics/metrics.h"

#include "frontend/autodiff/tape_impl.h"
#include "frontend/include/kiln/error.h"
#include "frontend/trace/scope.h"
#include "generated/ops.h"

namespace kiln {

Mean::Mean(const MetricOptions& options) {
  const std::string name = options.name.empty() ? "mean" : options.name;
  total = Variable(Tensor(0.0), {.name = name + "/total", .trainable = false});
  count = Variable(Tensor(0.0), {.name = name + "/count", .trainable = false});
}

void Mean::update(const Operand& values) const {
  const detail::UserScope scope("mean_metric", values.where());
  const detail::TapePause pause;
  const Tensor x = values.tensor();
  total.assign_add(reduce_sum(cast(x, DType::f64)));
  count.assign_add(size(x, {.dtype = DType::f64}));
}

Tensor Mean::result(std::source_location at) const {
  const detail::UserScope scope("mean_metric", at);
  const detail::TapePause pause;
  return cast(total.read(at) / maximum(count.read(at), 1.0), DType::f32);
}

void Mean::reset() const {
  total.assign(0.0);
  count.assign(0.0);
}

Accuracy::Accuracy(const MetricOptions& options) : mean_({options.name.empty() ? "accuracy" : options.name}) {}

void Accuracy::update(const Operand& labels, const Operand& predictions) const {
  const detail::UserScope scope("accuracy", labels.where());
  const detail::TapePause pause;
  const Tensor y = labels.tensor();
  Tensor p = predictions.tensor();
  if (p.rank() == y.rank() + 1) p = argmax(p, {.axis = -1});
  if (!(p.shape() == y.shape()))
    throw_error(
        Code::invalid_argument,
        "accuracy: labels " + to_string(y.shape()) + " do not fit predictions " + to_string(predictions.shape()),
        labels.where());
  mean_.update(cast(equal(cast(p, y.dtype()), y), DType::f32));
}

}  // namespace kiln
