// A record of dialects/kiln/ops as the emitters want it: checked, with its C++ types worked out.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace llvm {
class Record;
class RecordKeeper;
}  // namespace llvm

namespace kiln::tblgen {

struct OperandRecord {
  std::string name;
  std::string dtype;  // "T", "bool", "index", "i64", "any": see operand_dtypes in base.td
  bool variadic = false;
};

struct AttributeRecord {
  std::string name;
  std::string kind;  // "bool", "int", "float", "dtype", "string", "ints", "dims"
  bool has_default = false;
  std::string default_text;  // C++
};

struct ResultRecord {
  std::string name;
  bool variadic = false;
};

struct Promotion {
  std::string from, to;
};

struct OpRecord {
  const llvm::Record* def = nullptr;
  std::string name, kind, summary;
  std::vector<OperandRecord> operands;
  std::vector<AttributeRecord> attributes;
  std::vector<std::pair<bool, size_t>>
      positional;  // operands (true) and attributes without default, in the record's order
  std::vector<ResultRecord> results;
  std::vector<std::string> dtypes, aliases, constraints, domain;
  std::vector<Promotion> promotions;
  std::string options;  // name of the options struct, "" = none
  std::string shape, result_dtype, body, combine, identity, empty_is_error, gradient, non_differentiable, call,
      composite;
  std::string numpy, accuracy, example;
  bool is_public = true;  // has a public C++ function
  bool has_regions = false;
  bool uses_index = false;  // the body reads `index`

  bool variadic() const { return !operands.empty() && operands.back().variadic; }
};

// All records in the order of the files. Exits with a message that names the record if one is incomplete or wrong.
std::vector<OpRecord> read_records(const llvm::RecordKeeper& keeper);

// C++ type of an attribute inside snippets: "int64_t", "const std::vector<int64_t>&".
std::string parameter_type(const AttributeRecord& a);
// Its alternative in kiln::Attribute: "int64_t", "std::vector<int64_t>".
std::string storage_type(const AttributeRecord& a);
// "Tensor reduce_sum(const Operand& x, const ReduceOptions& options = {})"; `defaults` leaves out or writes the
// defaults.
std::string signature(const OpRecord& op, const std::string& name, bool defaults);
// "Tensor", "std::tuple<Tensor, Tensor>", "std::vector<Tensor>".
std::string return_type(const OpRecord& op);
// True if the public function has a parameter for the caller's line: ops without operands.
bool needs_location(const OpRecord& op);
// dtypes a caller may pass: `dtypes` and those promoted to them.
std::vector<std::string> public_dtypes(const OpRecord& op);

// Text helpers.
std::string enumerator(const std::string& dtype);  // "bool" -> "DType::bool_"
std::string quoted(const std::string& text);       // a C++ string literal
std::string camel(const std::string& snake);       // "reduce_sum" -> "ReduceSum"
std::string join(const std::vector<std::string>& parts, const std::string& separator);
// The snippet without surrounding blank lines, each line moved to `indent` blanks.
std::string indented(const std::string& code, int indent);
// "  [[maybe_unused]] const auto& axis = std::get<std::vector<int64_t>>(attributes[1]);" for each attribute.
std::string attribute_locals(const OpRecord& op);

}  // namespace kiln::tblgen
