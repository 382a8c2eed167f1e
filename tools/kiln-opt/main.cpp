// mlir-opt with the kiln dialect and passes, for lit tests and for looking at one pass.
#include "compiler/codegen/cpu/CpuCodegen.h"
#include "compiler/pipeline/Pipeline.h"
#include "compiler/transforms/Passes.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char** argv) {
  mlir::DialectRegistry registry;
  kiln::compiler::registerDialects(registry);
  kiln::compiler::registerKilnPasses();
  mlir::registerCSEPass();
  mlir::registerCanonicalizerPass();
  // --kiln-to-<stage>: all passes up to a stage, as the compiler runs them.
  for (size_t i = 0; i < std::size(kiln::stage_table); ++i) {
    std::string name = "kiln-to-" + std::string(kiln::stage_table[i].name), text(kiln::stage_table[i].summary);
    mlir::registerPassPipeline(
        name, text,
        [i](mlir::OpPassManager& passes, llvm::StringRef, llvm::function_ref<mlir::LogicalResult(const llvm::Twine&)>) {
          for (size_t s = 0; s <= i; ++s)
            kiln::compiler::addStagePasses(passes, kiln::Stage(s), kiln::compiler::hostTarget());
          return mlir::success();
        },
        [](llvm::function_ref<void(const mlir::detail::PassOptions&)>) {});
  }
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "kiln-opt\n", registry));
}
