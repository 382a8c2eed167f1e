// What the machine can do at best: the yardstick for the other figures.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "runtime/base/thread_pool.h"
#include "tools/kiln-bench/bench.h"

namespace kiln::bench {
namespace {

template <class F>
double best_ns(int repeats, F&& f) {
  double best = 1e300;
  for (int i = 0; i < repeats; ++i) {
    const int64_t start = now_ns();
    f();
    best = std::min(best, static_cast<double>(now_ns() - start));
  }
  return best;
}

// Chains of multiply-adds, enough of them to fill two units of latency 4; gives a value so that none is left out.
template <int lanes>
[[gnu::always_inline]] inline float fma_chains(int64_t rounds) {
  typedef float Vector __attribute__((vector_size(4 * lanes)));
  Vector chains[12];
  for (int i = 0; i < 12; ++i) chains[i] = Vector{} + static_cast<float>(i);
  const Vector scale = Vector{} + 0.999f, shift = Vector{} + 0.001f;
  for (int64_t r = 0; r < rounds; ++r)
#pragma clang loop unroll(full)
    for (int i = 0; i < 12; ++i) chains[i] = __builtin_elementwise_fma(chains[i], scale, shift);
  Vector sum{};
  for (Vector c : chains) sum += c;
  return sum[0];
}
[[gnu::noinline]] float fma_256(int64_t rounds) { return fma_chains<8>(rounds); }
[[gnu::noinline, gnu::target("avx512f")]] float fma_512(int64_t rounds) { return fma_chains<16>(rounds); }

void print_copy(size_t bytes, const char* unit) {
  std::vector<char> from(bytes, 1), to(bytes);
  const int64_t chunk = std::max<int64_t>(1 << 16, static_cast<int64_t>(bytes) / (4 * thread_count()));
  const int64_t chunks = static_cast<int64_t>(bytes) / chunk;
  const double ns = best_ns(20, [&] {
    parallel_for(chunks, 25'000, [&](int64_t begin, int64_t end) {
      std::memcpy(to.data() + begin * chunk, from.data() + begin * chunk, static_cast<size_t>((end - begin) * chunk));
    });
  });
  std::printf("memcpy of %s, bytes copied per second   %7.1f GB/s\n", unit, static_cast<double>(chunks * chunk) / ns);
}

}  // namespace

void print_limits(const Options& options) {
  set_thread_count(options.threads);
  std::printf("threads %d\n", thread_count());
  print_copy(size_t{1} << 20, "  1 MiB");
  print_copy(size_t{1} << 28, "256 MiB");

  constexpr int64_t rounds = 1'000'000;
  volatile float sink = 0;
  const bool wide = __builtin_cpu_supports("avx512f");
  const double ns = best_ns(5, [&] { sink = wide ? fma_512(rounds) : fma_256(rounds); });
  const double flops = 2.0 * 12 * (wide ? 16 : 8) * rounds;
  std::printf("f32 multiply-add on one core (%s)      %7.1f GFLOP/s\n", wide ? "avx512" : "avx2  ", flops / ns);

  const int threads = thread_count();
  parallel_for(threads, 25'000, [](int64_t, int64_t) {});
  const double fork = best_ns(50,
                              [&] {
                                for (int i = 0; i < 100; ++i) parallel_for(threads, 25'000, [](int64_t, int64_t) {});
                              }) /
                      100;
  std::printf("empty fork and join                        %7.0f ns\n", fork);
}

}  // namespace kiln::bench
