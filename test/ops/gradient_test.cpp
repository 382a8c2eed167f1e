// Gradients of every differentiable op on its vectors: in f64 they are the slopes of central differences, and eager and
// compiled code give the same bits.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "test/golden/vectors.h"
#include "test/ops/ops_testing.h"

using namespace kiln;
using namespace kiln::ops_testing;

namespace {

bool floating(const Tensor& x) { return is_floating(x.dtype()); }

struct Call {
  OpId op;
  std::vector<Tensor> operands;
  std::vector<Attribute> attributes;
  std::string label;
};

// The results weighted by fixed numbers, so that no error can cancel.
Tensor weighted_sum(const std::vector<Tensor>& results) {
  Tensor total;
  for (const Tensor& y : results) {
    if (!floating(y)) continue;
    const Tensor weights = sin(cast(iota(y.shape(), {DType::i32}), y.dtype()) * 0.37 + 0.5);
    const Tensor sum = reduce_sum(y * weights);
    total = total.defined() ? total + cast(sum, total.dtype()) : sum;
  }
  return total;
}

// One gradient per floating operand; of an operand without one: zeros.
std::vector<Tensor> gradients_of(OpId op, const std::vector<Tensor>& operands,
                                 const std::vector<Attribute>& attributes) {
  std::vector<Tensor> sources;
  for (const Tensor& x : operands)
    if (floating(x)) sources.push_back(x);
  GradientTape tape;
  for (const Tensor& x : sources) tape.watch(x);
  const Tensor target = weighted_sum(call_op(op, operands, attributes));
  if (!target.defined()) return {};  // no floating result
  return tape.gradient(target, sources, {.unconnected = Unconnected::zero});
}

bool all_finite(const std::vector<Tensor>& list) {
  for (const Tensor& x : list)
    if (floating(x) && !all(is_finite(x)).item<bool>()) return false;
  return true;
}

// The vectors of one dtype of ops with a gradient, on finite numbers.
std::vector<Call> calls_of(DType dtype, size_t per_op) {
  std::vector<Call> calls;
  std::map<OpId, size_t> count;
  for (const golden::Case& c : golden::Reader(KILN_TEST_GOLDEN "/vectors.bin").read()) {
    const OpId op = *find_op(c.op);
    if (!row_of(op).differentiable) continue;
    Call call{op, {}, c.attributes, c.op};
    bool wanted = false;
    for (const Constant& x : c.operands) {
      call.operands.push_back(tensor_of(x));
      wanted |= x.type.dtype == dtype && x.type.shape.size() > 0;
      call.label += " " + type_text(call.operands.back());
    }
    if (!wanted || !all_finite(call.operands) || ++count[op] > per_op) continue;
    calls.push_back(call);
  }
  return calls;
}

// Central differences of each element; elements where the slopes from both sides differ (kinks) have no expected value.
int check_slopes(const Call& c) {
  int checked = 0;
  const std::vector<Tensor> got = gradients_of(c.op, c.operands, c.attributes);
  if (got.empty()) return 0;
  size_t source = 0;
  for (size_t k = 0; k < c.operands.size(); ++k) {
    if (!floating(c.operands[k])) continue;
    const Tensor& gradient = got[source++];
    REQUIRE(gradient.shape() == c.operands[k].shape());
    REQUIRE(gradient.dtype() == c.operands[k].dtype());
    const std::vector<double> at = c.operands[k].to_vector<double>(), slopes = gradient.to_vector<double>();
    for (size_t i = 0; i < at.size(); i += 1 + at.size() / 24) {
      const double h = 1e-5 * std::max(1.0, std::fabs(at[i]));
      auto value = [&](double x) {
        std::vector<double> moved = at;
        moved[i] = x;
        std::vector<Tensor> operands = c.operands;
        operands[k] = Tensor(moved, c.operands[k].shape());
        return cast(weighted_sum(call_op(c.op, operands, c.attributes)), DType::f64).item<double>();
      };
      const double low = value(at[i] - h), middle = value(at[i]), high = value(at[i] + h);
      const double want = (high - low) / (2 * h), scale = std::max({1.0, std::fabs(want), std::fabs(middle)});
      if (c.op == OpId::cast && std::get<DType>(c.attributes[0]) == DType::f32) continue;  // steps of f32
      // The deviation of one number is 0 everywhere, which is the square root's pole.
      if (c.op == OpId::reduce_std && at.size() == 1) continue;
      // A second derivative bends the two slopes apart by h at most, a kink by O(1).
      if (!std::isfinite(want) || std::fabs((high - middle) - (middle - low)) > 1e-2 * h * scale) continue;
      ++checked;
      if (!(std::fabs(slopes[i] - want) <= 1e-6 * scale))
        FAIL_CHECK("operand " << k << ", element " << i << " at " << at[i] << ": " << slopes[i]
                              << ", central difference " << want);
    }
  }
  return checked;
}

void check_compiled(DType dtype, size_t per_op) {
  std::vector<Item> items;
  std::vector<Tensor> inputs;
  auto flush = [&] {
    if (!items.empty()) check_everywhere("gradients", items, {inputs});
    items.clear();
    inputs.clear();
  };
  for (const Call& c : calls_of(dtype, per_op)) {
    const size_t first = inputs.size(), count = c.operands.size();
    inputs.insert(inputs.end(), c.operands.begin(), c.operands.end());
    items.push_back(
        {"gradient of " + c.label, [=, op = c.op, attributes = c.attributes](const std::vector<Tensor>& in) {
           return gradients_of(op, {in.begin() + first, in.begin() + first + count}, attributes);
         }});
    if (items.size() >= 60) flush();
  }
  flush();
}

}  // namespace

TEST_CASE("gradients are the slopes of central differences") {
  std::map<OpId, int> checked;
  for (const Call& c : calls_of(DType::f64, 12)) {
    INFO(c.label);
    try {
      checked[c.op] += check_slopes(c);
    } catch (const Error& e) {
      FAIL_CHECK(e.what());
    }
  }
  // These take no floating operand, or their derivative is no slope: a cast to integers, random numbers (no vectors).
  const std::set<OpId> none = {OpId::eye,
                               OpId::arange,
                               OpId::linspace,
                               OpId::one_hot,
                               OpId::dropout,
                               OpId::argsort,
                               OpId::in_top_k,
                               OpId::size,
                               OpId::stateless_random_uniform,
                               OpId::stateless_random_normal};
  for (const Row& row : rows())
    if (row.differentiable && !none.count(row.op) && !checked[row.op])
      FAIL_CHECK("no slope checked of " << name_of(row.op));
}

TEST_CASE("compiled gradients = eager gradients = reference, quick", "[quick]") { check_compiled(DType::f32, 1); }

TEST_CASE("compiled gradients = eager gradients = reference", "[slow]") {
  check_compiled(GENERATE(DType::f32, DType::f64), 12);
}
