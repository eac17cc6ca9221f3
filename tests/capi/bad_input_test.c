/* Wrong arguments and wrong servers: the documented status, a message with the remedy, in time. */
#include "fixture.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static test_server *server;
static mortise_client *client;

static const mortise_status bad = MORTISE_INVALID_ARGUMENT;

static void null_handles_are_refused(void) {
  mortise_error *error = mortise_error_new();
  mortise_info *info = mortise_info_new();
  mortise_event *event = mortise_event_new();
  mortise_queue *queue = mortise_queue_new(client, 4, NULL);
  int64_t numbers[MORTISE_RECORD_FIELDS];
  int64_t count = 0;
  CHECK_STATUS(bad, mortise_client_ping(NULL, error));
  CHECK_ERROR(error, bad, "client");
  CHECK_STATUS(bad, mortise_lock_try(NULL, error));
  CHECK_ERROR(error, bad, "lock");
  CHECK_STATUS(bad, mortise_lock_acquire(NULL, 10, NULL));
  CHECK_STATUS(bad, mortise_lock_unlock(NULL, NULL));
  CHECK_STATUS(bad, mortise_lock_extend(NULL, 1000, NULL));
  CHECK_STATUS(bad, mortise_lock_cancel(NULL, NULL));
  CHECK_STATUS(bad, mortise_lock_query(NULL, info, NULL));
  CHECK_STATUS(bad, mortise_lock_try_async(NULL, queue, 1, NULL));
  CHECK_STATUS(bad, mortise_lock_acquire_async(NULL, queue, 1, 10, NULL));
  CHECK_STATUS(bad, mortise_lock_unlock_async(NULL, queue, 1, NULL));
  CHECK_STATUS(bad, mortise_lock_extend_async(NULL, queue, 1, 0, NULL));
  CHECK_STATUS(bad, mortise_lock_watch(NULL, queue, 1, NULL));
  CHECK_STATUS(bad, mortise_queue_next(NULL, 0, event, error));
  CHECK_ERROR(error, bad, "queue");
  CHECK_STATUS(bad, mortise_queue_next_batch(NULL, 0, numbers, 1, &count, NULL));
  CHECK(mortise_lock_new(NULL, "n", 1, NULL, error) == NULL);
  CHECK_ERROR(error, bad, "client");
  CHECK(mortise_queue_new(NULL, 0, error) == NULL);
  CHECK_ERROR(error, bad, "client");
  CHECK_NUMBER(0, mortise_lock_is_held(NULL));
  CHECK_NUMBER(0, mortise_lock_valid_ms(NULL));
  CHECK_NUMBER(0, mortise_lock_token(NULL));
  CHECK_NUMBER(-1, mortise_queue_fd(NULL));
  mortise_queue_wake(NULL);
  mortise_queue_shutdown(NULL);
  CHECK_NUMBER(MORTISE_EVENT_NONE, mortise_event_kind(NULL));
  CHECK_NUMBER(0, mortise_event_tag(NULL));
  CHECK_NUMBER(0, mortise_event_token(NULL));
  CHECK(strlen(mortise_event_message(NULL)) == 0);
  CHECK(strlen(mortise_event_server_text(NULL)) == 0);
  CHECK_NUMBER(0, mortise_event_is_retryable(NULL));
  CHECK_NUMBER(0, mortise_event_is_ambiguous(NULL));
  mortise_queue_free(queue);
  mortise_event_free(event);
  mortise_info_free(info);
  mortise_error_free(error);
}

