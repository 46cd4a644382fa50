#include "CTurboJPEG.h"

#include <dlfcn.h>

// Each function with the type that the library's header gives it. These are of its version 2, which later ones keep.
#define FUNCTIONS(X) \
  X(void *, tjInitDecompress, (void)) \
  X(void *, tjInitCompress, (void)) \
  X(int, tjDestroy, (void *)) \
  X(char *, tjGetErrorStr2, (void *)) \
  X(int, tjDecompress2, (void *, const unsigned char *, unsigned long, unsigned char *, int, int, int, int, int)) \
  X(int, tjCompress2, \
    (void *, const unsigned char *, int, int, int, int, unsigned char **, unsigned long *, int, int, int)) \
  X(void, tjFree, (unsigned char *))

static struct {
#define MEMBER(result, name, arguments) result(*name) arguments;
  FUNCTIONS(MEMBER)
#undef MEMBER
} turbo;

// Of the header: TJFLAG_ACCURATEDCT, TJFLAG_PROGRESSIVE.
static const int accurate = 4096, progressive = 16384;

int imgflow_turbo_open(void) {
  void *library = dlopen("libturbojpeg.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library) return -1;
#define LOOK_UP(result, name, arguments) \
  turbo.name = (result(*) arguments)dlsym(library, #name); \
  if (!turbo.name) return -1;
  FUNCTIONS(LOOK_UP)
#undef LOOK_UP
  return 0;
}

imgflow_turbo_handle imgflow_turbo_decoder(void) { return turbo.tjInitDecompress(); }
imgflow_turbo_handle imgflow_turbo_encoder(void) { return turbo.tjInitCompress(); }
void imgflow_turbo_free_handle(imgflow_turbo_handle handle) { turbo.tjDestroy(handle); }
const char *imgflow_turbo_error(imgflow_turbo_handle handle) { return turbo.tjGetErrorStr2(handle); }

int imgflow_turbo_decode(imgflow_turbo_handle handle, const unsigned char *jpeg, size_t count, unsigned char *pixels,
                         int width, int height, int pixel_format) {
  return turbo.tjDecompress2(handle, jpeg, count, pixels, width, 0, height, pixel_format, accurate);
}
int imgflow_turbo_encode(imgflow_turbo_handle handle, const unsigned char *pixels, int width, int height,
                         int pixel_format, unsigned char **jpeg, size_t *count, int subsampling, int quality,
                         int is_progressive) {
  unsigned long length = 0;
  int code = turbo.tjCompress2(handle, pixels, width, 0, height, pixel_format, jpeg, &length, subsampling, quality,
                               accurate | (is_progressive ? progressive : 0));
  *count = length;
  return code;
}
void imgflow_turbo_free_bytes(unsigned char *jpeg) { turbo.tjFree(jpeg); }
