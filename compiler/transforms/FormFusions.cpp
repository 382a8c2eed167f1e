// Groups element-wise ops and reductions into kiln.fusion, one kernel each. Legal groups are found by classifying the
// whole group anew at each merge, so there is one definition of what a group may hold: `classify`.
#include "compiler/lower/OpAccess.h"
#include "compiler/transforms/Passes.h"

using namespace mlir;

namespace kiln::compiler {
namespace {

constexpr size_t maxFusionOps = 120;
constexpr size_t maxFusionOperands = 48;
// A reduction of fewer rows than this is left alone if each row is long: its parallelism lies within the row.
constexpr int64_t fewRows = 4, longRow = 1 << 15;
// A column reduction of fewer columns than this does not take in its producers: they would run on one thread.
constexpr int64_t fewColumns = 256;

bool isElementwise(Operation* op) {
  auto id = opIdOf(op);
  if (!id) return false;
  const OpInfo& i = info(*id);
  return i.kind == OpKind::elementwise || (i.kind == OpKind::source && *id != OpId::constant);
}
bool isReduction(Operation* op) {
  auto id = opIdOf(op);
  return id && info(*id).kind == OpKind::reduction;
}
bool isView(Operation* op) {
  auto id = opIdOf(op);
  return id && info(*id).kind == OpKind::view;
}

bool isControl(Operation* op) {
  auto id = opIdOf(op);
  return id && info(*id).kind == OpKind::control;
}

// A loop or branch on scalars alone: it becomes one native kernel instead of steps.
bool isScalarControl(Operation* op) {
  if (!isControl(op)) return false;
  auto scalar = [](Value v) { return cast<RankedTensorType>(v.getType()).getRank() == 0; };
  bool ok = llvm::all_of(op->getOperands(), scalar) && llvm::all_of(op->getResults(), scalar);
  for (mlir::Region& region : op->getRegions())
    for (Operation& inner : region.front()) {
      if (isa<ir::YieldOp>(inner)) continue;
      bool leaf =
          (isElementwise(&inner) && !info(*opIdOf(&inner)).uses_index) || isView(&inner) || inner.hasAttr("value");
      ok &= (leaf && llvm::all_of(inner.getOperands(), scalar) && llvm::all_of(inner.getResults(), scalar)) ||
            isScalarControl(&inner);
    }
  return ok;
}

// zeros and ones become broadcasts of a scalar constant, so that there is one kind of splat to look for.
void expandSplats(Block& block) {
  for (Operation& op : llvm::make_early_inc_range(block)) {
    auto id = opIdOf(&op);
    if (!id) continue;
    const bool one = *id == OpId::ones;
    if (!one && *id != OpId::zeros) continue;
    OpBuilder b(&op);
    Value result = op.getResult(0);
    Shape shape = shapeOf(result);
    Type element = cast<RankedTensorType>(result.getType()).getElementType();
    auto scalar = RankedTensorType::get({}, element);
    mlir::Attribute value =
        isa<FloatType>(element)
            ? mlir::Attribute(b.getFloatAttr(element, one))
            : mlir::Attribute(IntegerAttr::get(element, APInt(element.getIntOrFloatBitWidth(), one)));
    OperationState constant(op.getLoc(), "kiln.constant", {}, scalar,
                            {b.getNamedAttr("index", b.getI64IntegerAttr(-1)),
                             b.getNamedAttr("value", DenseElementsAttr::get(scalar, value))});
    OperationState broadcast(op.getLoc(), "kiln.broadcast_to", b.create(constant)->getResults(), result.getType(),
                             b.getNamedAttr("shape", b.getDenseI64ArrayAttr(rawDims(shape))));
    Operation* made = b.create(broadcast);
    setResultShapes(made, {shape});
    result.replaceAllUsesWith(made->getResult(0));
    op.erase();
  }
}

// The one-element constant behind a value: itself, or one that was broadcast or reshaped.
Operation* splatConstant(Value v) {
  Operation* op = v.getDefiningOp();
  while (op && !op->hasAttr("value")) {
    auto id = opIdOf(op);
    if (!id || !(*id == OpId::broadcast_to || info(*id).kind == OpKind::view)) return nullptr;
    op = op->getOperand(0).getDefiningOp();
  }
  if (!op || !cast<DenseElementsAttr>(op->getAttr("value")).isSplat()) return nullptr;
  return op;
}

// The same where `user` may take the scalar in its place: a reduction needs all the elements.
Operation* splatFor(Operation* user, Value v) { return isReduction(user) ? nullptr : splatConstant(v); }

// Where a value of a group lives: at each point of the domain, or once per row (reduced dims kept as 1, or dropped).
enum class Layout { full, keep, drop };

struct Group {
  std::string schedule = "elementwise";
  Shape domain;
  std::vector<int64_t> reduced;  // sorted
};

std::vector<int64_t> reducedAxes(Operation* op, int rank) {
  auto axes = std::get<std::vector<int64_t>>(attributesOf(op)[0]);
  if (axes.empty())
    for (int i = 0; i < rank; ++i) axes.push_back(i);
  for (int64_t& a : axes) a = a < 0 ? a + rank : a;
  llvm::sort(axes);
  return axes;
}

std::optional<Group> classify(ArrayRef<Operation*> ops) {
  Group g;
  Operation* reduction = nullptr;
  for (Operation* op : ops)
    if (isReduction(op)) {
      Shape s = shapeOf(op->getOperand(0));
      auto axes = reducedAxes(op, s.rank());
      if (reduction && (!(s == g.domain) || axes != g.reduced)) return std::nullopt;
      reduction = op;
      g.domain = s;
      g.reduced = axes;
    }
  if (!reduction) {
    g.domain = shapeOf(ops[0]->getResult(0));
    for (Operation* op : ops)
      if (isView(op) || !(shapeOf(op->getResult(0)) == g.domain)) return std::nullopt;
    return g;
  }
  const int rank = g.domain.rank();
  auto isReduced = [&](int i) { return llvm::is_contained(g.reduced, i); };
  // Neighbours by now; a row reduction is one over the last dims, whatever their sizes: the order of a reduction must
  // not depend on whether a dim of size 1 was known.
  const bool trailing = g.reduced.empty() || g.reduced.back() == rank - 1;
  g.schedule = trailing ? "row" : "column";
  Shape keep, drop;
  Dim rows = 1, columns = 1;
  for (int i = 0; i < rank; ++i) {
    keep.push_back(isReduced(i) ? Dim(1) : g.domain[i]);
    if (isReduced(i)) {
      columns = columns.known() && g.domain[i].known() ? Dim(columns.size() * g.domain[i].size()) : Dim::symbol(0);
    } else {
      drop.push_back(g.domain[i]);
      rows = rows.known() && g.domain[i].known() ? Dim(rows.size() * g.domain[i].size()) : Dim::symbol(0);
    }
  }
  if (ops.size() > 1) {
    if (trailing && rows.known() && rows.size() < fewRows && !(columns.known() && columns.size() < longRow))
      return std::nullopt;
    if (!trailing && rows.known() && rows.size() < fewColumns) return std::nullopt;
  }
  // Every operand has all the reduced dims or none: they become one loop.
  llvm::SmallPtrSet<Operation*, 16> inside(ops.begin(), ops.end());
  for (Operation* op : ops)
    for (Value v : op->getOperands()) {
      if (inside.contains(v.getDefiningOp()) || isReduction(op) || splatConstant(v)) continue;
      Shape s = shapeOf(v), result = shapeOf(op->getResult(0));
      if (!(result == g.domain)) continue;
      int present = 0, all = 0;
      for (int64_t axis : g.reduced) {
        if (g.domain[axis] == Dim(1)) continue;
        ++all;
        int i = int(axis) - (rank - s.rank());
        present += i >= 0 && s[i] == g.domain[axis];
      }
      if (present && present != all) return std::nullopt;
    }
  llvm::DenseMap<Operation*, Layout> layout;
  for (Operation* op : ops) {
    if (isReduction(op)) {
      auto producer = layout.find(op->getOperand(0).getDefiningOp());
      if (producer != layout.end() && producer->second != Layout::full) return std::nullopt;
      layout[op] = std::get<bool>(attributesOf(op)[1]) ? Layout::keep : Layout::drop;
      continue;
    }
    Shape shape = shapeOf(op->getResult(0));
    auto fits = [&](Layout l, const Shape& s) {
      if (!(shape == s)) return false;
      for (Value v : op->getOperands()) {
        auto in = layout.find(v.getDefiningOp());
        if (in == layout.end()) continue;
        if (isView(op)) return in->second != Layout::full && l != Layout::full;
        bool scalarRow = drop.rank() == 0;
        if (l == Layout::full && in->second == Layout::drop && !scalarRow) return false;
        if (l != Layout::full && in->second != l && !(scalarRow && in->second != Layout::full)) return false;
      }
      return !isView(op) || layout.count(op->getOperand(0).getDefiningOp());
    };
    if (fits(Layout::full, g.domain))
      layout[op] = Layout::full;
    else if (fits(Layout::keep, keep))
      layout[op] = Layout::keep;
    else if (fits(Layout::drop, drop))
      layout[op] = Layout::drop;
    else
      return std::nullopt;
    if (!trailing && layout[op] != Layout::full) return std::nullopt;
    if (!trailing)
      for (Value v : op->getOperands())
        if (auto in = layout.find(v.getDefiningOp()); in != layout.end() && in->second != Layout::full)
          return std::nullopt;
  }
  return g;
}

class BlockFuser {
 public:
  explicit BlockFuser(Block& block) : block_(block) {}

