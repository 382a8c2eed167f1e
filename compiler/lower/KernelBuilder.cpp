#include "compiler/lower/KernelBuilder.h"

#include "compiler/lower/IrScalar.h"

using namespace mlir;

namespace kiln::compiler {

KernelBuilder::KernelBuilder(func::FuncOp f) : old_(f), b_(f.getContext()), loc_(f.getLoc()) {
  schedule_ = f->getAttrOfType<StringAttr>("schedule").getValue().str();
  domain_ = llvm::to_vector(f->getAttrOfType<DenseI64ArrayAttr>("domain").asArrayRef());
  reduced_ = llvm::to_vector(f->getAttrOfType<DenseI64ArrayAttr>("reduced").asArrayRef());
  if (auto lanes = f->getAttrOfType<IntegerAttr>("lanes")) columnLanes_ = lanes.getInt();
  b_.setInsertionPoint(f);
  Type pointer = LLVM::LLVMPointerType::get(f.getContext()), i64 = b_.getI64Type();
  new_ = func::FuncOp::create(b_, loc_, (f.getName() + "_loops").str(),
                              b_.getFunctionType({pointer, pointer, i64, i64, pointer}, {b_.getI32Type()}));
  new_.setPrivate();
  Block* entry = new_.addEntryBlock();
  b_.setInsertionPointToStart(entry);
  buffers_ = entry->getArgument(0);
  params_ = entry->getArgument(1);
  begin_ = entry->getArgument(2);
  end_ = entry->getArgument(3);

  auto loadAt = [&](Value base, Type type, int i) -> Value {
    Value at = LLVM::GEPOp::create(b_, loc_, pointer, type, base, ArrayRef<LLVM::GEPArg>{i});
    return LLVM::LoadOp::create(b_, loc_, type, at);
  };
  int param = 0, buffer = 0;
  for (int64_t size : domain_)
    sizes_.push_back(ShapedType::isDynamic(size) ? loadAt(params_, i64, param++) : this->i64(size));
  int dynamic = 0;
  for (BlockArgument a : f.getArguments()) {
    if (isa<RankedTensorType>(a.getType())) {
      pointers_[a] = loadAt(buffers_, pointer, buffer++);
      continue;
    }
    for (int g = 0, seen = 0; g < (int)domain_.size(); ++g)
      if (ShapedType::isDynamic(domain_[g]) && seen++ == dynamic) outside_.map(a, sizes_[g]);
    ++dynamic;
  }
  auto ret = cast<func::ReturnOp>(f.getBody().front().getTerminator());
  for (Value v : ret.getOperands()) {
    outputs_.push_back(v);
    outputPointers_.push_back(loadAt(buffers_, pointer, buffer++));
  }
  for (auto op : f.getOps<linalg::GenericOp>()) ops_.push_back(op);
}

void KernelBuilder::finish() {
  Value ok = arith::ConstantOp::create(b_, loc_, b_.getI32IntegerAttr(0));
  func::ReturnOp::create(b_, loc_, ok);
  std::string name = old_.getName().str();
  old_.erase();
  new_.setName(name);
}

int64_t KernelBuilder::widestElement() const {
  int64_t bytes = 1;
  auto see = [&](Type t) {
    if (auto tensor = dyn_cast<RankedTensorType>(t))
      bytes = std::max<int64_t>(bytes, (tensor.getElementTypeBitWidth() + 7) / 8);
  };
  for (auto op : ops_) {
    for (Type t : op->getOperandTypes()) see(t);
    for (Type t : op->getResultTypes()) see(t);
  }
  return bytes;
}

Value KernelBuilder::i64(int64_t v) { return arith::ConstantOp::create(b_, loc_, b_.getI64IntegerAttr(v)); }
Value KernelBuilder::add(Value a, Value b) { return arith::AddIOp::create(b_, loc_, a, b); }
Value KernelBuilder::sub(Value a, Value b) { return arith::SubIOp::create(b_, loc_, a, b); }
Value KernelBuilder::mul(Value a, Value b) { return arith::MulIOp::create(b_, loc_, a, b); }
Value KernelBuilder::div(Value a, Value b) { return arith::DivUIOp::create(b_, loc_, a, b); }
Value KernelBuilder::rem(Value a, Value b) { return arith::RemUIOp::create(b_, loc_, a, b); }
Value KernelBuilder::minimum(Value a, Value b) { return arith::MinSIOp::create(b_, loc_, a, b); }
Value KernelBuilder::less(Value a, Value b) { return arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::slt, a, b); }

