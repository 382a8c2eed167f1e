// One shard of the generated op definitions.
#include "dialects/kiln/ir/KilnDialect.h"

#define GET_OP_DEFS_3
#include "generated/ir/KilnOps.cpp.inc"
