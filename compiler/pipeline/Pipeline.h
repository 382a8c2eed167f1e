// The one pipeline: a list of stages, each with the passes that lead to it. Compilation, the CLI and kiln-opt use it.
#pragma once
#include "compiler/api/compiler.h"
#include "compiler/pch.h"

namespace kiln::compiler {

// Adds the passes that lead from the stage before to `stage`.
void addStagePasses(mlir::OpPassManager& passes, Stage stage, llvm::StringRef target);

void registerDialects(mlir::DialectRegistry& registry);
// All dialects of the pipeline, with their translations to LLVM IR.
void loadDialects(mlir::MLIRContext& context);

// Takes a module of stage `kiln` (before its passes) to `stage`. Diagnostics become the Status.
Status runPipeline(mlir::ModuleOp module, Stage from, Stage to, const CompileOptions& options,
                   std::vector<StageTime>* times = nullptr);

// The module's text with the user's locations.
std::string printWithLocations(mlir::ModuleOp module);

}  // namespace kiln::compiler
