#include <numeric>

#include "test/unit/kernels_testing.h"

using namespace kiln;
using namespace kiln::testing;

namespace {

using Dims = std::vector<int64_t>;

int64_t product(const Dims& d) { return std::accumulate(d.begin(), d.end(), int64_t{1}, std::multiplies<>()); }

Dims index_of(int64_t position, const Dims& dims) {
  Dims index(dims.size());
  for (int d = static_cast<int>(dims.size()) - 1; d >= 0; --d) {
    index[d] = position % dims[d];
    position /= dims[d];
  }
  return index;
}
int64_t position_of(const Dims& index, const Dims& dims) {
  int64_t p = 0;
  for (size_t d = 0; d < dims.size(); ++d) p = p * dims[d] + index[d];
  return p;
}

Dims joined(std::initializer_list<Dims> parts) {
  Dims all;
  for (const Dims& p : parts) all.insert(all.end(), p.begin(), p.end());
  return all;
}

struct Wide {
  uint64_t low, high;
  bool operator==(const Wide&) const = default;
};

template <class T>
std::vector<T> counting(int64_t n, uint64_t first = 1) {
  std::vector<T> v(n);
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t value = (first + static_cast<uint64_t>(i)) * 0x9e3779b97f4a7c15u;
    std::memcpy(&v[i], &value, std::min(sizeof(T), sizeof value));
  }
  return v;
}

// Calls f(element type, name) for each element size.
template <class F>
void each_size(F f) {
  f(uint8_t{}, ".b1");
  f(uint16_t{}, ".b2");
  f(uint32_t{}, ".b4");
  f(uint64_t{}, ".b8");
  f(Wide{}, ".b16");
}

void check_transpose(const Dims& dims, const Dims& perm) {
  Dims out;
  for (int64_t p : perm) out.push_back(dims[p]);
  const int64_t n = product(dims);
  each_size([&](auto element, const char* size) {
    using T = decltype(element);
    auto x = counting<T>(n);
    std::vector<T> want(n), got(n);
    for (int64_t i = 0; i < n; ++i) {
      const Dims at = index_of(i, out);
      Dims from(dims.size());
      for (size_t d = 0; d < perm.size(); ++d) from[perm[d]] = at[d];
      want[i] = x[position_of(from, dims)];
    }
    std::mt19937 random(5);
    for (bool wide : instruction_sets()) {
      std::fill(got.begin(), got.end(), T{});
      REQUIRE(run_kernel(std::string("transpose") + size, wide, {x.data(), got.data()},
                         joined({{static_cast<int64_t>(dims.size())}, dims, perm}), random) == 0);
      REQUIRE(got == want);
    }
  });
}

void check_slice(const Dims& dims, const Dims& size, const Dims& begin, const Dims& step, const Dims& backwards) {
  const int64_t r = static_cast<int64_t>(dims.size()), n = product(size);
  each_size([&](auto element, const char* name) {
    using T = decltype(element);
    auto x = counting<T>(product(dims));
    std::vector<T> want(n), got(n), padded(product(dims));
    T fill{};
    const uint64_t bits = 0xfedcba9876543210u;
    std::memcpy(&fill, &bits, std::min(sizeof fill, sizeof bits));
    std::vector<T> want_padded(product(dims), fill);
    for (int64_t i = 0; i < n; ++i) {
      Dims at = index_of(i, size);
      for (int64_t d = 0; d < r; ++d) at[d] = begin[d] + (backwards[d] ? -step[d] : step[d]) * at[d];
      want[i] = x[position_of(at, dims)];
      want_padded[position_of(at, dims)] = want[i];
    }
    std::mt19937 random(5);
    REQUIRE(run_kernel(std::string("slice") + name, true, {x.data(), got.data()},
                       joined({{r}, dims, size, begin, step, backwards}), random) == 0);
    REQUIRE(got == want);
    REQUIRE(run_kernel(std::string("pad") + name, true, {got.data(), padded.data()},
                       joined({{r}, size, dims, begin, step, backwards, {0x76543210, 0xfedcba98}}), random) == 0);
    REQUIRE(padded == want_padded);
  });
}

}  // namespace

