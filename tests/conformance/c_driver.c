/*
 * The driver in C: executes the runner's commands, one a line. README.md has the lines. Only the
 * public header is used.
 */
#include <inttypes.h>
#include <mortise/mortise.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "words.h"

enum { MOST_HANDLES = 128 };

enum kind { CLIENT, LOCK, RW, SEMAPHORE, ELECTION, MULTI, QUEUE };

struct handle {
  enum kind kind;
  char name[64];
  void *object;
};

static struct handle handles[MOST_HANDLES];
static int handle_count;
static mortise_queue *queue;
static mortise_error *error;

static struct handle *find(const char *name) {
  for (int i = 0; i < handle_count; ++i) {
    if (strcmp(handles[i].name, name) == 0) return &handles[i];
  }
  fprintf(stderr, "driver: no handle %s\n", name);
  exit(2);
}

/* Tags of notices are places in `handles`, tags of calls are numbers of lines above these. */
static int64_t tag_of_call(struct words *line) { return MOST_HANDLES + atoll(line->id); }

static void answer_with(struct words *line, mortise_status status, int64_t token, int64_t value,
                        const char *text) {
  printf("%s %s", line->id, words_status(status));
  if (token != 0) printf(" token=%" PRId64, token);
  if (value != INT64_MIN) printf(" value=%" PRId64, value);
  if (status < 0) {
    printf(" retryable=%" PRId32 " ambiguous=%" PRId32, mortise_error_is_retryable(error),
           mortise_error_is_ambiguous(error));
    words_print("printed", mortise_error_server_text(error));
  }
  words_print("text", text);
  putchar('\n');
}

static void answer(struct words *line, mortise_status status, int64_t token, int64_t value) {
  answer_with(line, status, token, value, mortise_error_message(error));
}

/* ---- new --------------------------------------------------------------------------------- */

static mortise_status set_options(struct words *line, mortise_options *options) {
  for (int i = 0; i < line->count; ++i) {
    const struct word *word = &line->words[i];
    if (strncmp(word->key, "opt.", 4) != 0) continue;
    const mortise_status status = mortise_options_set(options, word->key + 4, strlen(word->key + 4),
                                                      word->value, word->size, error);
    if (status != MORTISE_OK) return status;
  }
  return MORTISE_OK;
}

static mortise_status add_members(mortise_multi *multi, char *members) {
  mortise_status status = MORTISE_OK;
  for (char *name = strtok(members, ","); name != NULL; name = strtok(NULL, ",")) {
    char *mode = strchr(name, ':');
    if (mode != NULL) *mode++ = '\0';
    const struct handle *member = find(name);
    if (member->kind == LOCK) status = mortise_multi_add_lock(multi, member->object, error);
    if (member->kind == RW) {
      status = (strcmp(mode, "read") == 0 ? mortise_multi_add_reader : mortise_multi_add_writer)(
          multi, member->object, error);
    }
    if (member->kind == SEMAPHORE) {
      status = mortise_multi_add_semaphore(multi, member->object, atoll(mode), error);
    }
    if (status != MORTISE_OK) return status;
  }
  return status;
}

static void *make(struct words *line, enum kind kind, const mortise_options *options) {
  const struct word *name = words_find(line, "name");
  if (kind == CLIENT) {
    const struct word *url = words_find(line, "url");
    return url != NULL ? mortise_client_new(url->value, url->size, options, error)
                       : mortise_client_new(NULL, 0, options, error);
  }
  mortise_client *client = find(words_find(line, "client")->value)->object;
  if (kind == MULTI) return mortise_multi_new(client, error);
  if (kind == LOCK) return mortise_lock_new(client, name->value, name->size, options, error);
  if (kind == RW) return mortise_rw_new(client, name->value, name->size, options, error);
  if (kind == ELECTION) {
    return mortise_election_new(client, name->value, name->size, options, error);
  }
  return mortise_semaphore_new(client, name->value, name->size, words_number(line, "permits", 1),
                               options, error);
}

static mortise_options *base_options(struct words *line, enum kind kind) {
  if (kind == CLIENT) return mortise_options_new();
  return mortise_options_new_from(find(words_find(line, "client")->value)->object, error);
}

