// ops.h and ops.cpp.inc: the public functions; op_calls.inc: calls of them for tests.
#include <set>

#include "tools/kiln-tblgen/emitters.h"

namespace kiln::tblgen {
namespace {

void emit_comment_line(const std::string& text, llvm::raw_ostream& out, const char* first = "// ") {
  constexpr size_t width = 116;
  std::string line = first;
  size_t at = 0;
  while (at < text.size()) {
    size_t end = text.find(' ', at);
    if (end == std::string::npos) end = text.size();
    const std::string word = text.substr(at, end - at);
    if (line.size() + word.size() > width && line.size() > 6) {
      out << llvm::StringRef(line).rtrim() << "\n";
      line = "//   ";
    }
    line += word + " ";
    at = end + 1;
  }
  out << llvm::StringRef(line).rtrim() << "\n";
}

void emit_comment(const OpRecord& op, llvm::raw_ostream& out) {
  emit_comment_line(op.summary, out);
  for (const std::string& c : op.constraints) emit_comment_line(c, out, "//   ");
  std::string facts = "dtypes: " + join(public_dtypes(op), " ");
  for (const Promotion& p : op.promotions) facts += ", " + p.from + " is computed in " + p.to;
  facts += op.non_differentiable.empty() ? "; has a gradient" : "; no gradient: " + op.non_differentiable;
  facts += "; error: " + op.accuracy;
  emit_comment_line(facts, out, "//   ");
  for (llvm::StringRef rest = op.example; !rest.empty();) {
    auto [line, tail] = rest.split('\n');
    out << "//     " << line.rtrim() << "\n";
    rest = tail;
  }
}

void emit_options(const OpRecord& op, llvm::raw_ostream& out) {
  out << "struct " << op.options << " {\n";
  for (const AttributeRecord& a : op.attributes)
    if (a.has_default) out << "  " << storage_type(a) << " " << a.name << " = " << a.default_text << ";\n";
  out << "};\n\n";
}

// The arguments that pass on those of a public function.
std::string forwarded(const OpRecord& op) {
  std::vector<std::string> names;
  for (auto [is_operand, i] : op.positional) names.push_back(is_operand ? op.operands[i].name : op.attributes[i].name);
  if (!op.options.empty()) names.push_back("options");
  if (needs_location(op)) names.push_back("where");
  return join(names, ", ");
}

std::string attribute_value(const AttributeRecord& a) { return (a.has_default ? "options." : "") + a.name; }

// "std::array<const Operand*, 2>{&x, &y}"
std::string operand_pointers(const OpRecord& op) {
  if (op.operands.empty()) return "std::span<const Operand* const>{}";
  if (op.variadic()) return "pointers(" + op.operands[0].name + ")";
  std::vector<std::string> pointers;
  for (const OperandRecord& o : op.operands) pointers.push_back("&" + o.name);
  return "std::array<const Operand*, " + std::to_string(pointers.size()) + ">{" + join(pointers, ", ") + "}";
}

std::string location(const OpRecord& op) { return needs_location(op) ? "where" : op.operands[0].name + ".where()"; }

void emit_composite(const OpRecord& op, llvm::raw_ostream& out) {
  std::vector<std::string> parameters, arguments;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    parameters.push_back((op.variadic() ? "const std::vector<Tensor>& " : "const Tensor& ") + op.operands[i].name);
    arguments.push_back(op.variadic() ? "scope.operands()" : "scope.operands()[" + std::to_string(i) + "]");
  }
  for (const AttributeRecord& a : op.attributes) {
    parameters.push_back(parameter_type(a) + " " + a.name);
    arguments.push_back(attribute_value(a));
  }
  for (std::string& p : parameters) p = "[[maybe_unused]] " + p;
  out << "static " << return_type(op) << " " << op.name << "_body(" << join(parameters, ", ") << ") {\n"
      << indented(op.composite, 2) << "}\n"
      << signature(op, op.name, false) << " {\n  const CompositeScope scope(OpId::" << op.name << ", "
      << operand_pointers(op) << ", " << location(op) << ");\n  return " << op.name << "_body(" << join(arguments, ", ")
      << ");\n}\n\n";
}

void emit_dispatch(const OpRecord& op, llvm::raw_ostream& out) {
  std::vector<std::string> attributes;
  for (const AttributeRecord& a : op.attributes) attributes.push_back("Attribute(" + attribute_value(a) + ")");
  const std::string attribute_list = attributes.empty() ? "{}"
                                                        : "std::array<Attribute, " + std::to_string(attributes.size()) +
                                                              ">{" + join(attributes, ", ") + "}";
  const bool one = op.results.size() == 1 && !op.results[0].variadic;
  const std::string call = std::string(one ? "dispatch" : "dispatch_all") + "(OpId::" + op.name + ", " +
                           operand_pointers(op) + ", " + attribute_list + ", " + location(op) + ")";
  out << signature(op, op.name, false) << " {\n";
  if (op.results.size() == 1) {
    out << "  return " << call << ";\n";
  } else {
    out << "  std::vector<Tensor> results = " << call << ";\n  return {";
    for (size_t i = 0; i < op.results.size(); ++i) out << (i ? ", " : "") << "std::move(results[" << i << "])";
    out << "};\n";
  }
  out << "}\n\n";
}

}  // namespace

