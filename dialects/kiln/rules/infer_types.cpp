#include "dialects/kiln/rules/infer_types.h"

#include <string>
#include <string_view>

#include "dialects/kiln/rules/image_rules.h"
#include "dialects/kiln/rules/index_rules.h"
#include "dialects/kiln/rules/shape_rules.h"

namespace kiln {
namespace {

using InferFunction = Result<std::vector<TensorType>> (*)(std::span<const TensorType>, std::span<const Attribute>);

Result<std::vector<TensorType>> in_list(Result<TensorType> type) {
  if (!type.ok()) return type.status();
  return std::vector<TensorType>{*std::move(type)};
}
Result<std::vector<TensorType>> in_list(Result<std::vector<TensorType>> types) { return types; }

Status error(OpId op, std::string_view text) {
  return Status(Code::invalid_argument, std::string(name_of(op)) + ": " + std::string(text));
}

const OperandInfo& operand_info(OpId op, size_t i) {
  const auto& operands = info(op).operands;
  return operands[std::min(i, operands.size() - 1)];
}

// "x", or "xs[2]" of a variadic operand.
std::string operand_name(OpId op, size_t i) {
  const std::string name(operand_info(op, i).name);
  return info(op).variadic && i + 1 >= info(op).operands.size() ? name + "[" + std::to_string(i) + "]" : name;
}

// "i32, i64, f32"
std::string dtype_list(OpId op) {
  std::string list;
  for (int i = 0; i < dtype_count; ++i) {
    const DType t = static_cast<DType>(i);
    if (takes(op, t) || promoted(op, t) != t) list += (list.empty() ? "" : ", ") + std::string(name_of(t));
  }
  return list;
}

}  // namespace

Status check_operands(OpId op, std::span<const TensorType> operands) {
  const OpInfo& row = info(op);
  const size_t wanted = row.operands.size();
  if (row.variadic ? operands.size() + 1 < wanted : operands.size() != wanted)
    return error(op, "got " + std::to_string(operands.size()) + " operands, needs " + std::to_string(wanted));
  size_t first_same = operands.size();
  for (size_t i = 0; i < operands.size(); ++i) {
    const DType t = operands[i].dtype;
    auto must_be = [&](const char* what) {
      return error(op, operand_name(op, i) + " is " + to_string(operands[i]) + ", it must be " + what);
    };
    switch (operand_info(op, i).dtype) {
      case OperandDType::any:
        break;
      case OperandDType::boolean:
        if (t != DType::bool_) return must_be("bool");
        break;
      case OperandDType::i64:
        if (t != DType::i64) return must_be("i64");
        break;
      case OperandDType::index:
        if (t != DType::i32 && t != DType::i64) return must_be("i32 or i64");
        break;
      case OperandDType::same:
        if (first_same == operands.size()) {
          first_same = i;
          if (!takes(op, t))
            return error(op, operand_name(op, i) + " is " + to_string(operands[i]) + ": dtype " +
                                 std::string(name_of(t)) + " is not supported (" + dtype_list(op) + ")");
        } else if (t != operands[first_same].dtype) {
          return error(op, operand_name(op, first_same) + " is " + to_string(operands[first_same]) + " but " +
                               operand_name(op, i) + " is " + to_string(operands[i]) + ": the dtypes must be equal");
        }
        break;
    }
  }
  return {};
}

}  // namespace kiln

#include "generated/shape_rules.cpp.inc"

namespace kiln {

Result<std::vector<TensorType>> infer_types(OpId op, std::span<const TensorType> operands,
                                            std::span<const Attribute> attributes) {
  KILN_RETURN_IF_ERROR(check_operands(op, operands));
  const auto& wanted = info(op).attributes;
  if (attributes.size() != wanted.size())
    return error(op,
                 "got " + std::to_string(attributes.size()) + " attributes, needs " + std::to_string(wanted.size()));
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (attributes[i].index() != static_cast<size_t>(wanted[i].kind))
      return error(op, "attribute " + std::string(wanted[i].name) + " is of the wrong kind");
    if (const Shape* shape = std::get_if<Shape>(&attributes[i]))
      if (Status rank = check_rank(*shape); !rank.ok()) return error(op, rank.message());
  }
  const InferFunction rule = infer_table[static_cast<size_t>(op)];
  if (!rule) return Status(Code::internal, std::string(name_of(op)) + ": the op has no shape rule");
  Result<std::vector<TensorType>> types = rule(operands, attributes);
  if (!types.ok())
    return Status(types.status().code(), std::string(name_of(op)) + ": " + std::string(types.status().message()));
  // Dims of a result are sizes or symbols; the -1 of an argument must have been worked out.
  for (const TensorType& type : *types) {
    for (Dim d : type.shape)
      if (d.inferred()) return error(op, "the result would be " + to_string(type) + ": a size is negative");
    if (!visit_dtype(type.dtype, [](auto) {}))
      return error(op, "dtype " + std::string(name_of(type.dtype)) + " is not supported");
  }
  return types;
}

}  // namespace kiln