static void null_beside_a_good_handle_is_refused(void) {
  mortise_error *error = mortise_error_new();
  mortise_lock *lock = open_lock(client, "beside");
  mortise_queue *queue = mortise_queue_new(client, 4, NULL);
  mortise_event *event = mortise_event_new();
  int64_t numbers[MORTISE_RECORD_FIELDS];
  int64_t count = 0;
  CHECK_STATUS(bad, mortise_lock_query(lock, NULL, error));
  CHECK_ERROR(error, bad, "info");
  CHECK_STATUS(bad, mortise_lock_try_async(lock, NULL, 1, error));
  CHECK_ERROR(error, bad, "queue");
  CHECK_STATUS(bad, mortise_lock_acquire_async(lock, NULL, 1, 10, NULL));
  CHECK_STATUS(bad, mortise_lock_unlock_async(lock, NULL, 1, NULL));
  CHECK_STATUS(bad, mortise_lock_extend_async(lock, NULL, 1, 0, NULL));
  CHECK_STATUS(bad, mortise_queue_next(queue, 0, NULL, error));
  CHECK_ERROR(error, bad, "event");
  CHECK_STATUS(bad, mortise_queue_next_batch(queue, 0, NULL, 1, &count, NULL));
  CHECK_STATUS(bad, mortise_queue_next_batch(queue, 0, numbers, 1, NULL, NULL));
  CHECK_STATUS(bad, mortise_queue_next_batch(queue, 0, numbers, 0, &count, NULL));
  CHECK_STATUS(bad, mortise_queue_next_batch(queue, 0, numbers, -1, &count, error));
  CHECK_ERROR(error, bad, "-1");
  CHECK_STATUS(bad, mortise_queue_next(queue, -2, event, NULL));
  CHECK_STATUS(bad, mortise_queue_next(queue, MORTISE_MAX_MS + 1, event, NULL));
  CHECK_STATUS(bad, mortise_queue_next_batch(queue, INT64_MIN, numbers, 1, &count, NULL));
  CHECK(mortise_queue_new(client, -1, error) == NULL);
  CHECK_ERROR(error, bad, "-1");
  CHECK(mortise_queue_new(client, 1048577, error) == NULL);
  CHECK_ERROR(error, bad, "1048577");
  mortise_event_free(event);
  mortise_queue_free(queue);
  mortise_lock_free(lock);
  mortise_error_free(error);
}

static void timeouts_have_their_range(void) {
  mortise_error *error = mortise_error_new();
  mortise_lock *lock = open_lock(client, "timeouts");
  mortise_queue *queue = mortise_queue_new(client, 4, NULL);
  const int64_t wrong[] = {-2, INT64_MIN, MORTISE_MAX_MS + 1, INT64_MAX};
  for (int i = 0; i < 4; ++i) {
    CHECK_STATUS(bad, mortise_lock_acquire(lock, wrong[i], error));
    CHECK_ERROR(error, bad, "timeout_ms");
    CHECK_STATUS(bad, mortise_lock_acquire_async(lock, queue, 1, wrong[i], NULL));
  }
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lock, MORTISE_MAX_MS, NULL));
  CHECK_STATUS(bad, mortise_lock_extend(lock, INT64_MAX, error));
  CHECK_ERROR(error, bad, "lease_ms");
  CHECK_STATUS(bad, mortise_lock_extend(lock, INT64_MIN, NULL));
  CHECK_STATUS(bad, mortise_lock_extend_async(lock, queue, 1, 49, NULL));
  CHECK_NUMBER(1, mortise_lock_is_held(lock));
  mortise_queue_free(queue);
  mortise_lock_free(lock);
  mortise_error_free(error);
}

static void check_scan_refused(const char *pattern, size_t pattern_len, int64_t most_keys,
                               int64_t timeout_ms, const char *part) {
  mortise_error *error = mortise_error_new();
  CHECK(mortise_client_scan_locks(client, pattern, pattern_len, most_keys, timeout_ms, error) ==
        NULL);
  CHECK_ERROR(error, bad, part);
  mortise_error_free(error);
}

static void a_scan_has_its_bounds(void) {
  static const char pattern[MORTISE_MAX_NAME_LEN + 1];
  check_scan_refused(NULL, 1, 1, 1000, "pattern");
  check_scan_refused(pattern, sizeof pattern, 1, 1000, "pattern");
  check_scan_refused("", 0, 0, 1000, "most_keys");
  check_scan_refused("", 0, -1, 1000, "most_keys");
  check_scan_refused("", 0, INT64_MAX, 1000, "most_keys");
  check_scan_refused("", 0, 1, 0, "timeout_ms");
  check_scan_refused("", 0, 1, 60001, "timeout_ms");
  CHECK(mortise_client_scan_locks(NULL, "", 0, 1, 1000, NULL) == NULL);
  mortise_listing *found = mortise_client_scan_locks(client, NULL, 0, 1000000000, 60000, NULL);
  CHECK_NUMBER(1, mortise_listing_answered(found));
  mortise_listing_free(found);
}

