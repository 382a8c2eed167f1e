// Trains a small network on made-up digits, eagerly or compiled, and gives a hash of all bits that came out.
#pragma once
#include <kiln/kiln.h>
#include <cstdint>
#include <cstring>
#include <vector>

namespace mlp_run {

inline uint64_t hash_bits(const std::vector<kiln::Variable>& variables) {
  uint64_t hash = 0xCBF29CE484222325u;  // FNV-1a
  for (const kiln::Variable& v : variables)
    for (float x : v.to_vector<float>()) {
      uint32_t bits;
      std::memcpy(&bits, &x, sizeof(bits));
      hash = (hash ^ bits) * 0x100000001B3u;
    }
  return hash;
}

// The numbers of the hash: an integer hash, so that all machines make the same data.
inline float u(uint32_t j, uint32_t v) {
  uint32_t x = j * 2654435761u + v * 40503u + 12345u;
  x ^= x >> 15, x *= 2246822519u, x ^= x >> 13, x *= 3266489917u, x ^= x >> 16;
  return static_cast<float>(x) * 0x1p-32f;
}

// 784-100-10, dropout 0.2, Adam, batch 32; always the same weights and data.
inline uint64_t train(int64_t steps, bool compiled) {
  using namespace kiln;
  constexpr int64_t batch = 32, batches = 16;
  std::vector<float> pixels(batch * batches * 784);
  std::vector<int32_t> digits(batch * batches);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = u(static_cast<uint32_t>(i), 998);
  for (size_t i = 0; i < digits.size(); ++i) digits[i] = static_cast<int32_t>(10 * u(static_cast<uint32_t>(i), 997));
  const Tensor x(pixels, {batch * batches, 784}), y(digits);

  Sequential net{Dense(100, {.activation = relu, .seed = 1}), Dropout(0.2, {.seed = 2}), Dense(10, {.seed = 3})};
  net.build({-1, 784});
  const std::vector<Variable> weights = net.trainable_variables();
  SparseCategoricalCrossentropy loss_fn({.from_logits = true});
  Adam adam;
  auto step = [&](Tensor images, Tensor labels) {
    auto [loss, gradients] = value_and_gradient([&] { return loss_fn(labels, net(images, training)); }, weights);
    adam.apply(gradients, weights);
    return loss;
  };
  auto compiled_step = function(step, {.name = "train_step"});
  for (auto [images, labels] : from_slices(x, y).batch(batch).repeat().take(steps))
    if (compiled)
      compiled_step(images, labels);
    else
      step(images, labels);
  return hash_bits(weights);
}

}  // namespace mlp_run
