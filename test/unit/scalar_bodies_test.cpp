// The records' scalar bodies on the host: integer division and shifts at their edges, NaN, and the random streams.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "kernels/reference/ref_scalar.h"

#include "generated/scalar_bodies.h.inc"

using namespace kiln;

namespace {

RefScalar body(OpId op, std::vector<RefScalar> operands, std::vector<Attribute> attributes = {}, int64_t index = 0,
               DType result = DType::f32) {
  return scalar_body<RefScalar>(op, operands, attributes, RefScalar::of(index), result);
}

template <class T>
T binary(OpId op, T x, T y) {
  return body(op, {RefScalar::of(x), RefScalar::of(y)}).template value<T>();
}

// Python's rule, from division towards zero.
int floor_quotient(int x, int y) { return x / y - (x % y != 0 && (x % y < 0) != (y < 0)); }

// The stream of a seed, as stateless_random_* makes it.
struct Stream {
  RefScalar key, high;
};
Stream stream_of(int64_t seed0, int64_t seed1) {
  const std::vector<RefScalar> operands = {RefScalar::of(int64_t{0x02461e293ec8f720}), RefScalar::of(seed0),
                                           RefScalar::of(seed1)};
  return {body(OpId::philox, operands, {Shape{}, int64_t{0}}), body(OpId::philox, operands, {Shape{}, int64_t{1}})};
}

}  // namespace

TEST_CASE("floordiv and floormod of all pairs of i8 (D08)") {
  for (int x = -128; x < 128; ++x)
    for (int y = -128; y < 128; ++y) {
      const int8_t q = binary(OpId::floordiv, int8_t(x), int8_t(y)), r = binary(OpId::floormod, int8_t(x), int8_t(y));
      const int want_q = y == 0 ? 0 : int8_t(floor_quotient(x, y));
      const int want_r = y == 0 ? 0 : x - y * floor_quotient(x, y);
      if (q != want_q || r != want_r) FAIL(x << " by " << y << ": " << int(q) << " rest " << int(r));
    }
  CHECK(binary(OpId::floordiv, int8_t(-128), int8_t(-1)) == -128);
  CHECK(binary(OpId::floormod, int8_t(-128), int8_t(-1)) == 0);
  CHECK(binary<int64_t>(OpId::floordiv, 9007199254740993, 1) == 9007199254740993);
}

TEST_CASE("floordiv and floormod of floats against fmod") {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> exponent(-20, 20), mantissa(-2, 2);
  for (int i = 0; i < 20000; ++i) {
    const float x = float(std::ldexp(mantissa(random), int(exponent(random)))),
                y = float(std::ldexp(mantissa(random), int(exponent(random))));
    float r = std::fmod(x, y);
    if (r != 0 && (r < 0) != (y < 0)) r += y;
    CHECK(binary(OpId::floormod, x, y) == r);
    if (std::fabs(x / y) < 0x1p22f) CHECK(double(binary(OpId::floordiv, x, y)) == std::floor(double(x) / double(y)));
  }
  const float inf = std::numeric_limits<float>::infinity();
  CHECK(binary(OpId::floormod, -7.f, 2.f) == 1.f);
  CHECK(binary(OpId::floordiv, -7.f, 2.f) == -4.f);
  CHECK(binary(OpId::floordiv, 6.f, 0.1f) == 59.f);  // NumPy: 0.1f is above a tenth
  CHECK(binary(OpId::floordiv, 1.f, 0.f) == inf);
  CHECK(std::isnan(binary(OpId::floormod, 1.f, 0.f)));
  CHECK(binary(OpId::floormod, 1.f, inf) == 1.f);
  CHECK(binary(OpId::floordiv, -1.f, inf) == -1.f);
}

TEST_CASE("shifts outside the width (D07)") {
  CHECK(binary<int64_t>(OpId::left_shift, 1000, 64) == 0);
  CHECK(binary<int64_t>(OpId::right_shift, 1000, 64) == 0);
  CHECK(binary<int64_t>(OpId::right_shift, -1000, 64) == -1);
  CHECK(binary<int64_t>(OpId::left_shift, 1, 63) == std::numeric_limits<int64_t>::min());
  CHECK(binary<int64_t>(OpId::left_shift, 1000, -1) == 0);
  CHECK(binary<int8_t>(OpId::left_shift, 1, 7) == -128);
  CHECK(binary<int8_t>(OpId::left_shift, 1, 8) == 0);
  CHECK(binary<int8_t>(OpId::right_shift, -1, 8) == -1);
  CHECK(binary<int32_t>(OpId::right_shift, -8, 2) == -2);
}

