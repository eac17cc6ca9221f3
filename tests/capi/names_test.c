/* Each failure of a handle names its lock, once, whatever the kind and the way. */
#include "fixture.h"

#include <sys/wait.h>
#include <unistd.h>

#define NAME "orders"

static test_server *server;
static mortise_client *client, *other;
static mortise_error *error;
static mortise_queue *queue;
static mortise_event *event;

/* ---- the kinds, called alike --------------------------------------------------------------- */

enum { LOCK, RW, SEMAPHORE, MULTI, KINDS };

struct calls {
  const char *what;
  mortise_status (*try_now)(void *, mortise_error *);
  mortise_status (*acquire)(void *, int64_t, mortise_error *);
  mortise_status (*unlock)(void *, mortise_error *);
  mortise_status (*extend)(void *, mortise_error *);
  mortise_status (*cancel)(void *, mortise_error *);
  mortise_status (*interrupt)(void *, int32_t, mortise_error *);
  mortise_status (*try_async)(void *, mortise_queue *, mortise_error *);
  mortise_status (*acquire_async)(void *, mortise_queue *, int64_t, mortise_error *);
  mortise_status (*unlock_async)(void *, mortise_queue *, mortise_error *);
  mortise_status (*extend_async)(void *, mortise_queue *, mortise_error *);
  void (*release)(void *);
};

#define NO_WEIGHT
#define WEIGHT , 1
#define DEFINE(K, MODE, UNLOCK, W)                                                       \
  static mortise_status K##_try_now(void *of, mortise_error *e) {                        \
    return mortise_##K##_##MODE##try(of W, e);                                           \
  }                                                                                      \
  static mortise_status K##_acquire(void *of, int64_t ms, mortise_error *e) {            \
    return mortise_##K##_##MODE##acquire(of W, ms, e);                                   \
  }                                                                                      \
  static mortise_status K##_unlock(void *of, mortise_error *e) {                         \
    return mortise_##K##_##MODE##UNLOCK(of, e);                                          \
  }                                                                                      \
  static mortise_status K##_extend(void *of, mortise_error *e) {                         \
    return mortise_##K##_extend(of, 0, e);                                               \
  }                                                                                      \
  static mortise_status K##_cancel(void *of, mortise_error *e) {                         \
    return mortise_##K##_cancel(of, e);                                                  \
  }                                                                                      \
  static mortise_status K##_interrupt(void *of, int32_t is_on, mortise_error *e) {       \
    return mortise_##K##_interrupt(of, is_on, e);                                        \
  }                                                                                      \
  static mortise_status K##_try_async(void *of, mortise_queue *q, mortise_error *e) {    \
    return mortise_##K##_##MODE##try_async(of, q, 1 W, e);                               \
  }                                                                                      \
  static mortise_status K##_acquire_async(void *of, mortise_queue *q, int64_t ms,        \
                                          mortise_error *e) {                            \
    return mortise_##K##_##MODE##acquire_async(of, q, 1 W, ms, e);                       \
  }                                                                                      \
  static mortise_status K##_unlock_async(void *of, mortise_queue *q, mortise_error *e) { \
    return mortise_##K##_##MODE##UNLOCK##_async(of, q, 1, e);                            \
  }                                                                                      \
  static mortise_status K##_extend_async(void *of, mortise_queue *q, mortise_error *e) { \
    return mortise_##K##_extend_async(of, q, 1, 0, e);                                   \
  }                                                                                      \
  static void K##_release(void *of) { mortise_##K##_free(of); }
#define CALLS(K)                                                                          \
  {                                                                                       \
#K, K##_try_now, K##_acquire, K##_unlock, K##_extend, K##_cancel, K##_interrupt,      \
        K##_try_async, K##_acquire_async, K##_unlock_async, K##_extend_async, K##_release \
  }

DEFINE(lock, , unlock, NO_WEIGHT)
DEFINE(rw, write_, unlock, NO_WEIGHT)
DEFINE(semaphore, , release, WEIGHT)
DEFINE(multi, , unlock, NO_WEIGHT)

static const struct calls all_calls[KINDS] = {CALLS(lock), CALLS(rw), CALLS(semaphore),
                                              CALLS(multi)};

