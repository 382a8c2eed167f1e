// How a workload is timed: the protocol is that of the other frameworks' runners, so that medians may be compared.
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tools/kiln-bench/bench.h"

namespace kiln::bench {

int64_t now_ns() { return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count(); }

namespace {
double cpu_seconds(int who) {
  rusage usage;
  getrusage(who, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

double busy_seconds() {  // of all processors; /proc/stat: user nice system idle iowait irq softirq steal
  std::ifstream stat("/proc/stat");
  std::string label;
  stat >> label;
  double ticks = 0, field;
  for (int i = 0; i < 8 && stat >> field; ++i)
    if (i != 3 && i != 4) ticks += field;
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

void reset_peak_rss() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
}

int64_t peak_rss_mb() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:" && status >> word) return std::llround(std::stod(word) / 1024);
  return 0;
}

double seconds_since(int64_t start) { return 1e-9 * static_cast<double>(now_ns() - start); }

// Samples of one call. Tiny calls: each sample is the mean of as many calls as take about 1 ms.
void measure(const Runner& run, bool tiny, double budget_s, Row& row) {
  int64_t start = now_ns(), calls = 0;
  while (calls < 2 || (calls < 1000 && seconds_since(start) < budget_s * 0.2)) {  // warm-up
    run.call(1);
    ++calls;
    if (seconds_since(start) > budget_s * 2) break;
  }
  if (tiny) row.calls_per_sample = std::max<int64_t>(1, 1'000'000 * calls / std::max<int64_t>(1, now_ns() - start));
  start = now_ns();
  while (row.ns.size() < 3 || (row.ns.size() < 300 && seconds_since(start) < budget_s)) {
    const int64_t before = now_ns();
    run.call(row.calls_per_sample);
    row.ns.push_back(static_cast<double>(now_ns() - before) / static_cast<double>(row.calls_per_sample));
    if (seconds_since(start) > budget_s * 10) break;
  }
}

void clear_disk_cache() {
  if (const char* folder = std::getenv("KILN_CACHE_DIR"))
    for (const auto& entry : std::filesystem::directory_iterator(folder)) std::filesystem::remove_all(entry.path());
}

int64_t time_call(const Runner& run) {
  const int64_t start = now_ns();
  run.call(1);
  return now_ns() - start;
}

// Each sample is the first call of a fresh function.
Row measure_compile(const Workload& workload) {
  Row row;
  function([](Tensor x) { return x + 1; })(Tensor(1.f));  // the compiler is loaded before
  const OtherLoad others;
  double total = 0;
  while (row.ns.size() < 3 && total < 10e9) {
    clear_disk_cache();
    row.ns.push_back(static_cast<double>(time_call(workload.build())));
    total += row.ns.back();
  }
  row.other_cpus = others.processors();
  row.first_ns = static_cast<int64_t>(row.ns.front());
  const Runner again = workload.build();
  const double first = 1e-6 * static_cast<double>(time_call(again));
  const double second = 1e-6 * static_cast<double>(time_call(again));
  char note[96];
  std::snprintf(note, sizeof note, "with the code in the disk cache: first call %.2f ms, second %.2f ms", first,
                second);
  row.note = note;
  return row;
}

Row measure_calls(const Workload& workload, const Options& options) {
  Row row;
  const Runner run = workload.build();
  row.first_ns = time_call(run);
  run.sums(row.checksum);
  for (int step = 1; step < workload.steps; ++step) {
    run.call(1);
    run.sums(row.checksum);
  }
  const bool tiny = workload.group() == "call" || workload.group() == "eager";
  const OtherLoad others;
  measure(run, tiny, options.quick ? 0.3 : 1.0, row);
  row.other_cpus = others.processors();
  row.note = workload.note;
  return row;
}
}  // namespace

OtherLoad::OtherLoad()
    : wall_(1e-9 * static_cast<double>(now_ns())),
      busy_(busy_seconds()),
      own_(cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN)) {}

double OtherLoad::processors() const {
  const OtherLoad now;
  const double others = std::max(0.0, now.busy_ - busy_ - (now.own_ - own_));
  return std::round(100 * others / std::max(now.wall_ - wall_, 0.01)) / 100;
}

std::string run_workload(const Workload& workload, const Options& options) {
  if (!workload.build) return skipped_json(workload.name, options, workload.note);
  try {
    reset_peak_rss();
    Row row = workload.group() == "compile" ? measure_compile(workload) : measure_calls(workload, options);
    row.peak_rss_mb = peak_rss_mb();
    return to_json(workload.name, options, row);
  } catch (const std::exception& e) {  // a workload that fails must not stop the others
    return skipped_json(workload.name, options, e.what());
  }
}

}  // namespace kiln::bench
