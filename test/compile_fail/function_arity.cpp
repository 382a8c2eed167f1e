// Too many arguments (22).
// error: no matching function for call to object of type
#include "kiln/kiln.h"

auto f = kiln::function([](kiln::Tensor x) { return x; });
kiln::Tensor good = f(1);
#ifdef KILN_WRONG
kiln::Tensor wrong = f(1, 2);
#endif
