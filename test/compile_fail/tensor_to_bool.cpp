// A Tensor is a bool only where a condition is asked for.
// error: no viable conversion from 'const kiln::Tensor' to 'const bool'
#include "kiln/kiln.h"

bool good(const kiln::Tensor& x) { return x ? true : false; }
#ifdef KILN_WRONG
bool wrong(const kiln::Tensor& x) {
  const bool truth = x;
  return truth;
}
#endif
