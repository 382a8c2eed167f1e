// Control flow: ops with regions. Their public functions take lambdas: frontend/control.
#ifndef KILN_CONTROL_TD
#define KILN_CONTROL_TD
include "dialects/kiln/ops/base.td"

class Kiln_Control<string mnemonic> : Kiln_Op<mnemonic, "control", [SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects]> {
  let operand_dtypes = ["any"];
  let is_public = 0;
}

def Kiln_CondOp : Kiln_Control<"cond"> {
  let summary = "The results of the first region if the predicate is true, else those of the second; both may use values from outside.";
  let arguments = (ins Kiln_Tensor:$predicate);
  let results = (outs Variadic<Kiln_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$then_region, SizedRegion<1>:$else_region);
  let operand_dtypes = ["bool"];
}

def Kiln_WhileLoopOp : Kiln_Control<"while_loop"> {
  let summary = "Runs the body on the carried values as long as the condition on them yields true.";
  let arguments = (ins Variadic<Kiln_Tensor>:$initial);
  let results = (outs Variadic<Kiln_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$condition_region, SizedRegion<1>:$body_region);
}

#endif
