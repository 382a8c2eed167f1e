// What a record holds. One record = one op; stock mlir-tblgen makes the dialect op, kiln-tblgen all the rest: OpId and
// the op table, the public C++ function with its comment, shape rule, gradient rule, scalar body, library call, test
// rows and the page in docs/ops. Snippets are C++; the classes below say which names each snippet sees.
#ifndef KILN_BASE_TD
#define KILN_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Kiln_Dialect : Dialect {
  let name = "kiln";
  let cppNamespace = "::kiln::ir";
  let summary = "Ops as the user wrote them, on ranked tensors";
}

// Any ranked tensor; which element types an op takes is checked from `dtypes` by the generated shape rule.
def Kiln_Tensor : Type<CPred<"::llvm::isa<::mlir::RankedTensorType>($_self)">, "ranked tensor", "::mlir::RankedTensorType">;

// Attribute kinds a record may use, in `arguments` after the operands. C++ type in snippets in brackets.
// Not to be called `dims` or `value`: the compiler's own attributes. An attribute without a default is a positional argument of the public function; those with a default become the
// fields of its options struct (`let options`), in order.
def Kiln_Bool : TypedAttrBase<I1, "BoolAttr", CPred<"::llvm::isa<::mlir::BoolAttr>($_self)">, "bool"> { let returnType = "bool"; let convertFromStorage = "$_self.getValue()"; let constBuilderCall = "$_builder.getBoolAttr($0)"; } // [bool]
def Kiln_Int : SignlessIntegerAttrBase<I64, "int64"> { let returnType = "int64_t"; let convertFromStorage = "$_self.getInt()"; let constBuilderCall = "$_builder.getI64IntegerAttr($0)"; }       // [int64_t]
def Kiln_Float : FloatAttrBase<F64, "float"> { let constBuilderCall = "::mlir::FloatAttr::get($_builder.getF64Type(), $0)"; }                                  // [double]
def Kiln_DType : Attr<CPred<"::llvm::isa<::mlir::TypeAttr>($_self)">, "dtype"> { let storageType = "::mlir::TypeAttr"; let returnType = "::mlir::Type"; let convertFromStorage = "$_self.getValue()"; let constBuilderCall = "::mlir::TypeAttr::get($_builder.getF32Type())"; } // [DType]
def Kiln_String : Attr<CPred<"::llvm::isa<::mlir::StringAttr>($_self)">, "string"> { let storageType = "::mlir::StringAttr"; let returnType = "::llvm::StringRef"; let convertFromStorage = "$_self.getValue()"; let constBuilderCall = "$_builder.getStringAttr($0)"; } // [const std::string&]
def Kiln_Ints : Attr<CPred<"::llvm::isa<::mlir::DenseI64ArrayAttr>($_self)">, "ints"> { let storageType = "::mlir::DenseI64ArrayAttr"; let returnType = "::llvm::ArrayRef<int64_t>"; let convertFromStorage = "$_self"; let constBuilderCall = "$_builder.getDenseI64ArrayAttr($0)"; } // [const std::vector<int64_t>&]
// A shape whose dims may be unknown: raw Dims (see runtime/base/shape.h) in a DenseI64ArrayAttr.
def Kiln_Dims : Attr<CPred<"::llvm::isa<::mlir::DenseI64ArrayAttr>($_self)">, "dims"> { let storageType = "::mlir::DenseI64ArrayAttr"; let returnType = "::llvm::ArrayRef<int64_t>"; let convertFromStorage = "$_self"; let constBuilderCall = "$_builder.getDenseI64ArrayAttr($0)"; } // [const Shape&]

// The default of an attribute, as C++ ("false", "{}", "1"): Default<Kiln_Bool, "false">:$keepdims.
class Default<Attr attr, string value> : Attr<attr.predicate, attr.summary> {
  // For the dialect it is a plain attribute: the importer sets every one.
  let storageType = attr.storageType;
  let returnType = attr.returnType;
  let convertFromStorage = attr.convertFromStorage;
  let constBuilderCall = attr.constBuilderCall;
  let valueType = attr.valueType;
  let baseAttr = attr;
  string cppDefault = value;
}

// Lists of dtypes used by records.
defvar floats = ["f32", "f64"];
defvar ints = ["i32", "i64"];
defvar numbers = ["i32", "i64", "f32", "f64"];
defvar all_types = ["bool", "i32", "i64", "f32", "f64"];

