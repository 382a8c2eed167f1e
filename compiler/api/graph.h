// The trace: a compact op list with regions, made by the frontend, read by the compiler. No MLIR here.
// It is pure: a Variable's value is an input, its update an extra result.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "generated/op_id.h"
#include "runtime/base/dtype.h"
#include "runtime/base/shape.h"
#include "runtime/memory/buffer.h"

namespace kiln {

using ValueId = int32_t;

struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

// An op's attribute, in the order of its record. Kinds in records: bool, int, float, dtype, string, ints, dims.
using Attribute = std::variant<bool, int64_t, double, DType, std::string, std::vector<int64_t>, Shape>;

struct SourceLocation {
  const char* file = "";  // static storage
  int32_t line = 0;
};

struct Constant {
  TensorType type;  // all dims known
  std::shared_ptr<Buffer> data;
};

struct Region;

struct Node {
  OpId op;
  std::vector<ValueId> operands;
  std::vector<Attribute> attributes;
  std::vector<ValueId> results;
  SourceLocation location;
  std::vector<Region> regions;  // OpId::cond: then, else. OpId::while_loop: condition, body.
};

// Regions may use values of the enclosing regions. A while_loop's operands are the initial carried values; both its
// regions take the carried values as arguments; the condition yields one bool[], the body the next carried values.
struct Region {
  std::vector<ValueId> arguments;
  std::vector<Node> nodes;
  std::vector<ValueId> results;
};

struct GraphInput {
  ValueId value;
  std::string name;
  bool is_variable = false;
};

struct GraphOutput {
  ValueId value;
  int32_t updates = -1;  // >= 0: number of the variable input that this result replaces
};

struct Graph {
  std::string name;
  DimTable dims;
  std::vector<TensorType> values;   // by ValueId, regions included
  std::vector<Constant> constants;  // OpId::constant has attribute 0 = index here
  std::vector<GraphInput> inputs;
  std::vector<GraphOutput> outputs;
  Region body;  // body.arguments = the inputs' values
};

}  // namespace kiln
