package org.mortise;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class HealthTest {
  @Test
  void tellsWhatWasFoundLast() throws Exception {
    try (var server = new Redis();
        var client = MortiseClient.open(server.url())) {
      assertEquals(Severity.UNKNOWN, client.lastHealth().worst());
      Health found = client.checkHealth();
      assertEquals(found, client.lastHealth());
      assertEquals(Severity.WARN, found.worst());
      for (Health.Finding one : found.findings()) {
        assertTrue(found.json().contains("\"name\":\"" + one.name() + "\""), one.name());
        assertEquals(one.severity() == Severity.OK, one.remedy().isEmpty(), one.name());
      }
    }
  }

  @Test
  void refusesAServerThatEvicts() throws Exception {
    try (var server = new Redis()) {
      server.command("CONFIG", "SET", "maxmemory", "1gb");
      server.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
      var strict =
          MortiseClient.builder(server.url())
              .options(MortiseOptions.DEFAULTS.withHealthCheck("strict"));
      var refused = assertThrows(MortiseException.class, strict::open);
      assertEquals(Status.REFUSED, refused.status());
      assertTrue(refused.getMessage().contains("maxmemory_policy"), refused.getMessage());
    }
  }
}