void KernelBuilder::yield(Block* block, ValueRange values) {
  OpBuilder::InsertionGuard guard(b_);
  if (!block->empty() && block->back().hasTrait<OpTrait::IsTerminator>()) block->back().erase();
  b_.setInsertionPointToEnd(block);
  scf::YieldOp::create(b_, loc_, values);
}

SmallVector<Value> KernelBuilder::loop(Value from, Value to, Value step, ValueRange init,
                                       llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(b_, loc_, from, to, step, init);
  OpBuilder::InsertionGuard guard(b_);
  Block* block = loop.getBody();
  if (init.empty())
    b_.setInsertionPoint(block->getTerminator());
  else
    b_.setInsertionPointToEnd(block);
  SmallVector<Value> next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!init.empty()) scf::YieldOp::create(b_, loc_, next);
  return SmallVector<Value>(loop.getResults());
}

std::optional<int64_t> KernelBuilder::knownSize(int group) const {
  if (ShapedType::isDynamic(domain_[group])) return std::nullopt;
  return domain_[group];
}

bool KernelBuilder::isMultiple(int group, int64_t of) const {
  auto n = knownSize(group);
  return n && *n % of == 0;
}

SmallVector<Value> KernelBuilder::delinearize(Value number, ArrayRef<int> dims) {
  SmallVector<Value> index(dims.size());
  for (int i = (int)dims.size() - 1; i >= 0; --i) {
    index[i] = i == 0 ? number : rem(number, sizes_[dims[i]]);
    if (i > 0) number = div(number, sizes_[dims[i]]);
  }
  return index;
}

Point KernelBuilder::scalarPoint(ArrayRef<Value> index) {
  Point p;
  p.index.assign(index.begin(), index.end());
  return p;
}

Point KernelBuilder::vectorPoint(ArrayRef<Value> outerIndex, int lanes) {
  Point p = scalarPoint(outerIndex);
  p.lanes = lanes;
  return p;
}

Value KernelBuilder::splat(Value scalar, int lanes) {
  if (lanes == 0 || isa<VectorType>(scalar.getType())) return scalar;
  auto type = VectorType::get({lanes}, scalar.getType());
  if (auto constant = scalar.getDefiningOp<arith::ConstantOp>())
    return arith::ConstantOp::create(b_, loc_, DenseElementsAttr::get(type, mlir::Attribute(constant.getValue())));
  Value poison = LLVM::PoisonOp::create(b_, loc_, type);
  Value zero = arith::ConstantOp::create(b_, loc_, b_.getI32IntegerAttr(0));
  Value first = LLVM::InsertElementOp::create(b_, loc_, poison, scalar, zero);
  return LLVM::ShuffleVectorOp::create(b_, loc_, first, poison, SmallVector<int32_t>(lanes, 0));
}

Value KernelBuilder::laneMask(Value count, int lanes) {
  SmallVector<int32_t> numbers;
  for (int i = 0; i < lanes; ++i) numbers.push_back(i);
  auto type = VectorType::get({lanes}, b_.getI32Type());
  Value lane = arith::ConstantOp::create(b_, loc_, DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers)));
  Value limit = splat(arith::TruncIOp::create(b_, loc_, b_.getI32Type(), count), lanes);
  return arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::slt, lane, limit);
}

bool KernelBuilder::isFull(linalg::GenericOp op) const {
  return !isReduction(op) && op.getNumLoops() == domain_.size() &&
         cast<RankedTensorType>(op.getResultTypes()[0]).getRank() == (int64_t)domain_.size();
}

// ---------------------------------------------------------------- memory

Type KernelBuilder::memoryType(Type element) const {
  return element.isInteger(1) ? IntegerType::get(element.getContext(), 8) : element;
}

Value KernelBuilder::offset(const Point& p, const Memory& memory) {
  int inner = (int)domain_.size() - 1;
  if (memory.isRow) return p.column;
  Value offset;
  for (int d : memory.dims) {
    Value at = d == inner && p.lanes ? p.column : p.index[d];
    offset = offset ? add(mul(offset, sizes_[d]), at) : at;
  }
  return offset ? offset : i64(0);
}

