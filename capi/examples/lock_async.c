/* Acquires, extends and releases a mutex without blocking. Events
 * report the results. */
#include <mortise/mortise.h>
#include <stdio.h>
#include <stdlib.h>

static void check(mortise_status status, const mortise_error *error) {
  if (status == MORTISE_OK) return;
  fprintf(stderr, "%s: %s\n", mortise_status_text(status),
          mortise_error_message(error));
  exit(1);
}

enum { TRY = 1, EXTEND, UNLOCK, ACQUIRE, UNLOCK_HOLD };

/* Waits for the event of this call. An event loop polls
 * `mortise_queue_fd` instead. */
static void await(mortise_queue *queue, mortise_event *event,
                  int64_t tag) {
  check(mortise_queue_next(queue, MORTISE_FOREVER, event, NULL), NULL);
  printf("call %d: %s\n", (int)mortise_event_tag(event),
         mortise_status_text(mortise_event_status(event)));
  if (mortise_event_tag(event) != tag) exit(1);
}

int main(void) {
  mortise_error *error = mortise_error_new();
  mortise_client *client = mortise_client_new(NULL, 0, NULL, error);
  check(mortise_error_status(error), error);
  mortise_lock *lock =
      mortise_lock_new(client, "report", 6, NULL, error);
  mortise_queue *queue = mortise_queue_new(client, 0, error);
  mortise_event *event = mortise_event_new();

  check(mortise_lock_try_async(lock, queue, TRY, error), error);
  await(queue, event, TRY);
  check(mortise_lock_extend_async(lock, queue, EXTEND, 0, error),
        error);
  await(queue, event, EXTEND);
  check(mortise_lock_unlock_async(lock, queue, UNLOCK, error), error);
  await(queue, event, UNLOCK);

  check(mortise_lock_acquire_async(lock, queue, ACQUIRE, 5000, error),
        error);
  await(queue, event, ACQUIRE);
  int64_t hold = mortise_event_hold_number(event);
  check(mortise_lock_unlock_hold_async(lock, queue, UNLOCK_HOLD, hold,
                                       error),
        error);
  await(queue, event, UNLOCK_HOLD);

  mortise_event_free(event);
  mortise_queue_free(queue);
  mortise_lock_free(lock);
  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     call 1: ok
 *     call 2: ok
 *     call 3: ok
 *     call 4: ok
 *     call 5: ok
 */
