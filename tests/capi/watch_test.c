/* Losses are queued as events, each after its risk, and never dropped. */
#include "fixture.h"

static test_server *server;
static mortise_client *client;

static mortise_lock *open_leased(const char *name, const char *lease, const char *renewal) {
  mortise_options *options = options_with("lease", lease);
  set_option(options, "renewal", renewal);
  mortise_lock *lock = open_lock_with(client, name, options);
  mortise_options_free(options);
  return lock;
}

static mortise_lock *open_short(const char *name, const char *renewal) {
  return open_leased(name, "600ms", renewal);
}

static void check_notice(mortise_queue *queue, mortise_kind kind, int64_t tag, int64_t token) {
  mortise_event *event = mortise_event_new();
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_NUMBER(kind, mortise_event_kind(event));
  CHECK_NUMBER(tag, mortise_event_tag(event));
  CHECK_NUMBER(token, mortise_event_token(event));
  CHECK_STATUS(kind == MORTISE_EVENT_LOST ? MORTISE_LOST : MORTISE_OK, mortise_event_status(event));
  mortise_event_free(event);
}

/* Another program deletes or overwrites the key: the next renewal finds out. */
static void a_deleted_hold_is_reported(void) {
  mortise_queue *queue = open_queue(client, 0);
  const char *const harm[] = {"DEL {mortise:taken}", "SET {mortise:taken} other PX 500"};
  for (int i = 0; i < 2; ++i) {
    mortise_lock *lock = open_short("taken", "on");
    CHECK_STATUS(MORTISE_OK, mortise_lock_watch(lock, queue, 40 + i, NULL));
    CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lock, patience_ms, NULL));
    const int64_t token = mortise_lock_token(lock);
    server_command(server, harm[i]);
    check_notice(queue, MORTISE_EVENT_AT_RISK, 40 + i, token);
    check_notice(queue, MORTISE_EVENT_LOST, 40 + i, token);
    CHECK_NUMBER(0, mortise_lock_is_held(lock));
    CHECK_STATUS(MORTISE_LOST, mortise_lock_unlock(lock, NULL));
    mortise_lock_free(lock);
    check_quiet(queue);
  }
  server_wait_for_exactly(server, "EXISTS {mortise:taken}", 0);
  mortise_queue_free(queue);
}

static mortise_client *open_watched(mortise_queue **queue, mortise_log_level level) {
  mortise_client *watched = open_client(server);
  *queue = open_queue(watched, 1);
  CHECK_STATUS(MORTISE_OK, mortise_client_watch_log(watched, *queue, 9, level, NULL));
  return watched;
}

static void check_line(mortise_queue *queue, mortise_log_subject subject, mortise_log_level level,
                       mortise_status status) {
  mortise_event *event = mortise_event_new();
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_NUMBER(MORTISE_EVENT_LOG, mortise_event_kind(event));
  CHECK_NUMBER(9, mortise_event_tag(event));
  CHECK_NUMBER(subject, mortise_event_log_subject(event));
  CHECK_NUMBER(level, mortise_event_log_level(event));
  CHECK_NUMBER(0, mortise_event_dropped_records(event));
  CHECK_STATUS(status, mortise_event_status(event));
  CHECK(mortise_event_message(event)[0] != '\0');
  mortise_event_free(event);
}

