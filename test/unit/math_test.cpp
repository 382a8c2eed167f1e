// The math functions against MPFR's correctly rounded values (test/golden/math_*.txt) and, over dense sweeps, against
// long double. The bounds are those of the table in dialects/kiln/math/functions.h.
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "dialects/kiln/rules/scalar_helpers.h"
#include "kernels/reference/ref_scalar.h"

using namespace kiln;

namespace {

namespace oracle {
using std::acos, std::acosh, std::asin, std::asinh, std::atan, std::atan2, std::atanh, std::cbrt, std::cos, std::cosh,
    std::erf, std::erfc, std::exp, std::exp2, std::expm1, std::log, std::log10, std::log1p, std::log2, std::pow,
    std::sin, std::sinh, std::tan, std::tanh;
long double rsqrt(long double x) { return 1 / std::sqrt(x); }
long double sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }
}  // namespace oracle

struct Function {
  RefScalar (*unary)(RefScalar);
  RefScalar (*binary)(RefScalar, RefScalar);
  long double (*exact_unary)(long double);
  long double (*exact_binary)(long double, long double);
  double bound[2];  // ulp: f32, f64
};

const std::map<std::string, Function>& functions() {
  static const std::map<std::string, Function> table = {
#define KILN_UNARY(name, ulp32, ulp64)                            \
  {#name,                                                         \
   {[](RefScalar x) { return name(x); },                          \
    nullptr,                                                      \
    [](long double x) -> long double { return oracle::name(x); }, \
    nullptr,                                                      \
    {ulp32, ulp64}}},
      KILN_FOR_EACH_UNARY_MATH(KILN_UNARY)
#undef KILN_UNARY
#define KILN_BINARY(name, ulp32, ulp64)                                             \
  {#name,                                                                           \
   {nullptr,                                                                        \
    [](RefScalar x, RefScalar y) { return name(x, y); },                            \
    nullptr,                                                                        \
    [](long double x, long double y) -> long double { return oracle::name(x, y); }, \
    {ulp32, ulp64}}},
          KILN_FOR_EACH_BINARY_MATH(KILN_BINARY)
#undef KILN_BINARY
              {"sigmoid",
               {[](RefScalar x) { return sigmoid_of(x); },
                nullptr,
                [](long double x) -> long double { return oracle::sigmoid(x); },
                nullptr,
                {3, 3}}},
  };
  return table;
}

// Distance from `exact` in units of the last place of T at exact; huge where one is NaN or infinite and the other not.
template <class T>
double error_in_ulp(T got, long double exact) {
  constexpr double far = 1e30;
  if (std::isnan(exact)) return std::isnan(got) ? 0 : far;
  const T rounded = static_cast<T>(exact);
  if (std::isinf(rounded))
    return got == rounded || got == std::copysign(std::numeric_limits<T>::max(), rounded) ? 0 : far;
  if (std::isnan(got) || std::isinf(got)) return far;
  int exponent = 0;
  std::frexp(exact, &exponent);
  using Limits = std::numeric_limits<T>;
  const int ulp = std::max(exponent - Limits::digits, Limits::min_exponent - Limits::digits);
  return static_cast<double>(std::ldexp(std::fabs(static_cast<long double>(got) - exact), -ulp));
}

// Numbers of T that lie evenly around zero: neighbours differ by 1.
template <class T>
int64_t ordinal(uint64_t bits) {
  const int shift = 64 - 8 * int{sizeof(T)};
  const int64_t magnitude = static_cast<int64_t>((bits << shift << 1) >> shift >> 1);
  return bits << shift >> 63 ? -magnitude : magnitude;
}

