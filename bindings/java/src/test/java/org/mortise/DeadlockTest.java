package org.mortise;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A wait in a deadlock ends with an exception. */
class DeadlockTest {
  private static final MortiseOptions FAILING = MortiseOptions.DEFAULTS.withDeadlockFailure(true);
  @RegisterExtension static final Redis redis = new Redis();

  @Test
  void aWaitOfAThreadForItselfThrows() throws Exception {
    try (var client = MortiseClient.builder(redis.url()).open();
        var lock = client.mutex("deadlock");
        var again = client.mutex("deadlock", FAILING)) {
      try (Lease lease = lock.acquire()) {
        var patience = Duration.ofSeconds(Waiting.PATIENCE_SECONDS);
        var failure = assertThrows(MortiseException.class, () -> again.tryAcquire(patience));
        assertEquals(Status.DEADLOCK, failure.status());
        assertTrue(
            failure.getMessage().endsWith("in a deadlock: this thread holds it"),
            failure.getMessage());
        assertThrows(MortiseException.class, again::acquire);
        assertFalse(again.isHeld());
        assertTrue(lease.isHeld());
      }
      again.acquire().close();
    }
  }
}
