package org.mortise;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;

class StatsTest {
  @Test
  void areTheSameInEachForm() throws Exception {
    try (var server = new Redis();
        var client =
            MortiseClient.builder(server.url())
                .options(MortiseOptions.DEFAULTS.withMetricsName("name"))
                .open()) {
      var lock = client.lock("a");
      lock.lock();
      Stats held = client.stats();
      assertTrue(held.json().startsWith("{\"mortise_acquire_seconds\":{"), held.json());
      var sample =
          new Stats.Sample("mortise_holds", "gauge", Map.of("kind", "mutex", "name", "a"), 1);
      assertTrue(held.samples().contains(sample), held.prometheus());
      long lines = held.prometheus().lines().filter(line -> !line.startsWith("#")).count();
      assertEquals(lines, held.samples().size());
      assertTrue(
          held.prometheus().contains("mortise_holds{kind=\"mutex\",name=\"a\"} 1\n"),
          held.prometheus());
      lock.unlock();
    }
  }

  @Test
  void areNotThereAfterClose() throws Exception {
    try (var server = new Redis()) {
      var client = MortiseClient.open(server.url());
      client.close();
      var refused = assertThrows(MortiseException.class, client::stats);
      assertEquals(Status.CLOSED, refused.status());
    }
  }
}
