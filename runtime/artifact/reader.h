// Reads .kiln files. Files are not trusted: each length is checked before it is used and each byte is covered by a
// checksum. (The checksum finds damage; machine code in a file is as trusted as a shared library.)
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "runtime/artifact/model_file.h"

namespace kiln {

// not_found: no such file. data_loss: damaged or cut short. unimplemented: made by a newer Kiln.
//   Result<ModelFile> model = load_model("model.kiln");
Result<ModelFile> load_model(const std::string& path);

// From bytes made by serialize_model.
Result<ModelFile> deserialize_model(std::string_view bytes);

// From bytes made by serialize_executable.
Result<std::shared_ptr<const Executable>> deserialize_executable(std::string_view bytes);

}  // namespace kiln
