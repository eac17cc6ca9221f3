/* Acquires a mutex, works while it is held, and releases it. */
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

int main(void) {
  mortise_error *error = mortise_error_new();
  mortise_client *client = mortise_client_new(NULL, 0, NULL, error);
  check(mortise_error_status(error), error);
  mortise_lock *lock =
      mortise_lock_new(client, "report", 6, NULL, error);
  mortise_lock *other =
      mortise_lock_new(client, "report", 6, NULL, error);
  check(mortise_error_status(error), error);

  check(mortise_lock_acquire(lock, 5000, error), error);
  size_t name_len = 0;
  const char *name = mortise_lock_name(lock, &name_len);
  printf("%.*s: hold %" PRId64 ", token %" PRId64 "\n", (int)name_len,
         name, mortise_lock_hold_number(lock),
         mortise_lock_token(lock));
  /* Check before each step of the work, and give the token to the
   * storage. */
  if (mortise_lock_is_held(lock)) {
    printf("valid for %s 10 s\n", mortise_lock_valid_ms(lock) > 10000
                                      ? "more than"
                                      : "at most");
  }
  int64_t deadline_ns = mortise_lock_deadline_ns(lock);
  check(mortise_lock_extend(lock, 60000, error), error);
  puts(mortise_lock_deadline_ns(lock) > deadline_ns ? "extended"
                                                    : "as before");
  printf("another owner: %s\n",
         mortise_status_text(mortise_lock_try(other, error)));
  check(mortise_lock_unlock(lock, error), error);

  /* Only this hold, whatever another thread does with the handle. */
  check(mortise_lock_acquire(lock, 5000, error), error);
  check(mortise_lock_unlock_hold(lock, mortise_lock_hold_number(lock),
                                 error),
        error);

  mortise_lock_free(other);
  mortise_lock_free(lock);
  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     report: hold 1, token ...
 *     valid for more than 10 s
 *     extended
 *     another owner: not acquired
 */
