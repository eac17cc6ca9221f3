package org.mortise;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mortise.Waiting.result;

import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** Where callbacks run. */
class CallbackTest {
  /** Several callbacks wait for a lock that a later callback frees. */
  static final class Blocking {
    private static final int WAITERS = 4;
    /** The test waits for longer, and reports what this prints. */
    private static final long PATIENCE_SECONDS = Waiting.PATIENCE_SECONDS / 2;

    public static void main(String[] arguments) throws Exception {
      try (var client = MortiseClient.open(arguments[0])) {
        var blocked = new CountDownLatch(WAITERS);
        Lease held = client.mutex("held").acquire();
        var ends = new ArrayList<CompletableFuture<Void>>();
        for (int i = 0; i < WAITERS; i++) {
          ends.add(onGrant(client, "waiter " + i, () -> waitFor(client, blocked)));
        }
        if (!blocked.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
          throw new TimeoutException(blocked.getCount() + " callbacks did not start");
        }
        ends.add(onGrant(client, "releaser", held::close));
        for (CompletableFuture<Void> end : ends) end.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
      }
    }

    private static void waitFor(MortiseClient client, CountDownLatch blocked) {
      // A virtual thread of Java 21 keeps its carrier while it waits in here.
      synchronized (new Object()) {
        blocked.countDown();
        client.lock("held").lock();
        client.lock("held").unlock();
      }
    }
  }

  /** Runs this as a callback: the lock is granted only after the future depends on it. */
  private static CompletableFuture<Void> onGrant(
      MortiseClient client, String name, Runnable callback) throws Exception {
    Lease before = client.mutex(name).acquire();
    CompletableFuture<Void> end =
        client.mutex(name).acquireAsync().thenAccept(
            lease -> {
              try (lease) {
                callback.run();
              }
            });
    before.close();
    return end;
  }

  static void assertBlockedCallbacksKeepNoOther() throws Exception {
    try (var redis = new Redis()) {
      JvmTest.java(
          0, "-XX:ActiveProcessorCount=1", "-cp", JvmTest.classPath(), Blocking.class.getName(),
          redis.url());
    }
  }

  @Test
  void blockedCallbacksKeepNoOther() throws Exception {
    assertBlockedCallbacksKeepNoOther();
  }

  static Thread threadOfCallback(MortiseClient client) throws Exception {
    var thread = new CompletableFuture<Thread>();
    result(onGrant(client, "thread", () -> thread.complete(Thread.currentThread())));
    return result(thread);
  }

  @Test
  void callbacksHaveThreadsOfTheirOwnWhichEnd() throws Exception {
    var named = MortiseOptions.DEFAULTS.withClientName("orders");
    try (var redis = new Redis();
        var client = MortiseClient.builder(redis.url()).options(named).open()) {
      Thread thread = threadOfCallback(client);
      assertTrue(thread.getName().matches("mortise-callback-\\d+ \\(orders\\)"), thread.getName());
      assertTrue(thread.isDaemon());
      Waiting.until("an idle thread ends", () -> !thread.isAlive());
    }
  }

  @Test
  void aRejectedCallbackRunsInTheCallingThread() throws Exception {
    Executor rejecting =
        work -> {
          throw new RejectedExecutionException("shut down");
        };
    try (var redis = new Redis();
        var client = MortiseClient.builder(redis.url()).callbackExecutor(rejecting).open()) {
      String name = threadOfCallback(client).getName();
      assertTrue(name.startsWith("mortise-dispatcher-"), name);
    }
  }
}
