// Each kiln.fusion becomes a private function of linalg ops and a kiln.launch of it. The function works on collapsed
// dims: neighbouring dims that every operand walks in the same way are one, dims of size 1 are gone.
#include "compiler/lower/IrScalar.h"
#include "compiler/lower/OpAccess.h"
#include "compiler/lower/ScalarBodies.h"
#include "compiler/lower/ScalarLowering.h"
#include "compiler/transforms/Passes.h"

using namespace mlir;

namespace kiln::compiler {
namespace {

// Which domain dims a value has, in order; the others it is broadcast over.
using DimSet = SmallVector<int>;

class FusionLowering {
 public:
  FusionLowering(ir::FusionOp fusion, ModuleOp module, int number)
      : fusion_(fusion), module_(module), b_(module.getContext()), number_(number) {}

  void run() {
    if (fusion_.getSchedule() == "scalar") {
      lowerScalarFusion(fusion_, module_, "kernel_" + std::to_string(number_));
      return;
    }
    domain_ = shapeFromRaw(fusion_.getDomain());
    for (int64_t axis : fusion_.getReduced()) reduced_.insert(axis);
    placeValues();
    collapse();
    buildFunction();
    launch();
  }

 private:
  bool isReduced(int dim) const { return reduced_.count(dim); }

  DimSet allDims() const {
    DimSet dims;
    for (int i = 0; i < domain_.rank(); ++i)
      if (!(domain_[i] == Dim(1))) dims.push_back(i);
    return dims;
  }
  DimSet keptDims() const {
    DimSet dims;
    for (int i : allDims())
      if (!isReduced(i)) dims.push_back(i);
    return dims;
  }

  // For a shape right-aligned with `positions` (domain dim of each dim of the consumer, -1 for a kept unit dim).
  DimSet alignedDims(const Shape& shape, ArrayRef<int> positions) const {
    DimSet dims;
    int offset = int(positions.size()) - shape.rank();
    for (int i = 0; i < shape.rank(); ++i) {
      int d = positions[i + offset];
      if (d >= 0 && !(domain_[d] == Dim(1)) && shape[i] == domain_[d]) dims.push_back(d);
    }
    return dims;
  }

  // The domain dim behind each dim of a value of the fusion.
  SmallVector<int> positionsOf(Operation* op) const {
    Shape shape = shapeOf(op->getResult(0));
    SmallVector<int> positions;
    if (shape.rank() == domain_.rank()) {
      for (int i = 0; i < shape.rank(); ++i) positions.push_back(shape[i] == domain_[i] ? i : -1);
    } else {
      for (int i = 0; i < domain_.rank(); ++i)
        if (!isReduced(i)) positions.push_back(i);
      if ((int)positions.size() != shape.rank()) {  // another rank by unit dims only: a view in front of its users
        DimSet kept = keptDims();
        positions.assign(shape.rank(), -1);
        for (int i = 0, k = 0; i < shape.rank() && k < (int)kept.size(); ++i)
          if (!(shape[i] == Dim(1))) positions[i] = kept[k++];
      }
    }
    return positions;
  }

  void placeValues() {
    Block& body = fusion_.getBody().front();
    for (Operation& op : body.without_terminator()) {
      if (op.hasAttr("value")) continue;
      bool reduction = info(*opIdOf(&op)).kind == OpKind::reduction;
      SmallVector<int> positions;
      if (reduction)
        for (int i = 0; i < domain_.rank(); ++i) positions.push_back(i);
      else
        positions = positionsOf(&op);
      for (Value v : op.getOperands())
        if (auto argument = dyn_cast<BlockArgument>(v)) {
          DimSet dims = alignedDims(shapeOf(v), positions);
          place_.try_emplace({&op, v}, dims);
          if (!llvm::is_contained(argumentDims_[v], dims)) argumentDims_[v].push_back(dims);
        }
      bool full = !reduction && shapeOf(op.getResult(0)) == domain_;
      resultDims_[op.getResult(0)] = full ? allDims() : keptDims();
    }
  }

  void collapse() {
    for (int d : allDims()) {
      bool merges = !groups_.empty() && isReduced(groups_.back().back()) == isReduced(d);
      if (merges)
        for (auto& [value, sets] : argumentDims_)
          for (const DimSet& dims : sets)
            if (llvm::is_contained(dims, d) != llvm::is_contained(dims, groups_.back().back())) merges = false;
      if (merges)
        groups_.back().push_back(d);
      else
        groups_.push_back({d});
    }
    for (auto& group : groups_) {
      Dim size = 1;
      for (int d : group) size = size * domain_[d];
      sizes_.push_back(size);
    }
  }