static void do_new(struct words *line) {
  static const char *const kinds[] = {"client", "lock", "rw", "semaphore", "election", "multi"};
  enum kind kind = CLIENT;
  while (strcmp(kinds[kind], line->second) != 0) ++kind;
  int has_options = 0;
  for (int i = 0; i < line->count; ++i) has_options |= strncmp(line->words[i].key, "opt.", 4) == 0;
  mortise_options *options = has_options ? base_options(line, kind) : NULL;
  mortise_status status = options != NULL ? set_options(line, options) : MORTISE_OK;
  void *made = NULL;
  if (status == MORTISE_OK) {
    made = make(line, kind, options);
    status = mortise_error_status(error);
  }
  mortise_options_free(options);
  struct word *members = words_find(line, "members");
  if (made != NULL && members != NULL) status = add_members(made, members->value);
  if (made != NULL && status == MORTISE_OK && handle_count < MOST_HANDLES) {
    struct handle *place = &handles[handle_count++];
    place->kind = kind;
    snprintf(place->name, sizeof place->name, "%s", line->third);
    place->object = made;
    if (queue == NULL) queue = mortise_queue_new(handles[0].object, 0, NULL);
  }
  answer(line, status, 0, INT64_MIN);
}

/* ---- calls ------------------------------------------------------------------------------- */

/* What a call is given, and what it came to. */
struct call {
  void *object;
  int64_t timeout_ms, lease_ms, weight, permits, tag, interval_ms, most_keys, window_ms, task;
  mortise_log_level level;
  const char *of; /* what a query is about */
  mortise_status status;
  int32_t is_on;
  const char *text;
  int64_t token, value;
  char label[MORTISE_MAX_VALUE_LEN + 1]; /* or the value */
  const struct word *user, *password, *owner, *given, *pattern, *id, *lock;
};

#include "holds.h"
#include "methods.h"
#include "queries.h"

/* A child's handles are inert: it returns its result by its exit status. */
static void fork_and_ping(struct call *call) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) _exit(-mortise_client_ping(call->object, NULL));
  int wait_status = 0;
  waitpid(child, &wait_status, 0);
  call->status = -WEXITSTATUS(wait_status);
}

static int call_queue(const char *method, struct call *call) {
  if (strcmp(method, "shut_down") == 0) {
    mortise_queue_shutdown(queue);
    return 1;
  }
  if (strcmp(method, "limit") == 0) {
    mortise_queue_free(queue);
    queue = mortise_queue_new(handles[0].object, call->permits, error);
    return 1;
  }
  return 0;
}

static int watch_client(const struct handle *handle, const char *method, struct call *call) {
  call->tag = handle - handles;
  if (strcmp(method, "watch_log") == 0) {
    call->status = mortise_client_watch_log(call->object, call->level == 0 ? NULL : queue,
                                            call->tag, call->level, error);
    return 1;
  }
  if (strcmp(method, "watch_locks") == 0) {
    call->status =
        mortise_client_watch_locks(call->object, call->is_on ? queue : NULL, call->tag, error);
    return 1;
  }
  if (strcmp(method, "watch_stats") == 0) {
    call->status = mortise_client_watch_stats(call->object, call->interval_ms == 0 ? NULL : queue,
                                              call->tag, call->interval_ms, error);
    return 1;
  }
  return 0;
}

static int call_special(const struct handle *handle, const char *method, struct call *call) {
  if (handle->kind == QUEUE) return call_queue(method, call);
  if (handle->kind == CLIENT && call_health(method, call)) return 1;
  if (handle->kind == CLIENT && watch_client(handle, method, call)) return 1;
  if (strcmp(method, "query") == 0) {
    query_into(call, query_of(handle->kind));
    return 1;
  }
  if (strcmp(method, "force_release") == 0) {
    force_release(call, handle->kind);
    return 1;
  }
  if (strcmp(method, "fork") == 0) {
    fork_and_ping(call);
    return 1;
  }
  if (strcmp(method, "watch") == 0) {
    call->tag = handle - handles;
    if (handle->kind == LOCK)
      call->status = mortise_lock_watch(call->object, queue, call->tag, error);
    if (handle->kind == RW) call->status = mortise_rw_watch(call->object, queue, call->tag, error);
    if (handle->kind == MULTI) {
      call->status = mortise_multi_watch(call->object, queue, call->tag, error);
    }
    if (handle->kind == SEMAPHORE) {
      call->status = mortise_semaphore_watch(call->object, queue, call->tag, error);
    }
    if (handle->kind == ELECTION) {
      call->status = mortise_election_watch(call->object, queue, call->tag, error);
    }
    return 1;
  }
  if (strcmp(method, "observe") == 0) {
    call->status = mortise_election_observe(call->object, call->interval_ms == 0 ? NULL : queue,
                                            handle - handles, call->interval_ms, error);
    return 1;
  }
  return 0;
}

