#include "tools/kiln-tblgen/op_record.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "llvm/ADT/StringExtras.h"
#include "llvm/TableGen/Error.h"
#include "llvm/TableGen/Record.h"

namespace kiln::tblgen {
namespace {

using llvm::PrintFatalError;
using llvm::Record;

std::string text(const Record& def, llvm::StringRef field) { return def.getValueAsString(field).str(); }

// Code fields: "" if there is nothing but blanks.
std::string code(const Record& def, llvm::StringRef field) {
  std::string s = text(def, field);
  return llvm::StringRef(s).trim().empty() ? std::string() : s;
}

// Fields that only some record classes have.
std::string optional_code(const Record& def, llvm::StringRef field) {
  return def.getValue(field) ? code(def, field) : std::string();
}

std::vector<std::string> texts(const Record& def, llvm::StringRef field) {
  std::vector<std::string> result;
  for (llvm::StringRef s : def.getValueAsListOfStrings(field)) result.push_back(s.str());
  return result;
}

std::string attribute_kind(const Record& def, const Record& owner) {
  static const std::map<std::string, std::string> kinds = {
      {"Kiln_Bool", "bool"},     {"Kiln_Int", "int"},   {"Kiln_Float", "float"}, {"Kiln_DType", "dtype"},
      {"Kiln_String", "string"}, {"Kiln_Ints", "ints"}, {"Kiln_Dims", "dims"}};
  auto found = kinds.find(def.getName().str());
  if (found == kinds.end()) PrintFatalError(&owner, "attribute type " + def.getName() + " is not one of base.td's");
  return found->second;
}

bool has_word(const std::string& code, const std::string& word) {
  auto part_of_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t at = code.find(word); at != std::string::npos; at = code.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !part_of_word(code[at - 1])) && (end == code.size() || !part_of_word(code[end]))) return true;
  }
  return false;
}

void read_arguments(OpRecord& op) {
  const Record& def = *op.def;
  const std::vector<std::string> operand_dtypes = texts(def, "operand_dtypes");
  const llvm::DagInit* arguments = def.getValueAsDag("arguments");
  for (unsigned i = 0; i < arguments->getNumArgs(); ++i) {
    const auto* init = llvm::dyn_cast<llvm::DefInit>(arguments->getArg(i));
    if (!init) PrintFatalError(&def, "argument " + llvm::Twine(i) + " is not a record");
    const Record& type = *init->getDef();
    const std::string name = arguments->getArgNameStr(i).str();
    if (name.empty()) PrintFatalError(&def, "argument " + llvm::Twine(i) + " has no name");
    if (type.isSubClassOf("Attr")) {
      AttributeRecord a{name, "", false, ""};
      if (type.isSubClassOf("Default")) {
        a.has_default = true;
        a.default_text = text(type, "cppDefault");
        a.kind = attribute_kind(*type.getValueAsDef("baseAttr"), def);
      } else {
        a.kind = attribute_kind(type, def);
      }
      if (name == "dims" || name == "value")
        PrintFatalError(&def, "attribute '" + name + "' has a name that the compiler uses");
      if (!a.has_default) op.positional.push_back({false, op.attributes.size()});
      op.attributes.push_back(a);
    } else {
      if (op.variadic()) PrintFatalError(&def, "operand " + name + " comes after a variadic one");
      const size_t at = op.operands.size();
      op.positional.push_back({true, at});
      op.operands.push_back(
          {name, at < operand_dtypes.size() ? operand_dtypes[at] : "T", type.isSubClassOf("Variadic")});
    }
  }
  if (operand_dtypes.size() > op.operands.size())
    PrintFatalError(&def, "operand_dtypes has more entries than operands");
  static const std::set<std::string> known = {"T", "bool", "index", "i64", "any"};
  for (const OperandRecord& o : op.operands)
    if (!known.count(o.dtype))
      PrintFatalError(&def, "operand_dtypes: '" + o.dtype + "' is not T, bool, index, i64 or any");

  const llvm::DagInit* results = def.getValueAsDag("results");
  for (unsigned i = 0; i < results->getNumArgs(); ++i) {
    const Record& type = *llvm::cast<llvm::DefInit>(results->getArg(i))->getDef();
    op.results.push_back({results->getArgNameStr(i).str(), type.isSubClassOf("Variadic")});
  }
}

