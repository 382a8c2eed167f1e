// What libkiln_compiler.so exports: see compiler/api/compiler.h.
#include <chrono>

#include "compiler/api/compiler.h"
#include "compiler/codegen/cpu/CpuCodegen.h"
#include "compiler/lower/BuildExecutable.h"
#include "compiler/lower/ImportGraph.h"
#include "compiler/pipeline/Pipeline.h"
#include "mlir/Parser/Parser.h"

namespace kiln::compiler {
namespace {

struct Context {
  Context() : context(mlir::MLIRContext::Threading::DISABLED) { loadDialects(context); }
  mlir::MLIRContext context;
};

CompileOptions withTarget(CompileOptions options) {
  if (options.target.empty()) options.target = hostTarget();
  return options;
}

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

Result<CompileResult> compileGraph(const Graph& graph, const CompileOptions& given) {
  auto start = std::chrono::steady_clock::now();
  CompileOptions options = withTarget(given);
  CompileResult result;
  Context c;
  auto module = importGraph(c.context, graph);
  result.times.push_back({"import", since(start)});
  KILN_RETURN_IF_ERROR(runPipeline(*module, Stage::kiln, Stage::kiln, options, &result.times));
  std::string text = printWithLocations(*module);
  KILN_RETURN_IF_ERROR(runPipeline(*module, Stage::fused, Stage::kernels, options, &result.times));
  KILN_ASSIGN_OR_RETURN(Executable executable, buildExecutable(*module, graph.constants));
  executable.ir = std::move(text);
  executable.target = options.target;
  bool anyKernel = false;
  for (const Step& s : executable.steps) anyKernel |= s.kind != StepKind::library;
  if (anyKernel) {
    KILN_RETURN_IF_ERROR(runPipeline(*module, Stage::llvm, Stage::llvm, options, &result.times));
    auto codeStart = std::chrono::steady_clock::now();
    KILN_ASSIGN_OR_RETURN(std::string object, generateCode(*module, options.target, CodeKind::object));
    executable.code.push_back(std::move(object));
    result.times.push_back({"code", since(codeStart)});
  }
  result.executable = std::make_shared<const Executable>(std::move(executable));
  result.milliseconds = since(start);
  return result;
}

Result<std::string> lower(mlir::ModuleOp module, Stage from, Stage stage, const CompileOptions& options) {
  Stage last = stage == Stage::assembly ? Stage::llvm : stage;
  KILN_RETURN_IF_ERROR(runPipeline(module, from, last, options));
  if (stage == Stage::assembly) return generateCode(module, options.target, CodeKind::assembly);
  return printWithLocations(module);
}

Result<std::string> lowerGraph(const Graph& graph, Stage stage, const CompileOptions& given) {
  Context c;
  auto module = importGraph(c.context, graph);
  return lower(*module, Stage::kiln, stage, withTarget(given));
}

Result<std::string> lowerText(std::string_view text, Stage stage, const CompileOptions& given) {
  Context c;
  std::string messages;
  mlir::ScopedDiagnosticHandler handler(&c.context, [&](mlir::Diagnostic& d) {
    llvm::raw_string_ostream(messages) << d;
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(llvm::StringRef(text.data(), text.size()), &c.context);
  if (!module) return Status(Code::data_loss, "the saved IR does not parse: " + messages);
  return lower(*module, Stage::kiln, stage, withTarget(given));
}

}  // namespace
}  // namespace kiln::compiler

extern "C" __attribute__((visibility("default"))) const kiln::CompilerInterface kiln_compiler_interface = {
    kiln::compiler::compileGraph, kiln::compiler::lowerGraph, kiln::compiler::lowerText};
