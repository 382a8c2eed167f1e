// Everything left in the kernels becomes the LLVM dialect in one conversion: ten separate ones cost twice the time.
#include "compiler/lower/OpAccess.h"
#include "compiler/transforms/Passes.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace kiln::compiler {
namespace {

struct KernelsToLLVMPass : PassWrapper<KernelsToLLVMPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KernelsToLLVMPass)
  StringRef getArgument() const override { return "kiln-kernels-to-llvm"; }
  StringRef getDescription() const override { return "Kernels in the LLVM dialect; drops the main function"; }
  void getDependentDialects(DialectRegistry& registry) const override {
    registry.insert<LLVM::LLVMDialect, cf::ControlFlowDialect>();
  }
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (auto f = mainFunction(module)) f.erase();
    module->removeAttr("kiln.dim_table");
    for (auto f : module.getOps<func::FuncOp>()) f.setPublic();
    LLVMConversionTarget target(getContext());
    target.addLegalOp<ModuleOp>();
    LLVMTypeConverter types(&getContext());
    RewritePatternSet patterns(&getContext());
    populateSCFToControlFlowConversionPatterns(patterns);
    arith::populateArithToLLVMConversionPatterns(types, patterns);
    populateMathToLLVMConversionPatterns(types, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
    populateFuncToLLVMConversionPatterns(types, patterns);
    if (failed(applyFullConversion(module, target, std::move(patterns)))) signalPassFailure();
  }
};

}  // namespace

std::unique_ptr<Pass> createKernelsToLLVMPass() { return std::make_unique<KernelsToLLVMPass>(); }

}  // namespace kiln::compiler
