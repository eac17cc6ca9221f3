/* Sets every option that has a function of its own, for a client and
 * for one of its handles. */
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
  mortise_options *options = mortise_options_new();
  check(mortise_options_set_lease_ms(options, 30000, error), error);
  check(mortise_options_set_renewal(options, 1, error), error);
  check(mortise_options_set_max_hold_ms(options, 600000, error), error);
  check(mortise_options_set_progress_ms(options, 60000, error), error);
  check(mortise_options_set_retain_ms(options, 0, error), error);
  check(mortise_options_set_fair_strict(options, 0, error), error);
  check(mortise_options_set_command_timeout_ms(options, 2000, error),
        error);
  check(mortise_options_set_drift_ppm(options, 10000, error), error);
  /* The rest has no function of its own. */
  check(mortise_options_set(options, "client_name", 11, "reports", 7,
                            error),
        error);
  mortise_client *client = mortise_client_new(NULL, 0, options, error);
  check(mortise_error_status(error), error);
  mortise_options_free(options);

  /* The same settings, except for one handle. */
  options = mortise_options_new_from(client, error);
  check(mortise_options_set_label(options, "nightly", 7, error), error);
  check(mortise_options_set_reentrant(options, 1, error), error);
  check(mortise_options_set_reentrant_read(options, 0, error), error);
  check(mortise_options_set_reentrant_write(options, 1, error), error);
  /* A format of other programs, which poll. */
  check(mortise_options_set_protocol(options, "token", 5, error),
        error);
  check(mortise_options_set_poll_interval_ms(options, 50, error),
        error);
  check(mortise_options_set_poll_attempts(options, 20, error), error);
  mortise_lock *lock =
      mortise_lock_new(client, "report", 6, options, error);
  check(mortise_error_status(error), error);
  mortise_options_free(options);

  check(mortise_lock_acquire(lock, 5000, error), error);
  check(mortise_lock_acquire(lock, 5000, error), error);
  puts("acquired twice");
  check(mortise_lock_unlock(lock, error), error);
  check(mortise_lock_unlock(lock, error), error);
  mortise_lock_free(lock);
  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     acquired twice
 */
