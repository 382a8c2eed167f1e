// Kernels with the same structure become one: names and locations do not count. A network repeats its layers, so most
// of its kernels are equal, and code generation is the costliest stage.
#include "compiler/lower/OpAccess.h"
#include "compiler/transforms/Passes.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;

namespace kiln::compiler {
namespace {

struct DeduplicateKernelsPass : PassWrapper<DeduplicateKernelsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DeduplicateKernelsPass)
  StringRef getArgument() const override { return "kiln-deduplicate-kernels"; }
  StringRef getDescription() const override { return "Equal kernels become one"; }
  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::map<std::string, func::FuncOp> unique;
    llvm::StringMap<StringAttr> replacement;
    for (auto f : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (!isKernel(f)) continue;
      StringAttr name = f.getNameAttr();
      f.setName("kernel");
      std::string text;
      llvm::raw_string_ostream stream(text);
      f->print(stream, OpPrintingFlags().useLocalScope().printGenericOpForm());
      auto [it, inserted] = unique.try_emplace(text, f);
      if (inserted) {
        f.setName(name);
      } else {
        replacement[name] = it->second.getNameAttr();
        f.erase();
      }
    }
    mainFunction(module).walk([&](ir::LaunchOp op) {
      auto it = replacement.find(op.getKernel());
      if (it != replacement.end()) op.setKernelAttr(FlatSymbolRefAttr::get(it->second));
    });
  }
};

}  // namespace

std::unique_ptr<Pass> createDeduplicateKernelsPass() { return std::make_unique<DeduplicateKernelsPass>(); }

}  // namespace kiln::compiler
