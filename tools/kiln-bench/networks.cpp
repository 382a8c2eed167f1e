#include "tools/kiln-bench/networks.h"

namespace kiln::bench {
namespace {

Tensor dense(Weights& p, const Tensor& x) {
  const Tensor &w = p.next(), &b = p.next();
  return x.matmul(w) + b;
}

// The same on the last of three axes.
Tensor dense3(Weights& p, const Tensor& x) {
  const Dim n = x.dim(0), t = x.dim(1), d = x.dim(2);
  const Tensor y = dense(p, x.reshape({n * t, d}));
  return y.reshape({n, t, y.dim(1)});
}

// Batch-norm with mean 0 and variance 1.
Tensor norm(Weights& p, const Tensor& x) {
  const Tensor &scale = p.next(), &offset = p.next();
  return batch_normalization(x, 0.f, 1.f, offset, scale, {.epsilon = 1e-5});
}

Tensor conv_norm(Weights& p, const Tensor& x, int64_t stride = 1) { return norm(p, conv(x, p.next(), stride)); }

Conv2dOptions padded(const Tensor& filter, int64_t stride) {
  const int64_t p = (filter.dim(0).size() - 1) / 2;
  return {.strides = {stride, stride}, .padding = "explicit", .paddings = {p, p, p, p}};
}

struct Block {
  int64_t in, out, stride;
};
constexpr Block cifar_blocks[] = {{16, 16, 1}, {16, 32, 2}, {32, 64, 2}};

struct InvertedResidual {
  int64_t expansion, channels, stride;
};
std::vector<InvertedResidual> mobilenet_blocks() {
  struct Stage {
    int64_t expansion, channels, repeats, stride;
  };
  std::vector<InvertedResidual> blocks;
  for (const Stage& s :
       {Stage{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}})
    for (int64_t j = 0; j < s.repeats; ++j) blocks.push_back({s.expansion, s.channels, j ? 1 : s.stride});
  return blocks;
}

struct Bottleneck {
  int64_t width, stride;
  bool project;
};
std::vector<Bottleneck> resnet50_blocks() {
  struct Stage {
    int64_t width, repeats, stride;
  };
  std::vector<Bottleneck> blocks;
  for (const Stage& s : {Stage{64, 3, 1}, {128, 4, 2}, {256, 6, 2}, {512, 3, 2}})
    for (int64_t j = 0; j < s.repeats; ++j) blocks.push_back({s.width, j ? 1 : s.stride, j == 0});
  return blocks;
}

}  // namespace

Params mlp_params() { return Params().dense(784, 100).dense(100, 10); }
Params cnn_params() {
  return Params().conv(5, 1, 32).zeros(32).conv(5, 32, 64).zeros(64).dense(3136, 1024).dense(1024, 10);
}
Params lstm_params() { return Params().weight({128, 1024}).weight({256, 1024}).zeros(1024).dense(256, 128); }
Params transformer_params() {
  Params p = Params().ones(256).zeros(256);
  for (int i = 0; i < 4; ++i) p.dense(256, 256);  // query, key, value, output
  return p.ones(256).zeros(256).dense(256, 1024).dense(1024, 256);
}
Params dqn_params() { return Params().dense(4, 24).dense(24, 24).dense(24, 2); }
Params cifar_params() {
  Params p = Params().conv_norm(3, 3, 16);
  for (const Block& b : cifar_blocks) {
    p.conv_norm(3, b.in, b.out).conv_norm(3, b.out, b.out);
    if (b.in != b.out) p.conv_norm(1, b.in, b.out);  // shortcut
  }
  return p.dense(64, 10);
}
Params mobilenet_params() {
  Params p = Params().conv_norm(3, 3, 32);
  int64_t in = 32;
  for (const InvertedResidual& b : mobilenet_blocks()) {
    if (b.expansion != 1) p.conv_norm(1, in, in * b.expansion);
    p.depthwise_norm(3, in * b.expansion).conv_norm(1, in * b.expansion, b.channels);
    in = b.channels;
  }
  return p.conv_norm(1, 320, 1280).dense(1280, 1000);
}
Params resnet50_params() {
  Params p = Params().conv_norm(7, 3, 64);
  int64_t in = 64;
  for (const Bottleneck& b : resnet50_blocks()) {
    p.conv_norm(1, in, b.width).conv_norm(3, b.width, b.width).conv_norm(1, b.width, 4 * b.width);
    if (b.project) p.conv_norm(1, in, 4 * b.width);
    in = 4 * b.width;
  }
  return p.dense(2048, 1000);
}

Tensor conv(const Tensor& x, const Tensor& filter, int64_t stride) { return conv2d(x, filter, padded(filter, stride)); }

Tensor depthwise(const Tensor& x, const Tensor& filter, int64_t stride) {
  Conv2dOptions options = padded(filter, stride);
  options.groups = filter.dim(2).size();
  return conv2d(x, filter.reshape({filter.dim(0), filter.dim(1), 1, filter.dim(2)}), options);
}

std::tuple<Tensor, Tensor, Tensor> batch_norm_training(const Tensor& x, const Tensor& scale, const Tensor& offset) {
  std::vector<int64_t> axes;
  for (int i = 0; i + 1 < x.rank(); ++i) axes.push_back(i);
  const Tensor mean = reduce_mean(x, {.axis = axes}), variance = reduce_variance(x, {.axis = axes});
  return {batch_normalization(x, mean, variance, offset, scale, {.epsilon = 1e-5}), mean, variance};
}

Tensor layer_norm(const Tensor& x, const Tensor& scale, const Tensor& offset) {
  return layer_normalization(x, scale, offset, {.epsilon = 1e-5});
}

Tensor cross_entropy(const Tensor& logits, const Tensor& labels) {
  return reduce_mean(sparse_softmax_cross_entropy_with_logits(labels, logits));
}

Tensor mlp(Weights p, Tensor x) {
  x = relu(dense(p, x));
  return dense(p, x);
}

Tensor cnn(Weights p, Tensor x) {
  for (int i = 0; i < 2; ++i) {
    const Tensor &filter = p.next(), &bias = p.next();
    x = max_pool2d(relu(conv(x, filter) + bias));
  }
  x = relu(dense(p, x.reshape({x.dim(0), 3136})));
  return dense(p, x);
}

Tensor mobilenet(Weights p, Tensor x) {
  x = relu6(conv_norm(p, x, 2));
  for (const InvertedResidual& b : mobilenet_blocks()) {
    Tensor y = b.expansion == 1 ? x : relu6(conv_norm(p, x));
    y = relu6(norm(p, depthwise(y, p.next(), b.stride)));
    y = conv_norm(p, y);
    x = b.stride == 1 && x.dim(3) == y.dim(3) ? x + y : y;
  }
  x = relu6(conv_norm(p, x));
  return dense(p, reduce_mean(x, {.axis = {1, 2}}));
}

Tensor resnet50(Weights p, Tensor x) {
  x = max_pool2d(relu(conv_norm(p, x, 2)),
                 {.pool_size = {3, 3}, .strides = {2, 2}, .padding = "explicit", .paddings = {1, 1, 1, 1}});
  for (const Bottleneck& b : resnet50_blocks()) {
    Tensor y = relu(conv_norm(p, x));
    y = relu(conv_norm(p, y, b.stride));
    y = conv_norm(p, y);
    x = relu(y + (b.project ? conv_norm(p, x, b.stride) : x));
  }
  return dense(p, reduce_mean(x, {.axis = {1, 2}}));
}

Tensor mlp_loss(Weights p, const Batch& batch) { return cross_entropy(mlp(p, batch[0]), batch[1]); }
Tensor cnn_loss(Weights p, const Batch& batch) { return cross_entropy(cnn(p, batch[0]), batch[1]); }

Tensor lstm_loss(Weights p, const Batch& batch) {
  const Tensor &wx = p.next(), &wh = p.next(), &b = p.next();
  const Tensor ids = transpose(batch[0]);  // [41, 50]
  const Tensor inputs = one_hot(ids[slice(0, 40)], 128).reshape({2000, 128}).matmul(wx) + b;
  Tensor h = zeros({50, 256}), c = h;
  std::vector<Tensor> outputs;
  for (const Tensor& x : unstack(inputs.reshape({40, 50, 1024}))) {
    const std::vector<Tensor> gates = split(x + h.matmul(wh), {256, 256, 256, 256}, {.axis = 1});  // i, f, g, o
    c = sigmoid(gates[1]) * c + sigmoid(gates[0]) * tanh(gates[2]);
    h = sigmoid(gates[3]) * tanh(c);
    outputs.push_back(h);
  }
  return cross_entropy(dense(p, concat(outputs, 0)), ids[slice(1, 41)].reshape({2000}));
}

Tensor transformer_loss(Weights p, const Batch& batch) {
  Tensor x = batch[0];
  const Dim n = x.dim(0), t = x.dim(1);
  const Tensor &scale1 = p.next(), &offset1 = p.next();
  const Tensor normed = layer_norm(x, scale1, offset1);
  std::array<Tensor, 3> heads;  // query, key, value: [n, 4, t, 64]
  for (Tensor& head : heads) head = transpose(dense3(p, normed).reshape({n, t, 4, 64}), {.perm = {0, 2, 1, 3}});
  const Tensor weights = softmax(matmul(heads[0], heads[1], {.transpose_y = true}) * 0.125f);
  x = x + dense3(p, transpose(weights.matmul(heads[2]), {.perm = {0, 2, 1, 3}}).reshape({n, t, 256}));
  const Tensor &scale2 = p.next(), &offset2 = p.next();
  const Tensor hidden = gelu(dense3(p, layer_norm(x, scale2, offset2)), {.approximate = true});
  return reduce_mean(square(x + dense3(p, hidden) - batch[1]));
}

Tensor dqn_loss(Weights p, const Batch& batch) {
  Tensor h = relu(dense(p, batch[0]));
  h = relu(dense(p, h));
  const Tensor q = take_along_axis(dense(p, h), expand_dims(batch[1], 1), {.axis = 1});
  return reduce_mean(square(q.reshape({32}) - batch[2]));
}

Loss make_cifar_loss() {
  std::vector<Variable> moving;  // mean, variance, mean, ...
  auto add = [&](int64_t n) {
    moving.push_back(Variable(zeros({n}), {.trainable = false}));
    moving.push_back(Variable(ones({n}), {.trainable = false}));
  };
  add(16);
  for (const Block& b : cifar_blocks)
    for (int i = 0; i < (b.in == b.out ? 2 : 3); ++i) add(b.out);
  return [moving](Weights p, const Batch& batch) {
    const Variable* next = moving.data();
    auto conv_norm = [&](const Tensor& x, int64_t stride = 1) {
      const Tensor &filter = p.next(), &scale = p.next(), &offset = p.next();
      auto [y, mean, variance] = batch_norm_training(conv(x, filter, stride), scale, offset);
      for (const Tensor& now : {mean, variance}) {
        next->assign_sub(0.1f * (next->read() - now));
        ++next;
      }
      return y;
    };
    Tensor x = relu(conv_norm(batch[0]));
    for (const Block& b : cifar_blocks) {
      const Tensor first = relu(conv_norm(x, b.stride)), second = conv_norm(first);
      x = relu(second + (b.in == b.out ? x : conv_norm(x, b.stride)));
    }
    return cross_entropy(dense(p, reduce_mean(x, {.axis = {1, 2}})), batch[1]);
  };
}

}  // namespace kiln::bench
