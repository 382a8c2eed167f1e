// The records' scalar bodies, for IrScalar.
#pragma once
#include "compiler/api/graph.h"
#include "compiler/lower/IrScalar.h"
#include "dialects/kiln/rules/scalar_helpers.h"

#include "generated/scalar_bodies.h.inc"
