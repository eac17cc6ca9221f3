/* Ends a wait for a mutex, and blocks later ones. */
#include <mortise/mortise.h>
#include <stdio.h>
#include <stdlib.h>

static void check(mortise_status status, const mortise_error *error) {
  if (status == MORTISE_OK) return;
  fprintf(stderr, "%s: %s\n", mortise_status_text(status),
          mortise_error_message(error));
  exit(1);
}

int main(void) {
  mortise_error *error = mortise_error_new();
  mortise_client *client = mortise_client_new(NULL, 0, NULL, error);
  check(mortise_error_status(error), error);
  mortise_lock *holder =
      mortise_lock_new(client, "report", 6, NULL, error);
  mortise_lock *waiter =
      mortise_lock_new(client, "report", 6, NULL, error);
  mortise_queue *queue = mortise_queue_new(client, 0, error);
  mortise_event *event = mortise_event_new();
  check(mortise_lock_acquire(holder, 5000, error), error);

  check(mortise_lock_acquire_async(waiter, queue, 1, MORTISE_FOREVER,
                                   error),
        error);
  check(mortise_lock_cancel(waiter, error), error);
  check(mortise_queue_next(queue, MORTISE_FOREVER, event, error),
        error);
  puts(mortise_status_text(mortise_event_status(event)));

  /* A shutdown: no later acquire of this handle waits. */
  check(mortise_lock_interrupt(waiter, 1, error), error);
  puts(mortise_status_text(
      mortise_lock_acquire(waiter, MORTISE_FOREVER, error)));
  check(mortise_lock_interrupt(waiter, 0, error), error);
  puts(mortise_status_text(mortise_lock_acquire(waiter, 10, error)));

  mortise_event_free(event);
  mortise_queue_free(queue);
  mortise_lock_free(waiter);
  mortise_lock_free(holder);
  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     cancelled
 *     cancelled
 *     timed out
 */
