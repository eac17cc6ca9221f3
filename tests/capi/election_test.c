/* Elections: one candidate leads, and observers are notified of the leader. */
#include "fixture.h"

#include <unistd.h>

static test_server *server;
static mortise_client *client;
static mortise_client *other;
static mortise_queue *queue;
static mortise_event *event;
static mortise_error *error;

static mortise_election *open_election_with(mortise_client *of, const char *name,
                                            const mortise_options *options) {
  mortise_election *election = mortise_election_new(of, name, strlen(name), options, error);
  if (election == NULL) check_failed(__FILE__, __LINE__, mortise_error_message(error));
  return election;
}

static mortise_election *open_election(mortise_client *of, const char *name) {
  return open_election_with(of, name, NULL);
}

/* The next event reports this leader, or with NULL that nobody leads. */
static void check_leader(mortise_queue *on, int64_t tag, const char *value) {
  const mortise_kind kind = value != NULL ? MORTISE_EVENT_LEADER : MORTISE_EVENT_NO_LEADER;
  mortise_info *info = mortise_info_new();
  check_next_event(on, event, kind, tag, MORTISE_OK);
  CHECK_NUMBER(0, mortise_event_token(event));
  CHECK_STATUS(MORTISE_OK, mortise_event_leader(event, info, error));
  CHECK_NUMBER(value != NULL, mortise_info_is_held(info));
  CHECK(strcmp(mortise_info_entry_value(info, 0), value != NULL ? value : "") == 0);
  mortise_info_free(info);
}

static void check_quiet_for(mortise_queue *on, int64_t for_ms) {
  CHECK_STATUS(MORTISE_TIMED_OUT, mortise_queue_next(on, for_ms, event, NULL));
}

static void observe(mortise_election *election, mortise_queue *on, int64_t tag,
                    int64_t interval_ms) {
  CHECK_STATUS(MORTISE_OK, mortise_election_observe(election, on, tag, interval_ms, error));
}

static void a_campaign_without_time_leads_only_if_nobody_leads(void) {
  mortise_election *one = open_election(client, "zero");
  mortise_election *two = open_election(other, "zero");
  CHECK_STATUS(MORTISE_OK, mortise_election_campaign(one, 0, error));
  CHECK_NUMBER(1, mortise_election_hold_number(one));
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_election_campaign(two, 0, error));
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_election_campaign(one, 0, error));
  CHECK_STATUS(MORTISE_OK, mortise_election_campaign_async(two, queue, 1, 0, error));
  check_next_event(queue, event, MORTISE_EVENT_ACQUIRED, 1, MORTISE_NOT_ACQUIRED);
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_election_resign(two, error));
  CHECK_STATUS(MORTISE_OK, mortise_election_resign_hold(one, 1, error));
  CHECK_STATUS(MORTISE_OK, mortise_election_campaign(two, 0, error));
  CHECK(mortise_election_token(two) > mortise_election_token(one));
  mortise_election_free(two);
  CHECK_STATUS(MORTISE_OK, mortise_election_campaign(one, patience_ms, error));
  mortise_election_free(one);
}

/* The options of the client do not count: an observer would miss a leader. */
static void a_leader_is_neither_reentrant_nor_retained_nor_passed_on(void) {
  mortise_options *options = options_with("retain", "5s");
  CHECK_STATUS(MORTISE_OK, mortise_options_set_reentrant(options, 1, NULL));
  mortise_election *one = open_election_with(client, "terms", options);
  mortise_election *two = open_election_with(client, "terms", options);
  mortise_options_free(options);
  mortise_queue *reports = open_queue(client, 0);
  observe(two, reports, 2, 10);
  check_leader(reports, 2, NULL);
  CHECK_STATUS(MORTISE_OK, mortise_election_campaign(one, patience_ms, error));
  check_leader(reports, 2, "");
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_election_campaign(one, patience_ms, error));
  CHECK_STATUS(MORTISE_OK, mortise_election_campaign_async(two, queue, 1, patience_ms, error));
  server_wait_for_exactly(server, "LLEN {mortise:terms}:q", 1);
  CHECK_STATUS(MORTISE_OK, mortise_election_resign(one, error));
  check_next_event(queue, event, MORTISE_EVENT_ACQUIRED, 1, MORTISE_OK);
  check_leader(reports, 2, "");
  mortise_info *info = mortise_info_new();
  CHECK_STATUS(MORTISE_OK, mortise_event_leader(event, info, error));
  CHECK_NUMBER(1, mortise_info_is_mine(info));
  mortise_info_free(info);
  CHECK_STATUS(MORTISE_OK, mortise_election_resign(two, error));
  CHECK_NUMBER(0, server_number(server, "EXISTS {mortise:terms}"));
  mortise_queue_free(reports);
  mortise_election_free(two);
  mortise_election_free(one);
}