static void check_history_refused(const char *name, size_t name_len, int64_t window_ms,
                                  int64_t timeout_ms, const char *part) {
  mortise_error *error = mortise_error_new();
  CHECK(mortise_client_list_history(client, name, name_len, window_ms, timeout_ms, error) == NULL);
  CHECK_ERROR(error, bad, part);
  mortise_error_free(error);
}

static void a_history_has_its_bounds(void) {
  static const char name[MORTISE_MAX_NAME_LEN + 1];
  check_history_refused(NULL, 1, 1, 1000, "name");
  check_history_refused("", 0, 1, 1000, "name");
  check_history_refused(name, sizeof name, 1, 1000, "name");
  check_history_refused("x", 1, 0, 1000, "window_ms");
  check_history_refused("x", 1, INT64_MAX, 1000, "window_ms");
  check_history_refused("x", 1, 1, 0, "timeout_ms");
  check_history_refused("x", 1, 1, 60001, "timeout_ms");
  CHECK(mortise_client_list_history(NULL, "x", 1, 1, 1000, NULL) == NULL);
  mortise_listing *history = mortise_client_list_history(client, name, 1, 86400000, 60000, NULL);
  CHECK_NUMBER(1, mortise_listing_answered(history));
  CHECK_NUMBER(0, mortise_listing_count(history));
  CHECK(mortise_listing_text(history, 0, "event", 5)[0] == '\0');
  mortise_listing_free(history);
}

static void names_are_any_bytes_within_bounds(void) {
  mortise_error *error = mortise_error_new();
  char name[MORTISE_MAX_NAME_LEN + 1];
  memset(name, 'n', sizeof name);
  CHECK(mortise_lock_new(client, name, sizeof name, NULL, error) == NULL);
  CHECK_ERROR(error, bad, "1024");
  CHECK(mortise_lock_new(client, name, 0, NULL, error) == NULL);
  CHECK_ERROR(error, bad, "name");
  CHECK(mortise_lock_new(client, name, (size_t)-1, NULL, NULL) == NULL);
  CHECK(mortise_lock_new(client, NULL, 4, NULL, error) == NULL);
  CHECK_ERROR(error, bad, "name");
  CHECK(mortise_lock_new(client, NULL, 0, NULL, NULL) == NULL);

  const struct {
    const char *bytes;
    size_t length;
  } good[] = {{name, MORTISE_MAX_NAME_LEN},
              {"\0", 1},
              {"a\0b", 3},
              {"a\0c", 3},
              {"\xff\xfe\r\n", 4},
              {"} {x}:q *", 9},
              {"{}", 2},
              {"%d%s%n", 6},
              {"}", 1},
              {"{", 1},
              {"na me\t", 6}};
  mortise_lock *locks[11];
  for (int i = 0; i < 11; ++i) {
    locks[i] = mortise_lock_new(client, good[i].bytes, good[i].length, NULL, NULL);
    CHECK(locks[i] != NULL);
    CHECK_STATUS(MORTISE_OK, mortise_lock_try(locks[i], NULL));
  }
  for (int i = 0; i < 11; ++i) {
    mortise_lock *same = mortise_lock_new(client, good[i].bytes, good[i].length, NULL, NULL);
    CHECK_STATUS(MORTISE_TIMED_OUT, mortise_lock_acquire(same, 5, NULL));
    mortise_lock_free(same);
    CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(locks[i], NULL));
    mortise_lock_free(locks[i]);
  }
  server_wait_for_exactly(server, lock_keys, 0);
  mortise_error_free(error);
}