/* How often a failure was reported, by kind and by the number of the status above the least. */
enum { LEAST = -12 };
static int seen[KINDS][20];

/* A handle of any kind; of a multi with its members. */
struct owner {
  int kind;
  const struct calls *calls;
  void *handle;
  mortise_lock *members[2];
};

static struct owner open_owner(int kind, mortise_client *of, const char *lease) {
  struct owner owner = {kind, &all_calls[kind], NULL, {NULL, NULL}};
  mortise_options *options = options_with("lease", lease);
  set_option(options, "renewal", "off");
  const size_t size = strlen(NAME);
  if (kind == LOCK) owner.handle = mortise_lock_new(of, NAME, size, options, NULL);
  if (kind == RW) owner.handle = mortise_rw_new(of, NAME, size, options, NULL);
  if (kind == SEMAPHORE) owner.handle = mortise_semaphore_new(of, NAME, size, 1, options, NULL);
  if (kind == MULTI) {
    owner.handle = mortise_multi_new(of, NULL);
    owner.members[0] = open_lock_with(of, NAME, options);
    set_option(options, "lease", "30s");
    owner.members[1] = open_lock_with(of, "paid", options);
    for (int i = 0; i < 2; ++i) {
      CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(owner.handle, owner.members[i], NULL));
    }
  }
  CHECK(owner.handle != NULL);
  mortise_options_free(options);
  return owner;
}

static void close_owner(struct owner *owner) {
  owner->calls->release(owner->handle);
  for (int i = 0; i < 2; ++i) mortise_lock_free(owner->members[i]);
}

/* ---- the checks ---------------------------------------------------------------------------- */

/* `lock_name` is the name as a value. A multi is reported by its members, which are no single
   name. */
static void check_message(const struct owner *owner, mortise_status status, const char *message,
                          const char *lock_name) {
  static const char several[] = "multi of \"" NAME "\", \"paid\": ";
  char of_one[32];
  snprintf(of_one, sizeof of_one, "\"%s\": ", lock_name);
  const int is_of_several = strncmp(message, several, strlen(several)) == 0;
  const int is_right = owner->kind == MULTI && is_of_several
                           ? lock_name[0] == '\0'
                           : strncmp(message, of_one, strlen(of_one)) == 0;
  const int is_ours = strcmp(lock_name, NAME) == 0 || owner->kind == MULTI;
  const char *const rest = message + (is_of_several ? strlen(several) : strlen(of_one));
  if (!is_right || !is_ours || *rest == '\0' || strstr(rest, NAME) != NULL) {
    fprintf(stderr, "%s, %s: %s (%s)\n", owner->calls->what, mortise_status_text(status), message,
            lock_name);
    check_failed(__FILE__, __LINE__, "the lock is not named, or not once");
  }
  ++seen[owner->kind][status - LEAST];
}

static void check_call(const struct owner *owner, mortise_status expected, mortise_status status) {
  CHECK_STATUS(expected, status);
  CHECK_STATUS(expected, mortise_error_status(error));
  check_message(owner, status, mortise_error_message(error), mortise_error_lock_name(error, NULL));
}

static void expect_status(const struct owner *owner, mortise_status expected) {
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_STATUS(expected, mortise_event_status(event));
  check_message(owner, expected, mortise_event_message(event),
                mortise_event_lock_name(event, NULL));
}

/* ---- the failures -------------------------------------------------------------------------- */

