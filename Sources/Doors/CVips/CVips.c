#include "CVips.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

// The library's own types, as far as they pass through here. libvips.so.42 has kept them since its version 8.
typedef struct _VipsArea VipsArea;

// Each function with the type that the library's headers give it.
#define FUNCTIONS(X) \
  X(int, vips_init, (const char *)) \
  X(int, vips_version, (int)) \
  X(const char *, vips_error_buffer, (void)) \
  X(void, vips_error_clear, (void)) \
  X(void, vips_concurrency_set, (int)) \
  X(void, vips_cache_set_max, (int)) \
  X(size_t, vips_type_find, (const char *, const char *)) \
  X(void, vips_operation_block_set, (const char *, int)) \
  X(void *, vips_operation_new, (const char *)) \
  X(int, vips_object_build, (void *)) \
  X(void, vips_object_unref_outputs, (void *)) \
  X(VipsArea *, vips_array_double_new, (const double *, int)) \
  X(VipsArea *, vips_array_image_new, (void **, int)) \
  X(VipsArea *, vips_blob_new, (void *, const void *, size_t)) \
  X(const void *, vips_blob_get, (VipsArea *, size_t *)) \
  X(void, vips_area_unref, (VipsArea *)) \
  X(void *, vips_image_new_from_memory_copy, (const void *, size_t, int, int, int, int)) \
  X(void *, vips_image_new_matrix_from_array, (int, int, const double *, int)) \
  X(void *, vips_image_copy_memory, (void *)) \
  X(void *, vips_image_write_to_memory, (void *, size_t *)) \
  X(int, vips_image_get_width, (const void *)) \
  X(int, vips_image_get_height, (const void *)) \
  X(int, vips_image_get_bands, (const void *)) \
  X(int, vips_image_get_format, (const void *)) \
  X(int, vips_image_get_interpretation, (const void *)) \
  X(int, vips_image_hasalpha, (void *)) \
  X(int, vips_image_get_orientation, (void *)) \
  X(int, vips_image_get_n_pages, (void *)) \
  X(int, vips_image_get_page_height, (void *)) \
  X(int, vips_image_get_xoffset, (const void *)) \
  X(int, vips_image_get_yoffset, (const void *)) \
  X(size_t, vips_image_get_typeof, (const void *, const char *)) \
  X(int, vips_image_remove, (void *, const char *)) \
  X(void, vips_image_set_int, (void *, const char *, int)) \
  X(int, vips_image_get_int, (const void *, const char *, int *)) \
  X(int, vips_image_get_blob, (const void *, const char *, const void **, size_t *)) \
  X(int, vips_image_get_as_string, (const void *, const char *, char **)) \
  X(char **, vips_image_get_fields, (void *)) \
  X(void, g_strfreev, (char **)) \
  X(void, g_free, (void *)) \
  X(void, g_object_set, (void *, const char *, ...)) \
  X(void, g_object_get, (void *, const char *, ...)) \
  X(void, g_object_unref, (void *)) \
  X(void *, g_log_set_default_handler, (void (*)(const char *, int, const char *, void *), void *))

static struct {
#define MEMBER(result, name, arguments) result(*name) arguments;
  FUNCTIONS(MEMBER)
#undef MEMBER
} vips;

// What a picture's decoder has to say goes into the fault and nowhere else.
static void keep_quiet(const char *domain, int level, const char *message, void *data) {}

