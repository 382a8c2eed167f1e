#include "tools/kiln-bench/groups.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "tools/kiln/process.h"

namespace kiln::bench {
namespace {
using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

bool read_line(std::FILE* file, std::string& line) {
  line.clear();
  for (int c; (c = std::fgetc(file)) != EOF;) {
    if (c == '\n') return true;
    line += static_cast<char>(c);
  }
  return !line.empty();
}
}  // namespace

void prepare_measured(int threads, const std::string& cache_folder) {
  setenv("KILN_THREADS", std::to_string(threads).c_str(), 1);
  setenv("KILN_CACHE_DIR", cache_folder.c_str(), 1);
  cpu_set_t allowed, chosen;
  sched_getaffinity(0, sizeof allowed, &allowed);
  CPU_ZERO(&chosen);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&chosen) < threads; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &chosen);
  sched_setaffinity(0, sizeof chosen, &chosen);
}

void run_group(const std::vector<std::string>& names, const Options& options,
               const std::function<void(const std::string&)>& emit) {
  auto left = names.begin();
  while (left != names.end()) {
    const tools::TemporaryFolder cache;
    std::vector<std::string> command = {tools::own_path(), "--child", std::to_string(options.threads),
                                        options.quick ? "quick" : "full"};
    command.insert(command.end(), left, names.end());
    const tools::Piped child = tools::start_piped(command, [&] { prepare_measured(options.threads, cache.path()); });
    const File output(fdopen(child.output, "r"), std::fclose);
    auto current = left;  // a child says "@name" before it starts on a workload
    for (std::string line; read_line(output.get(), line);) {
      if (line.starts_with("@")) current = std::find(left, names.end(), line.substr(1));
      if (!line.starts_with("{")) continue;
      emit(line);
      left = current + 1;
    }
    const int status = tools::wait_for(child.pid);
    if (left == names.end() || status == 0) return;
    emit(skipped_json(*left, options, "the process " + tools::describe_exit(status)));
    ++left;
  }
}

std::string run_startup(const std::string& name, const Options& options) {
  const tools::TemporaryFolder cache;
  Row row;
  const OtherLoad others;
  for (int i = 0, repeats = options.quick ? 3 : 5; i <= repeats; ++i) {
    const int64_t start = now_ns();
    const tools::Piped child = tools::start_piped({tools::own_path(), "--startup", name},
                                                  [&] { prepare_measured(options.threads, cache.path()); });
    std::string printed;
    {
      const File output(fdopen(child.output, "r"), std::fclose);
      read_line(output.get(), printed);
    }
    int status = 0;
    rusage usage;
    wait4(child.pid, &status, 0, &usage);
    const int64_t ns = now_ns() - start;
    if (status != 0 || printed != "2")
      return skipped_json(name, options,
                          "the process " + tools::describe_exit(status) + " and printed '" + printed + "'");
    if (i == 0)
      row.first_ns = ns;  // cold: files not in memory, nothing in the disk cache
    else
      row.ns.push_back(static_cast<double>(ns));
    row.peak_rss_mb = std::max<int64_t>(row.peak_rss_mb, usage.ru_maxrss / 1024);
  }
  row.other_cpus = others.processors();
  if (name == "startup/jit") row.note = "the first process compiles, the others find the code on disk";
  return to_json(name, options, row);
}

int startup_main(const std::string& name) {
  const Tensor result =
      name == "startup/add" ? Tensor(1.f) + Tensor(1.f) : function([](Tensor x) { return x + 1; })(Tensor(1.f));
  std::printf("%g\n", static_cast<double>(result.item<float>()));
  return 0;
}

}  // namespace kiln::bench
