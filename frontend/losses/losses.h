// Losses: how far predictions are from what is right. Names, defaults and formulas are those of Keras; called as
// loss(right, predicted).
#pragma once
#include <cstdint>

#include "frontend/tensor/operand.h"

namespace kiln {

// What becomes of the losses of a batch's examples.
enum class Reduction : uint8_t {
  mean,  // their sum divided by their number; Keras: "sum_over_batch_size"
  sum,
  none,  // one loss for each example
};

struct LossOptions {
  Reduction reduction = Reduction::mean;
};
struct CrossentropyOptions {
  bool from_logits = false;  // the predictions are logits, not probabilities: more exact, and what a Dense layer gives
  Reduction reduction = Reduction::mean;
};

// -log of the probability given to the right class. labels [...] (i32 or i64, from 0), predictions [..., classes] (f32
// or f64). A label outside of the classes is an error, also in a compiled function (then at run time).
//   SparseCategoricalCrossentropy loss_fn({.from_logits = true});
//   Tensor loss = loss_fn(y, net(x));
class SparseCategoricalCrossentropy {
 public:
  explicit SparseCategoricalCrossentropy(const CrossentropyOptions& options = {}) : options_(options) {}
  Tensor operator()(const Operand& labels, const Operand& predictions) const;

 private:
  CrossentropyOptions options_;
};

// -sum(labels * log(probability)) over the last axis; labels and predictions have one shape [..., classes].
//   CategoricalCrossentropy({.from_logits = true})(Tensor{{1.f, 0.f}}, Tensor{{-1.f, 3.f}})   // 4.01815
class CategoricalCrossentropy {
 public:
  explicit CategoricalCrossentropy(const CrossentropyOptions& options = {}) : options_(options) {}
  Tensor operator()(const Operand& labels, const Operand& predictions) const;

 private:
  CrossentropyOptions options_;
};

// -(labels * log(p) + (1 - labels) * log(1 - p)), its mean over the last axis; one shape.
//   Tensor loss = BinaryCrossentropy({.from_logits = true})(is_cat, net(x));
class BinaryCrossentropy {
 public:
  explicit BinaryCrossentropy(const CrossentropyOptions& options = {}) : options_(options) {}
  Tensor operator()(const Operand& labels, const Operand& predictions) const;

 private:
  CrossentropyOptions options_;
};

// (labels - predictions)^2, its mean over the last axis; one shape, labels are cast to the predictions' dtype.
//   Tensor loss = MeanSquaredError()(y, net(x));
class MeanSquaredError {
 public:
  explicit MeanSquaredError(const LossOptions& options = {}) : options_(options) {}
  Tensor operator()(const Operand& labels, const Operand& predictions) const;

 private:
  LossOptions options_;
};

}  // namespace kiln
