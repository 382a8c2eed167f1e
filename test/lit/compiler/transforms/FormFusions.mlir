// RUN: kiln-opt %s --split-input-file --kiln-form-fusions | FileCheck %s

// A softmax is one row fusion.
// CHECK-LABEL: func.func @softmax
// CHECK: "kiln.fusion"(%arg0)
// CHECK-SAME: domain = array<i64: 8, 100>
// CHECK-SAME: reduced = array<i64: 1>
// CHECK-SAME: schedule = "row"
// CHECK-NOT: "kiln.fusion"
func.func @softmax(%x: tensor<8x100xf32>) -> tensor<8x100xf32> {
  %m = "kiln.reduce_max"(%x) {axis = array<i64: 1>, keepdims = true} : (tensor<8x100xf32>) -> tensor<8x1xf32>
  %c = "kiln.subtract"(%x, %m) : (tensor<8x100xf32>, tensor<8x1xf32>) -> tensor<8x100xf32>
  %e = "kiln.exp"(%c) : (tensor<8x100xf32>) -> tensor<8x100xf32>
  %s = "kiln.reduce_sum"(%e) {axis = array<i64: 1>, keepdims = true} : (tensor<8x100xf32>) -> tensor<8x1xf32>
  %d = "kiln.divide"(%e, %s) : (tensor<8x100xf32>, tensor<8x1xf32>) -> tensor<8x100xf32>
  return %d : tensor<8x100xf32>
}

// -----

// A matmul stays a library call and splits what is around it.
// CHECK-LABEL: func.func @layer
// CHECK: "kiln.fusion"(%arg0)
// CHECK: kiln.exp
// CHECK: kiln.matmul
// CHECK: "kiln.fusion"
// CHECK: kiln.add
func.func @layer(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> {
  %e = "kiln.exp"(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = "kiln.matmul"(%e, %w) {transpose_x = false, transpose_y = false} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %z = "kiln.add"(%y, %b) : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  return %z : tensor<8x4xf32>
}

// -----

// Two groups with an op between them that needs the first and feeds the second are not merged: there would be a cycle.
// CHECK-LABEL: func.func @no_cycle
// CHECK: "kiln.fusion"(%arg0)
// CHECK: kiln.matmul
// CHECK: "kiln.fusion"
func.func @no_cycle(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = "kiln.exp"(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = "kiln.matmul"(%a, %a) {transpose_x = false, transpose_y = false} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = "kiln.add"(%a, %m) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %s : tensor<4x4xf32>
}

// -----

// Zeros are constants of the fusion, not an input.
// CHECK-LABEL: func.func @relu_gradient
// CHECK: "kiln.fusion"(%arg0)
// CHECK: dense<0.000000e+00> : tensor<f32>
// CHECK-NOT: kiln.zeros
func.func @relu_gradient(%x: tensor<5xf32>) -> tensor<5xf32> {
  %z = "kiln.zeros"() {shape = array<i64: 5>, dtype = f32} : () -> tensor<5xf32>
  %c = "kiln.greater"(%x, %z) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  %y = "kiln.where"(%c, %x, %z) : (tensor<5xi1>, tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

// A loop on scalars is one kernel.
// CHECK-LABEL: func.func @count
// CHECK: "kiln.fusion"(%arg0)
// CHECK-SAME: schedule = "scalar"
func.func @count(%n: tensor<i32>) -> tensor<i32> {
  %zero = "kiln.constant"() {index = 0, value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %one = "kiln.constant"() {index = 1, value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %r = "kiln.while_loop"(%zero) ({
  ^bb0(%i: tensor<i32>):
    %c = "kiln.less"(%i, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "kiln.yield"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>):
    %next = "kiln.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "kiln.yield"(%next) : (tensor<i32>) -> ()
  }) : (tensor<i32>) -> tensor<i32>
  return %r : tensor<i32>
}
