#include "compiler/lower/BuildExecutable.h"

#include "compiler/lower/OpAccess.h"
#include "dialects/kiln/rules/library_calls.h"

using namespace mlir;

namespace kiln::compiler {
namespace {

class Builder {
 public:
  Builder(ModuleOp module, ArrayRef<Constant> constants) : main_(mainFunction(module)), constants_(constants) {
    exe_.name = main_.getName().str();
    exe_.dims = dimTableOf(module);
  }

  Result<Executable> run() {
    DimTable::Scope scope(&exe_.dims);
    for (auto [i, argument] : llvm::enumerate(main_.getArguments())) {
      TensorType type = typeOf(argument);
      auto name = main_.getArgAttrOfType<StringAttr>(i, "kiln.name");
      bool variable = main_.getArgAttr(i, "kiln.variable") != nullptr;
      exe_.inputs.push_back({name ? name.getValue().str() : "", variable, type.dtype, type.shape});
      buffers_[argument] = addBuffer(BufferKind::input, i, type);
    }
    auto ret = cast<func::ReturnOp>(main_.getBody().front().getTerminator());
    for (auto [i, v] : llvm::enumerate(ret.getOperands())) {
      TensorType type = typeOf(v);
      auto updates = main_.getResultAttrOfType<IntegerAttr>(i, "kiln.updates");
      exe_.outputs.push_back({type.dtype, type.shape, updates ? int32_t(updates.getInt()) : -1});
    }
    placeOutputs(ret);
    KILN_RETURN_IF_ERROR(addBlock(main_.getBody().front(), exe_.steps));
    copyOutputs(ret);
    return std::move(exe_);
  }

 private:
  int32_t addBuffer(BufferKind kind, int64_t index, const TensorType& type) {
    exe_.buffers.push_back({kind, int32_t(index), type.dtype, type.shape});
    return int32_t(exe_.buffers.size()) - 1;
  }

  // A result that one step of the main block makes can be made in place, if nothing else needs the memory before:
  // a plain output always, a variable's new value if every reader of the old one runs earlier, or is the maker itself
  // reading it only at the index it writes.
  void placeOutputs(func::ReturnOp ret) {
    llvm::SmallDenseSet<Value> placed;
    for (auto [i, v] : llvm::enumerate(ret.getOperands())) {
      Operation* maker = v.getDefiningOp();
      if (!maker || placed.contains(v) || isa<BlockArgument>(v)) continue;
      auto id = opIdOf(maker);
      bool isStep = isa<ir::LaunchOp>(maker) || (id && info(*id).kind == OpKind::structured);
      if (!isStep) continue;
      int32_t variable = exe_.outputs[i].updates;
      if (variable >= 0 && !mayOverwrite(main_.getArgument(variable), maker, ret)) continue;
      buffers_[v] = addBuffer(BufferKind::output, i, typeOf(v));
      placed.insert(v);
      inPlace_.insert(i);
    }
  }

  bool mayOverwrite(Value old, Operation* maker, func::ReturnOp ret) {
    SmallVector<Value> aliases{old};
    for (size_t k = 0; k < aliases.size(); ++k)
      for (OpOperand& use : aliases[k].getUses()) {
        Operation* user = use.getOwner();
        if (user == ret) return false;
        auto id = opIdOf(user);
        if (id && info(*id).kind == OpKind::view) {
          aliases.push_back(user->getResult(0));
          continue;
        }
        Operation* top = main_.getBody().front().findAncestorOpInBlock(*user);
        if (top->isBeforeInBlock(maker)) continue;
        auto launch = dyn_cast<ir::LaunchOp>(user);
        if (top != maker || !launch || !llvm::is_contained(launch.getInPlace(), (int64_t)use.getOperandNumber()))
          return false;
      }
    return true;
  }

