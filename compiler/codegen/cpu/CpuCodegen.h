// Kernels in the LLVM dialect to machine code for one of the CPU targets.
#pragma once
#include <string>

#include "compiler/pch.h"
#include "runtime/base/status.h"

namespace kiln::compiler {

// "x86-64-v3" (AVX2) or "x86-64-v4" (AVX-512).
int vectorBytesOf(llvm::StringRef target);
// What this machine can run.
std::string hostTarget();

enum class CodeKind { object, assembly };
// A relocatable ELF object with the kernels as symbols, or its text. Destroys nothing in `module`.
Result<std::string> generateCode(mlir::ModuleOp module, llvm::StringRef target, CodeKind kind);

}  // namespace kiln::compiler
