/* Passwords that change while a client lives: in a file, and by a call of the program. */
#include "fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static test_server *server;
static char folder[] = "/tmp/mortise-credentials-XXXXXX";
static char file[64];

static void write_file(const void *bytes, size_t size) {
  char fresh[80];
  snprintf(fresh, sizeof fresh, "%s.new", file);
  FILE *out = fopen(fresh, "w");
  CHECK(out != NULL && chmod(fresh, 0600) == 0);
  CHECK(out != NULL && fwrite(bytes, 1, size, out) == size && fclose(out) == 0);
  CHECK(rename(fresh, file) == 0); /* as a rotation does: the file is complete at any time */
}

static void write_line(const char *text) { write_file(text, strlen(text)); }

/* From now on the user of all tests has this one password, and its connections end. */
static void rotate_at_server(const char *password) {
  char words[256];
  snprintf(words, sizeof words, "ACL SETUSER locker resetpass %s", password);
  CHECK_CONTAINS(server_command(server, words), "OK");
  server_command(server, "CLIENT KILL USER locker");
}

/* unix://LOGIN@socket?QUERY */
static const char *url_of(const test_server *of, const char *login, const char *query) {
  static char url[512];
  snprintf(url, sizeof url, "unix://%s@%s?%s", login, server_url(of) + strlen("unix://"), query);
  return url;
}

static mortise_client *open_as(const char *login, const char *query) {
  return open_client_with(url_of(server, login, query), NULL);
}

static mortise_client *open_with_file(void) {
  char query[128];
  snprintf(query, sizeof query, "lease=10m&command_timeout=2s&password_file=%s", file);
  return open_as("locker", query);
}

static mortise_status set_credentials(mortise_client *client, const char *user,
                                      const char *password, mortise_error *error) {
  return mortise_client_set_credentials(client, user, strlen(user), password, strlen(password),
                                        error);
}

static void the_file_is_read_again_at_each_connect(void) {
  rotate_at_server(">first");
  write_line("first\n");
  mortise_client *client = open_with_file();
  mortise_lock *lock = open_lock(client, "rotated");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  write_line("second\r\n");
  rotate_at_server(">second");
  wait_for_ping(client, MORTISE_OK);
  CHECK_NUMBER(1, mortise_lock_is_held(lock));
  CHECK_STATUS(MORTISE_OK, mortise_lock_extend(lock, 0, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  mortise_lock_free(lock);
  mortise_client_free(client);
}

/* A waiter is served after the file is right, and a hold stays held meanwhile. */
static void a_hold_outlives_a_file_that_is_late(void) {
  mortise_error *error = mortise_error_new();
  rotate_at_server(">second");
  write_line("second");
  mortise_client *client = open_with_file();
  mortise_lock *held = open_lock(client, "held");
  mortise_lock *contended = open_lock(client, "wanted");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(held, NULL));
  rotate_at_server(">third");
  wait_for_ping(client, MORTISE_REFUSED);
  CHECK_STATUS(MORTISE_REFUSED, mortise_client_ping(client, error));
  CHECK_ERROR(error, MORTISE_REFUSED, file);
  CHECK_CONTAINS(mortise_error_message(error), "password_file");
  CHECK(strstr(mortise_error_message(error), "second") == NULL);
  CHECK_NUMBER(1, mortise_lock_is_held(held));
  background call;
  start_acquire(&call, contended, patience_ms);
  wait_until_busy(contended);
  CHECK(remove(file) == 0);
  wait_for_ping(client, MORTISE_UNREACHABLE);
  CHECK_STATUS(MORTISE_UNREACHABLE, mortise_client_ping(client, error));
  CHECK_ERROR(error, MORTISE_UNREACHABLE, "No such file");
  CHECK_NUMBER(1, mortise_error_is_retryable(error));
  write_line("third");
  CHECK_STATUS(MORTISE_OK, finish_acquire(&call));
  CHECK_NUMBER(1, mortise_lock_is_held(held));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(held, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(contended, NULL));
  mortise_lock_free(held);
  mortise_lock_free(contended);
  mortise_client_free(client);
  mortise_error_free(error);
}

static void any_bytes_are_a_password(void) {
  static const char password[] = "a\0b c\xff\r\n$";
  enum { size = sizeof password - 1 };
  /* The server gets its SHA-256. */
  rotate_at_server("#9ce4fddfedfdda86acbe67c799cd0ddf04a21cc40bb6c26aee03d223b71f4c7d");
  write_file(password, size);
  mortise_client *client = open_with_file();
  mortise_client_free(client);
  write_file("a\0b c\xff\r\n$\n", size + 1);
  client = open_with_file();
  mortise_client_free(client);
  client = open_as("locker:a%00b%20c%FF%0D%0A$", "db=0");
  CHECK_STATUS(MORTISE_OK,
               mortise_client_set_credentials(client, "locker", 6, password, size, NULL));
  CHECK_STATUS(MORTISE_REFUSED,
               mortise_client_set_credentials(client, "locker", 6, password, size - 1, NULL));
  mortise_client_free(client);
}

static void check_refused(const char *login, const char *path, const char *part) {
  char query[8192];
  mortise_error *error = mortise_error_new();
  mortise_options *options = mortise_options_new();
  mortise_status status =
      mortise_options_set(options, MORTISE_OPTION_PASSWORD_FILE, 13, path, strlen(path), error);
  if (status == MORTISE_OK) {
    const char *url = url_of(server, login, "command_timeout=20s");
    CHECK(mortise_client_new(url, strlen(url), options, error) == NULL);
  }
  snprintf(query, sizeof query, "password_file: ");
  CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, query);
  CHECK_CONTAINS(mortise_error_message(error), part);
  if (status == MORTISE_OK && strchr(login, ':') == NULL) {
    CHECK_CONTAINS(mortise_error_message(error), path);
  }
  mortise_options_free(options);
  mortise_error_free(error);
}

