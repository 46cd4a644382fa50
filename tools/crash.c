// A library for LD_PRELOAD that lets the calls by which a program changes files fail, or end the program, at a chosen
// one of them. For tests alone.
//
//   CRASH_KIND   count   nothing happens, calls are only counted (default)
//                before  SIGKILL in place of the call
//                tear    half of a write, then SIGKILL; SIGKILL after any other call
//                after   SIGKILL after the call
//                ENOSPC EIO EDQUOT EMFILE EINTR   the call fails so
//   CRASH_AT     at which call, from 1
//   CRASH_FROM   where set, every call from that one on fails, not it alone
//   CRASH_TALLY  a file of 16 bytes: how many calls there were, and how many of them were hit
//
// Calls of all threads count, on regular files and folders alone. What is counted depends on the kind: EMFILE is about
// calls that open something, ENOSPC and EDQUOT about calls that take room, the others about all that change anything.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { COUNT, BEFORE, TEAR, AFTER, FAIL };
// What a call does, as far as kinds care.
enum { CHANGES = 1, OPENS = 2, TAKES_ROOM = 4 };
// What is done about a call.
enum way { GO, DIE_AFTER, DIE_TORN, REFUSE };

struct tally {
  uint64_t calls;
  uint64_t hits;
};

static enum kind kind = COUNT;
static int refusal = 0;
static uint64_t at = 0;
static int from_then_on = 0;
static int wanted = CHANGES;
static struct tally own;
static struct tally *tally = &own;

// Libraries make calls before this one is prepared.
static long (*known_syscall)(long, ...);
static long (*the_syscall(void))(long, ...) {
  if (!known_syscall) known_syscall = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  return known_syscall;
}
#define real_syscall the_syscall()

static void end_here(void) {
  real_syscall(SYS_kill, real_syscall(SYS_getpid), SIGKILL);
  for (;;) real_syscall(SYS_pause);
}

__attribute__((constructor)) static void prepare(void) {
  const char *name = getenv("CRASH_KIND");
  const char *place = getenv("CRASH_AT");
  const char *path = getenv("CRASH_TALLY");
  at = place ? strtoull(place, NULL, 10) : 0;
  from_then_on = getenv("CRASH_FROM") != NULL;
  if (path) {
    int file = (int)real_syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0) {
      if (real_syscall(SYS_ftruncate, file, sizeof(struct tally)) == 0) {
        void *map = mmap(NULL, sizeof(struct tally), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (map != MAP_FAILED) tally = map;
      }
      real_syscall(SYS_close, file);
    }
  }
  if (!name) return;
  static const struct { const char *name; enum kind kind; int refusal; int wanted; } kinds[] = {
      {"count", COUNT, 0, CHANGES},           {"before", BEFORE, 0, CHANGES},
      {"tear", TEAR, 0, CHANGES},             {"after", AFTER, 0, CHANGES},
      {"ENOSPC", FAIL, ENOSPC, TAKES_ROOM},   {"EIO", FAIL, EIO, CHANGES},
      {"EDQUOT", FAIL, EDQUOT, TAKES_ROOM},   {"EMFILE", FAIL, EMFILE, OPENS},
      {"EINTR", FAIL, EINTR, CHANGES},
  };
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (strcmp(name, kinds[i].name) != 0) continue;
    kind = kinds[i].kind;
    refusal = kinds[i].refusal;
    wanted = kinds[i].wanted;
  }
}

static enum way judge(int what) {
  if (!(what & wanted)) return GO;
  uint64_t number = __atomic_add_fetch(&tally->calls, 1, __ATOMIC_SEQ_CST);
  if (kind == COUNT || at == 0) return GO;
  if (number != at && !(from_then_on && number > at)) return GO;
  __atomic_add_fetch(&tally->hits, 1, __ATOMIC_SEQ_CST);
  switch (kind) {
  case BEFORE: end_here(); return GO;
  case TEAR: return DIE_TORN;
  case AFTER: return DIE_AFTER;
  case FAIL: errno = refusal; return REFUSE;
  default: return GO;
  }
}

static int is_file(int number) {
  struct stat facts;
  return number > 2 && fstat(number, &facts) == 0 && S_ISREG(facts.st_mode);
}

// Of what a path's opening is about. That of libdispatch's own look at its threads is about nothing: it ends the
// process where the system refuses it, and no program can help that but by keeping descriptors free.
static int of_open(const char *path, int flags) {
  if (path && strncmp(path, "/proc/", 6) == 0) return 0;
  if ((flags & O_PATH) == O_PATH) return OPENS;
  int makes = (flags & O_CREAT) == O_CREAT || (flags & O_TRUNC) == O_TRUNC;
  return OPENS | (makes ? CHANGES | TAKES_ROOM : 0);
}

#define REAL(name) ((__typeof__(&name))real(#name))
static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

// A call that is done as a whole or not at all.
#define PASS(what, call)                                   \
  do {                                                     \
    enum way way = judge(what);                            \
    if (way == REFUSE) return -1;                          \
    __typeof__(call) result = call;                        \
    if (way != GO) end_here();                             \
    return result;                                         \
  } while (0)

#define MODE(flags)                                        \
  mode_t mode = 0;                                         \
  if (flags & (O_CREAT | __O_TMPFILE)) {                   \
    va_list list;                                          \
    va_start(list, flags);                                 \
    mode = va_arg(list, mode_t);                           \
    va_end(list);                                          \
  }

