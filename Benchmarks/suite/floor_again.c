// What a second run takes at least that has a journal and looks at each of its files.
//
//   floor_again --make FILES OUT JOURNAL    makes the journal; a line a file: ADDRESS, PATH below OUT, SHA-256, by tabs
//   floor_again LIST OUT EVENTS JOURNAL     the second run; EVENTS may be `none`
//
// Each address of the list is looked up in a SQLite database, by an index over 64 bits of hash; its file's length, times
// and inode are compared with the row; a line with address, path, length and digest is written; and at the end all rows
// are marked as seen by this run, in one transaction that a kill leaves whole or undone. Whatever is not as it was ends
// it with 1 and marks nothing: it has no manifest, no stages, and nothing to fetch with.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sqlite3 *journal;

static void give_up(const char *what) {
  // Either may be what it is about.
  fprintf(stderr, "floor_again: %s: %s; %s\n", what, strerror(errno), journal ? sqlite3_errmsg(journal) : "no journal");
  exit(2);
}

static void run(const char *text) {
  if (sqlite3_exec(journal, text, NULL, NULL, NULL) != SQLITE_OK) give_up(text);
}

static sqlite3_stmt *prepare(const char *text) {
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v3(journal, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK) give_up(text);
  return statement;
}

// FNV-1a.
static int64_t hash(const char *bytes, size_t length) {
  uint64_t value = 0xcbf29ce484222325;
  for (size_t at = 0; at < length; at++) value = (value ^ (unsigned char)bytes[at]) * 0x100000001b3;
  return (int64_t)value;
}

static int64_t nanoseconds(struct timespec time) { return time.tv_sec * INT64_C(1000000000) + time.tv_nsec; }

// The next line without its end; its length, or -1 behind the last.
static ssize_t next(FILE *list, char **line, size_t *room) {
  ssize_t length = getline(line, room, list);
  if (length > 0 && (*line)[length - 1] == '\n') (*line)[--length] = 0;
  return length;
}

static void make(FILE *files, int out) {
  run("CREATE TABLE runs (number INTEGER PRIMARY KEY)");
  run("CREATE TABLE items (id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, url TEXT NOT NULL, path TEXT NOT NULL,"
      " bytes INTEGER NOT NULL, sha256 TEXT NOT NULL, modified INTEGER NOT NULL, changed INTEGER NOT NULL,"
      " inode INTEGER NOT NULL, run INTEGER NOT NULL)");
  run("CREATE INDEX items_by_hash ON items (hash)");
  run("BEGIN IMMEDIATE; INSERT INTO runs VALUES (1)");
  sqlite3_stmt *insert = prepare(
      "INSERT INTO items (hash, url, path, bytes, sha256, modified, changed, inode, run)"
      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 1)");
  char *line = NULL;
  size_t room = 0;
  while (next(files, &line, &room) > 0) {
    char *rest = line, *address = strsep(&rest, "\t"), *path = strsep(&rest, "\t");
    struct stat facts;
    if (!path || !rest || fstatat(out, path, &facts, AT_SYMLINK_NOFOLLOW) < 0) give_up(line);
    sqlite3_bind_int64(insert, 1, hash(address, strlen(address)));
    sqlite3_bind_text(insert, 2, address, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 3, path, -1, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 4, facts.st_size);
    sqlite3_bind_text(insert, 5, rest, -1, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 6, nanoseconds(facts.st_mtim));
    sqlite3_bind_int64(insert, 7, nanoseconds(facts.st_ctim));
    sqlite3_bind_int64(insert, 8, (int64_t)facts.st_ino);
    if (sqlite3_step(insert) != SQLITE_DONE) give_up("INSERT");
    sqlite3_reset(insert);
  }
  sqlite3_finalize(insert);
  run("COMMIT");
}

// Whether every address of the list has its file, as the journal knows it; only then are they marked.
static int look(FILE *list, int out, FILE *events) {
  int64_t first = INT64_MAX, last = INT64_MIN, seen = 0;
  run("BEGIN IMMEDIATE");
  sqlite3_stmt *find = prepare(
      "SELECT id, url, path, bytes, sha256, modified, changed, inode FROM items INDEXED BY items_by_hash"
      " WHERE hash = ?1");
  char *line = NULL;
  size_t room = 0;
  ssize_t length;
  while ((length = next(list, &line, &room)) > 0) {
    sqlite3_bind_int64(find, 1, hash(line, (size_t)length));
    int is_there = 0;
    while (!is_there && sqlite3_step(find) == SQLITE_ROW) {
      if (strcmp((const char *)sqlite3_column_text(find, 1), line) != 0) continue;
      struct stat facts;
      const char *path = (const char *)sqlite3_column_text(find, 2);
      if (fstatat(out, path, &facts, AT_SYMLINK_NOFOLLOW) < 0 || facts.st_size != sqlite3_column_int64(find, 3)
          || nanoseconds(facts.st_mtim) != sqlite3_column_int64(find, 5)
          || nanoseconds(facts.st_ctim) != sqlite3_column_int64(find, 6)
          || (int64_t)facts.st_ino != sqlite3_column_int64(find, 7)) return 0;
      int64_t id = sqlite3_column_int64(find, 0);
      if (id < first) first = id;
      if (id > last) last = id;
      is_there = 1;
      if (events) fprintf(events, "{\"url\":\"%s\",\"path\":\"%s\",\"bytes\":%lld,\"sha256\":\"%s\"}\n", line, path,
                          (long long)facts.st_size, (const char *)sqlite3_column_text(find, 4));
    }
    sqlite3_reset(find);
    if (!is_there) return 0;
    seen++;
  }
  sqlite3_finalize(find);
  // A list that is not the journal's from one row to another would need more than one range.
  if (seen == 0 || last - first + 1 != seen) return 0;
  if (events && fclose(events) != 0) give_up("EVENTS");
  run("INSERT INTO runs SELECT max(number) + 1 FROM runs");
  // OR ROLLBACK keeps SQLite from copying what it changes into a file of its own, to undo this statement alone.
  sqlite3_stmt *mark = prepare(
      "UPDATE OR ROLLBACK items SET run = (SELECT max(number) FROM runs) WHERE id >= ?1 AND id <= ?2");
  sqlite3_bind_int64(mark, 1, first);
  sqlite3_bind_int64(mark, 2, last);
  if (sqlite3_step(mark) != SQLITE_DONE) give_up("UPDATE");
  sqlite3_finalize(mark);
  run("COMMIT");
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  int makes = strcmp(argv[1], "--make") == 0;
  FILE *list = fopen(argv[makes ? 2 : 1], "r");
  int out = open(argv[makes ? 3 : 2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  FILE *events = makes || strcmp(argv[3], "none") == 0 ? NULL : fopen(argv[3], "w");
  if (!list || out < 0 || (!makes && !events && strcmp(argv[3], "none") != 0)) give_up("LIST, OUT or EVENTS");
  if (events) setvbuf(events, NULL, _IOFBF, 1 << 16);
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  if (sqlite3_open_v2(argv[4], &journal, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL)) {
    give_up("JOURNAL");
  }
  // As imgflow has it with `durability: process`.
  run("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -16000");
  int is_right = 1;
  if (makes) make(list, out);
  else is_right = look(list, out, events);
  // Brings the log into the one file, too.
  sqlite3_close(journal);
  return !is_right;
}
