// What LinalgToLoops is written with: a kernel function being rebuilt from linalg ops into loops, and the values of its
// linalg ops at a point of the domain, as scalars or vectors.
#pragma once
#include "compiler/lower/OpAccess.h"
#include "compiler/pch.h"

namespace kiln::compiler {

// Where elements of a value are stored. dims: which collapsed dims it has, in order.
struct Memory {
  mlir::Value pointer;
  mlir::Type element;
  llvm::SmallVector<int> dims;
  bool isRow = false;  // a scratch row: addressed by the column alone
};

// A point, or a run of `lanes` columns, of the domain; and what has been computed there.
struct Point {
  llvm::SmallVector<mlir::Value> index;  // i64 per collapsed dim, without the innermost one at vector points
  mlir::Value column;                    // i64: first column of the vector
  mlir::Value mask;                      // vector of i1; null: all lanes
  int lanes = 0;                         // 0: a scalar point
  llvm::DenseMap<mlir::Value, mlir::Value> values;
  llvm::DenseMap<mlir::Value, Memory> inMemory;
};

class KernelBuilder {
 public:
  explicit KernelBuilder(mlir::func::FuncOp f);
  // Replaces the linalg function by the loops.
  void finish();

  mlir::OpBuilder& builder() { return b_; }
  mlir::Location loc() const { return loc_; }
  llvm::StringRef schedule() const { return schedule_; }
  llvm::ArrayRef<int64_t> domain() const { return domain_; }
  bool isReduced(int group) const { return llvm::is_contained(reduced_, group); }
  int64_t widestElement() const;  // bytes
  int columnLanes() const { return columnLanes_; }

  // i64 arithmetic and control flow.
  mlir::Value i64(int64_t v);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value div(mlir::Value a, mlir::Value b);
  mlir::Value rem(mlir::Value a, mlir::Value b);
  mlir::Value minimum(mlir::Value a, mlir::Value b);
  mlir::Value less(mlir::Value a, mlir::Value b);
  void yield(mlir::Block* block, mlir::ValueRange values);
  llvm::SmallVector<mlir::Value> loop(
      mlir::Value from, mlir::Value to, mlir::Value step, mlir::ValueRange init,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);
  mlir::Value begin() const { return begin_; }
  mlir::Value end() const { return end_; }
  mlir::Value size(int group) { return sizes_[group]; }
  std::optional<int64_t> knownSize(int group) const;
  bool isMultiple(int group, int64_t of) const;
  // The indices of some dims from a row-major number over them.
  llvm::SmallVector<mlir::Value> delinearize(mlir::Value number, llvm::ArrayRef<int> dims);

  Point scalarPoint(llvm::ArrayRef<mlir::Value> index);
  Point vectorPoint(llvm::ArrayRef<mlir::Value> outerIndex, int lanes);
  // Loads what does not depend on the column, once.
  void hoistBroadcasts(Point& p);
  void carryRowValues(const Point& row, Point& p);
  mlir::Value laneMask(mlir::Value count, int lanes);
  mlir::Value splat(mlir::Value scalar, int lanes);

  // Values of linalg results at a point.
  mlir::Value value(Point& p, mlir::Value v);
  mlir::Value operand(Point& p, mlir::linalg::GenericOp op, int i);
  mlir::Value identityOf(mlir::linalg::GenericOp reduction);
  // `accumulator` combined with `element`; lanes outside `mask` keep the accumulator.
  mlir::Value combine(mlir::linalg::GenericOp reduction, mlir::Value accumulator, mlir::Value element,
                      mlir::Value mask);
  mlir::Value reduceLanes(mlir::linalg::GenericOp reduction, mlir::Value vector);

  // Outputs of the kernel. All values are computed before the first store, since a result may share an operand's
  // memory.
  llvm::ArrayRef<mlir::Value> outputs() const { return outputs_; }
  void storeOutputs(Point& p, llvm::ArrayRef<mlir::Value> values);
  void storeRowOutputs(Point& p);
  // To every output that is `result`, a linalg result whose value here is `v`.
  void storeToOutputs(Point& p, mlir::Value result, mlir::Value v);
  void storeTo(Point& p, const Memory& memory, mlir::Value v);
  std::optional<Memory> outputMemory(mlir::Value v) const;
  Memory allocateRow(mlir::Value like, int64_t columns);

  // Phases: the level of a value is the number of reductions in a row that must be done before it.
  void computeLevels();
  int level(mlir::Value v) const { return levels_.lookup(v); }
  int maxLevel() const { return maxLevel_; }
  void computeRowValues(Point& row, int level);
  llvm::SmallVector<mlir::linalg::GenericOp> reductionsAt(int level);
  llvm::SmallVector<mlir::Value> fullOutputsAt(int level);
  llvm::SmallVector<mlir::Value> fullValues();
  bool isCostly(mlir::Value v);
  bool usedAfterItsLevel(mlir::Value v);

 private:
  Memory outputAt(size_t i) const;
  // A scalar computed outside the linalg ops, computed anew at the start of the kernel.
  mlir::Value outsideValue(mlir::Value v);
  bool isFull(mlir::linalg::GenericOp op) const;
  bool isReduction(mlir::linalg::GenericOp op) const { return op->hasAttr("kiln.reduction"); }
  mlir::Value payload(Point& p, mlir::linalg::GenericOp op, mlir::ValueRange arguments, int lanes);
  mlir::Value load(Point& p, const Memory& memory);
  mlir::Value offset(const Point& p, const Memory& memory);
  mlir::Value address(const Memory& memory, mlir::Value offset);
  mlir::Value stored(mlir::Value v, mlir::Type element);
  mlir::Type memoryType(mlir::Type element) const;

  mlir::func::FuncOp old_, new_;
  mlir::OpBuilder b_;
  mlir::Location loc_;
  std::string schedule_;
  llvm::SmallVector<int64_t> domain_, reduced_;
  int columnLanes_ = 0;
  mlir::Value begin_, end_, buffers_, params_;
  llvm::SmallVector<mlir::Value> sizes_;
  llvm::SmallVector<mlir::Value> outputs_;
  llvm::DenseMap<mlir::Value, mlir::Value> pointers_;  // tensor argument -> pointer
  llvm::SmallVector<mlir::Value> outputPointers_;
  llvm::SmallVector<mlir::linalg::GenericOp> ops_;
  mlir::IRMapping outside_;  // scalars computed outside the linalg ops
  llvm::DenseMap<mlir::Value, int> levels_;
  int maxLevel_ = 0;
};

}  // namespace kiln::compiler
