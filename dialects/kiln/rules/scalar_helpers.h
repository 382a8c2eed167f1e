// What the records' scalar bodies share: templates over S (dialects/kiln/math/scalar.h).
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include "runtime/base/dtype.h"

namespace kiln {

// The smallest and the largest value of x's dtype, infinite for floats.
template <class S>
S lowest_of(const S& x) {
  if (is_floating(dtype(x))) return constant(x, -std::numeric_limits<double>::infinity());
  int64_t low = 0;
  visit_dtype(dtype(x), [&](auto tag) { low = static_cast<int64_t>(std::numeric_limits<decltype(tag)>::lowest()); });
  return constant(x, low);
}
template <class S>
S highest_of(const S& x) {
  if (is_floating(dtype(x))) return constant(x, std::numeric_limits<double>::infinity());
  uint64_t high = 0;
  visit_dtype(dtype(x), [&](auto tag) { high = static_cast<uint64_t>(std::numeric_limits<decltype(tag)>::max()); });
  return constant_bits(x, dtype(x), high);
}

// 1 / (1 + exp(-x)) with an exponential that never overflows.
template <class S>
S sigmoid_of(const S& x) {
  const S e = exp(-abs(x)), one = constant(x, 1);
  return select(x >= constant(x, 0), one, e) / (one + e);
}

// A truncating quotient and remainder of integers where dividing is safe, else 0 // and 0 % rules: x // 0 = 0, x % 0 =
// 0, MIN // -1 = MIN, MIN % -1 = 0.
template <class S>
std::pair<S, S> safe_quotient(const S& x, const S& y) {
  const S zero = constant(x, 0), minus_one = constant(x, -1);
  const S unsafe = (y == zero) | (y == minus_one);
  const S divisor = select(unsafe, constant(x, 1), y);
  const S quotient = x / divisor;
  return {select(y == zero, zero, select(y == minus_one, -x, quotient)), select(unsafe, zero, x - quotient * divisor)};
}

// x less a whole multiple of y, of size below |y|: exact for quotients up to 2^46 (f32) and 2^104 (f64). Each fma is
// exact, since the leading bits of both its terms cancel.
template <class S>
S float_remainder(const S& x, const S& y) {
  const S first = fma(-trunc(x / y), y, x);
  return fma(-trunc(first / y), y, first);
}

template <class S>
S floor_remainder(const S& x, const S& y) {
  const S zero = constant(x, 0);
  if (!is_floating(dtype(x))) {
    const S r = safe_quotient(x, y).second;
    return select((r != zero) & ((r < zero) ^ (y < zero)), r + y, r);
  }
  const S r = select(abs(x) < abs(y), x, float_remainder(x, y));
  return select(r == zero, copysign(zero, y), select((r < zero) ^ (y < zero), r + y, r));
}

template <class S>
S floor_divide(const S& x, const S& y) {
  const S zero = constant(x, 0), one = constant(x, 1);
  if (!is_floating(dtype(x))) {
    const auto [q, r] = safe_quotient(x, y);
    return select((r != zero) & ((r < zero) ^ (y < zero)), q - one, q);
  }
  const S r = select(abs(x) < abs(y), x, float_remainder(x, y));
  const S exact = (x - r) / y;
  const S quotient = select((r != zero) & ((r < zero) ^ (y < zero)), exact - one, exact);
  const S rounded = round_even(quotient);  // `exact` is whole but for its rounding
  return select(y == zero, x / y, select(rounded == zero, copysign(zero, x / y), rounded));
}

// Philox 4x32-10: four random u32 words from a key (i64) and a 128-bit counter (two i64).
template <class S>
std::array<S, 4> philox_block(const S& key, const S& low, const S& high) {
  auto low_word = [](const S& x) { return convert(x, DType::u32); };
  auto high_word = [](const S& x) { return convert(shift_right_logical(x, constant(x, 32)), DType::u32); };
  auto word = [&](uint64_t bits) { return constant_bits(key, DType::u32, bits); };
  S k0 = low_word(key), k1 = high_word(key);
  std::array<S, 4> c = {low_word(low), high_word(low), low_word(high), high_word(high)};
  for (int round = 0; round < 10; ++round) {
    const S m0 = word(0xD2511F53), m1 = word(0xCD9E8D57);
    const S high0 = multiply_high(c[0], m0), low0 = c[0] * m0, high1 = multiply_high(c[2], m1), low1 = c[2] * m1;
    c = {high1 ^ c[1] ^ k0, low1, high0 ^ c[3] ^ k1, low0};
    k0 = k0 + word(0x9E3779B9);
    k1 = k1 + word(0xBB67AE85);
  }
  return c;
}

// The i64 whose halves are two u32.
template <class S>
S join_words(const S& low, const S& high) {
  const S upper = convert(high, DType::i64);
  return convert(low, DType::i64) | shift_left(upper, constant(upper, 32));
}

// [0, 1) from random words: their bits as the mantissa of a number in [1, 2), less 1. f64 takes two words.
template <class S>
S uniform_f32(const S& word) {
  const S mantissa = word & constant_bits(word, DType::u32, 0x7fffff);
  const S x = bitcast(mantissa | constant_bits(word, DType::u32, 0x3f800000), DType::f32);
  return x - constant(x, 1);
}
template <class S>
S uniform_f64(const S& high, const S& low) {
  const S mantissa = join_words(low, high & constant_bits(high, DType::u32, 0xfffff));
  const S x = bitcast(mantissa | constant_bits(mantissa, DType::i64, 0x3ff0000000000000), DType::f64);
  return x - constant(x, 1);
}

// Whether bit `bit` of the i64 is set.
template <class S>
S bit_is_set(const S& x, int64_t bit) {
  return (x & constant(x, int64_t{1} << bit)) != constant(x, 0);
}

// Element `index` of the stream; see dialects/kiln/ops/random.td for its layout.
template <class S>
S philox_uniform(const S& key, const S& high, const S& index, DType dtype) {
  const bool single = dtype == DType::f32;
  const auto words = philox_block(key, shift_right_logical(index, constant(index, single ? 2 : 1)), high);
  const S odd = bit_is_set(index, 0);
  if (!single) return uniform_f64(select(odd, words[2], words[0]), select(odd, words[3], words[1]));
  return uniform_f32(select(bit_is_set(index, 1), select(odd, words[3], words[2]), select(odd, words[1], words[0])));
}

// Box-Muller: of each pair of elements the first takes the sine, the second the cosine.
template <class S>
S philox_normal(const S& key, const S& high, const S& index, DType dtype) {
  const bool single = dtype == DType::f32;
  const auto words = philox_block(key, shift_right_logical(index, constant(index, single ? 2 : 1)), high);
  auto pair = [&]() -> std::pair<S, S> {
    if (!single) return {uniform_f64(words[0], words[1]), uniform_f64(words[2], words[3])};
    const S second = bit_is_set(index, 1);
    return {uniform_f32(select(second, words[2], words[0])), uniform_f32(select(second, words[3], words[1]))};
  };
  const auto [first, turn] = pair();
  const S least = constant(first, 1e-7);
  const S radius = sqrt(constant(first, -2) * log(select(first < least, least, first)));
  const S angle = turn * constant(turn, 6.283185307179586);
  return select(bit_is_set(index, 0), cos(angle), sin(angle)) * radius;
}

}  // namespace kiln