  SmallVector<int> groupsOf(const DimSet& dims) const {
    SmallVector<int> result;
    for (auto [g, group] : llvm::enumerate(groups_))
      if (llvm::is_contained(dims, group[0])) result.push_back(g);
    return result;
  }

  Type collapsedType(const DimSet& dims, DType t) {
    SmallVector<int64_t> shape;
    for (int g : groupsOf(dims)) shape.push_back(sizes_[g].known() ? sizes_[g].size() : ShapedType::kDynamic);
    return RankedTensorType::get(shape, elementTypeOf(b_.getContext(), t));
  }

  AffineMap mapOf(const DimSet& dims, int loops) {
    SmallVector<AffineExpr> exprs;
    for (int g : groupsOf(dims)) exprs.push_back(b_.getAffineDimExpr(g));
    return AffineMap::get(loops, 0, exprs, b_.getContext());
  }

  void buildFunction() {
    // An argument that is read in two ways (as a row and as a column of a square) is passed once for each.
    SmallVector<Type> types;
    for (BlockArgument a : fusion_.getBody().getArguments())
      for (const DimSet& dims : argumentDims_[a]) {
        types.push_back(collapsedType(dims, typeOf(a).dtype));
        inputs_.push_back(fusion_.getOperand(a.getArgNumber()));
        inputKeys_.push_back({a, dims});
      }
    for (Dim size : sizes_)
      if (!size.known()) {
        types.push_back(b_.getIndexType());
        params_.push_back(size.raw());
      }
    SmallVector<Type> results;
    auto yield = cast<ir::YieldOp>(fusion_.getBody().front().getTerminator());
    for (Value v : yield.getOperands()) results.push_back(collapsedType(resultDims_[v], typeOf(v).dtype));
    b_.setInsertionPointToEnd(module_.getBody());
    name_ = "kernel_" + std::to_string(number_);
    function_ = func::FuncOp::create(b_, fusion_.getLoc(), name_, b_.getFunctionType(types, results));
    function_.setPrivate();
    function_->setAttr("schedule", fusion_.getScheduleAttr());
    SmallVector<int64_t> reducedGroups;
    for (auto [g, group] : llvm::enumerate(groups_))
      if (isReduced(group[0])) reducedGroups.push_back(g);
    function_->setAttr("reduced", b_.getDenseI64ArrayAttr(reducedGroups));
    SmallVector<int64_t> sizes;
    for (Dim d : sizes_) sizes.push_back(d.known() ? d.size() : ShapedType::kDynamic);
    function_->setAttr("domain", b_.getDenseI64ArrayAttr(sizes));
    Block* entry = function_.addEntryBlock();
    b_.setInsertionPointToStart(entry);
    size_t next = inputKeys_.size();
    for (Dim size : sizes_)
      sizeValues_.push_back(size.known() ? Value(arith::ConstantIndexOp::create(b_, function_.getLoc(), size.size()))
                                         : Value(entry->getArgument(next++)));
    for (Operation& op : fusion_.getBody().front().without_terminator()) lower(&op);
    SmallVector<Value> yields;
    for (Value v : yield.getOperands()) yields.push_back(values_.lookup(v));
    func::ReturnOp::create(b_, function_.getLoc(), yields);
  }

  Value operandFor(Operation* op, Value v, DimSet& dims) {
    if (auto argument = dyn_cast<BlockArgument>(v)) {
      dims = place_.at({op, v});
      for (auto [i, key] : llvm::enumerate(inputKeys_))
        if (key.first == v && key.second == dims) return function_.getArgument(i);
    }
    dims = resultDims_[v];
    return values_.lookup(v);
  }

  Value emptyTensor(mlir::Location loc, const DimSet& dims, DType t) {
    auto type = cast<RankedTensorType>(collapsedType(dims, t));
    SmallVector<Value> sizes;
    for (int g : groupsOf(dims))
      if (!sizes_[g].known()) sizes.push_back(sizeValues_[g]);
    return tensor::EmptyOp::create(b_, loc, type.getShape(), type.getElementType(), sizes);
  }

  // The row-major number of the element, from the collapsed dims.
  IrScalar linearIndex(OpBuilder& b, mlir::Location loc, const DimSet& dims) {
    Type i64 = b.getI64Type();
    Value index;
    for (int g : groupsOf(dims)) {
      Value here = arith::IndexCastOp::create(b, loc, i64, linalg::IndexOp::create(b, loc, g));
      if (!index) {
        index = here;
        continue;
      }
      Value size = arith::IndexCastOp::create(b, loc, i64, sizeValues_[g]);
      index = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, index, size), here);
    }
    if (!index) index = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
    return {&b, loc, index, DType::i64};
  }

