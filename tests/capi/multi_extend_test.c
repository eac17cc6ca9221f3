/* Extending the hold of a multi: all of it, or a message that names the failing member. */
#include "fixture.h"

#include <stdatomic.h>
#include <unistd.h>

static test_server *server;
static mortise_client *client;
static mortise_error *error;
static mortise_queue *queue;
static mortise_event *event;

/* Three members whose names are in this order. Their holds are not renewed, and last 20 s. */
struct set {
  mortise_lock *first;
  mortise_rw *second;
  mortise_semaphore *third;
  mortise_multi *multi;
};

static struct set open_set_of(mortise_client *of) {
  mortise_options *options = options_with("renewal", "off");
  set_option(options, "lease", "20s");
  struct set set = {
      open_lock_with(of, "1lock", options), mortise_rw_new(of, "2rw", 3, options, NULL),
      mortise_semaphore_new(of, "3semaphore", 10, 3, options, NULL), mortise_multi_new(of, NULL)};
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(set.multi, set.first, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_reader(set.multi, set.second, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_semaphore(set.multi, set.third, 2, NULL));
  mortise_options_free(options);
  return set;
}

static struct set hold_set(void) {
  struct set set = open_set_of(client);
  CHECK_STATUS(MORTISE_OK, mortise_multi_acquire(set.multi, patience_ms, NULL));
  CHECK(mortise_multi_valid_ms(set.multi) <= 20000);
  return set;
}

static void close_set(struct set *set) {
  mortise_multi_free(set->multi);
  mortise_lock_free(set->first);
  mortise_rw_free(set->second);
  mortise_semaphore_free(set->third);
}

static void check_all_valid(const struct set *set, int64_t at_least_ms, int64_t at_most_ms) {
  const int64_t valid_ms[] = {mortise_lock_valid_ms(set->first), mortise_rw_valid_ms(set->second),
                              mortise_semaphore_valid_ms(set->third)};
  for (int i = 0; i < 3; ++i) CHECK(valid_ms[i] >= at_least_ms && valid_ms[i] <= at_most_ms);
}

static void every_member_is_extended(void) {
  struct set set = hold_set();
  CHECK_STATUS(MORTISE_OK, mortise_multi_extend(set.multi, 100000, error));
  check_all_valid(&set, 70000, 100000);
  CHECK(mortise_multi_valid_ms(set.multi) >= 70000);
  CHECK(server_number(server, "PTTL {mortise:1lock}") >= 70000);
  /* A member's own lease is shorter than the rest, which stays. */
  CHECK_STATUS(MORTISE_OK, mortise_multi_extend(set.multi, 0, error));
  check_all_valid(&set, 50000, 100000);
  CHECK_STATUS(MORTISE_OK, mortise_multi_extend_async(set.multi, queue, 5, 200000, error));
  check_next_event(queue, event, MORTISE_EVENT_EXTENDED, 5, MORTISE_OK);
  check_all_valid(&set, 170000, 200000);
  CHECK_STATUS(MORTISE_OK, mortise_multi_unlock(set.multi, error));
  CHECK_NUMBER(0, server_number(server, "EXISTS {mortise:1lock} {mortise:2rw}"));
  close_set(&set);
}

static void what_is_not_held_is_not_extended(void) {
  struct set set = open_set_of(client);
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_multi_extend(set.multi, 0, error));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_multi_extend_async(set.multi, queue, 1, 0, error));
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_multi_extend(set.multi, 49, error));
  CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, "lease_ms: 49");
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT,
               mortise_multi_extend_async(set.multi, queue, 1, -1, error));
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_multi_extend_async(set.multi, NULL, 1, 0, error));
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_multi_extend(NULL, 0, error));

  mortise_lock *in_the_way = open_lock(client, "1lock");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(in_the_way, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_acquire_async(set.multi, queue, 2, patience_ms, NULL));
  CHECK_STATUS(MORTISE_BUSY, mortise_multi_extend(set.multi, 0, error));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(in_the_way, NULL));
  check_next_event(queue, event, MORTISE_EVENT_ACQUIRED, 2, MORTISE_OK);
  CHECK_STATUS(MORTISE_OK, mortise_multi_extend(set.multi, 0, error));

  /* A member that was given back by itself. */
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(set.second, NULL));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_multi_extend(set.multi, 100000, error));
  CHECK_ERROR(error, MORTISE_NOT_OWNER, "\"2rw\": ");
  CHECK(mortise_lock_valid_ms(set.first) <= 20000);
  /* Or is held again, by itself. */
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_try(set.second, NULL));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_multi_extend(set.multi, 100000, error));
  CHECK_ERROR(error, MORTISE_NOT_OWNER, "\"2rw\": its hold of this multi ended");
  CHECK(mortise_rw_valid_ms(set.second) <= 20000);
  mortise_lock_free(in_the_way);
  close_set(&set);
}

