#ifndef IMGFLOW_CTURBOJPEG_H
#define IMGFLOW_CTURBOJPEG_H

// libturbojpeg, loaded on first use: `open` fills a table of its functions, and every other function here calls
// through it. Nothing but `open` may be called before `open` has returned 0.

#include <stddef.h>

typedef void *imgflow_turbo_handle;

// 0, or -1 where the library or one of its functions is missing.
int imgflow_turbo_open(void);

imgflow_turbo_handle imgflow_turbo_decoder(void);
imgflow_turbo_handle imgflow_turbo_encoder(void);
void imgflow_turbo_free_handle(imgflow_turbo_handle handle);
// What failed or was odd last, in the library's words.
const char *imgflow_turbo_error(imgflow_turbo_handle handle);

// Decodes to so many columns and rows, which are the picture's times one of the library's factors (n eighths).
// 0, or -1 for errors and warnings.
int imgflow_turbo_decode(imgflow_turbo_handle handle, const unsigned char *jpeg, size_t count, unsigned char *pixels,
                         int width, int height, int pixel_format);
// Encodes; the bytes are the library's, until `free_bytes`.
int imgflow_turbo_encode(imgflow_turbo_handle handle, const unsigned char *pixels, int width, int height,
                         int pixel_format, unsigned char **jpeg, size_t *count, int subsampling, int quality,
                         int is_progressive);
void imgflow_turbo_free_bytes(unsigned char *jpeg);

#endif
