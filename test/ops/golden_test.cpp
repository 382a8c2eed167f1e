// Every op's NumPy vectors: the public functions give NumPy's results, within the documented error, and eager, compiled
// and reference agree bit for bit.
#include <catch2/catch.hpp>
#include <functional>
#include <set>

#include "test/golden/vectors.h"
#include "test/ops/ops_testing.h"

using namespace kiln;
using namespace kiln::ops_testing;

namespace {

const std::vector<golden::Case>& cases() {
  static const std::vector<golden::Case> all = golden::Reader(KILN_TEST_GOLDEN "/vectors.bin").read();
  REQUIRE(all.size() > 3000);
  return all;
}

std::string label(const golden::Case& c) {
  std::string text = c.op;
  for (const Constant& x : c.operands) text += " " + std::string(name_of(x.type.dtype)) + to_string(x.type.shape);
  return text;
}

std::vector<Tensor> operands_of(const golden::Case& c) {
  std::vector<Tensor> operands;
  for (const Constant& x : c.operands) operands.push_back(tensor_of(x));
  return operands;
}

// Cases of one batch become one compiled function; their operands follow each other in the inputs.
struct Batch {
  std::string name;
  std::vector<Item> items;
  std::vector<Tensor> inputs;
  std::vector<std::vector<DimSpec>> dims;
};

void add(Batch& batch, const golden::Case& c, bool unknown) {
  const size_t first = batch.inputs.size(), count = c.operands.size();
  const OpId op = *find_op(c.op);
  for (const Tensor& x : operands_of(c)) {
    // Equal sizes of one case get one name; a size of 1 broadcasts, so it stays known.
    std::vector<DimSpec> spec;
    for (const Dim d : x.shape())
      spec.push_back(unknown && d.size() != 1
                         ? DimSpec("c" + std::to_string(batch.items.size()) + "d" + std::to_string(d.size()))
                         : DimSpec(d.size()));
    batch.dims.push_back(spec);
    batch.inputs.push_back(x);
  }
  batch.items.push_back({label(c), [op, first, count, attributes = c.attributes](const std::vector<Tensor>& inputs) {
                           return call_op(op, {inputs.begin() + first, inputs.begin() + first + count}, attributes);
                         }});
}

void check_batches(const std::function<bool(const golden::Case&)>& wanted, bool unknown) {
  std::vector<Batch> batches;
  for (const golden::Case& c : cases()) {
    if (!wanted(c)) continue;
    if (batches.empty() || batches.back().items.size() >= 100) batches.push_back({"golden_" + c.op, {}, {}, {}});
    add(batches.back(), c, unknown);
  }
  for (const Batch& b : batches) {
    CheckOptions options;
    if (unknown) options.dims = b.dims;
    check_everywhere(b.name, b.items, {b.inputs}, options);
  }
}

}  // namespace

TEST_CASE("eager ops match NumPy on every op's vectors", "[quick]") {
  std::set<OpId> seen;
  int number = 0;
  for (const golden::Case& c : cases()) {
    INFO("case " << ++number << ": " << label(c));
    const auto op = find_op(c.op);
    REQUIRE(op.has_value());
    seen.insert(*op);
    std::vector<Tensor> results;
    try {
      results = call_op(*op, operands_of(c), c.attributes);
    } catch (const Error& e) {
      FAIL_CHECK(e.what());
      continue;
    }
    if (results.size() != c.results.size()) {
      FAIL_CHECK(results.size() << " results, must be " << c.results.size());
      continue;
    }
    for (size_t i = 0; i < results.size(); ++i) {
      const TensorType& type = c.results[i].value.type;
      if (results[i].dtype() != type.dtype || !(results[i].shape() == type.shape))
        FAIL_CHECK("result " << i << " is " << type_text(results[i]) << ", NumPy's is "
                             << type_text(tensor_of(c.results[i].value)));
      else if (auto why = golden::mismatch(c.results[i], constant_of(results[i]).data->data()))
        FAIL_CHECK("result " << i << ": " << *why);
    }
  }
  // NumPy has none of these numbers.
  const std::set<OpId> random = {OpId::random_normal, OpId::stateless_random_uniform, OpId::stateless_random_normal,
                                 OpId::dropout};
  for (const Row& row : rows())
    if (!seen.count(row.op) && !random.count(row.op)) FAIL_CHECK("no vectors for " << name_of(row.op));
}

// One case of each op and dtype, so that the quick run has them all.
TEST_CASE("compiled = eager = reference on one vector of each op", "[quick]") {
  std::set<std::string> seen;
  check_batches(
      [&](const golden::Case& c) {
        const DType t = c.operands.empty() ? c.results[0].value.type.dtype : c.operands[0].type.dtype;
        return (t == DType::f32 || t == DType::i64) && seen.insert(c.op + std::string(name_of(t))).second;
      },
      false);
}

TEST_CASE("compiled = eager = reference on all vectors", "[slow]") {
  check_batches([](const golden::Case&) { return true; }, false);
}