static void check_url_refused(const char *url) {
  mortise_error *error = mortise_error_new();
  if (mortise_client_new(url, strlen(url), NULL, error) != NULL) {
    check_failed(__FILE__, __LINE__, url);
  }
  if (mortise_error_status(error) != bad) fprintf(stderr, "URL: %s\n", url);
  CHECK_ERROR(error, bad, "");
  mortise_error_free(error);
}

static void malformed_urls_are_refused(void) {
  const char *const urls[] = {
      "redis",
      "://",
      "redis://",
      "http://localhost",
      "redis//localhost:6379",
      "redis://localhost:port",
      "redis://localhost:65536",
      "redis://localhost:0",
      "redis://localhost:-1",
      "redis://localhost/minus",
      "redis://localhost/-1",
      "redis://localhost/99999999999",
      "redis://localhost?lease=never",
      "redis://localhost?lease=1",
      "redis://localhost?unknown=1",
      "redis://localhost?lease",
      "redis://local%zzhost",
      "redis://localhost?label=%f",
      "redis://[::1",
      "unix://",
      "unix:relative/path",
      "unix:///tmp/x?db=minus",
      " redis://localhost",
      "redis://local\nhost",
  };
  for (size_t i = 0; i < sizeof urls / sizeof urls[0]; ++i) check_url_refused(urls[i]);
  mortise_error *error = mortise_error_new();
  CHECK(mortise_client_new(NULL, 5, NULL, error) == NULL);
  CHECK_ERROR(error, bad, "url");
  CHECK(mortise_client_new("redis://h", 0, NULL, error) == NULL);
  CHECK_ERROR(error, bad, "url");
  static char huge[4097];
  memset(huge, 'h', sizeof huge);
  memcpy(huge, "redis://", 8);
  CHECK(mortise_client_new(huge, sizeof huge, NULL, error) == NULL);
  CHECK_ERROR(error, bad, "4096");
  memcpy(huge, "unix:///", 8); /* a path that is too long for a socket */
  CHECK(mortise_client_new(huge, 4096, NULL, error) == NULL);
  CHECK_ERROR(error, bad, "");
  CHECK(mortise_client_new("redis://a\0b", 11, NULL, error) == NULL);
  CHECK_ERROR(error, bad, "");
  mortise_error_free(error);
}

/* Opening a client at such a server, with this patience, fails with this status. */
static void check_open_fails_within(int64_t timeout_ms, const char *url, mortise_status status,
                                    const char *part) {
  mortise_error *error = mortise_error_new();
  mortise_options *options = mortise_options_new();
  CHECK_STATUS(MORTISE_OK, mortise_options_set_command_timeout_ms(options, timeout_ms, NULL));
  const int64_t begin = now_ms();
  CHECK(mortise_client_new(url, strlen(url), options, error) == NULL);
  CHECK(now_ms() - begin < timeout_ms + patience_ms);
  CHECK_ERROR(error, status, part);
  fprintf(stderr, "  %s\n", mortise_error_message(error));
  mortise_options_free(options);
  mortise_error_free(error);
}

/* An error of the server or of the system ends the opening long before its timeout. */
static void check_open_fails(const char *url, mortise_status status, const char *part) {
  const int64_t begin = now_ms();
  check_open_fails_within(60000, url, status, part);
  CHECK(now_ms() - begin < patience_ms);
}

/* A port of this host without a listener, which nobody else gets until the socket is closed. */
static int closed_port(int *reserved) {
  struct sockaddr_in address;
  socklen_t length = sizeof address;
  memset(&address, 0, sizeof address);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  *reserved = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(bind(*reserved, (struct sockaddr *)&address, sizeof address) == 0);
  CHECK(getsockname(*reserved, (struct sockaddr *)&address, &length) == 0);
  return ntohs(address.sin_port);
}

static void absent_servers_are_named(void) {
  char url[128];
  int reserved;
  check_open_fails_within(300, server_nowhere(server), MORTISE_UNREACHABLE, "nobody.sock");
  check_open_fails_within(300, "unix:///no/such/folder/redis.sock", MORTISE_UNREACHABLE,
                          "/no/such/folder");
  snprintf(url, sizeof url, "redis://127.0.0.1:%d", closed_port(&reserved));
  check_open_fails_within(300, url, MORTISE_UNREACHABLE, "127.0.0.1");
  close(reserved);
  check_open_fails_within(300, "redis://no-such-host.invalid", MORTISE_UNREACHABLE,
                          "no-such-host.invalid");
}

