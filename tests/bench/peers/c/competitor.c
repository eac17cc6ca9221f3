/*
 * One process of the comparison with other locks, in C. The competitors of the other languages keep
 * to the same contract:
 *
 *   COMPETITOR MODE ADDRESS NAME WAITERS SECTION_US SECONDS CHECK
 *
 *   MODE        "contend", "hold", "take", "many" or "work"
 *   ADDRESS     host:port of the server; Mortise also takes options after it, as in a URL
 *   NAME        the lock's
 *   WAITERS     how many there are in this process
 *   SECTION_US  how long each sleeps while it holds
 *   SECONDS     how long they contend
 *   CHECK       a file in memory that all processes have, or "-": see enter()
 *
 * It connects, takes and releases a lock of its own for a second to warm up (in Java for WARM_UP_S
 * of the environment), prints "ready" and reads a line, which is the start. A holder prints "held"
 * and continues to hold. A taker prints "taken" when it has the lock. With "many", each waiter has
 * a lock of its own, NAME-0 and so on. It acquires one after the other, prints "held" and continues
 * to hold them. Contenders run until their time is up. Then it prints one line of JSON:
 *
 *   counts         acquisitions of each waiter
 *   waits_us       how long each of them was waited for
 *   unfinished_us  how long the waiters of the end have waited
 *   handoffs       acquisitions by another waiter than the one before, of all processes
 *   overlaps       sections with another waiter inside, too
 *   errors, error  calls that failed, and the message of the first
 *
 * and ends at the end of its input.
 *
 * Workers acquire and release until they are killed. Each writes "enter ID" while it holds, "leave
 * ID" before its release, or as soon as its library reports a loss, and "failed ID MESSAGE" after a
 * call that failed. Each line is one write(2), so lines of several processes in one pipe are in
 * their true order. ID is the number of the process times 65536, plus that of the worker from 1.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <mortise/mortise.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct contention {
  pthread_mutex_t mutex; /* over all that follows */
  int64_t end_ns;
  int64_t *waits_us;
  size_t wait_count;
  size_t wait_capacity;
  int64_t handoffs;
  int64_t overlaps;
  int64_t errors;
  char error[128];
};

