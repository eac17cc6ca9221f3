/* Tasks, whose calls block no thread: their deadlocks are named, and end with `deadlock=fail`. */
#include "fixture.h"

static test_server *server;
static mortise_client *client;
static mortise_options *failing;

/* A client with a queue, as each of two processes has. */
typedef struct process {
  mortise_client *client;
  mortise_queue *queue;
} process;

static process open_process(void) {
  process self = {.client = open_client(server)};
  self.queue = open_queue(self.client, 0);
  return self;
}

static void end_process(process *self) {
  mortise_queue_free(self->queue);
  mortise_client_free(self->client);
}

static mortise_lock *open_of_task(mortise_client *owner, const char *name, int64_t task) {
  mortise_lock *lock = open_lock_with(owner, name, failing);
  CHECK_STATUS(MORTISE_OK, mortise_lock_set_task(lock, task, NULL));
  return lock;
}

static void hold(mortise_lock *lock, mortise_queue *queue) {
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(lock, queue, 0, patience_ms, NULL));
  check_event(queue, MORTISE_EVENT_ACQUIRED, 0, MORTISE_OK);
}

/* Both tasks have the same number, because they are in different processes. */
static void the_younger_of_two_waits_fails(void) {
  process of[] = {open_process(), open_process()};
  mortise_lock *held[2];
  mortise_lock *awaited[2];
  const char *names[] = {"orders", "stock"};
  for (int i = 0; i < 2; ++i) {
    held[i] = open_of_task(of[i].client, names[i], 1 + i);
    awaited[i] = open_of_task(of[i].client, names[1 - i], 1 + i);
    hold(held[i], of[i].queue);
  }
  for (int i = 0; i < 2; ++i) {
    CHECK_STATUS(MORTISE_OK,
                 mortise_lock_acquire_async(awaited[i], of[i].queue, 7, patience_ms, NULL));
    wait_until_busy(awaited[i]);
  }
  mortise_event *event = mortise_event_new();
  check_next_event(of[1].queue, event, MORTISE_EVENT_ACQUIRED, 7, MORTISE_DEADLOCK);
  CHECK_CONTAINS(mortise_event_message(event), "\"orders\": waited ");
  CHECK_CONTAINS(mortise_event_message(event), " ms in a deadlock: task 1 of process ");
  CHECK_CONTAINS(mortise_event_message(event),
                 " holds it and waits for \"stock\", which this task holds");
  CHECK_NUMBER(0, mortise_lock_is_held(awaited[1]));
  check_quiet(of[0].queue);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(held[1], NULL));
  check_event(of[0].queue, MORTISE_EVENT_ACQUIRED, 7, MORTISE_OK);
  for (int i = 0; i < 2; ++i) {
    mortise_lock_free(awaited[i]);
    mortise_lock_free(held[i]);
    end_process(&of[i]);
  }
  mortise_event_free(event);
}

/* Two tasks share a thread and a queue, as goroutines share the queue of their client. */
static void tasks_of_one_thread_are_different(void) {
  mortise_queue *queue = open_queue(client, 0);
  mortise_lock *first = open_of_task(client, "shared", 1);
  mortise_lock *second = open_of_task(client, "shared", 2);
  hold(first, queue);
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(second, queue, 2, patience_ms, NULL));
  /* The deadlock of this task starts the search, and shows that it looked. */
  mortise_lock *own = open_of_task(client, "own", 3);
  mortise_lock *again = open_of_task(client, "own", 3);
  hold(own, queue);
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(again, queue, 3, patience_ms, NULL));
  check_event(queue, MORTISE_EVENT_ACQUIRED, 3, MORTISE_DEADLOCK);
  check_quiet(queue);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(first, NULL));
  check_event(queue, MORTISE_EVENT_ACQUIRED, 2, MORTISE_OK);
  mortise_lock_free(again);
  mortise_lock_free(own);
  mortise_lock_free(second);
  mortise_lock_free(first);
  mortise_queue_free(queue);
}

