// What the workloads are registered in, and how they are timed.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tools/kiln-bench/spec.h"

namespace kiln::bench {

// One workload made ready: its inputs exist, nothing has been compiled yet.
struct Runner {
  std::function<void(int64_t)> call;               // so many calls, one after the other
  std::function<void(std::vector<double>&)> sums;  // adds the checksum of the last call's results
};

struct Workload {
  std::string name;               // "call/scalar_add"
  std::function<Runner()> build;  // empty: cannot be run, see `note`
  std::string note;
  int steps = 1;  // so many first calls give the checksum
  std::string group() const { return name.substr(0, name.find('/')); }
};

namespace detail {
inline void add_sums(const Tensor& x, std::vector<double>& sums) { add_checksum(x, sums); }
inline void add_sums(const Variable& x, std::vector<double>& sums) { add_checksum(x.read(), sums); }
template <class... T>
void add_sums(const std::tuple<T...>& values, std::vector<double>& sums) {
  std::apply([&](const T&... x) { (add_sums(x, sums), ...); }, values);
}
}  // namespace detail

class Workloads {
 public:
  // build() makes the inputs and returns the call: a lambda that gives a Tensor, a Variable, or a tuple of these.
  //   workloads.add("eager/add", [] { return [x = u({}, 1), y = u({}, 2)] { return x + y; }; });
  template <class Build>
  Workload& add(std::string name, Build build) {
    all_.push_back({std::move(name), [build = std::move(build)] { return runner(build()); }, {}, 1});
    return all_.back();
  }
  void skip(std::string name, std::string reason) { all_.push_back({std::move(name), {}, std::move(reason), 1}); }
  const std::vector<Workload>& all() const { return all_; }

 private:
  // Calls are repeated in here, so that a std::function costs once per sample, not once per call.
  template <class Call>
  static Runner runner(Call call) {
    struct State {
      Call call;
      std::optional<decltype(call())> result;
    };
    auto state = std::make_shared<State>(State{std::move(call), {}});
    return {[state](int64_t times) {
              for (int64_t i = 0; i < times; ++i) state->result.emplace(state->call());
            },
            [state](std::vector<double>& sums) { detail::add_sums(*state->result, sums); }};
  }

  std::vector<Workload> all_;
};

// One function per group of workloads.
void add_call(Workloads& w);
void add_eager(Workloads& w);
void add_fusion(Workloads& w);
void add_matmul(Workloads& w);
void add_conv(Workloads& w);
void add_control(Workloads& w);
void add_model(Workloads& w);
void add_infer(Workloads& w);
void add_compile(Workloads& w);
inline constexpr const char* startup_workloads[] = {"startup/add", "startup/jit"};

struct Options {
  int threads = 1;
  bool quick = false;
};

// A result line, without its head and the braces.
struct Row {
  std::vector<double> ns;  // the samples
  int64_t calls_per_sample = 1;
  double other_cpus = 0;
  int64_t first_ns = 0;
  int64_t peak_rss_mb = 0;
  std::vector<double> checksum;
  std::string note;
};
std::string to_json(const std::string& workload, const Options& options, const Row& row);
std::string skipped_json(const std::string& workload, const Options& options, const std::string& reason);

// Runs a workload in this process; a kiln::Error makes a `skipped` line.
std::string run_workload(const Workload& workload, const Options& options);
// Runs a program which does startup/add or startup/jit and prints 2; in fresh processes, start to exit.
std::string run_startup(const std::string& name, const Options& options);
// What such a process does; gives its exit code.
int startup_main(const std::string& name);

// Memory bandwidth, multiply-adds per second, fork and join: what the machine itself can do.
void print_limits(const Options& options);

int64_t now_ns();  // monotonic

// The processors that other processes use on average from the construction on.
class OtherLoad {
 public:
  OtherLoad();
  double processors() const;

 private:
  double wall_, busy_, own_;  // seconds
};

}  // namespace kiln::bench