  void run() {
    for (Operation& op : block_.without_terminator()) {
      position_[&op] = position_.size();
      int unit = units_.size();
      units_.push_back({{&op}, {}});
      unitOf_[&op] = unit;
      for (Value v : capturedBy(&op))
        if (int p = producer(v); p >= 0) units_[unit].deps.insert(p);
      if (fusible(&op)) mergeWithProducers(&op);
    }
    mergeSiblings();
    emit();
  }

 private:
  struct Unit {
    SmallVector<Operation*> ops;
    std::set<int> deps;
  };

  static bool fusible(Operation* op) { return isElementwise(op) || isReduction(op) || isView(op); }

  // Operands, and for control ops what their regions use from outside.
  static SmallVector<Value> capturedBy(Operation* op) {
    SmallVector<Value> values(op->getOperands());
    op->walk([&](Operation* inner) {
      if (inner != op)
        for (Value v : inner->getOperands())
          if (!op->isAncestor(v.getParentBlock()->getParentOp())) values.push_back(v);
    });
    return values;
  }

  int find(int u) {
    while (parent_.count(u)) u = parent_[u];
    return u;
  }
  int producer(Value v) {
    auto it = unitOf_.find(v.getDefiningOp());
    return it == unitOf_.end() ? -1 : find(it->second);
  }