/* A lost member keeps the rest from being extended. The rest is held until the unlock. */
static void a_lost_member_is_named_and_nothing_is_extended(void) {
  struct set set = open_set_of(client);
  mortise_options *brief = options_with("renewal", "off");
  set_option(brief, "lease", "300ms");
  mortise_lock *lapsing = open_lock_with(client, "9lapsing", brief);
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(set.multi, lapsing, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_acquire(set.multi, patience_ms, NULL));
  wait_until_not_held(lapsing);
  CHECK_STATUS(MORTISE_LOST, mortise_multi_extend(set.multi, 100000, error));
  CHECK_ERROR(error, MORTISE_LOST, "\"9lapsing\": ");
  CHECK_NUMBER(MORTISE_REASON_EXPIRED, mortise_error_reason(error));
  check_all_valid(&set, 1, 20000);
  CHECK_STATUS(MORTISE_OK, mortise_multi_extend_async(set.multi, queue, 3, 100000, NULL));
  check_next_event(queue, event, MORTISE_EVENT_EXTENDED, 3, MORTISE_LOST);
  CHECK_CONTAINS(mortise_event_message(event), "\"9lapsing\": ");
  CHECK_NUMBER(MORTISE_REASON_EXPIRED, mortise_event_reason(event));
  check_all_valid(&set, 1, 20000);
  CHECK_NUMBER(0, mortise_multi_valid_ms(set.multi));
  CHECK_STATUS(MORTISE_LOST, mortise_multi_unlock(set.multi, error));
  CHECK_ERROR(error, MORTISE_LOST, "\"9lapsing\": ");
  CHECK_NUMBER(0, mortise_lock_is_held(set.first));
  mortise_options_free(brief);
  close_set(&set);
  mortise_lock_free(lapsing);
}

/* Only the server knows it: the others have been asked by then. */
static void a_member_that_the_server_lost_is_named(void) {
  struct set set = hold_set();
  CHECK_NUMBER(1, server_number(server, "DEL {mortise:2rw}"));
  CHECK_STATUS(MORTISE_LOST, mortise_multi_extend(set.multi, 100000, error));
  CHECK_ERROR(error, MORTISE_LOST, "\"2rw\": ");
  CHECK_NUMBER(MORTISE_REASON_SERVER_LOST, mortise_error_reason(error));
  CHECK_NUMBER(0, mortise_multi_is_held(set.multi));
  CHECK_NUMBER(1, mortise_lock_is_held(set.first));
  CHECK_NUMBER(1, mortise_semaphore_is_held(set.third));
  CHECK_STATUS(MORTISE_LOST, mortise_multi_unlock(set.multi, error));
  CHECK_ERROR(error, MORTISE_LOST, "\"2rw\": ");
  CHECK_NUMBER(0, mortise_lock_is_held(set.first));
  CHECK_NUMBER(0, mortise_semaphore_is_held(set.third));
  close_set(&set);
}

/* A loss is reported before other failures, which come first here. */
static void a_loss_is_reported_first(void) {
  struct set set = hold_set();
  CHECK_NUMBER(1, server_number(server, "DEL {mortise:1lock}"));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(set.second, NULL));
  CHECK_STATUS(MORTISE_LOST, mortise_multi_unlock(set.multi, error));
  CHECK_ERROR(error, MORTISE_LOST, "\"1lock\": ");
  close_set(&set);
}

/* Without a reply the old end stands, and the multi still has to be unlocked. */
static void a_silent_server_leaves_the_old_end(void) {
  mortise_client *quick = open_quick_client(server, 3000);
  struct set set = open_set_of(quick);
  CHECK_STATUS(MORTISE_OK, mortise_multi_acquire(set.multi, patience_ms, NULL));
  server_pause(server);
  CHECK_STATUS(MORTISE_UNKNOWN, mortise_multi_extend(set.multi, 100000, error));
  CHECK_CONTAINS(mortise_error_message(error), "\": the server did not answer in time");
  CHECK_NUMBER(1, mortise_error_is_ambiguous(error));
  check_all_valid(&set, 1, 20000);
  CHECK_NUMBER(1, mortise_multi_is_held(set.multi));
  server_resume(server);
  wait_for_ping(quick, MORTISE_OK);
  CHECK_STATUS(MORTISE_OK, mortise_multi_extend(set.multi, 200000, error));
  check_all_valid(&set, 170000, 200000);
  CHECK_STATUS(MORTISE_OK, mortise_multi_unlock(set.multi, error));
  close_set(&set);
  mortise_client_free(quick);
}

