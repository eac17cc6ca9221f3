/* Why a hold was lost, or is at risk: in the notice, and in every later call on it. */
#include "fixture.h"

static test_server *server;
static mortise_client *client;

/* Waits for the loss of this watched hold, and for the risk before it. */
static void check_loss(mortise_queue *queue, mortise_lock *lock, const char *name,
                       mortise_reason risk, mortise_reason loss, const char *words) {
  mortise_event *event = mortise_event_new();
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_NUMBER(MORTISE_EVENT_AT_RISK, mortise_event_kind(event));
  CHECK_NUMBER(risk, mortise_event_reason(event));
  CHECK_CONTAINS(mortise_event_message(event), name);
  CHECK_STATUS(MORTISE_OK, mortise_event_status(event));
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_NUMBER(MORTISE_EVENT_LOST, mortise_event_kind(event));
  CHECK_NUMBER(loss, mortise_event_reason(event));
  CHECK_CONTAINS(mortise_event_message(event), name);
  CHECK_CONTAINS(mortise_event_message(event), words);
  mortise_event_free(event);

  mortise_error *error = mortise_error_new();
  CHECK_STATUS(MORTISE_LOST, mortise_lock_extend(lock, 0, error));
  CHECK_NUMBER(loss, mortise_error_reason(error));
  CHECK_STATUS(MORTISE_LOST, mortise_lock_unlock(lock, error));
  CHECK_NUMBER(loss, mortise_error_reason(error));
  CHECK_ERROR(error, MORTISE_LOST, name);
  CHECK_CONTAINS(mortise_error_message(error), words);
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_lock_unlock(lock, error));
  CHECK_NUMBER(MORTISE_REASON_NONE, mortise_error_reason(error));
  mortise_error_free(error);
}

static mortise_lock *hold(mortise_queue *queue, const char *name, const char *key,
                          const char *value) {
  mortise_options *options = options_with("lease", "2s");
  set_option(options, key, value);
  mortise_lock *lock = open_lock_with(client, name, options);
  mortise_options_free(options);
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(lock, queue, 1, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  return lock;
}

static void each_loss_has_its_reason(void) {
  mortise_queue *queue = mortise_queue_new(client, 8, NULL);
  mortise_lock *lock = hold(queue, "ends", "renewal", "off");
  check_loss(queue, lock, "\"ends\"", MORTISE_REASON_EXPIRED, MORTISE_REASON_EXPIRED, "lease");
  mortise_lock_free(lock);

  lock = hold(queue, "long", "max_hold", "2500ms");
  check_loss(queue, lock, "\"long\"", MORTISE_REASON_MAX_HOLD, MORTISE_REASON_MAX_HOLD, "max_hold");
  mortise_lock_free(lock);

  lock = hold(queue, "hangs", "progress", "100ms");
  check_loss(queue, lock, "\"hangs\"", MORTISE_REASON_STALLED, MORTISE_REASON_STALLED, "progress");
  mortise_lock_free(lock);

  lock = hold(queue, "gone", "renewal", "on");
  CHECK_NUMBER(1, server_number(server, "DEL {mortise:gone}"));
  check_loss(queue, lock, "\"gone\"", MORTISE_REASON_SERVER_LOST, MORTISE_REASON_SERVER_LOST,
             "no longer has the hold");
  mortise_lock_free(lock);

  lock = hold(queue, "taken", "renewal", "on");
  CHECK_CONTAINS(server_command(server, "SET {mortise:taken} m1:another:1.1:: PX 100000"), "OK");
  check_loss(queue, lock, "\"taken\"", MORTISE_REASON_REPLACED, MORTISE_REASON_REPLACED, "another");
  mortise_lock_free(lock);

  /* Only the unlock noticed it. */
  mortise_error *error = mortise_error_new();
  mortise_lock *idle = open_lock(client, "idle");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(idle, NULL));
  CHECK_NUMBER(1, server_number(server, "DEL {mortise:idle}"));
  CHECK_STATUS(MORTISE_LOST, mortise_lock_unlock(idle, error));
  CHECK_NUMBER(MORTISE_REASON_SERVER_LOST, mortise_error_reason(error));
  mortise_lock_free(idle);
  CHECK_NUMBER(MORTISE_REASON_NONE, mortise_error_reason(NULL));
  CHECK_NUMBER(MORTISE_REASON_NONE, mortise_event_reason(NULL));
  mortise_error_free(error);
  mortise_queue_free(queue);
}

/* The owner names the claim of a client. A hold that the client has passed on is a part of it. */
static void force_ends_the_claim_that_was_passed_on(void) {
  mortise_client *others = open_client(server);
  mortise_info *info = mortise_info_new();
  mortise_error *error = mortise_error_new();
  mortise_lock *first = open_lock(client, "claim");
  mortise_lock *second = open_lock(client, "claim");
  mortise_lock *outside = open_lock(others, "claim");
  background call;
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(first, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_query(outside, info, NULL));
  const char *owner = mortise_info_entry_owner(info, 0);
  const size_t length = strlen(owner);
  start_acquire(&call, second, patience_ms);
  wait_until_busy(second);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(first, NULL));
  CHECK_STATUS(MORTISE_OK, finish_acquire(&call));
  CHECK_STATUS(MORTISE_OK, mortise_lock_force_release(outside, owner, length, NULL));
  wait_until_not_held(second);
  CHECK_STATUS(MORTISE_LOST, mortise_lock_unlock(second, error));
  CHECK_NUMBER(MORTISE_REASON_FORCED, mortise_error_reason(error));
  /* The next claim has another owner. */
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(first, NULL));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_lock_force_release(outside, owner, length, NULL));
  CHECK_NUMBER(1, mortise_lock_is_held(first));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(first, NULL));
  mortise_lock_free(outside);
  mortise_lock_free(second);
  mortise_lock_free(first);
  mortise_error_free(error);
  mortise_info_free(info);
  mortise_client_free(others);
}

int main(void) {
  server = server_start(NULL);
  client = open_client(server);
  RUN(each_loss_has_its_reason);
  RUN(force_ends_the_claim_that_was_passed_on);
  mortise_client_free(client);
  server_free(server);
  return 0;
}
