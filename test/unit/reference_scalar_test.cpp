// RefScalar against the rules written in dialects/kiln/math/scalar.h.
#include <catch2/catch.hpp>
#include <cfenv>
#include <cmath>
#include <limits>

#include "kernels/reference/ref_scalar.h"

using namespace kiln;

namespace {

template <class T>
RefScalar s(T v) {
  return RefScalar::of(v);
}
template <class T>
T converted(RefScalar x) {
  return convert(x, dtype_of<T>).template value<T>();
}
constexpr float infinite = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("reference integers wrap and never trap") {
  CHECK((s(int8_t{127}) + s(int8_t{1})).value<int8_t>() == -128);
  CHECK((s(uint8_t{3}) - s(uint8_t{5})).value<uint8_t>() == 254);
  CHECK((s(uint16_t{65535}) * s(uint16_t{65535})).value<uint16_t>() == 1);
  CHECK((s(INT32_MIN) * s(int32_t{-1})).value<int32_t>() == INT32_MIN);
  CHECK((-s(INT64_MIN)).value<int64_t>() == INT64_MIN);
  CHECK(abs(s(int8_t{-128})).value<int8_t>() == -128);
  CHECK((s(int32_t{-7}) / s(int32_t{2})).value<int32_t>() == -3);
  CHECK(remainder(s(int32_t{-7}), s(int32_t{2})).value<int32_t>() == -1);
  CHECK((s(int32_t{7}) / s(int32_t{0})).value<int32_t>() == 0);
  CHECK((s(INT64_MIN) / s(int64_t{-1})).value<int64_t>() == INT64_MIN);
  CHECK(remainder(s(INT64_MIN), s(int64_t{-1})).value<int64_t>() == 0);
}

TEST_CASE("reference conversions saturate, wrap and round as documented") {
  CHECK(converted<int32_t>(s(not_a_number)) == 0);
  CHECK(converted<int32_t>(s(infinite)) == INT32_MAX);
  CHECK(converted<int32_t>(s(-infinite)) == INT32_MIN);
  CHECK(converted<int32_t>(s(2147483648.0f)) == INT32_MAX);
  CHECK(converted<int32_t>(s(2147483520.0f)) == 2147483520);
  CHECK(converted<int64_t>(s(9.3e18)) == INT64_MAX);
  CHECK(converted<int64_t>(s(-9223372036854775808.0)) == INT64_MIN);
  CHECK(converted<uint64_t>(s(1.8446744073709550e19)) == 18446744073709549568u);
  CHECK(converted<uint64_t>(s(2e19)) == UINT64_MAX);
  CHECK(converted<uint8_t>(s(-1.0f)) == 0);
  CHECK(converted<uint8_t>(s(255.9f)) == 255);
  CHECK(converted<uint8_t>(s(256.0f)) == 255);
  CHECK(converted<int8_t>(s(-128.9f)) == -128);
  CHECK(converted<int32_t>(s(-2.9)) == -2);
  CHECK(converted<int8_t>(s(int32_t{300})) == 44);
  CHECK(converted<int64_t>(s(int8_t{-1})) == -1);
  CHECK(converted<int64_t>(s(uint8_t{255})) == 255);
  CHECK(converted<uint32_t>(s(int8_t{-1})) == 4294967295u);
  CHECK(converted<float>(s(int32_t{16777217})) == 16777216.0f);
  CHECK(converted<float>(s(int32_t{16777219})) == 16777220.0f);
  CHECK(converted<double>(s(UINT64_MAX)) == 18446744073709551616.0);
  CHECK(converted<bool>(s(not_a_number)));
  CHECK_FALSE(converted<bool>(s(-0.0f)));
  CHECK(converted<bool>(s(1e-45f)));
  CHECK(converted<float>(s(true)) == 1.0f);
  CHECK(converted<float>(s(1e-46)) == 0.0f);
  CHECK(converted<float>(s(1e300)) == infinite);
}

TEST_CASE("reference bits, shifts and comparisons") {
  CHECK((~s(true)).value<bool>() == false);
  CHECK((~s(int8_t{5})).value<int8_t>() == -6);
  CHECK((s(int32_t{-1}) ^ s(int32_t{1})).value<int32_t>() == -2);
  CHECK(shift_left(s(int8_t{65}), s(int8_t{1})).value<int8_t>() == -126);
  CHECK(shift_right_logical(s(int8_t{-128}), s(int8_t{7})).value<int8_t>() == 1);
  CHECK(shift_right_arithmetic(s(int8_t{-128}), s(int8_t{7})).value<int8_t>() == -1);
  CHECK(shift_right_arithmetic(s(INT64_MIN), s(int64_t{63})).value<int64_t>() == -1);
  CHECK(multiply_high(s(uint32_t{0xffffffff}), s(uint32_t{0xffffffff})).value<uint32_t>() == 0xfffffffe);
  CHECK(multiply_high(s(UINT64_MAX), s(UINT64_MAX)).value<uint64_t>() == UINT64_MAX - 1);
  CHECK_FALSE((s(not_a_number) == s(not_a_number)).value<bool>());
  CHECK((s(not_a_number) != s(not_a_number)).value<bool>());
  CHECK_FALSE((s(not_a_number) >= s(1.0f)).value<bool>());
  CHECK((s(uint64_t{1} << 63) > s(uint64_t{1})).value<bool>());
  CHECK(bitcast(s(1.0f), DType::u32).value<uint32_t>() == 0x3f800000);
  CHECK(constant_bits(s(0.0f), DType::f64, 0x3ff0000000000000).value<double>() == 1.0);
  CHECK(constant(s(0.0f), 0.1).value<float>() == 0.1f);
  CHECK(constant_of(s(0.0f), DType::i64, int64_t{1} << 62).value<int64_t>() == int64_t{1} << 62);
  CHECK(select(s(not_a_number) < s(0.0f), s(1.0f), s(2.0f)).value<float>() == 2.0f);
}

TEST_CASE("reference floats round once and never contract") {
  const float a = 1 + 0x1p-12f;
  CHECK((s(a) * s(a) - s(1 + 0x1p-11f)).value<float>() == 0.0f);  // 2^-24 was rounded away
  CHECK(fma(s(a), s(a), s(-(1 + 0x1p-11f))).value<float>() == 0x1p-24f);
  for (auto [x, want] : {std::pair{0.5, 0.0},
                         {1.5, 2.0},
                         {2.5, 2.0},
                         {-0.5, -0.0},
                         {-1.5, -2.0},
                         {0.49999999999999994, 0.0},
                         {1e300, 1e300}}) {
    const double got = round_even(s(x)).value<double>();
    CHECK(got == want);
    CHECK(std::signbit(got) == std::signbit(want));
  }
  CHECK(std::isnan(round_even(s(not_a_number)).value<float>()));
  CHECK(round_even(s(-infinite)).value<float>() == -infinite);
  CHECK(copysign(s(2.0f), s(-0.0f)).value<float>() == -2.0f);
  CHECK(remainder(s(5.5), s(-2.0)).value<double>() == 1.5);
  CHECK((-s(0.0f)).bits() == 0x80000000);
}
