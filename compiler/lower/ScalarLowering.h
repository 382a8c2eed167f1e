// Loops and branches on scalars: one native kernel, its values in registers.
#pragma once
#include "compiler/pch.h"

namespace kiln::compiler {

// A kiln.fusion of schedule "scalar" as a function of tensor.extract, scf and arith, and a kiln.launch of it.
void lowerScalarFusion(ir::FusionOp fusion, mlir::ModuleOp module, const std::string& name);

// That function with Kiln's calling convention.
void scalarKernelToLoops(mlir::func::FuncOp f);

}  // namespace kiln::compiler