static void what_is_taken(int kind) {
  struct owner mine = open_owner(kind, client, "30s"), rival = open_owner(kind, other, "30s");
  const struct calls *const calls = mine.calls;
  CHECK_STATUS(MORTISE_OK, calls->try_now(rival.handle, NULL));
  check_call(&mine, MORTISE_NOT_ACQUIRED, calls->try_now(mine.handle, error));
  CHECK_STATUS(MORTISE_OK, calls->try_async(mine.handle, queue, error));
  expect_status(&mine, MORTISE_NOT_ACQUIRED);
  check_call(&mine, MORTISE_TIMED_OUT, calls->acquire(mine.handle, 1000, error));
  CHECK_STATUS(MORTISE_OK, calls->acquire_async(mine.handle, queue, 1000, error));
  expect_status(&mine, MORTISE_TIMED_OUT);

  CHECK_STATUS(MORTISE_OK, calls->acquire_async(mine.handle, queue, MORTISE_FOREVER, error));
  check_call(&mine, MORTISE_BUSY, calls->try_now(mine.handle, error));
  check_call(&mine, MORTISE_BUSY, calls->try_async(mine.handle, queue, error));
  check_call(&mine, MORTISE_BUSY, calls->extend(mine.handle, error));
  CHECK_STATUS(MORTISE_OK, calls->cancel(mine.handle, error));
  expect_status(&mine, MORTISE_CANCELLED);
  CHECK_STATUS(MORTISE_OK, calls->interrupt(mine.handle, 1, error));
  check_call(&mine, MORTISE_CANCELLED, calls->acquire(mine.handle, 30, error));
  check_call(&mine, MORTISE_CANCELLED, calls->acquire_async(mine.handle, queue, 30, error));
  CHECK_STATUS(MORTISE_OK, calls->interrupt(mine.handle, 0, error));

  check_call(&rival, MORTISE_ALREADY_HELD, calls->try_now(rival.handle, error));
  check_call(&rival, MORTISE_ALREADY_HELD, calls->acquire_async(rival.handle, queue, 30, error));
  close_owner(&mine);
  close_owner(&rival);
}

static void what_is_not_held(int kind) {
  struct owner mine = open_owner(kind, client, "30s");
  const struct calls *const calls = mine.calls;
  for (int i = 0; i < 2; ++i) {
    check_call(&mine, MORTISE_NOT_OWNER, calls->unlock(mine.handle, error));
    check_call(&mine, MORTISE_NOT_OWNER, calls->unlock_async(mine.handle, queue, error));
    check_call(&mine, MORTISE_NOT_OWNER, calls->extend(mine.handle, error));
    check_call(&mine, MORTISE_NOT_OWNER, calls->extend_async(mine.handle, queue, error));
    check_call(&mine, MORTISE_NOT_WAITING, calls->cancel(mine.handle, error));
    CHECK_STATUS(MORTISE_OK, calls->try_now(mine.handle, error));
    CHECK_STATUS(MORTISE_OK, calls->unlock(mine.handle, error));
  }
  close_owner(&mine);
}

static void what_was_lost(int kind) {
  struct owner mine = open_owner(kind, client, "1s");
  const struct calls *const calls = mine.calls;
  if (kind == LOCK) mortise_lock_watch(mine.handle, queue, 2, NULL);
  if (kind == RW) mortise_rw_watch(mine.handle, queue, 2, NULL);
  if (kind == SEMAPHORE) mortise_semaphore_watch(mine.handle, queue, 2, NULL);
  CHECK_STATUS(MORTISE_OK, calls->try_now(mine.handle, error));
  if (kind == MULTI) {
    wait_until_not_held(mine.members[0]);
  } else {
    expect_status(&mine, MORTISE_OK); /* the risk */
    CHECK_NUMBER(MORTISE_EVENT_AT_RISK, mortise_event_kind(event));
    expect_status(&mine, MORTISE_LOST);
  }
  check_call(&mine, MORTISE_LOST, calls->extend(mine.handle, error));
  check_call(&mine, MORTISE_LOST, calls->unlock(mine.handle, error));
  close_owner(&mine);
}

static void what_the_server_refuses(int kind) {
  struct owner mine = open_owner(kind, client, "30s");
  const struct calls *const calls = mine.calls;
  /* Answered after the releases of the case before, which the foreign key would disturb. */
  wait_for_ping(client, MORTISE_OK);
  CHECK_NUMBER(1, server_number(server, "HSET {mortise:" NAME "} field value"));
  check_call(&mine, MORTISE_REFUSED, calls->acquire(mine.handle, 1000, error));
  CHECK_STATUS(MORTISE_OK, calls->acquire_async(mine.handle, queue, 1000, error));
  expect_status(&mine, MORTISE_REFUSED);
  CHECK_NUMBER(1, server_number(server, "DEL {mortise:" NAME "}"));
  close_owner(&mine);
}

static void answer_again(mortise_client *hasty) {
  server_resume(server);
  wait_for_ping(hasty, MORTISE_OK);
}

