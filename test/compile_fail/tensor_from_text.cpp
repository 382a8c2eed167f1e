// Text is no tensor.
// error: no viable conversion from 'const char[4]' to 'kiln::Tensor'
#include "kiln/kiln.h"

kiln::Tensor good = 1.f;
#ifdef KILN_WRONG
kiln::Tensor wrong = "1.0";
#endif
