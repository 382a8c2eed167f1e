// All records, in the order of docs/ops.
include "dialects/kiln/ops/elementwise.td"
include "dialects/kiln/ops/reduce.td"
include "dialects/kiln/ops/linalg.td"
