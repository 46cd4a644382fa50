// Runs a program and writes what it took: seconds, seconds of CPU, resident bytes at most, exit code.
//
//   took DESCRIPTOR PROGRAM [WORD…]
//
// It is small, since a child's peak of memory counts what its parent held when it was forked.

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int count, char **words) {
  if (count < 3) return 2;
  int told = atoi(words[1]);
  double begin = now();
  pid_t child = fork();
  if (child == 0) {
    close(told);
    execvp(words[2], words + 2);
    _exit(127);
  }
  int status = 0;
  struct rusage used;
  if (child < 0 || wait4(child, &status, 0, &used) < 0) return 1;
  double seconds = now() - begin;
  double cpu = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec)
      + (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  dprintf(told, "%.6f %.6f %ld %d\n", seconds, cpu, used.ru_maxrss * 1024, code);
  return 0;
}
