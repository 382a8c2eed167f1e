// kiln-bench: the workloads that Kiln and other frameworks are compared on. One JSON line per workload.
#include <fnmatch.h>
#include <sched.h>

#include <charconv>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <span>

#include "tools/kiln-bench/bench.h"
#include "tools/kiln-bench/groups.h"

namespace kiln::bench {
namespace {

constexpr const char* usage =
    "usage: kiln-bench list [GLOB...]\n"
    "       kiln-bench run GLOB... [--threads N] [--json FILE] [--quick]\n"
    "       kiln-bench limits [--threads N]\n";

[[noreturn]] void misuse(const std::string& text) {
  std::fprintf(stderr, "kiln-bench: %s\n%s", text.c_str(), usage);
  std::exit(2);
}

Workloads all_workloads() {
  Workloads w;
  for (auto add :
       {add_call, add_eager, add_fusion, add_matmul, add_conv, add_control, add_model, add_infer, add_compile})
    add(w);
  for (const char* name : startup_workloads) w.skip(name, "");  // processes, not calls: see run_startup
  return w;
}

int processors() {
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  return CPU_COUNT(&allowed);
}

struct CommandLine {
  std::string command, json;
  std::vector<std::string> globs;
  Options options;
};

CommandLine parse(std::span<char*> arguments) {
  if (arguments.size() < 2) misuse("a command is needed");
  CommandLine line;
  line.command = arguments[1];
  line.options.threads = processors();
  for (size_t i = 2; i < arguments.size(); ++i) {
    const std::string a = arguments[i];
    auto value = [&] {
      if (i + 1 == arguments.size()) misuse(a + " needs a value");
      return std::string(arguments[++i]);
    };
    if (a == "--threads") {
      const std::string text = value();
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), line.options.threads);
      if (error != std::errc() || end != text.data() + text.size() || line.options.threads < 1)
        misuse("--threads needs a number above 0, got '" + text + "'");
    } else if (a == "--json") {
      line.json = value();
    } else if (a == "--quick") {
      line.options.quick = true;
    } else if (a.starts_with("-")) {
      misuse("unknown option '" + a + "'");
    } else {
      line.globs.push_back(a);
    }
  }
  return line;
}

std::vector<const Workload*> choose(const Workloads& workloads, const std::vector<std::string>& globs) {
  std::vector<const Workload*> chosen;
  for (const Workload& w : workloads.all())
    for (const std::string& glob : globs)
      if (fnmatch(glob.c_str(), w.name.c_str(), 0) == 0) {
        chosen.push_back(&w);
        break;
      }
  return chosen;
}

int list(const Workloads& workloads, std::vector<std::string> globs) {
  if (globs.empty()) globs = {"*"};
  for (const Workload* w : choose(workloads, globs))
    std::printf("%s%s%s\n", w->name.c_str(), w->note.empty() ? "" : ": ", w->note.c_str());
  return 0;
}

int run(const Workloads& workloads, const CommandLine& line) {
  if (line.globs.empty()) misuse("run: which workloads? 'call/*', for example");
  const std::vector<const Workload*> chosen = choose(workloads, line.globs);
  if (chosen.empty()) misuse("run: no workload matches; see kiln-bench list");
  std::ofstream file;
  if (!line.json.empty()) {
    file.open(line.json, std::ios::app);
    if (!file) return std::fprintf(stderr, "kiln-bench: cannot write '%s'\n", line.json.c_str()), 1;
  }
  auto emit = [&](const std::string& text) {
    std::cout << text << std::endl;
    if (file.is_open()) file << text << std::endl;
  };
  for (auto from = chosen.begin(); from != chosen.end();) {
    const std::string group = (*from)->group();
    std::vector<std::string> names;
    for (; from != chosen.end() && (*from)->group() == group; ++from) names.push_back((*from)->name);
    if (group != "startup")
      run_group(names, line.options, emit);
    else
      for (const std::string& name : names) emit(run_startup(name, line.options));
  }
  return 0;
}

// --child THREADS quick|full NAME...: the workloads of one group, in this process.
int child(std::span<char*> arguments) {
  const Workloads workloads = all_workloads();
  const Options options{std::atoi(arguments[2]), arguments[3] == std::string("quick")};
  for (char* name : arguments.subspan(4))
    for (const Workload* w : choose(workloads, {name})) {
      std::cout << '@' << w->name << std::endl;
      std::cout << run_workload(*w, options) << std::endl;
    }
  return 0;
}

int main(std::span<char*> arguments) {
  const std::string first = arguments.size() > 1 ? arguments[1] : "";
  if (first == "--startup" && arguments.size() == 3) return startup_main(arguments[2]);
  if (first == "--child" && arguments.size() > 4) return child(arguments);
  if (first == "--help" || first == "help") return std::printf("%s", usage), 0;
  const CommandLine line = parse(arguments);
  if (line.command == "list") return list(all_workloads(), line.globs);
  if (line.command == "run") return run(all_workloads(), line);
  if (line.command == "limits") return print_limits(line.options), 0;
  misuse("unknown command '" + line.command + "'");
}

}  // namespace
}  // namespace kiln::bench

int main(int argc, char** argv) {
  try {
    return kiln::bench::main({argv, static_cast<size_t>(argc)});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "kiln-bench: %s\n", e.what());
    return 1;
  }
}