class Kiln_Record<string category> {
  string kind = category;            // elementwise, reduction, view, structured, composite, control, source
  list<string> dtypes = all_types;   // what T may be (of the result where no operand is T)
  // Element type per operand: "T" (all T operands of a call are of one dtype), "bool", "index" (i32 or i64), "i64", "any".
  list<string> operand_dtypes = [];  // the operands after the last entry are T
  list<string> promotions = [];      // "i32->i64": T operands of dtype i32 are cast to i64 first (in the public function)
  bit is_public = 1;                 // has a public function of its name
  list<string> aliases = [];         // further public names
  list<string> constraints = [];     // C1, C2, ...: numbered in the docs, in the shape rule's comments and in test names
  string options = "";               // name of the options struct; "" = none, or <Name>Options generated from the defaults
  // C++: Result<TensorType> (one result) or Result<std::vector<TensorType>>, from the operands' `const TensorType&` by name
  // (variadic: `std::span<const TensorType>`) and the attributes by name. Helpers: dialects/kiln/rules/shape_rules.h.
  code shape_rule = [{}];
  // C++ over the dynamically typed scalar S (dialects/kiln/math/scalar.h): the value of one element, from operands by
  // name (S), attributes by name, `result` (the result's DType) and, if asked for, `index` (S of dtype i64: the element's
  // row-major number). Helpers: dialects/kiln/rules/scalar_helpers.h.
  code body = [{}];
  // C++: std::vector<Tensor>, one per operand, an empty Tensor{} where there is no gradient; from the operands by name,
  // the results by name, `d<result>` (the incoming gradient, e.g. `dresult`) and attributes by name, written with public ops.
  // Gradients of elementwise ops are summed over broadcast dims by the generated code.
  code gradient = [{}];
  string non_differentiable = "";    // the reason; a record must have a gradient or this
  // C++: LibraryCall{"name", {params}}, from operand and result types by name and attributes by name (structured ops).
  code call = [{}];
  // C++: the body in public ops, from the operands by name as `const Tensor&` and attributes by name (composite ops).
  code composite = [{}];
  list<string> domain = ["-4", "4"]; // range of the test values, per operand pair by pair (the last pair repeats)
  string numpy = "";                 // the same in NumPy (np, scipy.special as sp), from operand and attribute names: test vectors
  string accuracy = "exact";         // documented error: "exact", or "N ulp"
  string example = "";               // two lines of C++ for the docs
}

class Kiln_Op<string mnemonic, string category, list<Trait> traits = [Pure]>
    : Op<Kiln_Dialect, mnemonic, traits>, Kiln_Record<category>;

// One element of the result from one element of each operand, NumPy broadcasting. Result dtype: that of the operands
// T unless the record says otherwise: `result_dtype` is C++ over the operands' types and attributes. With a `shape_rule` the
// operands broadcast into the shape it gives.
class Kiln_Elementwise<string mnemonic> : Kiln_Op<mnemonic, "elementwise"> {
  code result_dtype = [{}];
  let results = (outs Kiln_Tensor:$result);
}
class Kiln_Unary<string mnemonic> : Kiln_Elementwise<mnemonic> { let arguments = (ins Kiln_Tensor:$x); }
class Kiln_Binary<string mnemonic> : Kiln_Elementwise<mnemonic> { let arguments = (ins Kiln_Tensor:$x, Kiln_Tensor:$y); }
class Kiln_Comparison<string mnemonic> : Kiln_Binary<mnemonic> {
  let result_dtype = [{DType::bool_}];
  let non_differentiable = "the result is bool";
}

// Combines the elements along `axis` (empty: all). The order is part of the definition: see docs/design, "reduction order".
class Kiln_Reduction<string mnemonic> : Kiln_Op<mnemonic, "reduction"> {
  let arguments = (ins Kiln_Tensor:$x, Default<Kiln_Ints, "{}">:$axis, Default<Kiln_Bool, "false">:$keepdims);
  let results = (outs Kiln_Tensor:$result);
  let options = "ReduceOptions";
  code combine = [{}];               // C++ over S: from `a` and `b`
  code identity = [{}];              // C++ over S: from `x`, any scalar of the dtype: constant(x, 0)
  code result_dtype = [{}];
  string empty_is_error = "";        // the text, where an empty reduction has no value
}

// The same elements in the same order under another shape: no copy.
class Kiln_View<string mnemonic> : Kiln_Op<mnemonic, "view"> { let results = (outs Kiln_Tensor:$result); }
// A kernel in C++ (kernels/cpu) does the work.
class Kiln_Structured<string mnemonic> : Kiln_Op<mnemonic, "structured"> { let results = (outs Kiln_Tensor:$result); }
// Written with other public ops; never reaches the trace, so it is no op of the dialect.
class Kiln_Composite<string mnemonic> : Kiln_Record<"composite"> {
  string opName = mnemonic;
  string summary = "";
  dag arguments = (ins);
  dag results = (outs Kiln_Tensor:$result);
  dag regions = (region);
}
// No operand: the elements come from `index` (body) or from the attributes.
class Kiln_Source<string mnemonic> : Kiln_Op<mnemonic, "source"> { let results = (outs Kiln_Tensor:$result); }

#endif