TEST_CASE("NaN wins in maximum, minimum, clip, relu and the reductions (D10)") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (OpId op : {OpId::maximum, OpId::minimum}) {
    CHECK(std::isnan(binary(op, nan, 1.f)));
    CHECK(std::isnan(binary(op, 1.f, nan)));
  }
  CHECK(binary(OpId::maximum, -3.f, 0.f) == 0);
  CHECK(std::isnan(body(OpId::relu, {RefScalar::of(nan)}).value<float>()));
  CHECK(std::isnan(
      body(OpId::clip_by_value, {RefScalar::of(nan), RefScalar::of(0.f), RefScalar::of(1.f)}).value<float>()));
  CHECK(body(OpId::clip_by_value, {RefScalar::of(-2.f), RefScalar::of(.5f), RefScalar::of(1.f)}).value<float>() == .5f);
  for (OpId op : {OpId::reduce_max, OpId::reduce_min}) {
    CHECK(std::isnan(combine_body(op, RefScalar::of(nan), RefScalar::of(2.f)).value<float>()));
    CHECK(std::isnan(combine_body(op, RefScalar::of(2.f), RefScalar::of(nan)).value<float>()));
  }
  CHECK(identity_body(OpId::reduce_max, RefScalar::of(0.f)).value<float>() == -std::numeric_limits<float>::infinity());
  CHECK(identity_body(OpId::reduce_min, RefScalar::of(0)).value<int32_t>() == std::numeric_limits<int32_t>::max());
  CHECK(identity_body(OpId::reduce_max, RefScalar::of(int64_t{0})).value<int64_t>() ==
        std::numeric_limits<int64_t>::min());
}

TEST_CASE("a stream of uniform numbers has TensorFlow's bits") {
  // tf.random.stateless_uniform([7], seed, dtype, alg='philox') of TensorFlow 2.21.
  const uint32_t f32_bits[2][7] = {
      {0x3f581458, 0x3e44a788, 0x3f7f087c, 0x3e243c98, 0x3e8b424c, 0x3f263b8a, 0x3ddb05b0},
      {0x3f70b1de, 0x3f1000ae, 0x3c9d00c0, 0x3f12375c, 0x3db0cf70, 0x3f30096a, 0x3e49d730}};
  const uint64_t f64_bits[2][7] = {{0x3fe81458cf3129e2, 0x3fef087c2c290f26, 0x3fc6849f8a98ee28, 0x3feb60b64610ae7c,
                                    0x3fe07956bf15b35e, 0x3fe372a5bf23a328, 0x3fea77afee2ccf48},
                                   {0x3fe0b1dea79000ae, 0x3fc3a01eba48dd70, 0x3fe619ef86b0096a, 0x3fe275cc19fab6b8,
                                    0x3fcad42e2f739f00, 0x3fe31272e2f1e228, 0x3fe3b3e7bc64a678}};
  const Stream streams[2] = {stream_of(1, 2), stream_of(-5, int64_t{1} << 40)};
  for (int s = 0; s < 2; ++s)
    for (int64_t i = 0; i < 7; ++i) {
      const std::vector<RefScalar> operands = {streams[s].key, streams[s].high};
      CHECK(body(OpId::random_uniform, operands, {Shape{7}, DType::f32}, i, DType::f32).bits() == f32_bits[s][i]);
      CHECK(body(OpId::random_uniform, operands, {Shape{7}, DType::f64}, i, DType::f64).bits() == f64_bits[s][i]);
    }
}

TEST_CASE("a stream of normal numbers is TensorFlow's to rounding") {
  // tf.random.stateless_normal([7], seed, dtype, alg='philox') of TensorFlow 2.21.
  const float f32_values[7] = {0.5441101f,  0.20738031f, 0.07356432f, 0.04643455f,
                               -1.3015898f, -0.9538565f, 0.84172857f};
  const double f64_values[7] = {-0.1423118100189212, 0.7406072461585091, -1.469047669443883, 1.147747453689489,
                                -0.7218813856153005, -0.898217540706226, 0.6003592788009644};
  const Stream stream = stream_of(1, 2);
  for (int64_t i = 0; i < 7; ++i) {
    const std::vector<RefScalar> operands = {stream.key, stream.high};
    const float f = body(OpId::random_normal, operands, {Shape{7}, DType::f32}, i, DType::f32).value<float>();
    const double d = body(OpId::random_normal, operands, {Shape{7}, DType::f64}, i, DType::f64).value<double>();
    CHECK(f == Approx(f32_values[i]).margin(1e-6).epsilon(0));
    CHECK(d == Approx(f64_values[i]).margin(4e-15).epsilon(0));
  }
}
