// The kiln dialect: ops as the user wrote them on ranked tensors, with what the compiler needs to know of their shapes.
#pragma once
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "generated/ir/KilnDialect.h.inc"

namespace kiln::ir {
// Defined by the shards of the generated op definitions (KilnOps0.cpp ...), so that all cores compile them.
void registerKilnDialectOperations(KilnDialect* dialect);
void registerKilnDialectOperations0(KilnDialect* dialect);
void registerKilnDialectOperations1(KilnDialect* dialect);
void registerKilnDialectOperations2(KilnDialect* dialect);
void registerKilnDialectOperations3(KilnDialect* dialect);
}  // namespace kiln::ir

#define GET_OP_CLASSES
#include "generated/ir/KilnOps.h.inc"