Value KernelBuilder::address(const Memory& memory, Value offset) {
  Type pointer = LLVM::LLVMPointerType::get(b_.getContext());
  return LLVM::GEPOp::create(b_, loc_, pointer, memoryType(memory.element), memory.pointer,
                             ArrayRef<LLVM::GEPArg>{offset});
}

Value KernelBuilder::load(Point& p, const Memory& memory) {
  bool vector = p.lanes && (memory.isRow || llvm::is_contained(memory.dims, (int)domain_.size() - 1));
  Type type = memoryType(memory.element);
  Value at = address(memory, offset(p, memory)), v;
  unsigned align = type.getIntOrFloatBitWidth() / 8;
  if (!vector) {
    v = LLVM::LoadOp::create(b_, loc_, type, at, align);
  } else {
    auto vectorType = VectorType::get({p.lanes}, type);
    if (p.mask) {
      Value none = arith::ConstantOp::create(b_, loc_, cast<TypedAttr>(b_.getZeroAttr(vectorType)));
      v = LLVM::MaskedLoadOp::create(b_, loc_, vectorType, at, p.mask, none, b_.getI32IntegerAttr(align));
    } else {
      v = LLVM::LoadOp::create(b_, loc_, vectorType, at, align);
    }
  }
  if (type != memory.element) {
    Value zero = arith::ConstantOp::create(b_, loc_, cast<TypedAttr>(b_.getZeroAttr(v.getType())));
    v = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ne, v, zero);
  }
  return splat(v, p.lanes);
}

Value KernelBuilder::stored(Value v, Type element) {
  Type type = memoryType(element);
  if (type == element) return v;
  return arith::ExtUIOp::create(b_, loc_, likeType(v.getType(), type), v);
}

void KernelBuilder::storeTo(Point& p, const Memory& memory, Value v) {
  Value at = address(memory, offset(p, memory));
  v = stored(v, memory.element);
  unsigned align = memoryType(memory.element).getIntOrFloatBitWidth() / 8;
  if (p.mask && p.lanes)
    LLVM::MaskedStoreOp::create(b_, loc_, v, at, p.mask, b_.getI32IntegerAttr(align));
  else
    LLVM::StoreOp::create(b_, loc_, v, at, align);
}

Memory KernelBuilder::outputAt(size_t i) const {
  auto op = outputs_[i].getDefiningOp<linalg::GenericOp>();
  Memory m{outputPointers_[i], cast<RankedTensorType>(outputs_[i].getType()).getElementType(), {}, false};
  for (AffineExpr e : op.getIndexingMapsArray().back().getResults())
    m.dims.push_back(cast<AffineDimExpr>(e).getPosition());
  return m;
}

std::optional<Memory> KernelBuilder::outputMemory(Value v) const {
  for (auto [i, out] : llvm::enumerate(outputs_))
    if (out == v) return outputAt(i);
  return std::nullopt;
}

void KernelBuilder::storeToOutputs(Point& p, Value result, Value v) {
  for (auto [i, out] : llvm::enumerate(outputs_))
    if (out == result) storeTo(p, outputAt(i), v);
}

Memory KernelBuilder::allocateRow(Value like, int64_t columns) {
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(&new_.getBody().front());
  Type element = cast<RankedTensorType>(like.getType()).getElementType();
  Value count = arith::ConstantOp::create(b_, loc_, b_.getI64IntegerAttr(columns));
  Value pointer =
      LLVM::AllocaOp::create(b_, loc_, LLVM::LLVMPointerType::get(b_.getContext()), memoryType(element), count, 64);
  return {pointer, element, {}, true};
}

void KernelBuilder::storeOutputs(Point& p, ArrayRef<Value> values) {
  SmallVector<Value> computed;
  for (Value v : values) computed.push_back(value(p, v));
  for (auto [v, c] : llvm::zip(values, computed)) storeToOutputs(p, v, c);
}

void KernelBuilder::storeRowOutputs(Point& p) {
  for (auto [i, out] : llvm::enumerate(outputs_))
    if (!isFull(out.getDefiningOp<linalg::GenericOp>())) storeTo(p, outputAt(i), p.values.lookup(out));
}

// ---------------------------------------------------------------- values