/* A server that hangs, and one that was killed. */
static void what_no_server_answers(int kind) {
  mortise_client *quick = open_quick_client(server, 1000);
  struct owner mine = open_owner(kind, quick, "30s");
  const struct calls *const calls = mine.calls;
  server_pause(server);
  check_call(&mine, MORTISE_UNKNOWN, calls->try_now(mine.handle, error));
  answer_again(quick);
  server_pause(server);
  CHECK_STATUS(MORTISE_OK, calls->acquire_async(mine.handle, queue, 50, error));
  expect_status(&mine, MORTISE_UNKNOWN);
  answer_again(quick);
  CHECK_STATUS(MORTISE_OK, calls->acquire(mine.handle, patience_ms, error));
  server_pause(server);
  check_call(&mine, MORTISE_UNKNOWN, calls->extend(mine.handle, error));
  answer_again(quick);
  server_pause(server);
  CHECK_STATUS(MORTISE_OK, calls->extend_async(mine.handle, queue, error));
  expect_status(&mine, MORTISE_UNKNOWN);
  answer_again(quick);
  server_kill(server);
  wait_for_ping(quick, MORTISE_UNREACHABLE);
  check_call(&mine, MORTISE_UNREACHABLE, calls->extend(mine.handle, error));
  check_call(&mine, MORTISE_UNREACHABLE, calls->unlock(mine.handle, error));
  check_call(&mine, MORTISE_UNREACHABLE, calls->acquire(mine.handle, 30, error));
  CHECK_STATUS(MORTISE_OK, calls->try_async(mine.handle, queue, error));
  expect_status(&mine, MORTISE_UNREACHABLE);
  close_owner(&mine);
  mortise_client_free(quick);
  server_restart(server);
  wait_for_ping(client, MORTISE_OK);
  wait_for_ping(other, MORTISE_OK);
}

static void what_a_queue_will_not_take(int kind) {
  struct owner mine = open_owner(kind, client, "30s");
  const struct calls *const calls = mine.calls;
  mortise_queue *narrow = mortise_queue_new(client, 1, NULL);
  mortise_lock *watched = open_lock(client, "watched");
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(watched, narrow, 3, NULL));
  check_call(&mine, MORTISE_LIMIT, calls->try_async(mine.handle, narrow, error));
  CHECK_STATUS(MORTISE_OK, calls->try_now(mine.handle, NULL));
  check_call(&mine, MORTISE_LIMIT, calls->extend_async(mine.handle, narrow, error));
  check_call(&mine, MORTISE_LIMIT, calls->unlock_async(mine.handle, narrow, error));
  mortise_queue_shutdown(narrow);
  check_call(&mine, MORTISE_SHUT_DOWN, calls->acquire_async(mine.handle, narrow, 30, error));
  mortise_lock_free(watched);
  mortise_queue_free(narrow);
  close_owner(&mine);
}

static void what_is_closed(int kind) {
  mortise_client *brief = open_client(server);
  struct owner mine = open_owner(kind, brief, "30s"), rival = open_owner(kind, other, "30s");
  const struct calls *const calls = mine.calls;
  CHECK_STATUS(MORTISE_OK, calls->try_now(rival.handle, NULL));
  CHECK_STATUS(MORTISE_OK, calls->acquire_async(mine.handle, queue, MORTISE_FOREVER, error));
  mortise_client_free(brief);
  expect_status(&mine, MORTISE_CLOSED);
  check_call(&mine, MORTISE_CLOSED, calls->try_now(mine.handle, error));
  check_call(&mine, MORTISE_CLOSED, calls->unlock(mine.handle, error));
  check_call(&mine, MORTISE_CLOSED, calls->extend(mine.handle, error));
  check_call(&mine, MORTISE_CLOSED, calls->cancel(mine.handle, error));
  check_call(&mine, MORTISE_CLOSED, calls->try_async(mine.handle, queue, error));
  close_owner(&mine);
  close_owner(&rival);
}

