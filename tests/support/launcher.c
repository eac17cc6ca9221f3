#include "launcher.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { most_arguments = 64 };

extern char** environ;

static bool receive(const struct launcher* launcher, char* line, size_t size) {
  size_t length = 0;
  do {
    const ssize_t count = read(launcher->fd, line + length, size - 1 - length);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    length += (size_t)count;
  } while (line[length - 1] != '\n');
  line[length] = '\0';
  return true;
}

bool launcher_open(struct launcher* launcher, const char* program, const char* const* arguments) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, MORTISE_SOURCES "/tests/support/%s", program);
  char* words[most_arguments] = {path};
  for (int i = 0; arguments != NULL && arguments[i] != NULL; ++i) {
    if (i + 2 == most_arguments) return false;
    memcpy(&words[i + 1], &arguments[i], sizeof words[0]);
  }
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  const int problem = posix_spawn(&launcher->pid, words[0], &actions, NULL, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  launcher->fd = ends[0];
  launcher->port = 0;
  char line[256];
  return problem == 0 && receive(launcher, line, sizeof line) &&
         sscanf(line, "%*d %79s %d", launcher->folder, &launcher->port) >= 1;
}

bool launcher_tell(const struct launcher* launcher, const char* command) {
  char line[256];
  const int length = snprintf(line, sizeof line, "%s\n", command);
  return send(launcher->fd, line, (size_t)length, MSG_NOSIGNAL) == length &&
         receive(launcher, line, sizeof line);
}

void launcher_close(struct launcher* launcher) {
  /* Not close: a process that the test has forked may have this end, too. */
  shutdown(launcher->fd, SHUT_WR);
  while (waitpid(launcher->pid, NULL, 0) < 0 && errno == EINTR) {
  }
  close(launcher->fd);
}
