#include "compiler/cache/disk_cache.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "runtime/artifact/reader.h"
#include "runtime/artifact/writer.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;
constexpr uintmax_t max_bytes = 256u << 20;
constexpr const char* extension = ".kilncode";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

DiskCache::DiskCache() {
  if (std::string d = environment("KILN_CACHE_DIR"); !d.empty())
    folder_ = d;
  else if (std::string x = environment("XDG_CACHE_HOME"); !x.empty())
    folder_ = x + "/kiln";
  else if (std::string h = environment("HOME"); !h.empty())
    folder_ = h + "/.cache/kiln";
}

std::string DiskCache::path(const std::string& key) const { return folder_ + "/" + key + extension; }

std::shared_ptr<const Executable> DiskCache::load(const std::string& key) const {
  if (folder_.empty()) return nullptr;
  std::ifstream file(path(key), std::ios::binary);
  if (!file) return nullptr;
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::error_code ignored;
  Result<std::shared_ptr<const Executable>> executable = deserialize_executable(bytes);
  if (!executable.ok()) {
    fs::remove(path(key), ignored);
    return nullptr;
  }
  fs::last_write_time(path(key), fs::file_time_type::clock::now(), ignored);  // used now
  return std::move(executable).value();
}

void DiskCache::store(const std::string& key, const Executable& executable) const {
  if (folder_.empty()) return;
  std::error_code ignored;
  fs::create_directories(folder_, ignored);
  const std::string bytes = serialize_executable(executable);
  if (!write_file_atomically(path(key), bytes).ok()) return;
  // The whole folder is looked through once by each process, then after each sixteenth of the limit that it adds.
  static std::atomic<uintmax_t> added{max_bytes};
  if ((added += bytes.size()) < max_bytes / 16) return;
  added = 0;
  trim();
}

void DiskCache::trim() const {
  struct Entry {
    fs::path path;
    uintmax_t bytes;
    fs::file_time_type used;
  };
  std::vector<Entry> entries;
  uintmax_t total = 0;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() != extension) continue;
    std::error_code gone;  // another process may remove it
    const uintmax_t bytes = it->file_size(gone);
    const fs::file_time_type used = it->last_write_time(gone);
    if (gone) continue;
    entries.push_back({it->path(), bytes, used});
    total += bytes;
  }
  if (total <= max_bytes) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= max_bytes / 4 * 3) break;
    fs::remove(entry.path, error);
    total -= entry.bytes;
  }
}

}  // namespace kiln
