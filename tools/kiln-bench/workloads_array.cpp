// fusion, matmul, conv: one compiled call of one operation or a small chain, outputs written to memory.
#include "tools/kiln-bench/bench.h"
#include "tools/kiln-bench/networks.h"

namespace kiln::bench {
namespace {

constexpr int64_t million = 1 << 20;

// The call of a function of one, two or three tensors.
template <class F>
auto compiled(F lambda, Tensor x) {
  return [f = function(std::move(lambda)), x] { return f(x); };
}
template <class F>
auto compiled(F lambda, Tensor x, Tensor y) {
  return [f = function(std::move(lambda)), x, y] { return f(x, y); };
}
template <class F>
auto compiled(F lambda, Tensor x, Tensor y, Tensor z) {
  return [f = function(std::move(lambda)), x, y, z] { return f(x, y, z); };
}

Tensor big(float shift) { return u({4096, 1024}, 1, 1, shift); }
Tensor x56(uint32_t seed) { return u({8, 56, 56, 64}, seed); }
Tensor x112() { return u({8, 112, 112, 32}, 1); }

}  // namespace

void add_fusion(Workloads& w) {
  w.add("fusion/gelu_1m",
        [] { return compiled([](Tensor x) { return gelu(x, {.approximate = true}); }, u({million}, 1, 8)); });
  w.add("fusion/exp_1m", [] { return compiled([](Tensor x) { return exp(x); }, u({million}, 1, 8)); });
  w.add("fusion/chain_1024", [] {
    return compiled([](Tensor x, Tensor b, Tensor y) { return relu(x + b) * 0.5f + y; }, u({1024, 1024}, 1),
                    u({1024}, 2), u({1024, 1024}, 3));
  });
  w.add("fusion/softmax_1024", [] { return compiled([](Tensor x) { return softmax(x); }, u({1024, 1024}, 1, 8)); });
  w.add("fusion/layernorm_4096x1024", [] {
    return compiled([](Tensor x, Tensor g, Tensor b) { return layer_norm(x, g, b); }, big(0), u({1024}, 2, 1, 1),
                    u({1024}, 3));
  });
  w.add("fusion/xent_256x10000", [] {
    return compiled([](Tensor logits, Tensor labels) { return cross_entropy(logits, labels); }, u({256, 10000}, 1, 8),
                    ints({256}, 2, 10000));
  });
  w.add("fusion/sum_axis0", [] { return compiled([](Tensor x) { return sum(x, {.axis = {0}}); }, big(0.5f)); });
  w.add("fusion/sum_axis1", [] { return compiled([](Tensor x) { return sum(x, {.axis = {1}}); }, big(0.5f)); });
  w.add("fusion/sum_all", [] { return compiled([](Tensor x) { return sum(x); }, big(0.5f)); });
  w.add("fusion/cumsum_1024",
        [] { return compiled([](Tensor x) { return cumsum(x, {.axis = 1}); }, u({1024, 1024}, 1)); });
  w.add("fusion/transpose_2048", [] { return compiled([](Tensor x) { return transpose(x); }, u({2048, 2048}, 1)); });
  w.add("fusion/gather_rows", [] {
    return compiled([](Tensor table, Tensor ids) { return gather(table, ids); }, u({50000, 128}, 1),
                    ints({4096}, 2, 50000));
  });
  w.add("fusion/argmax_4096x1024", [] { return compiled([](Tensor x) { return argmax(x, {.axis = 1}); }, big(0)); });
  w.add("fusion/sort_65536", [] { return compiled([](Tensor x) { return sort(x); }, u({65536}, 1)); });
  w.add("fusion/where_1m", [] {
    return compiled([](Tensor x, Tensor y) { return where(x > 0, x, 0.1f * y); }, u({million}, 1), u({million}, 2));
  });
  w.add("fusion/adam_1m", [] {
     const Variable p(u({million}, 1));
     auto adam = std::make_shared<Adam>(AdamOptions{.epsilon = 1e-8});
     adam->build({p});
     auto step = function([adam, p](Tensor g) { adam->apply({g}, {p}); });
     return [step, p, g = u({million}, 2)] {
       step(g);
       return p;
     };
   }).steps = 3;
  w.add("fusion/batchnorm_train", [] {
    return compiled([](Tensor x, Tensor g, Tensor b) { return batch_norm_training(x, g, b); }, u({64, 56, 56, 32}, 1),
                    u({32}, 2, 1, 1), u({32}, 3));
  });
}

void add_matmul(Workloads& w) {
  const auto add = [&](const char* name, Shape a, Shape b) {
    w.add(name, [=] { return compiled([](Tensor a, Tensor b) { return a.matmul(b); }, u(a, 1), u(b, 2)); });
  };
  add("matmul/128", {128, 128}, {128, 128});
  add("matmul/512", {512, 512}, {512, 512});
  add("matmul/1024", {1024, 1024}, {1024, 1024});
  add("matmul/2048", {2048, 2048}, {2048, 2048});
  add("matmul/batched_64", {64, 64, 64}, {64, 64, 64});
  add("matmul/gemv_1024", {1, 1024}, {1024, 1024});
  w.add("matmul/mlp_layer", [] {
    return compiled([](Tensor a, Tensor b, Tensor c) { return relu(a.matmul(b) + c); }, u({50, 784}, 1),
                    u({784, 100}, 2), u({100}, 3));
  });
}

void add_conv(Workloads& w) {
  const auto add = [&](const char* name, Shape x, Shape filter) {
    w.add(name, [=] { return compiled([](Tensor x, Tensor w) { return conv(x, w); }, u(x, 1), u(filter, 2)); });
  };
  add("conv/3x3_64_56", {8, 56, 56, 64}, {3, 3, 64, 64});
  add("conv/1x1_64_256_56", {8, 56, 56, 64}, {1, 1, 64, 256});
  add("conv/5x5_1_32_28", {50, 28, 28, 1}, {5, 5, 1, 32});
  w.add("conv/depthwise_3x3_112",
        [] { return compiled([](Tensor x, Tensor w) { return depthwise(x, w); }, x112(), u({3, 3, 32, 1}, 2)); });
  w.add("conv/maxpool2_112", [] { return compiled([](Tensor x) { return max_pool2d(x); }, x112()); });
  w.add("conv/grad_input_3x3", [] {
    return compiled(
        [](Tensor dy, Tensor w) { return conv2d_backward_input(w, dy, {8, 56, 56, 64}, {.padding = "same"}); }, x56(1),
        u({3, 3, 64, 64}, 2));
  });
  w.add("conv/grad_filter_3x3", [] {
    return compiled(
        [](Tensor x, Tensor dy) { return conv2d_backward_filter(x, dy, {3, 3, 64, 64}, {.padding = "same"}); }, x56(1),
        x56(2));
  });
}

}  // namespace kiln::bench
