#include <algorithm>
#include <cmath>
#include <limits>

#include "test/unit/kernels_testing.h"

using namespace kiln;
using namespace kiln::testing;

namespace {

// Few different values, so that ties are common; NaN, infinities and both zeros among them.
template <class T>
std::vector<T> values(int64_t n, std::mt19937& random) {
  std::vector<T> v(n);
  for (T& x : v) {
    x = static_cast<T>(random() % 9) - 4;
    if constexpr (std::is_floating_point_v<T>) {
      const T special[] = {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity(),
                           -std::numeric_limits<T>::infinity(), T(-0.0)};
      if (random() % 4 == 0) x = special[random() % 4];
    }
  }
  return v;
}

template <class T>
void check(const std::string& dtype) {
  std::mt19937 random(9);
  for (int64_t o : {0, 1, 3})
    for (int64_t r : {0, 1, 2, 15, 16, 17, 33, 100, 1000})
      for (bool descending : {false, true}) {
        auto x = values<T>(o * r, random);
        std::vector<int64_t> order;
        std::vector<T> sorted;
        for (int64_t i = 0; i < o; ++i) {
          std::vector<int64_t> row(r);
          for (int64_t k = 0; k < r; ++k) row[k] = k;
          std::sort(row.begin(), row.end(), [&](int64_t a, int64_t b) {
            const T p = x[i * r + a], q = x[i * r + b];
            const bool p_first = descending ? p > q : p < q, q_first = descending ? q > p : q < p;
            if (p != p || q != q) return p != p && q != q ? a < b : p == p;
            return p_first || (!q_first && a < b);
          });
          for (int64_t k : row) order.push_back(k), sorted.push_back(x[i * r + k]);
        }
        INFO(dtype << " " << o << "x" << r << " descending " << descending);
        std::vector<T> got(o * r);
        std::vector<int64_t> got_order(o * r);
        REQUIRE(run_kernel("sort." + dtype, true, {x.data(), got.data()}, {o, r, descending}, random) == 0);
        REQUIRE(first_difference(got, sorted) == -1);
        REQUIRE(run_kernel("argsort." + dtype, true, {x.data(), got_order.data()}, {o, r, descending}, random) == 0);
        REQUIRE(got_order == order);
        if (!descending || r < 3) continue;
        const int64_t k = r / 2;
        std::vector<T> top(o * k);
        std::vector<int64_t> top_order(o * k);
        REQUIRE(run_kernel("top_k." + dtype, true, {x.data(), top.data(), top_order.data()}, {o, r, k}, random) == 0);
        for (int64_t i = 0; i < o * k; ++i) {
          REQUIRE(top_order[i] == order[i / k * r + i % k]);
          REQUIRE(std::memcmp(&top[i], &sorted[i / k * r + i % k], sizeof(T)) == 0);
        }
      }
}

template <class T>
void check_scans(const std::string& dtype) {
  std::mt19937 random(11);
  for (int64_t o : {0, 1, 3})
    for (int64_t r : {1, 2, 9, 50})
      for (int64_t n : {0, 1, 5, 64, 130}) {
        auto x = values<T>(o * r * n, random);
        std::vector<int64_t> highest, lowest;
        for (int64_t i = 0; i < o; ++i)
          for (int64_t k = 0; k < n; ++k) {
            auto at = [&](int64_t j) { return x[(i * r + j) * n + k]; };
            int64_t high = 0, low = 0;
            for (int64_t j = 0; j < r; ++j) {
              if (at(j) != at(j)) {
                high = low = j;
                break;
              }
              if (at(j) > at(high)) high = j;
              if (at(j) < at(low)) low = j;
            }
            highest.push_back(high);
            lowest.push_back(low);
          }
        INFO(dtype << " " << o << "x" << r << "x" << n);
        std::vector<int64_t> got(o * n, 77);
        REQUIRE(run_kernel("argmax." + dtype, true, {x.data(), got.data()}, {o, r, n}, random) == 0);
        REQUIRE(got == highest);
        REQUIRE(run_kernel("argmin." + dtype, true, {x.data(), got.data()}, {o, r, n}, random) == 0);
        REQUIRE(got == lowest);
        for (bool multiply : {false, true})
          for (bool exclusive : {false, true})
            for (bool reverse : {false, true}) {
              std::vector<T> want(x.size()), result(x.size());
              for (int64_t i = 0; i < o; ++i)
                for (int64_t k = 0; k < n; ++k) {
                  T sum = multiply ? 1 : 0;
                  for (int64_t q = 0; q < r; ++q) {
                    const int64_t j = (i * r + (reverse ? r - 1 - q : q)) * n + k;
                    const T before = sum;
                    sum = multiply ? static_cast<T>(sum * x[j]) : static_cast<T>(sum + x[j]);
                    want[j] = exclusive ? before : sum;
                  }
                }
              REQUIRE(run_kernel((multiply ? "cumprod." : "cumsum.") + dtype, true, {x.data(), result.data()},
                                 {o, r, n, exclusive, reverse}, random) == 0);
              REQUIRE(first_difference(result, want) == -1);
            }
      }
}

}  // namespace

TEST_CASE("sort, argsort and top_k are stable, NaN last") {
  check<float>("f32");
  check<double>("f64");
  check<int32_t>("i32");
  check<int64_t>("i64");
}

TEST_CASE("argmax, argmin, cumsum, cumprod") {
  check_scans<float>("f32");
  check_scans<double>("f64");
}

TEST_CASE("integer scans wrap") {
  std::mt19937 random(1);
  std::vector<int32_t> x{2147483647, 1, 3}, y(3);
  REQUIRE(run_kernel("cumsum.i32", true, {x.data(), y.data()}, {1, 3, 1, 0, 0}, random) == 0);
  CHECK(y == std::vector<int32_t>{2147483647, -2147483647 - 1, -2147483645});
  REQUIRE(run_kernel("cumprod.i32", true, {x.data(), y.data()}, {1, 3, 1, 0, 1}, random) == 0);
  CHECK(y == std::vector<int32_t>{2147483645, 3, 3});
  std::vector<int64_t> best(1);
  REQUIRE(run_kernel("argmin.i32", true, {x.data(), best.data()}, {1, 3, 1}, random) == 0);
  CHECK(best[0] == 1);
}