struct waiter {
  struct contention *contention;
  mortise_lock *lock;
  mortise_error *error;
  int64_t id; /* no other's, in any process */
  int64_t section_us;
  int check;
  int64_t count;
  int64_t since_ns; /* it has waited since then; 0 while it holds */
};

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void sleep_us(int64_t duration_us) {
  struct timespec left;
  left.tv_sec = (time_t)(duration_us / 1000000);
  left.tv_nsec = (long)(duration_us % 1000000) * 1000;
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

static void fail(const char *what, const char *why) {
  fprintf(stderr, "competitor: %s: %s\n", what, why);
  exit(1);
}

static mortise_lock *new_lock(mortise_client *client, const char *name, mortise_error *error) {
  mortise_lock *lock = mortise_lock_new(client, name, strlen(name), NULL, error);
  if (lock == NULL) fail("mortise_lock_new", mortise_error_message(error));
  return lock;
}

static void count_error(struct waiter *self) {
  struct contention *contention = self->contention;
  pthread_mutex_lock(&contention->mutex);
  if (now_ns() < contention->end_ns && contention->errors++ == 0) {
    snprintf(contention->error, sizeof contention->error, "%s", mortise_error_message(self->error));
  }
  pthread_mutex_unlock(&contention->mutex);
}

/*
 * The file has two numbers: the waiter inside, and the last one. A waiter that enters finds no
 * other inside, and one that leaves finds itself. Each process does so with the same four calls.
 */
static void enter(struct waiter *self, int *has_overlap, int *is_handoff) {
  int64_t numbers[2] = {0, 0};
  if (self->check < 0) return;
  if (pread(self->check, numbers, sizeof numbers, 0) != (ssize_t)sizeof numbers)
    fail("check", "pread");
  *has_overlap = numbers[0] != 0;
  *is_handoff = numbers[1] != self->id;
  numbers[0] = numbers[1] = self->id;
  if (pwrite(self->check, numbers, sizeof numbers, 0) != (ssize_t)sizeof numbers)
    fail("check", "pwrite");
}

static void leave(struct waiter *self, int *has_overlap) {
  int64_t numbers = 0;
  if (self->check < 0) return;
  if (pread(self->check, &numbers, sizeof numbers, 0) != (ssize_t)sizeof numbers)
    fail("check", "pread");
  if (numbers != self->id) *has_overlap = 1;
  numbers = 0;
  if (pwrite(self->check, &numbers, sizeof numbers, 0) != (ssize_t)sizeof numbers)
    fail("check", "pwrite");
}

static void record(struct waiter *self, int64_t wait_ns, int has_overlap, int is_handoff) {
  struct contention *contention = self->contention;
  if (contention->wait_count == contention->wait_capacity) {
    contention->wait_capacity = contention->wait_capacity * 2 + 1024;
    contention->waits_us =
        realloc(contention->waits_us, contention->wait_capacity * sizeof *contention->waits_us);
    if (contention->waits_us == NULL) fail("waits", "no memory");
  }
  contention->waits_us[contention->wait_count++] = wait_ns / 1000;
  contention->overlaps += has_overlap;
  contention->handoffs += is_handoff;
  ++self->count;
}

static void *contend(void *argument) {
  struct waiter *self = argument;
  struct contention *contention = self->contention;
  for (;;) {
    const int64_t start_ns = now_ns();
    int has_overlap = 0;
    int is_handoff = 0;
    int64_t got_ns;
    pthread_mutex_lock(&contention->mutex);
    self->since_ns = start_ns;
    pthread_mutex_unlock(&contention->mutex);
    if (start_ns >= contention->end_ns) return NULL;
    if (mortise_lock_acquire(self->lock, MORTISE_FOREVER, self->error) != MORTISE_OK) {
      count_error(self);
      continue;
    }
    got_ns = now_ns();
    enter(self, &has_overlap, &is_handoff);
    if (self->section_us > 0) sleep_us(self->section_us);
    leave(self, &has_overlap);
    pthread_mutex_lock(&contention->mutex);
    if (got_ns < contention->end_ns) record(self, got_ns - start_ns, has_overlap, is_handoff);
    self->since_ns = 0;
    pthread_mutex_unlock(&contention->mutex);
    if (mortise_lock_unlock(self->lock, self->error) != MORTISE_OK) count_error(self);
  }
}

static void *work(void *argument) {
  struct waiter *self = argument;
  for (;;) {
    int64_t end_ns;
    if (mortise_lock_acquire(self->lock, MORTISE_FOREVER, self->error) != MORTISE_OK) {
      dprintf(1, "failed %" PRId64 " %s\n", self->id, mortise_error_message(self->error));
      sleep_us(10000);
      continue;
    }
    if (dprintf(1, "enter %" PRId64 "\n", self->id) < 0) return NULL;
    end_ns = now_ns() + self->section_us * 1000;
    while (now_ns() < end_ns && mortise_lock_is_held(self->lock)) sleep_us(5000);
    dprintf(1, "leave %" PRId64 "\n", self->id);
    if (mortise_lock_unlock(self->lock, self->error) != MORTISE_OK) {
      dprintf(1, "failed %" PRId64 " %s\n", self->id, mortise_error_message(self->error));
    }
  }
}

static void start_threads(struct waiter *waiters, int count, void *(*function)(void *)) {
  int i;
  for (i = 0; i < count; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, &waiters[i]) != 0) fail("pthread_create", "failed");
    pthread_detach(thread);
  }
}

static void print_results(struct contention *contention, const struct waiter *waiters, int count) {
  const char *comma = "";
  int i;
  size_t k;
  printf("{\"counts\":[");
  for (i = 0; i < count; ++i) printf("%s%" PRId64, i > 0 ? "," : "", waiters[i].count);
  printf("],\"waits_us\":[");
  for (k = 0; k < contention->wait_count; ++k) {
    printf("%s%" PRId64, k > 0 ? "," : "", contention->waits_us[k]);
  }
  printf("],\"unfinished_us\":[");
  for (i = 0; i < count; ++i) {
    if (waiters[i].since_ns == 0 || waiters[i].since_ns >= contention->end_ns) continue;
    printf("%s%" PRId64, comma, (contention->end_ns - waiters[i].since_ns) / 1000);
    comma = ",";
  }
  /* Messages of errors have quotation marks around names. */
  for (k = 0; contention->error[k] != '\0'; ++k) {
    if (contention->error[k] == '"' || contention->error[k] == '\\') contention->error[k] = '\'';
  }
  printf("],\"handoffs\":%" PRId64 ",\"overlaps\":%" PRId64 ",\"errors\":%" PRId64
         ",\"error\":\"%s\"}\n",
         contention->handoffs, contention->overlaps, contention->errors, contention->error);
  fflush(stdout);
}

