#ifndef IMGFLOW_CSQLITE_SHIM_H
#define IMGFLOW_CSQLITE_SHIM_H

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>

// The call is variadic, which Swift cannot see; it has an effect before the first connection only.
static inline int imgflow_sqlite_without_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

// What stands in the write-ahead log stays there when the last connection ends; variadic as well.
static inline int imgflow_sqlite_without_checkpoint_on_close(sqlite3 *database) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
}

// SQLite tries most calls again that a signal has interrupted, but neither the one that waits for the disk nor the one
// that removes a file. These are wrapped here, under a file system of the name below; all else is SQLite's own.
#define IMGFLOW_SQLITE_FILES "imgflow"

// How often an interrupted call is made again, before it counts as failed.
#define IMGFLOW_SQLITE_TRIES 100

struct imgflow_sqlite_methods {
  sqlite3_io_methods own;
  const sqlite3_io_methods *real;
};

static inline int imgflow_sqlite_sync(sqlite3_file *file, int flags) {
  const sqlite3_io_methods *real = ((const struct imgflow_sqlite_methods *)file->pMethods)->real;
  for (int left = IMGFLOW_SQLITE_TRIES;; left--) {
    int result = real->xSync(file, flags), cause = 0;
    if (result != SQLITE_IOERR_FSYNC || left == 0) return result;
    real->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &cause);
    if (cause != EINTR) return result;
  }
}

static inline int imgflow_sqlite_delete(sqlite3_vfs *files, const char *path, int syncs) {
  sqlite3_vfs *real = (sqlite3_vfs *)files->pAppData;
  for (int left = IMGFLOW_SQLITE_TRIES;; left--) {
    errno = 0;
    int result = real->xDelete(real, path, syncs);
    if (result != SQLITE_IOERR_DELETE || errno != EINTR || left == 0) return result;
  }
}

// There are a few tables of methods in SQLite, by the way of locking; each gets its twin.
static inline const sqlite3_io_methods *imgflow_sqlite_twin(const sqlite3_io_methods *real) {
  static struct imgflow_sqlite_methods twins[8];
  static int count = 0;
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  const sqlite3_io_methods *twin = real;
  pthread_mutex_lock(&lock);
  int place = 0;
  while (place < count && twins[place].real != real) place++;
  if (place == count && count < 8) {
    twins[count].own = *real;
    twins[count].own.xSync = imgflow_sqlite_sync;
    twins[count].real = real;
    count++;
  }
  if (place < count) twin = &twins[place].own;
  pthread_mutex_unlock(&lock);
  return twin;
}

static inline int imgflow_sqlite_open(sqlite3_vfs *files, const char *path, sqlite3_file *file, int flags, int *given) {
  sqlite3_vfs *real = (sqlite3_vfs *)files->pAppData;
  int result = real->xOpen(real, path, file, flags, given);
  if (result == SQLITE_OK && file->pMethods) file->pMethods = imgflow_sqlite_twin(file->pMethods);
  return result;
}

// Makes the file system known; before the first connection.
static inline int imgflow_sqlite_register(void) {
  static sqlite3_vfs files;
  sqlite3_vfs *real = sqlite3_vfs_find(0);
  if (!real) return SQLITE_ERROR;
  files = *real;
  files.zName = IMGFLOW_SQLITE_FILES;
  files.pNext = 0;
  files.pAppData = real;
  files.xOpen = imgflow_sqlite_open;
  files.xDelete = imgflow_sqlite_delete;
  return sqlite3_vfs_register(&files, 0);
}

#endif