/* One watch for all: the tag is the multi's, the name and the token are the member's. */
static void a_watch_tells_which_member_is_lost(void) {
  struct set set = open_set_of(client);
  CHECK_STATUS(MORTISE_OK, mortise_multi_watch(set.multi, queue, 11, error));
  CHECK_STATUS(MORTISE_OK, mortise_multi_acquire(set.multi, patience_ms, NULL));
  CHECK_NUMBER(1, server_number(server, "DEL {mortise:2rw}"));
  CHECK_STATUS(MORTISE_LOST, mortise_multi_extend(set.multi, 0, error));
  CHECK(strcmp(mortise_error_lock_name(error, NULL), "2rw") == 0);
  const mortise_kind kinds[] = {MORTISE_EVENT_AT_RISK, MORTISE_EVENT_LOST};
  for (int i = 0; i < 2; ++i) {
    check_next_event(queue, event, kinds[i], 11, i == 0 ? MORTISE_OK : MORTISE_LOST);
    CHECK(strcmp(mortise_event_lock_name(event, NULL), "2rw") == 0);
    CHECK_CONTAINS(mortise_event_message(event), "\"2rw\": ");
    CHECK_NUMBER(mortise_rw_token(set.second), mortise_event_token(event));
    CHECK_NUMBER(MORTISE_REASON_SERVER_LOST, mortise_event_reason(event));
  }
  CHECK_STATUS(MORTISE_LOST, mortise_multi_unlock(set.multi, NULL));
  /* No longer. */
  CHECK_STATUS(MORTISE_OK, mortise_multi_watch(set.multi, NULL, 0, error));
  CHECK_STATUS(MORTISE_OK, mortise_multi_acquire(set.multi, patience_ms, NULL));
  CHECK_NUMBER(1, server_number(server, "DEL {mortise:1lock}"));
  CHECK_STATUS(MORTISE_LOST, mortise_multi_extend(set.multi, 0, error));
  CHECK_STATUS(MORTISE_LOST, mortise_multi_unlock(set.multi, NULL));
  CHECK_STATUS(MORTISE_TIMED_OUT, mortise_queue_next(queue, 0, event, NULL));
  close_set(&set);
}

/* Room for two of three: none is watched, and the room is there again. */
static void a_watch_is_of_all_members_or_none(void) {
  struct set set = open_set_of(client);
  mortise_queue *narrow = mortise_queue_new(client, 2, NULL);
  CHECK_STATUS(MORTISE_LIMIT, mortise_multi_watch(set.multi, narrow, 1, error));
  CHECK_ERROR(error, MORTISE_LIMIT, "multi of \"1lock\", \"2rw\", \"3semaphore\": ");
  mortise_lock *others[2];
  for (int i = 0; i < 2; ++i) {
    others[i] = open_lock(client, "other");
    CHECK_STATUS(MORTISE_OK, mortise_lock_watch(others[i], narrow, i, error));
  }
  mortise_multi *empty = mortise_multi_new(client, NULL);
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_multi_watch(empty, narrow, 1, error));
  CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, "multi: has no members");
  CHECK_STATUS(MORTISE_OK, mortise_multi_watch(empty, NULL, 1, error));
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_multi_watch(NULL, narrow, 1, error));
  mortise_queue_shutdown(narrow);
  CHECK_STATUS(MORTISE_SHUT_DOWN, mortise_multi_watch(set.multi, narrow, 1, error));
  mortise_multi_free(empty);
  for (int i = 0; i < 2; ++i) mortise_lock_free(others[i]);
  close_set(&set);
  mortise_queue_free(narrow);
}

