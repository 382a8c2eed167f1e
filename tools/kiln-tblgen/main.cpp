// kiln-tblgen: makes all but the dialect classes from the op records (dialects/kiln/ops).
//   kiln-tblgen -gen-op-id -I . -I <llvm include> dialects/kiln/ops/ops.td -o op_id.h
#include "llvm/TableGen/Main.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/TableGen/Error.h"
#include "llvm/TableGen/Record.h"
#include "llvm/TableGen/TableGenBackend.h"
#include "tools/kiln-tblgen/emitters.h"

namespace {

using namespace kiln::tblgen;

template <void (*emit)(const Records&, llvm::raw_ostream&)>
void run(const llvm::RecordKeeper& keeper, llvm::raw_ostream& out) {
  emit(read_records(keeper), out);
}

llvm::cl::opt<std::string> docs_folder("docs-folder", llvm::cl::desc("Folder of the op pages"), llvm::cl::init("."));

void emit_pages(const Records& ops, llvm::raw_ostream& out) {
  if (!emit_docs(ops, docs_folder, out)) llvm::PrintFatalError("cannot write into " + docs_folder);
}

const llvm::TableGen::Emitter::Opt outputs[] = {
    {"gen-op-id", run<emit_op_id>, "enum OpId and the op table (op_id.h)"},
    {"gen-public-header", run<emit_public_header>, "public functions and options structs (ops.h)"},
    {"gen-public-source", run<emit_public_source>, "their bodies (ops.cpp.inc)"},
    {"gen-shape-rules", run<emit_shape_rules>, "operand checks and result types (shape_rules.cpp.inc)"},
    {"gen-gradients", run<emit_gradients>, "gradient rules (gradients.cpp.inc)"},
    {"gen-scalar-bodies", run<emit_scalar_bodies>, "scalar bodies (scalar_bodies.h.inc)"},
    {"gen-library-calls", run<emit_library_calls>, "calls of library kernels (library_calls.cpp.inc)"},
    {"gen-test-rows", run<emit_test_rows>, "one row per op for the tests (op_rows.inc)"},
    {"gen-test-calls", run<emit_test_calls>, "calls of the public functions for the tests (op_calls.inc)"},
    {"gen-docs", run<emit_pages>, "the index page, and one page per op into -docs-folder"},
};

}  // namespace

int main(int argc, char** argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::cl::ParseCommandLineOptions(argc, argv, "Kiln's op record generator\n");
  return llvm::TableGenMain(argv[0], llvm::MultiFileTableGenMainFn(nullptr));
}