/* Of another client, which no message reaches: only the queries of the observer see it. */
static void an_observer_sees_leaders_and_values_of_other_clients(void) {
  mortise_options *options = options_with("value", "from the option");
  mortise_election *candidate = open_election_with(other, "seen", options);
  mortise_options_free(options);
  mortise_election *observer = open_election(client, "seen");
  mortise_info *info = mortise_info_new();
  observe(observer, queue, 3, 20);
  check_leader(queue, 3, NULL);
  CHECK_STATUS(MORTISE_OK, mortise_election_campaign(candidate, patience_ms, error));
  do { /* perhaps first without its value */
    check_next_event(queue, event, MORTISE_EVENT_LEADER, 3, MORTISE_OK);
    CHECK_STATUS(MORTISE_OK, mortise_event_leader(event, info, error));
  } while (*mortise_info_entry_value(info, 0) == '\0');
  CHECK(strcmp(mortise_info_entry_value(info, 0), "from the option") == 0);
  CHECK(*mortise_info_entry_host(info, 0) != '\0');
  CHECK_NUMBER(getpid(), mortise_info_entry_pid(info, 0));
  CHECK_NUMBER(0, mortise_info_is_mine(info));
  CHECK_CONTAINS(mortise_event_message(event), "\"seen\": ");
  CHECK_STATUS(MORTISE_OK, mortise_election_set_value(candidate, "moved", 5, error));
  check_leader(queue, 3, "moved");
  check_quiet_for(queue, 100); /* nothing has changed */
  CHECK_NUMBER(0, server_number(server, "LLEN {mortise:seen}:q"));
  mortise_election_free(candidate);
  do { /* perhaps first without its value */
    CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  } while (mortise_event_kind(event) != MORTISE_EVENT_NO_LEADER);
  mortise_election_free(observer);
  check_quiet_for(queue, 100);
  mortise_info_free(info);
}

/* Hazard 17: the new leader has the lock without a query between, and another owner. */
static void a_new_leader_without_a_gap_is_reported(void) {
  mortise_election *one = open_election(client, "gap");
  mortise_election *two = open_election(other, "gap");
  mortise_election *observer = open_election(client, "gap");
  CHECK_STATUS(MORTISE_OK, mortise_election_campaign(one, patience_ms, error));
  observe(observer, queue, 4, MORTISE_MAX_MS);
  check_leader(queue, 4, "");
  CHECK_STATUS(MORTISE_OK, mortise_election_campaign_async(two, queue, 5, patience_ms, error));
  server_wait_for_exactly(server, "LLEN {mortise:gap}:q", 1);
  /* The interval never ends in this test, so this resignation has hastened the query. */
  CHECK_STATUS(MORTISE_OK, mortise_election_resign(one, error));
  int reports = 0;
  for (int i = 0; i < 2; ++i) {
    CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
    reports += mortise_event_kind(event) == MORTISE_EVENT_LEADER;
  }
  CHECK_NUMBER(1, reports);
  mortise_election_free(observer);
  mortise_election_free(two);
  mortise_election_free(one);
}