/* Several at once, and the end of the hold: every call has its one end. */
static void an_unlock_ends_the_extensions_at_work(void) {
  struct set set = hold_set();
  server_pause(server);
  CHECK_STATUS(MORTISE_OK, mortise_multi_extend_async(set.multi, queue, 1, 100000, error));
  CHECK_STATUS(MORTISE_OK, mortise_multi_extend_async(set.multi, queue, 2, 200000, error));
  CHECK_STATUS(MORTISE_OK, mortise_multi_unlock_async(set.multi, queue, 3, error));
  CHECK_STATUS(MORTISE_BUSY, mortise_multi_extend(set.multi, 100000, error));
  check_next_event(queue, event, MORTISE_EVENT_EXTENDED, 1, MORTISE_NOT_OWNER);
  CHECK_CONTAINS(mortise_event_message(event), "\": the hold was unlocked meanwhile");
  check_next_event(queue, event, MORTISE_EVENT_EXTENDED, 2, MORTISE_NOT_OWNER);
  server_resume(server);
  check_next_event(queue, event, MORTISE_EVENT_UNLOCKED, 3, MORTISE_OK);
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_multi_extend(set.multi, 0, error));
  CHECK_STATUS(MORTISE_OK, mortise_multi_try(set.multi, error));
  CHECK_STATUS(MORTISE_OK, mortise_multi_extend(set.multi, 0, error));
  close_set(&set);
}

/* Neither a cancel nor an interrupt is about it. */
static void only_an_acquire_is_cancelled(void) {
  struct set set = hold_set();
  server_pause(server);
  CHECK_STATUS(MORTISE_OK, mortise_multi_extend_async(set.multi, queue, 1, 100000, error));
  CHECK_STATUS(MORTISE_NOT_WAITING, mortise_multi_cancel(set.multi, error));
  CHECK_STATUS(MORTISE_OK, mortise_multi_interrupt(set.multi, 1, error));
  server_resume(server);
  check_next_event(queue, event, MORTISE_EVENT_EXTENDED, 1, MORTISE_OK);
  check_all_valid(&set, 70000, 100000);
  close_set(&set);
}

static void freeing_ends_an_extension(void) {
  struct set set = hold_set();
  server_pause(server);
  CHECK_STATUS(MORTISE_OK, mortise_multi_extend_async(set.multi, queue, 1, 100000, error));
  mortise_multi_free(set.multi);
  set.multi = NULL;
  check_next_event(queue, event, MORTISE_EVENT_EXTENDED, 1, MORTISE_CLOSED);
  CHECK_CONTAINS(mortise_event_message(event), "multi of \"1lock\", \"2rw\", \"3semaphore\": ");
  server_resume(server);
  CHECK_NUMBER(0, mortise_lock_is_held(set.first));
  server_wait_for_exactly(server, "EXISTS {mortise:1lock} {mortise:2rw}", 0);
  close_set(&set);

  mortise_client *short_lived = open_client(server);
  set = open_set_of(short_lived);
  CHECK_STATUS(MORTISE_OK, mortise_multi_acquire(set.multi, patience_ms, NULL));
  server_pause(server);
  CHECK_STATUS(MORTISE_OK, mortise_multi_extend_async(set.multi, queue, 2, 100000, error));
  mortise_client_free(short_lived);
  check_next_event(queue, event, MORTISE_EVENT_EXTENDED, 2, MORTISE_CLOSED);
  server_resume(server);
  CHECK_STATUS(MORTISE_CLOSED, mortise_multi_extend(set.multi, 0, error));
  close_set(&set);
}

/* A heartbeat in another thread than the one that acquires and unlocks. */
struct heartbeat {
  mortise_multi *multi;
  atomic_int is_over;
  atomic_int extended;
};

static void *beat(void *given) {
  struct heartbeat *heartbeat = given;
  while (!atomic_load(&heartbeat->is_over)) {
    const mortise_status status = mortise_multi_extend(heartbeat->multi, 0, NULL);
    CHECK(status == MORTISE_OK || status == MORTISE_NOT_OWNER || status == MORTISE_BUSY);
    if (status == MORTISE_OK) atomic_fetch_add(&heartbeat->extended, 1);
  }
  return NULL;
}

static void another_thread_extends(void) {
  struct set set = open_set_of(client);
  struct heartbeat heartbeat = {set.multi, 0, 0};
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, beat, &heartbeat) == 0);
  for (int i = 0; i < 300; ++i) {
    CHECK_STATUS(MORTISE_OK, mortise_multi_acquire(set.multi, patience_ms, error));
    CHECK_STATUS(MORTISE_OK, mortise_multi_unlock(set.multi, error));
  }
  CHECK_STATUS(MORTISE_OK, mortise_multi_acquire(set.multi, patience_ms, error));
  CHECK_STATUS(MORTISE_OK, mortise_multi_extend(set.multi, 0, error));
  atomic_store(&heartbeat.extended, 0);
  const int64_t begin = now_ms();
  while (atomic_load(&heartbeat.extended) == 0) CHECK(now_ms() - begin < patience_ms);
  atomic_store(&heartbeat.is_over, 1);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_STATUS(MORTISE_OK, mortise_multi_unlock(set.multi, error));
  CHECK_NUMBER(0, server_number(server, "EXISTS {mortise:1lock} {mortise:2rw}"));
  close_set(&set);
}