/* It takes no room: the queue has none left for it. */
static void a_log_tells_of_the_server_and_of_losses(void) {
  mortise_queue *queue = NULL;
  mortise_client *watched = open_watched(&queue, MORTISE_LOG_LEVEL_INFO);
  mortise_options *options = options_with("lease", "1h");
  mortise_lock *lock = open_lock_with(watched, "logged", options);
  CHECK_STATUS(MORTISE_OK, mortise_lock_try_async(lock, queue, 1, NULL));
  mortise_event *event = mortise_event_new();
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(lock, queue, 2, NULL));
  CHECK_NUMBER(MORTISE_LOG_NONE, mortise_event_log_subject(event));
  CHECK_NUMBER(MORTISE_LOG_LEVEL_NONE, mortise_event_log_level(event));
  server_kill(server);
  check_line(queue, MORTISE_LOG_DISCONNECTED, MORTISE_LOG_LEVEL_WARNING, MORTISE_UNREACHABLE);
  check_line(queue, MORTISE_LOG_UNREACHABLE, MORTISE_LOG_LEVEL_WARNING, MORTISE_UNREACHABLE);
  server_restart(server);
  int is_lost = 0, is_line_of_it = 0, is_back = 0;
  while (!is_lost || !is_line_of_it || !is_back) {
    CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
    const mortise_log_subject subject = mortise_event_log_subject(event);
    if (mortise_event_kind(event) == MORTISE_EVENT_LOST) is_lost = 1;
    if (subject == MORTISE_LOG_RECONNECTED) is_back = 1;
    if (subject != MORTISE_LOG_LOST) continue;
    is_line_of_it = 1;
    CHECK_NUMBER(MORTISE_REASON_SERVER_LOST, mortise_event_reason(event));
    CHECK(strcmp("logged", mortise_event_lock_name(event, NULL)) == 0);
    CHECK_STATUS(MORTISE_LOST, mortise_event_status(event));
  }
  CHECK_STATUS(MORTISE_LOST, mortise_lock_unlock(lock, NULL));
  mortise_event_free(event);
  mortise_lock_free(lock);
  mortise_options_free(options);
  mortise_queue_free(queue);
  mortise_client_free(watched);
}

/* A queue and a client that keep each other would never be freed. The leak checker sees them. */
static void a_watch_of_a_client_ends_with_it_or_with_its_queue(void) {
  mortise_queue *queue = NULL;
  mortise_client *watched = open_watched(&queue, MORTISE_LOG_LEVEL_INFO);
  CHECK_STATUS(MORTISE_OK, mortise_client_watch_stats(watched, queue, 4, 10, NULL));
  mortise_queue_free(queue);
  CHECK_STATUS(MORTISE_OK, mortise_client_ping(watched, NULL));
  queue = open_queue(watched, 1);
  CHECK_STATUS(MORTISE_OK,
               mortise_client_watch_log(watched, queue, 3, MORTISE_LOG_LEVEL_INFO, NULL));
  mortise_queue_shutdown(queue);
  CHECK_STATUS(MORTISE_SHUT_DOWN,
               mortise_client_watch_log(watched, queue, 3, MORTISE_LOG_LEVEL_INFO, NULL));
  CHECK_STATUS(MORTISE_SHUT_DOWN, mortise_client_watch_stats(watched, queue, 3, 10, NULL));
  mortise_queue_free(queue);
  mortise_client_free(watched);
}

static void statistics_are_due_until_nobody_wants_them(void) {
  mortise_queue *queue = open_queue(client, 1);
  mortise_event *event = mortise_event_new();
  CHECK_STATUS(MORTISE_OK, mortise_client_watch_stats(client, queue, 6, 10, NULL));
  for (int i = 0; i < 3; ++i) {
    CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
    CHECK_NUMBER(MORTISE_EVENT_STATS, mortise_event_kind(event));
    CHECK_NUMBER(6, mortise_event_tag(event));
    CHECK_STATUS(MORTISE_OK, mortise_event_status(event));
  }
  CHECK_STATUS(MORTISE_OK, mortise_client_watch_stats(client, NULL, 0, 0, NULL));
  (void)mortise_queue_next(queue, 0, event, NULL); /* one that was due before */
  CHECK_STATUS(MORTISE_TIMED_OUT, mortise_queue_next(queue, 60, event, NULL));
  mortise_event_free(event);
  mortise_queue_free(queue);
}

