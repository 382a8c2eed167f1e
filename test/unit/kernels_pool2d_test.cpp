#include <cmath>
#include <limits>

#include "test/unit/kernels_testing.h"

using namespace kiln;
using namespace kiln::testing;

namespace {

struct Pool {
  int64_t n, h, w, c, kh, kw, oh, ow, stride_h, stride_w, pad_top, pad_left;
};

// Calls f(window number, cell's index in x, is the first cell) for each cell in row-major order of windows and cells.
template <class F>
void each_cell(const Pool& p, F f) {
  for (int64_t n = 0; n < p.n; ++n)
    for (int64_t oh = 0; oh < p.oh; ++oh)
      for (int64_t ow = 0; ow < p.ow; ++ow)
        for (int64_t c = 0; c < p.c; ++c) {
          bool first = true;
          for (int64_t a = 0; a < p.kh; ++a)
            for (int64_t b = 0; b < p.kw; ++b) {
              const int64_t h = oh * p.stride_h + a - p.pad_top, w = ow * p.stride_w + b - p.pad_left;
              if (h < 0 || h >= p.h || w < 0 || w >= p.w) continue;
              f(((n * p.oh + oh) * p.ow + ow) * p.c + c, ((n * p.h + h) * p.w + w) * p.c + c, first);
              first = false;
            }
        }
}

template <class T>
bool is_better(T x, T best) {
  return x > best || (x != x && best == best);
}

template <class T>
void check(const std::string& dtype, const Pool& p, bool special = false) {
  std::mt19937 random(static_cast<unsigned>(p.h * 3 + p.w * 5 + p.c * 7 + p.kh));
  std::vector<int64_t> params(12);
  std::memcpy(params.data(), &p, sizeof p);
  auto x = random_values<T>(p.n * p.h * p.w * p.c, random), dy = random_values<T>(p.n * p.oh * p.ow * p.c, random);
  if (special)
    for (T& v : x) {
      const T values[] = {
          T(1), T(2), T(-0.0), T(0.0), std::numeric_limits<T>::quiet_NaN(), -std::numeric_limits<T>::infinity()};
      v = values[random() % 6];
    }
  std::vector<T> highest(dy.size(), -std::numeric_limits<T>::infinity()), sums(dy.size()), counts(dy.size());
  std::vector<int64_t> where(dy.size(), -1);
  each_cell(p, [&](int64_t y, int64_t cell, bool first) {
    if (first || is_better(x[cell], highest[y])) highest[y] = x[cell], where[y] = cell;
    sums[y] += x[cell];
    counts[y] += 1;
  });
  std::vector<T> average(dy.size()), dx_max(x.size()), dx_average(x.size());
  for (size_t i = 0; i < dy.size(); ++i) average[i] = counts[i] ? sums[i] / counts[i] : 0;
  each_cell(p, [&](int64_t y, int64_t cell, bool) {
    if (where[y] == cell) dx_max[cell] += dy[y];
    dx_average[cell] += dy[y] / counts[y];
  });
  INFO(dtype << " " << p.h << "x" << p.w << "x" << p.c << " window " << p.kh << "x" << p.kw << " stride "
             << p.stride_h);
  for (bool wide : instruction_sets()) {
    std::vector<T> y(dy.size(), T(5)), dx(x.size(), T(5));
    REQUIRE(run_kernel("max_pool2d." + dtype, wide, {x.data(), y.data()}, params, random) == 0);
    REQUIRE(first_difference(y, highest) == -1);
    REQUIRE(run_kernel("max_pool2d_backward." + dtype, wide, {x.data(), dy.data(), dx.data()}, params, random) == 0);
    REQUIRE(first_difference(dx, dx_max) == -1);
    REQUIRE(run_kernel("avg_pool2d." + dtype, wide, {x.data(), y.data()}, params, random) == 0);
    REQUIRE(first_difference(y, average) == -1);
    REQUIRE(run_kernel("avg_pool2d_backward." + dtype, wide, {dy.data(), dx.data()}, params, random) == 0);
    REQUIRE(first_difference(dx, dx_average) == -1);
  }
}

}  // namespace

TEST_CASE("pooling and its gradients, channels of all lengths") {
  for (int64_t c : {0, 1, 3, 8, 16, 17, 40, 65}) {
    check<float>("f32", {2, 6, 8, c, 2, 2, 3, 4, 2, 2, 0, 0});
    check<double>("f64", {2, 7, 7, c, 3, 3, 4, 4, 2, 2, 1, 1});
    check<float>("f32", {1, 5, 6, c, 3, 2, 5, 6, 1, 1, 1, 0}, true);  // overlapping windows
    check<double>("f64", {1, 5, 6, c, 3, 2, 5, 6, 1, 1, 1, 0}, true);
  }
}

TEST_CASE("pooling of empty tensors and windows of padding only") {
  check<float>("f32", {0, 4, 4, 3, 2, 2, 2, 2, 2, 2, 0, 0});
  check<float>("f32", {1, 1, 4, 3, 2, 2, 0, 2, 2, 2, 0, 0});
  check<float>("f32", {1, 2, 2, 3, 2, 2, 3, 3, 2, 2, 2, 2});
}

TEST_CASE("max_pool2d of integers") {
  std::mt19937 random(3);
  for (bool wide : instruction_sets()) {
    std::vector<int32_t> x{1, -5, 7, 3}, y(1);
    REQUIRE(run_kernel("max_pool2d.i32", wide, {x.data(), y.data()}, {1, 2, 2, 1, 2, 2, 1, 1, 2, 2, 0, 0}, random) ==
            0);
    CHECK(y[0] == 7);
    std::vector<int64_t> lx{-4, -5, -7, -3}, ly(1);
    REQUIRE(run_kernel("max_pool2d.i64", wide, {lx.data(), ly.data()}, {1, 2, 2, 1, 2, 2, 1, 1, 2, 2, 0, 0}, random) ==
            0);
    CHECK(ly[0] == -3);
  }
}
