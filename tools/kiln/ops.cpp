// kiln ops: what the op records say.
#include <algorithm>
#include <cstdio>
#include <string>

#include "generated/op_id.h"
#include "tools/kiln/command.h"

namespace kiln::cli {
namespace {

std::string_view kind_name(OpKind kind) {
  switch (kind) {
    case OpKind::elementwise:
      return "elementwise";
    case OpKind::reduction:
      return "reduction";
    case OpKind::view:
      return "view";
    case OpKind::structured:
      return "structured";
    case OpKind::composite:
      return "composite";
    case OpKind::control:
      return "control";
    case OpKind::source:
      return "source";
  }
  return "";
}

void print_text(const char* label, std::string_view text) {
  if (!text.empty()) std::printf("%s: %.*s\n", label, static_cast<int>(text.size()), text.data());
}

void print_op(const OpInfo& op) {
  std::printf("%s: %s\n", std::string(op.name).c_str(), std::string(op.summary).c_str());
  print_text("kind", kind_name(op.kind));
  print_text("signature", op.signature);
  print_text("also called", op.aliases);
  std::string dtypes;
#define KILN_DTYPE_NAME(name, type, size, kind)       \
  if (op.dtypes >> static_cast<int>(DType::name) & 1) \
    dtypes += (dtypes.empty() ? "" : " ") + std::string(name_of(DType::name));
  KILN_FOR_EACH_DTYPE(KILN_DTYPE_NAME)
#undef KILN_DTYPE_NAME
  print_text("dtypes", dtypes);
  print_text("gradient", op.non_differentiable.empty() ? "yes" : "none: " + std::string(op.non_differentiable));
  print_text("accuracy", op.accuracy);
  print_text("in NumPy", op.numpy);
  if (!op.constraints.empty()) std::printf("%s\n", std::string(op.constraints).c_str());
  if (!op.example.empty()) std::printf("\n%s\n", std::string(op.example).c_str());
}

}  // namespace

int ops(Arguments arguments) {
  const bool count = arguments.flag("--count");
  const std::vector<std::string> words = arguments.rest();
  if (words.size() > 1) throw Misuse("ops: one name at most");
  if (count && !words.empty()) throw Misuse("ops: --count takes no name");
  const auto is_public = [](const OpInfo& op) { return op.is_public; };
  if (count) return std::printf("%td\n", std::count_if(std::begin(op_table), std::end(op_table), is_public)), 0;
  if (words.empty()) {
    for (const OpInfo& op : op_table)
      if (op.is_public)
        std::printf("%-28s %-12s %s\n", std::string(op.name).c_str(), std::string(kind_name(op.kind)).c_str(),
                    std::string(op.summary).c_str());
    return 0;
  }
  const std::optional<OpId> op = find_op(words[0]);
  if (!op) throw Misuse("ops: there is no op '" + words[0] + "'; `kiln ops` lists them");
  print_op(kiln::info(*op));
  return 0;
}

}  // namespace kiln::cli