/* A blocking call of a handle with a task belongs to the task, and one without to the thread. */
static void a_blocking_call_belongs_to_the_task(void) {
  mortise_queue *queue = open_queue(client, 0);
  mortise_lock *held = open_of_task(client, "both", 5);
  mortise_lock *again = open_of_task(client, "both", 5);
  hold(held, queue);
  CHECK_STATUS(MORTISE_DEADLOCK, mortise_lock_acquire(again, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_set_task(again, 0, NULL));
  CHECK_STATUS(MORTISE_TIMED_OUT, mortise_lock_acquire(again, 2500, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(held, NULL));
  mortise_lock_free(again);
  mortise_lock_free(held);
  mortise_queue_free(queue);
}

static void a_multi_of_a_task_fails_and_holds_nothing(void) {
  mortise_queue *queue = open_queue(client, 0);
  mortise_lock *held = open_of_task(client, "z", 6);
  mortise_lock *members[] = {open_lock_with(client, "a", failing),
                             open_lock_with(client, "z", failing)};
  mortise_multi *multi = mortise_multi_new(client, NULL);
  for (int i = 0; i < 2; ++i) {
    CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(multi, members[i], NULL));
  }
  hold(held, queue);
  CHECK_STATUS(MORTISE_OK, mortise_multi_set_task(multi, 6, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_acquire_async(multi, queue, 1, patience_ms, NULL));
  check_event(queue, MORTISE_EVENT_ACQUIRED, 1, MORTISE_DEADLOCK);
  CHECK_NUMBER(0, mortise_lock_is_held(members[0]));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(held, NULL));
  mortise_multi_free(multi);
  mortise_lock_free(members[1]);
  mortise_lock_free(members[0]);
  mortise_lock_free(held);
  mortise_queue_free(queue);
}

/* The other kinds, each against its own hold. */
static void each_kind_has_tasks(void) {
  mortise_queue *queue = open_queue(client, 0);
  mortise_rw *reader = mortise_rw_new(client, "rw", 2, failing, NULL);
  mortise_rw *writer = mortise_rw_new(client, "rw", 2, failing, NULL);
  mortise_semaphore *part = mortise_semaphore_new(client, "sem", 3, 2, failing, NULL);
  mortise_semaphore *rest = mortise_semaphore_new(client, "sem", 3, 2, failing, NULL);
  mortise_election *leader = mortise_election_new(client, "el", 2, failing, NULL);
  mortise_election *candidate = mortise_election_new(client, "el", 2, failing, NULL);
  CHECK_STATUS(MORTISE_OK, mortise_rw_set_task(reader, 1, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_set_task(writer, 1, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_set_task(part, 2, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_set_task(rest, 2, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_election_set_task(leader, 3, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_election_set_task(candidate, 3, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_acquire(reader, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_acquire(part, 1, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_election_campaign(leader, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_acquire_async(writer, queue, 1, patience_ms, NULL));
  check_event(queue, MORTISE_EVENT_ACQUIRED, 1, MORTISE_DEADLOCK);
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_acquire_async(rest, queue, 2, 2, patience_ms, NULL));
  check_event(queue, MORTISE_EVENT_ACQUIRED, 2, MORTISE_DEADLOCK);
  CHECK_STATUS(MORTISE_OK, mortise_election_campaign_async(candidate, queue, 3, patience_ms, NULL));
  check_event(queue, MORTISE_EVENT_ACQUIRED, 3, MORTISE_DEADLOCK);
  mortise_election_free(candidate);
  mortise_election_free(leader);
  mortise_semaphore_free(rest);
  mortise_semaphore_free(part);
  mortise_rw_free(writer);
  mortise_rw_free(reader);
  mortise_queue_free(queue);
}

/* Listings begin with it. */
#define pubsub_calls                                                                           \
  "EVAL "                                                                                      \
  "return(tonumber(redis.call('INFO','commandstats'):match('pubsub[^:]*:calls=(%d+)')or(0))) " \
  "0"

/* Far below the second from which a wait is searched. */
enum { short_wait_ms = 300 };

/* A short wait of a task that holds costs no listing, however many there are. */
static void short_waits_look_for_nothing(void) {
  mortise_queue *queue = open_queue(client, 0);
  mortise_lock *held = open_of_task(client, "held", 1);
  mortise_lock *other = open_of_task(client, "other", 1);
  hold(held, queue);
  process rival = open_process();
  mortise_lock *taken = open_of_task(rival.client, "other", 1);
  hold(taken, rival.queue);
  const int64_t before = server_number(server, pubsub_calls);
  CHECK(before > 0);
  const int64_t end = now_ms() + 2500;
  while (now_ms() < end) {
    CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(other, queue, 0, short_wait_ms, NULL));
    check_event(queue, MORTISE_EVENT_ACQUIRED, 0, MORTISE_TIMED_OUT);
  }
  CHECK_NUMBER(before, server_number(server, pubsub_calls));
  mortise_lock_free(taken);
  end_process(&rival);
  mortise_lock_free(other);
  mortise_lock_free(held);
  mortise_queue_free(queue);
}

static void a_wrong_number_is_refused(void) {
  mortise_lock *lock = open_lock(client, "lock");
  mortise_error *error = mortise_error_new();
  mortise_lock_set_task(lock, -1, error);
  CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT,
              "task: -1 is out of range; give 0 to 9223372036854775807");
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_lock_set_task(NULL, 1, error));
  CHECK_STATUS(MORTISE_OK, mortise_lock_set_task(lock, INT64_MAX, error));
  mortise_error_free(error);
  mortise_lock_free(lock);
}

static void a_freed_client_has_no_tasks(void) {
  mortise_client *other = open_client(server);
  mortise_lock *lock = open_lock(other, "lock");
  mortise_multi *multi = mortise_multi_new(other, NULL);
  mortise_client_free(other);
  CHECK_STATUS(MORTISE_CLOSED, mortise_lock_set_task(lock, 1, NULL));
  CHECK_STATUS(MORTISE_CLOSED, mortise_multi_set_task(multi, 1, NULL));
  mortise_multi_free(multi);
  mortise_lock_free(lock);
}

int main(void) {
  server = server_start(NULL);
  client = open_client(server);
  failing = options_with(MORTISE_OPTION_DEADLOCK, "fail");
  RUN(the_younger_of_two_waits_fails);
  RUN(tasks_of_one_thread_are_different);
  RUN(a_blocking_call_belongs_to_the_task);
  RUN(a_multi_of_a_task_fails_and_holds_nothing);
  RUN(each_kind_has_tasks);
  RUN(short_waits_look_for_nothing);
  RUN(a_wrong_number_is_refused);
  RUN(a_freed_client_has_no_tasks);
  mortise_options_free(failing);
  mortise_client_free(client);
  server_free(server);
  return 0;
}
