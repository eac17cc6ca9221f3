/*
 * The writes of a holder before its unlock are visible to the next holder of this process, also if
 * the lock passed through the server. The counters are plain numbers, so that ThreadSanitizer fails
 * this program without such an order. Every build checks the counts.
 */
#include "fixture.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The way to the server as it is: it leaves the process. ThreadSanitizer's own send and recv take
 * all sockets of a process for one object that orders its threads. They would hide the missing
 * order.
 */
ssize_t send(int descriptor, const void *bytes, size_t size, int flags) {
  return syscall(SYS_sendto, descriptor, bytes, size, flags, NULL, 0);
}
ssize_t recv(int descriptor, void *bytes, size_t size, int flags) {
  return syscall(SYS_recvfrom, descriptor, bytes, size, flags, NULL, NULL);
}

static test_server *server;

enum { thread_count = 3, round_count = 100 };

/* How one kind of handle takes and gives back the whole of its lock. */
typedef struct kind {
  const char *name;
  const char *options[2]; /* a key and its value */
  int has_client_each;    /* otherwise all threads have handles of one client */
  void *(*open)(mortise_client *client, const char *name, const mortise_options *options);
  mortise_status (*take)(void *handle);
  mortise_status (*give_back)(void *handle);
  void (*close)(void *handle);
} kind;

static void *open_mutex(mortise_client *client, const char *name, const mortise_options *options) {
  return mortise_lock_new(client, name, strlen(name), options, NULL);
}
static mortise_status take_mutex(void *lock) {
  return mortise_lock_acquire(lock, patience_ms, NULL);
}
static mortise_status give_back_mutex(void *lock) { return mortise_lock_unlock(lock, NULL); }
static void close_mutex(void *lock) { mortise_lock_free(lock); }

static void *open_writer(mortise_client *client, const char *name, const mortise_options *options) {
  return mortise_rw_new(client, name, strlen(name), options, NULL);
}
static mortise_status take_rw(void *rw) { return mortise_rw_write_acquire(rw, patience_ms, NULL); }
static mortise_status give_back_rw(void *rw) { return mortise_rw_write_unlock(rw, NULL); }
static void close_rw(void *rw) { mortise_rw_free(rw); }

static void *open_permits(mortise_client *client, const char *name,
                          const mortise_options *options) {
  return mortise_semaphore_new(client, name, strlen(name), 1, options, NULL);
}
static mortise_status take_permits(void *permits) {
  return mortise_semaphore_acquire(permits, 1, patience_ms, NULL);
}
static mortise_status give_back_permits(void *permits) {
  return mortise_semaphore_release(permits, NULL);
}
static void close_permits(void *permits) { mortise_semaphore_free(permits); }

typedef struct worker {
  pthread_t thread;
  const kind *of;
  void *handle;
  int64_t *counter;
} worker;

static void *count(void *argument) {
  const worker *self = argument;
  for (int i = 0; i < round_count; ++i) {
    CHECK_STATUS(MORTISE_OK, self->of->take(self->handle));
    ++*self->counter;
    CHECK_STATUS(MORTISE_OK, self->of->give_back(self->handle));
  }
  return NULL;
}

static void count_under(const kind *of) {
  int64_t counter = 0;
  worker workers[thread_count];
  mortise_client *clients[thread_count];
  mortise_options *options =
      of->options[0] != NULL ? options_with(of->options[0], of->options[1]) : NULL;
  for (int i = 0; i < thread_count; ++i) {
    clients[i] = i == 0 || of->has_client_each ? open_client(server) : NULL;
    workers[i].of = of;
    workers[i].counter = &counter;
    workers[i].handle = of->open(clients[i] != NULL ? clients[i] : clients[0], of->name, options);
    CHECK(workers[i].handle != NULL);
  }
  for (int i = 0; i < thread_count; ++i) {
    CHECK(pthread_create(&workers[i].thread, NULL, count, &workers[i]) == 0);
  }
  for (int i = 0; i < thread_count; ++i) CHECK(pthread_join(workers[i].thread, NULL) == 0);
  CHECK_NUMBER(thread_count * round_count, counter);
  for (int i = 0; i < thread_count; ++i) {
    of->close(workers[i].handle);
    mortise_client_free(clients[i]);
  }
  mortise_options_free(options);
}

static void the_next_holder_sees_what_the_last_one_wrote(void) {
  static const kind kinds[] = {
      {"mutex, a client each",
       {NULL, NULL},
       1,
       open_mutex,
       take_mutex,
       give_back_mutex,
       close_mutex},
      {"mutex, one client", {NULL, NULL}, 0, open_mutex, take_mutex, give_back_mutex, close_mutex},
      {"strict", {"fair", "strict"}, 0, open_mutex, take_mutex, give_back_mutex, close_mutex},
      {"token", {"protocol", "token"}, 1, open_mutex, take_mutex, give_back_mutex, close_mutex},
      {"rw", {NULL, NULL}, 1, open_writer, take_rw, give_back_rw, close_rw},
      {"semaphore", {NULL, NULL}, 1, open_permits, take_permits, give_back_permits, close_permits},
  };
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
    fprintf(stderr, "  %s\n", kinds[i].name);
    count_under(&kinds[i]);
  }
}

typedef struct reader {
  mortise_rw *rw;
  const int64_t *written;
  int64_t seen;
} reader;

static void *read_once(void *argument) {
  reader *self = argument;
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_acquire(self->rw, patience_ms, NULL));
  self->seen = *self->written;
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(self->rw, NULL));
  return NULL;
}

/* A downgrade releases, too: the writer continues to read with the readers that it lets in. */
static void a_reader_sees_what_was_written_before_a_downgrade(void) {
  mortise_client *clients[] = {open_client(server), open_client(server)};
  mortise_rw *writer = mortise_rw_new(clients[0], "downgrade", 9, NULL, NULL);
  int64_t written = 0;
  reader other = {mortise_rw_new(clients[1], "downgrade", 9, NULL, NULL), &written, 0};
  pthread_t thread;
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_try(writer, NULL));
  CHECK(pthread_create(&thread, NULL, read_once, &other) == 0);
  written = 1;
  CHECK_STATUS(MORTISE_OK, mortise_rw_downgrade(writer, NULL));
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_NUMBER(1, other.seen);
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(writer, NULL));
  mortise_rw_free(writer);
  mortise_rw_free(other.rw);
  for (int i = 0; i < 2; ++i) mortise_client_free(clients[i]);
}

int main(void) {
  server = server_start(NULL);
  RUN(the_next_holder_sees_what_the_last_one_wrote);
  RUN(a_reader_sees_what_was_written_before_a_downgrade);
  server_free(server);
  return 0;
}
