// Kernels are compiled for the default floating-point mode: round to nearest, subnormals kept, no traps. The host may
// have set another one; it gets it back.
#pragma once
#include <immintrin.h>

namespace kiln {

// Sets the default mode for a block and restores the caller's at its end. Costs a few cycles when nothing differs.
class FpEnvironment {
 public:
  FpEnvironment() : saved_(_mm_getcsr()) {
    if (changed()) _mm_setcsr(default_mode);
  }
  ~FpEnvironment() {
    if (changed()) _mm_setcsr(saved_);
  }
  FpEnvironment(const FpEnvironment&) = delete;

 private:
  static constexpr unsigned default_mode = 0x1F80;
  static constexpr unsigned sticky_flags = 0x3F;
  bool changed() const { return (saved_ & ~sticky_flags) != default_mode; }
  unsigned saved_;
};

}  // namespace kiln