Value KernelBuilder::value(Point& p, Value v) {
  if (auto it = p.values.find(v); it != p.values.end()) return it->second;
  Value result;
  if (auto it = p.inMemory.find(v); it != p.inMemory.end()) {
    result = load(p, it->second);
  } else if (auto op = v.getDefiningOp<linalg::GenericOp>()) {
    SmallVector<Value> arguments;
    for (size_t i = 0; i < op.getInputs().size(); ++i) arguments.push_back(operand(p, op, i));
    arguments.push_back({});  // the unused value of the empty output
    result = payload(p, op, arguments, p.lanes);
  } else {
    auto user = cast<linalg::GenericOp>(*v.getUsers().begin());
    Memory m{pointers_.lookup(v), cast<RankedTensorType>(v.getType()).getElementType(), {}, false};
    for (OpOperand& use : user->getOpOperands())
      if (use.get() == v)
        for (AffineExpr e : user.getMatchingIndexingMap(&use).getResults())
          m.dims.push_back(cast<AffineDimExpr>(e).getPosition());
    m.dims.resize(cast<RankedTensorType>(v.getType()).getRank());
    result = load(p, m);
  }
  p.values[v] = result;
  return result;
}

Value KernelBuilder::operand(Point& p, linalg::GenericOp op, int i) { return value(p, op.getInputs()[i]); }

void KernelBuilder::hoistBroadcasts(Point& p) {
  int inner = (int)domain_.size() - 1;
  for (auto op : ops_)
    for (OpOperand& use : op->getOpOperands()) {
      Value v = use.get();
      if (!pointers_.count(v) || p.values.count(v)) continue;
      AffineMap map = op.getMatchingIndexingMap(&use);
      bool hasInner = llvm::any_of(map.getResults(),
                                   [&](AffineExpr e) { return (int)cast<AffineDimExpr>(e).getPosition() == inner; });
      if (!hasInner) value(p, v);
    }
}

void KernelBuilder::carryRowValues(const Point& row, Point& p) {
  for (auto& [v, scalar] : row.values) p.values[v] = splat(scalar, p.lanes);
}

Value KernelBuilder::payload(Point& p, linalg::GenericOp op, ValueRange arguments, int lanes) {
  Block* block = op.getBody();
  IRMapping map;
  for (auto [from, to] : llvm::zip(block->getArguments(), arguments))
    if (to) map.map(from, to);
  auto vectorized = [&](Type t) -> Type {
    if (t.isIndex()) t = b_.getI64Type();
    return lanes ? Type(VectorType::get({lanes}, t)) : t;
  };
  auto fromOutside = [&](Value v) { return splat(outsideValue(v), lanes); };
  for (Operation& inner : block->without_terminator()) {
    for (Value v : inner.getOperands())
      if (!map.contains(v)) map.map(v, fromOutside(v));
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      int g = index.getDim();
      Value v;
      if (lanes && g == (int)domain_.size() - 1) {
        SmallVector<int64_t> numbers;
        for (int i = 0; i < lanes; ++i) numbers.push_back(i);
        auto type = VectorType::get({lanes}, b_.getI64Type());
        Value step = arith::ConstantOp::create(b_, loc_, DenseElementsAttr::get(type, ArrayRef<int64_t>(numbers)));
        v = add(splat(p.column, lanes), step);
      } else {
        v = splat(p.index[g], lanes);
      }
      map.map(index.getResult(), v);
    } else if (isa<arith::IndexCastOp>(inner)) {
      map.map(inner.getResult(0), map.lookup(inner.getOperand(0)));
    } else if (auto constant = dyn_cast<arith::ConstantOp>(inner)) {
      Value v = arith::ConstantOp::create(b_, inner.getLoc(), constant.getValue());
      map.map(constant.getResult(), splat(v, lanes));
    } else {
      Operation* copy = b_.clone(inner, map);
      for (OpResult r : copy->getResults()) r.setType(vectorized(inner.getResult(r.getResultNumber()).getType()));
    }
  }
  Value result = block->getTerminator()->getOperand(0);
  return map.contains(result) ? map.lookup(result) : fromOutside(result);
}

Value KernelBuilder::outsideValue(Value v) {
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(&new_.getBody().front());
  std::function<void(Value)> copy = [&](Value x) {
    if (outside_.contains(x)) return;
    Operation* op = x.getDefiningOp();
    if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && x.getType().isIndex()) {
      outside_.map(x, i64(cast<IntegerAttr>(constant.getValue()).getInt()));
      return;
    }
    for (Value operand : op->getOperands()) copy(operand);
    b_.clone(*op, outside_);
  };
  copy(v);
  return outside_.lookup(v);
}

