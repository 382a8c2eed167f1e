// Writes .kiln files.
#pragma once
#include <string>

#include "runtime/artifact/model_file.h"

namespace kiln {

// Saves a model so that `path` holds, at any time and after any failure, either the whole old or the whole new file:
// written beside it, synced, then renamed. resource_exhausted: no space; not_found: no such folder.
//   Status s = save_model("model.kiln", model);
Status save_model(const std::string& path, const ModelFile& model);

// The same bytes in memory.
Result<std::string> serialize_model(const ModelFile& model);

// One Executable by itself, as the compiler's disk cache keeps it. Read back with deserialize_executable.
std::string serialize_executable(const Executable& executable);

// Replaces the file `path` by `bytes` as save_model does; for cache entries.
Status write_file_atomically(const std::string& path, std::string_view bytes);

}  // namespace kiln
