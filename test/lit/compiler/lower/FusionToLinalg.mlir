// RUN: kiln-opt %s --kiln-form-fusions --kiln-fusion-to-linalg | FileCheck %s

// Dims that all operands walk alike are one: 2x3x4 becomes 6x4 beside a row of 4.
// CHECK-LABEL: func.func @bias
// CHECK: "kiln.launch"(%arg0, %arg1)
// CHECK-SAME: extent = 6
// CHECK: func.func private @kernel_0(%arg0: tensor<6x4xf32>, %arg1: tensor<4xf32>) -> tensor<6x4xf32>
// CHECK: linalg.generic
// CHECK: arith.addf
// CHECK-NOT: fastmath
func.func @bias(%x: tensor<2x3x4xf32>, %b: tensor<4xf32>) -> tensor<2x3x4xf32> {
  %y = "kiln.add"(%x, %b) : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}