void check(const OpRecord& op) {
  const Record* def = op.def;
  auto need = [&](const std::string& field, const char* name) {
    if (field.empty()) PrintFatalError(def, op.name + ": a record of kind " + op.kind + " needs `" + name + "`");
  };
  static const std::set<std::string> kinds = {"elementwise", "reduction", "view",  "structured",
                                              "composite",   "control",   "source"};
  if (!kinds.count(op.kind)) PrintFatalError(def, op.name + ": unknown kind '" + op.kind + "'");
  need(op.summary, "summary");
  if (op.is_public) need(op.example, "example");
  if (op.kind == "elementwise") need(op.body, "body");
  if (op.kind == "reduction") need(op.combine, "combine"), need(op.identity, "identity");
  if (op.kind == "view") need(op.shape, "shape_rule");
  if (op.kind == "structured") need(op.shape, "shape_rule"), need(op.call, "call");
  if (op.kind == "composite") {
    need(op.composite, "composite");
    if (!op.gradient.empty()) PrintFatalError(def, op.name + ": a composite op gets its gradient from its parts");
  } else if (op.kind != "control" &&
             op.gradient.empty() == op.non_differentiable.empty()) {  // control: frontend/autodiff
    PrintFatalError(
        def, op.name + ": a record needs a gradient, or the reason in non_differentiable why it has none (not both)");
  }
  static const std::set<std::string> dtypes = {"bool", "i8",  "i16",  "i32", "i64", "u8",  "u16", "u32",
                                               "u64",  "f16", "bf16", "f32", "f64", "c64", "c128"};
  if (op.dtypes.empty()) PrintFatalError(def, op.name + ": dtypes is empty");
  for (const std::string& t : public_dtypes(op))
    if (!dtypes.count(t)) PrintFatalError(def, op.name + ": unknown dtype '" + t + "'");
  for (size_t i = 0; i < op.constraints.size(); ++i)
    if (op.constraints[i].rfind("C" + std::to_string(i + 1) + ": ", 0) != 0)
      PrintFatalError(
          def, op.name + ": constraint " + llvm::Twine(i + 1) + " must start with 'C" + llvm::Twine(i + 1) + ": '");
  if (op.domain.size() % 2) PrintFatalError(def, op.name + ": domain needs pairs of numbers");
  for (size_t i = 0; i + 1 < op.results.size(); ++i)
    if (op.results[i].variadic) PrintFatalError(def, op.name + ": only the last result may be variadic");
}

}  // namespace

std::vector<OpRecord> read_records(const llvm::RecordKeeper& keeper) {
  std::vector<const Record*> defs(keeper.getAllDerivedDefinitions("Kiln_Record"));
  std::sort(defs.begin(), defs.end(), [](const Record* a, const Record* b) { return a->getID() < b->getID(); });
  std::vector<OpRecord> ops;
  std::set<std::string> names;
  std::map<std::string, std::vector<std::string>> options;  // fields of each options struct, by name
  for (const Record* def : defs) {
    OpRecord op;
    op.def = def;
    op.name = text(*def, "opName");
    op.kind = text(*def, "kind");
    op.summary = text(*def, "summary");
    op.is_public = def->getValueAsBit("is_public");
    read_arguments(op);
    op.dtypes = texts(*def, "dtypes");
    op.aliases = texts(*def, "aliases");
    op.constraints = texts(*def, "constraints");
    op.domain = texts(*def, "domain");
    for (const std::string& p : texts(*def, "promotions")) {
      const size_t arrow = p.find("->");
      if (arrow == std::string::npos) PrintFatalError(def, op.name + ": promotion '" + p + "' must be 'from->to'");
      op.promotions.push_back({p.substr(0, arrow), p.substr(arrow + 2)});
    }
    op.shape = code(*def, "shape_rule");
    op.body = code(*def, "body");
    op.gradient = code(*def, "gradient");
    op.non_differentiable = text(*def, "non_differentiable");
    op.call = code(*def, "call");
    op.composite = code(*def, "composite");
    op.result_dtype = optional_code(*def, "result_dtype");
    op.combine = optional_code(*def, "combine");
    op.identity = optional_code(*def, "identity");
    op.empty_is_error = def->getValue("empty_is_error") ? text(*def, "empty_is_error") : "";
    op.numpy = text(*def, "numpy");
    op.accuracy = text(*def, "accuracy");
    op.example = text(*def, "example");
    op.has_regions = def->getValueAsDag("regions")->getNumArgs() > 0;
    op.uses_index = has_word(op.body, "index");

    std::vector<std::string> fields;
    for (const AttributeRecord& a : op.attributes)
      if (a.has_default) fields.push_back(storage_type(a) + " " + a.name + " = " + a.default_text);
    op.options = text(*def, "options");
    if (fields.empty())
      op.options = "";
    else if (op.options.empty())
      op.options = camel(op.name) + "Options";
    if (!op.options.empty()) {
      auto [at, is_new] = options.try_emplace(op.options, fields);
      if (!is_new && at->second != fields)
        PrintFatalError(def, op.name + ": " + op.options + " has other fields in an earlier record");
    }
    check(op);
    for (const std::string& name : {op.name})
      if (!names.insert(name).second) PrintFatalError(def, "two ops are called " + name);
    for (const std::string& name : op.aliases)
      if (!names.insert(name).second) PrintFatalError(def, "two ops are called " + name);
    ops.push_back(std::move(op));
  }
  return ops;
}

