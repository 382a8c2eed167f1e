// The result lines.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tools/kiln-bench/bench.h"

namespace kiln::bench {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + '"';
}

std::string number(const char* format, double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string head(const std::string& workload, const Options& options) {
  return "{\"workload\": " + quoted(workload) +
         ", \"peer\": \"kiln\", \"version\": \"" KILN_VERSION "\", \"threads\": " + std::to_string(options.threads);
}

}  // namespace

std::string to_json(const std::string& workload, const Options& options, const Row& row) {
  std::vector<double> ns = row.ns;
  std::sort(ns.begin(), ns.end());
  auto at = [&](double q) {
    return number("%.1f", ns[std::min(ns.size() - 1, static_cast<size_t>(q * static_cast<double>(ns.size())))]);
  };
  std::string checksum;
  for (double v : row.checksum) checksum += (checksum.empty() ? "" : ", ") + number("%.7g", v);
  return head(workload, options) + ", \"median_ns\": " + at(0.5) + ", \"p10_ns\": " + at(0.1) +
         ", \"p90_ns\": " + at(0.9) + ", \"samples\": " + std::to_string(ns.size()) +
         ", \"calls_per_sample\": " + std::to_string(row.calls_per_sample) +
         ", \"other_cpus\": " + number("%.2f", row.other_cpus) +
         ", \"first_call_ms\": " + number("%.3f", 1e-6 * static_cast<double>(row.first_ns)) +
         ", \"peak_rss_mb\": " + std::to_string(row.peak_rss_mb) + ", \"checksum\": [" + checksum +
         "], \"note\": " + quoted(row.note) + "}";
}

std::string skipped_json(const std::string& workload, const Options& options, const std::string& reason) {
  return head(workload, options) + ", \"skipped\": " + quoted(reason.substr(0, 300)) + ", \"note\": \"\"}";
}

}  // namespace kiln::bench
