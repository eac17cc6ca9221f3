/*
 * One worker of the demo: a process that increments a number in a file, again and again, by read,
 * pause and write. Each time it holds one Mortise lock. The contract of worker.go, Worker.java,
 * worker.lua and worker.py is the same:
 *
 *   demo_worker_LANGUAGE URL LOCK FOLDER RUN_MS LEASE_MS PAUSE_MS MODE
 *
 *   URL       the server, for mortise_client_new
 *   LOCK      the lock's name
 *   FOLDER    where the number is; its files and how to write them are described in store.h
 *   RUN_MS    it begins nothing new so many milliseconds after the start, and ends by itself
 *   LEASE_MS  the lease of its holds, renewed as usual
 *   PAUSE_MS  about how long it pauses between reading and writing
 *   MODE      "safe", or "unsafe": without the lock, and all tokens are 0 and unchecked
 *
 * The start is the end of its standard input, which comes to all workers at once, because some
 * languages need a second to be ready. On its standard output it reports each step in a line, at
 * once (no buffering):
 *
 *   ready                         connected; it waits for the start
 *   held TOKEN                    the lock is its own; it continues to read, pause and write
 *   wrote NUMBER TOKEN            the file has NUMBER now
 *   refused NUMBER TOKEN HIGHEST  the file has seen HIGHEST, which is above TOKEN
 *   free TOKEN                    unlocked
 *   lost TOKEN                    the unlock returned LOST: the lock was no longer its own
 *   done COUNT                    the end, after so many writes; it exits with 0
 *   failed TEXT                   the end, because of TEXT; it exits with 1
 *
 * Between `held` and its write it does not ask whether it still holds the lock. No program should
 * be written like this, and the token makes it harmless. It may be stopped, continued or killed at
 * any time.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <inttypes.h>
#include <mortise/mortise.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "store.h"

struct worker {
  const char *folder;
  int64_t end_ms;
  int64_t pause_ms;
  int is_safe;
  mortise_client *client;
  mortise_lock *lock;
  mortise_error *error;
  int64_t count;
  unsigned int random;
};

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* From half of the average to one and a half. */
static void take_a_pause(struct worker *self) {
  struct timespec left;
  int64_t pause_us;
  self->random = self->random * 1103515245U + 12345U;
  pause_us = self->pause_ms * (500 + (self->random >> 16) % 1000);
  left.tv_sec = (time_t)(pause_us / 1000000);
  left.tv_nsec = (long)(pause_us % 1000000) * 1000;
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

static int fail(const char *step, mortise_status status, const mortise_error *error) {
  printf("failed %s: %s: %s\n", step, mortise_status_text(status), mortise_error_message(error));
  return -1;
}

static int fail_at_file(const char *step) {
  printf("failed %s: %s\n", step, strerror(errno));
  return -1;
}

static int open_lock(struct worker *self, const char *url, const char *name, int64_t lease_ms) {
  mortise_options *options;
  self->error = mortise_error_new();
  options = mortise_options_new();
  if (self->error == NULL || options == NULL) {
    puts("failed start: no memory");
    return -1;
  }
  if (mortise_options_set_lease_ms(options, lease_ms, self->error) == MORTISE_OK) {
    self->client = mortise_client_new(url, strlen(url), options, self->error);
  }
  if (self->client != NULL) {
    self->lock = mortise_lock_new(self->client, name, strlen(name), NULL, self->error);
  }
  mortise_options_free(options);
  if (self->lock != NULL) return 0;
  return fail("start", mortise_error_status(self->error), self->error);
}

static void wait_for_start(void) {
  char byte;
  ssize_t count;
  do {
    count = read(STDIN_FILENO, &byte, 1);
  } while (count > 0 || (count < 0 && errno == EINTR));
}

static int increment(struct worker *self, int64_t token) {
  struct store_value value;
  int64_t highest = 0;
  printf("held %" PRId64 "\n", token);
  if (store_read(self->folder, &value) != 0) return fail_at_file("reading the number");
  take_a_pause(self);
  value.number += 1;
  value.token = token;
  switch (store_write(self->folder, &value, self->is_safe, &highest)) {
    case STORE_WROTE:
      self->count += 1;
      printf("wrote %" PRId64 " %" PRId64 "\n", value.number, token);
      return 0;
    case STORE_REFUSED:
      printf("refused %" PRId64 " %" PRId64 " %" PRId64 "\n", value.number, token, highest);
      return 0;
    case STORE_FAILED:
      break;
  }
  return fail_at_file("writing the number");
}

/* One turn: 0 to go on, 1 when the time is up, -1 after a failure. */
static int take_turn(struct worker *self) {
  int64_t left_ms = self->end_ms - now_ms();
  int64_t token;
  mortise_status status;
  if (left_ms <= 0) return 1;
  if (!self->is_safe) return increment(self, 0);

  status = mortise_lock_acquire(self->lock, left_ms, self->error);
  if (status == MORTISE_TIMED_OUT || status == MORTISE_NOT_ACQUIRED) return 1;
  /* The time was up between the request and its reply: the library releases the lock. */
  if (status == MORTISE_UNKNOWN && now_ms() >= self->end_ms) return 1;
  if (status != MORTISE_OK) return fail("acquire", status, self->error);
  token = mortise_lock_token(self->lock);
  if (increment(self, token) != 0) return -1;
  status = mortise_lock_unlock(self->lock, self->error);
  if (status != MORTISE_OK && status != MORTISE_LOST) return fail("unlock", status, self->error);
  printf("%s %" PRId64 "\n", status == MORTISE_OK ? "free" : "lost", token);
  return 0;
}

int main(int argument_count, char **arguments) {
  struct worker self;
  int result = 0;
  if (argument_count != 8) {
    fputs("usage: demo_worker_c URL LOCK FOLDER RUN_MS LEASE_MS PAUSE_MS safe|unsafe\n", stderr);
    return 2;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  memset(&self, 0, sizeof self);
  self.folder = arguments[3];
  self.pause_ms = strtoll(arguments[6], NULL, 10);
  self.is_safe = strcmp(arguments[7], "unsafe") != 0;
  self.random = (unsigned int)getpid();

  if (self.is_safe) {
    result = open_lock(&self, arguments[1], arguments[2], strtoll(arguments[5], NULL, 10));
  }
  if (result == 0) {
    puts("ready");
    wait_for_start();
    self.end_ms = now_ms() + strtoll(arguments[4], NULL, 10);
  }
  while (result == 0) result = take_turn(&self);
  if (result == 1) printf("done %" PRId64 "\n", self.count);
  mortise_lock_free(self.lock);
  mortise_client_free(self.client);
  mortise_error_free(self.error);
  return result == 1 ? 0 : 1;
}
