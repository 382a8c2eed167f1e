// Tensors do not change: an element cannot be assigned.
// error: no viable overloaded '='
#include "kiln/kiln.h"

void good(kiln::Tensor x) { x = x + 1; }
#ifdef KILN_WRONG
void wrong(kiln::Tensor x) { x[0] = 1.f; }
#endif
