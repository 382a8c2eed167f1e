// kiln ir: the IR of what a program compiles, or of a saved model.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "compiler/api/compiler.h"
#include "tools/kiln/command.h"
#include "tools/kiln/model.h"
#include "tools/kiln/process.h"

namespace kiln::cli {
namespace {

// One compiled function.
struct Unit {
  std::string function;
  int number = 0;  // counts the compilations of the program
  std::map<Stage, std::string> text;
  std::string times;  // "<stage> <milliseconds>" lines
};

struct Wish {
  std::string function;       // empty: all
  std::vector<Stage> stages;  // to be shown
  bool diff = false, times = false;
  // With --diff the stage before is needed too.
  std::vector<Stage> needed() const {
    std::vector<Stage> all = stages;
    if (diff)
      for (Stage s : stages)
        if (s != Stage::kiln) all.push_back(static_cast<Stage>(static_cast<int>(s) - 1));
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }
};

std::string_view name_of(Stage stage) { return stage_table[static_cast<int>(stage)].name; }

std::vector<Stage> all_stages() {
  std::vector<Stage> stages;
  for (size_t i = 0; i < std::size(stage_table); ++i) stages.push_back(static_cast<Stage>(i));
  return stages;
}

Stage find_stage(const std::string& name) {
  if (name == "asm") return Stage::assembly;
  std::string known;
  for (Stage s : all_stages()) {
    if (name_of(s) == name) return s;
    known += (known.empty() ? "" : ", ") + std::string(name_of(s));
  }
  throw Misuse("ir: there is no stage '" + name + "'; there are: " + known);
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Files are called <function>.<number>.<stage>.mlir and <function>.<number>.times.
std::vector<Unit> collect(const std::string& folder) {
  std::map<int, Unit> units;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::string name = entry.path().filename().string();
    const bool times = name.ends_with(".times");
    if (!times && !name.ends_with(".mlir")) continue;
    name.resize(name.rfind('.'));
    std::string stage;
    if (!times) {
      stage = name.substr(name.rfind('.') + 1);
      name.resize(name.rfind('.'));
    }
    const size_t dot = name.rfind('.');
    const int number = std::atoi(name.c_str() + dot + 1);
    Unit& unit = units[number];
    unit.function = name.substr(0, dot);
    unit.number = number;
    (times ? unit.times : unit.text[find_stage(stage)]) = read_file(entry.path());
  }
  std::vector<Unit> result;
  for (auto& [number, unit] : units) result.push_back(std::move(unit));
  return result;
}

// Whether the program has written all about one compilation of the function: the .times file comes last.
bool compiled(const std::string& folder, const std::string& function) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".times") && name.starts_with(function + ".") &&
        name.find('.', function.size() + 1) == name.size() - 6)
      return true;
  }
  return false;
}

void pause_ms(int ms) {
  const timespec time{ms / 1000, ms % 1000 * 1'000'000L};
  nanosleep(&time, nullptr);
}

// Waits for the program's end, or ends it as soon as `function` has been compiled. True: it was ended here.
bool watch(pid_t pid, const std::string& folder, const std::string& function, int& status) {
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (!compiled(folder, function)) {
      pause_ms(20);
      continue;
    }
    kill(pid, SIGTERM);
    for (int waited = 0; waitpid(pid, &status, WNOHANG) == 0; waited += 20) {
      if (waited > 2000) kill(pid, SIGKILL);
      pause_ms(20);
    }
    return true;
  }
  return false;
}

// Runs the program and gives what it compiled; `problem` says how it failed, if it did.
std::vector<Unit> run_program(const std::vector<std::string>& command, const Wish& wish, std::string& problem) {
  const tools::TemporaryFolder folder;
  std::string stages;
  for (Stage s : wish.needed()) stages += (stages.empty() ? "" : ",") + std::string(name_of(s));
  signal(SIGINT, SIG_IGN);  // ends the program; the folder is still to be removed
  pid_t pid = -1;
  try {
    pid = tools::start(command, [&] {
      signal(SIGINT, SIG_DFL);
      setenv("KILN_DUMP", folder.path().c_str(), 1);
      setenv("KILN_DUMP_STAGES", stages.c_str(), 1);
      const int hidden = open("/dev/null", O_WRONLY);
      if (hidden >= 0) dup2(hidden, STDOUT_FILENO);
    });
  } catch (const std::runtime_error& e) {
    throw Failure(std::string("ir: ") + e.what());
  }
  int status = 0;
  bool ended = false;
  if (wish.function.empty())
    status = tools::wait_for(pid);
  else
    ended = watch(pid, folder.path(), wish.function, status);
  if (!ended && status != 0) problem = "'" + command[0] + "' " + tools::describe_exit(status);
  return collect(folder.path());
}

