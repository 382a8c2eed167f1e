// The layers. Names and defaults are those of Keras; images are [batch, height, width, channels].
#pragma once
#include <cstdint>
#include <optional>
#include <source_location>
#include <string>

#include "frontend/nn/layer.h"

namespace kiln {

struct DenseOptions {
  UnaryFunction activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = init::glorot_uniform;
  Initializer bias_initializer = init::zeros;
  int64_t input = 0;                  // features of the input; 0: as the first input has
  std::optional<uint64_t> seed = {};  // of the first weights; none: the next of the program
  std::string name = {};
};

// A layer with a kernel and perhaps a bias.
class WeightedLayer : public Layer {
 public:
  std::vector<Part> parts() const override;
  // Empty until the layer is built. use_bias = false: bias stays empty.
  const Variable& kernel() const { return weights().kernel; }
  const Variable& bias() const { return weights().bias; }

 protected:
  struct Weights : detail::LayerState {
    UnaryFunction activation;
    bool use_bias;
    Initializer kernel_initializer, bias_initializer;
    uint64_t seed;
    std::once_flag once;  // several threads may make the first call
    Variable kernel, bias;
  };
  explicit WeightedLayer(std::shared_ptr<Weights> weights) : Layer(std::move(weights)) {}
  Weights& weights() const { return static_cast<Weights&>(*state_); }
  template <class Options>
  static void take(Weights& weights, const Options& options);
  // Makes the weights once, by the kernel's shape and dtype that kernel_type() gives. Every call passes here, so that
  // all threads see the weights.
  template <class F>
  void build_once(F kernel_type) const;
  // activation(x + bias)
  Tensor finish(const Tensor& x, std::source_location where) const;
};

// activation(x matmul kernel + bias): [..., features] -> [..., units]. The weights are made for the first input, in its
// dtype (f32 or f64): kernel [features, units] and bias [units].
//   Dense hidden(128, {.activation = relu});
//   Tensor y = hidden(x);
class Dense : public WeightedLayer {
 public:
  // An error if units < 1.
  explicit Dense(int64_t units, const DenseOptions& options = {},
                 std::source_location where = std::source_location::current());
  Tensor operator()(const Operand& x) const;
  // Makes the weights for an input of that many features.
  void build(int64_t features, DType dtype = DType::f32) const;

 private:
  int64_t units_;
};

// Height and width: Conv2D(32, 5), Conv2D(32, {3, 5}).
struct Size2D {
  Size2D(int64_t both) : height(both), width(both) {}
  Size2D(int64_t height, int64_t width) : height(height), width(width) {}
  std::vector<int64_t> list() const { return {height, width}; }
  int64_t height, width;
};

struct Conv2DOptions {
  Size2D strides = 1;
  std::string padding = "valid";  // or "same": as many results as the input has pixels (divided by the stride)
  Size2D dilation = 1;
  int64_t groups = 1;
  UnaryFunction activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = init::glorot_uniform;
  Initializer bias_initializer = init::zeros;
  std::optional<uint64_t> seed = {};
  std::string name = {};
};

// activation(conv2d(x, kernel) + bias): [n, h, w, c] -> [n, h', w', filters]. The weights are made for the first input,
// in its dtype: kernel [height, width, c / groups, filters] and bias [filters].
//   Conv2D conv(32, 5, {.padding = "same", .activation = relu});
class Conv2D : public WeightedLayer {
 public:
  // An error if filters, a size, stride, dilation or groups is below 1, or the padding has another name.
  Conv2D(int64_t filters, Size2D kernel_size, const Conv2DOptions& options = {},
         std::source_location where = std::source_location::current());
  Tensor operator()(const Operand& x) const;
  // Makes the weights for an input of that many channels.
  void build(int64_t channels, DType dtype = DType::f32,
             std::source_location where = std::source_location::current()) const;

 private:
  Shape kernel_shape(int64_t channels, std::source_location where) const;
  int64_t filters_;
  Size2D kernel_size_, strides_, dilation_;
  std::string padding_;
  int64_t groups_;
};

struct Pooling2DOptions {
  std::optional<Size2D> strides = {};  // none: the pool's size
  std::string padding = "valid";       // or "same"
  std::string name = {};
};

// The largest pixel of each window: [n, h, w, c] -> [n, h', w', c].
//   MaxPool2D pool(2);
class MaxPool2D : public Layer {
 public:
  explicit MaxPool2D(Size2D pool_size = 2, const Pooling2DOptions& options = {});
  Tensor operator()(const Operand& x) const;
  std::string type_name() const override { return "MaxPooling2D"; }

 private:
  Size2D pool_size_, strides_;
  std::string padding_;
};

// The mean of each window, padding not counted.
//   AveragePooling2D pool({2, 3}, {.padding = "same"});
class AveragePooling2D : public Layer {
 public:
  explicit AveragePooling2D(Size2D pool_size = 2, const Pooling2DOptions& options = {});
  Tensor operator()(const Operand& x) const;

 private:
  Size2D pool_size_, strides_;
  std::string padding_;
};

struct LayerOptions {
  std::string name = {};
};

// [n, ...] -> [n, product of the rest]. An error on a 0-d tensor.
class Flatten : public Layer {
 public:
  explicit Flatten(const LayerOptions& options = {});
  Tensor operator()(const Operand& x) const;
};

struct DropoutOptions {
  std::optional<int64_t> seed = {};  // none: the process's generator, see set_seed
  std::string name = {};
};

// In training: each element is 0 with probability `rate`, else divided by 1 - rate; another choice at each call. Else
// x. With a seed it has a generator of its own, the Variable "seed_state" {seed, calls}. Eager and compiled calls draw
// alike.
//   Dropout drop(0.4f);
//   Tensor y = drop(x, training);
class Dropout : public Layer {
 public:
  // An error unless 0 <= rate <= 1.
  explicit Dropout(double rate, const DropoutOptions& options = {},
                   std::source_location where = std::source_location::current());
  Tensor operator()(const Operand& x, Mode mode = inference) const;
  std::vector<Part> parts() const override;

 private:
  struct State : detail::LayerState {
    Variable seed_state;
  };
  double rate_;
};

// A function as a layer: Activation(relu).
class Activation : public Layer {
 public:
  explicit Activation(UnaryFunction function, const LayerOptions& options = {});
  Tensor operator()(const Operand& x) const;

 private:
  UnaryFunction function_;
};

}  // namespace kiln