/* A deletion at the server is a loss, which the next renewal finds. */
static void a_loss_in_this_client_is_reported_at_once(void) {
  mortise_options *options = options_with("lease", "900ms");
  mortise_election *leader = open_election_with(client, "lost", options);
  mortise_options_free(options);
  mortise_election *observer = open_election(client, "lost");
  mortise_queue *losses = open_queue(client, 0);
  CHECK_STATUS(MORTISE_OK, mortise_election_watch(leader, losses, 1, error));
  CHECK_STATUS(MORTISE_OK, mortise_election_campaign(leader, patience_ms, error));
  observe(observer, queue, 6, MORTISE_MAX_MS);
  check_leader(queue, 6, "");
  CHECK_NUMBER(1, server_number(server, "DEL {mortise:lost}"));
  check_leader(queue, 6, NULL);
  check_next_event(losses, event, MORTISE_EVENT_AT_RISK, 1, MORTISE_OK);
  check_next_event(losses, event, MORTISE_EVENT_LOST, 1, MORTISE_LOST);
  CHECK_NUMBER(MORTISE_REASON_SERVER_LOST, mortise_event_reason(event));
  CHECK_STATUS(MORTISE_LOST, mortise_election_resign(leader, error));
  mortise_queue_free(losses);
  mortise_election_free(observer);
  mortise_election_free(leader);
}

/* The place of an unread event is reserved, and the next event has the newest leader. */
static void a_full_queue_delays_the_newest_leader(void) {
  mortise_queue *narrow = open_queue(client, 1);
  mortise_election *observer = open_election(client, "full");
  mortise_election *candidate = open_election(other, "full");
  observe(observer, narrow, 7, 10);
  CHECK_STATUS(MORTISE_OK, mortise_election_campaign(candidate, patience_ms, error));
  CHECK_STATUS(MORTISE_OK, mortise_election_set_value(candidate, "first", 5, error));
  CHECK_STATUS(MORTISE_OK, mortise_election_set_value(candidate, "newest", 6, error));
  poll(NULL, 0, 100); /* queries find the queue full */
  mortise_info *info = mortise_info_new();
  do {
    CHECK_STATUS(MORTISE_OK, mortise_queue_next(narrow, patience_ms, event, NULL));
    CHECK_STATUS(MORTISE_OK, mortise_event_leader(event, info, error));
  } while (strcmp(mortise_info_entry_value(info, 0), "newest") != 0);
  check_quiet_for(narrow, 50);
  mortise_info_free(info);
  mortise_election_free(candidate);
  mortise_election_free(observer);
  mortise_queue_free(narrow);
}

static void an_observation_replaces_another_and_ends(void) {
  mortise_queue *second = open_queue(client, 0);
  mortise_election *observer = open_election(client, "replaced");
  mortise_election *candidate = open_election(other, "replaced");
  observe(observer, queue, 8, 10);
  check_leader(queue, 8, NULL);
  observe(observer, second, 9, 0);
  check_leader(second, 9, NULL);
  observe(observer, NULL, 0, -5); /* ignored without a queue */
  CHECK_STATUS(MORTISE_OK, mortise_election_campaign(candidate, patience_ms, error));
  check_quiet_for(second, 50);
  check_quiet_for(queue, 0);
  mortise_queue_shutdown(second);
  CHECK_STATUS(MORTISE_SHUT_DOWN, mortise_election_observe(observer, second, 9, 10, error));
  CHECK_CONTAINS(mortise_error_message(error), "the queue was shut down");
  mortise_election_free(candidate);
  mortise_election_free(observer);
  mortise_queue_free(second);
}

static int64_t queries_until_now(void) {
  return server_number(
      server,
      "EVAL return(redis.call('INFO','commandstats'):match('cmdstat_evalsha:calls=(%d+)')+0) 0");
}

static void an_observation_ends_with_its_queue(void) {
  mortise_queue *ending = open_queue(client, 0);
  mortise_election *observer = open_election(client, "ending");
  mortise_election *candidate = open_election(other, "ending");
  observe(observer, ending, 16, 10);
  check_leader(ending, 16, NULL);
  mortise_queue_free(ending);
  CHECK_STATUS(MORTISE_OK, mortise_election_campaign(candidate, patience_ms, error));
  const int64_t begin = now_ms();
  int64_t before = 0;
  for (int64_t now = queries_until_now(); now != before; now = queries_until_now()) {
    before = now; /* until there are none for ten intervals */
    CHECK(now_ms() - begin < patience_ms);
    poll(NULL, 0, 100);
  }
  mortise_election_free(candidate);
  mortise_election_free(observer);
}

