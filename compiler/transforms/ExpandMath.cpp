// Inside kernels, math.exp and the like become the functions of dialects/kiln/math: the same operations as the
// reference, so the same bits, on scalars and vectors alike.
#include "compiler/lower/IrScalar.h"
#include "compiler/lower/OpAccess.h"
#include "compiler/transforms/Passes.h"
#include "dialects/kiln/math/functions.h"

using namespace mlir;

namespace kiln::compiler {
namespace {

IrScalar wrap(OpBuilder& b, Operation* op, Value v) {
  Type element = getElementTypeOrSelf(v.getType());
  return {&b, op->getLoc(), v, element.isF64() ? DType::f64 : DType::f32};
}

Value expand(OpBuilder& b, Operation* op) {
#define KILN_EXPAND(name, Op) \
  if (isa<math::Op>(op)) return strict::name(wrap(b, op, op->getOperand(0))).v;
  KILN_FOR_EACH_UNARY_FUNCTION(KILN_EXPAND)
#undef KILN_EXPAND
#define KILN_EXPAND(name, Op) \
  if (isa<math::Op>(op)) return strict::name(wrap(b, op, op->getOperand(0)), wrap(b, op, op->getOperand(1))).v;
  KILN_FOR_EACH_BINARY_FUNCTION(KILN_EXPAND)
#undef KILN_EXPAND
  return {};
}

struct ExpandMathPass : PassWrapper<ExpandMathPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMathPass)
  StringRef getArgument() const override { return "kiln-expand-math"; }
  StringRef getDescription() const override {
    return "Transcendental functions as arithmetic, the same bits everywhere";
  }
  void getDependentDialects(DialectRegistry& registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect, LLVM::LLVMDialect>();
  }
  void runOnOperation() override {
    // An expansion may use functions that are expanded in turn.
    for (bool again = true; again;) {
      again = false;
      SmallVector<Operation*> ops;
      getOperation().walk([&](Operation* op) {
        if (isa<math::MathDialect>(op->getDialect()) && isKernel(op->getParentOfType<func::FuncOp>()))
          ops.push_back(op);
      });
      for (Operation* op : ops) {
        OpBuilder b(op);
        if (Value v = expand(b, op)) {
          op->getResult(0).replaceAllUsesWith(v);
          op->erase();
          again = true;
        }
      }
    }
  }
};

}  // namespace

std::unique_ptr<Pass> createExpandMathPass() { return std::make_unique<ExpandMathPass>(); }

}  // namespace kiln::compiler
