// Each kernel as loops over vectors, with the calling convention of runtime/exec/kernel.h. The order in which a
// reduction combines its elements is fixed here and nowhere else (docs/design, "Reduction order"); schedules decide
// only where values live. Payload regions are cloned on vector types, so what an element is worth never depends on
// them.
#include "compiler/lower/KernelBuilder.h"
#include "compiler/lower/ScalarLowering.h"
#include "compiler/transforms/Passes.h"

using namespace mlir;

namespace kiln::compiler {
namespace {

constexpr int reductionLanes = 32;
constexpr int64_t rowChunk = 4096, columnChunk = 1024;
constexpr int64_t maxScratchBytes = 64 << 10;

class Lowering {
 public:
  Lowering(func::FuncOp f, int vectorBytes) : k_(f), vectorBytes_(vectorBytes) {}

  void run() {
    StringRef schedule = k_.schedule();
    if (schedule == "row")
      row();
    else if (schedule == "column")
      column();
    else
      elementwise();
    k_.finish();
  }

 private:
  // Lanes that fill two registers with the widest element of the kernel.
  int lanes() const { return std::max<int64_t>(4, 2 * vectorBytes_ / k_.widestElement()); }

  void elementwise() {
    int groups = k_.domain().size();
    if (groups == 0) {
      Point p = k_.scalarPoint({});
      k_.storeOutputs(p, k_.outputs());
      return;
    }
    if (groups == 1) {
      Point entry = k_.vectorPoint({}, lanes());
      k_.hoistBroadcasts(entry);
      vectorLoop(k_.begin(), k_.end(), entry, false, {}, [&](Point& p, ValueRange) {
        k_.storeOutputs(p, k_.outputs());
        return SmallVector<Value>{};
      });
      return;
    }
    k_.loop(k_.begin(), k_.end(), k_.i64(1), {}, [&](Value row, ValueRange) {
      Point entry = k_.vectorPoint(k_.delinearize(row, firstDims(groups - 1)), lanes());
      k_.hoistBroadcasts(entry);
      vectorLoop(k_.i64(0), k_.size(groups - 1), entry, k_.isMultiple(groups - 1, lanes()), {},
                 [&](Point& p, ValueRange) {
                   k_.storeOutputs(p, k_.outputs());
                   return SmallVector<Value>{};
                 });
      return SmallVector<Value>{};
    });
  }

  static SmallVector<int> firstDims(int n) { return llvm::to_vector(llvm::seq(0, n)); }

  using Body = llvm::function_ref<SmallVector<Value>(Point&, ValueRange carried)>;