  void copyOutputs(func::ReturnOp ret) {
    // First save what another copy would overwrite: a variable's old value that is itself a result.
    for (auto [i, v] : llvm::enumerate(ret.getOperands())) {
      if (inPlace_.count(i)) continue;
      if (exe_.outputs[i].updates >= 0) continue;
      copy(buffers_.lookup(v), addBuffer(BufferKind::output, i, typeOf(v)), exe_.steps);
    }
    SmallVector<std::pair<int32_t, int32_t>> late;
    for (auto [i, v] : llvm::enumerate(ret.getOperands())) {
      if (inPlace_.count(i) || exe_.outputs[i].updates < 0) continue;
      int32_t from = buffers_.lookup(v);
      if (exe_.buffers[root(from)].kind == BufferKind::input) {  // one variable's old value becomes another's new one
        int32_t saved = addBuffer(BufferKind::temp, 0, typeOf(v));
        copy(from, saved, exe_.steps);
        from = saved;
      }
      late.push_back({from, addBuffer(BufferKind::output, i, typeOf(v))});
    }
    for (auto [from, to] : late) copy(from, to, exe_.steps);
  }

  int32_t root(int32_t b) const {
    while (exe_.buffers[b].kind == BufferKind::view) b = exe_.buffers[b].index;
    return b;
  }

  void copy(int32_t from, int32_t to, std::vector<Step>& steps) {
    Step step;
    step.kind = StepKind::copy;
    step.buffers = {from, to};
    step.output_count = 1;
    steps.push_back(std::move(step));
  }

  int32_t resultBuffer(Value v) {
    auto [it, inserted] = buffers_.try_emplace(v, 0);
    if (inserted) it->second = addBuffer(BufferKind::temp, 0, typeOf(v));
    return it->second;
  }

