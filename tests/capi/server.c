#include "check.h"

#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/launcher.h"

enum { wait_tries = 5000, retry_pause_ms = 2 };

struct test_server {
  struct launcher launcher; /* of a real one */
  pid_t stand_in;           /* answers in its place */
  int listener;             /* of a stand-in */
  char url[128];
  char tls_url[192];
  char nowhere[128];
  int control;
  char reply[65536];
};

static void pause_for_retry(void) { poll(NULL, 0, retry_pause_ms); }

static test_server *new_server(void) {
  test_server *server = calloc(1, sizeof *server);
  CHECK(server != NULL);
  server->listener = -1;
  server->control = -1;
  return server;
}

test_server *server_start(const char *const *arguments) {
  test_server *server = new_server();
  CHECK(launcher_open(&server->launcher, "server", arguments));
  const char *folder = server->launcher.folder;
  snprintf(server->url, sizeof server->url, "unix://%s/redis.sock", folder);
  snprintf(server->tls_url, sizeof server->tls_url, "rediss://127.0.0.1:%d?tls_ca_file=%s/ca.pem",
           server->launcher.port, folder);
  snprintf(server->nowhere, sizeof server->nowhere, "unix://%s/nobody.sock", folder);
  return server;
}

test_server *server_start_silent(void) {
  test_server *server = new_server();
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(bind(server->listener, (const struct sockaddr *)&address, length) == 0);
  CHECK(listen(server->listener, 64) == 0);
  CHECK(getsockname(server->listener, (struct sockaddr *)&address, &length) == 0);
  snprintf(server->url, sizeof server->url, "redis://127.0.0.1:%d", ntohs(address.sin_port));
  return server; /* the kernel accepts the connections, and no thread reads them */
}

static void answer_one(int fd, const char *answer, size_t length) {
  char ignored[4096];
  const ssize_t count = read(fd, ignored, sizeof ignored);
  if (count <= 0 || send(fd, answer, length, MSG_NOSIGNAL) < 0) close(fd);
}

static void answer_forever(int listener, const char *answer) {
  const size_t length = strlen(answer);
  struct pollfd waits[64];
  int count = 1;
  waits[0].fd = listener;
  waits[0].events = POLLIN;
  for (;;) {
    if (poll(waits, (nfds_t)count, -1) < 0) continue;
    for (int i = 1; i < count; ++i) {
      if (waits[i].revents == 0) continue;
      answer_one(waits[i].fd, answer, length);
      if (fcntl(waits[i].fd, F_GETFD) < 0) waits[i--] = waits[--count];
    }
    if (waits[0].revents == 0 || count == 64) continue;
    waits[count].fd = accept(listener, NULL, NULL);
    waits[count].events = POLLIN;
    waits[count].revents = 0;
    if (waits[count].fd >= 0) ++count;
  }
}

test_server *server_start_answering(const char *answer) {
  test_server *server = server_start_silent();
  const pid_t parent = getpid();
  server->stand_in = fork();
  CHECK(server->stand_in >= 0);
  if (server->stand_in == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    answer_forever(server->listener, answer);
  }
  return server;
}

static void forget_control(test_server *server) {
  if (server->control >= 0) close(server->control);
  server->control = -1;
}

void server_free(test_server *server) {
  if (server == NULL) return;
  forget_control(server);
  if (server->launcher.pid != 0) launcher_close(&server->launcher);
  if (server->listener >= 0) close(server->listener);
  if (server->stand_in != 0) {
    kill(server->stand_in, SIGKILL);
    waitpid(server->stand_in, NULL, 0);
  }
  free(server);
}

const char *server_url(const test_server *server) { return server->url; }

const char *server_tls_url(const test_server *server) { return server->tls_url; }

const char *server_nowhere(const test_server *server) { return server->nowhere; }

static void control(const test_server *server, const char *command) {
  CHECK(launcher_tell(&server->launcher, command));
}

void server_kill(test_server *server) {
  forget_control(server);
  control(server, "kill");
}

void server_restart(test_server *server) {
  server_kill(server);
  control(server, "start");
}

void server_pause(test_server *server) { control(server, "pause"); }

void server_resume(test_server *server) { control(server, "resume"); }

/* ---- commands: just enough RESP2 for replies that are not arrays ---- */

static void read_exactly(test_server *server, char *to, size_t length) {
  while (length > 0) {
    const ssize_t count = read(server->control, to, length);
    if (count < 0 && errno == EINTR) continue;
    CHECK(count > 0);
    to += count;
    length -= (size_t)count;
  }
}

static void read_line(test_server *server) {
  size_t used = 0;
  do {
    CHECK(used < sizeof server->reply - 1);
    read_exactly(server, server->reply + used, 1);
    ++used;
  } while (used < 2 || server->reply[used - 1] != '\n');
  server->reply[used - 2] = '\0';
}

static void read_reply(test_server *server) {
  read_line(server);
  const char kind = server->reply[0];
  if (kind == '-') return;
  CHECK(kind == '+' || kind == ':' || kind == '$');
  if (kind != '$') {
    memmove(server->reply, server->reply + 1, strlen(server->reply));
    return;
  }
  const long length = strtol(server->reply + 1, NULL, 10);
  if (length < 0) {
    strcpy(server->reply, "(nil)");
    return;
  }
  CHECK((size_t)length + 2 < sizeof server->reply);
  read_exactly(server, server->reply, (size_t)length + 2);
  server->reply[length] = '\0';
}

static void open_control(test_server *server) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s/redis.sock", server->launcher.folder);
  server->control = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(connect(server->control, (const struct sockaddr *)&address, sizeof address) == 0);
}

const char *server_command(test_server *server, const char *words) {
  if (server->control < 0) open_control(server);
  char request[4096];
  int count = 1;
  for (const char *at = words; *at != '\0'; ++at) count += *at == ' ';
  size_t used = (size_t)snprintf(request, sizeof request, "*%d\r\n", count);
  for (const char *at = words;;) {
    const size_t length = strcspn(at, " ");
    CHECK(used + length + 16 < sizeof request);
    used += (size_t)snprintf(request + used, sizeof request - used, "$%zu\r\n%.*s\r\n", length,
                             (int)length, at);
    if (at[length] == '\0') break;
    at += length + 1;
  }
  CHECK(send(server->control, request, used, MSG_NOSIGNAL) == (ssize_t)used);
  read_reply(server);
  return server->reply;
}

int64_t server_number(test_server *server, const char *words) {
  const char *text = server_command(server, words);
  char *end = NULL;
  const long long number = strtoll(text, &end, 10);
  if (end == text || *end != '\0') {
    fprintf(stderr, "\"%s\" answered \"%s\", which is no number\n", words, text);
    exit(1);
  }
  return number;
}

void server_wait_for(test_server *server, const char *words, int64_t expected) {
  for (int i = 0; i < wait_tries; ++i) {
    if (server_number(server, words) >= expected) return;
    pause_for_retry();
  }
  fprintf(stderr, "\"%s\" never answered %lld\n", words, (long long)expected);
  exit(1);
}

void server_wait_for_exactly(test_server *server, const char *words, int64_t expected) {
  for (int i = 0; i < wait_tries; ++i) {
    if (server_number(server, words) == expected) return;
    pause_for_retry();
  }
  fprintf(stderr, "\"%s\" never answered just %lld\n", words, (long long)expected);
  exit(1);
}
