// An outside program with all of Kiln: eager, compiled, by its gradient, and saved to the file named.
#include <kiln/kiln.h>

#include <cstdio>

int main(int, char** argv) {
  using namespace kiln;
  Tensor x = {1.f, 2.f, 3.f};
  auto loss = function([](Tensor v) { return sum(v * v); }, {.name = "loss", .input_signature = {{f32, {3}}}});
  float compiled = loss(x).item<float>();
  GradientTape tape;
  tape.watch(x);
  Tensor y = sum(x * x);
  Tensor gradient = tape.gradient(y, x);
  std::printf("%g %g %g\n", compiled, y.item<float>(), gradient.to_vector<float>()[2]);
  save(argv[1], {{"loss", loss}});
  return compiled == 14 && y.item<float>() == 14 && gradient.to_vector<float>()[2] == 6 ? 0 : 1;
}
