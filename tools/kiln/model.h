// Saved models, as the commands of the `kiln` tool look at them.
#pragma once
#include <string>
#include <vector>

#include "runtime/artifact/model_file.h"

namespace kiln::cli {

// Whether to treat a file as a saved model: by its first bytes, or by its name where it is damaged.
bool is_model(const std::string& path);

// Throws Failure with the reason.
ModelFile open_model(const std::string& path);

// The function of that name; without a name, the only one. Throws Misuse that lists what there is.
const SavedFunction& find_function(const ModelFile& model, const std::string& name);

}  // namespace kiln::cli
