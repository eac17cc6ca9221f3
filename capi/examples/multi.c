/* Acquires four locks of different kinds, all or none. */
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
  mortise_rw *source = mortise_rw_new(client, "source", 6, NULL, error);
  mortise_rw *target = mortise_rw_new(client, "target", 6, NULL, error);
  mortise_semaphore *pool =
      mortise_semaphore_new(client, "pool", 4, 3, NULL, error);
  mortise_multi *multi = mortise_multi_new(client, error);
  check(mortise_multi_add_lock(multi, lock, error), error);
  check(mortise_multi_add_reader(multi, source, error), error);
  check(mortise_multi_add_writer(multi, target, error), error);
  check(mortise_multi_add_semaphore(multi, pool, 2, error), error);

  check(mortise_multi_acquire(multi, 5000, error), error);
  printf("%" PRId64 " members, held %d\n",
         mortise_multi_member_count(multi),
         mortise_multi_is_held(multi));
  int64_t deadline_ns = mortise_multi_deadline_ns(multi);
  check(mortise_multi_extend(multi, 60000, error), error);
  check(mortise_multi_progress(multi, error), error);
  puts(mortise_multi_deadline_ns(multi) > deadline_ns ? "extended"
                                                      : "as before");
  if (mortise_multi_valid_ms(multi) == 0) return 1;
  check(mortise_multi_unlock(multi, error), error);

  check(mortise_multi_try(multi, error), error);
  check(mortise_multi_unlock_hold(
            multi, mortise_multi_hold_number(multi), error),
        error);

  /* A member that another owner holds: the multi holds nothing. */
  mortise_lock *other =
      mortise_lock_new(client, "report", 6, NULL, error);
  check(mortise_lock_acquire(other, 5000, error), error);
  printf("%s, ", mortise_status_text(mortise_multi_try(multi, error)));
  printf("held %d\n", mortise_rw_is_writing(target));

  mortise_lock_free(other);
  mortise_multi_free(multi);
  mortise_semaphore_free(pool);
  mortise_rw_free(target);
  mortise_rw_free(source);
  mortise_lock_free(lock);
  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     4 members, held 1
 *     extended
 *     not acquired, held 0
 */
