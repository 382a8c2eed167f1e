// Runs a library kernel as the runtime does: workspace, phases, any cutting of the extent into chunks.
#pragma once
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/library_table.h"

namespace kiln::testing {

inline std::vector<bool> instruction_sets() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("x86-64-v4") ? std::vector<bool>{false, true} : std::vector<bool>{false};
}

// Chunks of random length in random order; the workspace is filled with NaN bits first.
inline int32_t run_kernel(const std::string& name, bool wide, std::vector<void*> buffers,
                          const std::vector<int64_t>& params, std::mt19937& random, CallContext* context = nullptr) {
  const LibraryKernel* kernel = find_library_kernel(name.c_str(), wide);
  REQUIRE(kernel);
  const int64_t bytes = kernel->workspace_bytes ? kernel->workspace_bytes(params.data()) : 0;
  std::vector<std::byte> space(bytes + 64 + 64, std::byte{0xff});
  std::byte* start = space.data() + (64 - reinterpret_cast<uintptr_t>(space.data()) % 64);
  if (bytes) buffers.push_back(start);
  static std::byte empty[64];  // empty buffers have an address too
  for (void*& b : buffers)
    if (!b) b = empty;
  CallContext unused;
  for (int p = 0; p < kernel->phase_count; ++p) {
    const LibraryPhase& phase = kernel->phases[p];
    const int64_t extent = phase.extent(params.data());
    CHECK(phase.item_cost(params.data()) > 0);
    std::vector<std::pair<int64_t, int64_t>> chunks;
    for (int64_t i = 0; i < extent;) {
      const int64_t end = std::min<int64_t>(extent, i + 1 + random() % std::max<int64_t>(1, extent / 3));
      chunks.push_back({i, end});
      i = end;
    }
    std::shuffle(chunks.begin(), chunks.end(), random);
    for (auto [begin, end] : chunks)
      if (int32_t code = phase.run(buffers.data(), params.data(), begin, end, context ? context : &unused)) return code;
  }
  for (int i = 0; i < 64; ++i) REQUIRE(start[bytes + i] == std::byte{0xff});
  return 0;
}

template <class T>
std::vector<T> random_values(int64_t n, std::mt19937& random) {
  std::vector<T> v(n);
  for (T& x : v) {
    if constexpr (std::is_floating_point_v<T>)
      x = std::uniform_real_distribution<T>(-1, 1)(random);
    else
      x = static_cast<T>(random());
  }
  return v;
}

// Bit for bit; returns the first difference, or -1. Any NaN equals any other.
template <class T>
int64_t first_difference(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return static_cast<int64_t>(std::min(a.size(), b.size()));
  for (size_t i = 0; i < a.size(); ++i)
    if (std::memcmp(&a[i], &b[i], sizeof(T)) != 0 && (a[i] == a[i] || b[i] == b[i])) return static_cast<int64_t>(i);
  return -1;
}

}  // namespace kiln::testing