static void make_call(const struct handle *handle, const char *name, int is_async,
                      struct call *call) {
  if (!is_async && call_special(handle, name, call)) return;
  if (is_async && start_query(handle, name, call)) return;
  const struct method *method = find_method(handle->kind, name, is_async);
  if (method == NULL) {
    fprintf(stderr, "driver: no method %s\n", name);
    exit(2);
  }
  method->run(call);
}

static void make_call_of_hold(struct hold *hold, const char *name, struct call *call) {
  const int is_unlock = strcmp(name, "unlock") == 0;
  if (hold->is_over || (!is_unlock && hold_number_of(hold->handle) != hold->number)) {
    call_ended_hold(hold, name, call);
    return;
  }
  if (is_unlock) {
    call->status = unlock_hold(hold);
  } else {
    make_call(hold->handle, method_of_hold(hold, name), 0, call);
  }
  change_hold(hold, name, call);
}

static void do_call(struct words *line, int is_async) {
  static const struct handle of_queue = {QUEUE, "queue", NULL};
  struct hold *hold = is_async ? NULL : find_hold(line->second);
  const struct handle *handle = hold != NULL                               ? hold->handle
                                : strcmp(line->second, of_queue.name) == 0 ? &of_queue
                                                                           : find(line->second);
  const struct word *of = words_find(line, "of"), *gives = words_find(line, "gives");
  struct call call = {handle->object,
                      words_number(line, "timeout_ms", 0),
                      words_number(line, "lease_ms", 0),
                      words_number(line, "weight", 1),
                      words_number(line, "permits", 1),
                      tag_of_call(line),
                      words_number(line, "interval_ms", 0),
                      words_number(line, "most_keys", 1000),
                      words_number(line, "window_ms", 60000),
                      words_number(line, "task", 0),
                      (mortise_log_level)words_number(line, "level", 0),
                      of != NULL ? of->value : "",
                      MORTISE_OK,
                      (int32_t)words_number(line, "is_on", 1),
                      NULL,
                      0,
                      INT64_MIN,
                      "",
                      words_find(line, "user"),
                      words_find(line, "password"),
                      words_find(line, "owner"),
                      words_find(line, "value"),
                      words_find(line, "pattern"),
                      words_find(line, "id"),
                      words_find(line, "lock")};
  mortise_error_free(error);
  error = mortise_error_new();
  if (hold != NULL) {
    make_call_of_hold(hold, line->third, &call);
  } else {
    make_call(handle, line->third, is_async, &call);
  }
  if (gives != NULL && call.status == MORTISE_OK) {
    add_hold(gives->value, handle, line->third, call.token);
  }
  /* Freed once, also by a reset. */
  if (strcmp(line->third, "free") == 0) find(line->second)->object = NULL;
  answer_with(line, call.status, call.token, call.value,
              call.text != NULL       ? call.text
              : call.label[0] != '\0' ? call.label
                                      : mortise_error_message(error));
}

