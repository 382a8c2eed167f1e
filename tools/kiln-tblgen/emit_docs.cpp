// docs/ops: one page per op and the index.
#include <fstream>
#include <map>
#include <sstream>

#include "llvm/TableGen/Record.h"
#include "tools/kiln-tblgen/emitters.h"

namespace kiln::tblgen {
namespace {

std::string page(const OpRecord& op) {
  std::string s = "<!-- Generated from dialects/kiln/ops. Do not edit. -->\n# " + op.name + "\n\n" + op.summary +
                  "\n\n```cpp\n" + signature(op, op.name, true) + ";\n";
  if (!op.options.empty()) {
    s += "struct " + op.options + " {\n";
    for (const AttributeRecord& a : op.attributes)
      if (a.has_default) s += "  " + storage_type(a) + " " + a.name + " = " + a.default_text + ";\n";
    s += "};\n";
  }
  s += "```\n";
  if (!op.aliases.empty()) s += "Also called " + join(op.aliases, ", ") + ".\n";
  if (!op.constraints.empty()) {
    s += "\n## Constraints\n";
    for (const std::string& c : op.constraints) s += "- " + c + "\n";
  }
  s += "\n## Facts\n- dtypes: " + join(public_dtypes(op), ", ") + "\n";
  for (const Promotion& p : op.promotions) s += "- " + p.from + " is computed in " + p.to + "\n";
  s += "- kind: " + op.kind + "\n";
  if (!op.non_differentiable.empty())
    s += "- no gradient: " + op.non_differentiable + "\n";
  else
    s += op.kind == "composite" ? "- gradient: through the ops it is made of\n" : "- gradient: yes\n";
  s += "- error: " + op.accuracy + "\n";
  if (!op.numpy.empty()) s += "- in NumPy: `" + op.numpy + "`\n";
  return s + "\n## Example\n```cpp\n" + op.example + "\n```\n";
}

bool write_if_changed(const std::string& path, const std::string& text) {
  std::ifstream old(path, std::ios::binary);
  if (old) {
    std::stringstream content;
    content << old.rdbuf();
    if (content.str() == text) return true;
  }
  std::ofstream file(path, std::ios::binary);
  file << text;
  return file.good();
}

}  // namespace

bool emit_docs(const Records& ops, const std::string& folder, llvm::raw_ostream& out) {
  out << "<!-- Generated from dialects/kiln/ops. Do not edit. -->\n# The ops\n\n| Op | Does | dtypes | Gradient "
         "|\n|---|---|---|---|\n";
  for (const OpRecord& op : ops) {
    if (!op.is_public) continue;
    out << "| [" << op.name << "](" << op.name << ".md)";
    for (const std::string& alias : op.aliases) out << " = " << alias;
    out << " | " << op.summary << " | " << join(public_dtypes(op), " ") << " | "
        << (op.non_differentiable.empty() ? "yes" : "no") << " |\n";
    if (!write_if_changed(folder + "/" + op.name + ".md", page(op))) return false;
  }
  return true;
}

}  // namespace kiln::tblgen
