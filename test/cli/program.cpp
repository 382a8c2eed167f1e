// A user's program for the tests of the command line tools. Its first argument says what to do.
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "frontend/include/kiln/kiln.h"

using namespace kiln;

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  std::printf("the program's own output\n");
  if (what == "nothing") return 0;
  auto twice = function([](Tensor x) { return x * 2; }, {.name = "twice"});
  auto scale = function([](Tensor x) { return exp(x) * 0.5f + 1; }, {.name = "scale"});
  if (what == "compile") {
    twice(Tensor{1.f, 2.f});
    scale(Tensor{1.f, 2.f});
    twice(Tensor{1, 2, 3});
  } else if (what == "endless") {  // has to be stopped from outside
    twice(Tensor{1.f, 2.f});
    for (;;) scale(Tensor{1.f, 2.f});
  } else if (what == "fail") {
    twice(Tensor{1.f, 2.f});
    return 3;
  } else if (what == "crash") {
    std::raise(SIGSEGV);
  } else if (what == "save") {  // save PATH
    const Variable w(Tensor{{1.f, 2.f}, {3.f, 4.f}}, {.name = "w"}), calls(0.f, {.name = "calls"});
    auto serve = function([w](Tensor x) { return x.matmul(w) + 1; },
                          {.name = "serve", .input_signature = {{f32, {"batch", 2}, "x"}}});
    auto count = function(
        [calls] {
          calls.assign_add(1);
          return std::tuple(calls.read(), calls * 2.5f);
        },
        {.name = "count"});
    save(argv[2], {{"serve", serve}, {"count", count.concrete({})}});
  } else {
    return 4;
  }
}