/* None of them is waited for. */
static void an_unusable_file_is_reported_at_once(void) {
  static char long_text[MORTISE_MAX_PASSWORD_LEN + 3];
  char missing[80];
  char fifo[80];
  char below[80];
  const int64_t begin = now_ms();
  snprintf(missing, sizeof missing, "%s/missing", folder);
  snprintf(fifo, sizeof fifo, "%s/fifo", folder);
  snprintf(below, sizeof below, "%s/below", file);
  CHECK(mkfifo(fifo, 0600) == 0);
  write_line("third");
  check_refused("locker", "", "begin with '/'");
  check_refused("locker", "password", "give the full path");
  check_refused("locker", missing, "No such file");
  check_refused("locker", below, "Not a directory");
  check_refused("locker", folder, "is a directory; give the path of a file");
  check_refused("locker", fifo, "is not a regular file");
  check_refused("locker", "/dev/zero", "is not a regular file");
  check_refused("locker:third", file, "the URL also has a password");
  write_line("");
  check_refused("locker", file, "is empty");
  write_line("\r\n");
  check_refused("locker", file, "has only a line end");
  memset(long_text, 'x', sizeof long_text);
  write_file(long_text, MORTISE_MAX_PASSWORD_LEN + 1);
  check_refused("locker", file, "more than 16384 bytes");
  write_file(long_text, sizeof long_text);
  check_refused("locker", file, "give a shorter file");
  CHECK(now_ms() - begin < patience_ms / 2);
  CHECK(remove(fifo) == 0);
}

/* Root's files may have any mode, as the secrets of containers have. So root checks those of
   another user. */
static void a_file_of_this_user_is_not_for_all(void) {
  enum { other = 65534 };
  static char socket_folder[256];
  const int is_root = geteuid() == 0;
  rotate_at_server(">third");
  write_line("third\n");
  if (is_root) {
    CHECK(chmod(file, 0444) == 0);
    mortise_client_free(open_with_file());
    snprintf(socket_folder, sizeof socket_folder, "%s", server_url(server) + strlen("unix://"));
    CHECK(chmod(socket_folder, 0777) == 0);
    *strrchr(socket_folder, '/') = 0;
    CHECK(chmod(socket_folder, 0711) == 0 && chmod(folder, 0711) == 0);
    CHECK(chown(file, other, (gid_t)-1) == 0 && seteuid(other) == 0);
  }
  static const int too_open[] = {0604, 0602, 0444};
  for (int i = 0; i < 3; ++i) {
    char words[64];
    CHECK(chmod(file, (mode_t)too_open[i]) == 0);
    snprintf(words, sizeof words, "has the mode %04o, so every user", (unsigned)too_open[i]);
    check_refused("locker", file, words);
    check_refused("locker", file, "run chmod o= on it");
  }
  CHECK(chmod(file, 0440) == 0);
  mortise_client_free(open_with_file());
  if (is_root) {
    CHECK(seteuid(0) == 0);
    /* It is another user's now, so root does not check the mode. */
    CHECK(chmod(file, 0444) == 0);
    mortise_client_free(open_with_file());
  }
}