Value KernelBuilder::identityOf(linalg::GenericOp reduction) {
  return outsideValue(reduction.getOutputs()[0].getDefiningOp<linalg::FillOp>().getInputs()[0]);
}

Value KernelBuilder::combine(linalg::GenericOp reduction, Value accumulator, Value element, Value mask) {
  auto vector = dyn_cast<VectorType>(accumulator.getType());
  Point none;
  Value next = payload(none, reduction, {element, accumulator}, vector ? vector.getNumElements() : 0);
  return mask ? Value(arith::SelectOp::create(b_, loc_, mask, next, accumulator)) : next;
}

Value KernelBuilder::reduceLanes(linalg::GenericOp reduction, Value v) {
  for (int half = cast<VectorType>(v.getType()).getNumElements() / 2; half >= 1; half /= 2) {
    auto part = [&](int from) -> Value {
      if (half == 1)
        return LLVM::ExtractElementOp::create(b_, loc_, v,
                                              Value(arith::ConstantOp::create(b_, loc_, b_.getI32IntegerAttr(from))));
      SmallVector<int32_t> lanes;
      for (int i = 0; i < half; ++i) lanes.push_back(from + i);
      return LLVM::ShuffleVectorOp::create(b_, loc_, v, v, lanes);
    };
    Value low = part(0), high = part(half);
    v = combine(reduction, low, high, Value());
  }
  return v;
}

// ---------------------------------------------------------------- phases

void KernelBuilder::computeLevels() {
  for (auto op : ops_) {
    int level = 0;
    for (Value v : op.getInputs()) level = std::max(level, levels_.lookup(v));
    if (isReduction(op)) ++level;
    levels_[op.getResult(0)] = level;
    maxLevel_ = std::max(maxLevel_, level);
  }
}

void KernelBuilder::computeRowValues(Point& row, int level) {
  for (auto op : ops_) {
    Value v = op.getResult(0);
    if (isReduction(op) || isFull(op) || levels_[v] != level) continue;
    value(row, v);
  }
}

SmallVector<linalg::GenericOp> KernelBuilder::reductionsAt(int level) {
  SmallVector<linalg::GenericOp> result;
  for (auto op : ops_)
    if (isReduction(op) && std::max(0, levels_.lookup(op.getResult(0)) - 1) == level) result.push_back(op);
  return result;
}

SmallVector<Value> KernelBuilder::fullOutputsAt(int level) {
  SmallVector<Value> result;
  for (Value v : outputs_)
    if (isFull(v.getDefiningOp<linalg::GenericOp>()) && levels_.lookup(v) == level && !llvm::is_contained(result, v))
      result.push_back(v);
  return result;
}

SmallVector<Value> KernelBuilder::fullValues() {
  SmallVector<Value> result;
  for (auto op : ops_)
    if (isFull(op)) result.push_back(op.getResult(0));
  return result;
}

bool KernelBuilder::isCostly(Value v) {
  auto op = v.getDefiningOp<linalg::GenericOp>();
  if (!op || !isFull(op)) return false;
  for (Operation& inner : *op.getBody()) {
    bool cheap = isa<math::FmaOp, math::SqrtOp, math::AbsFOp, math::FloorOp, math::CeilOp, math::TruncOp,
                     math::RoundEvenOp, math::CopySignOp>(inner);
    if (isa<math::MathDialect>(inner.getDialect()) && !cheap) return true;
  }
  return llvm::any_of(op.getInputs(), [&](Value in) { return isCostly(in); });
}

bool KernelBuilder::usedAfterItsLevel(Value v) {
  std::function<bool(Value, int)> later = [&](Value x, int level) {
    for (Operation* user : x.getUsers()) {
      auto op = dyn_cast<linalg::GenericOp>(user);
      if (!op) continue;
      int when = isReduction(op) ? levels_.lookup(op.getResult(0)) - 1 : levels_.lookup(op.getResult(0));
      if (when > level) return true;
      if (isFull(op) && later(op.getResult(0), level)) return true;
    }
    return false;
  };
  return later(v, levels_.lookup(v));
}

}  // namespace kiln::compiler