int open(const char *path, int flags, ...) { MODE(flags) PASS(of_open(path, flags), REAL(open)(path, flags, mode)); }
int open64(const char *path, int flags, ...) { MODE(flags) PASS(of_open(path, flags), REAL(open64)(path, flags, mode)); }
int openat(int folder, const char *path, int flags, ...) {
  MODE(flags) PASS(of_open(path, flags), REAL(openat)(folder, path, flags, mode));
}
int openat64(int folder, const char *path, int flags, ...) {
  MODE(flags) PASS(of_open(path, flags), REAL(openat64)(folder, path, flags, mode));
}

ssize_t write(int file, const void *bytes, size_t count) {
  if (!is_file(file)) return REAL(write)(file, bytes, count);
  enum way way = judge(CHANGES | TAKES_ROOM);
  if (way == REFUSE) return -1;
  ssize_t result = REAL(write)(file, bytes, way == DIE_TORN ? count / 2 : count);
  if (way != GO) end_here();
  return result;
}

static ssize_t write_at(int file, const void *bytes, size_t count, off_t place) {
  enum way way = is_file(file) ? judge(CHANGES | TAKES_ROOM) : GO;
  if (way == REFUSE) return -1;
  ssize_t result = real_syscall(SYS_pwrite64, file, bytes, way == DIE_TORN ? count / 2 : count, place);
  if (way != GO) end_here();
  return result;
}
ssize_t pwrite(int file, const void *bytes, size_t count, off_t place) { return write_at(file, bytes, count, place); }
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t place) {
  return write_at(file, bytes, count, place);
}
ssize_t writev(int file, const struct iovec *parts, int count) {
  if (!is_file(file)) return REAL(writev)(file, parts, count);
  enum way way = judge(CHANGES | TAKES_ROOM);
  if (way == REFUSE) return -1;
  ssize_t result = REAL(writev)(file, parts, way == DIE_TORN ? (count + 1) / 2 : count);
  if (way != GO) end_here();
  return result;
}

int ftruncate(int file, off_t length) { PASS(CHANGES | TAKES_ROOM, REAL(ftruncate)(file, length)); }
int ftruncate64(int file, off64_t length) { PASS(CHANGES | TAKES_ROOM, REAL(ftruncate64)(file, length)); }
int fallocate(int file, int mode, off_t place, off_t length) {
  PASS(CHANGES | TAKES_ROOM, REAL(fallocate)(file, mode, place, length));
}
int fsync(int file) { PASS(CHANGES | TAKES_ROOM, REAL(fsync)(file)); }
int fdatasync(int file) { PASS(CHANGES | TAKES_ROOM, REAL(fdatasync)(file)); }
int rename(const char *old, const char *new) { PASS(CHANGES | TAKES_ROOM, REAL(rename)(old, new)); }
int renameat(int old_folder, const char *old, int new_folder, const char *new) {
  PASS(CHANGES | TAKES_ROOM, REAL(renameat)(old_folder, old, new_folder, new));
}
int unlink(const char *path) { PASS(CHANGES, REAL(unlink)(path)); }
int unlinkat(int folder, const char *path, int flags) { PASS(CHANGES, REAL(unlinkat)(folder, path, flags)); }
int rmdir(const char *path) { PASS(CHANGES, REAL(rmdir)(path)); }
int mkdir(const char *path, mode_t mode) { PASS(CHANGES | TAKES_ROOM, REAL(mkdir)(path, mode)); }
int mkdirat(int folder, const char *path, mode_t mode) {
  PASS(CHANGES | TAKES_ROOM, REAL(mkdirat)(folder, path, mode));
}
int link(const char *old, const char *new) { PASS(CHANGES | TAKES_ROOM, REAL(link)(old, new)); }
int linkat(int old_folder, const char *old, int new_folder, const char *new, int flags) {
  PASS(CHANGES | TAKES_ROOM, REAL(linkat)(old_folder, old, new_folder, new, flags));
}
int symlinkat(const char *target, int folder, const char *path) {
  PASS(CHANGES | TAKES_ROOM, REAL(symlinkat)(target, folder, path));
}
int chmod(const char *path, mode_t mode) { PASS(CHANGES, REAL(chmod)(path, mode)); }
int fchmod(int file, mode_t mode) { PASS(CHANGES, REAL(fchmod)(file, mode)); }
int fchmodat(int folder, const char *path, mode_t mode, int flags) {
  PASS(CHANGES, REAL(fchmodat)(folder, path, mode, flags));
}

// The calls that have no wrapper of their own in older C libraries.
long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long a = va_arg(list, long), b = va_arg(list, long), c = va_arg(list, long);
  long d = va_arg(list, long), e = va_arg(list, long), f = va_arg(list, long);
  va_end(list);
  int what = 0;
  switch (number) {
  case SYS_openat2: what = of_open(NULL, (int)*(const uint64_t *)c); break;
  case SYS_renameat2:
  case SYS_copy_file_range: what = CHANGES | TAKES_ROOM; break;
  default: break;
  }
  if (!what) return real_syscall(number, a, b, c, d, e, f);
  enum way way = judge(what);
  if (way == REFUSE) return -1;
  long result = real_syscall(number, a, b, c, d, e, f);
  if (way != GO) end_here();
  return result;
}