static void the_longest_password_reaches_the_server(void) {
  static char text[MORTISE_MAX_PASSWORD_LEN + 1];
  mortise_error *error = mortise_error_new();
  memset(text, 'x', MORTISE_MAX_PASSWORD_LEN);
  write_line(text);
  const char *url = url_of(server, "locker", "command_timeout=20s");
  mortise_options *options = options_with(MORTISE_OPTION_PASSWORD_FILE, file);
  CHECK(mortise_client_new(url, strlen(url), options, error) == NULL);
  CHECK_ERROR(error, MORTISE_REFUSED, "password is wrong");
  mortise_options_free(options);
  mortise_error_free(error);
}

static void a_new_password_is_said_on_the_live_connection(void) {
  rotate_at_server(">old");
  mortise_client *client = open_as("locker:old", "lease=10m&command_timeout=2s");
  mortise_lock *lock = open_lock(client, "live");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  const int64_t before = server_number(
      server,
      "EVAL return(redis.call('INFO','stats'):match('total_connections_received:(%d+)')+0) 0");
  server_command(server, "ACL SETUSER other on >new ~* &* +@all");
  CHECK_STATUS(MORTISE_OK, set_credentials(client, "other", "new", NULL));
  CHECK_CONTAINS(server_command(server, "CLIENT LIST"), "user=other");
  CHECK_NUMBER(
      before,
      server_number(
          server,
          "EVAL return(redis.call('INFO','stats'):match('total_connections_received:(%d+)')+0) 0"));
  server_command(server, "CLIENT KILL USER other");
  wait_for_ping(client, MORTISE_OK);
  CHECK_CONTAINS(server_command(server, "CLIENT LIST"), "user=other");
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_client_set_credentials(client, NULL, 0, "x", 1, NULL));
  CHECK(strstr(server_command(server, "CLIENT LIST"), "user=other") == NULL);
  mortise_lock_free(lock);
  mortise_client_free(client);
}

static void a_refused_password_leaves_the_one_before(void) {
  mortise_error *error = mortise_error_new();
  rotate_at_server(">old");
  mortise_client *client = open_as("locker:old", "lease=10m&command_timeout=2s");
  CHECK_STATUS(MORTISE_REFUSED, set_credentials(client, "locker", "wrong", error));
  CHECK_ERROR(error, MORTISE_REFUSED, "the old ones stay in force");
  CHECK_CONTAINS(mortise_error_server_text(error), "WRONGPASS");
  CHECK_STATUS(MORTISE_OK, mortise_client_ping(client, NULL));
  server_command(server, "CLIENT KILL USER locker");
  wait_for_ping(client, MORTISE_OK);
  mortise_client_free(client);
  mortise_error_free(error);
}

static void without_a_connection_they_are_kept_and_tried(void) {
  rotate_at_server(">old");
  mortise_client *client = open_as("locker:old", "lease=10m&command_timeout=2s");
  mortise_lock *lock = open_lock(client, "kept");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  rotate_at_server(">new");
  wait_for_ping(client, MORTISE_REFUSED);
  CHECK_STATUS(MORTISE_OK, set_credentials(client, "locker", "new", NULL));
  wait_for_ping(client, MORTISE_OK);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  mortise_lock_free(lock);
  mortise_client_free(client);
}

/* Both sockets have the new user afterwards. */
static void without_resp3_both_sockets_log_in_anew(void) {
  const char *const arguments[] = {"--rename-command", "HELLO", "", NULL};
  test_server *old = server_start(arguments);
  server_command(old, "ACL SETUSER one on >first ~* &* +@all");
  server_command(old, "ACL SETUSER two on >second ~* &* +@all");
  mortise_client *client = open_client_with(url_of(old, "one:first", "db=0"), NULL);
  mortise_lock *lock = open_lock(client, "both");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  CHECK_STATUS(MORTISE_OK, set_credentials(client, "two", "second", NULL));
  const int64_t begin = now_ms();
  for (;;) {
    const char *list = server_command(old, "CLIENT LIST");
    const char *first = strstr(list, "user=two");
    if (first != NULL && strstr(first + 1, "user=two") != NULL &&
        strstr(list, "user=one") == NULL) {
      break;
    }
    CHECK(now_ms() - begin < patience_ms);
    poll(NULL, 0, 5);
  }
  wait_for_ping(client, MORTISE_OK);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  mortise_lock_free(lock);
  mortise_client_free(client);
  server_free(old);
}

