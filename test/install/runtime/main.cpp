// An outside program with the runtime only: runs what the other one saved. README.md shows the part between the marks.
#include <cstdio>
// README begins
#include <kiln/runtime.h>
namespace rt = kiln::rt;

rt::Status run(const char* path, float& result) {
  auto model = rt::Model::load(path);  // copies of it are one model, for all threads
  if (!model.ok()) return model.status();
  auto session = model->session();  // belongs to one thread
  if (!session.ok()) return session.status();
  const float x[] = {1, 2, 3};
  rt::View in{rt::f32, {3}, x}, out{rt::f32, {}, &result};
  return session->run("loss", {&in, 1}, {&out, 1});  // on the caller's memory
}
// README ends

int main(int, char** argv) {
  float result = 0;
  rt::Status status = run(argv[1], result);
  std::printf("%g %s\n", result, status.message().c_str());
  return status.ok() && result == 14 ? 0 : 1;
}
