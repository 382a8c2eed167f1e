#include "compiler/lower/ScalarLowering.h"

#include "compiler/lower/IrScalar.h"
#include "compiler/lower/OpAccess.h"
#include "compiler/lower/ScalarBodies.h"

using namespace mlir;

namespace kiln::compiler {
namespace {

class Emitter {
 public:
  explicit Emitter(OpBuilder& b) : b_(b) {}

  llvm::DenseMap<Value, Value> values;

  void block(Block& block) {
    for (Operation& op : block.without_terminator()) emit(&op);
  }
  SmallVector<Value> yielded(Block& block) {
    SmallVector<Value> result;
    for (Value v : block.getTerminator()->getOperands()) result.push_back(values.lookup(v));
    return result;
  }

 private:
  Type scalarType(Value v) { return elementTypeOf(b_.getContext(), typeOf(v).dtype); }

  void emit(Operation* op) {
    OpId id = *opIdOf(op);
    if (op->hasAttr("value")) {
      auto splat = cast<DenseElementsAttr>(op->getAttr("value"));
      values[op->getResult(0)] = splatNumber(b_, op->getLoc(), splat, typeOf(op->getResult(0)).dtype).v;
    } else if (info(id).kind == OpKind::view) {
      values[op->getResult(0)] = values.lookup(op->getOperand(0));
    } else if (id == OpId::cond) {
      emitCond(op);
    } else if (id == OpId::while_loop) {
      emitWhile(op);
    } else {
      SmallVector<IrScalar> operands;
      for (Value v : op->getOperands()) operands.push_back({&b_, op->getLoc(), values.lookup(v), typeOf(v).dtype});
      IrScalar index{&b_, op->getLoc(), {}, DType::i64};
      values[op->getResult(0)] =
          scalar_body<IrScalar>(id, operands, attributesOf(op), index, typeOf(op->getResult(0)).dtype).v;
    }
  }

  void emitCond(Operation* op) {
    SmallVector<Type> types;
    for (Value v : op->getResults()) types.push_back(scalarType(v));
    auto branch = scf::IfOp::create(b_, op->getLoc(), types, values.lookup(op->getOperand(0)), true);
    for (int side = 0; side < 2; ++side) {
      OpBuilder::InsertionGuard guard(b_);
      Block* into = side == 0 ? branch.thenBlock() : branch.elseBlock();
      if (!into->empty() && into->back().hasTrait<OpTrait::IsTerminator>()) into->back().erase();
      b_.setInsertionPointToEnd(into);
      block(op->getRegion(side).front());
      scf::YieldOp::create(b_, op->getLoc(), yielded(op->getRegion(side).front()));
    }
    for (auto [from, to] : llvm::zip(op->getResults(), branch.getResults())) values[from] = to;
  }

  void emitWhile(Operation* op) {
    SmallVector<Type> types;
    SmallVector<Value> init;
    SmallVector<mlir::Location> locs(op->getNumResults(), op->getLoc());
    for (Value v : op->getResults()) types.push_back(scalarType(v));
    for (Value v : op->getOperands()) init.push_back(values.lookup(v));
    auto loop = scf::WhileOp::create(b_, op->getLoc(), types, init);
    OpBuilder::InsertionGuard guard(b_);
    Block &condition = op->getRegion(0).front(), &body = op->getRegion(1).front();
    Block* before = b_.createBlock(&loop.getBefore(), {}, types, locs);
    for (auto [from, to] : llvm::zip(condition.getArguments(), before->getArguments())) values[from] = to;
    block(condition);
    scf::ConditionOp::create(b_, op->getLoc(), yielded(condition)[0], before->getArguments());
    Block* after = b_.createBlock(&loop.getAfter(), {}, types, locs);
    for (auto [from, to] : llvm::zip(body.getArguments(), after->getArguments())) values[from] = to;
    block(body);
    scf::YieldOp::create(b_, op->getLoc(), yielded(body));
    for (auto [from, to] : llvm::zip(op->getResults(), loop.getResults())) values[from] = to;
  }

