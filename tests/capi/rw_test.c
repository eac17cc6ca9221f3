/* Read-write locks: who may hold together, in which order, and how a hold changes its mode. */
#include "fixture.h"

static test_server *server;
static mortise_client *client;

static mortise_rw *open_rw(const char *name, const mortise_options *options) {
  mortise_rw *rw = mortise_rw_new(client, name, strlen(name), options, NULL);
  CHECK(rw != NULL);
  return rw;
}

static void readers_share_and_a_writer_is_alone(void) {
  mortise_rw *first = open_rw("share", NULL);
  mortise_rw *second = open_rw("share", NULL);
  mortise_rw *writer = open_rw("share", NULL);
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(first, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_acquire(second, patience_ms, NULL));
  CHECK_NUMBER(1, mortise_rw_is_reading(first));
  CHECK_NUMBER(0, mortise_rw_is_writing(first));
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_rw_write_try(writer, NULL));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_rw_write_unlock(first, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(first, NULL));
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_rw_write_try(writer, NULL));
  const int64_t reader_token = mortise_rw_token(second);
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(second, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_try(writer, NULL));
  CHECK_NUMBER(1, mortise_rw_is_writing(writer));
  CHECK(mortise_rw_token(writer) > reader_token);
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_rw_read_try(first, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_unlock(writer, NULL));
  CHECK_NUMBER(0, server_number(server, "EXISTS {mortise:share}"));
  mortise_rw_free(first);
  mortise_rw_free(second);
  mortise_rw_free(writer);
}

int main(void) {
  server = server_start(NULL);
  client = open_client(server);
  RUN(readers_share_and_a_writer_is_alone);
  mortise_client_free(client);
  server_free(server);
  return 0;
}
