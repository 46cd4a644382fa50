#include "CArchive.h"

#include <dlfcn.h>
#include <locale.h>
#include <pthread.h>

typedef imgflow_archive_reader reader;
typedef imgflow_archive_entry entry;

// Each function with the type that the library's header gives it. All are of its version 3.1, which later ones keep.
#define FUNCTIONS(X) \
  X(reader, archive_read_new, (void)) \
  X(int, archive_read_support_filter_gzip, (reader)) \
  X(int, archive_read_support_filter_bzip2, (reader)) \
  X(int, archive_read_support_filter_xz, (reader)) \
  X(int, archive_read_support_filter_lzma, (reader)) \
  X(int, archive_read_support_filter_zstd, (reader)) \
  X(int, archive_read_support_format_tar, (reader)) \
  X(int, archive_read_support_format_gnutar, (reader)) \
  X(int, archive_read_support_format_zip_seekable, (reader)) \
  X(int, archive_read_support_format_7zip, (reader)) \
  X(int, archive_read_open_filename, (reader, const char *, size_t)) \
  X(int, archive_read_next_header, (reader, entry *)) \
  X(ptrdiff_t, archive_read_data, (reader, void *, size_t)) \
  X(int, archive_read_free, (reader)) \
  X(const char *, archive_error_string, (reader)) \
  X(int, archive_entry_is_data_encrypted, (entry)) \
  X(int, archive_entry_size_is_set, (entry)) \
  X(int64_t, archive_entry_size, (entry)) \
  X(const char *, archive_entry_pathname_utf8, (entry)) \
  X(const char *, archive_entry_pathname, (entry)) \
  X(const char *, archive_entry_hardlink, (entry)) \
  X(unsigned, archive_entry_filetype, (entry))

static struct {
#define MEMBER(result, name, arguments) result(*name) arguments;
  FUNCTIONS(MEMBER)
#undef MEMBER
} library;

// Of the header.
enum { code_eof = 1, code_ok = 0, code_retry = -10, code_warn = -20 };
enum { type_mask = 0170000, type_file = 0100000, type_link = 0120000, type_folder = 0040000 };

static int outcome = -1;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
  void *handle = dlopen("libarchive.so.13", RTLD_NOW | RTLD_LOCAL);
  if (!handle) return;
#define LOOK_UP(result, name, arguments) \
  library.name = (result(*) arguments)dlsym(handle, #name); \
  if (!library.name) return;
  FUNCTIONS(LOOK_UP)
#undef LOOK_UP
  outcome = 0;
}

int imgflow_archive_load(void) {
  pthread_once(&once, load);
  return outcome;
}

reader imgflow_archive_make(void) {
  reader reader = library.archive_read_new();
  if (!reader) return NULL;
  // No filter that would start a program, and no format that is none of an archive.
  library.archive_read_support_filter_gzip(reader);
  library.archive_read_support_filter_bzip2(reader);
  library.archive_read_support_filter_xz(reader);
  library.archive_read_support_filter_lzma(reader);
  library.archive_read_support_filter_zstd(reader);
  library.archive_read_support_format_tar(reader);
  library.archive_read_support_format_gnutar(reader);
  // Not the one that reads zip files from the front: it takes one that was cut off for a whole one.
  library.archive_read_support_format_zip_seekable(reader);
  library.archive_read_support_format_7zip(reader);
  return reader;
}

int imgflow_archive_open(reader reader, const char *path, size_t block) {
  return library.archive_read_open_filename(reader, path, block);
}

const char *imgflow_archive_error(reader reader) { return library.archive_error_string(reader); }

// Names are turned into UTF-8 by the thread's locale; the process has none of its own, and only ASCII would get through.
static locale_t names_locale;
static pthread_once_t names_locale_once = PTHREAD_ONCE_INIT;

static void make_names_locale(void) { names_locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0); }

static locale_t enter_names_locale(void) {
  pthread_once(&names_locale_once, make_names_locale);
  return names_locale ? uselocale(names_locale) : (locale_t)0;
}

static void leave_names_locale(locale_t before) {
  if (before) uselocale(before);
}

int imgflow_archive_next(reader reader, entry *entry) {
  locale_t before = enter_names_locale();
  int code = code_retry;
  for (int round = 0; round < 10 && code == code_retry; round++) code = library.archive_read_next_header(reader, entry);
  leave_names_locale(before);
  if (code == code_eof) return 1;
  return (code == code_ok || code == code_warn) && *entry ? 0 : -1;
}

ptrdiff_t imgflow_archive_read(reader reader, void *bytes, size_t count) {
  ptrdiff_t length = code_retry;
  while (length == code_retry) length = library.archive_read_data(reader, bytes, count);
  return length < 0 ? -1 : length;
}

void imgflow_archive_close(reader reader) { library.archive_read_free(reader); }

int imgflow_archive_is_encrypted(entry entry) { return library.archive_entry_is_data_encrypted(entry); }

int64_t imgflow_archive_size(entry entry) {
  return library.archive_entry_size_is_set(entry) ? library.archive_entry_size(entry) : -1;
}

const char *imgflow_archive_path(entry entry) {
  locale_t before = enter_names_locale();
  const char *text = library.archive_entry_pathname_utf8(entry);
  if (!text) text = library.archive_entry_pathname(entry);
  leave_names_locale(before);
  return text;
}

int imgflow_archive_kind(entry entry) {
  if (library.archive_entry_hardlink(entry)) return 2;
  switch (library.archive_entry_filetype(entry) & type_mask) {
    case type_file: return 0;
    case type_folder: return 1;
    case type_link: return 2;
    default: return 3;
  }
}
