// The outputs of kiln-tblgen; each writes one file to `out`.
#pragma once
#include <string>
#include <vector>

#include "llvm/Support/raw_ostream.h"
#include "tools/kiln-tblgen/op_record.h"

namespace kiln::tblgen {

using Records = std::vector<OpRecord>;

void emit_op_id(const Records& ops, llvm::raw_ostream& out);
void emit_public_header(const Records& ops, llvm::raw_ostream& out);
void emit_public_source(const Records& ops, llvm::raw_ostream& out);
void emit_shape_rules(const Records& ops, llvm::raw_ostream& out);
void emit_gradients(const Records& ops, llvm::raw_ostream& out);
void emit_scalar_bodies(const Records& ops, llvm::raw_ostream& out);
void emit_library_calls(const Records& ops, llvm::raw_ostream& out);
void emit_test_rows(const Records& ops, llvm::raw_ostream& out);
void emit_test_calls(const Records& ops, llvm::raw_ostream& out);
// The index page to `out`, one page per op into `folder`; false (with a message) if a page cannot be written.
bool emit_docs(const Records& ops, const std::string& folder, llvm::raw_ostream& out);

}  // namespace kiln::tblgen
