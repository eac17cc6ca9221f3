/*
 * Processes that exit while their threads use TLS. OpenSSL frees its data at exit if the program
 * had begun to use it, and keeps them if only Mortise did. Either way nothing crashes, nothing
 * hangs, and exit handlers may use their locks. The library was loaded and unloaded before. The
 * program runs itself, once for each way to end.
 */
#include "check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mortise/api.h"
#include "server.h"

/* What fails now and then is met in `./dev test --full`, which sets MORTISE_TEST_FULL. */
enum { rounds = 1, rounds_of_full = 4 };
enum { opener_count = 3, child_count = 150, calls_after_the_end = 60 };

/* OpenSSL ends in so many steps, each long enough for a thread that ends meanwhile. */
enum { step_count = 6, longer_step_us = 20000 };

/* Far longer than anything takes, so that only a hang hits it. */
enum { longest_s = 60, longest_child_s = 20 };

/* ---- the processes that end ---------------------------------------------------------------- */

static const mortise_api *mortise;
static const char *url;
static mortise_client *kept_client;
static mortise_lock *kept_lock;
static mortise_client *busy_client;
static mortise_lock *busy_lock;
static pid_t main_process;
static bool does_openssl_end;
static mortise_client *last_clients[step_count];
static int64_t openings;
static int64_t pairs;
static int64_t steps; /* of the end of OpenSSL */

static int64_t count_of(const int64_t *counter) {
  return __atomic_load_n(counter, __ATOMIC_SEQ_CST);
}

static void count_one(int64_t *counter) { __atomic_fetch_add(counter, 1, __ATOMIC_SEQ_CST); }

static void load_and_unload(void) {
  void *library = dlopen(getenv("MORTISE_TEST_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) check_failed(__FILE__, __LINE__, dlerror());
  const mortise_api *(*get)(int32_t) = NULL;
  void *symbol = dlsym(library, "mortise_get_api");
  CHECK(symbol != NULL);
  memcpy(&get, &symbol, sizeof get);
  mortise = get(MORTISE_ABI_MAJOR);
  CHECK(dlclose(library) == 0);
}

static void *open_openssl(const char *name, void **symbol) {
  void *library = dlopen("libssl.so.3", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) check_failed(__FILE__, __LINE__, dlerror());
  *symbol = dlsym(library, name);
  CHECK(*symbol != NULL);
  return library;
}

/* As a program does that speaks TLS by itself, or a library of it. */
static void host_uses_openssl(void) {
  int (*start)(uint64_t, const void *) = NULL;
  void *symbol = NULL;
  void *library = open_openssl("OPENSSL_init_ssl", &symbol);
  memcpy(&start, &symbol, sizeof start);
  CHECK_NUMBER(1, start(0, NULL));
  CHECK(dlclose(library) == 0);
}

static void host_ends_openssl(void) {
  void (*end)(void) = NULL;
  void *symbol = NULL;
  void *library = open_openssl("OPENSSL_cleanup", &symbol);
  memcpy(&end, &symbol, sizeof end);
  end();
  CHECK(dlclose(library) == 0);
}

/* OpenSSL calls it between the parts that it frees. Some of them are its data of each thread,
   whose end it still handles. */
int pthread_key_delete(pthread_key_t key) {
  int (*next)(pthread_key_t) = NULL;
  void *symbol = dlsym(RTLD_NEXT, "pthread_key_delete");
  memcpy(&next, &symbol, sizeof next);
  if (getpid() == main_process) {
    count_one(&steps);
    usleep(longer_step_us);
  }
  return next(key);
}

static mortise_client *open_one(mortise_error *error) {
  return mortise->client_new(url, strlen(url), NULL, error);
}

static void *open_and_free(void *ignored) {
  for (;;) {
    mortise->client_free(open_one(NULL));
    count_one(&openings);
  }
  return ignored;
}

static void *take_and_give_back(void *own) {
  for (;;) {
    if (mortise->lock_acquire(own, 10, NULL) == MORTISE_OK) mortise->lock_unlock(own, NULL);
    count_one(&pairs);
  }
  return NULL;
}

static void *free_amid_the_end(void *ignored) {
  for (int i = 0; i < step_count; ++i) {
    while (count_of(&steps) <= i) usleep(100);
    mortise->client_free(last_clients[i]);
  }
  return ignored;
}

static void start_thread(void *(*run)(void *), void *argument) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, run, argument) == 0);
  CHECK(pthread_detach(thread) == 0);
}

static void wait_for_more(const int64_t *counter, int64_t more) {
  const int64_t expected = count_of(counter) + more;
  while (count_of(counter) < expected) usleep(100);
}

static void open_and_be_busy(void) {
  mortise_error *error = mortise->error_new();
  kept_client = open_one(error);
  if (kept_client == NULL) check_failed(__FILE__, __LINE__, mortise->error_message(error));
  mortise->error_free(error);
  kept_lock = mortise->lock_new(kept_client, "kept", 4, NULL, NULL);
  busy_client = open_one(NULL);
  busy_lock = mortise->lock_new(busy_client, "busy", 4, NULL, NULL);
  start_thread(take_and_give_back, busy_lock);
  for (int i = 0; i < step_count; ++i) last_clients[i] = open_one(NULL);
  start_thread(free_amid_the_end, NULL);
  for (int i = 0; i < opener_count; ++i) start_thread(open_and_free, NULL);
  wait_for_more(&openings, opener_count);
  wait_for_more(&pairs, 1);
}

