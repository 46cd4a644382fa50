// Carries bytes between clients and a server on this machine, each way later by a fixed time: a link with a round trip.
//
//   delay LISTEN-PORT SERVER-PORT MICROSECONDS
//
// One thread and epoll. What comes in is stamped with the time at which it is due, and sent on when that has come; so
// bandwidth is not limited, and what comes together leaves together. Opening a connection costs no round trip.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 65536, MOST = 4 << 20 };

struct piece {
  struct piece *next, *later;  // In its end's queue; in the queue of all.
  struct end *to;
  uint64_t due;
  size_t length, sent;  // A length of 0 is the end of the stream.
  char bytes[];
};

struct end {
  int fd;
  struct end *other;
  struct piece *first, *last;  // What is to be written here.
  size_t held;
  int ready, hears, wants, gone;
};

static struct piece *oldest, *newest;
static int poller;
static uint64_t delay;

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void watch(struct end *end) {
  struct epoll_event event = {.data.ptr = end};
  if (end->hears && end->other->held < MOST) event.events |= EPOLLIN;
  if (end->wants) event.events |= EPOLLOUT;
  epoll_ctl(poller, EPOLL_CTL_MOD, end->fd, &event);
}

static void add(int fd, struct end *end) {
  int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = end};
  end->fd = fd;
  end->hears = 1;
  epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
}

// Both ends at once; their pieces stay in the queue of all and are passed over there.
static void hang_up(struct end *end) {
  for (int side = 0; side < 2; side++, end = end->other) {
    if (end->gone) continue;
    end->gone = 1;
    close(end->fd);
  }
}

static void put(struct end *end) {
  while (end->first && end->first->due == 0) {
    struct piece *piece = end->first;
    if (piece->length == 0) {
      shutdown(end->fd, SHUT_WR);
      if (!end->hears) { hang_up(end); return; }
    } else {
      ssize_t count = send(end->fd, piece->bytes + piece->sent, piece->length - piece->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && errno == EAGAIN) {
        if (!end->wants) { end->wants = 1; watch(end); }
        return;
      }
      if (count < 0) { hang_up(end); return; }
      piece->sent += (size_t)count;
      if (piece->sent < piece->length) continue;
    }
    end->first = piece->next;
    if (!end->first) end->last = NULL;
    int was_full = end->held >= MOST;
    end->held -= piece->length;
    free(piece);
    if (was_full && end->held < MOST) watch(end->other);
  }
  if (end->wants) { end->wants = 0; watch(end); }
}

static void take(struct end *end) {
  struct piece *piece = malloc(sizeof *piece + PIECE);
  ssize_t count = recv(end->fd, piece->bytes, PIECE, MSG_DONTWAIT);
  if (count < 0) {
    free(piece);
    if (errno != EAGAIN) hang_up(end);
    return;
  }
  piece = realloc(piece, sizeof *piece + (size_t)count);
  *piece = (struct piece){.to = end->other, .due = now() + delay, .length = (size_t)count};
  if (newest) newest->later = piece; else oldest = piece;
  newest = piece;
  struct end *to = end->other;
  if (to->last) to->last->next = piece; else to->first = piece;
  to->last = piece;
  to->held += (size_t)count;
  if (count == 0) end->hears = 0;
  if (count == 0 || to->held >= MOST) watch(end);
}

int main(int count, char **words) {
  if (count != 4) { fprintf(stderr, "usage: delay LISTEN-PORT SERVER-PORT MICROSECONDS\n"); return 2; }
  delay = strtoull(words[3], NULL, 10) * 1000;
  poller = epoll_create1(0);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  place.sin_port = htons((uint16_t)atoi(words[1]));
  if (bind(listener, (struct sockaddr *)&place, sizeof place) || listen(listener, 1024)) { perror("delay"); return 1; }
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL}, events[256];
  epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
  place.sin_port = htons((uint16_t)atoi(words[2]));
  for (;;) {
    struct timespec wait = {0}, *until = NULL;
    if (oldest) {
      uint64_t time = now();
      if (oldest->due > time) {
        wait.tv_sec = (time_t)((oldest->due - time) / 1000000000u);
        wait.tv_nsec = (long)((oldest->due - time) % 1000000000u);
      }
      until = &wait;
    }
    int found = epoll_pwait2(poller, events, 256, until, NULL);
    for (int index = 0; index < found; index++) {
      struct end *end = events[index].data.ptr;
      if (!end) {
        int client = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
        if (client < 0) continue;
        int server = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(server, (struct sockaddr *)&place, sizeof place)) { close(client); close(server); continue; }
        struct end *pair = calloc(2, sizeof *pair);
        pair[0].other = &pair[1];
        pair[1].other = &pair[0];
        add(client, &pair[0]);
        add(server, &pair[1]);
        continue;
      }
      if (!end->gone && events[index].events & EPOLLOUT) { end->wants = 0; watch(end); put(end); }
      if (!end->gone && end->hears && events[index].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) take(end);
      else if (!end->gone && events[index].events & EPOLLERR) hang_up(end);
    }
    for (uint64_t time = now(); oldest && oldest->due <= time;) {
      struct piece *piece = oldest;
      struct end *to = piece->to;
      oldest = piece->later;
      if (!oldest) newest = NULL;
      // Pairs that have hung up are few and stay; what was on its way to them goes here.
      if (to->gone) { free(piece); continue; }
      piece->due = 0;
      put(to);
    }
  }
}