std::vector<Unit> read_model(const std::string& path, const Wish& wish) {
  const ModelFile model = open_model(path);
  if (!wish.function.empty()) find_function(model, wish.function);  // or an error
  std::vector<Unit> units;
  for (const SavedFunction& f : model.functions) {
    if (!wish.function.empty() && f.name != wish.function) continue;
    Unit unit{f.name, static_cast<int>(units.size()), {}, {}};
    for (Stage s : wish.needed()) {
      Result<std::string> text = lower_to_text(f.executable->ir, s, {.target = f.executable->target});
      if (!text.ok()) throw Failure("ir: " + f.name + ": " + std::string(text.status().message()));
      unit.text[s] = std::move(text).value();
    }
    units.push_back(std::move(unit));
  }
  return units;
}

void print_diff(const Unit& unit, Stage stage) {
  const Stage before = static_cast<Stage>(static_cast<int>(stage) - 1);
  const tools::TemporaryFolder folder;
  std::vector<std::string> command = {"diff", "-u"};
  for (Stage s : {before, stage}) {
    const std::string path = folder.path() + "/" + std::string(name_of(s));
    std::ofstream(path, std::ios::binary) << unit.text.at(s);
    command.push_back("--label=" + unit.function + ", stage " + std::string(name_of(s)));
  }
  for (Stage s : {before, stage}) command.push_back(folder.path() + "/" + std::string(name_of(s)));
  std::fflush(stdout);
  if (WEXITSTATUS(tools::wait_for(tools::start(command, [] {}))) > 1) throw Failure("ir: diff failed");
}

// As one file that `kiln opt --split-input-file` reads.
void print(const std::vector<Unit>& units, const Wish& wish) {
  bool first = true;
  for (const Unit& unit : units) {
    for (Stage s : wish.stages) {
      if (!first) std::printf("\n// -----\n\n");
      first = false;
      std::printf("// %s, compilation %d, stage %s\n", unit.function.c_str(), unit.number,
                  std::string(name_of(s)).c_str());
      if (wish.diff && s != Stage::kiln)
        print_diff(unit, s);
      else
        std::fwrite(unit.text.at(s).data(), 1, unit.text.at(s).size(), stdout);
    }
    if (wish.times) {
      std::istringstream lines(unit.times);
      std::string stage;
      for (double ms; lines >> stage >> ms;)
        std::printf("// %s, stage %s: %.3f ms\n", unit.function.c_str(), stage.c_str(), ms);
    }
  }
}

}  // namespace

int ir(Arguments arguments) {
  Wish wish;
  wish.function = arguments.value("--function").value_or("");
  wish.diff = arguments.flag("--diff");
  wish.times = arguments.flag("--times");
  const std::optional<std::string> stage = arguments.value("--stage");
  const bool all = arguments.flag("--all");
  if (all && stage) throw Misuse("ir: either --stage or --all");
  if (stage)
    wish.stages = {find_stage(*stage)};
  else if (all || wish.diff)
    wish.stages = all_stages();
  else
    wish.stages = {Stage::kiln};
  const std::vector<std::string> words = arguments.program();
  if (words.empty() || words[0].empty()) throw Misuse("ir: a program or a model is needed");
  if (words[0][0] == '-') throw Misuse("ir: unknown option '" + words[0] + "'");

  if (is_model(words[0])) {
    if (words.size() > 1) throw Misuse("ir: a model takes no arguments");
    if (wish.times) throw Misuse("ir: --times needs a program: a saved model is not compiled again");
    print(read_model(words[0], wish), wish);
    return 0;
  }

  std::string problem;
  std::vector<Unit> units = run_program(words, wish, problem);
  std::string known;
  for (const Unit& u : units)
    if (known.find(u.function) == known.npos) known += (known.empty() ? "" : ", ") + u.function;
  if (!wish.function.empty()) std::erase_if(units, [&](const Unit& u) { return u.function != wish.function; });
  std::erase_if(units, [&](const Unit& u) {  // cut short by a crash
    return std::any_of(wish.stages.begin(), wish.stages.end(), [&](Stage s) { return !u.text.contains(s); });
  });
  print(units, wish);
  if (!problem.empty())
    throw Failure("ir: " + problem + (units.empty() ? " before it compiled what was asked for" : ""));
  if (!units.empty()) return 0;
  if (known.empty()) throw Failure("ir: '" + words[0] + "' compiled no function");
  throw Failure("ir: '" + words[0] + "' compiled no function '" + wish.function + "'; it compiled: " + known);
}

}  // namespace kiln::cli
