package org.mortise;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ListingTest {
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  @Test
  void tellsWhatIsHeld() throws Exception {
    try (var server = new Redis();
        var client = MortiseClient.open(server.url())) {
      var lock = client.lock("a");
      lock.lock();
      Listing taken = client.listLocks(PATIENCE);
      assertEquals(1, taken.answered());
      assertEquals(0, taken.silent() + taken.truncated());
      assertEquals(1, taken.entries().size(), taken.json());
      Listing.Entry one = taken.entries().get(0);
      assertEquals("a", one.name());
      assertEquals("mutex", one.kind());
      assertEquals("exclusive", one.mode());
      assertEquals(1, one.holds());
      assertTrue(one.timeLeft().compareTo(Duration.ZERO) > 0, taken.json());
      assertEquals(ProcessHandle.current().pid(), one.pid());
      assertTrue(taken.json().contains("\"token\":" + one.token() + ","), taken.json());
      lock.unlock();
    }
  }

  @Test
  void isNotTakenAfterCloseNorForever() throws Exception {
    try (var server = new Redis()) {
      var client = MortiseClient.open(server.url());
      var wrong = assertThrows(MortiseException.class, () -> client.listLocks(Duration.ofHours(1)));
      assertEquals(Status.INVALID_ARGUMENT, wrong.status());
      assertTrue(wrong.getMessage().contains("timeout_ms"), wrong.getMessage());
      client.close();
      var refused = assertThrows(MortiseException.class, () -> client.listLocks(PATIENCE));
      assertEquals(Status.CLOSED, refused.status());
    }
  }
}