  // Columns [from, to) in vectors, the last one masked unless the count is known to be a multiple of the lanes.
  SmallVector<Value> vectorLoop(Value from, Value to, const Point& entry, bool exact, ValueRange init, Body body) {
    OpBuilder& b = k_.builder();
    Value step = k_.i64(entry.lanes);
    Value count = k_.sub(to, from);
    Value whole = exact ? to : k_.add(from, k_.mul(k_.div(count, step), step));
    SmallVector<Value> carried = k_.loop(from, whole, step, init, [&](Value column, ValueRange values) {
      Point p = entry;
      p.column = column;
      return body(p, values);
    });
    if (exact) return carried;
    SmallVector<Type> types(ValueRange(init).getTypes());
    Value rest = k_.less(whole, to);
    auto branch = scf::IfOp::create(b, k_.loc(), types, rest, true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Point p = entry;
    p.column = whole;
    p.mask = k_.laneMask(k_.sub(to, whole), entry.lanes);
    SmallVector<Value> last = body(p, carried);
    k_.yield(branch.thenBlock(), last);
    k_.yield(branch.elseBlock(), carried);
    return SmallVector<Value>(branch.getResults());
  }

  // Values of the rows, then phases over the columns: a phase computes every reduction and output that needs no later
  // one.
  void row() {
    k_.computeLevels();
    int outer = 0, groups = k_.domain().size();
    while (outer < groups && !k_.isReduced(outer)) ++outer;
    const bool hasColumns = outer < groups;  // else all reduced dims have size 1
    planScratch(hasColumns ? groups - 1 : -1);
    k_.loop(k_.begin(), k_.end(), k_.i64(1), {}, [&](Value row, ValueRange) {
      SmallVector<Value> index = k_.delinearize(row, firstDims(outer));
      Point rowPoint = k_.scalarPoint(index);
      for (int level = 0; level <= k_.maxLevel(); ++level) {
        k_.computeRowValues(rowPoint, level);
        phase(index, level, rowPoint, hasColumns);
      }
      k_.storeRowOutputs(rowPoint);
      return SmallVector<Value>{};
    });
  }

  void phase(ArrayRef<Value> index, int level, Point& rowPoint, bool hasColumns) {
    SmallVector<linalg::GenericOp> reductions = k_.reductionsAt(level);
    SmallVector<Value> stores = k_.fullOutputsAt(level), keeps;
    for (auto& [value, scratch] : scratch_)
      if (k_.level(value) == level && !llvm::is_contained(stores, value)) keeps.push_back(value);
    if (reductions.empty() && stores.empty() && keeps.empty()) return;
    if (!hasColumns) {  // one element a row
      Point p = rowPoint;
      for (auto r : reductions) {
        Value identity = k_.identityOf(r);
        rowPoint.values[r.getResult(0)] = k_.combine(r, identity, k_.operand(p, r, 0), Value());
        p.values[r.getResult(0)] = rowPoint.values[r.getResult(0)];
      }
      k_.storeOutputs(p, stores);
      return;
    }
    int inner = k_.domain().size() - 1;
    Point entry = k_.vectorPoint(SmallVector<Value>(index), reductionLanes);
    k_.carryRowValues(rowPoint, entry);
    k_.hoistBroadcasts(entry);
    for (auto& [value, scratch] : scratch_)
      if (k_.level(value) < level) entry.inMemory[value] = scratch;
    auto body = [&](Point& p, ValueRange accumulators) {
      SmallVector<Value> next;
      for (auto [i, r] : llvm::enumerate(reductions))
        next.push_back(k_.combine(r, accumulators[i], k_.operand(p, r, 0), p.mask));
      for (Value v : keeps) k_.storeTo(p, scratch_[v], k_.value(p, v));
      k_.storeOutputs(p, stores);
      return next;
    };
    auto chunk = [&](Value from, Value to, bool exact) {
      SmallVector<Value> init;
      for (auto r : reductions) init.push_back(k_.splat(k_.identityOf(r), reductionLanes));
      SmallVector<Value> lanes = vectorLoop(from, to, entry, exact, init, body);
      SmallVector<Value> totals;
      for (auto [i, r] : llvm::enumerate(reductions)) totals.push_back(k_.reduceLanes(r, lanes[i]));
      return totals;
    };
    SmallVector<Value> totals =
        chunked(k_.size(inner), k_.knownSize(inner), rowChunk, reductions,
                [&](Value from, Value to) { return chunk(from, to, k_.isMultiple(inner, reductionLanes)); });
    for (auto [i, r] : llvm::enumerate(reductions)) rowPoint.values[r.getResult(0)] = totals[i];
  }

  // Chunk results in order, the first one as it is.
  SmallVector<Value> chunked(Value size, std::optional<int64_t> known, int64_t chunkSize,
                             ArrayRef<linalg::GenericOp> reductions,
                             llvm::function_ref<SmallVector<Value>(Value, Value)> chunk) {
    if ((known && *known <= chunkSize) || reductions.empty()) return chunk(k_.i64(0), size);
    Value first = k_.minimum(size, k_.i64(chunkSize));
    SmallVector<Value> totals = chunk(k_.i64(0), first);
    return k_.loop(first, size, k_.i64(chunkSize), totals, [&](Value from, ValueRange sums) {
      SmallVector<Value> part = chunk(from, k_.minimum(size, k_.add(from, k_.i64(chunkSize)))), next;
      for (auto [i, r] : llvm::enumerate(reductions)) next.push_back(k_.combine(r, sums[i], part[i], Value()));
      return next;
    });
  }

  // A costly value that a later phase needs again is kept: in the output it is stored to, or in a row of scratch
  // memory.
  void planScratch(int inner) {
    if (inner < 0) return;
    for (Value v : k_.fullValues()) {
      if (!k_.isCostly(v) || !k_.usedAfterItsLevel(v)) continue;
      if (auto out = k_.outputMemory(v)) {
        scratch_[v] = *out;
      } else if (auto n = k_.knownSize(inner); n && *n * 8 <= maxScratchBytes) {
        scratch_[v] = k_.allocateRow(v, *n);
      }
    }
  }

  // A work item is a block of neighbouring columns of one outer index; rows run in order. Where all dims behind the
  // reduced ones have size 1 there is one column, and where all reduced dims do there is one row.
  void column() {
    const int groups = k_.domain().size();
    int reduced = 0;
    while (reduced < groups && !k_.isReduced(reduced)) ++reduced;
    const int inner = groups > 0 && reduced < groups - 1 && !k_.isReduced(groups - 1) ? groups - 1
                      : reduced == groups                                             ? groups - 1
                                                                                      : -1;
    const int lanes = inner >= 0 ? k_.columnLanes() : 0;
    SmallVector<int> outer;
    for (int g = 0; g < groups; ++g)
      if (g != reduced && g != inner) outer.push_back(g);
    Value blocks = inner < 0 ? k_.i64(1) : k_.div(k_.add(k_.size(inner), k_.i64(lanes - 1)), k_.i64(lanes));
    k_.loop(k_.begin(), k_.end(), k_.i64(1), {}, [&](Value item, ValueRange) {
      SmallVector<Value> index(groups, k_.i64(0)), kept = k_.delinearize(k_.div(item, blocks), outer);
      for (auto [i, g] : llvm::enumerate(outer)) index[g] = kept[i];
      Point entry = k_.vectorPoint(index, lanes);
      if (inner >= 0) {
        entry.column = k_.mul(k_.rem(item, blocks), k_.i64(lanes));
        if (!k_.isMultiple(inner, lanes))
          entry.mask = k_.laneMask(k_.minimum(k_.sub(k_.size(inner), entry.column), k_.i64(lanes)), lanes);
      }
      SmallVector<linalg::GenericOp> reductions = k_.reductionsAt(0);
      SmallVector<Value> stores = k_.fullOutputsAt(0);
      auto row = [&](Value r, ValueRange sums) {
        Point p = entry;
        if (reduced < groups) p.index[reduced] = r;
        SmallVector<Value> next;
        for (auto [i, op] : llvm::enumerate(reductions))
          next.push_back(k_.combine(op, sums[i], k_.operand(p, op, 0), Value()));
        k_.storeOutputs(p, stores);
        return next;
      };
      auto chunk = [&](Value from, Value to) {
        SmallVector<Value> init;
        for (auto r : reductions) init.push_back(k_.splat(k_.identityOf(r), lanes));
        return reduced == groups ? row(from, init) : k_.loop(from, to, k_.i64(1), init, row);
      };
      Value rows = reduced == groups ? k_.i64(1) : k_.size(reduced);
      std::optional<int64_t> known = reduced == groups ? 1 : k_.knownSize(reduced);
      SmallVector<Value> totals = chunked(rows, known, columnChunk, reductions, chunk);
      for (auto [i, r] : llvm::enumerate(reductions)) k_.storeToOutputs(entry, r.getResult(0), totals[i]);
      return SmallVector<Value>{};
    });
  }

  KernelBuilder k_;
  int vectorBytes_;
  llvm::MapVector<Value, Memory> scratch_;
};

struct LinalgToLoopsPass : PassWrapper<LinalgToLoopsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LinalgToLoopsPass)
  LinalgToLoopsPass() = default;
  explicit LinalgToLoopsPass(int bytes) { vectorBytes = bytes; }
  LinalgToLoopsPass(const LinalgToLoopsPass& other) : PassWrapper(other) { vectorBytes = other.vectorBytes.getValue(); }
  StringRef getArgument() const override { return "kiln-linalg-to-loops"; }
  StringRef getDescription() const override { return "Kernels as loops over vectors"; }
  void getDependentDialects(DialectRegistry& registry) const override {
    registry.insert<scf::SCFDialect, arith::ArithDialect, math::MathDialect, LLVM::LLVMDialect>();
  }
  void runOnOperation() override {
    SmallVector<func::FuncOp> kernels;
    for (auto f : getOperation().getOps<func::FuncOp>())
      if (isKernel(f) && f->hasAttr("schedule")) kernels.push_back(f);
    for (auto f : kernels) {
      if (f->getAttrOfType<StringAttr>("schedule").getValue() == "scalar")
        scalarKernelToLoops(f);
      else
        Lowering(f, vectorBytes).run();
    }
  }
  Option<int> vectorBytes{*this, "vector-bytes", llvm::cl::desc("bytes of a vector register"), llvm::cl::init(32)};
};

}  // namespace

std::unique_ptr<Pass> createLinalgToLoopsPass(int vectorBytes) {
  return std::make_unique<LinalgToLoopsPass>(vectorBytes);
}

}  // namespace kiln::compiler