static void set_credentials_has_a_status_for_every_misuse(void) {
  static char long_text[MORTISE_MAX_PASSWORD_LEN + 1];
  mortise_error *error = mortise_error_new();
  mortise_client *client = open_client(server);
  memset(long_text, 'x', sizeof long_text);
  const struct {
    const char *user, *password;
    size_t user_len, password_len;
    const char *part;
  } wrong[] = {
      {NULL, "x", 1, 1, "user: is NULL"},
      {"", NULL, 0, 1, "password: is NULL"},
      {"", NULL, 0, 0, "password: is NULL"},
      {"", "", 0, 0, "password: 0 bytes; give 1 to 16384"},
      {"", long_text, 0, sizeof long_text, "password: 16385 bytes"},
      {long_text, "x", sizeof long_text, 1, "user: 16385 bytes"},
      {"u", "x", (size_t)-1, 1, "user: "},
      {"u", "x", 1, (size_t)-1, "password: "},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    CHECK_STATUS(MORTISE_INVALID_ARGUMENT,
                 mortise_client_set_credentials(client, wrong[i].user, wrong[i].user_len,
                                                wrong[i].password, wrong[i].password_len, error));
    CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, wrong[i].part);
  }
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, set_credentials(NULL, "u", "x", NULL));
  rotate_at_server(">filed");
  write_line("filed");
  mortise_client *filed = open_with_file();
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, set_credentials(filed, "locker", "filed", error));
  CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, "password_file");
  mortise_client_free(filed);
  const pid_t child = fork();
  if (child == 0) _exit(-set_credentials(client, "u", "x", NULL));
  int ended = 0;
  CHECK(waitpid(child, &ended, 0) == child);
  CHECK_NUMBER(-MORTISE_FORKED, WEXITSTATUS(ended));
  mortise_client_free(client);
  mortise_error_free(error);
}

static void a_server_that_hangs_is_given_up_after_command_timeout(void) {
  mortise_error *error = mortise_error_new();
  mortise_client *client = open_quick_client(server, 1000);
  server_pause(server);
  CHECK_STATUS(MORTISE_UNKNOWN, set_credentials(client, "locker", "x", error));
  CHECK_NUMBER(1, mortise_error_is_ambiguous(error));
  server_resume(server);
  mortise_client_free(client);
  mortise_error_free(error);
}

/* Accepted and refused passwords, in turns from many threads, while locks are used. */
static void *rotate_often(void *argument) {
  mortise_client *client = argument;
  for (int i = 0; i < 50; ++i) {
    CHECK_STATUS(i % 3 == 0 ? MORTISE_REFUSED : MORTISE_OK,
                 set_credentials(client, "locker", i % 3 == 0 ? "wrong" : "many", NULL));
  }
  return NULL;
}

static void many_threads_may_rotate_while_others_lock(void) {
  rotate_at_server(">many");
  mortise_client *client = open_as("locker:many", "command_timeout=20s");
  mortise_lock *lock = open_lock(client, "busy");
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) {
    CHECK(pthread_create(&threads[i], NULL, rotate_often, client) == 0);
  }
  for (int i = 0; i < 50; ++i) {
    CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lock, patience_ms, NULL));
    CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  }
  for (int i = 0; i < 4; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  server_command(server, "CLIENT KILL USER locker");
  wait_for_ping(client, MORTISE_OK);
  mortise_lock_free(lock);
  mortise_client_free(client);
}

int main(void) {
  CHECK(mkdtemp(folder) != NULL);
  snprintf(file, sizeof file, "%s/password", folder);
  server = server_start(NULL);
  CHECK_CONTAINS(server_command(server, "ACL SETUSER locker on >first ~* &* +@all"), "OK");
  RUN(the_file_is_read_again_at_each_connect);
  RUN(a_hold_outlives_a_file_that_is_late);
  RUN(any_bytes_are_a_password);
  RUN(an_unusable_file_is_reported_at_once);
  RUN(a_file_of_this_user_is_not_for_all);
  RUN(the_longest_password_reaches_the_server);
  RUN(a_new_password_is_said_on_the_live_connection);
  RUN(a_refused_password_leaves_the_one_before);
  RUN(without_a_connection_they_are_kept_and_tried);
  RUN(without_resp3_both_sockets_log_in_anew);
  RUN(set_credentials_has_a_status_for_every_misuse);
  RUN(a_server_that_hangs_is_given_up_after_command_timeout);
  RUN(many_threads_may_rotate_while_others_lock);
  server_free(server);
  CHECK(remove(file) == 0 && rmdir(folder) == 0);
  return 0;
}
