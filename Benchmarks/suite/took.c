// Runs a program and writes what it took: seconds, seconds of CPU, resident bytes at most, exit code.
//
//   took DESCRIPTOR PROGRAM [WORD…]
//
// It is small, since a child's peak of memory counts what its parent held when it was forked. Told to end (SIGTERM), it
// kills the program with all of its group and writes what that took until then, with the exit code 124.

#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t child;
static volatile sig_atomic_t is_stopped;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void stop(int signal) {
  (void)signal;
  is_stopped = 1;
  kill(-child, SIGKILL);
}

int main(int count, char **words) {
  if (count < 3) return 2;
  int told = atoi(words[1]);
  // Until there is a child in a group of its own, there is nothing to stop.
  sigset_t ends, before;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigprocmask(SIG_BLOCK, &ends, &before);
  double begin = now();
  child = fork();
  if (child == 0) {
    close(told);
    setpgid(0, 0);
    sigprocmask(SIG_SETMASK, &before, NULL);
    execvp(words[2], words + 2);
    _exit(127);
  }
  if (child < 0) return 1;
  // Whichever of the two comes first.
  setpgid(child, child);
  sigaction(SIGTERM, &(struct sigaction){.sa_handler = stop, .sa_flags = SA_RESTART}, NULL);
  sigprocmask(SIG_SETMASK, &before, NULL);
  int status = 0;
  struct rusage used;
  if (wait4(child, &status, 0, &used) < 0) return 1;
  double seconds = now() - begin;
  double cpu = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec)
      + (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : is_stopped ? 124 : 128 + WTERMSIG(status);
  dprintf(told, "%.6f %.6f %ld %d\n", seconds, cpu, used.ru_maxrss * 1024, code);
  return 0;
}