  std::set<int> depsOf(int u) {
    std::set<int> result;
    for (int d : units_[u].deps)
      if (int f = find(d); f != u) result.insert(f);
    return result;
  }

  // Is there a path from `from` down to `to` through at least one other unit?
  bool indirectPath(int from, int to) {
    SmallVector<int> stack;
    std::set<int> seen;
    for (int d : depsOf(from))
      if (d != to) stack.push_back(d);
    while (!stack.empty()) {
      int u = stack.pop_back_val();
      if (u == to) return true;
      if (!seen.insert(u).second) continue;
      for (int d : depsOf(u)) stack.push_back(d);
    }
    return false;
  }

  void mergeWithProducers(Operation* op) {
    SmallVector<int> candidates;
    for (Value v : op->getOperands())
      if (int p = producer(v); p >= 0 && !splatFor(op, v)) candidates.push_back(p);
    llvm::sort(candidates, std::greater<>());
    for (int p : candidates) merge(find(unitOf_[op]), find(p));
  }

  // Groups without a path between them that read the same large input: one pass over memory instead of two.
  void mergeSiblings() {
    for (Operation& op : block_.without_terminator())
      for (Value result : op.getResults()) {
        int first = -1;
        for (Operation* user : result.getUsers()) {
          auto it = unitOf_.find(user);
          if (it == unitOf_.end() || !fusible(user)) continue;
          int u = find(it->second);
          if (first < 0)
            first = u;
          else
            first = merge(first, u) ? find(first) : first;
        }
      }
  }

