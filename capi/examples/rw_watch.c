/* Ends a wait to read, and the hold of a writer, and reads the report
 * of that loss. */
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
  mortise_rw *writer = mortise_rw_new(client, "table", 5, NULL, error);
  mortise_rw *reader = mortise_rw_new(client, "table", 5, NULL, error);
  mortise_queue *queue = mortise_queue_new(client, 0, error);
  mortise_event *event = mortise_event_new();
  mortise_info *info = mortise_info_new();
  check(mortise_rw_write_acquire(writer, 5000, error), error);
  check(mortise_rw_watch(writer, queue, 1, error), error);

  check(mortise_rw_read_acquire_async(reader, queue, 2, MORTISE_FOREVER,
                                      error),
        error);
  check(mortise_rw_cancel(reader, error), error);
  check(mortise_queue_next(queue, MORTISE_FOREVER, event, error),
        error);
  printf("reader: %s\n",
         mortise_status_text(mortise_event_status(event)));
  /* While the handle is interrupted, no acquire of it waits. */
  check(mortise_rw_interrupt(reader, 1, error), error);
  printf("reader: %s\n", mortise_status_text(mortise_rw_read_acquire(
                             reader, 5000, error)));

  check(mortise_rw_query(writer, info, error), error);
  const char *owner = mortise_info_entry_owner(info, 0);
  check(mortise_rw_force_release(writer, owner, strlen(owner), error),
        error);
  do {
    check(mortise_queue_next(queue, MORTISE_FOREVER, event, error),
          error);
  } while (mortise_event_kind(event) != MORTISE_EVENT_LOST);
  printf("writer: %s\n", mortise_event_message(event));

  mortise_info_free(info);
  mortise_event_free(event);
  mortise_queue_free(queue);
  mortise_rw_free(reader);
  mortise_rw_free(writer);
  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     reader: cancelled
 *     reader: cancelled
 *     writer: "table": the hold was ended by force
 */
