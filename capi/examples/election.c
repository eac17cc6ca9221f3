/* A candidate leads and publishes its address. An observer in the same
 * program is notified of it, and deposes the leader in the end. */
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

/* Waits for an event about the leader, and prints it. */
static void print_leader(mortise_queue *queue, mortise_error *error) {
  mortise_event *event = mortise_event_new();
  mortise_info *info = mortise_info_new();
  check(mortise_queue_next(queue, MORTISE_FOREVER, event, error),
        error);
  check(mortise_event_leader(event, info, error), error);
  if (mortise_event_kind(event) == MORTISE_EVENT_LEADER) {
    const char *value = mortise_info_entry_value(info, 0);
    printf("leader: %s\n", *value != '\0' ? value : "no value yet");
  } else {
    puts("no leader");
  }
  mortise_info_free(info);
  mortise_event_free(event);
}

int main(void) {
  mortise_error *error = mortise_error_new();
  mortise_client *client = mortise_client_new(NULL, 0, NULL, error);
  check(mortise_error_status(error), error);
  mortise_queue *reports = mortise_queue_new(client, 0, error);
  mortise_queue *losses = mortise_queue_new(client, 0, error);
  mortise_event *event = mortise_event_new();
  mortise_info *info = mortise_info_new();

  mortise_election *observer =
      mortise_election_new(client, "scheduler", 9, NULL, error);
  check(mortise_election_observe(observer, reports, 1, 100, error),
        error);
  print_leader(reports, error);

  mortise_election *candidate =
      mortise_election_new(client, "scheduler", 9, NULL, error);
  printf("campaign for %s\n", mortise_election_name(candidate, NULL));
  check(mortise_election_watch(candidate, losses, 2, error), error);
  check(mortise_election_campaign(candidate, 5000, error), error);
  print_leader(reports, error);
  const char address[] = "10.0.0.5:8080";
  check(mortise_election_set_value(candidate, address,
                                   sizeof address - 1, error),
        error);
  print_leader(reports, error);

  /* Before each piece of work. The token goes to the resource. */
  printf("leads: %d, valid: %d, ends later: %d, token above 0: %d\n",
         mortise_election_is_leader(candidate),
         mortise_election_valid_ms(candidate) > 0,
         mortise_election_deadline_ns(candidate) > 0,
         mortise_election_token(candidate) > 0);
  check(mortise_election_progress(candidate, error), error);
  check(mortise_election_extend(candidate, 0, error), error);

  check(mortise_election_resign_hold(
            candidate, mortise_election_hold_number(candidate), error),
        error);
  print_leader(reports, error);
  check(mortise_election_campaign(candidate, 5000, error), error);
  print_leader(reports, error);
  check(mortise_election_observe(observer, NULL, 0, 0, error), error);

  /* As an operator does with a leader that is stuck. */
  check(mortise_election_query(observer, info, error), error);
  const char *owner = mortise_info_entry_owner(info, 0);
  check(mortise_election_force_release(observer, owner, strlen(owner),
                                       error),
        error);
  do {
    check(mortise_queue_next(losses, MORTISE_FOREVER, event, error),
          error);
  } while (mortise_event_kind(event) != MORTISE_EVENT_LOST);
  printf("%s\n", mortise_event_message(event));
  mortise_status status = mortise_election_resign(candidate, error);
  printf("resign: %s\n", mortise_status_text(status));

  mortise_election_free(candidate);
  mortise_election_free(observer);
  mortise_info_free(info);
  mortise_event_free(event);
  mortise_queue_free(losses);
  mortise_queue_free(reports);
  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     no leader
 *     campaign for scheduler
 *     leader: no value yet
 *     leader: 10.0.0.5:8080
 *     leads: 1, valid: 1, ends later: 1, token above 0: 1
 *     no leader
 *     leader: no value yet
 *     "scheduler": the hold was ended by force
 *     resign: lost
 */