/* Both ends come 3.1 s after the grant without progress. Work that has lost one lock stops. */
static void a_lost_member_ends_the_reports_of_progress(void) {
  mortise_options *options = options_with("progress", "100ms");
  set_option(options, "lease", "3s");
  mortise_lock *kept = open_lock_with(client, "kept", options);
  mortise_lock *gone = open_lock_with(client, "missing", options);
  mortise_multi *multi = mortise_multi_new(client, NULL);
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(multi, kept, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(multi, gone, NULL));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_multi_progress(multi, error));
  CHECK_STATUS(MORTISE_OK, mortise_multi_acquire(multi, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_progress(multi, error));
  CHECK_NUMBER(1, server_number(server, "DEL {mortise:missing}"));
  while (mortise_lock_is_held(gone)) usleep(10000);
  usleep(300000); /* until the last renewal of the other member is confirmed */
  const int64_t deadline_ns = mortise_lock_deadline_ns(kept);
  CHECK_STATUS(MORTISE_LOST, mortise_multi_progress(multi, error));
  CHECK_CONTAINS(mortise_error_message(error), "missing");
  usleep(300000);
  CHECK_NUMBER(deadline_ns, mortise_lock_deadline_ns(kept));
  mortise_multi_free(multi);
  mortise_lock_free(gone);
  mortise_lock_free(kept);
  mortise_options_free(options);
}

/* The last member is awaited for longer than the 3.1 s that the first two last without progress. */
static void progress_counts_from_the_grant_of_all_members(void) {
  mortise_client *other = open_client(server);
  mortise_options *unrenewed = options_with("renewal", "off");
  set_option(unrenewed, "lease", "7s");
  mortise_lock *taken = open_lock_with(other, "3taken", unrenewed);
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(taken, NULL));
  mortise_options *options = options_with("progress", "100ms");
  set_option(options, "lease", "3s");
  set_option(options, "max_hold", "unlimited");
  mortise_lock *first = open_lock_with(client, "1free", options);
  mortise_rw *second = open_rw_with(client, "2free", options);
  mortise_lock *last = open_lock_with(client, "3taken", options);
  mortise_multi *multi = mortise_multi_new(client, NULL);
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(multi, first, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_reader(multi, second, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(multi, last, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_acquire(multi, patience_ms, error));
  /* From now on each of them needs a report. */
  const int64_t begin_ms = now_ms();
  while (mortise_lock_is_held(first) || mortise_rw_is_reading(second)) {
    CHECK(now_ms() - begin_ms < patience_ms);
    usleep(10000);
  }
  CHECK_STATUS(MORTISE_LOST, mortise_multi_progress(multi, error));
  CHECK_NUMBER(MORTISE_REASON_STALLED, mortise_error_reason(error));
  mortise_multi_free(multi);
  mortise_lock_free(last);
  mortise_rw_free(second);
  mortise_lock_free(first);
  mortise_options_free(options);
  mortise_lock_free(taken);
  mortise_options_free(unrenewed);
  mortise_client_free(other);
}

int main(void) {
  server = server_start(NULL);
  client = open_client(server);
  error = mortise_error_new();
  queue = mortise_queue_new(client, 0, NULL);
  event = mortise_event_new();
  RUN(every_member_is_extended);
  RUN(what_is_not_held_is_not_extended);
  RUN(a_lost_member_is_named_and_nothing_is_extended);
  RUN(a_member_that_the_server_lost_is_named);
  RUN(a_loss_is_reported_first);
  RUN(a_silent_server_leaves_the_old_end);
  RUN(a_watch_tells_which_member_is_lost);
  RUN(a_watch_is_of_all_members_or_none);
  RUN(an_unlock_ends_the_extensions_at_work);
  RUN(only_an_acquire_is_cancelled);
  RUN(freeing_ends_an_extension);
  RUN(another_thread_extends);
  RUN(a_lost_member_ends_the_reports_of_progress);
  RUN(progress_counts_from_the_grant_of_all_members);
  mortise_event_free(event);
  mortise_queue_free(queue);
  mortise_error_free(error);
  mortise_client_free(client);
  server_free(server);
  return 0;
}
