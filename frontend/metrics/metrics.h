// Metrics: numbers collected over many batches. Their state is in Variables, so they may be updated in a compiled
// function and read outside of it.
#pragma once
#include <string>

#include "frontend/nn/module.h"
#include "frontend/tensor/operand.h"

namespace kiln {

struct MetricOptions {
  std::string name = {};
};

// The mean of all numbers it was given.
//   Mean loss;  loss.update(batch_loss);  float mean = loss.result().item<float>();
class Mean : public Module {
 public:
  explicit Mean(const MetricOptions& options = {});
  // Takes all elements of `values`, of any shape, f32 or f64.
  void update(const Operand& values) const;
  // f32[]; 0 if nothing came yet.
  Tensor result(std::source_location where = std::source_location::current()) const;
  void reset() const;
  KILN_CHILDREN(total, count)

  Variable total, count;  // f64[]
};

// The share of right predictions; Keras: SparseCategoricalAccuracy, Accuracy.
//   Accuracy accuracy;  accuracy.update(y, net(x));
class Accuracy : public Module {
 public:
  explicit Accuracy(const MetricOptions& options = {});
  // Labels [...] and predictions: logits or probabilities [..., classes], of which the largest counts, or classes of
  // the labels' shape and dtype.
  void update(const Operand& labels, const Operand& predictions) const;
  // f32[]; 0 if nothing came yet.
  Tensor result(std::source_location where = std::source_location::current()) const { return mean_.result(where); }
  void reset() const { mean_.reset(); }
  std::vector<Part> parts() const override { return mean_.parts(); }

 private:
  Mean mean_;
};

}  // namespace kiln