/* A multi does not name its members there, because their mutex may never be unlocked. */
static void what_a_child_inherits(int kind) {
  struct owner mine = open_owner(kind, client, "30s");
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    CHECK_STATUS(MORTISE_FORKED, mine.calls->try_now(mine.handle, error));
    CHECK_CONTAINS(mortise_error_message(error), "was created before fork()");
    if (kind != MULTI) check_call(&mine, MORTISE_FORKED, mine.calls->unlock(mine.handle, error));
    _exit(0);
  }
  int wait_status = 0;
  CHECK(waitpid(child, &wait_status, 0) == child);
  CHECK(WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0);
  ++seen[kind][MORTISE_FORKED - LEAST];
  close_owner(&mine);
}

/* An object that cannot be made is named by its future name. */
static void what_cannot_be_made(int kind) {
  if (kind == MULTI) return; /* it has no name */
  const struct owner expected = {kind, &all_calls[kind], NULL, {NULL, NULL}};
  mortise_options *foreign = options_with("protocol", kind == RW ? "token" : "two_key");
  void *made = NULL;
  if (kind == LOCK) made = mortise_lock_new(client, NAME, strlen(NAME), foreign, error);
  if (kind == RW) made = mortise_rw_new(client, NAME, strlen(NAME), foreign, error);
  if (kind == SEMAPHORE) {
    made = mortise_semaphore_new(client, NAME, strlen(NAME), 1, foreign, error);
  }
  CHECK(made == NULL);
  check_call(&expected, MORTISE_UNSUPPORTED, mortise_error_status(error));
  mortise_options_free(foreign);
}

/* Any bytes, at any length, on one line that a terminal can take. */
static void any_name_is_shown(void) {
  char name[MORTISE_MAX_NAME_LEN];
  for (size_t i = 0; i < sizeof name; ++i) name[i] = (char)(i * 7);
  mortise_lock *lock = mortise_lock_new(client, name, sizeof name, NULL, NULL);
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_lock_unlock(lock, error));
  const char *const message = mortise_error_message(error);
  CHECK(strlen(message) < 200);
  CHECK(message[0] == '"' && strstr(message, "…\": nothing was acquired") != NULL);
  size_t size = 0;
  CHECK(memcmp(mortise_error_lock_name(error, &size), name, sizeof name) == 0);
  CHECK_NUMBER(sizeof name, size);
  for (const char *at = message; *at != '\0'; ++at) CHECK((unsigned char)*at >= ' ' && *at != 127);
  mortise_lock_free(lock);
}

static void (*const failures[])(int) = {
    what_is_taken,           what_is_not_held,       what_was_lost,
    what_the_server_refuses, what_no_server_answers, what_a_queue_will_not_take,
    what_is_closed,          what_a_child_inherits,  what_cannot_be_made,
};

/* The table: which status was seen of which kind. */
static void every_status_was_seen(void) {
  for (int kind = 0; kind < KINDS; ++kind) {
    for (int status = LEAST; status <= MORTISE_SHUT_DOWN; ++status) {
      const int is_about_none = status == MORTISE_INVALID_ARGUMENT || status == MORTISE_NO_MEMORY ||
                                status == MORTISE_INTERNAL || status == MORTISE_OK;
      const int is_of_members = kind == MULTI && status == MORTISE_UNSUPPORTED;
      if (is_about_none || is_of_members || seen[kind][status - LEAST] > 0) continue;
      fprintf(stderr, "%s: %s\n", all_calls[kind].what, mortise_status_text(status));
      check_failed(__FILE__, __LINE__, "no such failure was seen");
    }
  }
}

int main(void) {
  server = server_start(NULL);
  client = open_client(server);
  other = open_client(server);
  error = mortise_error_new();
  queue = mortise_queue_new(other, 0, NULL);
  event = mortise_event_new();
  for (int kind = 0; kind < KINDS; ++kind) {
    for (size_t i = 0; i < sizeof failures / sizeof *failures; ++i) {
      fprintf(stderr, "%s %zu\n", all_calls[kind].what, i);
      server_wait_for_exactly(server, "EXISTS {mortise:" NAME "} {mortise:paid}", 0);
      failures[i](kind);
    }
  }
  RUN(any_name_is_shown);
  RUN(every_status_was_seen);
  mortise_event_free(event);
  mortise_queue_free(queue);
  mortise_error_free(error);
  mortise_client_free(other);
  mortise_client_free(client);
  server_free(server);
  return 0;
}
