// What libcurl itself allows: fetches a list with nothing around it but what imgflow's files cannot be had without.
//
//   floor LIST OUT EVENTS CONNECTIONS [CA]
//
// Two threads with a multi handle each, as imgflow has them. A body goes into a temporary file and through SHA-256 as it
// comes; the whole file gets its name in one step; a line with address, length and digest is written. No journal, no
// second try, no limits, no choice: a tool that does more takes longer, and by how much is what this is for.

#define _GNU_SOURCE
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { THREADS = 2, MOST_CONNECTIONS = 256, LINE = 4096 };

static char **addresses;
static size_t count;
static atomic_size_t next, failed;
static const char *authority;
static int out, events, connections;

struct transfer {
  CURL *easy;
  EVP_MD_CTX *digest;
  const char *address;
  size_t length;
  int file;
  char temporary[32];
};

static size_t take(char *bytes, size_t size, size_t number, void *context) {
  struct transfer *transfer = context;
  size_t left = size * number;
  if (transfer->file < 0) {
    transfer->file = openat(out, transfer->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (transfer->file < 0) return 0;
  }
  EVP_DigestUpdate(transfer->digest, bytes, left);
  transfer->length += left;
  while (left > 0) {
    ssize_t written = write(transfer->file, bytes, left);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return 0;
    bytes += written;
    left -= (size_t)written;
  }
  return size * number;
}

// Takes the next address of the list; whether there was one.
static int begin(struct transfer *transfer, CURLM *multi) {
  size_t place = atomic_fetch_add(&next, 1);
  if (place >= count) return 0;
  transfer->address = addresses[place];
  transfer->length = 0;
  snprintf(transfer->temporary, sizeof transfer->temporary, ".part-%zu", place);
  EVP_DigestInit_ex(transfer->digest, EVP_sha256(), NULL);
  curl_easy_setopt(transfer->easy, CURLOPT_URL, transfer->address);
  curl_multi_add_handle(multi, transfer->easy);
  return 1;
}

static void end(struct transfer *transfer, CURLcode code) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  char line[LINE];
  int at, is_whole = code == CURLE_OK && transfer->file >= 0;
  EVP_DigestFinal_ex(transfer->digest, digest, NULL);
  if (transfer->file >= 0) close(transfer->file);
  transfer->file = -1;
  const char *name = strrchr(transfer->address, '/') + 1;
  if (is_whole && renameat(out, transfer->temporary, out, name) < 0) is_whole = 0;
  if (!is_whole) {
    atomic_fetch_add(&failed, 1);
    return;
  }
  at = snprintf(line, sizeof line - 80, "{\"url\":\"%s\",\"bytes\":%zu,\"sha256\":\"", transfer->address, transfer->length);
  if (at > (int)sizeof line - 80) at = (int)sizeof line - 80;
  for (int byte = 0; byte < 32; byte++) at += sprintf(line + at, "%02x", digest[byte]);
  at += sprintf(line + at, "\"}\n");
  if (write(events, line, (size_t)at) != at) atomic_fetch_add(&failed, 1);
}

static void *work(void *nothing) {
  static struct transfer transfers[THREADS][MOST_CONNECTIONS];
  static atomic_int threads;
  struct transfer *mine = transfers[atomic_fetch_add(&threads, 1)];
  CURLM *multi = curl_multi_init();
  int running = 0, mine_count = connections / THREADS;
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)connections);
  for (int number = 0; number < mine_count; number++) {
    struct transfer *transfer = &mine[number];
    transfer->file = -1;
    transfer->easy = curl_easy_init();
    transfer->digest = EVP_MD_CTX_new();
    curl_easy_setopt(transfer->easy, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(transfer->easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(transfer->easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(transfer->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(transfer->easy, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(transfer->easy, CURLOPT_PIPEWAIT, 1L);
    curl_easy_setopt(transfer->easy, CURLOPT_BUFFERSIZE, 128L * 1024);
    if (authority) curl_easy_setopt(transfer->easy, CURLOPT_CAINFO, authority);
    begin(transfer, multi);
  }
  do {
    curl_multi_perform(multi, &running);
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(multi, &left))) {
      CURL *easy = message->easy_handle;
      CURLcode code = message->data.result;
      struct transfer *transfer;
      curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&transfer);
      curl_multi_remove_handle(multi, easy);
      end(transfer, code);
      if (begin(transfer, multi)) running++;
    }
    if (running > 0) curl_multi_poll(multi, NULL, 0, 1000, NULL);
  } while (running > 0);
  return nothing;
}

int main(int argc, char **argv) {
  if (argc < 5) return 2;
  FILE *list = fopen(argv[1], "r");
  char *line = NULL;
  size_t room = 0;
  ssize_t length;
  if (!list) return 2;
  while ((length = getline(&line, &room, list)) > 0) {
    if (line[length - 1] == '\n') line[length - 1] = 0;
    addresses = realloc(addresses, (count + 1) * sizeof *addresses);
    addresses[count++] = strdup(line);
  }
  mkdir(argv[2], 0777);
  out = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  events = open(argv[3], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  connections = atoi(argv[4]);
  if (connections > THREADS * MOST_CONNECTIONS) connections = THREADS * MOST_CONNECTIONS;
  if (connections < THREADS) connections = THREADS;
  authority = argc > 5 ? argv[5] : NULL;
  if (out < 0 || events < 0) return 2;
  curl_global_init(CURL_GLOBAL_ALL);
  pthread_t threads[THREADS];
  for (int number = 0; number < THREADS; number++) pthread_create(&threads[number], NULL, work, NULL);
  for (int number = 0; number < THREADS; number++) pthread_join(threads[number], NULL);
  return failed > 0;
}