/* Without an answer the leader is unknown. It may still lead. */
static void a_server_that_does_not_answer_ends_nothing(void) {
  test_server *hanging = server_start(NULL);
  mortise_client *to_hanging = open_quick_client(hanging, 100);
  mortise_queue *reports = open_queue(to_hanging, 0);
  mortise_election *leader = open_election(to_hanging, "hangs");
  mortise_election *observer = open_election(to_hanging, "hangs");
  mortise_election *others[] = {open_election(to_hanging, "a"), open_election(to_hanging, "b")};
  CHECK_STATUS(MORTISE_OK, mortise_election_campaign(leader, patience_ms, error));
  observe(observer, reports, 10, 10);
  check_leader(reports, 10, "");
  for (int i = 0; i < 2; ++i) {
    observe(others[i], reports, i, 10);
    check_leader(reports, i, NULL);
  }
  server_pause(hanging);
  check_quiet_for(reports, 500);
  CHECK_NUMBER(1, mortise_election_is_leader(leader));
  /* The thread waits for an answer about one of these, and then has the last reference to it. */
  mortise_election_free(observer);
  for (int i = 0; i < 2; ++i) mortise_election_free(others[i]);
  mortise_client_free(to_hanging);
  mortise_election_free(leader);
  mortise_queue_free(reports);
  server_resume(hanging);
  server_free(hanging);
}

static void check_refused(const char *message) {
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_error_status(error));
  CHECK_CONTAINS(mortise_error_message(error), message);
}

static void wrong_arguments_are_named(void) {
  static char long_value[MORTISE_MAX_VALUE_LEN + 1];
  memset(long_value, 'v', sizeof long_value);
  mortise_election *election = open_election(client, "wrong");
  mortise_info *info = mortise_info_new();
  CHECK(mortise_election_new(NULL, "wrong", 5, NULL, error) == NULL);
  check_refused("client: is NULL");
  CHECK(mortise_election_new(client, NULL, 5, NULL, error) == NULL);
  check_refused("name: is NULL");
  CHECK(mortise_election_new(client, "", 0, NULL, error) == NULL);
  check_refused("name: 0 bytes; give 1 to 1024");
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_election_campaign(NULL, 0, error));
  check_refused("election: is NULL; give a value");
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_election_campaign(election, -2, error));
  check_refused("timeout_ms: -2 is out of range");
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT,
               mortise_election_campaign_async(election, NULL, 1, 0, error));
  check_refused("queue: is NULL");
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_election_resign_hold(election, 0, error));
  check_refused("hold_number: 0");
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT,
               mortise_election_set_value(election, long_value, sizeof long_value, error));
  check_refused("value: 1025 bytes; give at most 1024");
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_election_query(election, NULL, error));
  check_refused("info: is NULL");
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_election_observe(NULL, queue, 1, 0, error));
  check_refused("election: is NULL");
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_election_observe(election, queue, 1, 9, error));
  check_refused("interval_ms: 9 is out of range; give 10 to 31622400000, or 0 for 1 s");
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_election_observe(election, queue, 1, -1, error));
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_event_leader(NULL, info, error));
  check_refused("event: is NULL");
  CHECK_STATUS(MORTISE_OK, mortise_election_campaign_async(election, queue, 1, 0, error));
  check_next_event(queue, event, MORTISE_EVENT_ACQUIRED, 1, MORTISE_OK);
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_event_leader(event, NULL, error));
  check_refused("info: is NULL");
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_event_leader(event, info, error));
  check_refused("event: is of kind 1; give one of kind MORTISE_EVENT_LEADER or");
  CHECK_NUMBER(0, mortise_election_is_leader(NULL));
  CHECK_NUMBER(0, mortise_election_token(NULL));
  CHECK(strcmp(mortise_election_name(NULL, NULL), "") == 0);
  mortise_election_free(NULL);
  mortise_info_free(info);
  mortise_election_free(election);
}