static void silent_servers_are_given_up(void) {
  test_server *silent = server_start_silent();
  check_open_fails_within(300, server_url(silent), MORTISE_UNREACHABLE,
                          server_url(silent) + strlen("redis://"));
  server_free(silent);
}

static void strangers_are_distinguished(void) {
  /* The last speaks the protocol, but its replies are not those of a usable server. */
  const struct {
    const char *answer;
    mortise_status status;
  } strangers[] = {{"HTTP/1.1 400 Bad Request\r\n\r\n", MORTISE_UNREACHABLE},
                   {"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", MORTISE_UNREACHABLE},
                   {"\r\n\r\n\r\n", MORTISE_UNREACHABLE},
                   {"$-7\r\n", MORTISE_UNREACHABLE},
                   {"*1000000000\r\n", MORTISE_UNREACHABLE},
                   {"$99999999999999999999\r\n", MORTISE_UNREACHABLE},
                   {":12x\r\n", MORTISE_UNREACHABLE},
                   {"+OK\r\n", MORTISE_REFUSED}};
  for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; ++i) {
    test_server *stranger = server_start_answering(strangers[i].answer);
    check_open_fails(server_url(stranger), strangers[i].status,
                     server_url(stranger) + strlen("redis://"));
    server_free(stranger);
  }
}

static void a_loading_server_is_reported(void) {
  test_server *loading =
      server_start_answering("-LOADING Redis is loading the dataset in memory\r\n");
  check_open_fails_within(1000, server_url(loading), MORTISE_REFUSED, "load");
  server_free(loading);
}

static void passwords_are_wanted_and_given(void) {
  const char *const arguments[] = {"--requirepass", "s:cret/@", NULL};
  test_server *locked = server_start(arguments);
  char url[256];
  check_open_fails(server_url(locked), MORTISE_REFUSED, "password");
  CHECK_CONTAINS(server_command(locked, "AUTH s:cret/@"), "OK");
  CHECK_CONTAINS(server_command(locked, "CONFIG SET bind 127.0.0.1"), "OK");
  int reserved;
  const int port = closed_port(&reserved);
  close(reserved);
  char command[64];
  snprintf(command, sizeof command, "CONFIG SET port %d", port);
  CHECK_CONTAINS(server_command(locked, command), "OK");
  snprintf(url, sizeof url, "redis://127.0.0.1:%d", port);
  check_open_fails(url, MORTISE_REFUSED, "password");
  snprintf(url, sizeof url, "redis://:wrong@127.0.0.1:%d", port);
  check_open_fails(url, MORTISE_REFUSED, "password");
  snprintf(url, sizeof url, "redis://nobody:s%%3Acret%%2F%%40@127.0.0.1:%d", port);
  check_open_fails(url, MORTISE_REFUSED, "user");
  snprintf(url, sizeof url, "redis://:s%%3Acret%%2F%%40@127.0.0.1:%d/1?lease=5s", port);
  mortise_client *first = open_client_with(url, NULL);
  CHECK_STATUS(MORTISE_OK, mortise_client_ping(first, NULL));
  snprintf(url, sizeof url, "redis://default:s%%3Acret%%2F%%40@127.0.0.1:%d", port);
  mortise_client *second = open_client_with(url, NULL);
  CHECK_STATUS(MORTISE_OK, mortise_client_ping(second, NULL));
  mortise_client_free(first);
  mortise_client_free(second);
  server_free(locked);
}

static void replicas_and_missing_databases_are_refused(void) {
  const char *const arguments[] = {"--replicaof", "127.0.0.1", "1", NULL};
  test_server *replica = server_start(arguments);
  char url[256];
  /* It may be promoted, or the name may move, as long as there is time. */
  check_open_fails_within(500, server_url(replica), MORTISE_REFUSED, "read-only replica");
  server_free(replica);
  snprintf(url, sizeof url, "%s?db=16", server_url(server));
  check_open_fails(url, MORTISE_REFUSED, "16");
}

