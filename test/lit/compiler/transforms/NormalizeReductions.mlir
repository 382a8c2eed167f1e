// RUN: kiln-opt %s --kiln-normalize-reductions | FileCheck %s

// Axes that are not neighbours: one reduction for each run, the last run first.
// CHECK-LABEL: func.func @two_runs
// CHECK: %[[A:.*]] = "kiln.reduce_sum"(%arg0) <{axis = array<i64: 2>, keepdims = false}> : (tensor<2x3x4xf32>) -> tensor<2x3xf32>
// CHECK: "kiln.reduce_sum"(%[[A]]) <{axis = array<i64: 0>, keepdims = false}> : (tensor<2x3xf32>) -> tensor<3xf32>
func.func @two_runs(%x: tensor<2x3x4xf32>) -> tensor<3xf32> {
  %s = "kiln.reduce_sum"(%x) {axis = array<i64: 0, 2>, keepdims = false} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  return %s : tensor<3xf32>
}
