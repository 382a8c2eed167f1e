// Ops that only the compiler makes, between the records' ops and the executable.
#ifndef KILN_COMPILER_OPS_TD
#define KILN_COMPILER_OPS_TD
include "dialects/kiln/ops/base.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Kiln_FusionOp : Op<Kiln_Dialect, "fusion", [IsolatedFromAbove, SingleBlock]> {
  let summary = "Ops that become one kernel";
  let description = [{
    `schedule` says how the kernel walks its `domain` (raw Dims): "elementwise", "row" (the last `reduced` dims are reduced,
    one row at a time), "column" (leading or middle dims are reduced, a block of columns at a time), "scalar" (a loop or branch on scalars).
  }];
  let arguments = (ins Variadic<Kiln_Tensor>:$inputs, StrAttr:$schedule, DenseI64ArrayAttr:$domain, DenseI64ArrayAttr:$reduced);
  let results = (outs Variadic<Kiln_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
}

def Kiln_YieldOp : Op<Kiln_Dialect, "yield", [Pure, Terminator, ReturnLike]> {
  let summary = "The results of a region";
  let arguments = (ins Variadic<AnyType>:$operands);
}

def Kiln_LaunchOp : Op<Kiln_Dialect, "launch"> {
  let summary = "Runs a kernel over `extent` work items";
  let description = [{
    `params`: raw Dims handed to the kernel as integers. `in_place`: operands that the kernel reads only at the index it writes, so
    a result may take over their memory.
  }];
  let arguments = (ins Variadic<Kiln_Tensor>:$inputs, FlatSymbolRefAttr:$kernel, DenseI64ArrayAttr:$params, I64Attr:$extent,
                       I64Attr:$item_cost, DenseI64ArrayAttr:$in_place);
  let results = (outs Variadic<Kiln_Tensor>:$outputs);
}

#endif