/* A refusal by a server without memory is reported at once, and holds stay held. */
static void a_full_server_refuses(void) {
  mortise_error *error = mortise_error_new();
  mortise_lock *held = open_lock(client, "full-held");
  mortise_lock *idle = open_lock(client, "full");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(held, NULL));
  CHECK_CONTAINS(server_command(server, "CONFIG SET maxmemory 1"), "OK");
  CHECK_STATUS(MORTISE_REFUSED, mortise_lock_try(idle, error));
  CHECK_CONTAINS(mortise_error_server_text(error), "OOM");
  CHECK_ERROR(error, MORTISE_REFUSED, "memory");
  CHECK_NUMBER(1, mortise_error_is_retryable(error));
  CHECK_NUMBER(0, mortise_error_is_ambiguous(error));
  CHECK_STATUS(MORTISE_REFUSED, mortise_lock_acquire(idle, 1000, error));
  CHECK_STATUS(MORTISE_OK, mortise_lock_extend(held, 60000, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(held, NULL));
  CHECK_NUMBER(0, server_number(server, "EXISTS {mortise:full-held}"));
  CHECK_CONTAINS(server_command(server, "CONFIG SET maxmemory 0"), "OK");
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(idle, patience_ms, NULL));
  mortise_lock_free(held);
  mortise_lock_free(idle);
  mortise_error_free(error);
}

static void keys_of_others_are_left_alone(void) {
  mortise_error *error = mortise_error_new();
  const char *const spoil[] = {"RPUSH {mortise:spoilt} x", "HSET {mortise:spoilt} f v",
                               "SADD {mortise:spoilt} m"};
  for (int i = 0; i < 3; ++i) {
    mortise_lock *lock = open_lock(client, "spoilt");
    server_number(server, spoil[i]);
    CHECK_STATUS(MORTISE_REFUSED, mortise_lock_acquire(lock, 2000, error));
    CHECK_CONTAINS(mortise_error_server_text(error), "FOREIGN the key {mortise:spoilt} holds a ");
    CHECK_ERROR(error, MORTISE_REFUSED, "another protocol");
    CHECK_NUMBER(1, server_number(server, "DEL {mortise:spoilt}"));
    CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lock, patience_ms, NULL));
    mortise_lock_free(lock);
    server_wait_for_exactly(server, "EXISTS {mortise:spoilt}", 0);
  }
  mortise_lock *lock = open_lock(client, "foreign");
  CHECK_CONTAINS(server_command(server, "SET {mortise:foreign} 42"), "OK");
  CHECK_STATUS(MORTISE_REFUSED, mortise_lock_acquire(lock, 2000, error));
  CHECK_CONTAINS(mortise_error_server_text(error), "FOREIGN");
  CHECK_CONTAINS(server_command(server, "GET {mortise:foreign}"), "42");
  CHECK_NUMBER(1, server_number(server, "DEL {mortise:foreign}"));
  mortise_lock_free(lock);
  mortise_error_free(error);
}

int main(void) {
  server = server_start(NULL);
  client = open_client(server);
  RUN(null_handles_are_refused);
  RUN(null_beside_a_good_handle_is_refused);
  RUN(timeouts_have_their_range);
  RUN(a_scan_has_its_bounds);
  RUN(a_history_has_its_bounds);
  RUN(names_are_any_bytes_within_bounds);
  RUN(malformed_urls_are_refused);
  RUN(absent_servers_are_named);
  RUN(silent_servers_are_given_up);
  RUN(strangers_are_distinguished);
  RUN(a_loading_server_is_reported);
  RUN(passwords_are_wanted_and_given);
  RUN(replicas_and_missing_databases_are_refused);
  RUN(a_full_server_refuses);
  RUN(keys_of_others_are_left_alone);
  mortise_client_free(client);
  server_free(server);
  return 0;
}
