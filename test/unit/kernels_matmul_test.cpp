#include <cmath>
#include <limits>

#include "test/unit/kernels_testing.h"

using namespace kiln;
using namespace kiln::testing;

namespace {

template <class T>
T chain_step(T a, T b, T c) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fma(a, b, c);
  else
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) * static_cast<std::make_unsigned_t<T>>(b) +
                          static_cast<std::make_unsigned_t<T>>(c));
}

// The definition: one chain per element, k ascending.
template <class T>
std::vector<T> naive(const std::vector<T>& x, const std::vector<T>& y, int64_t m, int64_t n, int64_t k, bool tx,
                     bool ty, const std::vector<int64_t>& bx, const std::vector<int64_t>& by) {
  int64_t batches = 1;
  for (size_t d = 0; d < bx.size(); ++d) batches *= bx[d] == 1 ? by[d] : bx[d];
  std::vector<T> result(batches * m * n);
  for (int64_t b = 0; b < batches; ++b) {
    int64_t left = b, xb = 0, yb = 0, xs = 1, ys = 1;
    for (int d = static_cast<int>(bx.size()) - 1; d >= 0; --d) {
      const int64_t size = bx[d] == 1 ? by[d] : bx[d], at = left % size;
      left /= size;
      xb += (bx[d] == 1 ? 0 : at) * xs;
      yb += (by[d] == 1 ? 0 : at) * ys;
      xs *= bx[d];
      ys *= by[d];
    }
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        T c = 0;
        for (int64_t l = 0; l < k; ++l)
          c = chain_step<T>(x[xb * m * k + (tx ? l * m + i : i * k + l)], y[yb * k * n + (ty ? j * k + l : l * n + j)],
                            c);
        result[(b * m + i) * n + j] = c;
      }
  }
  return result;
}

template <class T>
void check(const char* name, int64_t m, int64_t n, int64_t k, std::vector<int64_t> bx = {},
           std::vector<int64_t> by = {}) {
  std::mt19937 random(static_cast<unsigned>(m * 31 + n * 17 + k));
  int64_t xs = 1, ys = 1, batches = 1;
  for (int64_t d : bx) xs *= d;
  for (int64_t d : by) ys *= d;
  for (size_t d = 0; d < bx.size(); ++d) batches *= bx[d] == 1 ? by[d] : bx[d];
  auto x = random_values<T>(xs * m * k, random), y = random_values<T>(ys * k * n, random);
  for (bool tx : {false, true})
    for (bool ty : {false, true}) {
      const auto want = naive(x, y, m, n, k, tx, ty, bx, by);
      std::vector<int64_t> params{m, n, k, tx, ty, static_cast<int64_t>(bx.size())};
      params.insert(params.end(), bx.begin(), bx.end());
      params.insert(params.end(), by.begin(), by.end());
      for (bool wide : instruction_sets()) {
        std::vector<T> got(batches * m * n, T(77));
        REQUIRE(run_kernel(name, wide, {x.data(), y.data(), got.data()}, params, random) == 0);
        INFO(name << " " << m << "x" << k << "x" << n << " tx " << tx << " ty " << ty << " wide " << wide);
        REQUIRE(first_difference(got, want) == -1);
      }
    }
}

}  // namespace

TEST_CASE("matmul equals one chain per element for every small shape") {
  for (int64_t m : {0, 1, 2, 3, 5, 7, 13, 15, 29})
    for (int64_t n : {0, 1, 2, 8, 10, 15, 17, 33, 70})
      for (int64_t k : {0, 1, 2, 17, 65}) check<float>("matmul.f32", m, n, k);
}

TEST_CASE("matmul of other dtypes") {
  for (int64_t m : {1, 6, 14, 31})
    for (int64_t n : {1, 7, 16, 37})
      for (int64_t k : {0, 3, 40}) {
        check<double>("matmul.f64", m, n, k);
        check<int32_t>("matmul.i32", m, n, k);
        check<int64_t>("matmul.i64", m, n, k);
      }
}

TEST_CASE("matmul with packing and several blocks of k") {
  check<float>("matmul.f32", 75, 300, 521);
  check<float>("matmul.f32", 128, 256, 1024);  // rows a power of two apart
  check<double>("matmul.f64", 61, 143, 512);
  check<float>("matmul.f32", 600, 10, 300);
  check<float>("matmul.f32", 1, 1030, 700);
  check<int32_t>("matmul.i32", 75, 140, 300);
}

TEST_CASE("matmul broadcasts its batch dims") {
  check<float>("matmul.f32", 4, 5, 6, {3}, {3});
  check<float>("matmul.f32", 4, 5, 6, {2, 3}, {1, 1});
  check<float>("matmul.f32", 4, 5, 6, {2, 1, 4}, {1, 3, 1});
  check<float>("matmul.f32", 4, 5, 6, {1, 1}, {3, 2});
  check<float>("matmul.f32", 40, 50, 160, {2, 1}, {1, 3});
  check<float>("matmul.f32", 80, 200, 128, {3}, {3});
  check<float>("matmul.f32", 4, 5, 6, {0}, {1});
  check<float>("matmul.f32", 4, 5, 6, {2, 0}, {2, 1});
}

TEST_CASE("matmul keeps NaN, infinity and minus zero as the chain gives them") {
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<float> x{0, inf, -1e-30f, 1}, y{inf, 1, 1e-30f, 1};
  std::mt19937 random(1);
  for (bool wide : instruction_sets()) {
    std::vector<float> got(4);
    REQUIRE(run_kernel("matmul.f32", wide, {x.data(), y.data(), got.data()}, {2, 2, 2, 0, 0, 0}, random) == 0);
    CHECK(first_difference(got, naive<float>(x, y, 2, 2, 2, false, false, {}, {})) == -1);
  }
}