std::string storage_type(const AttributeRecord& a) {
  if (a.kind == "bool") return "bool";
  if (a.kind == "int") return "int64_t";
  if (a.kind == "float") return "double";
  if (a.kind == "dtype") return "DType";
  if (a.kind == "string") return "std::string";
  if (a.kind == "ints") return "std::vector<int64_t>";
  return "Shape";
}

std::string parameter_type(const AttributeRecord& a) {
  const bool by_value = a.kind == "bool" || a.kind == "int" || a.kind == "float" || a.kind == "dtype";
  return by_value ? storage_type(a) : "const " + storage_type(a) + "&";
}

bool needs_location(const OpRecord& op) { return op.operands.empty(); }

std::string return_type(const OpRecord& op) {
  if (op.results.size() == 1) return op.results[0].variadic ? "std::vector<Tensor>" : "Tensor";
  std::vector<std::string> parts(op.results.size(), "Tensor");
  return "std::tuple<" + join(parts, ", ") + ">";
}

std::string signature(const OpRecord& op, const std::string& name, bool defaults) {
  std::vector<std::string> parameters;
  for (auto [is_operand, i] : op.positional) {
    if (is_operand)
      parameters.push_back((op.operands[i].variadic ? "const Operands& " : "const Operand& ") + op.operands[i].name);
    else
      parameters.push_back(parameter_type(op.attributes[i]) + " " + op.attributes[i].name);
  }
  if (!op.options.empty()) parameters.push_back("const " + op.options + "& options" + (defaults ? " = {}" : ""));
  if (needs_location(op))
    parameters.push_back(std::string("std::source_location where") +
                         (defaults ? " = std::source_location::current()" : ""));
  return return_type(op) + " " + name + "(" + join(parameters, ", ") + ")";
}

std::vector<std::string> public_dtypes(const OpRecord& op) {
  std::vector<std::string> result;
  for (const Promotion& p : op.promotions) result.push_back(p.from);
  for (const std::string& t : op.dtypes)
    if (std::find(result.begin(), result.end(), t) == result.end()) result.push_back(t);
  return result;
}

std::string enumerator(const std::string& dtype) { return "DType::" + (dtype == "bool" ? "bool_" : dtype); }

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n')
      result += "\\n";
    else
      result += c;
  }
  return result + "\"";
}

std::string camel(const std::string& snake) {
  std::string result;
  bool upper = true;
  for (char c : snake) {
    if (c == '_')
      upper = true;
    else
      result += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c, upper = false;
  }
  return result;
}

std::string join(const std::vector<std::string>& parts, const std::string& separator) {
  return llvm::join(parts, separator);
}

std::string indented(const std::string& code, int indent) {
  std::vector<std::string> lines;
  size_t common = std::string::npos;
  for (llvm::StringRef rest = code; !rest.empty();) {
    auto [line, tail] = rest.split('\n');
    rest = tail;
    line = line.rtrim();
    if (line.empty() && lines.empty()) continue;
    // The first line of `[{ code }]` starts right after the brace: its blanks say nothing about the others.
    if (!line.empty() && !lines.empty()) common = std::min(common, line.find_first_not_of(' '));
    lines.push_back(line.str());
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  std::string result;
  for (size_t i = 0; i < lines.size(); ++i) {
    llvm::StringRef line = lines[i];
    if (i == 0)
      line = line.ltrim();
    else if (!line.empty())
      line = line.drop_front(common);
    if (!line.empty()) result += std::string(indent, ' ') + line.str();
    result += "\n";
  }
  return result;
}

std::string attribute_locals(const OpRecord& op) {
  std::string result;
  for (size_t i = 0; i < op.attributes.size(); ++i) {
    const AttributeRecord& a = op.attributes[i];
    result += "  [[maybe_unused]] " + std::string(parameter_type(a).front() == 'c' ? "" : "const ") +
              parameter_type(a) + " " + a.name + " = std::get<" + storage_type(a) + ">(attributes[" +
              std::to_string(i) + "]);\n";
  }
  return result;
}

}  // namespace kiln::tblgen
