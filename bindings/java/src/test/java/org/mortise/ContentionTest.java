package org.mortise;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mortise.Waiting.PATIENCE;
import static org.mortise.Waiting.PATIENCE_SECONDS;
import static org.mortise.Waiting.result;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.mortise.Waiting.Worker;

/** What a lock that others wait for costs the server. */
class ContentionTest {
  private static final Pattern TRANSACTIONS = Pattern.compile("cmdstat_multi:calls=(\\d+)");

  /** Every attempt that does not wait is one. */
  private static long transactions(Redis redis) {
    Matcher found = TRANSACTIONS.matcher((String) redis.command("INFO", "commandstats"));
    return found.find() ? Long.parseLong(found.group(1)) : 0;
  }

  @Test
  void aContendedAcquireDoesNotTryFirst() throws Exception {
    try (var redis = new Redis();
        var holder = MortiseClient.open(redis.url());
        var client = MortiseClient.open(redis.strictUrl())) {
      MortiseLock lock = client.lock("taken");
      var owner = client.mutex("taken");
      List<Executable> ways =
          List.of(
              () -> {
                lock.lock();
                lock.unlock();
              },
              () -> {
                lock.lockInterruptibly();
                lock.unlock();
              },
              () -> {
                assertTrue(lock.tryLock(PATIENCE_SECONDS, TimeUnit.SECONDS));
                lock.unlock();
              },
              () -> owner.acquire().close(),
              () -> owner.tryAcquire(PATIENCE).orElseThrow().close(),
              () -> result(result(owner.acquireAsync()).releaseAsync()));
      for (int way = 0; way < ways.size(); way++) {
        Lease held = holder.mutex("taken").acquire();
        long before = transactions(redis);
        var waiter = new Worker(ways.get(way));
        Waiting.untilWaiting(redis, "taken", 1);
        // Only the first of each owner asks whether the lock is free: the next know that it is not.
        boolean isFirst = way == 0 || way == 3;
        assertEquals(isFirst ? 1 : 0, transactions(redis) - before, "way " + way);
        held.close();
        waiter.finish();
      }
    }
  }
}
