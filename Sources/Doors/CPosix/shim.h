#ifndef IMGFLOW_CPOSIX_SHIM_H
#define IMGFLOW_CPOSIX_SHIM_H

// Calls that Swift cannot see: variadic ones, and system calls without a wrapper in the C library.

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static inline int imgflow_open(const char *path, int flags, mode_t mode) { return open(path, flags | O_CLOEXEC, mode); }

// The number of the calling thread.
static inline unsigned imgflow_thread(void) { return (unsigned)syscall(SYS_gettid); }

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

// How many descriptors this process may open; with `raise`, as many as it may allow itself, up to a bound.
static inline long imgflow_descriptor_limit(int raise) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 256;
  rlim_t most = limit.rlim_max < 65536 ? limit.rlim_max : 65536;
  if (raise && limit.rlim_cur < most) {
    struct rlimit wanted = {most, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &wanted) == 0) limit = wanted;
  }
  return limit.rlim_cur < 65536 ? (long)limit.rlim_cur : 65536;
}

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

// Names of a directory as records of the kernel's `struct linux_dirent64`.
static inline int imgflow_read_directory(int descriptor, void *buffer, unsigned size) {
  return (int)syscall(SYS_getdents64, descriptor, buffer, size);
}

static inline int imgflow_clone(int target, int source) { return ioctl(target, FICLONE, source); }

// 2 is SYNC_FILE_RANGE_WRITE.
static inline int imgflow_start_writing(int descriptor) {
  return (int)syscall(SYS_sync_file_range, descriptor, (off_t)0, (off_t)0, 2u);
}

static inline ssize_t imgflow_copy_range(int source, int target, size_t count) {
  return syscall(SYS_copy_file_range, source, NULL, target, NULL, count, 0u);
}

// The number under which the kernel tells of a process's end; it stays right when the process's id is given anew.
static inline int imgflow_process_descriptor(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0u); }

static inline int imgflow_signal_process(int descriptor, int number) {
  return (int)syscall(SYS_pidfd_send_signal, descriptor, number, NULL, 0);
}

// The C library has these, and shows them only to those that ask for all of its extensions.
int pipe2(int ends[2], int flags);
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);
#ifndef POSIX_SPAWN_SETSID
#define POSIX_SPAWN_SETSID 0x80
#endif

static inline int imgflow_make_event(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

static inline int imgflow_make_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

// Waits for the end without taking the process off the kernel's list, so that its group cannot be another's yet.
static inline int imgflow_has_ended(pid_t process) {
  siginfo_t info;
  info.si_pid = 0;
  if (waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return 0;
  return info.si_pid == process;
}

// Starts a program in a session of its own, with nothing open but the three streams; an error number where it cannot.
static inline int imgflow_spawn(pid_t *process, char *const *words, char *const *variables, const char *folder,
                                const int streams[3]) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  for (int number = 0; number < 3; number++) posix_spawn_file_actions_adddup2(&actions, streams[number], number);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  if (folder) posix_spawn_file_actions_addchdir_np(&actions, folder);
  int failure = posix_spawnp(process, words[0], &actions, &attributes, words, variables);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return failure;
}

// MARK: Bounds of a program that is about to be started in place of this process

static inline int imgflow_limit_data(unsigned long long bytes) {
  struct rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
  return setrlimit(RLIMIT_DATA, &limit);
}

static inline int imgflow_refuse_core_dumps(void) {
  struct rlimit limit = {.rlim_cur = 0, .rlim_max = 0};
  return setrlimit(RLIMIT_CORE, &limit);
}

static inline int imgflow_refuse_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

static inline int imgflow_die_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); }

// What the kernel can hold writes back from; 0 where it has no Landlock, or it is switched off.
static inline int imgflow_landlock_version(void) {
  int version = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, 1u);
  return version < 0 ? 0 : version;
}

// All rights that change something, as far as a version of Landlock knows them: bits 1 and 4 to 12, then REFER (2)
// and TRUNCATE (3).
static inline unsigned long long imgflow_landlock_writes(int version) {
  unsigned long long rights = 0x1FF2ull;
  if (version >= 2) rights |= 1ull << 13;
  if (version >= 3) rights |= 1ull << 14;
  return rights;
}

static inline int imgflow_landlock_begin(int version) {
  unsigned long long handled = imgflow_landlock_writes(version);
  return (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0u);
}

// Lets writes through below a directory, or to a single file.
static inline int imgflow_landlock_allow(int rules, int version, int place, int is_directory) {
  struct {
    unsigned long long allowed;
    int parent;
  } __attribute__((packed)) rule = {
      .allowed = imgflow_landlock_writes(version) & (is_directory ? ~0ull : (1ull << 1 | 1ull << 14)),
      .parent = place,
  };
  return (int)syscall(SYS_landlock_add_rule, rules, 1, &rule, 0u);
}

static inline int imgflow_landlock_enforce(int rules) { return (int)syscall(SYS_landlock_restrict_self, rules, 0u); }

// Refuses all sockets but those within the machine's own programs, and the ways around that.
static inline int imgflow_refuse_network(void) {
#if defined(__x86_64__)
  const unsigned architecture = AUDIT_ARCH_X86_64;
  const unsigned highest = 0x3FFFFFFF;
#elif defined(__aarch64__)
  const unsigned architecture = AUDIT_ARCH_AARCH64;
  const unsigned highest = 0x7FFFFFFF;
#else
  errno = ENOSYS;
  return -1;
#endif
#if defined(__x86_64__) || defined(__aarch64__)
  struct sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, architecture, 0, 7),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, highest, 5, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 425 /* io_uring_setup */, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 5),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 2, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {.len = sizeof program / sizeof *program, .filter = program};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
#endif
}

#endif
