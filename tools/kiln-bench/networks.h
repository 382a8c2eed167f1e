// The networks and losses of the model, infer and compile workloads.
#pragma once
#include <functional>
#include <vector>

#include "tools/kiln-bench/spec.h"

namespace kiln::bench {

// Weights in the order of the Params.
class Weights {
 public:
  explicit Weights(const std::vector<Tensor>& tensors) : next_(tensors.data()) {}
  const Tensor& next() { return *next_++; }

 private:
  const Tensor* next_;
};

Params mlp_params();
Params cnn_params();
Params lstm_params();
Params transformer_params();
Params dqn_params();
Params cifar_params();
Params mobilenet_params();
Params resnet50_params();

// Convolution with (k - 1) / 2 zeros on every side.
Tensor conv(const Tensor& x, const Tensor& filter, int64_t stride = 1);
Tensor depthwise(const Tensor& x, const Tensor& filter, int64_t stride = 1);  // filter [k, k, c, 1]
// y, mean, variance (biased) over all but the last axis; epsilon 1e-5.
std::tuple<Tensor, Tensor, Tensor> batch_norm_training(const Tensor& x, const Tensor& scale, const Tensor& offset);
Tensor layer_norm(const Tensor& x, const Tensor& scale, const Tensor& offset);
Tensor cross_entropy(const Tensor& logits, const Tensor& labels);  // mean over the rows

Tensor mlp(Weights p, Tensor x);
Tensor cnn(Weights p, Tensor x);
Tensor mobilenet(Weights p, Tensor x);
Tensor resnet50(Weights p, Tensor x);

// A loss from the weights and one batch.
using Batch = std::vector<Tensor>;
using Loss = std::function<Tensor(Weights, const Batch&)>;
Tensor mlp_loss(Weights p, const Batch& batch);
Tensor cnn_loss(Weights p, const Batch& batch);
Tensor lstm_loss(Weights p, const Batch& batch);
Tensor transformer_loss(Weights p, const Batch& batch);
Tensor dqn_loss(Weights p, const Batch& batch);
Loss make_cifar_loss();  // has moving averages of its own

}  // namespace kiln::bench
