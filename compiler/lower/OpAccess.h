// Between kiln ops in MLIR and the records' tables: ids, attributes, shapes with unknown dims.
#pragma once
#include "compiler/api/graph.h"
#include "compiler/pch.h"

namespace kiln::compiler {

std::optional<OpId> opIdOf(mlir::Operation* op);
// The record's attributes in order.
std::vector<Attribute> attributesOf(mlir::Operation* op);
mlir::NamedAttribute toNamedAttribute(mlir::OpBuilder& b, std::string_view name, const Attribute& attribute);

// Unknown dims travel as raw Dims in the op attribute `dims` (one array a result), absent where all dims are known;
// function arguments have `kiln.dims`. Region arguments of control ops have the shapes of the op's operands or results.
Shape shapeOf(mlir::Value value);
TensorType typeOf(mlir::Value value);
mlir::RankedTensorType tensorTypeOf(mlir::MLIRContext* context, const TensorType& type);
void setResultShapes(mlir::Operation* op, llvm::ArrayRef<Shape> shapes);

llvm::SmallVector<int64_t> rawDims(const Shape& shape);
Shape shapeFromRaw(llvm::ArrayRef<int64_t> raw);

// The module's table of unknown dims, kept as the attribute `kiln.dim_table`.
mlir::Attribute dimTableAttr(mlir::MLIRContext* context, const DimTable& table);
DimTable dimTableOf(mlir::ModuleOp module);

// The one function that is not a kernel.
mlir::func::FuncOp mainFunction(mlir::ModuleOp module);
bool isKernel(mlir::func::FuncOp f);

}  // namespace kiln::compiler
