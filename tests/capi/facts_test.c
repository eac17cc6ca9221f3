/* What a handle knows without asking: its name, and when its hold ends. */
#include "fixture.h"

#include <inttypes.h>

static test_server *server;
static mortise_client *client;

static void check_name(const char *expected, size_t wanted_len, const char *got,
                       const size_t *got_at) {
  const size_t got_len = *got_at;
  CHECK_NUMBER((int64_t)wanted_len, (int64_t)got_len);
  CHECK(memcmp(expected, got, wanted_len) == 0);
  CHECK(got[got_len] == '\0');
}

static void a_name_is_what_was_given(void) {
  static char longest[MORTISE_MAX_NAME_LEN];
  memset(longest, '\xff', sizeof longest);
  const struct {
    const char *name;
    size_t len;
  } rows[] = {{"report", 6}, {"a\0b\n", 4}, {"\0", 1}, {longest, sizeof longest}};
  for (int i = 0; i < 4; ++i) {
    size_t len = 77;
    mortise_lock *lock = mortise_lock_new(client, rows[i].name, rows[i].len, NULL, NULL);
    check_name(rows[i].name, rows[i].len, mortise_lock_name(lock, &len), &len);
    CHECK(mortise_lock_name(lock, NULL) != NULL);
    mortise_rw *rw = mortise_rw_new(client, rows[i].name, rows[i].len, NULL, NULL);
    check_name(rows[i].name, rows[i].len, mortise_rw_name(rw, &len), &len);
    mortise_semaphore *permits =
        mortise_semaphore_new(client, rows[i].name, rows[i].len, 3, NULL, NULL);
    check_name(rows[i].name, rows[i].len, mortise_semaphore_name(permits, &len), &len);
    mortise_lock_free(lock);
    mortise_rw_free(rw);
    mortise_semaphore_free(permits);
  }
  size_t len = 77;
  CHECK(mortise_lock_name(NULL, &len)[0] == '\0');
  CHECK_NUMBER(0, (int64_t)len);
  CHECK(mortise_rw_name(NULL, NULL)[0] == '\0' && mortise_semaphore_name(NULL, NULL)[0] == '\0');
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Of a hold with this lease that was acquired after `begin_ns`. */
static void check_deadline(int64_t begin_ns, int64_t lease_ms, int64_t deadline_ns) {
  const int64_t lease_ns = lease_ms * 1000000;
  CHECK(deadline_ns > begin_ns + lease_ns - 1024);
  CHECK(deadline_ns <= now_ns() + lease_ns);
  CHECK_NUMBER(0, deadline_ns % 1024);
  CHECK((int64_t)(double)deadline_ns == deadline_ns);
}

static void a_deadline_is_by_the_clock_that_runs_on(void) {
  mortise_options *options = options_with("lease", "50s");
  set_option(options, "renewal", "off");
  const int64_t begin_ns = now_ns();
  mortise_lock *lock = open_lock_with(client, "l", options);
  mortise_rw *rw = mortise_rw_new(client, "r", 1, options, NULL);
  mortise_semaphore *permits = mortise_semaphore_new(client, "s", 1, 3, options, NULL);
  mortise_multi *multi = mortise_multi_new(client, NULL);
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(multi, lock, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_reader(multi, rw, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_semaphore(multi, permits, 2, NULL));
  CHECK_NUMBER(0, mortise_lock_deadline_ns(lock));
  CHECK_NUMBER(0, mortise_multi_deadline_ns(multi));
  CHECK_STATUS(MORTISE_OK, mortise_multi_try(multi, NULL));
  check_deadline(begin_ns, 50000, mortise_lock_deadline_ns(lock));
  check_deadline(begin_ns, 50000, mortise_rw_deadline_ns(rw));
  check_deadline(begin_ns, 50000, mortise_semaphore_deadline_ns(permits));
  CHECK_NUMBER(mortise_lock_deadline_ns(lock), mortise_multi_deadline_ns(multi));
  const int64_t extended_ns = now_ns();
  CHECK_STATUS(MORTISE_OK, mortise_lock_extend(lock, 80000, NULL));
  check_deadline(extended_ns, 80000, mortise_lock_deadline_ns(lock));
  CHECK(mortise_multi_deadline_ns(multi) < mortise_lock_deadline_ns(lock));
  CHECK_STATUS(MORTISE_OK, mortise_multi_unlock(multi, NULL));
  CHECK_NUMBER(0, mortise_lock_deadline_ns(lock));
  CHECK_NUMBER(0, mortise_rw_deadline_ns(rw));
  CHECK_NUMBER(0, mortise_semaphore_deadline_ns(permits));
  CHECK_NUMBER(0, mortise_multi_deadline_ns(multi));
  CHECK(mortise_lock_deadline_ns(NULL) == 0 && mortise_rw_deadline_ns(NULL) == 0);
  CHECK(mortise_semaphore_deadline_ns(NULL) == 0 && mortise_multi_deadline_ns(NULL) == 0);
  mortise_multi_free(multi);
  mortise_semaphore_free(permits);
  mortise_rw_free(rw);
  mortise_lock_free(lock);
  mortise_options_free(options);
}

int main(void) {
  server = server_start(NULL);
  client = open_client(server);
  RUN(a_name_is_what_was_given);
  RUN(a_deadline_is_by_the_clock_that_runs_on);
  mortise_client_free(client);
  server_free(server);
  return 0;
}
