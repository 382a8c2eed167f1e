#include "dialects/kiln/ir/KilnDialect.h"

#include "generated/ir/KilnDialect.cpp.inc"

namespace kiln::ir {

void KilnDialect::initialize() { registerKilnDialectOperations(this); }

}  // namespace kiln::ir
