// A number too wide for a key.
// error: long double cannot be an argument of a function; use double
#include "kiln/kiln.h"

auto good = kiln::function([](kiln::Tensor x, double k) { return x * k; });
#ifdef KILN_WRONG
auto wrong = kiln::function([](kiln::Tensor x, long double k) { return x * double(k); });
#endif