TEST_CASE("transpose, every permutation of some shapes") {
  check_transpose({}, {});
  check_transpose({7}, {0});
  for (const Dims& dims : {Dims{3, 4, 5, 2}, Dims{1, 17, 1, 33}, Dims{2, 0, 3, 4}, Dims{16, 2, 32, 1}}) {
    Dims perm{0, 1, 2, 3};
    do check_transpose(dims, perm);
    while (std::next_permutation(perm.begin(), perm.end()));
  }
  check_transpose({2, 3, 1, 2, 2, 3, 2, 2}, {7, 1, 3, 0, 2, 6, 4, 5});
}

TEST_CASE("transpose of matrices and batches, whole and partial blocks") {
  for (int64_t a : {1, 2, 8, 15, 16, 70, 130})
    for (int64_t b : {1, 3, 16, 33, 600}) check_transpose({a, b}, {1, 0});
  check_transpose({3, 40, 50}, {0, 2, 1});
  check_transpose({4, 30, 3}, {2, 0, 1});
  check_transpose({4, 30, 3}, {1, 0, 2});
}

TEST_CASE("slice and its inverse, pad") {
  check_slice({}, {}, {}, {}, {});
  check_slice({10}, {4}, {3}, {1}, {0});
  check_slice({10}, {10}, {9}, {1}, {1});
  check_slice({10}, {0}, {3}, {1}, {0});
  check_slice({10, 7}, {3, 4}, {2, 6}, {3, 2}, {0, 1});
  check_slice({4, 5, 6}, {2, 5, 6}, {1, 0, 0}, {1, 1, 1}, {0, 0, 0});  // one run
  check_slice({4, 5, 6}, {4, 2, 6}, {3, 1, 0}, {1, 2, 1}, {1, 0, 0});
  check_slice({4, 5, 6}, {4, 5, 6}, {3, 4, 5}, {1, 1, 1}, {1, 1, 1});
  check_slice({4, 0, 6}, {4, 0, 3}, {0, 0, 0}, {1, 1, 2}, {0, 0, 0});
  check_slice({2, 40000}, {2, 39990}, {0, 5}, {1, 1}, {0, 0});  // rows of several blocks
  check_slice({2, 40000}, {1, 20000}, {1, 39999}, {1, 2}, {0, 1});
  check_slice({3, 2, 2, 2, 2, 2, 2, 2}, {2, 1, 2, 1, 2, 1, 2, 1}, {1, 1, 0, 0, 0, 1, 0, 1}, {1, 1, 1, 1, 1, 1, 1, 1},
              {0, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("concat along an axis") {
  std::mt19937 random(5);
  for (int64_t outer : {0, 1, 3})
    for (int64_t inner : {0, 1, 5}) {
      const Dims sizes{2, 0, 1, 4};
      std::vector<std::vector<uint32_t>> inputs;
      std::vector<void*> buffers;
      for (int64_t s : sizes) inputs.push_back(counting<uint32_t>(outer * s * inner, 1000 * inputs.size()));
      for (auto& in : inputs) buffers.push_back(in.data());
      std::vector<uint32_t> want, got(outer * 7 * inner);
      for (int64_t o = 0; o < outer; ++o)
        for (size_t i = 0; i < sizes.size(); ++i)
          for (int64_t k = 0; k < sizes[i] * inner; ++k) want.push_back(inputs[i][o * sizes[i] * inner + k]);
      buffers.push_back(got.data());
      REQUIRE(run_kernel("concat.b4", true, buffers, joined({{4, outer, inner}, sizes}), random) == 0);
      CHECK(got == want);
    }
}

TEST_CASE("tile repeats each dim") {
  std::mt19937 random(5);
  auto check = [&](const Dims& dims, const Dims& times) {
    Dims out = dims;
    for (size_t d = 0; d < dims.size(); ++d) out[d] *= times[d];
    each_size([&](auto element, const char* name) {
      using T = decltype(element);
      auto x = counting<T>(product(dims));
      std::vector<T> want(product(out)), got(product(out));
      for (int64_t i = 0; i < product(out); ++i) {
        Dims at = index_of(i, out);
        for (size_t d = 0; d < dims.size(); ++d) at[d] %= dims[d];
        want[i] = x[position_of(at, dims)];
      }
      REQUIRE(run_kernel(std::string("tile") + name, true, {x.data(), got.data()},
                         joined({{static_cast<int64_t>(dims.size())}, dims, times}), random) == 0);
      CHECK(got == want);
    });
  };
  check({}, {});
  check({3}, {4});
  check({1}, {9});
  check({2, 3, 2}, {3, 1, 2});
  check({2, 3}, {0, 2});
  check({2, 0}, {2, 2});
  check({2, 3}, {2, 0});
}
