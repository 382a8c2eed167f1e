// The compiler's passes, one per file, in the order of the pipeline (compiler/pipeline/Pipeline.cpp).
#pragma once
#include <memory>

#include "compiler/pch.h"

namespace kiln::compiler {

// kiln: reductions over separate runs of dims become one for each run.
std::unique_ptr<mlir::Pass> createNormalizeReductionsPass();
// kiln -> fused: groups ops into kiln.fusion.
std::unique_ptr<mlir::Pass> createFormFusionsPass();
// fused -> linalg: outlines each fusion as a function of linalg ops over collapsed dims.
std::unique_ptr<mlir::Pass> createFusionToLinalgPass();
// linalg -> loops: each kernel as loops over vectors with Kiln's calling convention.
std::unique_ptr<mlir::Pass> createLinalgToLoopsPass(int vectorBytes);
// Within loops: math.exp and the like become the polynomials of dialects/kiln/math.
std::unique_ptr<mlir::Pass> createExpandMathPass();
// loops -> kernels: equal kernels become one.
std::unique_ptr<mlir::Pass> createDeduplicateKernelsPass();
// kernels -> llvm: one conversion of all that is left.
std::unique_ptr<mlir::Pass> createKernelsToLLVMPass();

// Registers all of the above for kiln-opt.
void registerKilnPasses();

}  // namespace kiln::compiler
