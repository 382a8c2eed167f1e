// What the commands of the `kiln` tool share: arguments and the two ways to fail.
#pragma once
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::cli {

// The command line is wrong: exit code 2.
struct Misuse : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// The command could not be done: exit code 1.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Options are taken out by name, wherever they stand; what is left are the words of the command. "--" ends the options.
class Arguments {
 public:
  explicit Arguments(std::vector<std::string> words) : words_(std::move(words)) {}

  bool flag(std::string_view name);                         // --all
  std::optional<std::string> value(std::string_view name);  // --stage X or --stage=X; the last one counts
  std::vector<std::string> values(std::string_view name);   // --input A --input B
  // The words, without the "--". Call it after all options have been taken; options left over are a Misuse.
  std::vector<std::string> rest();
  // The same where everything after the first word belongs to another program.
  std::vector<std::string> program();

 private:
  size_t end_of_options() const;
  std::vector<std::string> words_;
};

// Each takes what follows its name and gives the exit code.
int ir(Arguments arguments);
int info(Arguments arguments);
int run(Arguments arguments);
int ops(Arguments arguments);

}  // namespace kiln::cli
