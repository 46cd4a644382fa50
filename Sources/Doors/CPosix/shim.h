#ifndef IMGFLOW_CPOSIX_SHIM_H
#define IMGFLOW_CPOSIX_SHIM_H

// Calls that Swift cannot see: variadic ones, and system calls without a wrapper in the C library.

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int imgflow_open(const char *path, int flags, mode_t mode) { return open(path, flags | O_CLOEXEC, mode); }

static inline int imgflow_openat(int directory, const char *path, int flags, mode_t mode) {
  return openat(directory, path, flags | O_CLOEXEC, mode);
}

// Opens a path that may not leave the directory, by links or otherwise; ENOSYS where the kernel lacks the call.
static inline int imgflow_open_beneath(int directory, const char *path, int flags, mode_t mode) {
  struct open_how how = {
      .flags = (unsigned long long)(unsigned)(flags | O_CLOEXEC),
      .mode = flags & O_CREAT ? mode : 0,
      .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
  };
  return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

static inline int imgflow_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC); }

static inline int imgflow_set_thread_name(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }

static inline int imgflow_get_flags(int descriptor) { return fcntl(descriptor, F_GETFL); }

static inline int imgflow_set_flags(int descriptor, int flags) { return fcntl(descriptor, F_SETFL, flags); }

static inline int imgflow_window_size(int descriptor, struct winsize *size) {
  return ioctl(descriptor, TIOCGWINSZ, size);
}

static inline int imgflow_duplicate(int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, 3); }

// flags 1 is RENAME_NOREPLACE; the plain call is used for 0, because some file systems refuse the other.
static inline int imgflow_rename(int old_directory, const char *old_path, int new_directory, const char *new_path,
                                 unsigned flags) {
  if (flags == 0) return renameat(old_directory, old_path, new_directory, new_path);
  return (int)syscall(SYS_renameat2, old_directory, old_path, new_directory, new_path, flags);
}

static inline int imgflow_clone(int target, int source) { return ioctl(target, FICLONE, source); }

// 2 is SYNC_FILE_RANGE_WRITE.
static inline int imgflow_start_writing(int descriptor) {
  return (int)syscall(SYS_sync_file_range, descriptor, (off_t)0, (off_t)0, 2u);
}

static inline ssize_t imgflow_copy_range(int source, int target, size_t count) {
  return syscall(SYS_copy_file_range, source, NULL, target, NULL, count, 0u);
}

#endif
