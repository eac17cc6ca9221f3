/* Prints the details of three failures: a wrong argument, a lost hold,
 * and a refused request. */
#include <mortise/mortise.h>
#include <stdio.h>
#include <string.h>

static void print(const mortise_error *error) {
  size_t name_len = 0;
  const char *name = mortise_error_lock_name(error, &name_len);
  printf("%s: %s\n", mortise_status_text(mortise_error_status(error)),
         mortise_error_message(error));
  printf(
      "  lock \"%.*s\", server's text \"%.7s\", forced %d, retryable "
      "%d, ambiguous %d\n",
      (int)name_len, name, mortise_error_server_text(error),
      mortise_error_reason(error) == MORTISE_REASON_FORCED,
      mortise_error_is_retryable(error),
      mortise_error_is_ambiguous(error));
}

int main(void) {
  mortise_error *error = mortise_error_new();
  mortise_client *client = mortise_client_new(NULL, 0, NULL, error);
  mortise_lock *lock =
      mortise_lock_new(client, "report", 6, NULL, error);
  mortise_info *info = mortise_info_new();
  const char *owner = "";

  if (mortise_lock_extend(NULL, 0, error) != MORTISE_OK) print(error);

  if (mortise_lock_try(lock, error) == MORTISE_OK &&
      mortise_lock_query(lock, info, error) == MORTISE_OK) {
    owner = mortise_info_entry_owner(info, 0);
    mortise_lock_force_release(lock, owner, strlen(owner), error);
  }
  if (mortise_lock_extend(lock, 0, error) != MORTISE_OK) print(error);

  /* A mutex and a semaphore of one name refuse each other. */
  mortise_semaphore *semaphore =
      mortise_semaphore_new(client, "report", 6, 3, NULL, error);
  mortise_lock_unlock(lock, NULL);
  if (mortise_lock_acquire(lock, 1000, error) != MORTISE_OK)
    print(error);
  if (mortise_semaphore_try(semaphore, 1, error) != MORTISE_OK)
    print(error);

  mortise_semaphore_free(semaphore);
  mortise_info_free(info);
  mortise_lock_free(lock);
  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     invalid argument: lock: is NULL; give a value
 *       lock "", server's text "", forced 0, retryable 0, ambiguous 0
 *     lost: "report": the hold was ended by force
 *       lock "report", server's text "", forced 1, retryable 0, ambiguous 0
 *     refused by the server: "report": ...
 *       lock "report", server's text "FOREIGN", forced 0, retryable 0, ambiguous 0
 */
