// Random programs of elementwise ops, reductions, views, matmuls and control flow, with gradients: what fusion makes of
// them must equal the eager run and the reference bit for bit. A failure names its seed.
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "test/ops/ops_testing.h"

using namespace kiln;
using namespace kiln::ops_testing;

namespace {

// Values by kind, so that the choices do not depend on whether sizes are known: [n, m], [m], [n, 1], [1, m], [n], [].
enum Kind : uint8_t { matrix, row, column, flat_row, vector, scalar, kinds };

class Program {
 public:
  Program(uint32_t seed, const std::vector<Tensor>& inputs, bool has_control = true)
      : random_(seed), weights_(inputs[4]), has_control_(has_control) {
    pool_[matrix] = {inputs[0], inputs[1]};
    pool_[row] = {inputs[2]};
    pool_[column] = {inputs[3]};
    pool_[flat_row] = {expand_dims(inputs[2], 0)};
    pool_[vector] = {squeeze(inputs[3], {{1}})};
    pool_[scalar] = {Tensor(0.5f)};
  }

  std::vector<Tensor> run(int steps) {
    for (int i = 0; i < steps; ++i) step();
    std::vector<Tensor> results;
    for (const std::vector<Tensor>& values : pool_)
      for (size_t back = 0; back < 2 && back < values.size(); ++back)
        results.push_back(values[values.size() - 1 - back]);
    return results;
  }
  const Tensor& last(Kind kind) const { return pool_[kind].back(); }

 private:
  size_t below(size_t n) { return random_() % n; }
  // Mostly a late value, so that chains become long.
  Tensor any(Kind kind) {
    const std::vector<Tensor>& values = pool_[kind];
    return below(3) ? values.back() : values[below(values.size())];
  }
  void keep(Kind kind, const Tensor& x) { pool_[kind].push_back(x); }

  Tensor unary(const Tensor& x) {
    switch (below(16)) {
      case 0:
        return tanh(x);
      case 1:
        return exp(minimum(x, 3));
      case 2:
        return sqrt(abs(x) + 0.25f);
      case 3:
        return square(x) * 0.5f;
      case 4:
        return x * 2 - 1;
      case 5:
        return relu(x);
      case 6:
        return sigmoid(x);
      case 7:
        return where(x > 0, x, x * 0.1f);
      case 8:
        return cast(cast(x * 4, DType::i32) % 7, DType::f32) / 3;
      case 9:
        return sin(x) + cos(x * 0.5f);
      case 10:
        return clip_by_value(x, -1.5f, 1.5f);
      case 11:
        return -x;
      case 12:
        return log(square(x) + 1);
      case 13:
        return cast(cast(x, DType::f64) / 3, DType::f32);
      case 14:
        return zeros_like(x) + 0.25f;
      default:
        return gelu(x);
    }
  }
  Tensor binary(const Tensor& x, const Tensor& y) {
    switch (below(9)) {
      case 0:
        return x - y;
      case 1:
        return x * y;
      case 2:
        return x / (abs(y) + 1);
      case 3:
        return maximum(x, y);
      case 4:
        return minimum(x, y) + x;
      case 5:
        return where(less(x, y), x, y);
      case 6:
        return squared_difference(x, y) * 0.125f;
      case 7:
        return where((x > y) & (y > 0), x + y, y - x);
      default:
        return x + y;
    }
  }
  Tensor reduced(const Tensor& x, const ReduceOptions& options) {
    switch (below(6)) {
      case 0:
        return max(x, options);
      case 1:
        return min(x, options);
      case 2:
        return mean(x, options);
      case 3:
        return logsumexp(clip_by_value(x, -50, 50), options);
      case 4:
        return cast(sum(cast(x > 0, DType::i32), options), DType::f32);
      default:
        return sum(x, options) * 0.125f;
    }
  }

