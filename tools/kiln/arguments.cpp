#include <algorithm>

#include "tools/kiln/command.h"

namespace kiln::cli {

size_t Arguments::end_of_options() const {
  return static_cast<size_t>(std::find(words_.begin(), words_.end(), "--") - words_.begin());
}

bool Arguments::flag(std::string_view name) {
  const auto end = words_.begin() + static_cast<ptrdiff_t>(end_of_options());
  const auto kept = std::remove(words_.begin(), end, name);
  const bool found = kept != end;
  words_.erase(kept, end);
  return found;
}

std::vector<std::string> Arguments::values(std::string_view name) {
  std::vector<std::string> values;
  const std::string with_equals = std::string(name) + "=";
  for (size_t i = 0; i < end_of_options();) {
    const auto at = words_.begin() + static_cast<ptrdiff_t>(i);
    if (words_[i].starts_with(with_equals)) {
      values.push_back(words_[i].substr(with_equals.size()));
      words_.erase(at);
    } else if (words_[i] == name) {
      if (i + 1 >= end_of_options()) throw Misuse(std::string(name) + " needs a value");
      values.push_back(words_[i + 1]);
      words_.erase(at, at + 2);
    } else {
      ++i;
    }
  }
  return values;
}

std::optional<std::string> Arguments::value(std::string_view name) {
  const std::vector<std::string> all = values(name);
  return all.empty() ? std::nullopt : std::optional(all.back());
}

std::vector<std::string> Arguments::rest() {
  const size_t end = end_of_options();
  for (size_t i = 0; i < end; ++i)
    if (words_[i].starts_with("-") && words_[i] != "-") throw Misuse("unknown option '" + words_[i] + "'");
  return program();
}

std::vector<std::string> Arguments::program() {
  std::vector<std::string> words = words_;
  const size_t end = end_of_options();
  if (end < words.size()) words.erase(words.begin() + static_cast<ptrdiff_t>(end));
  return words;
}

}  // namespace kiln::cli
