// A gradient is taken with respect to Tensors and Variables.
// error: no matching member function for call to 'gradient'
#include "kiln/kiln.h"

kiln::Tensor good(kiln::GradientTape& tape, kiln::Tensor y, kiln::Variable x) { return tape.gradient(y, x); }
#ifdef KILN_WRONG
kiln::Tensor wrong(kiln::GradientTape& tape, kiln::Tensor y) { return tape.gradient(y, "x"); }
#endif
