// Eager and compiled training give the same parameters, bit for bit: mlp_bits [--steps N] [--threads N]
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "runtime/base/thread_pool.h"
#include "test/bench/mlp_run.h"

int main(int argc, char** argv) {
  int64_t steps = 10'000;
  int threads = 0;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc || (name != "--steps" && name != "--threads") || std::atoll(argv[i + 1]) < 1) {
      std::fprintf(stderr, "usage: mlp_bits [--steps N] [--threads N]\n");
      return 2;
    }
    if (name == "--steps")
      steps = std::atoll(argv[i + 1]);
    else
      threads = std::atoi(argv[i + 1]);
  }
  try {
    kiln::set_thread_count(threads);
    const uint64_t eager = mlp_run::train(steps, false), compiled = mlp_run::train(steps, true);
    std::printf("steps %" PRId64 "  threads %d  eager %016" PRIx64 "  compiled %016" PRIx64 "  %s\n", steps,
                kiln::thread_count(), eager, compiled, eager == compiled ? "equal" : "DIFFERENT");
    return eager == compiled ? 0 : 1;
  } catch (const kiln::Error& error) {
    std::fprintf(stderr, "mlp_bits: %s\n", error.what());
    return 1;
  }
}