  bool merge(int a, int b) {
    if (a == b) return true;
    Unit &ua = units_[a], &ub = units_[b];
    if (ua.ops.size() + ub.ops.size() > maxFusionOps) return false;
    for (Operation* op : ua.ops)
      if (!fusible(op)) return false;
    for (Operation* op : ub.ops)
      if (!fusible(op)) return false;
    SmallVector<Operation*> ops(ua.ops);
    ops.append(ub.ops);
    llvm::sort(ops, [&](Operation* x, Operation* y) { return position_[x] < position_[y]; });
    if (!classify(ops) || externalOperands(ops) > maxFusionOperands) return false;
    if (indirectPath(a, b) || indirectPath(b, a)) return false;
    ua.ops = ops;
    ua.deps.insert(ub.deps.begin(), ub.deps.end());
    parent_[b] = a;
    return true;
  }

  static size_t externalOperands(ArrayRef<Operation*> ops) {
    llvm::SmallPtrSet<Operation*, 16> inside(ops.begin(), ops.end());
    llvm::SmallDenseSet<Value> outside;
    for (Operation* op : ops)
      for (Value v : op->getOperands())
        if (!inside.contains(v.getDefiningOp())) outside.insert(v);
    return outside.size();
  }

  void emit() {
    // Units in an order that respects their dependences, earliest first.
    std::vector<int> order;
    std::set<int> done;
    std::function<void(int)> visit = [&](int u) {
      if (!done.insert(u).second) return;
      for (int d : depsOf(u)) visit(d);
      order.push_back(u);
    };
    for (size_t u = 0; u < units_.size(); ++u) visit(find(u));
    OpBuilder b(block_.getTerminator());
    for (int u : order) {
      Unit& unit = units_[u];
      bool groupable =
          llvm::none_of(unit.ops, [](Operation* op) { return !isElementwise(op) && !isReduction(op) && !isView(op); });
      bool onlyView = unit.ops.size() == 1 && isView(unit.ops[0]);
      if (groupable && !onlyView)
        fuse(b, unit.ops);
      else if (isScalarControl(unit.ops[0]))
        fuseControl(b, unit.ops[0]);
      else
        for (Operation* op : unit.ops) op->moveBefore(block_.getTerminator());
    }
  }

  void fuse(OpBuilder& b, ArrayRef<Operation*> ops) {
    Group g = *classify(ops);
    llvm::SmallPtrSet<Operation*, 16> inside(ops.begin(), ops.end());
    SmallVector<Value> inputs, outputs;
    IRMapping map;
    SmallVector<Operation*> constants;
    for (Operation* op : ops)
      for (Value v : op->getOperands()) {
        if (inside.contains(v.getDefiningOp()) || llvm::is_contained(inputs, v)) continue;
        if (Operation* c = splatFor(op, v))
          constants.push_back(c);
        else
          inputs.push_back(v);
      }
    SmallVector<Type> types;
    SmallVector<Shape> shapes;
    // Fusions make their own copy of a splat, so it is an output for other users only.
    auto needsOutput = [&](Value v, Operation* user) {
      return !inside.contains(user) && !(isElementwise(user) && splatConstant(v));
    };
    for (Operation* op : ops)
      if (llvm::any_of(op->getUsers(), [&](Operation* user) { return needsOutput(op->getResult(0), user); })) {
        outputs.push_back(op->getResult(0));
        types.push_back(op->getResult(0).getType());
        shapes.push_back(shapeOf(op->getResult(0)));
      }
    if (outputs.empty()) {
      for (Operation* op : ops) op->moveBefore(block_.getTerminator());
      return;
    }
    SmallVector<mlir::Location> locs;
    for (Operation* op : ops) locs.push_back(op->getLoc());
    auto fusion = ir::FusionOp::create(b, b.getFusedLoc(locs), types, inputs, b.getStringAttr(g.schedule),
                                       b.getDenseI64ArrayAttr(rawDims(g.domain)), b.getDenseI64ArrayAttr(g.reduced));
    setResultShapes(fusion, shapes);
    Block* body = &fusion.getBody().emplaceBlock();
    for (Value v : inputs) map.map(v, body->addArgument(v.getType(), v.getLoc()));
    OpBuilder inner = OpBuilder::atBlockEnd(body);
    for (Operation* op : ops) {
      for (Value v : op->getOperands())
        if (!map.contains(v))
          if (Operation* c = splatFor(op, v)) {
            Operation* copy = inner.clone(*scalarConstant(inner, c));
            map.map(v, copy->getResult(0));
          }
      inner.clone(*op, map);
    }
    SmallVector<Value> yields;
    for (Value v : outputs) yields.push_back(map.lookup(v));
    ir::YieldOp::create(inner, fusion.getLoc(), yields);
    for (auto [from, to] : llvm::zip(outputs, fusion.getOutputs()))
      from.replaceUsesWithIf(to, [&](OpOperand& use) { return needsOutput(from, use.getOwner()); });
    for (Operation* op : llvm::reverse(ops)) {
      if (op->use_empty())
        op->erase();
      else
        op->moveBefore(block_.getTerminator());
    }
  }

