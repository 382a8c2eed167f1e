// item() gives numbers only.
// error: no matching member function for call to 'item'
#include "kiln/kiln.h"

float good(const kiln::Tensor& x) { return x.item<float>(); }
#ifdef KILN_WRONG
std::string wrong(const kiln::Tensor& x) { return x.item<std::string>(); }
#endif
