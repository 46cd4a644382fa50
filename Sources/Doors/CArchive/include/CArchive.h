#ifndef IMGFLOW_CARCHIVE_H
#define IMGFLOW_CARCHIVE_H

#include <stddef.h>
#include <stdint.h>

// The few calls of libarchive that are used, from a table that is filled on first use: the library brings ten others
// along, among them one of thirty megabytes, and most runs take no archive apart.

// Loads the library; 0, or -1 where it is not there. Before any other call.
int imgflow_archive_load(void);

typedef struct imgflow_archive_reader *imgflow_archive_reader;
typedef struct imgflow_archive_entry *imgflow_archive_entry;

// A reader of tar (also with gzip, bzip2, xz, zstd), zip and 7z; NULL where there is no memory.
imgflow_archive_reader imgflow_archive_make(void);
// 0, or a code below it.
int imgflow_archive_open(imgflow_archive_reader reader, const char *path, size_t block);
// What was wrong last; NULL where nothing is known.
const char *imgflow_archive_error(imgflow_archive_reader reader);
// 0 for a member, 1 behind the last; -1 after an error.
int imgflow_archive_next(imgflow_archive_reader reader, imgflow_archive_entry *entry);
// Bytes of the current member: how many, 0 at its end, -1 after an error.
ptrdiff_t imgflow_archive_read(imgflow_archive_reader reader, void *bytes, size_t count);
void imgflow_archive_close(imgflow_archive_reader reader);

int imgflow_archive_is_encrypted(imgflow_archive_entry entry);
// What its header says of its size; -1 where it says nothing.
int64_t imgflow_archive_size(imgflow_archive_entry entry);
// Its path as UTF-8, or as its bytes are where their encoding is unknown; NULL where it has none.
const char *imgflow_archive_path(imgflow_archive_entry entry);
// 0 for a file, 1 a folder, 2 a link of any kind, 3 something else.
int imgflow_archive_kind(imgflow_archive_entry entry);

#endif