static void a_watch_of_a_client_is_refused_with_words(void) {
  mortise_queue *queue = open_queue(client, 1);
  mortise_error *error = mortise_error_new();
  const mortise_log_level levels[] = {MORTISE_LOG_LEVEL_NONE, MORTISE_LOG_LEVEL_INFO + 1, -1};
  for (int i = 0; i < 3; ++i) {
    CHECK_STATUS(MORTISE_INVALID_ARGUMENT,
                 mortise_client_watch_log(client, queue, 0, levels[i], error));
    CHECK(strstr(mortise_error_message(error), "level") != NULL);
  }
  const int64_t intervals[] = {0, 9, -1, MORTISE_MAX_MS + 1};
  for (int i = 0; i < 4; ++i) {
    CHECK_STATUS(MORTISE_INVALID_ARGUMENT,
                 mortise_client_watch_stats(client, queue, 0, intervals[i], error));
    CHECK(strstr(mortise_error_message(error), "interval_ms") != NULL);
  }
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT,
               mortise_client_watch_log(NULL, queue, 0, MORTISE_LOG_LEVEL_INFO, error));
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_client_watch_stats(NULL, queue, 0, 10, error));
  CHECK_NUMBER(MORTISE_LOG_NONE, mortise_event_log_subject(NULL));
  CHECK_NUMBER(MORTISE_LOG_LEVEL_NONE, mortise_event_log_level(NULL));
  CHECK_NUMBER(0, mortise_event_dropped_records(NULL));
  CHECK(strcmp("warning", mortise_log_level_text(MORTISE_LOG_LEVEL_WARNING)) == 0);
  CHECK(strcmp("unknown", mortise_log_level_text(77)) == 0);
  CHECK(strcmp("redirected", mortise_log_subject_text(MORTISE_LOG_REDIRECTED)) == 0);
  CHECK(strcmp("unknown", mortise_log_subject_text(-1)) == 0);
  mortise_error_free(error);
  mortise_queue_free(queue);
}

