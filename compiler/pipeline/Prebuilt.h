// The eager kernels that are compiled with Kiln itself (tools/kiln-aot): one for each element-wise op, dtype and
// operand pattern, two for each reduction and dtype. Made by the same pipeline as everything else, so eager = compiled.
#pragma once
#include <string>
#include <vector>

#include "runtime/base/status.h"

namespace kiln::compiler {

struct PrebuiltKernels {
  std::vector<std::string> names;  // "add.f32.vs"; the object's symbols are these with ".<target>" behind
  std::string object;
};
Result<PrebuiltKernels> compilePrebuiltKernels(const std::string& target);

}  // namespace kiln::compiler