/* Part of a handler at exit, which must not call exit. */
static void expect_or_leave(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "not so at exit: %s\n", what);
  _exit(9);
}

/* Registered before OpenSSL's own handler, and so called after it, while the threads go on. */
static void look_at_the_end(void) {
  if (getpid() != main_process) return;
  wait_for_more(&openings, calls_after_the_end);
  wait_for_more(&pairs, 2);
  mortise_error *error = mortise->error_new();
  mortise_client *late = open_one(error);
  if (does_openssl_end) {
    expect_or_leave(late == NULL, "no client is made");
    expect_or_leave(mortise->error_status(error) == MORTISE_UNSUPPORTED, "as there is no TLS");
    expect_or_leave(strstr(mortise->error_message(error), "exits") != NULL, "and says why");
    expect_or_leave(mortise->lock_acquire(kept_lock, 10, NULL) != MORTISE_OK, "nothing is granted");
  } else {
    expect_or_leave(late != NULL, mortise->error_message(error));
    expect_or_leave(mortise->lock_try(kept_lock, NULL) == MORTISE_OK, "a lock is granted");
    expect_or_leave(mortise->lock_unlock(kept_lock, NULL) == MORTISE_OK, "and given back");
  }
  mortise->client_free(late);
  mortise->error_free(error);
  mortise->lock_free(kept_lock);
  mortise->client_free(kept_client);
}

static void end_with_its_own_openssl(void) {
  does_openssl_end = true;
  host_uses_openssl();
  open_and_be_busy();
}

/* Long before it exits. */
static void end_that_is_its_own(void) {
  end_with_its_own_openssl();
  host_ends_openssl();
  wait_for_more(&openings, calls_after_the_end);
}

static void end_without_its_own(void) { open_and_be_busy(); }

static void end_with_its_own_later(void) {
  open_and_be_busy();
  host_uses_openssl();
}

/* A child ends OpenSSL as well, of which threads that only its parent has may have locked a part.
 */
static void end_after_forks(void) {
  end_with_its_own_openssl();
  for (int i = 0; i < child_count; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(longest_child_s);
      exit(0);
    }
    int wait_status = 0;
    CHECK(child > 0 && waitpid(child, &wait_status, 0) == child);
    CHECK(WIFEXITED(wait_status));
    CHECK_NUMBER(0, WEXITSTATUS(wait_status));
  }
}

typedef struct ending {
  const char *name;
  void (*prepare)(void);
} ending;

static const ending endings[] = {
    {"its own OpenSSL", end_with_its_own_openssl},
    {"none of its own", end_without_its_own},
    {"its own end", end_that_is_its_own},
    {"its own later", end_with_its_own_later},
    {"forks", end_after_forks},
};

/* ThreadSanitizer cannot follow the child of a process with threads. In AddressSanitizer's
   malloc a lock that another thread had stays locked in the child. */
enum {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  ending_count = sizeof endings / sizeof endings[0] - 1
#else
  ending_count = sizeof endings / sizeof endings[0]
#endif
};

static int end_by(const ending *way) {
  main_process = getpid();
  CHECK(atexit(look_at_the_end) == 0);
  load_and_unload();
  way->prepare();
  return 0;
}

/* ---- the process that looks ---------------------------------------------------------------- */

static const char *self_path;
static test_server *server;

static void run(const ending *way) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    /* Data that OpenSSL can no longer free are no leak. */
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    alarm(longest_s);
    execl(self_path, self_path, way->name, server_tls_url(server), (char *)NULL);
    _exit(127);
  }
  int state = 0;
  CHECK(waitpid(child, &state, 0) == child);
  if (WIFSIGNALED(state)) fprintf(stderr, "ended by signal %d\n", WTERMSIG(state));
  CHECK(WIFEXITED(state));
  CHECK_NUMBER(0, WEXITSTATUS(state));
}

static void an_exit_amid_tls_is_survived(void) {
  const int count = getenv("MORTISE_TEST_FULL") ? rounds_of_full : rounds;
  for (int i = 0; i < ending_count; ++i) {
    fprintf(stderr, "  %s\n", endings[i].name);
    for (int round = 0; round < count; ++round) {
      run(&endings[i]);
      server_command(server, "FLUSHALL");
    }
  }
}

int main(int count, char **arguments) {
  for (int i = 0; i < ending_count && count == 3; ++i) {
    if (strcmp(endings[i].name, arguments[1]) != 0) continue;
    url = arguments[2];
    return end_by(&endings[i]);
  }
  self_path = arguments[0];
  const char *const with_tls[] = {"tls", NULL};
  server = server_start(with_tls);
  RUN(an_exit_amid_tls_is_survived);
  server_free(server);
  return 0;
}