struct Sweep {
  double low, high;
};
// Where each function is interesting, beyond random bit patterns and [-4, 4].
const std::multimap<std::string, Sweep>& sweeps() {
  static const std::multimap<std::string, Sweep> table = {
      {"exp", {-105, 90}},   {"exp", {-746, 710}},    {"exp2", {-151, 129}},   {"exp2", {-1076, 1025}},
      {"expm1", {-40, 90}},  {"log", {0.4, 2.5}},     {"log2", {0.4, 2.5}},    {"log10", {0.4, 2.5}},
      {"log1p", {-1, 2}},    {"log1p", {0, 1e5}},     {"sin", {-1e3, 1e3}},    {"sin", {-1e9, 1e9}},
      {"cos", {-1e3, 1e3}},  {"cos", {-1e9, 1e9}},    {"tan", {-1e3, 1e3}},    {"asin", {-1, 1}},
      {"acos", {-1, 1}},     {"acos", {0.9, 1}},      {"atan", {-10, 10}},     {"sinh", {-90, 90}},
      {"sinh", {-712, 712}}, {"cosh", {-90, 90}},     {"cosh", {-712, 712}},   {"tanh", {-12, 12}},
      {"asinh", {-50, 50}},  {"acosh", {1, 1.1}},     {"acosh", {1, 50}},      {"atanh", {-1, 1}},
      {"erf", {-1, 1}},      {"erfc", {0, 11}},       {"erfc", {0, 28}},       {"cbrt", {-1000, 1000}},
      {"rsqrt", {0, 1000}},  {"sigmoid", {-105, 20}}, {"sigmoid", {-746, 40}},
  };
  return table;
}

struct Worst {
  double ulp = 0;
  std::string at;
  template <class T>
  void take(double error, T x, T y) {
    if (error <= ulp) return;
    ulp = error;
    std::ostringstream text;
    text << std::hexfloat << x << ", " << y;
    at = text.str();
  }
};

template <class T>
Worst sweep(const std::string& name, const Function& f) {
  Worst worst;
  std::mt19937_64 random(7);
  const bool limited = sizeof(T) == 8 && (name == "sin" || name == "cos" || name == "tan");
  auto check = [&](T x, T y) {
    if (limited && std::fabs(x) > 0x1p51) return;  // beyond the documented range
    const RefScalar a = RefScalar::of(x), b = RefScalar::of(y);
    const T got = (f.unary ? f.unary(a) : f.binary(a, b)).template value<T>();
    worst.take(error_in_ulp(got, f.unary ? f.exact_unary(x) : f.exact_binary(x, y)), x, y);
  };
  auto pattern = [&] {
    const uint64_t bits = random();
    T x;
    std::memcpy(&x, &bits, sizeof(T));
    return x;
  };
  for (int i = 0; i < 40000; ++i) check(pattern(), pattern());
  auto range = [&](Sweep s) {
    std::uniform_real_distribution<double> uniform(s.low, s.high);
    for (int i = 0; i < 60000; ++i) {
      const T x = static_cast<T>(uniform(random));
      check(x, static_cast<T>(uniform(random)));
    }
  };
  range({-4, 4});
  range({0, 30});
  auto [first, last] = sweeps().equal_range(name);
  for (auto it = first; it != last; ++it) range(it->second);
  return worst;
}

template <class T>
void check_golden(const std::string& file, int format) {
  std::ifstream in(std::string(KILN_TEST_GOLDEN) + "/" + file);
  REQUIRE(in.good());
  std::map<std::string, int> seen;
  std::string line;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string name, word;
    words >> name;
    const Function& f = functions().at(name);
    std::vector<RefScalar> arguments;
    for (int i = 0; i < (f.unary ? 1 : 2); ++i) {
      words >> word;
      arguments.push_back(RefScalar::from_bits(dtype_of<T>, std::stoull(word, nullptr, 16)));
    }
    words >> word;
    const RefScalar got = f.unary ? f.unary(arguments[0]) : f.binary(arguments[0], arguments[1]);
    INFO(line << " got " << std::hex << got.bits() << " = " << std::hexfloat << got.value<T>());
    ++seen[name];
    if (word == "nan") {
      CHECK(std::isnan(got.value<T>()));
      continue;
    }
    const uint64_t want = std::stoull(word, nullptr, 16);
    T value;
    std::memcpy(&value, &want, sizeof(T));
    if (value == 0 || std::isinf(value))
      CHECK((got.bits() == want || (value != 0 && std::fabs(got.value<T>()) == std::numeric_limits<T>::max())));
    else
      CHECK(std::abs(ordinal<T>(got.bits()) - ordinal<T>(want)) <= static_cast<int64_t>(f.bound[format]));
  }
  CHECK(seen.size() == functions().size());
}

}  // namespace

