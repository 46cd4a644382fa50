#ifndef IMGFLOW_CVIPS_H
#define IMGFLOW_CVIPS_H

// libvips, loaded on first use: `open` fills a table of its functions, and every other function here calls through it.
// Nothing but `open` may be called before `open` has returned 0.

#include <stddef.h>

typedef struct imgflow_vips_image imgflow_vips_image;
typedef struct imgflow_vips_call imgflow_vips_call;

// 0, or -1 where the library or one of its functions is missing; `words` then says which.
int imgflow_vips_open(const char **words);
int imgflow_vips_version(int part);

// What failed last, in the library's words.
const char *imgflow_vips_error(void);
void imgflow_vips_clear_error(void);

// Whether there is an operation of this name.
int imgflow_vips_has(const char *operation);
// Whether an operation and what descends from it may run.
void imgflow_vips_block(const char *class_name, int is_blocked);

// A call of an operation by name: make, set, run, take what comes out, free.
imgflow_vips_call *imgflow_vips_call_new(const char *operation);
void imgflow_vips_set_int(imgflow_vips_call *call, const char *name, int value);
void imgflow_vips_set_double(imgflow_vips_call *call, const char *name, double value);
void imgflow_vips_set_text(imgflow_vips_call *call, const char *name, const char *value);
void imgflow_vips_set_image(imgflow_vips_call *call, const char *name, imgflow_vips_image *value);
void imgflow_vips_set_images(imgflow_vips_call *call, const char *name, imgflow_vips_image **values, int count);
void imgflow_vips_set_numbers(imgflow_vips_call *call, const char *name, const double *values, int count);
// The bytes are not copied, and must live as long as every image that comes out of the call.
void imgflow_vips_set_bytes(imgflow_vips_call *call, const char *name, const void *bytes, size_t count);
int imgflow_vips_run(imgflow_vips_call *call);
imgflow_vips_image *imgflow_vips_get_image(imgflow_vips_call *call, const char *name);
// Hands the bytes of a blob to the closure's function; -1 where there are none.
int imgflow_vips_get_bytes(imgflow_vips_call *call, const char *name, void *context,
                           void (*take)(void *context, const void *bytes, size_t count));
void imgflow_vips_call_free(imgflow_vips_call *call);

// Images.
imgflow_vips_image *imgflow_vips_image_from_pixels(const void *pixels, size_t size, int width, int height, int bands,
                                                   int format);
imgflow_vips_image *imgflow_vips_image_from_numbers(int width, int height, const double *values, int count);
imgflow_vips_image *imgflow_vips_image_in_memory(imgflow_vips_image *image);
void *imgflow_vips_image_pixels(imgflow_vips_image *image, size_t *size);
void imgflow_vips_free(void *memory);
void imgflow_vips_image_free(imgflow_vips_image *image);
int imgflow_vips_image_width(imgflow_vips_image *image);
int imgflow_vips_image_height(imgflow_vips_image *image);
int imgflow_vips_image_bands(imgflow_vips_image *image);
int imgflow_vips_image_format(imgflow_vips_image *image);
int imgflow_vips_image_interpretation(imgflow_vips_image *image);
int imgflow_vips_image_has_alpha(imgflow_vips_image *image);
int imgflow_vips_image_orientation(imgflow_vips_image *image);
int imgflow_vips_image_pages(imgflow_vips_image *image);
int imgflow_vips_image_page_height(imgflow_vips_image *image);
int imgflow_vips_image_x_offset(imgflow_vips_image *image);
int imgflow_vips_image_y_offset(imgflow_vips_image *image);

// What stands beside the pixels.
int imgflow_vips_image_has_field(imgflow_vips_image *image, const char *name);
int imgflow_vips_image_remove_field(imgflow_vips_image *image, const char *name);
void imgflow_vips_image_set_int(imgflow_vips_image *image, const char *name, int value);
int imgflow_vips_image_get_int(imgflow_vips_image *image, const char *name, int *value);
int imgflow_vips_image_get_blob(imgflow_vips_image *image, const char *name, const void **bytes, size_t *count);
// Any field as text; the caller gives the text back with imgflow_vips_free.
int imgflow_vips_image_get_text(imgflow_vips_image *image, const char *name, char **text);
// A list that ends in NULL, to be given back to `free_fields`.
char **imgflow_vips_image_fields(imgflow_vips_image *image);
void imgflow_vips_free_fields(char **fields);

#endif
