#include "frontend/losses/losses.h"

#include "frontend/include/kiln/error.h"
#include "frontend/trace/scope.h"
#include "generated/ops.h"

namespace kiln {
namespace {

// Probabilities are kept this far from 0 and 1, so that their logarithms are finite.
constexpr double probability_margin = 1e-7;

Tensor reduced(const Tensor& losses, Reduction reduction) {
  switch (reduction) {
    case Reduction::mean:
      return losses.rank() == 0 ? losses : reduce_mean(losses);
    case Reduction::sum:
      return losses.rank() == 0 ? losses : reduce_sum(losses);
    case Reduction::none:
      break;
  }
  return losses;
}

Tensor mean_of_last_axis(const Tensor& x) { return x.rank() == 0 ? x : reduce_mean(x, {.axis = {-1}}); }

struct Pair {
  Tensor labels, predictions;
};

Pair defined(const char* loss, const Operand& labels, const Operand& predictions) {
  Pair pair{labels.tensor(), predictions.tensor()};
  if (!pair.labels.defined() || !pair.predictions.defined())
    throw_error(
        Code::invalid_argument,
        std::string(loss) + ": the " + (pair.labels.defined() ? "predictions" : "labels") + " are an empty Tensor",
        labels.where());
  return pair;
}

// Labels and predictions of one shape and dtype. [n] fits [n,1] and the other way round; no broadcasting beyond that.
Pair matched(const char* loss, const Operand& labels, const Operand& predictions) {
  auto [y, p] = defined(loss, labels, predictions);
  if (!is_floating(p.dtype()))
    throw_error(Code::invalid_argument,
                std::string(loss) + ": the predictions are " + std::string(name_of(p.dtype())) + to_string(p.shape()) +
                    ", they must be f32 or f64",
                labels.where());
  auto with_one = [](Shape shape) {
    shape.push_back(1);
    return shape;
  };
  if (with_one(y.shape()) == p.shape() || with_one(p.shape()) == y.shape()) y = reshape(y, p.shape());
  if (!(y.shape() == p.shape()))
    throw_error(Code::invalid_argument,
                std::string(loss) + ": the labels are " + std::string(name_of(y.dtype())) + to_string(y.shape()) +
                    " but the predictions " + std::string(name_of(p.dtype())) + to_string(p.shape()) +
                    ": the shapes must be equal",
                labels.where());
  if (y.dtype() != p.dtype()) y = cast(y, p.dtype());
  return {std::move(y), std::move(p)};
}

Tensor clipped_probability(const Tensor& p) { return clip_by_value(p, probability_margin, 1 - probability_margin); }

}  // namespace

Tensor SparseCategoricalCrossentropy::operator()(const Operand& labels, const Operand& predictions) const {
  const detail::UserScope scope("sparse_categorical_crossentropy", labels.where());
  auto [y, p] = defined("sparse_categorical_crossentropy", labels, predictions);
  if (y.rank() == p.rank() && y.rank() > 0 && y.shape().back() == Dim(1)) y = squeeze(y, {.axis = {-1}});
  const Tensor logits = options_.from_logits ? p : log(clipped_probability(p));
  return reduced(sparse_softmax_cross_entropy_with_logits(y, logits), options_.reduction);
}

Tensor CategoricalCrossentropy::operator()(const Operand& labels, const Operand& predictions) const {
  const detail::UserScope scope("categorical_crossentropy", labels.where());
  const auto [y, p] = matched("categorical_crossentropy", labels, predictions);
  if (options_.from_logits) return reduced(softmax_cross_entropy_with_logits(y, p), options_.reduction);
  const Tensor normal = p / reduce_sum(p, {.axis = {-1}, .keepdims = true});
  return reduced(-reduce_sum(y * log(clipped_probability(normal)), {.axis = {-1}}), options_.reduction);
}

Tensor BinaryCrossentropy::operator()(const Operand& labels, const Operand& predictions) const {
  const detail::UserScope scope("binary_crossentropy", labels.where());
  const auto [y, p] = matched("binary_crossentropy", labels, predictions);
  Tensor losses;
  if (options_.from_logits) {
    losses = sigmoid_cross_entropy_with_logits(y, p);
  } else {
    const Tensor probability = clipped_probability(p);
    losses = -(y * log(probability) + (1 - y) * log(1 - probability));
  }
  return reduced(mean_of_last_axis(losses), options_.reduction);
}

Tensor MeanSquaredError::operator()(const Operand& labels, const Operand& predictions) const {
  const detail::UserScope scope("mean_squared_error", labels.where());
  const auto [y, p] = matched("mean_squared_error", labels, predictions);
  return reduced(mean_of_last_axis(squared_difference(y, p)), options_.reduction);
}

}  // namespace kiln
