/* Reads events one by one and in batches, polls for them, and shuts a
 * queue down. */
#include <inttypes.h>
#include <mortise/mortise.h>
#include <poll.h>
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
  mortise_lock *lock =
      mortise_lock_new(client, "report", 6, NULL, error);
  mortise_queue *queue = mortise_queue_new(client, 0, error);
  mortise_event *event = mortise_event_new();

  /* An event loop polls the descriptor, and then takes the events that
   * are there. */
  check(mortise_lock_acquire_async(lock, queue, 1, 5000, error), error);
  struct pollfd ready = {mortise_queue_fd(queue), POLLIN, 0};
  if (poll(&ready, 1, -1) != 1) return 1;
  check(mortise_queue_next(queue, 0, event, error), error);
  printf("call %" PRId64 " ended\n", mortise_event_tag(event));

  /* Many events at once, as numbers. */
  check(mortise_lock_unlock_async(lock, queue, 2, error), error);
  int64_t records[16 * MORTISE_RECORD_FIELDS];
  int64_t count = 0;
  check(mortise_queue_next_batch(queue, MORTISE_FOREVER, records, 16,
                                 &count, error),
        error);
  for (int64_t i = 0; i < count; i++) {
    const int64_t *record = records + i * MORTISE_RECORD_FIELDS;
    printf("call %" PRId64 " ended\n", record[1]);
  }

  /* Another thread or a signal handler ends the wait of a reader. */
  mortise_queue_wake(queue);
  puts(mortise_status_text(
      mortise_queue_next(queue, MORTISE_FOREVER, event, error)));
  mortise_queue_shutdown(queue);
  puts(mortise_status_text(
      mortise_queue_next(queue, MORTISE_FOREVER, event, error)));

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
 *     call 1 ended
 *     call 2 ended
 *     timed out
 *     shut down
 */
