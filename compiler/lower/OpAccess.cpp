#include "compiler/lower/OpAccess.h"

#include "compiler/lower/IrScalar.h"

using namespace mlir;

namespace kiln::compiler {

std::optional<OpId> opIdOf(Operation* op) {
  StringRef name = op->getName().getStringRef();
  if (!name.consume_front("kiln.")) return std::nullopt;
  return find_op(std::string_view(name.data(), name.size()));
}

namespace {

kiln::Attribute fromMlir(mlir::Attribute a, AttributeKind kind) {
  auto ints = [&] { return llvm::cast<DenseI64ArrayAttr>(a).asArrayRef(); };
  switch (kind) {
    case AttributeKind::boolean:
      return llvm::cast<BoolAttr>(a).getValue();
    case AttributeKind::integer:
      return llvm::cast<IntegerAttr>(a).getInt();
    case AttributeKind::floating:
      return llvm::cast<FloatAttr>(a).getValueAsDouble();
    case AttributeKind::dtype:
      return dtypeOf(llvm::cast<TypeAttr>(a).getValue());
    case AttributeKind::string:
      return llvm::cast<StringAttr>(a).getValue().str();
    case AttributeKind::ints:
      return std::vector<int64_t>(ints().begin(), ints().end());
    case AttributeKind::dims:
      return shapeFromRaw(ints());
  }
  return false;
}

}  // namespace

std::vector<kiln::Attribute> attributesOf(Operation* op) {
  std::vector<kiln::Attribute> result;
  for (const AttributeInfo& a : info(*opIdOf(op)).attributes) {
    mlir::Attribute value = op->getAttr(StringRef(a.name.data(), a.name.size()));
    assert(value && "the importer sets every attribute");
    result.push_back(fromMlir(value, a.kind));
  }
  return result;
}

NamedAttribute toNamedAttribute(OpBuilder& b, std::string_view name, const kiln::Attribute& attribute) {
  mlir::Attribute value = std::visit(
      [&](const auto& v) -> mlir::Attribute {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, bool>)
          return b.getBoolAttr(v);
        else if constexpr (std::is_same_v<T, int64_t>)
          return b.getI64IntegerAttr(v);
        else if constexpr (std::is_same_v<T, double>)
          return b.getF64FloatAttr(v);
        else if constexpr (std::is_same_v<T, DType>)
          return TypeAttr::get(tensorElementType(b.getContext(), v));
        else if constexpr (std::is_same_v<T, std::string>)
          return b.getStringAttr(v);
        else if constexpr (std::is_same_v<T, std::vector<int64_t>>)
          return b.getDenseI64ArrayAttr(v);
        else
          return b.getDenseI64ArrayAttr(rawDims(v));
      },
      attribute);
  return b.getNamedAttr(StringRef(name.data(), name.size()), value);
}

SmallVector<int64_t> rawDims(const Shape& shape) {
  SmallVector<int64_t> raw;
  for (Dim d : shape) raw.push_back(d.raw());
  return raw;
}

Shape shapeFromRaw(ArrayRef<int64_t> raw) {
  Shape shape;
  for (int64_t r : raw) shape.push_back(Dim::from_raw(r));
  return shape;
}

Shape shapeOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.hasStaticShape()) return shapeFromRaw(type.getShape());
  if (auto result = dyn_cast<OpResult>(value)) {
    auto dims = result.getOwner()->getAttrOfType<ArrayAttr>("dims");
    return shapeFromRaw(cast<DenseI64ArrayAttr>(dims[result.getResultNumber()]).asArrayRef());
  }
  auto argument = cast<BlockArgument>(value);
  Operation* parent = argument.getOwner()->getParentOp();
  if (auto f = dyn_cast<func::FuncOp>(parent))
    return shapeFromRaw(f.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(), "kiln.dims").asArrayRef());
  if (isa<ir::FusionOp>(parent)) return shapeOf(parent->getOperand(argument.getArgNumber()));
  return shapeOf(parent->getResult(argument.getArgNumber()));  // a loop's carried values keep their shapes
}

TensorType typeOf(Value value) {
  return {dtypeOf(cast<RankedTensorType>(value.getType()).getElementType()), shapeOf(value)};
}

RankedTensorType tensorTypeOf(MLIRContext* context, const TensorType& type) {
  SmallVector<int64_t> dims;
  for (Dim d : type.shape) dims.push_back(d.known() ? d.size() : ShapedType::kDynamic);
  return RankedTensorType::get(dims, tensorElementType(context, type.dtype));
}

void setResultShapes(Operation* op, ArrayRef<Shape> shapes) {
  if (llvm::all_of(shapes, [](const Shape& s) { return s.known(); })) return;
  Builder b(op->getContext());
  SmallVector<mlir::Attribute> dims;
  for (const Shape& s : shapes) dims.push_back(b.getDenseI64ArrayAttr(rawDims(s)));
  op->setAttr("dims", b.getArrayAttr(dims));
}

mlir::Attribute dimTableAttr(MLIRContext* context, const DimTable& table) {
  Builder b(context);
  SmallVector<mlir::Attribute> rows;
  for (const DimExpr& e : table.exprs())
    rows.push_back(
        b.getArrayAttr({b.getStringAttr(e.name), b.getDenseI64ArrayAttr({int64_t(e.op), e.a.raw(), e.b.raw()})}));
  return b.getArrayAttr(rows);
}

DimTable dimTableOf(ModuleOp module) {
  DimTable table;
  auto rows = module->getAttrOfType<ArrayAttr>("kiln.dim_table");
  if (!rows) return table;
  for (mlir::Attribute row : rows) {
    auto pair = cast<ArrayAttr>(row);
    auto v = cast<DenseI64ArrayAttr>(pair[1]).asArrayRef();
    table.exprs().push_back({static_cast<DimOp>(v[0]), Dim::from_raw(v[1]), Dim::from_raw(v[2]),
                             cast<StringAttr>(pair[0]).getValue().str()});
  }
  return table;
}

bool isKernel(func::FuncOp f) { return f.isPrivate(); }

func::FuncOp mainFunction(ModuleOp module) {
  for (auto f : module.getOps<func::FuncOp>())
    if (!isKernel(f)) return f;
  return {};
}

}  // namespace kiln::compiler
