/* Ends a wait for permits, and the hold of all permits, and reads the
 * report of that loss. */
#include <mortise/mortise.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
  mortise_semaphore *holder =
      mortise_semaphore_new(client, "pool", 4, 1, NULL, error);
  mortise_semaphore *waiter =
      mortise_semaphore_new(client, "pool", 4, 1, NULL, error);
  mortise_queue *queue = mortise_queue_new(client, 0, error);
  mortise_event *event = mortise_event_new();
  mortise_info *info = mortise_info_new();
  check(mortise_semaphore_acquire(holder, 1, 5000, error), error);
  check(mortise_semaphore_watch(holder, queue, 1, error), error);

  check(mortise_semaphore_acquire_async(waiter, queue, 2, 1,
                                        MORTISE_FOREVER, error),
        error);
  check(mortise_semaphore_cancel(waiter, error), error);
  check(mortise_queue_next(queue, MORTISE_FOREVER, event, error),
        error);
  printf("waiter: %s\n",
         mortise_status_text(mortise_event_status(event)));
  /* While the handle is interrupted, no acquire of it waits. */
  check(mortise_semaphore_interrupt(waiter, 1, error), error);
  printf("waiter: %s\n", mortise_status_text(mortise_semaphore_acquire(
                             waiter, 1, 5000, error)));

  check(mortise_semaphore_query(holder, info, error), error);
  const char *owner = mortise_info_entry_owner(info, 0);
  check(mortise_semaphore_force_release(holder, owner, strlen(owner),
                                        error),
        error);
  do {
    check(mortise_queue_next(queue, MORTISE_FOREVER, event, error),
          error);
  } while (mortise_event_kind(event) != MORTISE_EVENT_LOST);
  printf("holder: %s\n", mortise_event_message(event));

  mortise_info_free(info);
  mortise_event_free(event);
  mortise_queue_free(queue);
  mortise_semaphore_free(waiter);
  mortise_semaphore_free(holder);
  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     waiter: cancelled
 *     waiter: cancelled
 *     holder: "pool": the hold was ended by force
 */
