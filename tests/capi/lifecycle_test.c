/* Versions, making and freeing: any order, bounded time, nothing left over. */
#include "fixture.h"

#include <dirent.h>
#include <unistd.h>

static test_server *server;

static int open_descriptors(void) {
  DIR *folder = opendir("/proc/self/fd");
  CHECK(folder != NULL);
  int count = 0;
  while (readdir(folder) != NULL) ++count;
  closedir(folder);
  return count;
}

static void versions_agree_with_the_header(void) {
  CHECK_NUMBER(MORTISE_VERSION_NUMBER, mortise_version());
  CHECK(strcmp(mortise_version_text(), MORTISE_VERSION_TEXT) == 0);
  CHECK_STATUS(MORTISE_OK, mortise_check_abi(MORTISE_ABI_MAJOR, 0));
  CHECK_STATUS(MORTISE_OK, mortise_check_abi(MORTISE_VERSION_MAJOR, MORTISE_VERSION_MINOR));
  CHECK_STATUS(MORTISE_UNSUPPORTED,
               mortise_check_abi(MORTISE_VERSION_MAJOR, MORTISE_VERSION_MINOR + 1));
  CHECK_STATUS(MORTISE_UNSUPPORTED, mortise_check_abi(MORTISE_ABI_MAJOR + 1, 0));
  CHECK_STATUS(MORTISE_UNSUPPORTED, mortise_check_abi(0, 0));
  CHECK(mortise_get_api(MORTISE_ABI_MAJOR) != NULL);
  CHECK(mortise_get_api(MORTISE_ABI_MAJOR + 1) == NULL);
  CHECK(mortise_get_api(0) == NULL);
  CHECK(mortise_get_api(-1) == NULL);
}

static void every_status_has_a_name_of_its_own(void) {
  for (mortise_status left = MORTISE_INTERNAL; left <= MORTISE_SHUT_DOWN; ++left) {
    CHECK(mortise_status_text(left)[0] != '\0');
    for (mortise_status right = MORTISE_INTERNAL; right < left; ++right) {
      CHECK(strcmp(mortise_status_text(left), mortise_status_text(right)) != 0);
    }
  }
  CHECK(strcmp(mortise_status_text(MORTISE_TIMED_OUT), "timed out") == 0);
  CHECK(mortise_status_text(12345) != NULL);
  CHECK(mortise_status_text(INT32_MIN) != NULL);
}

static void freeing_null_does_nothing(void) {
  mortise_error_free(NULL);
  mortise_options_free(NULL);
  mortise_client_free(NULL);
  mortise_lock_free(NULL);
  mortise_info_free(NULL);
  mortise_queue_free(NULL);
  mortise_event_free(NULL);
}

/* A client, a handle that holds, one that does not, and a queue that one of them is watched by. */
typedef struct family {
  mortise_client *client;
  mortise_lock *held;
  mortise_lock *idle;
  mortise_queue *queue;
} family;

static void free_member(family *all, int which) {
  if (which == 0) mortise_client_free(all->client);
  if (which == 1) mortise_lock_free(all->held);
  if (which == 2) mortise_lock_free(all->idle);
  if (which == 3) mortise_queue_free(all->queue);
}

static void free_in_order(const int order[4]) {
  family all;
  all.client = open_client(server);
  all.held = open_lock(all.client, "order");
  all.idle = open_lock(all.client, "other");
  all.queue = mortise_queue_new(all.client, 0, NULL);
  CHECK(all.queue != NULL);
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(all.held, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(all.held, all.queue, 1, NULL));
  const int64_t begin = now_ms();
  for (int i = 0; i < 4; ++i) free_member(&all, order[i]);
  CHECK(now_ms() - begin < patience_ms / 4);
  server_wait_for_exactly(server, "EXISTS {mortise:order}", 0);
}

static void the_order_of_freeing_never_matters(void) {
  for (int number = 0; number < 256; ++number) {
    const int order[4] = {number & 3, number >> 2 & 3, number >> 4 & 3, number >> 6 & 3};
    int seen = 0;
    for (int i = 0; i < 4; ++i) seen |= 1 << order[i];
    if (seen == 15) free_in_order(order);
  }
}

