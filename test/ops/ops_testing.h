// What the op tests share: every op by its row, and one check that runs the same calls eagerly, compiled and in the
// reference interpreter. Tests tagged [quick] are enough for a first look, [slow] ones take seconds each.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "compiler/api/graph.h"
#include "frontend/include/kiln/kiln.h"

namespace kiln::ops_testing {

// One row of the generated table (op_rows.inc).
struct Row {
  OpId op;
  std::vector<DType> dtypes;                      // that a caller may pass
  std::vector<std::pair<double, double>> domain;  // range of test values by operand; the last one repeats
  bool differentiable;
  std::pair<double, double> domain_of(size_t operand) const;
  bool takes(DType t) const;
};
const std::vector<Row>& rows();
const Row& row_of(OpId op);

// The public function of an op.
std::vector<Tensor> call_op(OpId op, const std::vector<Tensor>& operands, const std::vector<Attribute>& attributes);
// The attributes' defaults (attributes without one: 0, empty).
std::vector<Attribute> default_attributes(OpId op);

Constant constant_of(const Tensor& x);
Tensor tensor_of(const Constant& c);

// Some calls on shared inputs, compiled as one function.
struct Item {
  std::string label;
  std::function<std::vector<Tensor>(const std::vector<Tensor>&)> call;
};

struct CheckOptions {
  std::vector<std::vector<DimSpec>> dims = {};  // per input, with names for unknown dims; empty: as in each input set
  bool reference = true;                        // false: the eager run is what the others must equal
};

// Runs the items on each set of inputs, at 1 and 2 threads where there is much to do: the results must agree in dtype,
// shape and every bit. The bits of a NaN are no part of an op's definition: any NaN equals any other.
void check_everywhere(const std::string& name, const std::vector<Item>& items,
                      const std::vector<std::vector<Tensor>>& input_sets, const CheckOptions& options = {});

// Nothing, or how two results differ.
std::string difference(const Tensor& want, const Tensor& got);

// Numbers of the dtype in [low, high], the same for the same seed. With `specials` each fourth one is a zero of either
// sign, a subnormal, an infinity, NaN, or the smallest or largest number.
Tensor numbers(DType dtype, const Shape& shape, double low, double high, uint32_t seed, bool specials = false);

// "f32[2,3]"
std::string type_text(const Tensor& x);

}  // namespace kiln::ops_testing