  void fuseControl(OpBuilder& b, Operation* op) {
    SmallVector<Value> inputs;
    SmallVector<Operation*> constants;
    for (Value v : capturedBy(op)) {
      if (Operation* c = v.getDefiningOp(); c && c->hasAttr("value")) {
        if (!llvm::is_contained(constants, c)) constants.push_back(c);
      } else if (!llvm::is_contained(inputs, v)) {
        inputs.push_back(v);
      }
    }
    auto fusion = ir::FusionOp::create(b, op->getLoc(), op->getResultTypes(), inputs, b.getStringAttr("scalar"),
                                       b.getDenseI64ArrayAttr({}), b.getDenseI64ArrayAttr({}));
    Block* body = &fusion.getBody().emplaceBlock();
    OpBuilder inner = OpBuilder::atBlockEnd(body);
    IRMapping map;
    for (Value v : inputs) map.map(v, body->addArgument(v.getType(), v.getLoc()));
    for (Operation* c : constants) inner.clone(*c, map);
    Operation* copy = inner.clone(*op, map);
    ir::YieldOp::create(inner, op->getLoc(), copy->getResults());
    op->replaceAllUsesWith(fusion.getResults());
    op->erase();
  }

  // A rank-0 copy of a splat constant; the caller clones it into the fusion.
  Operation* scalarConstant(OpBuilder& b, Operation* c) {
    if (auto it = scalars_.find(c); it != scalars_.end()) return it->second;
    auto value = cast<DenseElementsAttr>(c->getAttr("value"));
    auto type = RankedTensorType::get({}, value.getElementType());
    OperationState state(c->getLoc(), c->getName());
    state.addAttributes(c->getAttrDictionary().getValue());
    state.addTypes(type);
    OpBuilder top(&block_, block_.begin());
    Operation* made = top.create(state);
    made->setAttr("value", DenseElementsAttr::get(type, value.getSplatValue<mlir::Attribute>()));
    return scalars_[c] = made;
  }

  Block& block_;
  std::vector<Unit> units_;
  llvm::DenseMap<Operation*, int> unitOf_;
  std::map<int, int> parent_;
  llvm::DenseMap<Operation*, size_t> position_;
  llvm::DenseMap<Operation*, Operation*> scalars_;
};

struct FormFusionsPass : PassWrapper<FormFusionsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FormFusionsPass)
  StringRef getArgument() const override { return "kiln-form-fusions"; }
  StringRef getDescription() const override { return "Groups element-wise ops and reductions into kiln.fusion"; }
  void runOnOperation() override {
    func::FuncOp f = mainFunction(getOperation());
    // Outer blocks first: a scalar loop is taken whole.
    SmallVector<Block*> blocks{&f.getBody().front()};
    for (size_t i = 0; i < blocks.size(); ++i) {
      Block* block = blocks[i];
      expandSplats(*block);
      BlockFuser(*block).run();
      for (Operation& op : *block)
        if (isControl(&op))
          for (mlir::Region& region : op.getRegions()) blocks.push_back(&region.front());
    }
    // Constants that live on only in the fusions.
    for (Block* block : llvm::reverse(blocks))
      for (Operation& op : llvm::make_early_inc_range(llvm::reverse(*block)))
        if (op.use_empty() && isMemoryEffectFree(&op) && !op.hasTrait<OpTrait::IsTerminator>()) op.erase();
  }
};

}  // namespace

std::unique_ptr<Pass> createFormFusionsPass() { return std::make_unique<FormFusionsPass>(); }

}  // namespace kiln::compiler
