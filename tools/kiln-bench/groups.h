// Measured processes: one per group of workloads, pinned to the processors it may use.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "tools/kiln-bench/bench.h"

namespace kiln::bench {

// In a child: what every measured process has set. Threads, processors, an empty disk cache.
void prepare_measured(int threads, const std::string& cache_folder);

// Runs workloads of one group in a fresh process and gives their lines; after a crash it goes on with the next one.
void run_group(const std::vector<std::string>& names, const Options& options,
               const std::function<void(const std::string&)>& emit);

}  // namespace kiln::bench
