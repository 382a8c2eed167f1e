#include "compiler/lower/ImportGraph.h"

#include "compiler/lower/IrScalar.h"
#include "compiler/lower/OpAccess.h"

using namespace mlir;

namespace kiln::compiler {
namespace {

// Constants up to this many elements are written into the IR, so that fusion sees their values.
constexpr int64_t maxInlineElements = 16;

class Importer {
 public:
  Importer(MLIRContext& context, const Graph& graph) : context_(context), graph_(graph), b_(&context) {}

  OwningOpRef<ModuleOp> run() {
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context_));
    if (graph_.dims.size()) (*module)->setAttr("kiln.dim_table", dimTableAttr(&context_, graph_.dims));
    SmallVector<Type> inputs, outputs;
    for (const GraphInput& i : graph_.inputs) inputs.push_back(typeOf(i.value));
    for (const GraphOutput& o : graph_.outputs) outputs.push_back(typeOf(o.value));
    b_.setInsertionPointToEnd(module->getBody());
    auto f = func::FuncOp::create(b_, UnknownLoc::get(&context_), graph_.name, b_.getFunctionType(inputs, outputs));
    for (auto [i, input] : llvm::enumerate(graph_.inputs)) {
      f.setArgAttr(i, "kiln.name", b_.getStringAttr(input.name));
      if (input.is_variable) f.setArgAttr(i, "kiln.variable", b_.getUnitAttr());
      const Shape& shape = graph_.values[input.value].shape;
      if (!shape.known()) f.setArgAttr(i, "kiln.dims", b_.getDenseI64ArrayAttr(rawDims(shape)));
    }
    for (auto [i, output] : llvm::enumerate(graph_.outputs))
      if (output.updates >= 0) f.setResultAttr(i, "kiln.updates", b_.getI64IntegerAttr(output.updates));
    Block* block = f.addEntryBlock();
    for (auto [i, input] : llvm::enumerate(graph_.inputs)) values_[input.value] = block->getArgument(i);
    b_.setInsertionPointToEnd(block);
    for (const Node& node : graph_.body.nodes) import(node);
    SmallVector<Value> results;
    for (const GraphOutput& o : graph_.outputs) results.push_back(values_.at(o.value));
    func::ReturnOp::create(b_, f.getLoc(), results);
    return module;
  }

 private:
  Type typeOf(ValueId id) { return tensorTypeOf(&context_, graph_.values[id]); }

  void import(const Node& node) {
    const OpInfo& op = info(node.op);
    mlir::Location loc = UnknownLoc::get(&context_);
    if (*node.location.file) loc = FileLineColLoc::get(&context_, node.location.file, node.location.line, 0);
    OperationState state(loc, ("kiln." + std::string(op.name)));
    SmallVector<Shape> shapes;
    for (ValueId v : node.operands) state.addOperands(values_.at(v));
    for (ValueId v : node.results) {
      state.addTypes(typeOf(v));
      shapes.push_back(graph_.values[v].shape);
    }
    for (size_t i = 0; i < node.attributes.size(); ++i)
      state.attributes.push_back(toNamedAttribute(b_, op.attributes[i].name, node.attributes[i]));
    for (size_t i = 0; i < node.regions.size(); ++i) state.addRegion();
    Operation* made = b_.create(state);
    setResultShapes(made, shapes);
    if (node.op == OpId::constant) inlineSmallConstant(made, graph_.constants[std::get<int64_t>(node.attributes[0])]);
    for (auto [i, v] : llvm::enumerate(node.results)) values_[v] = made->getResult(i);
    for (auto [i, region] : llvm::enumerate(node.regions)) importRegion(region, made->getRegion(i), loc);
  }

  void importRegion(const kiln::Region& region, mlir::Region& into, mlir::Location loc) {
    OpBuilder::InsertionGuard guard(b_);
    Block* block = b_.createBlock(&into);
    for (ValueId v : region.arguments) values_[v] = block->addArgument(typeOf(v), loc);
    for (const Node& node : region.nodes) import(node);
    SmallVector<Value> results;
    for (ValueId v : region.results) results.push_back(values_.at(v));
    ir::YieldOp::create(b_, loc, results);
  }

  void inlineSmallConstant(Operation* op, const Constant& constant) {
    int64_t n = constant.type.shape.size();
    if (n > maxInlineElements || n == 0) return;
    Type element = tensorElementType(&context_, constant.type.dtype);
    auto type = RankedTensorType::get(rawDims(constant.type.shape), element);
    const char* data = reinterpret_cast<const char*>(constant.data->data());
    if (constant.type.dtype == DType::bool_) {
      SmallVector<bool> bits;
      for (int64_t i = 0; i < n; ++i) bits.push_back(data[i] != 0);
      op->setAttr("value", DenseElementsAttr::get(type, bits));
      return;
    }
    op->setAttr("value",
                DenseElementsAttr::getFromRawBuffer(type, ArrayRef<char>(data, n * size_of(constant.type.dtype))));
  }

  MLIRContext& context_;
  const Graph& graph_;
  OpBuilder b_;
  llvm::DenseMap<ValueId, Value> values_;
};

}  // namespace

OwningOpRef<ModuleOp> importGraph(MLIRContext& context, const Graph& graph) { return Importer(context, graph).run(); }

}  // namespace kiln::compiler