static void handles_of_a_freed_client_say_closed(void) {
  mortise_client *client = open_client(server);
  mortise_lock *lock = open_lock(client, "closed");
  mortise_lock *held = open_lock(client, "closed-held");
  mortise_info *info = mortise_info_new();
  mortise_error *error = mortise_error_new();
  mortise_queue *queue = mortise_queue_new(client, 0, NULL);
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(held, NULL));
  mortise_client_free(client);
  CHECK_STATUS(MORTISE_CLOSED, mortise_lock_try(lock, error));
  CHECK_ERROR(error, MORTISE_CLOSED, "");
  CHECK_STATUS(MORTISE_CLOSED, mortise_lock_acquire(lock, 1000, NULL));
  CHECK_STATUS(MORTISE_CLOSED, mortise_lock_acquire(lock, MORTISE_FOREVER, NULL));
  CHECK_STATUS(MORTISE_CLOSED, mortise_lock_unlock(held, NULL));
  CHECK_STATUS(MORTISE_CLOSED, mortise_lock_extend(held, 0, NULL));
  CHECK_STATUS(MORTISE_CLOSED, mortise_lock_cancel(lock, NULL));
  CHECK_STATUS(MORTISE_CLOSED, mortise_lock_query(lock, info, NULL));
  CHECK_STATUS(MORTISE_CLOSED, mortise_lock_try_async(lock, queue, 1, NULL));
  CHECK_STATUS(MORTISE_CLOSED, mortise_lock_acquire_async(lock, queue, 1, 10, NULL));
  CHECK_STATUS(MORTISE_CLOSED, mortise_lock_unlock_async(held, queue, 1, NULL));
  CHECK_STATUS(MORTISE_CLOSED, mortise_lock_extend_async(held, queue, 1, 0, NULL));
  CHECK_STATUS(MORTISE_CLOSED, mortise_lock_watch(lock, queue, 1, NULL));
  CHECK_NUMBER(0, mortise_lock_is_held(held));
  CHECK_NUMBER(0, mortise_lock_valid_ms(held));
  mortise_queue_free(queue);
  mortise_lock_free(lock);
  mortise_lock_free(held);
  mortise_info_free(info);
  mortise_error_free(error);
}

static void freeing_gives_a_hold_back(void) {
  mortise_client *client = open_client(server);
  mortise_lock *lock = open_lock(client, "given back");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  CHECK_NUMBER(1, server_number(server, lock_keys));
  mortise_lock_free(lock);
  lock = open_lock(client, "given back");
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lock, patience_ms, NULL));
  mortise_client_free(client);
  server_wait_for_exactly(server, lock_keys, 0);
  mortise_lock_free(lock);
}

static void options_may_be_freed_at_once(void) {
  mortise_options *options = options_with("lease", "5s");
  mortise_client *client = open_client_with(server_url(server), options);
  mortise_options_free(options);
  options = options_with("lease", "7s");
  mortise_lock *of_client = open_lock(client, "first");
  mortise_lock *of_its_own = open_lock_with(client, "second", options);
  mortise_options_free(options);
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(of_client, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(of_its_own, NULL));
  CHECK(mortise_lock_valid_ms(of_client) <= 5000);
  CHECK(mortise_lock_valid_ms(of_its_own) > 5000);
  mortise_client_free(client);
  mortise_lock_free(of_client);
  mortise_lock_free(of_its_own);
}

static void nothing_is_left_over(void) {
  const int before = open_descriptors();
  for (int i = 0; i < 100; ++i) {
    mortise_client *client = open_client(server);
    mortise_lock *lock = open_lock(client, "again");
    mortise_queue *queue = mortise_queue_new(client, 16, NULL);
    CHECK(queue != NULL);
    CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lock, patience_ms, NULL));
    CHECK_STATUS(MORTISE_OK, mortise_client_ping(client, NULL));
    mortise_queue_free(queue);
    mortise_lock_free(lock);
    mortise_client_free(client);
  }
  CHECK_NUMBER(before, open_descriptors());
}

static void free_is_quick_when_the_server_hangs(void) {
  mortise_client *client = open_client(server);
  mortise_lock *lock = open_lock(client, "hang");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  server_pause(server);
  const int64_t begin = now_ms();
  mortise_lock_free(lock);
  mortise_client_free(client);
  CHECK(now_ms() - begin < 3000);
  server_resume(server);
}

int main(void) {
  server = server_start(NULL);
  RUN(versions_agree_with_the_header);
  RUN(every_status_has_a_name_of_its_own);
  RUN(freeing_null_does_nothing);
  RUN(the_order_of_freeing_never_matters);
  RUN(handles_of_a_freed_client_say_closed);
  RUN(freeing_gives_a_hold_back);
  RUN(options_may_be_freed_at_once);
  RUN(nothing_is_left_over);
  RUN(free_is_quick_when_the_server_hangs);
  server_free(server);
  return 0;
}
