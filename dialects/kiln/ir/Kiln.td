// The whole dialect: the records' ops and the compiler's own.
include "dialects/kiln/ops/ops.td"
include "dialects/kiln/ir/CompilerOps.td"
