/* The asynchronous calls of a read-write lock. Events report the
 * results. */
#include <mortise/mortise.h>
#include <stdio.h>
#include <stdlib.h>

static void check(mortise_status status, const mortise_error *error) {
  if (status == MORTISE_OK) return;
  fprintf(stderr, "%s: %s\n", mortise_status_text(status),
          mortise_error_message(error));
  exit(1);
}

/* Waits for the event of the call that was just started. */
static void await(mortise_queue *queue, mortise_event *event,
                  const char *call) {
  check(mortise_queue_next(queue, MORTISE_FOREVER, event, NULL), NULL);
  printf("%s: %s\n", call,
         mortise_status_text(mortise_event_status(event)));
}

int main(void) {
  mortise_error *error = mortise_error_new();
  mortise_client *client = mortise_client_new(NULL, 0, NULL, error);
  check(mortise_error_status(error), error);
  mortise_rw *rw = mortise_rw_new(client, "table", 5, NULL, error);
  mortise_queue *queue = mortise_queue_new(client, 0, error);
  mortise_event *event = mortise_event_new();

  check(mortise_rw_read_try_async(rw, queue, 0, error), error);
  await(queue, event, "try to read");
  check(mortise_rw_upgrade_async(rw, queue, 0, error), error);
  await(queue, event, "upgrade");
  check(mortise_rw_downgrade_async(rw, queue, 0, error), error);
  await(queue, event, "downgrade");
  check(mortise_rw_extend_async(rw, queue, 0, 60000, error), error);
  await(queue, event, "extend");
  check(mortise_rw_read_unlock_async(rw, queue, 0, error), error);
  await(queue, event, "unlock");

  check(mortise_rw_write_try_async(rw, queue, 0, error), error);
  await(queue, event, "try to write");
  check(mortise_rw_write_unlock_async(rw, queue, 0, error), error);
  await(queue, event, "unlock");

  /* Each of these unlocks ends one hold, and never a later one. */
  check(mortise_rw_read_acquire_async(rw, queue, 0, 5000, error),
        error);
  await(queue, event, "acquire to read");
  int64_t hold = mortise_event_hold_number(event);
  check(mortise_rw_read_unlock_hold_async(rw, queue, 0, hold, error),
        error);
  await(queue, event, "unlock");
  check(mortise_rw_write_acquire_async(rw, queue, 0, 5000, error),
        error);
  await(queue, event, "acquire to write");
  hold = mortise_event_hold_number(event);
  check(mortise_rw_write_unlock_hold_async(rw, queue, 0, hold, error),
        error);
  await(queue, event, "unlock");

  mortise_event_free(event);
  mortise_queue_free(queue);
  mortise_rw_free(rw);
  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     try to read: ok
 *     upgrade: ok
 *     downgrade: ok
 *     extend: ok
 *     unlock: ok
 *     try to write: ok
 *     unlock: ok
 *     acquire to read: ok
 *     unlock: ok
 *     acquire to write: ok
 *     unlock: ok
 */
