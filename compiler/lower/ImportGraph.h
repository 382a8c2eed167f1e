#pragma once
#include "compiler/api/graph.h"
#include "compiler/pch.h"

namespace kiln::compiler {

// A trace as a kiln dialect module, op by op, with the user's locations.
mlir::OwningOpRef<mlir::ModuleOp> importGraph(mlir::MLIRContext& context, const Graph& graph);

}  // namespace kiln::compiler
