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
  let useDefaultAttributePrinterParser = 1;
}

// Any ranked tensor; which element types an op takes is checked from `dtypes` by the generated shape rule.
def Kiln_Tensor : TypeConstraint<CPred<"::llvm::isa<::mlir::RankedTensorType>($_self)">, "ranked tensor", "::mlir::RankedTensorType">;

// Attribute kinds a record may use, in `arguments` after the operands. C++ type in snippets in brackets.
// An attribute without a default is a positional argument of the public function; those with a default become the
// fields of its options struct (`let options`), in order.
def Kiln_Bool : TypedAttrBase<I1, "BoolAttr", CPred<"::llvm::isa<::mlir::BoolAttr>($_self)">, "bool"> { let returnType = "bool"; let convertFromStorage = "$_self.getValue()"; } // [bool]
def Kiln_Int : SignlessIntegerAttrBase<I64, "int64"> { let returnType = "int64_t"; let convertFromStorage = "$_self.getInt()"; }       // [int64_t]
def Kiln_Float : FloatAttrBase<F64, "float">;                                      // [double]
def Kiln_DType : Attr<CPred<"::llvm::isa<::mlir::TypeAttr>($_self)">, "dtype"> { let storageType = "::mlir::TypeAttr"; let returnType = "::mlir::Type"; let convertFromStorage = "$_self.getValue()"; } // [DType]
def Kiln_String : Attr<CPred<"::llvm::isa<::mlir::StringAttr>($_self)">, "string"> { let storageType = "::mlir::StringAttr"; let returnType = "::llvm::StringRef"; let convertFromStorage = "$_self.getValue()"; } // [const std::string&]
def Kiln_Ints : Attr<CPred<"::llvm::isa<::mlir::DenseI64ArrayAttr>($_self)">, "ints"> { let storageType = "::mlir::DenseI64ArrayAttr"; let returnType = "::llvm::ArrayRef<int64_t>"; let convertFromStorage = "$_self"; } // [const std::vector<int64_t>&]
// A shape whose dims may be unknown: raw Dims (see runtime/base/shape.h) in a DenseI64ArrayAttr.
def Kiln_Dims : Attr<CPred<"::llvm::isa<::mlir::DenseI64ArrayAttr>($_self)">, "dims"> { let storageType = "::mlir::DenseI64ArrayAttr"; let returnType = "::llvm::ArrayRef<int64_t>"; let convertFromStorage = "$_self"; } // [const Shape&]

// The default of an attribute, as C++ ("false", "{}", "1"): Default<Kiln_Bool, "false">:$keepdims.
class Default<Attr attr, string value> : DefaultValuedAttr<attr, value> { string cppDefault = value; }

// Lists of dtypes used by records.
defvar floats = ["f32", "f64"];
defvar ints = ["i32", "i64"];
defvar numbers = ["i32", "i64", "f32", "f64"];
defvar all_types = ["bool", "i32", "i64", "f32", "f64"];

class Kiln_Op<string mnemonic, string category, list<Trait> traits = [Pure]> : Op<Kiln_Dialect, mnemonic, traits> {
  string kind = category;            // elementwise, reduction, view, structured, composite, control, source
  list<string> dtypes = all_types;   // element types of the first operand (of the result where there is no operand)
  list<string> aliases = [];         // further public names
  list<string> constraints = [];     // C1, C2, ...: numbered in the docs, in the shape rule's comments and in test names
  string options = "";               // name of the options struct; "" = none, or <Name>Options generated from the defaults
  // C++: Result<TensorType> (one result) or Result<std::vector<TensorType>>, from the operands' `const TensorType&` by name
  // (variadic: `std::span<const TensorType>`) and the attributes by name. Helpers: dialects/kiln/rules/shape_rules.h.
  code shape = [{}];
  // C++ over the dynamically typed scalar S (dialects/kiln/math/scalar.h): the value of one element, from operands by
  // name (S), attributes by name, and, if asked for, `index` (S of dtype i64: the element's row-major number).
  code body = [{}];
  // C++: std::vector<Tensor>, one per operand, an empty Tensor{} where there is no gradient; from the operands by name,
  // the results by name, `d<result>` (the incoming gradient, e.g. `dresult`) and attributes by name, written with public ops.
  // Elementwise results are summed back over broadcast dims by the generated code.
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

// One element of the result from one element of each operand, NumPy broadcasting. Result dtype: that of the operands
// (all the same) unless the record says otherwise: `result_dtype` is C++ over the operands' types.
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
// Written with other public ops; never reaches the trace.
class Kiln_Composite<string mnemonic> : Kiln_Op<mnemonic, "composite"> { let results = (outs Kiln_Tensor:$result); }

#endif