/* A line of the log goes by its subject. */
static const char *notice_of(const mortise_event *event) {
  switch (mortise_event_kind(event)) {
    case MORTISE_EVENT_LOG:
      return mortise_log_subject_text(mortise_event_log_subject(event));
    case MORTISE_EVENT_STATS:
      return "stats";
    case MORTISE_EVENT_LOST:
      return "lost";
    case MORTISE_EVENT_CONTENDED:
      return "contended";
    case MORTISE_EVENT_LEADER:
      return "leader";
    case MORTISE_EVENT_NO_LEADER:
      return "no_leader";
    case MORTISE_EVENT_WAIT_BEGAN:
      return "wait_began";
    case MORTISE_EVENT_WAIT_FAILED:
      return "wait_failed";
    case MORTISE_EVENT_HOLD_BEGAN:
      return "hold_began";
    case MORTISE_EVENT_HOLD_CHANGED:
      return "hold_changed";
    case MORTISE_EVENT_HOLD_ENDED:
      return "hold_ended";
    default:
      return "at_risk";
  }
}

/* Of a leader its value, and of a wait or a hold the lock and the status. */
static void print_text(const mortise_event *event) {
  if (mortise_event_lock_kind(event)[0] != '\0') {
    char text[2 * MORTISE_MAX_NAME_LEN];
    snprintf(text, sizeof text, "%s %s %s", mortise_event_lock_kind(event),
             mortise_event_lock_name(event, NULL), words_status(mortise_event_status(event)));
    words_print("text", text);
    return;
  }
  mortise_info *info = mortise_info_new();
  if (mortise_event_leader(event, info, NULL) == MORTISE_OK) {
    words_print("text", mortise_info_entry_value(info, 0));
  } else {
    words_print("text", mortise_event_message(event));
  }
  mortise_info_free(info);
}

static void do_pump(struct words *line) {
  mortise_event *event = mortise_event_new();
  int64_t timeout_ms = words_number(line, "timeout_ms", 0);
  while (mortise_queue_next(queue, timeout_ms, event, NULL) == MORTISE_OK) {
    const int64_t tag = mortise_event_tag(event);
    const int is_notice = tag < MOST_HANDLES;
    if (is_notice) {
      printf("notice %s %s reason=%" PRId32, handles[tag].name, notice_of(event),
             mortise_event_reason(event));
      if (mortise_event_kind(event) == MORTISE_EVENT_LOG) {
        printf(" value=%" PRId32, mortise_event_log_level(event));
      }
    } else {
      printf("done %" PRId64 " %s", tag - MOST_HANDLES, words_status(mortise_event_status(event)));
    }
    if (mortise_event_status(event) < 0) {
      printf(" retryable=%" PRId32 " ambiguous=%" PRId32, mortise_event_is_retryable(event),
             mortise_event_is_ambiguous(event));
    }
    if (mortise_event_token(event) != 0) printf(" token=%" PRId64, mortise_event_token(event));
    print_text(event);
    putchar('\n');
    timeout_ms = 0;
  }
  mortise_event_free(event);
  answer(line, MORTISE_OK, 0, INT64_MIN);
}

/* ---- reset ------------------------------------------------------------------------------- */

static void free_object(const struct handle *handle) {
  if (handle->kind == CLIENT) mortise_client_free(handle->object);
  if (handle->kind == LOCK) mortise_lock_free(handle->object);
  if (handle->kind == RW) mortise_rw_free(handle->object);
  if (handle->kind == SEMAPHORE) mortise_semaphore_free(handle->object);
  if (handle->kind == ELECTION) mortise_election_free(handle->object);
  if (handle->kind == MULTI) mortise_multi_free(handle->object);
}

/* Frees everything, so that the next run finds a driver as if it had just started. */
static void do_reset(struct words *line) {
  while (handle_count > 0) free_object(&handles[--handle_count]);
  hold_count = 0;
  mortise_queue_free(queue);
  queue = NULL;
  mortise_error_free(error);
  error = mortise_error_new();
  answer(line, MORTISE_OK, 0, INT64_MIN);
}

int main(void) {
  static struct words line;
  error = mortise_error_new();
  while (words_read(&line)) {
    flockfile(stdout); /* threads of queries print, too */
    if (strcmp(line.first, "new") == 0) do_new(&line);
    if (strcmp(line.first, "call") == 0) do_call(&line, 0);
    if (strcmp(line.first, "start") == 0) do_call(&line, 1);
    if (strcmp(line.first, "pump") == 0) do_pump(&line);
    if (strcmp(line.first, "reset") == 0) do_reset(&line);
    fflush(stdout);
    funlockfile(stdout);
  }
  return 0;
}