/* A server that was started again has nothing of it, and is asked at the reconnect. */
static void a_hold_that_its_server_has_lost_is_reported_at_the_reconnect(void) {
  mortise_queue *queue = open_queue(client, 0);
  mortise_options *options = options_with("lease", "1h");
  set_option(options, "renewal", "off");
  mortise_lock *lock = open_lock_with(client, "forgotten", options);
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(lock, queue, 3, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  const int64_t token = mortise_lock_token(lock);
  server_kill(server);
  server_restart(server);
  check_notice(queue, MORTISE_EVENT_AT_RISK, 3, token);
  check_notice(queue, MORTISE_EVENT_LOST, 3, token);
  CHECK_STATUS(MORTISE_LOST, mortise_lock_unlock(lock, NULL));
  mortise_options_free(options);
  mortise_lock_free(lock);
  mortise_queue_free(queue);
}

/* A connection that breaks costs a hold nothing that is not renewed either. */
static void a_hold_that_is_not_renewed_survives_a_reconnect(void) {
  mortise_queue *queue = open_queue(client, 0);
  mortise_options *options = options_with("lease", "1h");
  set_option(options, "renewal", "off");
  mortise_lock *lock = open_lock_with(client, "kept", options);
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(lock, queue, 4, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  const int64_t valid_ms = mortise_lock_valid_ms(lock);
  CHECK(server_number(server, "CLIENT KILL TYPE pubsub SKIPME yes") >= 1);
  while (mortise_client_ping(client, NULL) != MORTISE_OK) poll(NULL, 0, 10);
  CHECK_STATUS(MORTISE_OK, mortise_lock_extend(lock, 3600 * 1000, NULL)); /* behind the request */
  CHECK(mortise_lock_valid_ms(lock) >= valid_ms - patience_ms);
  CHECK(server_number(server, "PTTL {mortise:kept}") > valid_ms);
  check_quiet(queue);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  mortise_options_free(options);
  mortise_lock_free(lock);
  mortise_queue_free(queue);
}

/* The server hangs: first the risk is reported, then the loss. */
static void a_hold_that_cannot_be_renewed_is_reported_twice(void) {
  mortise_queue *queue = open_queue(client, 0);
  mortise_lock *lock = open_short("hang", "on");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(lock, queue, 1, NULL));
  const int64_t token = mortise_lock_token(lock);
  server_pause(server);
  check_notice(queue, MORTISE_EVENT_AT_RISK, 1, token);
  check_notice(queue, MORTISE_EVENT_LOST, 1, token);
  server_resume(server);
  CHECK_STATUS(MORTISE_LOST, mortise_lock_unlock(lock, NULL));
  mortise_lock_free(lock);
  mortise_queue_free(queue);
}

static void a_hold_without_renewal_ends_with_both(void) {
  mortise_queue *queue = open_queue(client, 0);
  mortise_lock *lock = open_short("single", "off");
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(lock, queue, 2, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  const int64_t token = mortise_lock_token(lock);
  check_notice(queue, MORTISE_EVENT_AT_RISK, 2, token);
  check_notice(queue, MORTISE_EVENT_LOST, 2, token);
  CHECK_STATUS(MORTISE_LOST, mortise_lock_unlock(lock, NULL));
  mortise_lock_free(lock);
  check_quiet(queue);
  mortise_queue_free(queue);
}

static void an_unlocked_or_renewed_hold_is_not_reported(void) {
  mortise_queue *queue = open_queue(client, 0);
  mortise_lock *renewed = open_short("renewed", "on");
  mortise_lock *unlocked = open_short("unlocked", "off");
  mortise_lock *clock = open_short("clock", "off");
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(renewed, queue, 1, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(unlocked, queue, 2, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(renewed, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(unlocked, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(unlocked, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(clock, NULL));
  wait_until_not_held(clock); /* a lease later than the others */
  check_quiet(queue);
  CHECK_NUMBER(1, mortise_lock_is_held(renewed));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(renewed, NULL));
  check_quiet(queue);
  mortise_lock_free(renewed);
  mortise_lock_free(unlocked);
  mortise_lock_free(clock);
  mortise_queue_free(queue);
}

static void a_watch_can_be_replaced_and_ended(void) {
  mortise_queue *first = open_queue(client, 1);
  mortise_queue *second = open_queue(client, 1);
  mortise_lock *lock = open_short("moved", "off");
  mortise_lock *other = open_short("second", "off");
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(lock, NULL, 0, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(lock, first, 1, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(lock, first, 2, NULL));
  CHECK_STATUS(MORTISE_LIMIT, mortise_lock_watch(other, first, 3, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(lock, second, 4, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(other, first, 5, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(other, NULL, 0, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(other, NULL));
  const int64_t token = mortise_lock_token(lock);
  check_notice(second, MORTISE_EVENT_AT_RISK, 4, token);
  check_notice(second, MORTISE_EVENT_LOST, 4, token);
  wait_until_not_held(other);
  check_quiet(first);
  mortise_lock_free(lock);
  mortise_lock_free(other);
  mortise_queue_free(first);
  mortise_queue_free(second);
}

/* A queue that is full of results still has room for the notices of what it watches. */
static void notices_are_never_dropped(void) {
  mortise_queue *queue = open_queue(client, 2);
  mortise_lock *watched = open_short("watched", "off");
  mortise_lock *filler = open_lock(client, "filler");
  mortise_event *event = mortise_event_new();
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(watched, queue, 1, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try_async(filler, queue, 2, NULL));
  CHECK_STATUS(MORTISE_LIMIT, mortise_lock_extend_async(filler, queue, 3, 0, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(watched, NULL));
  const int64_t token = mortise_lock_token(watched);
  wait_until_not_held(watched);
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_NUMBER(2, mortise_event_tag(event));
  check_notice(queue, MORTISE_EVENT_AT_RISK, 1, token);
  check_notice(queue, MORTISE_EVENT_LOST, 1, token);
  mortise_event_free(event);
  mortise_lock_free(watched);
  mortise_lock_free(filler);
  mortise_queue_free(queue);
}

/* Acquires and unlocks it when it is at risk. 0 if the machine was so slow that the hold was lost.
 */
static int is_held_until_at_risk(mortise_lock *lock, mortise_queue *to_see_it) {
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lock, patience_ms, NULL));
  struct pollfd seen = {mortise_queue_fd(to_see_it), POLLIN, 0};
  CHECK(poll(&seen, 1, patience_ms) == 1);
  while (mortise_lock_valid_ms(lock) > 300) poll(NULL, 0, 1);
  return mortise_lock_unlock(lock, NULL) == MORTISE_OK;
}

/* The risks of unlocked holds take no place, and would grow without limit if nobody reads. */
static void unread_risks_have_a_limit_and_a_loss_keeps_its_risk(void) {
  for (int is_done = 0; !is_done;) {
    mortise_queue *queue = open_queue(client, 1);
    mortise_lock *lock = open_leased("unread", "1s", "off");
    CHECK_STATUS(MORTISE_OK, mortise_lock_watch(lock, queue, 5, NULL));
    is_done = is_held_until_at_risk(lock, queue);
    const int64_t first = mortise_lock_token(lock);
    for (int i = 0; is_done && i < 2; ++i) is_done = is_held_until_at_risk(lock, queue);
    if (is_done) {
      CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lock, patience_ms, NULL));
      wait_until_not_held(lock);
      check_notice(queue, MORTISE_EVENT_AT_RISK, 5, first);
      check_notice(queue, MORTISE_EVENT_AT_RISK, 5, mortise_lock_token(lock));
      check_notice(queue, MORTISE_EVENT_LOST, 5, mortise_lock_token(lock));
      check_quiet(queue);
      CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lock, patience_ms, NULL));
      check_notice(queue, MORTISE_EVENT_AT_RISK, 5, mortise_lock_token(lock));
      check_notice(queue, MORTISE_EVENT_LOST, 5, mortise_lock_token(lock));
    }
    mortise_lock_free(lock);
    mortise_queue_free(queue);
  }
}

/* Each acquire arms the watch again, also one that ends in an event. */
static void every_hold_has_its_own_notices(void) {
  mortise_queue *queue = open_queue(client, 0);
  mortise_lock *lock = open_leased("again", "1s", "off");
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(lock, queue, 7, NULL));
  for (int round = 0; round < 4; ++round) {
    if (round % 2 == 0) CHECK_STATUS(MORTISE_OK, mortise_lock_try_async(lock, queue, 8, NULL));
    if (round % 2 == 1) {
      CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(lock, queue, 8, patience_ms, NULL));
    }
    mortise_event *event = mortise_event_new();
    CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
    CHECK_NUMBER(MORTISE_EVENT_ACQUIRED, mortise_event_kind(event));
    CHECK_STATUS(MORTISE_OK, mortise_event_status(event));
    const int64_t token = mortise_event_token(event);
    mortise_event_free(event);
    check_notice(queue, MORTISE_EVENT_AT_RISK, 7, token);
    check_notice(queue, MORTISE_EVENT_LOST, 7, token);
  }
  mortise_lock_free(lock);
  mortise_queue_free(queue);
}

static void every_hold_of_a_blocking_acquire_has_its_own_notices(void) {
  mortise_queue *queue = open_queue(client, 0);
  mortise_lock *lock = open_leased("blocking", "150ms", "off");
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(lock, queue, 9, NULL));
  for (int round = 0; round < 2; ++round) {
    CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lock, patience_ms, NULL));
    const int64_t token = mortise_lock_token(lock);
    check_notice(queue, MORTISE_EVENT_AT_RISK, 9, token);
    check_notice(queue, MORTISE_EVENT_LOST, 9, token);
  }
  mortise_lock_free(lock);
  mortise_queue_free(queue);
}

