// The reference interpreter against NumPy's results for every op that reaches a trace.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "kernels/reference/interpreter.h"
#include "test/golden/vectors.h"

using namespace kiln;

namespace {

bool in_graphs(OpId op) { return info(op).kind != OpKind::composite && info(op).kind != OpKind::control; }

// The public function casts these operands first; in a trace they do not occur.
bool is_promoted(OpId op, const golden::Case& c) {
  for (size_t i = 0; i < c.operands.size(); ++i) {
    const OperandInfo& operand = info(op).operands[info(op).variadic ? 0 : i];
    const DType t = c.operands[i].type.dtype;
    if (operand.dtype == OperandDType::same && promoted(op, t) != t) return true;
  }
  return false;
}

std::string describe(const golden::Case& c) {
  std::string text = c.op;
  for (const Constant& x : c.operands) text += " " + std::string(name_of(x.type.dtype)) + to_string(x.type.shape);
  return text;
}

}  // namespace

TEST_CASE("reference interpreter matches NumPy on every op's vectors") {
  const std::vector<golden::Case> cases = golden::Reader(KILN_TEST_GOLDEN "/vectors.bin").read();
  REQUIRE(cases.size() > 3000);
  std::set<OpId> seen;
  int number = 0;
  for (const golden::Case& c : cases) {
    ++number;
    const auto op = find_op(c.op);
    INFO("case " << number << ": " << describe(c));
    REQUIRE(op.has_value());
    if (!in_graphs(*op) || is_promoted(*op, c)) continue;
    seen.insert(*op);
    std::vector<TensorType> types;
    for (const golden::ExpectedResult& r : c.results) types.push_back(r.value.type);
    const auto results = interpret_op(*op, c.operands, c.attributes, types);
    if (!results.ok()) {
      FAIL_CHECK(std::string(results.status().message()));
      continue;
    }
    REQUIRE(results->size() == c.results.size());
    for (size_t i = 0; i < c.results.size(); ++i)
      if (auto why = golden::mismatch(c.results[i], (*results)[i].data->data()))
        FAIL_CHECK("result " << i << ": " << *why);
  }
  // Random normal numbers have no closed form in NumPy; constants and control ops are tested with whole graphs.
  for (size_t i = 0; i < op_count; ++i) {
    const OpId op = static_cast<OpId>(i);
    if (!in_graphs(op) || op == OpId::constant || op == OpId::random_normal || seen.count(op)) continue;
    FAIL_CHECK("no vectors for " << name_of(op));
  }
}
