// Kernels of the runtime's unit tests. kernels.o is made from this by ./make.
#include <stdint.h>
#include <string.h>

typedef struct {
  char message[480];
} Context;
#define KERNEL(name) int32_t name(void* const* b, const int64_t* p, int64_t begin, int64_t end, Context* context)

double fmod(double, double);

static const float table[4] = {1.0f, 10.0f, 100.0f, 1000.0f};
const char* words[] = {"zero", "one", "two"};  // addresses in data: 64-bit relocations
float bias = 0.5f;                             // a global: reached through the GOT

// y = x + 1
KERNEL(add_one) {
  const float* x = b[0];
  float* y = b[1];
  for (int64_t i = begin; i < end; ++i) y[i] = x[i] + 1;
  return 0;
}
// y = x + w
KERNEL(add) {
  const float *x = b[0], *w = b[1];
  float* y = b[2];
  for (int64_t i = begin; i < end; ++i) y[i] = x[i] + w[i];
  return 0;
}
// y = x * p[0]
KERNEL(scale) {
  const float* x = b[0];
  float* y = b[1];
  for (int64_t i = begin; i < end; ++i) y[i] = x[i] * (float)p[0];
  return 0;
}
// y = table[x], with an error that names the index
KERNEL(lookup) {
  const int64_t* x = b[0];
  float* y = b[1];
  for (int64_t i = begin; i < end; ++i) {
    if (x[i] < 0 || x[i] >= 4) {
      char text[] = "index 0 is out of range for a dim of size 4";
      text[6] = (char)('0' + x[i] % 10);
      memcpy(context->message, text, sizeof(text));
      return 11;
    }
    y[i] = table[x[i]];
  }
  return 0;
}
// x < limit, a bool[]
KERNEL(less) {
  *(uint8_t*)b[2] = *(const float*)b[0] < *(const float*)b[1];
  return 0;
}
// y = fmod(x, 3) + bias; then copies, clears, moves with the C library
KERNEL(externals) {
  const double* x = b[0];
  double* y = b[1];
  for (int64_t i = begin; i < end; ++i) y[i] = fmod(x[i], 3.0) + bias;
  memset(context->message, 'x', (size_t)p[0]);
  memmove(context->message + 1, context->message, (size_t)p[1]);
  return 0;
}
// a word through an address stored in data (64-bit relocations)
KERNEL(word) {
  memcpy(b[0], words[p[0]], 4);
  return 0;
}
// y = x / 3: shows subnormals and the rounding mode
KERNEL(third) {
  const float* x = b[0];
  float* y = b[1];
  for (int64_t i = begin; i < end; ++i) y[i] = x[i] / 3.0f;
  return 0;
}
KERNEL(fail_silently) {
  (void)b;
  (void)p;
  (void)begin;
  (void)end;
  (void)context;
  return 8;
}