/* The handle is acquired again at the moment of the loss, which the acquire finds by itself then.
 */
static void a_loss_that_an_acquire_finds_is_reported_and_the_next_one_too(void) {
  mortise_queue *queue = open_queue(client, 0);
  mortise_lock *lock = open_leased("again", "200ms", "off");
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(lock, queue, 3, NULL));
  enum { holds = 40 };
  for (int i = 0; i < holds; ++i) {
    CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lock, patience_ms, NULL));
    while (mortise_lock_is_held(lock)) {
    }
  }
  mortise_event *event = mortise_event_new();
  for (int64_t number = 1; number <= holds;) {
    CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
    if (mortise_event_kind(event) != MORTISE_EVENT_LOST) continue;
    CHECK_NUMBER(number, mortise_event_hold_number(event));
    ++number;
  }
  mortise_event_free(event);
  mortise_lock_free(lock);
  mortise_queue_free(queue);
}

static void every_hold_of_a_multi_has_its_own_notices(void) {
  mortise_queue *queue = open_queue(client, 0);
  mortise_lock *lock = open_leased("member", "150ms", "off");
  mortise_multi *multi = mortise_multi_new(client, NULL);
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(multi, lock, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(lock, queue, 9, NULL));
  for (int round = 0; round < 2; ++round) {
    CHECK_STATUS(MORTISE_OK, mortise_multi_acquire(multi, patience_ms, NULL));
    const int64_t token = mortise_lock_token(lock);
    check_notice(queue, MORTISE_EVENT_AT_RISK, 9, token);
    check_notice(queue, MORTISE_EVENT_LOST, 9, token);
    CHECK_STATUS(MORTISE_LOST, mortise_multi_unlock(multi, NULL));
  }
  mortise_multi_free(multi);
  mortise_lock_free(lock);
  mortise_queue_free(queue);
}