  void lower(Operation* op) {
    mlir::Location loc = op->getLoc();
    Value result = op->getResult(0);
    if (op->hasAttr("value")) {  // a scalar; users take it as a constant of their body
      constants_[result] = cast<DenseElementsAttr>(op->getAttr("value"));
      return;
    }
    OpId id = *opIdOf(op);
    auto attributes = attributesOf(op);
    DType t = typeOf(result).dtype;
    bool reduction = info(id).kind == OpKind::reduction;
    // Reductions and full values loop over all collapsed dims, values of a row over the outer ones.
    DimSet loopDims = reduction ? allDims() : resultDims_[result];
    int loops = groups_.size();
    SmallVector<int> used = groupsOf(loopDims);
    // Loop numbers are collapsed dims; a row value uses only the first ones, which come first in a row schedule.
    if (!reduction && used.size() < groups_.size()) loops = used.size();
    SmallVector<Value> ins;
    SmallVector<AffineMap> maps;
    SmallVector<DType> types;
    SmallVector<int> which;
    for (auto [i, v] : llvm::enumerate(op->getOperands())) {
      if (constants_.count(v)) continue;
      DimSet dims;
      ins.push_back(operandFor(op, v, dims));
      maps.push_back(mapOf(dims, loops));
      types.push_back(typeOf(v).dtype);
      which.push_back(i);
    }
    Value out = emptyTensor(loc, resultDims_[result], t);
    if (reduction) {
      IrScalar context{
          &b_, loc,
          arith::ConstantOp::create(b_, loc, cast<TypedAttr>(b_.getZeroAttr(elementTypeOf(b_.getContext(), t)))), t};
      IrScalar identity = identity_body<IrScalar>(id, context);
      out = linalg::FillOp::create(b_, loc, identity.v, out).getResult(0);
    }
    maps.push_back(mapOf(resultDims_[result], loops));
    SmallVector<utils::IteratorType> iterators;
    for (int g = 0; g < loops; ++g)
      iterators.push_back(reduction && isReduced(groups_[g][0]) ? utils::IteratorType::reduction
                                                                : utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(b_, loc, TypeRange{out.getType()}, ins, ValueRange{out}, maps, iterators,
                                             [&](OpBuilder& inner, mlir::Location, ValueRange args) {
                                               SmallVector<IrScalar> operands(op->getNumOperands());
                                               for (auto [i, v] : llvm::enumerate(op->getOperands()))
                                                 if (auto c = constants_.find(v); c != constants_.end())
                                                   operands[i] = splatNumber(inner, loc, c->second, typeOf(v).dtype);
                                               for (auto [k, i] : llvm::enumerate(which))
                                                 operands[i] = {&inner, loc, args[k], types[k]};
                                               IrScalar value;
                                               if (reduction) {
                                                 IrScalar acc{&inner, loc, args.back(), t};
                                                 value = combine_body<IrScalar>(id, acc, convert(operands[0], t));
                                               } else if (info(id).kind == OpKind::view) {
                                                 value = operands[0];
                                               } else {
                                                 // Sources have no operand to take the context from: the index is it.
                                                 IrScalar index = info(id).uses_index
                                                                      ? linearIndex(inner, loc, resultDims_[result])
                                                                      : IrScalar{&inner, loc, {}, DType::i64};
                                                 value = scalar_body<IrScalar>(id, operands, attributes, index, t);
                                               }
                                               linalg::YieldOp::create(inner, loc, value.v);
                                             });
    if (reduction) generic->setAttr("kiln.reduction", b_.getUnitAttr());
    values_.map(result, generic.getResult(0));
  }

  // Columns of one work item of a column reduction: wide blocks use whole pages of memory, narrow ones leave work for
  // other threads. 64 where the size is unknown, as eager code expects of the prebuilt kernels.
  static int64_t columnLanes(Dim columns) {
    if (!columns.known()) return 64;
    if (columns.size() >= 1024) return 256;
    if (columns.size() >= 256) return 128;
    return columns.size() > 32 ? 64 : columns.size() > 16 ? 32 : 16;
  }

  // Work items and a rough cost in ns of one, for the choice of chunks.
  void launch() {
    OpBuilder b(fusion_);
    Dim extent = 1, inner = 1;
    StringRef schedule = fusion_.getSchedule();
    size_t outer = 0;
    double costPerElement = 0.1;
    function_.walk([&](Operation* op) {
      if (isa<math::MathDialect>(op->getDialect()) && !isa<math::FmaOp, math::SqrtOp, math::AbsFOp>(op))
        costPerElement += 0.3;
      else if (isa<arith::ArithDialect>(op->getDialect()))
        costPerElement += 0.03;
    });
    if (schedule == "elementwise") {
      outer = groups_.size() > 1 ? groups_.size() - 1 : groups_.size();
    } else if (schedule == "row") {
      while (outer < groups_.size() && !isReduced(groups_[outer][0])) ++outer;
    }
    if (schedule == "column") {
      const int64_t lanes = columnLanes(groups_.empty() || isReduced(groups_.back()[0]) ? Dim(1) : sizes_.back());
      function_->setAttr("lanes", b.getI64IntegerAttr(lanes));
      for (size_t g = 0; g < groups_.size(); ++g) {
        bool last = g + 1 == groups_.size();
        if (isReduced(groups_[g][0]))
          inner = inner * sizes_[g];
        else if (last)
          extent = extent * floor_div(sizes_[g] + (lanes - 1), lanes), inner = inner * lanes;
        else
          extent = extent * sizes_[g];
      }
    } else {
      for (size_t g = 0; g < groups_.size(); ++g)
        (g < outer ? extent : inner) = (g < outer ? extent : inner) * sizes_[g];
    }
    int64_t innerSize = inner.known() ? inner.size() : 256;
    // In units of 1/1000 ns, so that single elements still weigh something.
    int64_t cost = std::max<int64_t>(1, int64_t(costPerElement * 1000 * innerSize));
    SmallVector<int64_t> inPlace;
    if (schedule == "elementwise")
      for (auto [i, key] : llvm::enumerate(inputKeys_)) {
        bool once = argumentDims_[key.first].size() == 1;
        if (once && key.second == allDims()) inPlace.push_back(i);
      }
    auto op = ir::LaunchOp::create(b, fusion_.getLoc(), fusion_.getResultTypes(), inputs_,
                                   FlatSymbolRefAttr::get(b.getContext(), name_), b.getDenseI64ArrayAttr(params_),
                                   b.getI64IntegerAttr(extent.raw()), b.getI64IntegerAttr(cost),
                                   b.getDenseI64ArrayAttr(inPlace));
    if (auto dims = fusion_->getAttr("dims")) op->setAttr("dims", dims);
    fusion_.replaceAllUsesWith(op.getResults());
    fusion_.erase();
  }

  ir::FusionOp fusion_;
  ModuleOp module_;
  OpBuilder b_;
  int number_;
  std::string name_;
  func::FuncOp function_;
  Shape domain_;
  std::set<int> reduced_;
  struct KeyLess {
    bool operator()(const std::pair<Operation*, Value>& a, const std::pair<Operation*, Value>& b) const {
      return std::make_pair(a.first, a.second.getAsOpaquePointer()) <
             std::make_pair(b.first, b.second.getAsOpaquePointer());
    }
  };
  std::map<std::pair<Operation*, Value>, DimSet, KeyLess> place_;
  llvm::MapVector<Value, SmallVector<DimSet>> argumentDims_;
  llvm::DenseMap<Value, DimSet> resultDims_;
  std::vector<SmallVector<int>> groups_;
  std::vector<Dim> sizes_;
  SmallVector<Value> sizeValues_, inputs_;
  SmallVector<std::pair<Value, DimSet>> inputKeys_;
  SmallVector<int64_t> params_;
  IRMapping values_;
  llvm::DenseMap<Value, DenseElementsAttr> constants_;
};

struct FusionToLinalgPass : PassWrapper<FusionToLinalgPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FusionToLinalgPass)
  StringRef getArgument() const override { return "kiln-fusion-to-linalg"; }
  StringRef getDescription() const override { return "Outlines each kiln.fusion as a function of linalg ops"; }
  void getDependentDialects(DialectRegistry& registry) const override {
    registry.insert<arith::ArithDialect, linalg::LinalgDialect, math::MathDialect, tensor::TensorDialect,
                    LLVM::LLVMDialect>();
  }
  void runOnOperation() override {
    ModuleOp module = getOperation();
    DimTable table = dimTableOf(module);
    {
      DimTable::Scope scope(&table);
      SmallVector<ir::FusionOp> fusions;
      mainFunction(module).walk([&](ir::FusionOp op) { fusions.push_back(op); });
      int number = 0;
      for (ir::FusionOp op : fusions) FusionLowering(op, module, number++).run();
    }
    if (table.size()) module->setAttr("kiln.dim_table", dimTableAttr(&getContext(), table));
  }
};

}  // namespace

std::unique_ptr<Pass> createFusionToLinalgPass() { return std::make_unique<FusionToLinalgPass>(); }

}  // namespace kiln::compiler
