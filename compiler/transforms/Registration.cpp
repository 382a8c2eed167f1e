#include "compiler/transforms/Passes.h"

namespace kiln::compiler {

void registerKilnPasses() {
  mlir::registerPass([] { return createNormalizeReductionsPass(); });
  mlir::registerPass([] { return createFormFusionsPass(); });
  mlir::registerPass([] { return createFusionToLinalgPass(); });
  mlir::registerPass([] { return createLinalgToLoopsPass(32); });
  mlir::registerPass([] { return createExpandMathPass(); });
  mlir::registerPass([] { return createDeduplicateKernelsPass(); });
  mlir::registerPass([] { return createKernelsToLLVMPass(); });
}

}  // namespace kiln::compiler
