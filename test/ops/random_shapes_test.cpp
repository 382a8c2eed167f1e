// Random programs on values of three axes, each of them of full size or of size 1: broadcasts, reductions along any
// axes, transposes and views, with sizes that are often equal or 1. Eager = compiled = reference, bit for bit.
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "test/ops/ops_testing.h"

using namespace kiln;
using namespace kiln::ops_testing;

namespace {

// Bit i of a mask: axis i has its full size.
constexpr uint32_t masks = 8;

class Program {
 public:
  Program(uint32_t seed, DType dtype, const std::vector<Tensor>& inputs) : random_(seed), real_(is_floating(dtype)) {
    for (uint32_t mask = 0; mask < masks; ++mask) pool_[mask] = {inputs[mask]};
    full_ = inputs[masks - 1].shape();
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) step();
  }
  std::vector<Tensor> results() const {
    std::vector<Tensor> results;
    for (const std::vector<Tensor>& values : pool_) results.push_back(values.back());
    results.push_back(pool_[masks - 1][pool_[masks - 1].size() / 2]);
    return results;
  }

 private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  Tensor any(uint32_t mask) {
    const std::vector<Tensor>& values = pool_[mask];
    return below(3) ? values.back() : values[below(static_cast<uint32_t>(values.size()))];
  }
  // Full values are the most interesting ones.
  uint32_t any_mask() { return below(2) ? masks - 1 : below(masks); }

  Tensor unary(const Tensor& x) {
    switch (below(6)) {
      case 0:
        return x * 2 - 1;
      case 1:
        return abs(x);
      case 2:
        return real_ ? tanh(x) : square(x);
      case 3:
        return -x;
      case 4:
        return where(x > 1, x - 1, x);
      default:
        return real_ ? exp(minimum(x, 2)) * 0.25f : minimum(x, 100);
    }
  }
  Tensor binary(const Tensor& x, const Tensor& y) {
    switch (below(5)) {
      case 0:
        return x - y;
      case 1:
        return x * y;
      case 2:
        return maximum(x, y);
      case 3:
        return where(x < y, y, x);
      default:
        return x + y;
    }
  }
  Tensor reduced(const Tensor& x, const std::vector<int64_t>& axes, bool keepdims) {
    const ReduceOptions options{axes, keepdims};
    switch (below(4)) {
      case 0:
        return max(x, options);
      case 1:
        return min(x, options);
      case 2:
        return cast(sum(cast(x > 0, DType::i64), options), x.dtype());
      default:
        return cast(sum(x, options), x.dtype());
    }
  }
  Shape shape_of(uint32_t mask) const {
    Shape shape;
    for (int i = 0; i < 3; ++i) shape.push_back(mask >> i & 1 ? full_[i] : Dim(1));
    return shape;
  }

  void step() {
    const uint32_t mask = any_mask();
    const Tensor x = any(mask);
    auto keep = [&](uint32_t m, const Tensor& y) { pool_[m].push_back(y); };
    switch (below(9)) {
      case 0:
        return keep(mask, unary(x));
      case 1:
      case 2:
      case 3: {
        const uint32_t other = any_mask();
        return keep(mask | other, binary(x, any(other)));
      }
      case 4:
      case 5: {  // along some of the axes, of size 1 or not; the axes come back at once or by a view
        std::vector<int64_t> axes;
        uint32_t left = mask;
        for (int i = 0; i < 3; ++i)
          if (below(2)) {
            axes.push_back(below(2) ? i : i - 3);
            left &= ~(1u << i);
          }
        if (axes.empty()) return keep(0, reshape(reduced(x, {}, false), {1, 1, 1}));
        if (below(2)) return keep(left, reduced(x, axes, true));
        return keep(left, reshape(unary(reduced(x, axes, false)), shape_of(left)));
      }
      case 6: {
        static constexpr int64_t orders[][3] = {{0, 2, 1}, {1, 0, 2}, {2, 1, 0}};  // each undoes itself
        const auto& order = orders[below(3)];
        const std::vector<int64_t> perm(order, order + 3);
        return keep(mask, transpose(binary(transpose(x, {perm}), transpose(any(mask), {perm})), {perm}));
      }
      case 7:
        return keep(mask, reshape(unary(reshape(x, {-1})), shape_of(mask)));
      default:
        return keep(masks - 1, broadcast_to(x, full_) + any(masks - 1));
    }
  }