  OpBuilder& b_;
};

}  // namespace

void lowerScalarFusion(ir::FusionOp fusion, ModuleOp module, const std::string& name) {
  MLIRContext* context = module.getContext();
  auto scalarTensor = [&](Value v) { return RankedTensorType::get({}, elementTypeOf(context, typeOf(v).dtype)); };
  SmallVector<Type> inputs, outputs;
  for (Value v : fusion.getInputs()) inputs.push_back(scalarTensor(v));
  for (Value v : fusion.getOutputs()) outputs.push_back(scalarTensor(v));
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto f = func::FuncOp::create(b, fusion.getLoc(), name, b.getFunctionType(inputs, outputs));
  f.setPrivate();
  f->setAttr("schedule", fusion.getScheduleAttr());
  b.setInsertionPointToStart(f.addEntryBlock());
  Block& body = fusion.getBody().front();
  Emitter emitter(b);
  for (auto [from, to] : llvm::zip(body.getArguments(), f.getArguments()))
    emitter.values[from] = tensor::ExtractOp::create(b, fusion.getLoc(), to, ValueRange{});
  emitter.block(body);
  SmallVector<Value> results;
  for (auto [v, type] : llvm::zip(emitter.yielded(body), outputs))
    results.push_back(tensor::FromElementsOp::create(b, fusion.getLoc(), type, v));
  func::ReturnOp::create(b, fusion.getLoc(), results);

  b.setInsertionPoint(fusion);
  auto launch = ir::LaunchOp::create(b, fusion.getLoc(), fusion.getResultTypes(), fusion.getInputs(),
                                     FlatSymbolRefAttr::get(context, name), b.getDenseI64ArrayAttr({}),
                                     b.getI64IntegerAttr(1), b.getI64IntegerAttr(1000), b.getDenseI64ArrayAttr({}));
  fusion.replaceAllUsesWith(launch.getResults());
  fusion.erase();
}

void scalarKernelToLoops(func::FuncOp f) {
  MLIRContext* context = f.getContext();
  mlir::Location loc = f.getLoc();
  OpBuilder b(f);
  Type pointer = LLVM::LLVMPointerType::get(context), i64 = b.getI64Type(), i8 = b.getI8Type();
  auto made = func::FuncOp::create(b, loc, (f.getName() + "_loops").str(),
                                   b.getFunctionType({pointer, pointer, i64, i64, pointer}, {b.getI32Type()}));
  made.setPrivate();
  Block* entry = made.addEntryBlock();
  b.setInsertionPointToStart(entry);
  int next = 0;
  auto buffer = [&] {
    Value at = LLVM::GEPOp::create(b, loc, pointer, pointer, entry->getArgument(0), ArrayRef<LLVM::GEPArg>{next++});
    return Value(LLVM::LoadOp::create(b, loc, pointer, at));
  };
  IRMapping map;
  llvm::DenseMap<Value, Value> pointers;
  for (BlockArgument a : f.getArguments()) pointers[a] = buffer();
  for (Operation& op : f.getBody().front()) {
    if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
      Type t = extract.getType();
      Value v = LLVM::LoadOp::create(b, loc, t.isInteger(1) ? i8 : t, pointers[extract.getTensor()]);
      if (t.isInteger(1)) {
        Value zero = arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(0));
        v = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, v, zero);
      }
      map.map(extract.getResult(), v);
    } else if (isa<func::ReturnOp>(op)) {
      for (Value v : op.getOperands()) {
        Value scalar = map.lookup(v.getDefiningOp<tensor::FromElementsOp>().getElements()[0]);
        if (scalar.getType().isInteger(1)) scalar = arith::ExtUIOp::create(b, loc, i8, scalar);
        LLVM::StoreOp::create(b, loc, scalar, buffer());
      }
    } else if (!isa<tensor::FromElementsOp>(op)) {
      b.clone(op, map);
    }
  }
  Value ok = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
  func::ReturnOp::create(b, loc, ok);
  std::string name = f.getName().str();
  f.erase();
  made.setName(name);
}

}  // namespace kiln::compiler
