// An outside program with the runtime only: runs what the other one saved.
#include <kiln/runtime.h>

#include <cstdio>

namespace rt = kiln::rt;

rt::Status run(const char* path, float& result) {
  auto model = rt::Model::load(path);
  if (!model.ok()) return model.status();
  auto session = model->session();
  if (!session.ok()) return session.status();
  const float x[] = {1, 2, 3};
  rt::View in{rt::f32, {3}, x}, out{rt::f32, {}, &result};
  return session->run("loss", {&in, 1}, {&out, 1});
}

int main(int, char** argv) {
  float result = 0;
  rt::Status status = run(argv[1], result);
  std::printf("%g %s\n", result, status.message().c_str());
  return status.ok() && result == 14 ? 0 : 1;
}
