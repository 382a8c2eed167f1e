// kiln: looks into programs and models. See `kiln help`.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "compiler/api/compiler.h"
#include "tools/kiln/command.h"
#include "tools/kiln/process.h"

namespace kiln::cli {
namespace {

// kiln-opt lies beside this program.
int opt(Arguments arguments) {
  std::vector<std::string> command = arguments.program();
  command.insert(command.begin(), (std::filesystem::path(tools::own_path()).parent_path() / "kiln-opt").string());
  std::vector<char*> pointers;
  for (std::string& word : command) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(pointers[0], pointers.data());
  throw Failure("cannot run '" + command[0] + "': " + std::strerror(errno));
}

struct Command {
  const char* name;
  int (*run)(Arguments);
  const char* usage;
};
constexpr Command commands[] = {
    {"ir", ir,
     "kiln ir PROGRAM [ARGS...] [--function NAME] [--stage STAGE | --all] [--diff] [--times]\n"
     "kiln ir MODEL.kiln [the same options]\n"
     "    The IR of each function that a program compiles, or of those in a saved model, with your file:line on each "
     "op.\n"
     "    The program's own output is not shown. With --function it is stopped once that function has been compiled.\n"
     "    --diff: what each stage changed. --times: how long each stage took. After --, all options are the "
     "program's.\n"},
    {"info", info, "kiln info MODEL.kiln\n    Its functions, inputs, outputs and variables.\n"},
    {"run", run,
     "kiln run MODEL.kiln [--function NAME] [--input A.npy]... [--output B.npy]...\n"
     "    Runs a function of a saved model on NumPy arrays; without --output the results are printed.\n"},
    {"ops", ops, "kiln ops [NAME] [--count]\n    All ops; all about one op; their number.\n"},
    {"opt", opt, "kiln opt [ARGS...]\n    kiln-opt: MLIR's opt with the kiln dialect and passes.\n"},
};

void print_help() {
  for (const Command& c : commands) std::printf("%s\n", c.usage);
  std::printf("kiln --version\n\nStages of `kiln ir`, in order:\n");
  for (const StageInfo& s : stage_table) std::printf("    %-9s %s\n", s.name.data(), s.summary.data());
}

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) throw Misuse("a command is needed; see `kiln help`");
  const std::string name = words[0];
  words.erase(words.begin());
  if (name == "--version") return std::printf("kiln " KILN_VERSION "\n"), 0;
  if (name == "help" || name == "--help" || name == "-h") return print_help(), 0;
  for (const Command& c : commands)
    if (name == c.name) return c.run(Arguments(std::move(words)));
  throw Misuse("there is no command '" + name + "'; see `kiln help`");
}

}  // namespace
}  // namespace kiln::cli

int main(int argc, char** argv) {
  try {
    const int code = kiln::cli::main(argc, argv);
    if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
    std::fprintf(stderr, "kiln: cannot write the output: %s\n", std::strerror(errno));
    return 1;
  } catch (const kiln::cli::Misuse& e) {
    std::fprintf(stderr, "kiln: %s\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "kiln: %s\n", e.what());
    return 1;
  }
}
