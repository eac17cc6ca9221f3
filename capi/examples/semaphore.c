/* Limits how many owners use a resource at once. */
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
  mortise_semaphore *semaphore =
      mortise_semaphore_new(client, "pool", 4, 3, NULL, error);
  mortise_semaphore *other =
      mortise_semaphore_new(client, "pool", 4, 3, NULL, error);
  check(mortise_error_status(error), error);

  check(mortise_semaphore_acquire(semaphore, 2, 5000, error), error);
  printf("%s: held %d\n", mortise_semaphore_name(semaphore, NULL),
         mortise_semaphore_is_held(semaphore));
  printf("two more of three: %s\n",
         mortise_status_text(mortise_semaphore_try(other, 2, error)));
  check(mortise_semaphore_resize(semaphore, 4, error), error);
  printf("two more of four: %s\n",
         mortise_status_text(mortise_semaphore_try(other, 2, error)));
  check(mortise_semaphore_release(other, error), error);

  int64_t deadline_ns = mortise_semaphore_deadline_ns(semaphore);
  check(mortise_semaphore_extend(semaphore, 60000, error), error);
  check(mortise_semaphore_progress(semaphore, error), error);
  puts(mortise_semaphore_deadline_ns(semaphore) > deadline_ns
           ? "extended"
           : "as before");
  if (mortise_semaphore_token(semaphore) == 0 ||
      mortise_semaphore_valid_ms(semaphore) == 0) {
    return 1;
  }
  /* A hold outlives its handle as an id. */
  mortise_hold_id *id =
      mortise_semaphore_export(semaphore, 60000, error);
  check(mortise_error_status(error), error);
  const char *text = mortise_hold_id_text(id);
  check(mortise_semaphore_adopt(semaphore, text, strlen(text), error),
        error);
  mortise_hold_id_free(id);
  int64_t hold = mortise_semaphore_hold_number(semaphore);
  check(mortise_semaphore_release_hold(semaphore, hold, error), error);

  mortise_semaphore_free(other);
  mortise_semaphore_free(semaphore);
  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     pool: held 1
 *     two more of three: not acquired
 *     two more of four: ok
 *     extended
 */