TEST_CASE("math functions match MPFR at edges and random points, f32") { check_golden<float>("math_f32.txt", 0); }
TEST_CASE("math functions match MPFR at edges and random points, f64") { check_golden<double>("math_f64.txt", 1); }

TEST_CASE("math functions keep their documented error over dense sweeps") {
  for (const auto& [name, f] : functions()) {
    const Worst single = sweep<float>(name, f), wide = sweep<double>(name, f);
    INFO(name << ": f32 " << single.ulp << " ulp at " << single.at << "; f64 " << wide.ulp << " ulp at " << wide.at);
    CHECK(single.ulp <= f.bound[0]);
    CHECK(wide.ulp <= f.bound[1]);
  }
}

TEST_CASE("measured errors of the math functions", "[.report]") {
  for (const auto& [name, f] : functions()) {
    const Worst single = sweep<float>(name, f), wide = sweep<double>(name, f);
    WARN(name << " f32 " << single.ulp << " at " << single.at << " f64 " << wide.ulp << " at " << wide.at);
  }
}

TEST_CASE("subnormals are kept by log, sqrt and rsqrt") {
  auto bits_of = [](RefScalar s) { return s.bits(); };
  auto f32 = [](uint64_t bits) { return RefScalar::from_bits(DType::f32, bits); };
  CHECK(bits_of(log(RefScalar::of(1e-38f))) == 0xC2AEFF18);
  CHECK(bits_of(log(RefScalar::of(5e-39f))) == 0xC2B061FD);
  CHECK(bits_of(log(f32(1))) == 0xC2CE8ED0);
  CHECK(bits_of(sqrt(RefScalar::of(1e-40f))) == 0x1E3CE4E7);
  CHECK(bits_of(rsqrt(RefScalar::of(1e-40f))) == 0x60AD790A);
  CHECK(bits_of(RefScalar::of(1e-310) * RefScalar::of(1e100)) == 0x14550A6110D6A9A6);
}

TEST_CASE("powers of two and ten are exact") {
  for (int n = -149; n < 128; ++n) {
    CHECK(exp2(RefScalar::of(static_cast<float>(n))).value<float>() == std::ldexp(1.0f, n));
    CHECK(log2(RefScalar::of(std::ldexp(1.0f, n))).value<float>() == static_cast<float>(n));
  }
  for (int n = -1074; n < 1024; ++n) {
    CHECK(exp2(RefScalar::of(static_cast<double>(n))).value<double>() == std::ldexp(1.0, n));
    CHECK(log2(RefScalar::of(std::ldexp(1.0, n))).value<double>() == n);
  }
  for (int n = 0; n < 23; ++n) {
    CHECK(log10(RefScalar::of(std::pow(10.0, n))).value<double>() == n);
    CHECK(pow(RefScalar::of(10.0), RefScalar::of(static_cast<double>(n))).value<double>() == std::pow(10.0, n));
  }
}

TEST_CASE("tanh, erf and sigmoid never leave their range") {
  for (float x = 0; x < 12; x += 1e-4f) {
    CHECK(tanh(RefScalar::of(x)).value<float>() <= 1);
    CHECK(erf(RefScalar::of(x)).value<float>() <= 1);
    CHECK(sigmoid_of(RefScalar::of(x)).value<float>() <= 1);
  }
}

TEST_CASE("sin and cos of f64 beyond 2^51 are NaN, of f32 they are exact to the last bit") {
  CHECK(std::isnan(sin(RefScalar::of(1e300)).value<double>()));
  CHECK(std::isnan(cos(RefScalar::of(0x1.0000000000001p51)).value<double>()));
  CHECK_FALSE(std::isnan(cos(RefScalar::of(0x1p51)).value<double>()));
  for (float x : {1e10f, 1e20f, 1e30f, 3e38f, 0x1p127f, 0x1.f5bp100f}) {
    CHECK(error_in_ulp(sin(RefScalar::of(x)).value<float>(), std::sin(static_cast<long double>(x))) < 0.51);
    CHECK(error_in_ulp(cos(RefScalar::of(x)).value<float>(), std::cos(static_cast<long double>(x))) < 0.51);
  }
}
