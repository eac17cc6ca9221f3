#define _POSIX_C_SOURCE 200809L

#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int open_file(const char *folder, const char *name, int flags) {
  char path[STORE_PATH_SIZE];
  int length = snprintf(path, sizeof path, "%s/%s", folder, name);
  if (length < 0 || (size_t)length >= sizeof path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  return open(path, flags | O_CLOEXEC, 0600);
}

static int write_value(int descriptor, const struct store_value *value) {
  char line[STORE_LINE_SIZE];
  int length =
      snprintf(line, sizeof line, "%20" PRId64 " %20" PRId64 "\n", value->number, value->token);
  return pwrite(descriptor, line, (size_t)length, 0) == length ? 0 : -1;
}

static int read_value(int descriptor, struct store_value *value) {
  char line[STORE_LINE_SIZE];
  ssize_t length = pread(descriptor, line, sizeof line - 1, 0);
  if (length < 0) return -1;
  line[length] = '\0';
  if (sscanf(line, "%" SCNd64 " %" SCNd64, &value->number, &value->token) == 2) return 0;
  errno = EINVAL;
  return -1;
}

int store_create(const char *folder) {
  const struct store_value nothing = {0, 0};
  int number = open_file(folder, "number", O_RDWR | O_CREAT | O_EXCL);
  int writes = open_file(folder, "writes", O_WRONLY | O_CREAT | O_EXCL);
  int result = number >= 0 && writes >= 0 ? write_value(number, &nothing) : -1;
  if (number >= 0) close(number);
  if (writes >= 0) close(writes);
  return result;
}

void store_remove(const char *folder) {
  static const char *const names[] = {"number", "writes"};
  char path[STORE_PATH_SIZE];
  size_t i;
  for (i = 0; i < sizeof names / sizeof *names; ++i) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    unlink(path);
  }
  rmdir(folder);
}

int store_read(const char *folder, struct store_value *value) {
  int number = open_file(folder, "number", O_RDONLY);
  int result;
  if (number < 0) return -1;
  result = read_value(number, value);
  close(number);
  return result;
}

int store_close(const char *folder) {
  struct flock whole;
  int number = open_file(folder, "number", O_RDWR);
  if (number < 0) return -1;
  memset(&whole, 0, sizeof whole);
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  while (fcntl(number, F_SETLKW, &whole) != 0) {
    if (errno != EINTR) {
      close(number);
      return -1;
    }
  }
  return number;
}

void store_open(int descriptor) { close(descriptor); }

static int append_record(const char *folder, const struct store_record *record) {
  char line[STORE_LINE_SIZE];
  int length;
  int result;
  int writes = open_file(folder, "writes", O_WRONLY | O_APPEND);
  if (writes < 0) return -1;
  if (record->is_refused) {
    length = snprintf(line, sizeof line, "refused %ld %" PRId64 " %" PRId64 " %" PRId64 "\n",
                      record->process, record->number, record->token, record->highest);
  } else {
    length = snprintf(line, sizeof line, "wrote %ld %" PRId64 " %" PRId64 "\n", record->process,
                      record->number, record->token);
  }
  result = write(writes, line, (size_t)length) == length ? 0 : -1;
  close(writes);
  return result;
}

enum store_result store_write(const char *folder, const struct store_value *value, int is_fenced,
                              int64_t *highest) {
  enum store_result result = STORE_FAILED;
  struct store_value present;
  struct store_record record;
  int number = store_close(folder);
  if (number < 0) return STORE_FAILED;
  if (read_value(number, &present) == 0) {
    record.is_refused = is_fenced && value->token < present.token;
    record.process = (long)getpid();
    record.number = value->number;
    record.token = value->token;
    record.highest = *highest = present.token;
    if (append_record(folder, &record) == 0 &&
        (record.is_refused || write_value(number, value) == 0)) {
      result = record.is_refused ? STORE_REFUSED : STORE_WROTE;
    }
  }
  store_open(number);
  return result;
}

int store_each_record(const char *folder, void (*visit)(const struct store_record *, void *),
                      void *context) {
  char line[STORE_LINE_SIZE];
  int is_good = 1;
  int writes = open_file(folder, "writes", O_RDONLY);
  FILE *file = writes < 0 ? NULL : fdopen(writes, "r");
  if (file == NULL) {
    if (writes >= 0) close(writes);
    return -1;
  }
  while (is_good && fgets(line, sizeof line, file) != NULL) {
    struct store_record record = {0, 0, 0, 0, 0};
    record.is_refused = strncmp(line, "refused ", 8) == 0;
    if (record.is_refused) {
      is_good = sscanf(line, "refused %ld %" SCNd64 " %" SCNd64 " %" SCNd64, &record.process,
                       &record.number, &record.token, &record.highest) == 4;
    } else {
      is_good = sscanf(line, "wrote %ld %" SCNd64 " %" SCNd64, &record.process, &record.number,
                       &record.token) == 3;
    }
    if (is_good) visit(&record, context);
  }
  if (ferror(file)) is_good = 0;
  fclose(file);
  if (is_good) return 0;
  errno = EINVAL;
  return -1;
}
