#pragma once
#include "compiler/api/graph.h"
#include "compiler/pch.h"
#include "runtime/base/status.h"
#include "runtime/exec/executable.h"

namespace kiln::compiler {

// The module at stage `kernels` as buffers and steps, without code. `constants` are the trace's.
Result<Executable> buildExecutable(mlir::ModuleOp module, llvm::ArrayRef<Constant> constants);

}  // namespace kiln::compiler
