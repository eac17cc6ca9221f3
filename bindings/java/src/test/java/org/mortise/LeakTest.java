package org.mortise;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class LeakTest {
  private static final int WARM_UP = 20_000;
  private static final int CYCLES = 60_000;
  private static final long ALLOWED_KIB = 8 * 1024;

  private static long residentKib() throws Exception {
    System.gc();
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("VmRSS:")) return Long.parseLong(line.replaceAll("\\D", ""));
    }
    throw new AssertionError("no VmRSS");
  }

  /** Each cycle leaks a few hundred bytes if a handle, an error or a name's bytes are not freed. */
  private static void cycle(MortiseClient client, int count) {
    for (int i = 0; i < count; i++) {
      client.mutex("a name of some length, so that what is not freed is seen sooner").close();
      try {
        client.mutex("", MortiseOptions.DEFAULTS);
      } catch (MortiseException expected) {
        // Its message is native memory, too.
      }
    }
  }

  @Test
  void ownersAndErrorsAreFreed() throws Exception {
    try (var redis = new Redis();
        var client = MortiseClient.open(redis.url())) {
      cycle(client, WARM_UP);
      long before = residentKib();
      cycle(client, CYCLES);
      long after = residentKib();
      assertTrue(after - before < ALLOWED_KIB, before + " KiB, then " + after);
    }
  }

  @Test
  void locksCostNothingThatStays() throws Exception {
    try (var redis = new Redis();
        var client = MortiseClient.open(redis.url())) {
      var lock = client.lock("cycle");
      for (int i = 0; i < WARM_UP / 4; i++) {
        lock.lock();
        lock.unlock();
      }
      long before = residentKib();
      for (int i = 0; i < WARM_UP; i++) {
        client.lock("cycle").lock();
        lock.unlock();
      }
      long after = residentKib();
      assertTrue(after - before < ALLOWED_KIB, before + " KiB, then " + after);
    }
  }
}
