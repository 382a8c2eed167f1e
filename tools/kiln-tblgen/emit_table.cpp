// op_id.h: enum OpId and the constexpr op table; op_rows.inc: the same for tests.
#include <map>

#include "tools/kiln-tblgen/emitters.h"

namespace kiln::tblgen {
namespace {

constexpr const char* table_types = R"(
// What an op's way through the system is; see `kind` in dialects/kiln/ops/base.td.
enum class OpKind : uint8_t { elementwise, reduction, view, structured, composite, control, source };

// The alternatives of kiln::Attribute, in their order.
enum class AttributeKind : uint8_t { boolean, integer, floating, dtype, string, ints, dims };

// Element type of an operand: `same` operands of one call have one dtype, one of the op's `dtypes`.
enum class OperandDType : uint8_t { same, boolean, index, i64, any };

struct OperandInfo {
  std::string_view name;
  OperandDType dtype;
};

struct AttributeInfo {
  std::string_view name;
  AttributeKind kind;
  bool has_default;
  std::string_view default_text;  // C++
};

// `same` operands of dtype `from` are converted to `to` before the op runs.
struct PromotionInfo {
  DType from, to;
};

struct OpInfo {
  std::string_view name;
  OpKind kind;
  std::string_view summary;
  std::span<const OperandInfo> operands;
  bool variadic;  // any number of operands, all as operands[0] says
  std::span<const AttributeInfo> attributes;
  int8_t results;               // number of results, -1: any number
  uint32_t dtypes;              // bit i: DType i
  std::span<const PromotionInfo> promotions;
  std::string_view non_differentiable;  // the reason; empty: has a gradient rule (a composite op: through its parts)
  bool uses_index;              // the scalar body reads the number of the element
  bool is_public;               // has a public function of its name
  std::string_view aliases;     // further public names, separated by blanks
  std::string_view signature;   // of the public function
  std::string_view constraints; // one a line
  std::string_view accuracy;    // "exact", "2 ulp"
  std::string_view numpy;       // the same in NumPy; empty: no one expression
  std::string_view example;
};
)";

constexpr const char* table_functions = R"(
constexpr const OpInfo& info(OpId op) { return op_table[static_cast<size_t>(op)]; }
constexpr std::string_view name_of(OpId op) { return info(op).name; }
constexpr bool takes(OpId op, DType t) { return info(op).dtypes >> static_cast<int>(t) & 1; }

// The dtype in which the op computes on `same` operands of dtype t.
constexpr DType promoted(OpId op, DType t) {
  for (const PromotionInfo& p : info(op).promotions)
    if (p.from == t) return p.to;
  return t;
}

// By name or alias; nullopt if there is none.
constexpr std::optional<OpId> find_op(std::string_view name) {
  for (size_t i = 0; i < op_count; ++i) {
    if (op_table[i].name == name) return static_cast<OpId>(i);
    for (std::string_view rest = op_table[i].aliases; !rest.empty();) {
      const size_t end = rest.find(' ');
      if (rest.substr(0, end) == name) return static_cast<OpId>(i);
      rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
    }
  }
  return std::nullopt;
}
)";

const char* operand_dtype(const std::string& dtype) {
  static const std::map<std::string, const char*> names = {
      {"T", "same"}, {"bool", "boolean"}, {"index", "index"}, {"i64", "i64"}, {"any", "any"}};
  return names.at(dtype);
}

const char* attribute_kind(const std::string& kind) {
  static const std::map<std::string, const char*> names = {
      {"bool", "boolean"},  {"int", "integer"}, {"float", "floating"}, {"dtype", "dtype"},
      {"string", "string"}, {"ints", "ints"},   {"dims", "dims"}};
  return names.at(kind);
}

std::string mask(const std::vector<std::string>& dtypes) {
  std::vector<std::string> bits;
  for (const std::string& t : dtypes) bits.push_back("detail::bit(" + enumerator(t) + ")");
  return join(bits, " | ");
}

