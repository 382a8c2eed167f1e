// The table that Module::summary() gives, drawn as Keras draws it.
#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>
#include <sstream>

#include "frontend/nn/module.h"

namespace kiln {
namespace {

// 1234567 -> "1,234,567"
std::string grouped(int64_t n) {
  std::string text = std::to_string(n);
  for (int64_t at = static_cast<int64_t>(text.size()) - 3; at > 0; at -= 3) text.insert(static_cast<size_t>(at), ",");
  return text;
}

std::string bytes(double n) {
  constexpr std::array units = {"B", "KB", "MB", "GB", "TB"};
  size_t unit = 0;
  while (n >= 1024 && unit + 1 < units.size()) n /= 1024, ++unit;
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f %s", n, units[unit]);
  return text;
}

std::string shape_text(const std::optional<Shape>& shape) {
  if (!shape) return "?";
  std::string text = "(";
  for (int i = 0; i < shape->rank(); ++i) {
    const Dim d = (*shape)[i];
    text += (i ? ", " : "") + (d.known() ? std::to_string(d.size()) : std::string("None"));
  }
  return text + (shape->rank() == 1 ? ",)" : ")");
}

std::string repeat(const char* piece, size_t n) {
  std::string text;
  for (size_t i = 0; i < n; ++i) text += piece;
  return text;
}

std::string pad(const std::string& text, size_t width, bool right) {
  const std::string space(width > text.size() ? width - text.size() : 0, ' ');
  return right ? space + text : text + space;
}

}  // namespace

std::string Module::summary() const {
  std::vector<std::array<std::string, 3>> cells;
  std::array<size_t, 3> width = {31, 22, 13};
  for (const Row& row : rows())
    cells.push_back({row.name + " (" + row.type + ")", shape_text(row.output),
                     row.parameters ? grouped(*row.parameters) : "0 (unbuilt)"});
  for (const auto& row : cells)
    for (size_t c = 0; c < 3; ++c) width[c] = std::max(width[c], row[c].size());

  std::ostringstream out;
  auto rule = [&](const char* left, const char* line, const char* cross, const char* right) {
    out << left;
    for (size_t c = 0; c < 3; ++c) out << (c ? cross : "") << repeat(line, width[c] + 2);
    out << right << '\n';
  };
  auto line = [&](const std::array<std::string, 3>& row, const char* bar) {
    for (size_t c = 0; c < 3; ++c) out << bar << ' ' << pad(row[c], width[c], c == 2) << ' ';
    out << bar << '\n';
  };
  out << "Model: \"" << title() << "\"\n";
  rule("┏", "━", "┳", "┓");
  line({"Layer (type)", "Output Shape", "Param #"}, "┃");
  rule("┡", "━", "╇", "┩");
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i) rule("├", "─", "┼", "┤");
    line(cells[i], "│");
  }
  rule("└", "─", "┴", "┘");

  int64_t total = 0, trainable = 0, total_bytes = 0, trainable_bytes = 0;
  std::vector<uint64_t> seen;
  for (const auto& [path, v] : named_variables()) {
    if (!is_floating(v.dtype()) || std::find(seen.begin(), seen.end(), v.id()) != seen.end()) continue;
    seen.push_back(v.id());
    const int64_t memory = v.size() * static_cast<int64_t>(size_of(v.dtype()));
    total += v.size(), total_bytes += memory;
    if (v.trainable()) trainable += v.size(), trainable_bytes += memory;
  }
  auto sum = [&](const char* what, int64_t count, int64_t memory) {
    out << ' ' << what << ": " << grouped(count) << " (" << bytes(static_cast<double>(memory)) << ")\n";
  };
  sum("Total params", total, total_bytes);
  sum("Trainable params", trainable, trainable_bytes);
  sum("Non-trainable params", total - trainable, total_bytes - trainable_bytes);
  return out.str();
}

std::ostream& operator<<(std::ostream& out, const Module& module) { return out << module.summary(); }

}  // namespace kiln
