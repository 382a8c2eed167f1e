// Random numbers on the host, the same on every machine: for shuffling and for the first values of weights.
#pragma once
#include <cstdint>

namespace kiln::detail {

// A well mixed 64-bit number (the finaliser of SplitMix64): unlike numbers give unlike results.
constexpr uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9u;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// A seed for who was given none: the next of the program's sequence, the same in every run.
uint64_t next_seed();
// set_seed() does this too.
void restart_seeds(uint64_t seed);

class IntegerRandom {
 public:
  explicit constexpr IntegerRandom(uint64_t seed, uint64_t stream = 0) : state_(mix(seed + mix(stream + step))) {}

  constexpr uint64_t next() { return mix(state_ += step); }
  // In [0, n), all equally likely; n > 0.
  constexpr uint64_t below(uint64_t n) {
    const uint64_t uneven = -n % n;  // 2^64 mod n: so many low products belong to no whole share
    for (;;) {
      const auto product = static_cast<unsigned __int128>(next()) * n;
      if (static_cast<uint64_t>(product) >= uneven) return static_cast<uint64_t>(product >> 64);
    }
  }
  // In [0, 1), in steps of 2^-24.
  constexpr float uniform() { return static_cast<float>(next() >> 40) * 0x1p-24f; }

 private:
  static constexpr uint64_t step = 0x9E3779B97F4A7C15u;
  uint64_t state_;
};

}  // namespace kiln::detail
