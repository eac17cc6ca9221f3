#include "check.h"

#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { most_words = 32, most_servers = 16, start_tries = 5000, retry_pause_ms = 2 };

struct test_server {
  char folder[64];
  char socket_path[96];
  char url[128];
  char nowhere[128];
  const char *arguments[most_words];
  pid_t pid;
  int control;
  char reply[65536];
};

static test_server *servers[most_servers];
static pid_t owner_pid;

static void pause_for_retry(void) { poll(NULL, 0, retry_pause_ms); }

static void end_process(test_server *server) {
  if (server->control >= 0) close(server->control);
  server->control = -1;
  if (server->pid <= 0) return;
  kill(server->pid, SIGKILL);
  while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR) {
  }
  server->pid = 0;
}

static void free_all(void) {
  if (getpid() != owner_pid) return; /* a forked child of the test */
  for (int i = 0; i < most_servers; ++i) server_free(servers[i]);
}

static test_server *new_server(void) {
  test_server *server = calloc(1, sizeof *server);
  CHECK(server != NULL);
  snprintf(server->folder, sizeof server->folder, "/tmp/mortise-capi-XXXXXX");
  CHECK(mkdtemp(server->folder) != NULL);
  snprintf(server->socket_path, sizeof server->socket_path, "%s/redis.sock", server->folder);
  snprintf(server->url, sizeof server->url, "unix://%s", server->socket_path);
  snprintf(server->nowhere, sizeof server->nowhere, "unix://%s/nobody.sock", server->folder);
  server->control = -1;
  if (owner_pid == 0) {
    owner_pid = getpid();
    atexit(free_all);
  }
  int slot = 0;
  while (slot < most_servers && servers[slot] != NULL) ++slot;
  CHECK(slot < most_servers);
  servers[slot] = server;
  return server;
}

static struct sockaddr_un address_of(const test_server *server) {
  struct sockaddr_un address;
  memset(&address, 0, sizeof address);
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path, server->socket_path, sizeof server->socket_path);
  return address;
}

static int connect_to(const test_server *server) {
  const struct sockaddr_un address = address_of(server);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(fd >= 0);
  if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

static int listen_at(const test_server *server) {
  const struct sockaddr_un address = address_of(server);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(fd >= 0);
  CHECK(bind(fd, (const struct sockaddr *)&address, sizeof address) == 0);
  CHECK(listen(fd, 64) == 0);
  return fd;
}

static void die_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
}

static void launch(test_server *server) {
  const char *words[most_words + 24] = {"redis-server",
                                        "--port",
                                        "0",
                                        "--unixsocket",
                                        server->socket_path,
                                        "--save",
                                        "",
                                        "--appendonly",
                                        "no",
                                        "--dir",
                                        server->folder,
                                        "--logfile",
                                        "log",
                                        "--enable-debug-command",
                                        "local"};
  const char *named = getenv("MORTISE_TEST_SERVER");
  if (named != NULL && named[0] != '\0') words[0] = named;
  int count = 15;
  for (int i = 0; server->arguments[i] != NULL; ++i) words[count++] = server->arguments[i];
  unlink(server->socket_path);

  const pid_t parent = getpid();
  const int quiet = open("/dev/null", O_RDWR | O_CLOEXEC);
  server->pid = fork();
  CHECK(server->pid >= 0);
  if (server->pid == 0) {
    die_with(parent);
    dup2(quiet, 0);
    dup2(quiet, 1);
    dup2(quiet, 2);
    char *argv[most_words + 24];
    memcpy(argv, words, sizeof argv);
    execvp(argv[0], argv);
    _exit(127);
  }
  close(quiet);
  for (int i = 0; i < start_tries; ++i) {
    const int fd = connect_to(server);
    if (fd >= 0) {
      server->control = fd;
      return;
    }
    CHECK(waitpid(server->pid, NULL, WNOHANG) == 0);
    pause_for_retry();
  }
  check_failed(__FILE__, __LINE__, "redis-server did not start");
}

test_server *server_start(const char *const *arguments) {
  test_server *server = new_server();
  for (int i = 0; arguments != NULL && arguments[i] != NULL; ++i) {
    CHECK(i < most_words - 1);
    server->arguments[i] = arguments[i];
  }
  launch(server);
  return server;
}

test_server *server_start_silent(void) {
  test_server *server = new_server();
  server->control = listen_at(server); /* the kernel takes the connections, nobody reads them */
  return server;
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
  test_server *server = new_server();
  const int listener = listen_at(server);
  const pid_t parent = getpid();
  server->pid = fork();
  CHECK(server->pid >= 0);
  if (server->pid == 0) {
    die_with(parent);
    answer_forever(listener, answer);
  }
  close(listener);
  return server;
}

void server_free(test_server *server) {
  if (server == NULL) return;
  for (int i = 0; i < most_servers; ++i) {
    if (servers[i] == server) servers[i] = NULL;
  }
  end_process(server);
  char path[128];
  unlink(server->socket_path);
  snprintf(path, sizeof path, "%s/log", server->folder);
  unlink(path);
  rmdir(server->folder);
  free(server);
}

const char *server_url(const test_server *server) { return server->url; }

const char *server_nowhere(const test_server *server) { return server->nowhere; }

void server_kill(test_server *server) { end_process(server); }

void server_restart(test_server *server) {
  end_process(server);
  launch(server);
}

void server_pause(test_server *server) {
  kill(server->pid, SIGSTOP);
  while (waitpid(server->pid, NULL, WUNTRACED) < 0 && errno == EINTR) {
  }
}

void server_resume(test_server *server) { kill(server->pid, SIGCONT); }

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

const char *server_command(test_server *server, const char *words) {
  if (server->control < 0) server->control = connect_to(server);
  CHECK(server->control >= 0);
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

void server_wait_for(test_server *server, const char *words, int64_t wanted) {
  for (int i = 0; i < start_tries; ++i) {
    if (server_number(server, words) >= wanted) return;
    pause_for_retry();
  }
  fprintf(stderr, "\"%s\" never answered %lld\n", words, (long long)wanted);
  exit(1);
}

void server_wait_for_exactly(test_server *server, const char *words, int64_t wanted) {
  for (int i = 0; i < start_tries; ++i) {
    if (server_number(server, words) == wanted) return;
    pause_for_retry();
  }
  fprintf(stderr, "\"%s\" never answered just %lld\n", words, (long long)wanted);
  exit(1);
}