static void a_freed_handle_leaves_its_place(void) {
  mortise_queue *queue = open_queue(client, 1);
  mortise_lock *other = open_lock(client, "other");
  for (int is_held = 0; is_held < 2; ++is_held) {
    mortise_lock *lock = open_lock(client, "gone");
    CHECK_STATUS(MORTISE_OK, mortise_lock_watch(lock, queue, 1, NULL));
    if (is_held) CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lock, patience_ms, NULL));
    CHECK_STATUS(MORTISE_LIMIT, mortise_lock_watch(other, queue, 2, NULL));
    mortise_lock_free(lock);
    CHECK_STATUS(MORTISE_OK, mortise_lock_watch(other, queue, 2, NULL));
    CHECK_STATUS(MORTISE_OK, mortise_lock_watch(other, NULL, 0, NULL));
  }
  check_quiet(queue);
  mortise_lock_free(other);
  mortise_queue_free(queue);
}

int main(void) {
  server = server_start(NULL);
  client = open_client(server);
  RUN(a_deleted_hold_is_reported);
  RUN(a_hold_that_its_server_has_lost_is_reported_at_the_reconnect);
  RUN(a_hold_that_is_not_renewed_survives_a_reconnect);
  RUN(a_hold_that_cannot_be_renewed_is_reported_twice);
  RUN(a_hold_without_renewal_ends_with_both);
  RUN(an_unlocked_or_renewed_hold_is_not_reported);
  RUN(a_watch_can_be_replaced_and_ended);
  RUN(notices_are_never_dropped);
  RUN(unread_risks_have_a_limit_and_a_loss_keeps_its_risk);
  RUN(every_hold_has_its_own_notices);
  RUN(every_hold_of_a_blocking_acquire_has_its_own_notices);
  RUN(a_loss_that_an_acquire_finds_is_reported_and_the_next_one_too);
  RUN(every_hold_of_a_multi_has_its_own_notices);
  RUN(a_freed_handle_leaves_its_place);
  RUN(a_log_tells_of_the_server_and_of_losses);
  RUN(a_watch_of_a_client_ends_with_it_or_with_its_queue);
  RUN(statistics_are_due_until_nobody_wants_them);
  RUN(a_watch_of_a_client_is_refused_with_words);
  mortise_client_free(client);
  server_free(server);
  return 0;
}
