// A reduction over dims that are not neighbours becomes one reduction for each run of neighbours, the last run first:
// that order is part of the op's meaning, and eager code does the same.
//
// A few long rows become many rows of one chunk each and a reduction of their results, so that threads can share the
// work. Chunk results are combined in order either way, so no bit changes (docs/design, "Reduction order").
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

constexpr int64_t rowChunk = 4096, fewRows = 8, fewChunks = 4, mostChunks = 1024;

Value reshape(OpBuilder& b, mlir::Location loc, Value x, ArrayRef<int64_t> dims) {
  OperationState state(loc, "kiln.reshape", x,
                       RankedTensorType::get(dims, cast<RankedTensorType>(x.getType()).getElementType()),
                       b.getNamedAttr("shape", b.getDenseI64ArrayAttr(dims)));
  return b.create(state)->getResult(0);
}

Value reduceLike(OpBuilder& b, Operation* op, Value x, int64_t axis) {
  auto type = cast<RankedTensorType>(x.getType());
  SmallVector<int64_t> dims(type.getShape());
  dims.erase(dims.begin() + axis);
  OperationState state(op->getLoc(), op->getName(), x, RankedTensorType::get(dims, type.getElementType()),
                       op->getAttrDictionary().getValue());
  Operation* part = b.create(state);
  part->setAttr("axis", b.getDenseI64ArrayAttr({axis}));
  part->setAttr("keepdims", b.getBoolAttr(false));
  return part->getResult(0);
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
    if (runs.size() <= 1) {
      if (axes.size() == runs[0].size()) splitLongRows(op, runs[0], shape);
      return;
    }
    bool keep = std::get<bool>(attributesOf(op)[1]);
    OpBuilder b(op);
    Value x = op->getOperand(0);
    DType t = typeOf(op->getResult(0)).dtype;
    for (const auto& run : llvm::reverse(runs)) {
      // Later runs are reduced first, so the numbers of the earlier dims stay right.
      for (int64_t axis : llvm::reverse(run)) keep ? void(shape[axis] = Dim(1)) : shape.erase(axis);
      OperationState state(op->getLoc(), op->getName(), x, tensorTypeOf(b.getContext(), {t, shape}),
                           op->getAttrDictionary().getValue());
      Operation* part = b.create(state);
      part->setAttr("axis", b.getDenseI64ArrayAttr(run));
      part->removeAttr("dims");
      setResultShapes(part, {shape});
      x = part->getResult(0);
    }
    op->getResult(0).replaceAllUsesWith(x);
    op->erase();
  }

  void splitLongRows(Operation* op, ArrayRef<int64_t> run, const Shape& shape) {
    if (!shape.known() || run.back() != shape.rank() - 1) return;
    int64_t rows = 1, length = 1;
    for (int i = 0; i < shape.rank(); ++i) (i < run.front() ? rows : length) *= shape[i].size();
    if (rows > fewRows || length % rowChunk || length / rowChunk < fewChunks || length / rowChunk > mostChunks) return;
    if (cast<RankedTensorType>(op->getOperand(0).getType()).getElementType() !=
        cast<RankedTensorType>(op->getResult(0).getType()).getElementType())
      return;
    OpBuilder b(op);
    const int64_t chunks = length / rowChunk;
    Value parts = reduceLike(b, op, reshape(b, op->getLoc(), op->getOperand(0), {rows, chunks, rowChunk}), 2);
    Value total = reduceLike(b, op, reshape(b, op->getLoc(), parts, {rows, chunks, 1}), 1);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    op->getResult(0).replaceAllUsesWith(reshape(b, op->getLoc(), total, type.getShape()));
    op->erase();
  }
};

}  // namespace

std::unique_ptr<Pass> createNormalizeReductionsPass() { return std::make_unique<NormalizeReductionsPass>(); }

}  // namespace kiln::compiler
