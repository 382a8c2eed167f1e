// The compiler's façade: a Graph in, an Executable or IR text out. No MLIR type here. The compiler itself
// (libkiln_compiler.so, with LLVM) is opened at the first miss of the disk cache.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/api/graph.h"
#include "runtime/base/status.h"
#include "runtime/exec/executable.h"

namespace kiln {

// The stages of the one pipeline, in order. The CLI, ConcreteFunction::ir and the docs read this list.
#define KILN_FOR_EACH_STAGE(X)                                                            \
  X(kiln, "the traced ops, without duplicates")                                           \
  X(fused, "ops grouped into fusions; the rest are library calls")                        \
  X(linalg, "each fusion as linalg on tensors")                                           \
  X(loops, "each fusion as loops over vectors")                                           \
  X(kernels, "outlined kernels without duplicates, and the list of steps over the arena") \
  X(llvm, "kernels in the LLVM dialect")                                                  \
  X(assembly, "kernels as machine code, disassembled")

enum class Stage : uint8_t {
#define KILN_STAGE(name, text) name,
  KILN_FOR_EACH_STAGE(KILN_STAGE)
#undef KILN_STAGE
};
struct StageInfo {
  std::string_view name, summary;
};
inline constexpr StageInfo stage_table[] = {
#define KILN_STAGE(name, text) {#name, text},
    KILN_FOR_EACH_STAGE(KILN_STAGE)
#undef KILN_STAGE
};

struct CompileOptions {
  std::string target;     // empty: this machine's CPU ("x86-64-v3" or "x86-64-v4")
  bool use_cache = true;  // the disk cache
  bool verify = false;    // run the MLIR verifier after each pass (on in tests: KILN_VERIFY=1)
};

struct StageTime {
  std::string stage;
  double milliseconds;
};

struct CompileResult {
  std::shared_ptr<const Executable> executable;
  bool from_cache = false;
  double milliseconds = 0;
  std::vector<StageTime> times;
};

// Compiles, or takes the result from the disk cache without loading LLVM.
Result<CompileResult> compile(const Graph& graph, const CompileOptions& options = {});

// The IR after a stage, with the user's file:line on each op. Loads the compiler.
Result<std::string> lower_to_text(const Graph& graph, Stage stage, const CompileOptions& options = {});
// The same for IR text that was saved in a .kiln file (Executable::ir).
Result<std::string> lower_to_text(std::string_view kiln_ir, Stage stage, const CompileOptions& options = {});

// What libkiln_compiler.so exports, as one C symbol `kiln_compiler_interface`.
struct CompilerInterface {
  Result<CompileResult> (*compile)(const Graph&, const CompileOptions&);
  Result<std::string> (*lower_graph)(const Graph&, Stage, const CompileOptions&);
  Result<std::string> (*lower_text)(std::string_view, Stage, const CompileOptions&);
};

}  // namespace kiln
