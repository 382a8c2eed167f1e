#include "frontend/nn/module.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <set>
#include <typeinfo>

#include "frontend/include/kiln/error.h"

namespace kiln {
namespace {

// Calls visit(path, slot) for each Variable below a module.
template <class F>
void walk(const Module& module, const std::string& prefix, F& visit) {
  for (const Part& part : module.parts()) {
    const std::string path = prefix.empty() ? part.name : prefix + "/" + part.name;
    if (part.module)
      walk(*part.module, path, visit);
    else
      visit(path, part.variable);
  }
}

}  // namespace

std::string detail::next_name(std::string_view& names) {
  const size_t comma = std::min(names.find(','), names.size());
  std::string_view name = names.substr(0, comma);
  names.remove_prefix(std::min(comma + 1, names.size()));
  while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  return std::string(name);
}

std::vector<Variable> VariableList::get() const {
  std::vector<Variable> variables;
  std::set<uint64_t> seen;
  for (const auto& [path, slot] : slots_) {
    if (!slot->defined())
      throw_error(Code::failed_precondition,
                  "variables: \"" + path +
                      "\" does not exist yet: its layer makes it when it first sees an input; call the "
                      "model once before, or build it with the input's shape",
                  {});
    if ((!trainable_only_ || slot->trainable()) && seen.insert(slot->id()).second) variables.push_back(*slot);
  }
  return variables;
}

VariableList Module::list(bool trainable_only) const {
  VariableList list(trainable_only);
  auto add = [&](const std::string& path, const std::shared_ptr<const Variable>& slot) {
    list.slots_.emplace_back(path, slot);
  };
  walk(*this, "", add);
  return list;
}
VariableList Module::variables() const { return list(false); }
VariableList Module::trainable_variables() const { return list(true); }

std::vector<std::pair<std::string, Variable>> Module::named_variables() const {
  std::vector<std::pair<std::string, Variable>> named;
  auto add = [&](const std::string& path, const std::shared_ptr<const Variable>& slot) {
    if (slot->defined()) named.emplace_back(path, *slot);
  };
  walk(*this, "", add);
  return named;
}

Variable Module::variable(std::string_view path, std::source_location where) const {
  std::string known;
  for (const auto& [name, variable] : named_variables()) {
    if (name == path) return variable;
    known += (known.empty() ? "" : ", ") + name;
  }
  throw_error(Code::not_found,
              "variable: no Variable \"" + std::string(path) + "\" in " + type_name() +
                  ", it has: " + (known.empty() ? "none yet" : known),
              where);
}

std::string Module::type_name() const {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(typeid(*this).name(), nullptr, nullptr, &status), std::free);
  std::string name = status == 0 ? text.get() : typeid(*this).name();
  const size_t colon = name.rfind("::");
  return colon == std::string::npos ? name : name.substr(colon + 2);
}

std::optional<int64_t> Module::count_parameters(const Module& module, bool trainable_only) {
  int64_t count = 0;
  bool built = true;
  std::set<uint64_t> seen;
  auto add = [&](const std::string&, const std::shared_ptr<const Variable>& slot) {
    if (!slot->defined())
      built = false;
    else if (is_floating(slot->dtype()) && (!trainable_only || slot->trainable()) && seen.insert(slot->id()).second)
      count += slot->size();
  };
  walk(module, "", add);
  if (!built) return std::nullopt;
  return count;
}

int64_t Module::parameter_count() const {
  const std::optional<int64_t> count = count_parameters(*this, false);
  if (!count) static_cast<void>(variables().get());  // says what is missing
  return *count;
}

std::vector<Module::Row> Module::rows() const {
  std::vector<Row> rows;
  for (const Part& part : parts()) {
    if (part.module)
      rows.push_back(
          {part.name, part.module->type_name(), part.module->output_shape(), count_parameters(*part.module, false)});
    else
      rows.push_back({part.name, "Variable",
                      part.variable->defined() ? std::optional(part.variable->shape()) : std::nullopt,
                      part.variable->defined() ? std::optional(part.variable->size()) : std::nullopt});
  }
  return rows;
}

}  // namespace kiln
