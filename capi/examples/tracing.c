/* Prints a span for each wait and each hold of a client. */
#include <inttypes.h>
#include <mortise/mortise.h>
#include <stdio.h>
#include <stdlib.h>

static void check(mortise_status status, const mortise_error *error) {
  if (status == MORTISE_OK) return;
  fprintf(stderr, "%s: %s\n", mortise_status_text(status),
          mortise_error_message(error));
  exit(1);
}

/* Each end has the time of its begin, so a dropped event costs one
 * span. A tracer takes both times. */
static void print_span(const char *what, const mortise_event *event) {
  const int64_t end_us = mortise_event_time_us(event);
  const int64_t begin_us = end_us - mortise_event_lasted_us(event);
  printf("%s of handle %" PRId64 ", %s \"%s\", %s: %s\n", what,
         mortise_event_handle_number(event),
         mortise_event_lock_kind(event),
         mortise_event_lock_name(event, NULL),
         begin_us > 0 && begin_us <= end_us ? "timed" : "untimed",
         mortise_status_text(mortise_event_status(event)));
}

static void print_spans(mortise_queue *queue) {
  mortise_event *event = mortise_event_new();
  while (mortise_queue_next(queue, 0, event, NULL) == MORTISE_OK) {
    switch (mortise_event_kind(event)) {
      case MORTISE_EVENT_HOLD_BEGAN:
      case MORTISE_EVENT_WAIT_FAILED:
        print_span("wait", event);
        break;
      case MORTISE_EVENT_HOLD_CHANGED:
      case MORTISE_EVENT_HOLD_ENDED:
        print_span("hold", event);
        break;
      default: /* the begin of a wait: nothing is over yet */
        break;
    }
  }
  mortise_event_free(event);
}

int main(void) {
  mortise_error *error = mortise_error_new();
  mortise_client *client = mortise_client_new(NULL, 0, NULL, error);
  check(mortise_error_status(error), error);
  mortise_queue *queue = mortise_queue_new(client, 0, error);
  check(mortise_client_watch_locks(client, queue, 0, error), error);

  mortise_lock *lock =
      mortise_lock_new(client, "report", 6, NULL, error);
  mortise_lock *other =
      mortise_lock_new(client, "report", 6, NULL, error);
  check(mortise_lock_acquire(lock, 5000, error), error);
  mortise_status refused = mortise_lock_try(other, error);
  check(mortise_lock_unlock(lock, error), error);
  print_spans(queue);
  printf("the second handle: %s\n", mortise_status_text(refused));

  mortise_lock_free(other);
  mortise_lock_free(lock);
  mortise_queue_free(queue);
  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     wait of handle 1, mutex "report", timed: ok
 *     wait of handle 2, mutex "report", timed: not acquired
 *     hold of handle 1, mutex "report", timed: ok
 *     the second handle: not acquired
 */