static void run(struct contention *contention, struct waiter *waiters, int count, double seconds) {
  contention->end_ns = now_ns() + (int64_t)(seconds * 1e9);
  start_threads(waiters, count, contend);
  sleep_us((contention->end_ns - now_ns()) / 1000 + 1);
  /* From now on they record nothing. */
  pthread_mutex_lock(&contention->mutex);
  print_results(contention, waiters, count);
  while (getchar() != EOF) {
  }
  _exit(0);
}

static void warm_up(mortise_client *client, mortise_error *error) {
  char name[64];
  mortise_lock *lock;
  const int64_t end_ns = now_ns() + 1000000000;
  snprintf(name, sizeof name, "warm-up-%ld", (long)getpid());
  lock = new_lock(client, name, error);
  while (now_ns() < end_ns) {
    if (mortise_lock_acquire(lock, MORTISE_FOREVER, error) != MORTISE_OK ||
        mortise_lock_unlock(lock, error) != MORTISE_OK) {
      fail("warm-up", mortise_error_message(error));
    }
  }
  mortise_lock_free(lock);
}

static void report(const char *word) {
  puts(word);
  fflush(stdout);
}

static void hold(const struct waiter *waiters, int count, const char *word, mortise_error *error) {
  int i;
  for (i = 0; i < count; ++i) {
    if (mortise_lock_acquire(waiters[i].lock, MORTISE_FOREVER, error) != MORTISE_OK) {
      fail("mortise_lock_acquire", mortise_error_message(error));
    }
  }
  report(word);
  for (;;) pause();
}

int main(int argc, char **argv) {
  static struct contention contention = {.mutex = PTHREAD_MUTEX_INITIALIZER};
  mortise_error *error = mortise_error_new();
  char url[256];
  mortise_client *client;
  struct waiter *waiters;
  int i;
  int check;
  int count;
  int is_many;
  if (argc != 8) fail("usage", "MODE ADDRESS NAME WAITERS SECTION_US SECONDS CHECK");
  snprintf(url, sizeof url, "redis://%s", argv[2]);
  client = mortise_client_new(url, strlen(url), NULL, error);
  if (client == NULL) fail("mortise_client_new", mortise_error_message(error));
  count = atoi(argv[4]);
  is_many = strcmp(argv[1], "many") == 0;
  check = strcmp(argv[7], "-") == 0 ? -1 : open(argv[7], O_RDWR | O_CLOEXEC);
  waiters = calloc((size_t)count, sizeof *waiters);
  if (waiters == NULL) fail("waiters", "no memory");
  for (i = 0; i < count; ++i) {
    char name[64];
    if (is_many) {
      snprintf(name, sizeof name, "%s-%d", argv[3], i);
    } else {
      snprintf(name, sizeof name, "%s", argv[3]);
    }
    waiters[i].contention = &contention;
    waiters[i].lock = new_lock(client, name, error);
    waiters[i].error = mortise_error_new();
    waiters[i].id = ((int64_t)getpid() << 16) + i + 1;
    waiters[i].section_us = atoi(argv[5]);
    waiters[i].check = check;
  }
  warm_up(client, error);
  report("ready");
  while ((i = getchar()) != '\n' && i != EOF) {
  }
  if (strcmp(argv[1], "contend") == 0) run(&contention, waiters, count, atof(argv[6]));
  if (strcmp(argv[1], "work") == 0) {
    start_threads(waiters, count, work);
    for (;;) pause();
  }
  hold(waiters, is_many ? count : 1, strcmp(argv[1], "take") == 0 ? "taken" : "held", error);
}
