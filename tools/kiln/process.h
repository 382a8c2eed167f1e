// Child processes and temporary folders, for the command line tools.
#pragma once
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace kiln::tools {

// A new folder, removed with all that is in it at the end of the block.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_((std::filesystem::temp_directory_path() / "kiln-XXXXXX").string()) {
    if (!mkdtemp(path_.data()))
      throw std::runtime_error("cannot make a temporary folder: " + std::string(strerror(errno)));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Runs command[0] (searched in PATH) with its arguments. `prepare` runs in the child before that.
// Throws std::runtime_error if the program cannot be started.
inline pid_t start(const std::vector<std::string>& command, const std::function<void()>& prepare) {
  int report[2];  // closed by a successful exec, else it carries errno
  if (pipe2(report, O_CLOEXEC)) throw std::runtime_error(strerror(errno));
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error(strerror(errno));
  if (pid == 0) {
    prepare();
    std::vector<char*> arguments;
    for (const std::string& a : command) arguments.push_back(const_cast<char*>(a.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    const int error = errno;
    [[maybe_unused]] const ssize_t written = write(report[1], &error, sizeof error);
    _exit(127);
  }
  close(report[1]);
  int error = 0;
  const bool failed = read(report[0], &error, sizeof error) == sizeof error;
  close(report[0]);
  if (!failed) return pid;
  waitpid(pid, nullptr, 0);
  throw std::runtime_error("cannot run '" + command[0] + "': " + strerror(error));
}

inline int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// A program whose standard output is read through `output`.
struct Piped {
  pid_t pid;
  int output;
};
inline Piped start_piped(const std::vector<std::string>& command, const std::function<void()>& prepare) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) throw std::runtime_error(strerror(errno));
  const pid_t pid = start(command, [&] {
    dup2(ends[1], STDOUT_FILENO);
    prepare();
  });
  close(ends[1]);
  return {pid, ends[0]};
}

// "exited with code 3", "was killed by signal 11 (Segmentation fault)"
inline std::string describe_exit(int status) {
  if (WIFSIGNALED(status))
    return "was killed by signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
  return "exited with code " + std::to_string(WEXITSTATUS(status));
}

inline std::string own_path() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

}  // namespace kiln::tools
