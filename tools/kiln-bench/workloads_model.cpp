// model: one training step, forward, backward and update, in one compiled function. infer: the logits of one batch.
// compile: a first call with nothing cached.
#include "tools/kiln-bench/bench.h"
#include "tools/kiln-bench/networks.h"

namespace kiln::bench {
namespace {

Batch image_batch(int64_t n, int64_t h, int64_t w, int64_t c) {
  return {u({n, h, w, c}, 1, 1, 0.5f), ints({n}, 2, 10)};
}
Batch mlp_batch(int64_t n) { return {u({n, 784}, 1, 1, 0.5f), ints({n}, 2, 10)}; }

// The compiled step: changes the variables, gives the loss.
Function<Tensor(std::vector<Tensor>)> make_step(Loss loss, const std::vector<Variable>& variables,
                                                std::shared_ptr<Optimizer> optimizer) {
  optimizer->build(variables);
  return function(
      [=](Batch batch) {
        GradientTape tape;
        const std::vector<Tensor> values(variables.begin(), variables.end());
        const Tensor value = loss(Weights(values), batch);
        optimizer->apply(tape.gradient(value, variables), variables);
        return value;
      },
      {.name = "train_step"});
}

std::shared_ptr<Optimizer> adam() { return std::make_shared<Adam>(AdamOptions{.epsilon = 1e-8}); }

auto training(Loss loss, const Params& params, std::shared_ptr<Optimizer> optimizer, Batch batch) {
  return [step = make_step(std::move(loss), params.variables(), std::move(optimizer)), batch] { return step(batch); };
}

auto mlp_training() { return training(mlp_loss, mlp_params(), adam(), mlp_batch(50)); }
auto cnn_training() { return training(cnn_loss, cnn_params(), adam(), image_batch(50, 28, 28, 1)); }

// The weights are captured tensors: constants of the compiled function.
auto inference(Tensor (*network)(Weights, Tensor), const Params& params, Tensor x) {
  return
      [f = function([network, p = params.tensors()](Tensor x) { return network(Weights(p), x); }, {.name = "forward"}),
       x] { return f(x); };
}

auto mobilenet_inference(int64_t n) { return inference(mobilenet, mobilenet_params(), u({n, 224, 224, 3}, 1)); }
auto resnet50_inference() { return inference(resnet50, resnet50_params(), u({1, 224, 224, 3}, 1)); }

}  // namespace

void add_model(Workloads& w) {
  const auto add = [&](const char* name, auto build) { w.add(name, build).steps = 3; };
  add("model/mlp_train", mlp_training);
  add("model/cnn_train", cnn_training);
  add("model/lstm_train", [] { return training(lstm_loss, lstm_params(), adam(), {ints({50, 41}, 1, 128)}); });
  add("model/transformer_train", [] {
    return training(transformer_loss, transformer_params(), std::make_shared<SGD>(),
                    {u({8, 128, 256}, 1), u({8, 128, 256}, 2)});
  });
  add("model/dqn_train",
      [] { return training(dqn_loss, dqn_params(), adam(), {u({32, 4}, 1), ints({32}, 2, 2), u({32}, 3)}); });
  add("model/cifar_resnet_train", [] {
    return training(make_cifar_loss(), cifar_params(), std::make_shared<SGD>(SgdOptions{.momentum = 0.9}),
                    image_batch(32, 32, 32, 3));
  });
}

void add_infer(Workloads& w) {
  w.add("infer/mlp_b1", [] { return inference(mlp, mlp_params(), u({1, 784}, 1, 1, 0.5f)); });
  w.add("infer/cnn_b1", [] { return inference(cnn, cnn_params(), u({1, 28, 28, 1}, 1, 1, 0.5f)); });
  w.add("infer/mobilenetv2_b1", [] { return mobilenet_inference(1); });
  w.add("infer/mobilenetv2_b8", [] { return mobilenet_inference(8); });
  w.add("infer/resnet50_b1", resnet50_inference);
}

void add_compile(Workloads& w) {
  w.add("compile/mlp_step", mlp_training);
  w.add("compile/cnn_step", cnn_training);
  w.add("compile/mobilenetv2", [] { return mobilenet_inference(1); });
  w.add("compile/resnet50", resnet50_inference);
  w.add("compile/retrace_mlp", [] {  // compiled for batch 50; its first call with batch 51
    auto step = make_step(mlp_loss, mlp_params().variables(), adam());
    step(mlp_batch(50));
    return [step, batch = mlp_batch(51)] { return step(batch); };
  });
}

}  // namespace kiln::bench