void emit_public_header(const Records& ops, llvm::raw_ostream& out) {
  out << "// Generated by kiln-tblgen from dialects/kiln/ops. Do not edit.\n"
         "// The op library. Operands are Tensors, Variables or numbers; NumPy broadcasting where ops work element by "
         "element.\n"
         "#pragma once\n#include <cstdint>\n#include <source_location>\n#include <string>\n#include <tuple>\n"
         "#include <vector>\n\n#include \"frontend/tensor/operand.h\"\n\nnamespace kiln {\n\n";
  std::set<std::string> options;
  for (const OpRecord& op : ops) {
    if (!op.is_public) continue;
    if (!op.options.empty() && options.insert(op.options).second) emit_options(op, out);
    emit_comment(op, out);
    out << signature(op, op.name, true) << ";\n";
    for (const std::string& alias : op.aliases)
      out << "inline " << signature(op, alias, true) << " { return " << op.name << "(" << forwarded(op) << "); }\n";
    out << "\n";
  }
  out << "}  // namespace kiln\n";
}

void emit_public_source(const Records& ops, llvm::raw_ostream& out) {
  out << "// Generated by kiln-tblgen from dialects/kiln/ops. Do not edit.\nnamespace kiln {\n\n"
         "static std::vector<const Operand*> pointers(const Operands& operands) {\n"
         "  std::vector<const Operand*> result;\n  for (const Operand& x : operands) result.push_back(&x);\n"
         "  return result;\n}\n\n";
  for (const OpRecord& op : ops) {
    if (!op.is_public) continue;
    if (op.kind == "composite")
      emit_composite(op, out);
    else
      emit_dispatch(op, out);
  }
  out << "}  // namespace kiln\n";
}

// "case OpId::concat: return list(kiln::concat(operands, std::get<int64_t>(attributes[0])));" for each public function.
void emit_test_calls(const Records& ops, llvm::raw_ostream& out) {
  out << "// Generated by kiln-tblgen from dialects/kiln/ops. Do not edit.\n"
         "// Inside of a switch over OpId: the public function, from vectors `operands` and `attributes`.\n";
  for (const OpRecord& op : ops) {
    if (!op.is_public) continue;
    auto value = [&](size_t i) {
      return "std::get<" + storage_type(op.attributes[i]) + ">(attributes[" + std::to_string(i) + "])";
    };
    std::vector<std::string> arguments, options;
    for (auto [is_operand, i] : op.positional)
      arguments.push_back(!is_operand ? value(i) : op.variadic() ? "operands" : "operands[" + std::to_string(i) + "]");
    for (size_t i = 0; i < op.attributes.size(); ++i)
      if (op.attributes[i].has_default) options.push_back("." + op.attributes[i].name + " = " + value(i));
    if (!options.empty()) arguments.push_back("{" + join(options, ", ") + "}");
    out << "case OpId::" << op.name << ": return list(kiln::" << op.name << "(" << join(arguments, ", ") << "));\n";
  }
}

}  // namespace kiln::tblgen
