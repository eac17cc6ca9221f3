/* What tests in C and C++ say to tests/support/server, which starts a server for them. */
#ifndef MORTISE_TESTS_LAUNCHER_H
#define MORTISE_TESTS_LAUNCHER_H

#include <stdbool.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct launcher {
  pid_t pid;
  int fd;
  /* The server's, in which is its socket, redis.sock. */
  char folder[80];
  /* The server's on 127.0.0.1; 0 without one. */
  int port;
};

/*
 * Starts a server with these arguments, a list that ends in NULL; it answers. When one of these
 * fails, the launcher has said why on stderr.
 */
bool launcher_open(struct launcher* launcher, const char* const* arguments);
/* start, stop, kill, pause or resume; it is done. */
bool launcher_tell(const struct launcher* launcher, const char* command);
/* The server and its folder are gone. */
void launcher_close(struct launcher* launcher);

#ifdef __cplusplus
}
#endif

#endif