void emit_op_arrays(const OpRecord& op, llvm::raw_ostream& out) {
  if (!op.operands.empty()) {
    out << "inline constexpr OperandInfo " << op.name << "_operands[] = {";
    for (const OperandRecord& o : op.operands)
      out << "{" << quoted(o.name) << ", OperandDType::" << operand_dtype(o.dtype) << "}, ";
    out << "};\n";
  }
  if (!op.attributes.empty()) {
    out << "inline constexpr AttributeInfo " << op.name << "_attributes[] = {";
    for (const AttributeRecord& a : op.attributes)
      out << "{" << quoted(a.name) << ", AttributeKind::" << attribute_kind(a.kind) << ", "
          << (a.has_default ? "true" : "false") << ", " << quoted(a.default_text) << "}, ";
    out << "};\n";
  }
  if (!op.promotions.empty()) {
    out << "inline constexpr PromotionInfo " << op.name << "_promotions[] = {";
    for (const Promotion& p : op.promotions) out << "{" << enumerator(p.from) << ", " << enumerator(p.to) << "}, ";
    out << "};\n";
  }
}

void emit_op_row(const OpRecord& op, llvm::raw_ostream& out) {
  auto array = [&](bool empty, const char* suffix) {
    return empty ? std::string("{}") : "detail::" + op.name + suffix;
  };
  auto flag = [](bool b) { return b ? "true" : "false"; };
  const bool any_results = !op.results.empty() && op.results.back().variadic;
  out << "    {" << quoted(op.name) << ", OpKind::" << op.kind << ", " << quoted(op.summary) << ",\n     "
      << array(op.operands.empty(), "_operands") << ", " << flag(op.variadic()) << ", "
      << array(op.attributes.empty(), "_attributes") << ", " << (any_results ? -1 : static_cast<int>(op.results.size()))
      << ",\n     " << mask(op.dtypes) << ", " << array(op.promotions.empty(), "_promotions") << ",\n     "
      << quoted(op.non_differentiable) << ", " << flag(op.uses_index) << ", " << flag(op.is_public) << ", "
      << quoted(join(op.aliases, " ")) << ",\n     " << quoted(op.is_public ? signature(op, op.name, true) : "")
      << ",\n     " << quoted(join(op.constraints, "\n")) << ",\n     " << quoted(op.accuracy) << ", "
      << quoted(op.numpy) << ",\n     " << quoted(op.example) << "},\n";
}

}  // namespace

void emit_op_id(const Records& ops, llvm::raw_ostream& out) {
  out << "// Generated by kiln-tblgen from dialects/kiln/ops. Do not edit.\n#pragma once\n#include <cstddef>\n"
         "#include <cstdint>\n#include <optional>\n#include <span>\n#include <string_view>\n\n"
         "#include \"runtime/base/dtype.h\"\n\nnamespace kiln {\n\nenum class OpId : uint16_t {\n";
  for (const OpRecord& op : ops) out << "  " << op.name << ",\n";
  out << "  count_\n};\ninline constexpr size_t op_count = static_cast<size_t>(OpId::count_);\n" << table_types;
  out << "\nnamespace detail {\nconstexpr uint32_t bit(DType t) { return uint32_t{1} << static_cast<int>(t); }\n";
  for (const OpRecord& op : ops) emit_op_arrays(op, out);
  out << "}  // namespace detail\n\ninline constexpr OpInfo op_table[] = {\n";
  for (const OpRecord& op : ops) emit_op_row(op, out);
  out << "};\n" << table_functions << "\n}  // namespace kiln\n";
}

// KILN_OP_ROW(op, kind, "dtypes", "domain", "numpy", "accuracy", "attributes", differentiable)
// domain: "low high" per operand, separated by commas, the last one repeats; attributes: "name=default" separated by
// blanks, without a default "name". Ops without a public function have no row.
void emit_test_rows(const Records& ops, llvm::raw_ostream& out) {
  out << "// Generated by kiln-tblgen from dialects/kiln/ops. Do not edit.\n"
         "// KILN_OP_ROW(op, kind, \"dtypes\", \"domain\", \"numpy\", \"accuracy\", \"attributes\", differentiable)\n";
  for (const OpRecord& op : ops) {
    if (!op.is_public) continue;
    std::vector<std::string> domain, attributes;
    for (size_t i = 0; i + 1 < op.domain.size(); i += 2) domain.push_back(op.domain[i] + " " + op.domain[i + 1]);
    for (const AttributeRecord& a : op.attributes)
      attributes.push_back(a.has_default ? a.name + "=" + a.default_text : a.name);
    out << "KILN_OP_ROW(" << op.name << ", " << op.kind << ", " << quoted(join(public_dtypes(op), " ")) << ", "
        << quoted(join(domain, ",")) << ", " << quoted(op.numpy) << ", " << quoted(op.accuracy) << ", "
        << quoted(join(attributes, " ")) << ", " << (op.non_differentiable.empty() ? "true" : "false") << ")\n";
  }
}

}  // namespace kiln::tblgen
