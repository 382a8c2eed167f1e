// The disk cache of compiled executables: one file each in $KILN_CACHE_DIR, else $XDG_CACHE_HOME/kiln, else
// ~/.cache/kiln. Bounded: the files not used for the longest time go first. Damage only costs a new compile.
#pragma once
#include <memory>
#include <string>

#include "runtime/exec/executable.h"

namespace kiln {

class DiskCache {
 public:
  DiskCache();
  // Null if there is none, or a damaged one (which is removed).
  std::shared_ptr<const Executable> load(const std::string& key) const;
  // A failure (no space, no permission) leaves the cache as it was.
  void store(const std::string& key, const Executable& executable) const;

 private:
  std::string path(const std::string& key) const;
  void trim() const;
  std::string folder_;  // empty: there is no cache
};

}  // namespace kiln