  void step() {
    switch (below(24)) {
      case 0:
      case 1:
      case 2:
      case 3: {
        const Kind kind = static_cast<Kind>(below(kinds));
        return keep(kind, unary(any(kind)));
      }
      case 4:
      case 5:
      case 6:
        return keep(matrix, binary(any(matrix), any(matrix)));
      case 7:
        return keep(matrix, binary(any(matrix), any(static_cast<Kind>(below(flat_row + 1)))));
      case 8:
        return keep(matrix, binary(any(static_cast<Kind>(below(flat_row + 1))), any(matrix)));
      case 9:
        return keep(matrix, binary(any(column), any(below(2) ? row : flat_row)));
      case 10: {
        const Kind kind = static_cast<Kind>(below(kinds));
        return keep(kind, binary(any(kind), any(scalar)));
      }
      case 11:
        return keep(column, reduced(any(matrix), {{1}, true}));
      case 12:
        return keep(vector, reduced(any(matrix), {{-1}, false}));
      case 13:
        return keep(row, reduced(any(matrix), {{0}, false}));
      case 14:
        return keep(flat_row, reduced(any(matrix), {{0}, true}));
      case 15:
        return keep(scalar, reduced(any(static_cast<Kind>(below(kinds))), {}));
      case 16:
        return keep(column, expand_dims(any(vector), 1));
      case 17:
        return keep(vector, squeeze(any(column), {{1}}));
      case 18:
        return below(2) ? keep(row, reshape(any(flat_row), {-1})) : keep(flat_row, expand_dims(any(row), 0));
      case 19:
        // Programs on long rows have no weights.
        return keep(matrix,
                    (weights_.dim(0) == any(matrix).dim(1) ? matmul(any(matrix), weights_) : any(matrix)) * 0.25f);
      case 20: {
        const Tensor x = any(matrix);
        return keep(matrix, reshape(unary(reshape(x, {-1})), x.shape()));
      }
      case 21:
        return keep(matrix, transpose(unary(transpose(any(matrix)))));
      case 22:
        return below(2) ? keep(matrix, softmax(any(matrix))) : keep(matrix, cumsum(any(matrix), {1}) * 0.25f);
      default:
        if (has_control_) control();
    }
  }
  void control() {
    const Tensor x = any(matrix), y = any(row);
    if (below(2)) {
      const uint32_t seed = random_();
      auto branch = [&, seed](uint32_t which) {
        random_.seed(seed + which);
        const Tensor z = unary(binary(x, y));
        return std::tuple<Tensor, Tensor>(z, reduced(z, {{0}, false}));
      };
      const auto [a, b] = cond(sum(x) > sum(y), [&] { return branch(0); }, [&] { return branch(1); });
      random_.seed(seed);
      keep(matrix, a);
      keep(row, b);
    } else {
      const auto [count, last] =
          while_loop([&](Tensor i, Tensor) { return i < 3; },
                     [&](Tensor i, Tensor z) { return std::tuple<Tensor, Tensor>(i + 1, tanh(z) * 0.5f + y); },
                     std::tuple<Tensor, Tensor>(Tensor(0), x));
      keep(matrix, last);
    }
  }

  std::mt19937 random_;
  Tensor weights_;
  bool has_control_;
  std::vector<Tensor> pool_[kinds];
};

std::vector<Tensor> inputs(int64_t n, int64_t m) {
  return {numbers(DType::f32, {n, m}, -2, 2, 1), numbers(DType::f32, {n, m}, -2, 2, 2),
          numbers(DType::f32, {m}, -2, 2, 3), numbers(DType::f32, {n, 1}, -2, 2, 4),
          numbers(DType::f32, {m, m}, -1, 1, 5)};
}

std::vector<Tensor> long_rows(int64_t n, int64_t m) {
  std::vector<Tensor> x = inputs(n, 1);
  for (int i : {0, 1}) x[i] = numbers(DType::f32, {n, m}, -2, 2, 6 + static_cast<uint32_t>(i));
  x[2] = numbers(DType::f32, {m}, -2, 2, 8);
  return x;
}

Item program(uint32_t seed, int steps) {
  return {"seed " + std::to_string(seed),
          [=](const std::vector<Tensor>& inputs) { return Program(seed, inputs).run(steps); }};
}

// The gradients of a loss. No control flow: a compiled loop adds up its part of a gradient before it adds that to the
// rest.
Item gradient_program(uint32_t seed, int steps) {
  return {"gradients of seed " + std::to_string(seed), [=](const std::vector<Tensor>& inputs) {
            GradientTape tape;
            for (const Tensor& x : inputs) tape.watch(x);
            Program p(seed, inputs, false);
            p.run(steps);
            const Tensor loss = mean(square(p.last(matrix))) + mean(p.last(row)) + sum(p.last(vector)) * 0.1f;
            std::vector<Tensor> results = tape.gradient(loss, inputs, {.unconnected = Unconnected::zero});
            results.push_back(loss);
            return results;
          }};
}

void check_programs(uint32_t first, uint32_t count) {
  const CheckOptions unknown = {.dims = {{"n", "m"}, {"n", "m"}, {"m"}, {"n", 1}, {"m", "m"}}};
  for (uint32_t seed = first; seed < first + count; ++seed) {
    check_everywhere("random", {program(seed, 30)}, {inputs(5 + seed % 60, 3 + seed % 37)});
    check_everywhere("random", {program(seed, 20)}, {inputs(4, 9), inputs(1, 1), inputs(300, 70)}, unknown);
    check_everywhere("random", {gradient_program(seed, 12)}, {inputs(6, 1 + seed % 40)});
    if (seed % 2) check_everywhere("random", {gradient_program(seed, 12)}, {inputs(3, 8), inputs(60, 90)}, unknown);
    // Several chunks of rows, of columns; long rows are more than one chunk each.
    if (seed % 3 == 0) check_everywhere("random", {program(seed, 15)}, {inputs(2000 + seed % 1100, 1 + seed % 9)});
    if (seed % 3 == 1) check_everywhere("random", {program(seed, 15)}, {long_rows(1 + seed % 5, 3000 + seed % 4000)});
    if (seed % 3 == 2) check_everywhere("random", {gradient_program(seed, 10)}, {long_rows(1 + seed % 5, 3000)});
  }
}

}  // namespace

TEST_CASE("a few random programs", "[quick]") { check_programs(0, 6); }

TEST_CASE("random programs", "[slow]") { check_programs(6, 60); }

// For long searches: KILN_TEST_SEEDS="1000 500" tries seeds 1000 to 1499.
TEST_CASE("random programs of given seeds", "[.]") {
  const char* text = std::getenv("KILN_TEST_SEEDS");
  REQUIRE(text);
  uint32_t first = 0, count = 0;
  REQUIRE(std::sscanf(text, "%u %u", &first, &count) == 2);
  check_programs(first, count);
}