static void a_closed_client_ends_its_elections(void) {
  mortise_client *closing = open_client(server);
  mortise_queue *ends = open_queue(closing, 0);
  mortise_election *leader = open_election(other, "closed");
  mortise_election *waiting = open_election(closing, "closed");
  mortise_election *leading = open_election(closing, "closed too");
  CHECK_STATUS(MORTISE_OK, mortise_election_campaign(leader, patience_ms, error));
  CHECK_STATUS(MORTISE_OK,
               mortise_election_campaign_async(waiting, ends, 1, MORTISE_FOREVER, error));
  CHECK_STATUS(MORTISE_OK, mortise_election_campaign(leading, patience_ms, error));
  observe(leading, queue, 11, 10);
  check_leader(queue, 11, "");
  mortise_client_free(closing);
  check_next_event(ends, event, MORTISE_EVENT_ACQUIRED, 1, MORTISE_CLOSED);
  CHECK_NUMBER(0, mortise_election_is_leader(leading));
  CHECK_STATUS(MORTISE_CLOSED, mortise_election_campaign(leading, 0, error));
  CHECK_STATUS(MORTISE_CLOSED, mortise_election_resign(leading, error));
  CHECK_STATUS(MORTISE_CLOSED, mortise_election_observe(leading, queue, 11, 10, error));
  CHECK_STATUS(MORTISE_CLOSED, mortise_election_observe(leading, NULL, 0, 0, error));
  check_quiet_for(queue, 50);
  mortise_election_free(leading);
  mortise_election_free(waiting);
  mortise_election_free(leader);
  mortise_queue_free(ends);
}

/* The leader of an election is the holder of the mutex of that name. */
static void a_mutex_takes_part(void) {
  mortise_lock *lock = open_lock(other, "both");
  mortise_election *election = open_election(client, "both");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, error));
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_election_campaign(election, 0, error));
  CHECK_STATUS(MORTISE_OK, mortise_lock_set_value(lock, "of a mutex", 10, error));
  observe(election, queue, 12, 10);
  check_leader(queue, 12, "of a mutex");
  mortise_lock_free(lock);
  CHECK_STATUS(MORTISE_OK, mortise_election_campaign(election, patience_ms, error));
  mortise_election_free(election);
  while (mortise_queue_next(queue, 0, event, NULL) == MORTISE_OK) continue;
}

/* Its client has unlocked, and keeps the lock only for its next acquire. */
static void a_retained_claim_has_no_leader(void) {
  mortise_options *options = options_with("retain", "20s");
  set_option(options, "lease", "60s");
  mortise_lock *lock = open_lock_with(other, "retained", options);
  mortise_options_free(options);
  mortise_election *election = open_election(client, "retained");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, error));
  observe(election, queue, 13, 10);
  check_leader(queue, 13, "");
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, error));
  CHECK_NUMBER(1, server_number(server, "EXISTS {mortise:retained}"));
  check_next_event(queue, event, MORTISE_EVENT_NO_LEADER, 13, MORTISE_OK);
  CHECK_STATUS(MORTISE_OK, mortise_election_campaign(election, patience_ms, error));
  check_leader(queue, 13, "");
  mortise_election_free(election);
  mortise_lock_free(lock);
}

int main(void) {
  server = server_start(NULL);
  client = open_client(server);
  other = open_client(server);
  queue = open_queue(client, 0);
  event = mortise_event_new();
  error = mortise_error_new();
  RUN(a_campaign_without_time_leads_only_if_nobody_leads);
  RUN(a_leader_is_neither_reentrant_nor_retained_nor_passed_on);
  RUN(an_observer_sees_leaders_and_values_of_other_clients);
  RUN(a_new_leader_without_a_gap_is_reported);
  RUN(a_loss_in_this_client_is_reported_at_once);
  RUN(a_full_queue_delays_the_newest_leader);
  RUN(an_observation_replaces_another_and_ends);
  RUN(an_observation_ends_with_its_queue);
  RUN(a_server_that_does_not_answer_ends_nothing);
  RUN(wrong_arguments_are_named);
  RUN(a_closed_client_ends_its_elections);
  RUN(a_mutex_takes_part);
  RUN(a_retained_claim_has_no_leader);
  mortise_error_free(error);
  mortise_event_free(event);
  mortise_queue_free(queue);
  mortise_client_free(other);
  mortise_client_free(client);
  server_free(server);
  return 0;
}
