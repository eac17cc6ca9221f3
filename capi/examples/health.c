/* Checks the settings of the servers, and prints what is not as it
 * should be. */
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
  mortise_health *health = mortise_client_check_health(client, error);
  check(mortise_error_status(error), error);
  for (int64_t i = 0; i < mortise_health_count(health); i++) {
    mortise_severity severity = mortise_health_severity(health, i);
    if (severity == MORTISE_SEVERITY_OK) continue;
    fprintf(stderr, "%s at %s is %s: %s. %s %s\n",
            mortise_health_name(health, i),
            mortise_health_server(health, i),
            mortise_health_value(health, i),
            mortise_severity_text(severity),
            mortise_health_consequence(health, i),
            mortise_health_remedy(health, i));
  }
  /* The same findings again, without a request. */
  mortise_health *last = mortise_client_last_health(client, error);
  check(mortise_error_status(error), error);
  puts(mortise_health_worst(last) == mortise_health_worst(health)
           ? "kept"
           : "not kept");
  printf("JSON: %.1s...\n", mortise_health_json(last));

  mortise_health_free(last);
  mortise_health_free(health);
  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     kept
 *     JSON: {...
 */
