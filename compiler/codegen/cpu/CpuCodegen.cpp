#include "compiler/codegen/cpu/CpuCodegen.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "runtime/base/cpu.h"

namespace kiln::compiler {
namespace {

// Kernels are vectors already: no loop vectoriser, no inliner, none of the passes that look for what cannot be there.
constexpr const char* optimizations =
    "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,loop-mssa(licm),simplifycfg,instcombine<no-"
    "verify-fixpoint>)";

std::unique_ptr<llvm::TargetMachine> makeMachine(llvm::StringRef target, std::string& error) {
  static const bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!found) return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // a*b+c is two roundings unless the IR says fma
  return std::unique_ptr<llvm::TargetMachine>(found->createTargetMachine(
      triple, target, "", options, llvm::Reloc::PIC_, llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}

}  // namespace

int vectorBytesOf(llvm::StringRef target) { return target == "x86-64-v4" ? 64 : 32; }

std::string hostTarget() { return std::string(name_of(cpu_target())); }

Result<std::string> generateCode(mlir::ModuleOp module, llvm::StringRef target, CodeKind kind) {
  llvm::LLVMContext context;
  auto ir = mlir::translateModuleToLLVMIR(module, context, "kiln");
  if (!ir) return Status(Code::internal, "the kernels could not be translated to LLVM IR");
  std::string error;
  auto machine = makeMachine(target, error);
  if (!machine) return Status(Code::internal, "no code generator for " + target.str() + ": " + error);
  ir->setDataLayout(machine->createDataLayout());
  ir->setTargetTriple(machine->getTargetTriple());
  for (llvm::Function& f : *ir) {
    if (f.isDeclaration()) continue;
    f.addFnAttr(llvm::Attribute::NoUnwind);
    f.addFnAttr("target-cpu", target);
    f.addFnAttr("prefer-vector-width", target == "x86-64-v4" ? "512" : "256");
    f.addFnAttr("no-builtins");
  }
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(machine.get());
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  llvm::ModulePassManager passes;
  if (auto e = builder.parsePassPipeline(passes, optimizations)) {
    return Status(Code::internal, "LLVM passes: " + llvm::toString(std::move(e)));
  }
  passes.run(*ir, modules);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager emit;
  auto type = kind == CodeKind::object ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile;
  if (machine->addPassesToEmitFile(emit, stream, nullptr, type, /*DisableVerify=*/true))
    return Status(Code::internal, "this target cannot emit code");
  emit.run(*ir);
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace kiln::compiler
