#include "compiler/pipeline/Pipeline.h"

#include <chrono>

#include "compiler/codegen/cpu/CpuCodegen.h"
#include "compiler/transforms/Passes.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace kiln::compiler {

void addStagePasses(OpPassManager& passes, Stage stage, StringRef target) {
  switch (stage) {
    case Stage::kiln:
      passes.addPass(createCSEPass());
      passes.addPass(createNormalizeReductionsPass());
      break;
    case Stage::fused:
      passes.addPass(createFormFusionsPass());
      break;
    case Stage::linalg:
      passes.addPass(createFusionToLinalgPass());
      break;
    case Stage::loops:
      passes.addPass(createLinalgToLoopsPass(vectorBytesOf(target)));
      passes.addPass(createExpandMathPass());
      passes.addPass(createCSEPass());
      break;
    case Stage::kernels:
      passes.addPass(createDeduplicateKernelsPass());
      break;
    case Stage::llvm:
      passes.addPass(createKernelsToLLVMPass());
      break;
    case Stage::assembly:
      break;  // the code generator's text
  }
}

void registerDialects(DialectRegistry& registry) {
  registry
      .insert<ir::KilnDialect, arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, linalg::LinalgDialect,
              LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect, tensor::TensorDialect>();
}

void loadDialects(MLIRContext& context) {
  DialectRegistry registry;
  registerDialects(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

Status runPipeline(ModuleOp module, Stage from, Stage to, const CompileOptions& options,
                   std::vector<StageTime>* times) {
  std::string messages;
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic& d) {
    if (!messages.empty()) messages += "; ";
    llvm::raw_string_ostream(messages) << d.getLocation() << ": " << d;
    return success();
  });
  for (int s = int(from); s <= int(to); ++s) {
    auto start = std::chrono::steady_clock::now();
    PassManager passes(module.getContext());
    passes.enableVerifier(options.verify);
    addStagePasses(passes, Stage(s), options.target);
    if (failed(passes.run(module))) {
      return Status(Code::internal, "stage " + std::string(stage_table[s].name) + " failed: " + messages);
    }
    if (times)
      times->push_back({std::string(stage_table[s].name),
                        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count()});
  }
  return {};
}

std::string printWithLocations(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, OpPrintingFlags().enableDebugInfo(true, false).useLocalScope());
  text += '\n';
  return text;
}

}  // namespace kiln::compiler
