// A reduction over dims that are not neighbours becomes one reduction for each run of neighbours, the last run first:
// that order is part of the op's meaning, and eager code does the same.
#include "compiler/lower/OpAccess.h"
#include "compiler/transforms/Passes.h"

using namespace mlir;

namespace kiln::compiler {
namespace {

SmallVector<std::vector<int64_t>> runsOf(std::vector<int64_t> axes) {
  llvm::sort(axes);
  SmallVector<std::vector<int64_t>> runs;
  for (int64_t axis : axes) {
    if (runs.empty() || runs.back().back() + 1 != axis) runs.emplace_back();
    runs.back().push_back(axis);
  }
  return runs;
}

struct NormalizeReductionsPass : PassWrapper<NormalizeReductionsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NormalizeReductionsPass)
  StringRef getArgument() const override { return "kiln-normalize-reductions"; }
  StringRef getDescription() const override { return "Reductions over separate runs of dims become one for each run"; }
  void runOnOperation() override {
    SmallVector<Operation*> ops;
    mainFunction(getOperation()).walk([&](Operation* op) {
      auto id = opIdOf(op);
      if (id && info(*id).kind == OpKind::reduction) ops.push_back(op);
    });
    for (Operation* op : ops) split(op);
  }

  void split(Operation* op) {
    Shape shape = shapeOf(op->getOperand(0));
    auto axes = std::get<std::vector<int64_t>>(attributesOf(op)[0]);
    if (axes.empty())
      for (int i = 0; i < shape.rank(); ++i) axes.push_back(i);
    for (int64_t& a : axes) a = a < 0 ? a + shape.rank() : a;
    if (shape.rank() == 0) {  // nothing to reduce: the element as it is
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
      return;
    }
    auto runs = runsOf(axes);
    if (runs.size() <= 1) return;
    bool keep = std::get<bool>(attributesOf(op)[1]);
    OpBuilder b(op);
    Value x = op->getOperand(0);
    DType t = typeOf(op->getResult(0)).dtype;
    for (const auto& run : llvm::reverse(runs)) {
      // Later runs are reduced first, so the numbers of the earlier dims stay right.
      for (int64_t axis : llvm::reverse(run)) keep ? void(shape[axis] = Dim(1)) : shape.erase(axis);
      OperationState state(op->getLoc(), op->getName(), x, tensorTypeOf(b.getContext(), {t, shape}), op->getAttrDictionary().getValue());
      Operation* part = b.create(state);
      part->setAttr("axis", b.getDenseI64ArrayAttr(run));
      part->removeAttr("dims");
      setResultShapes(part, {shape});
      x = part->getResult(0);
    }
    op->getResult(0).replaceAllUsesWith(x);
    op->erase();
  }
};

}  // namespace

std::unique_ptr<Pass> createNormalizeReductionsPass() { return std::make_unique<NormalizeReductionsPass>(); }

}  // namespace kiln::compiler