int imgflow_vips_open(const char **words) {
  static char reason[512];
  *words = reason;
  void *library = dlopen("libvips.so.42", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(reason, sizeof reason, "%s", dlerror());
    return -1;
  }
#define LOOK_UP(result, name, arguments) \
  vips.name = (result(*) arguments)dlsym(library, #name); \
  if (!vips.name) { \
    snprintf(reason, sizeof reason, "libvips.so.42 has no %s", #name); \
    return -1; \
  }
  FUNCTIONS(LOOK_UP)
#undef LOOK_UP
  vips.g_log_set_default_handler(keep_quiet, NULL);
  if (vips.vips_init("imgflow") != 0) {
    snprintf(reason, sizeof reason, "%s", vips.vips_error_buffer());
    return -1;
  }
  vips.vips_concurrency_set(1);
  vips.vips_cache_set_max(0);
  return 0;
}

int imgflow_vips_version(int part) { return vips.vips_version(part); }
const char *imgflow_vips_error(void) { return vips.vips_error_buffer(); }
void imgflow_vips_clear_error(void) { vips.vips_error_clear(); }
int imgflow_vips_has(const char *operation) { return vips.vips_type_find("VipsOperation", operation) != 0; }
void imgflow_vips_block(const char *class_name, int is_blocked) { vips.vips_operation_block_set(class_name, is_blocked); }

imgflow_vips_call *imgflow_vips_call_new(const char *operation) {
  return (imgflow_vips_call *)vips.vips_operation_new(operation);
}
void imgflow_vips_set_int(imgflow_vips_call *call, const char *name, int value) {
  vips.g_object_set(call, name, value, NULL);
}
void imgflow_vips_set_double(imgflow_vips_call *call, const char *name, double value) {
  vips.g_object_set(call, name, value, NULL);
}
void imgflow_vips_set_text(imgflow_vips_call *call, const char *name, const char *value) {
  vips.g_object_set(call, name, value, NULL);
}
void imgflow_vips_set_image(imgflow_vips_call *call, const char *name, imgflow_vips_image *value) {
  vips.g_object_set(call, name, value, NULL);
}
void imgflow_vips_set_images(imgflow_vips_call *call, const char *name, imgflow_vips_image **values, int count) {
  VipsArea *array = vips.vips_array_image_new((void **)values, count);
  vips.g_object_set(call, name, array, NULL);
  vips.vips_area_unref(array);
}
void imgflow_vips_set_numbers(imgflow_vips_call *call, const char *name, const double *values, int count) {
  VipsArea *array = vips.vips_array_double_new(values, count);
  vips.g_object_set(call, name, array, NULL);
  vips.vips_area_unref(array);
}
void imgflow_vips_set_bytes(imgflow_vips_call *call, const char *name, const void *bytes, size_t count) {
  VipsArea *blob = vips.vips_blob_new(NULL, bytes, count);
  vips.g_object_set(call, name, blob, NULL);
  vips.vips_area_unref(blob);
}
int imgflow_vips_run(imgflow_vips_call *call) { return vips.vips_object_build(call); }
imgflow_vips_image *imgflow_vips_get_image(imgflow_vips_call *call, const char *name) {
  void *image = NULL;
  vips.g_object_get(call, name, &image, NULL);
  return image;
}
int imgflow_vips_get_bytes(imgflow_vips_call *call, const char *name, void *context,
                           void (*take)(void *context, const void *bytes, size_t count)) {
  VipsArea *blob = NULL;
  vips.g_object_get(call, name, &blob, NULL);
  if (!blob) return -1;
  size_t count = 0;
  const void *bytes = vips.vips_blob_get(blob, &count);
  take(context, bytes, count);
  vips.vips_area_unref(blob);
  return 0;
}
void imgflow_vips_call_free(imgflow_vips_call *call) {
  vips.vips_object_unref_outputs(call);
  vips.g_object_unref(call);
}

imgflow_vips_image *imgflow_vips_image_from_pixels(const void *pixels, size_t size, int width, int height, int bands,
                                                   int format) {
  return vips.vips_image_new_from_memory_copy(pixels, size, width, height, bands, format);
}
imgflow_vips_image *imgflow_vips_image_from_numbers(int width, int height, const double *values, int count) {
  return vips.vips_image_new_matrix_from_array(width, height, values, count);
}
imgflow_vips_image *imgflow_vips_image_in_memory(imgflow_vips_image *image) {
  return vips.vips_image_copy_memory(image);
}
void *imgflow_vips_image_pixels(imgflow_vips_image *image, size_t *size) {
  return vips.vips_image_write_to_memory(image, size);
}
void imgflow_vips_free(void *memory) { vips.g_free(memory); }
void imgflow_vips_image_free(imgflow_vips_image *image) { vips.g_object_unref(image); }
int imgflow_vips_image_width(imgflow_vips_image *image) { return vips.vips_image_get_width(image); }
int imgflow_vips_image_height(imgflow_vips_image *image) { return vips.vips_image_get_height(image); }
int imgflow_vips_image_bands(imgflow_vips_image *image) { return vips.vips_image_get_bands(image); }
int imgflow_vips_image_format(imgflow_vips_image *image) { return vips.vips_image_get_format(image); }
int imgflow_vips_image_interpretation(imgflow_vips_image *image) { return vips.vips_image_get_interpretation(image); }
int imgflow_vips_image_has_alpha(imgflow_vips_image *image) { return vips.vips_image_hasalpha(image); }
int imgflow_vips_image_orientation(imgflow_vips_image *image) { return vips.vips_image_get_orientation(image); }
int imgflow_vips_image_pages(imgflow_vips_image *image) { return vips.vips_image_get_n_pages(image); }
int imgflow_vips_image_page_height(imgflow_vips_image *image) { return vips.vips_image_get_page_height(image); }
int imgflow_vips_image_x_offset(imgflow_vips_image *image) { return vips.vips_image_get_xoffset(image); }
int imgflow_vips_image_y_offset(imgflow_vips_image *image) { return vips.vips_image_get_yoffset(image); }

int imgflow_vips_image_has_field(imgflow_vips_image *image, const char *name) {
  return vips.vips_image_get_typeof(image, name) != 0;
}
int imgflow_vips_image_remove_field(imgflow_vips_image *image, const char *name) {
  return vips.vips_image_remove(image, name);
}
void imgflow_vips_image_set_int(imgflow_vips_image *image, const char *name, int value) {
  vips.vips_image_set_int(image, name, value);
}
int imgflow_vips_image_get_int(imgflow_vips_image *image, const char *name, int *value) {
  return vips.vips_image_get_int(image, name, value);
}
int imgflow_vips_image_get_blob(imgflow_vips_image *image, const char *name, const void **bytes, size_t *count) {
  return vips.vips_image_get_blob(image, name, bytes, count);
}
int imgflow_vips_image_get_text(imgflow_vips_image *image, const char *name, char **text) {
  // Not vips_image_get_string: of a field that is a plain string it returns the text of a copy that it has freed.
  return vips.vips_image_get_as_string(image, name, text);
}
char **imgflow_vips_image_fields(imgflow_vips_image *image) { return vips.vips_image_get_fields(image); }
void imgflow_vips_free_fields(char **fields) { vips.g_strfreev(fields); }
