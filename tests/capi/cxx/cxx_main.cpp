/** All tests of the C++ layer, in the language and with the flags that it is compiled for. */
#include "fixture.hpp"

int main() {
  server = server_start(nullptr);
  test_values();
  test_holds();
  test_kinds();
  test_queues();
  test_lockables();
  test_stops();
  test_dispatchers();
  server_free(server);
  return 0;
}
