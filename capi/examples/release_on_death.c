/* The lock of a killed process is free at once, long before the end of
 * its lease. */
#include <mortise/mortise.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void check(mortise_status status, const mortise_error *error) {
  if (status == MORTISE_OK) return;
  fprintf(stderr, "%s: %s\n", mortise_status_text(status),
          mortise_error_message(error));
  exit(1);
}

static mortise_client *client;

static mortise_lock *acquire_lock(mortise_error *error) {
  mortise_options *options = mortise_options_new();
  check(mortise_options_set(options, "release_on_death", 16, "on", 2,
                            error),
        error);
  check(mortise_options_set_lease_ms(options, 600000, error), error);
  client = mortise_client_new(NULL, 0, options, error);
  check(mortise_error_status(error), error);
  mortise_options_free(options);
  mortise_lock *lock =
      mortise_lock_new(client, "report", 6, NULL, error);
  check(mortise_error_status(error), error);
  check(mortise_lock_acquire(lock, 20000, error), error);
  return lock;
}

int main(void) {
  int held[2];
  char byte = 0;
  if (pipe(held) != 0) return 1;
  pid_t holder = fork();
  if (holder == 0) {
    acquire_lock(mortise_error_new());
    if (write(held[1], &byte, 1) != 1) return 1;
    for (;;) pause();
  }
  if (read(held[0], &byte, 1) != 1) return 1;
  kill(holder, SIGKILL);
  waitpid(holder, NULL, 0);
  puts("the holder is dead");

  mortise_error *error = mortise_error_new();
  mortise_lock *lock = acquire_lock(error);
  puts("acquired");
  check(mortise_lock_unlock(lock, error), error);
  mortise_lock_free(lock);
  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     the holder is dead
 *     acquired
 */
