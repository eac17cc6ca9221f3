package org.mortise;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** A recording or a dump of threads shows the owner of each. */
class ThreadNamesTest {
  @Test
  void eachDispatcherHasANameOfItsOwnAndItsClients() throws Exception {
    var named = MortiseOptions.DEFAULTS.withClientName("orders");
    try (var redis = new Redis();
        var one = MortiseClient.builder(redis.url()).options(named).open();
        var two = MortiseClient.builder(redis.url()).options(named).open();
        // The URL comes before the options, also here.
        var other = MortiseClient.builder(redis.url() + "?lease=9s&client_name=bills")
            .options(named)
            .open();
        var nameless = MortiseClient.open(redis.url() + "?lease=9s")) {
      for (MortiseClient client : List.of(one, two, other, nameless)) client.ping();
      List<String> names = dispatchers();
      assertEquals(names.size(), names.stream().distinct().count(), names.toString());
      assertEquals(
          2, names.stream().filter(it -> it.endsWith(" (orders)")).count(), names.toString());
      assertEquals(
          1, names.stream().filter(it -> it.endsWith(" (bills)")).count(), names.toString());
      assertTrue(
          names.stream().anyMatch(it -> it.matches("mortise-dispatcher-\\d+")), names.toString());
      String clients = (String) redis.command("CLIENT", "LIST");
      assertTrue(clients.contains("name=bills") && clients.contains("name=orders"), clients);
    }
  }

  private static List<String> dispatchers() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(it -> it.startsWith("mortise-dispatcher"))
        .toList();
  }
}
