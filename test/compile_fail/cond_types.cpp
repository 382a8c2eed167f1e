// The branches of cond must return one type.
// error: both branches must return one type
#include "kiln/kiln.h"

void good(kiln::Tensor x) {
  kiln::cond(x > 0, [&] { return x; }, [&] { return -x; });
}
#ifdef KILN_WRONG
void wrong(kiln::Tensor x) {
  kiln::cond(x > 0, [&] { return x; }, [&] { return std::tuple(x, x); });
}
#endif