  int32_t locationOf(mlir::Location loc, StringRef op) {
    kiln::Location found;
    loc->walk([&](mlir::Location inner) {
      if (auto line = dyn_cast<FileLineColLoc>(inner)) {
        found.file = line.getFilename().str();
        found.line = line.getLine();
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    found.op = op.str();
    auto [it, inserted] = locations_.try_emplace({found.file, found.line, found.op}, int32_t(exe_.locations.size()));
    if (inserted) exe_.locations.push_back(found);
    return it->second;
  }

  Status addBlock(Block& block, std::vector<Step>& steps) {
    for (Operation& op : block.without_terminator()) KILN_RETURN_IF_ERROR(addOp(&op, steps));
    return {};
  }

  Status addOp(Operation* op, std::vector<Step>& steps) {
    if (auto launch = dyn_cast<ir::LaunchOp>(op)) {
      addLaunch(launch, steps);
      return {};
    }
    auto id = opIdOf(op);
    if (!id) return Status(Code::internal, "no step for the op " + op->getName().getStringRef().str());
    const OpInfo& record = info(*id);
    if (*id == OpId::constant) {
      const Constant& c = constants_[std::get<int64_t>(attributesOf(op)[0])];
      exe_.constants.push_back(c.data);
      buffers_[op->getResult(0)] = addBuffer(BufferKind::constant, exe_.constants.size() - 1, typeOf(op->getResult(0)));
      return {};
    }
    if (record.kind == OpKind::view) {
      buffers_[op->getResult(0)] =
          addBuffer(BufferKind::view, buffers_.lookup(op->getOperand(0)), typeOf(op->getResult(0)));
      return {};
    }
    if (*id == OpId::cond) return addCond(op, steps);
    if (*id == OpId::while_loop) return addWhile(op, steps);
    if (record.kind == OpKind::structured) return addLibraryCall(op, *id, steps);
    return Status(Code::internal, "no step for the op " + std::string(record.name));
  }

  void addLaunch(ir::LaunchOp op, std::vector<Step>& steps) {
    Step step;
    step.callee = op.getKernel().str();
    for (Value v : op.getInputs()) step.buffers.push_back(buffers_.lookup(v));
    for (Value v : op.getOutputs()) step.buffers.push_back(resultBuffer(v));
    step.output_count = op.getNumResults();
    for (int64_t p : op.getParams()) step.params.push_back(Dim::from_raw(p));
    step.extent = Dim::from_raw(op.getExtent());
    step.item_cost = op.getItemCost();
    step.location = locationOf(op.getLoc(), op.getKernel());
    steps.push_back(std::move(step));
  }

  Status addLibraryCall(Operation* op, OpId id, std::vector<Step>& steps) {
    std::vector<TensorType> operands, results;
    for (Value v : op->getOperands()) operands.push_back(typeOf(v));
    for (Value v : op->getResults()) results.push_back(typeOf(v));
    KILN_ASSIGN_OR_RETURN(LibraryCall call, library_call(id, operands, results, attributesOf(op)));
    Step step;
    step.kind = StepKind::library;
    step.callee = call.name;
    for (Value v : op->getOperands()) step.buffers.push_back(buffers_.lookup(v));
    for (Value v : op->getResults()) step.buffers.push_back(resultBuffer(v));
    step.output_count = op->getNumResults();
    step.params = call.params;
    step.location = locationOf(op->getLoc(), std::string(info(id).name));
    steps.push_back(std::move(step));
    return {};
  }

  Status addCond(Operation* op, std::vector<Step>& steps) {
    Step step;
    step.kind = StepKind::if_;
    step.buffers = {buffers_.lookup(op->getOperand(0))};
    step.location = locationOf(op->getLoc(), "cond");
    for (Value v : op->getResults()) resultBuffer(v);
    for (int branch = 0; branch < 2; ++branch) {
      Block& block = op->getRegion(branch).front();
      std::vector<Step>& into = branch == 0 ? step.first : step.second;
      KILN_RETURN_IF_ERROR(addBlock(block, into));
      for (auto [from, to] : llvm::zip(block.getTerminator()->getOperands(), op->getResults()))
        copy(buffers_.lookup(from), resultBuffer(to), into);
    }
    steps.push_back(std::move(step));
    return {};
  }

  Status addWhile(Operation* op, std::vector<Step>& steps) {
    Block &condition = op->getRegion(0).front(), &body = op->getRegion(1).front();
    Step step;
    step.kind = StepKind::while_;
    step.location = locationOf(op->getLoc(), "while_loop");
    // The results' buffers hold the carried values all along.
    for (auto [i, v] : llvm::enumerate(op->getResults())) {
      int32_t b = resultBuffer(v);
      buffers_[condition.getArgument(i)] = b;
      buffers_[body.getArgument(i)] = b;
      copy(buffers_.lookup(op->getOperand(i)), b, steps);
    }
    KILN_RETURN_IF_ERROR(addBlock(condition, step.first));
    step.buffers = {buffers_.lookup(condition.getTerminator()->getOperand(0))};
    KILN_RETURN_IF_ERROR(addBlock(body, step.second));
    // All next values are read before any carried one is overwritten.
    SmallVector<std::pair<int32_t, int32_t>> copies;
    for (auto [i, next] : llvm::enumerate(body.getTerminator()->getOperands())) {
      int32_t from = buffers_.lookup(next), to = buffers_.lookup(body.getArgument(i));
      if (from == to) continue;
      bool carried = llvm::any_of(op->getResults(), [&](Value r) { return buffers_.lookup(r) == root(from); });
      if (carried) {
        int32_t saved = addBuffer(BufferKind::temp, 0, typeOf(next));
        copy(from, saved, step.second);
        from = saved;
      }
      copies.push_back({from, to});
    }
    for (auto [from, to] : copies) copy(from, to, step.second);
    steps.push_back(std::move(step));
    return {};
  }

  func::FuncOp main_;
  ArrayRef<Constant> constants_;
  Executable exe_;
  llvm::DenseMap<Value, int32_t> buffers_;
  std::set<size_t> inPlace_;
  std::map<std::tuple<std::string, int32_t, std::string>, int32_t> locations_;
};

}  // namespace

Result<Executable> buildExecutable(ModuleOp module, ArrayRef<Constant> constants) {
  return Builder(module, constants).run();
}

}  // namespace kiln::compiler
