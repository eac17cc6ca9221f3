/*
 * A server of a test's own, from tests/support/server, on a unix socket in a temporary folder, and
 * stand-ins for servers that misbehave. All of them end with the program at the latest.
 */
#ifndef MORTISE_TESTS_SERVER_H
#define MORTISE_TESTS_SERVER_H

#include <stdint.h>

typedef struct test_server test_server;

/* Starts a server with further arguments, a list that ends in NULL (or NULL); it is ready. */
test_server *server_start(const char *const *arguments);
/* A server that accepts connections and never sends a byte. */
test_server *server_start_silent(void);
/* A server that answers with these words, once for each time it reads. */
test_server *server_start_answering(const char *answer);
/* Ends the server and frees everything. */
void server_free(test_server *server);

/* `unix://` and the socket's path. */
const char *server_url(const test_server *server);
/* The same over TLS, with the authority to trust; for a server with the argument "tls". */
const char *server_tls_url(const test_server *server);
/* A URL in the server's folder without a listener. */
const char *server_nowhere(const test_server *server);

/* SIGKILL, and what starts it again with nothing in it. */
void server_kill(test_server *server);
void server_restart(test_server *server);
/* SIGSTOP: it hangs with its sockets open. */
void server_pause(test_server *server);
void server_resume(test_server *server);

/*
 * One command, its words separated by single spaces. Returns its reply as text, which lives until
 * the next call: a status or a string as it is, a number in digits, "(nil)", an error with its '-'.
 */
const char *server_command(test_server *server, const char *words);
int64_t server_number(test_server *server, const char *words);
/* Waits until the number that a command returns is at least `expected`. Ends the test otherwise. */
void server_wait_for(test_server *server, const char *words, int64_t expected);
/* The same for exactly this number. */
void server_wait_for_exactly(test_server *server, const char *words, int64_t expected);

#endif
