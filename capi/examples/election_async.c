/* An event loop campaigns, changes its value and resigns. Each call
 * ends in an event on the queue. */
#include <mortise/mortise.h>
#include <stdio.h>
#include <stdlib.h>

static void check(mortise_status status, const mortise_error *error) {
  if (status == MORTISE_OK) return;
  fprintf(stderr, "%s: %s\n", mortise_status_text(status),
          mortise_error_message(error));
  exit(1);
}

/* Waits for the end of a call, and prints its result. */
static void print_end(mortise_queue *queue, const char *call) {
  mortise_event *event = mortise_event_new();
  check(mortise_queue_next(queue, MORTISE_FOREVER, event, NULL), NULL);
  printf("%s: %s\n", call,
         mortise_status_text(mortise_event_status(event)));
  mortise_event_free(event);
}

int main(void) {
  mortise_error *error = mortise_error_new();
  mortise_client *client = mortise_client_new(NULL, 0, NULL, error);
  check(mortise_error_status(error), error);
  mortise_queue *queue = mortise_queue_new(client, 0, error);
  mortise_election *first =
      mortise_election_new(client, "scheduler", 9, NULL, error);
  mortise_election *second =
      mortise_election_new(client, "scheduler", 9, NULL, error);

  check(mortise_election_campaign_async(first, queue, 1, 5000, error),
        error);
  print_end(queue, "campaign");
  check(mortise_election_set_value_async(first, queue, 2, "first", 5,
                                         error),
        error);
  print_end(queue, "set_value");
  check(mortise_election_extend_async(first, queue, 3, 0, error),
        error);
  print_end(queue, "extend");

  /* A campaign that is cancelled, and one that is interrupted. */
  check(mortise_election_campaign_async(second, queue, 4, 5000, error),
        error);
  check(mortise_election_cancel(second, error), error);
  print_end(queue, "campaign of the second");
  check(mortise_election_interrupt(second, 1, error), error);
  mortise_status status =
      mortise_election_campaign(second, 5000, error);
  printf("campaign of the second: %s\n", mortise_status_text(status));

  check(mortise_election_resign_async(first, queue, 5, error), error);
  print_end(queue, "resign");
  check(mortise_election_campaign_async(first, queue, 6, 5000, error),
        error);
  print_end(queue, "campaign");
  check(
      mortise_election_resign_hold_async(
          first, queue, 7, mortise_election_hold_number(first), error),
      error);
  print_end(queue, "resign");

  mortise_election_free(second);
  mortise_election_free(first);
  mortise_queue_free(queue);
  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     campaign: ok
 *     set_value: ok
 *     extend: ok
 *     campaign of the second: cancelled
 *     campaign of the second: cancelled
 *     resign: ok
 *     campaign: ok
 *     resign: ok
 */
