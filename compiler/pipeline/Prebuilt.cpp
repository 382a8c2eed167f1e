#include "compiler/pipeline/Prebuilt.h"

#include "compiler/codegen/cpu/CpuCodegen.h"
#include "compiler/lower/ImportGraph.h"
#include "compiler/lower/OpAccess.h"
#include "compiler/pipeline/Pipeline.h"
#include "dialects/kiln/rules/infer_types.h"

namespace kiln::compiler {
namespace {

// A graph of one op; its inputs' dims are named by the callers.
class OneOp {
 public:
  OneOp(OpId op, std::vector<Attribute> attributes) {
    graph_.name = "main";
    node_.op = op;
    node_.attributes = std::move(attributes);
  }
  Dim add_symbol(const std::string& name) {
    for (int i = 0; i < graph_.dims.size(); ++i)
      if (graph_.dims[i].name == name) return Dim::symbol(i);
    return graph_.dims.symbol(name, 0, 0);
  }
  void add_input(DType dtype, const std::vector<std::string>& dims) {
    TensorType type{dtype, {}};
    for (const std::string& d : dims) type.shape.push_back(add_symbol(d));
    ValueId id = ValueId(graph_.values.size());
    graph_.values.push_back(type);
    graph_.inputs.push_back({id, "x", false});
    graph_.body.arguments.push_back(id);
    node_.operands.push_back(id);
  }
  Result<Graph> finish() {
    DimTable::Scope scope(&graph_.dims);
    std::vector<TensorType> operands = graph_.values;
    KILN_ASSIGN_OR_RETURN(std::vector<TensorType> results, infer_types(node_.op, operands, node_.attributes));
    ValueId id = ValueId(graph_.values.size());
    graph_.values.push_back(results[0]);
    node_.results = {id};
    graph_.body.nodes.push_back(node_);
    graph_.outputs.push_back({id, -1});
    return graph_;
  }

 private:
  Graph graph_;
  Node node_;
};

class Collector {
 public:
  explicit Collector(std::string target) : context_(mlir::MLIRContext::Threading::DISABLED) {
    options_.target = std::move(target);
    loadDialects(context_);
    all_ = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context_));
  }

  // Combinations that an op refuses (its shape rule fails) have no kernel.
  Status add(const std::string& name, OneOp op) {
    auto graph = op.finish();
    if (!graph.ok()) return {};
    auto module = importGraph(context_, *graph);
    if (Status s = runPipeline(*module, Stage::kiln, Stage::kernels, options_); !s.ok())
      return Status(s.code(), name + ": " + std::string(s.message()));
    // A kernel that reads fewer operands than the op has cannot be called with the op's operands.
    bool whole = true;
    mainFunction(*module).walk([&](ir::LaunchOp op) { whole &= op.getInputs().size() == graph->inputs.size(); });
    if (!whole) return {};
    for (auto f : llvm::make_early_inc_range(module->getOps<mlir::func::FuncOp>())) {
      if (!isKernel(f)) continue;
      f->remove();
      f.setName(name + "." + options_.target);
      all_->push_back(f);
      kernels_.names.push_back(name);
    }
    return {};
  }

  Result<PrebuiltKernels> finish() {
    KILN_RETURN_IF_ERROR(runPipeline(*all_, Stage::llvm, Stage::llvm, options_));
    KILN_ASSIGN_OR_RETURN(kernels_.object, generateCode(*all_, options_.target, CodeKind::object));
    return std::move(kernels_);
  }

 private:
  CompileOptions options_;
  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> all_;
  PrebuiltKernels kernels_;
};

// Attributes that an element-wise kernel may depend on: dtypes, which are in its name, and dims, which are its extent.
Status addElementwise(Collector& all, OpId id) {
  const OpInfo& op = info(id);
  const int n = int(op.operands.size());
  bool has_dtype = false;
  for (const AttributeInfo& a : op.attributes) {
    if (a.kind != AttributeKind::dtype && a.kind != AttributeKind::dims) return {};
    has_dtype |= a.kind == AttributeKind::dtype;
  }
  std::vector<DType> taken;
  for (int t = 0; t < dtype_count; ++t)
    if (op.dtypes >> t & 1) taken.push_back(DType(t));
  // Operands that are not of the op's own dtypes (a key of i64) have theirs.
  const bool own =
      n > 0 && (op.operands.back().dtype == OperandDType::same || op.operands.back().dtype == OperandDType::any);
  const std::vector<DType> operand_dtypes = own ? taken : std::vector<DType>{DType::i64};
  const std::vector<DType> results = has_dtype ? taken : std::vector<DType>{DType::f32};
  for (DType t : operand_dtypes)
    for (DType to : results)
      for (int pattern = 0; pattern < (1 << n); ++pattern) {
        if (n > 1 && own && pattern == (1 << n) - 1) continue;  // all scalars is all vectors of one element
        std::string letters;
        std::vector<Attribute> attributes;
        for (const AttributeInfo& a : op.attributes)
          attributes.push_back(a.kind == AttributeKind::dtype ? Attribute(to) : Attribute(Shape{Dim::symbol(0)}));
        OneOp one(id, attributes);
        one.add_symbol("n");
        for (int i = 0; i < n; ++i) {
          bool scalar = pattern >> i & 1;
          letters += scalar ? 's' : 'v';
          one.add_input(op.operands[i].dtype == OperandDType::boolean ? DType::bool_ : t,
                        scalar ? std::vector<std::string>{} : std::vector<std::string>{"n"});
        }
        std::string name(op.name);
        if (n > 0) name += "." + std::string(name_of(t));
        if (has_dtype) name += "." + std::string(name_of(to));
        KILN_RETURN_IF_ERROR(all.add(name + "." + letters, one));
      }
  return {};
}

Status addReduction(Collector& all, OpId id) {
  for (int t = 0; t < dtype_count; ++t) {
    if (!(info(id).dtypes >> t & 1)) continue;
    std::string name = std::string(name_of(id)) + "." + std::string(name_of(DType(t)));
    OneOp row(id, {std::vector<int64_t>{1}, false});
    row.add_input(DType(t), {"outer", "reduced"});
    KILN_RETURN_IF_ERROR(all.add(name + ".row", row));
    OneOp column(id, {std::vector<int64_t>{1}, false});
    column.add_input(DType(t), {"outer", "reduced", "inner"});
    KILN_RETURN_IF_ERROR(all.add(name + ".column", column));
  }
  return {};
}

}  // namespace

Result<PrebuiltKernels> compilePrebuiltKernels(const std::string& target) {
  Collector all(target);
  for (size_t i = 0; i < op_count; ++i) {
    OpId id = static_cast<OpId>(i);
    if (info(id).kind == OpKind::elementwise || (info(id).kind == OpKind::source && id != OpId::constant))
      KILN_RETURN_IF_ERROR(addElementwise(all, id));
    if (info(id).kind == OpKind::reduction) KILN_RETURN_IF_ERROR(addReduction(all, id));
  }
  return all.finish();
}

}  // namespace kiln::compiler