  std::mt19937 random_;
  bool real_;
  Shape full_;
  std::vector<Tensor> pool_[masks];
};

std::vector<Tensor> inputs(DType dtype, const std::array<int64_t, 3>& sizes) {
  std::vector<Tensor> x;
  for (uint32_t mask = 0; mask < masks; ++mask) {
    Shape shape;
    for (int i = 0; i < 3; ++i) shape.push_back(mask >> i & 1 ? sizes[static_cast<size_t>(i)] : int64_t{1});
    x.push_back(numbers(dtype, shape, -3, 3, mask));
  }
  return x;
}

void check_programs(uint32_t first, uint32_t count) {
  CheckOptions unknown;
  for (uint32_t mask = 0; mask < masks; ++mask) {
    unknown.dims.emplace_back();
    for (int i = 0; i < 3; ++i)
      unknown.dims.back().push_back(mask >> i & 1 ? DimSpec(std::string(1, static_cast<char>('a' + i))) : DimSpec(1));
  }
  for (uint32_t seed = first; seed < first + count; ++seed) {
    std::mt19937 random(seed);
    const DType dtype = std::array{DType::f32, DType::f32, DType::i32, DType::f64}[seed % 4];
    auto sizes = [&](bool ones = true) {
      static constexpr int64_t choices[] = {1, 1, 2, 3, 3, 4, 8, 17, 40, 65};
      auto one = [&] { return choices[ones ? random() % 10 : 2 + random() % 8]; };
      return std::array<int64_t, 3>{one(), one(), one()};
    };
    const std::vector<Item> items = {{"seed " + std::to_string(seed), [=](const std::vector<Tensor>& x) {
                                        Program p(seed, dtype, x);
                                        p.run(24);
                                        return p.results();
                                      }}};
    check_everywhere("shapes", items, {inputs(dtype, sizes())});
    check_everywhere("shapes", items, {inputs(dtype, sizes()), inputs(dtype, sizes()), inputs(dtype, {1, 1, 1})},
                     unknown);
    if (dtype == DType::i32) continue;
    const std::vector<Item> gradients = {
        {"gradients of seed " + std::to_string(seed), [=](const std::vector<Tensor>& x) {
           GradientTape tape;
           for (const Tensor& y : x) tape.watch(y);
           Program p(seed, dtype, x);
           p.run(10);
           Tensor loss;
           for (const Tensor& y : p.results()) loss = loss.defined() ? loss + mean(y) : mean(y);
           return tape.gradient(loss, x, {.unconnected = Unconnected::zero});
         }}};
    check_everywhere("shapes", gradients, {inputs(dtype, sizes())});
    // No sizes of 1: where an unknown dim is 1 the eager program sums over fewer axes than the trace, in another order.
    if (seed % 2)
      check_everywhere("shapes", gradients, {inputs(dtype, sizes(false)), inputs(dtype, sizes(false))}, unknown);
  }
}

}  // namespace

TEST_CASE("a few random shapes", "[quick]") { check_programs(0, 4); }

TEST_CASE("random shapes", "[slow]") { check_programs(4, 60); }

// For long searches: KILN_TEST_SEEDS="1000 500" tries seeds 1000 to 1499.
TEST_CASE("random shapes of given seeds", "[.]") {
  const char* text = std::getenv("KILN_TEST_SEEDS");
  REQUIRE(text);
  uint32_t first = 0, count = 0;
  REQUIRE(std::sscanf(text, "%u %u", &first, &count) == 2);
  check_programs(first, count);
}
