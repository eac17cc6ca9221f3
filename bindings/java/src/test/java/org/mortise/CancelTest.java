package org.mortise;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mortise.Waiting.PATIENCE;
import static org.mortise.Waiting.assertStatus;
import static org.mortise.Waiting.result;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A future that is cancelled as its grant comes: its owner is there for the next acquire. */
class CancelTest {
  private static final String PATIENT = "?command_timeout=60s";

  @RegisterExtension static final Redis redis = new Redis();
  @RegisterExtension final Proxy proxy = new Proxy(redis);

  @Test
  void anOwnerAcquiresAgainAfterACancel() throws Exception {
    try (var client = MortiseClient.open(redis.url());
        var owner = client.mutex("again")) {
      for (int round = 0; round < 300; round++) {
        CompletableFuture<Lease> future = owner.acquireAsync();
        // Often enough the grant is on its way then.
        if (round % 2 == 0) client.ping();
        if (!future.cancel(true)) future.get().close();
        switch (round % 4) {
          case 0 -> owner.acquire().close();
          case 1 -> owner.tryAcquire().orElseThrow().close();
          case 2 -> owner.tryAcquire(PATIENCE).orElseThrow().close();
          default -> result(owner.acquireAsync()).close();
        }
      }
      assertFalse(redis.exists("{mortise:again}"));
    }
  }

  /** Cancels an acquire that the server has granted, before its reply comes. */
  private void cancelGranted(Owner owner, CompletableFuture<?> future) throws Exception {
    Waiting.until("the grant", () -> redis.exists("{mortise:" + owner.name() + "}"));
    proxy.untilAnswered();
    assertTrue(future.cancel(true));
    assertThrows(CancellationException.class, future::get);
  }

  @Test
  void anAcquireAfterAGrantThatWasCancelledUnreadIsGranted() throws Exception {
    try (var client = MortiseClient.open(proxy.url() + PATIENT);
        var owner = client.mutex("unread")) {
      proxy.holdAnswers();
      cancelGranted(owner, owner.acquireAsync());
      CompletableFuture<Optional<Lease>> again = owner.tryAcquireAsync(PATIENCE);
      proxy.letAnswers();
      try (Lease lease = result(again).orElseThrow()) {
        assertTrue(lease.isHeld());
      }
      assertFalse(redis.exists("{mortise:unread}"));
    }
  }

  /** Its callbacks run one after the other in one thread, which a test can occupy. */
  private static MortiseClient openWith(ExecutorService callbacks, String url) {
    return MortiseClient.builder(url + PATIENT).callbackExecutor(callbacks).open();
  }

  private static CountDownLatch occupy(ExecutorService callbacks) {
    var mayGoOn = new CountDownLatch(1);
    callbacks.execute(() -> assertDoesNotThrow(() -> mayGoOn.await()));
    return mayGoOn;
  }

  /** The client knows of the grant, and the user's future does not yet. */
  private static CompletableFuture<Lease> untold(MortiseClient client, LeasingOwner owner)
      throws Exception {
    CompletableFuture<Lease> future = owner.acquireAsync();
    Waiting.until("the grant", owner::isHeld);
    client.ping();
    assertFalse(future.isDone());
    return future;
  }

  @Test
  void anAcquireWaitsForTheGiveBackOfAnUntoldGrant() throws Exception {
    ExecutorService callbacks = Executors.newSingleThreadExecutor();
    try (var client = openWith(callbacks, proxy.url());
        var owner = client.mutex("untold")) {
      CountDownLatch mayGoOn = occupy(callbacks);
      CompletableFuture<Lease> future = untold(client, owner);
      long first = owner.token();
      proxy.holdAnswers();
      assertTrue(future.cancel(true));
      // The reply to the release is in flight: there is time for neither of these, but for all
      // longer waits.
      assertTrue(owner.tryAcquire(Duration.ofMillis(50)).isEmpty());
      CompletableFuture<Optional<Lease>> brief = owner.tryAcquireAsync(Duration.ofMillis(50));
      mayGoOn.countDown();
      assertTrue(result(brief).isEmpty());
      CompletableFuture<Lease> forgotten = owner.acquireAsync();
      assertTrue(forgotten.cancel(true));
      var blocked =
          new Waiting.Worker(
              () -> {
                try (Lease lease = owner.tryAcquire(PATIENCE).orElseThrow()) {
                  assertTrue(lease.token() > first);
                }
              });
      proxy.untilAnswered();
      proxy.letAnswers();
      blocked.finish();
      assertTrue(owner.tryAcquire().orElseThrow().release());
    } finally {
      callbacks.shutdown();
    }
  }

  private void assertWaitsFor(MortiseClient client, LeasingOwner first, LeasingOwner next)
      throws Exception {
    CompletableFuture<Lease> future = untold(client, first);
    proxy.holdAnswers();
    assertTrue(future.cancel(true));
    CompletableFuture<Optional<Lease>> waiting = next.tryAcquireAsync(PATIENCE);
    proxy.untilAnswered();
    assertFalse(waiting.isDone());
    proxy.letAnswers();
    Waiting.until("the grant", next::isHeld);
  }

  @Test
  void aMultiAndItsMembersWaitForEachOther() throws Exception {
    ExecutorService callbacks = Executors.newSingleThreadExecutor();
    try (var client = openWith(callbacks, proxy.url());
        var door = client.mutex("door")) {
      var members = client.multi().add(door).add(client.mutex("window"));
      CountDownLatch mayGoOn = occupy(callbacks);
      assertWaitsFor(client, members, door);
      mayGoOn.countDown();
      door.close();
      var other = client.mutex("gate");
      var both = client.multi().add(other).add(client.mutex("wall"));
      mayGoOn = occupy(callbacks);
      assertWaitsFor(client, other, both);
      mayGoOn.countDown();
      both.close();
    } finally {
      callbacks.shutdown();
    }
  }

  /** The thread that would report the grant cancels and acquires again. */
  @Test
  void aCallbackMayAcquireAgainWhatItCancelled() throws Exception {
    ExecutorService callbacks = Executors.newSingleThreadExecutor();
    try (var client = openWith(callbacks, redis.url());
        var owner = client.mutex("callback")) {
      var isCancelled = new CompletableFuture<Boolean>();
      var mayCancel = new CompletableFuture<CompletableFuture<Lease>>();
      callbacks.execute(
          () -> {
            try {
              boolean isOurs = mayCancel.get().cancel(true);
              isCancelled.complete(isOurs && owner.acquire().release());
            } catch (Throwable thrown) {
              isCancelled.completeExceptionally(thrown);
            }
          });
      mayCancel.complete(untold(client, owner));
      assertTrue(result(isCancelled));
    } finally {
      callbacks.shutdown();
    }
  }

  @Test
  void anAcquireMayFollowTheReportOfACancel() throws Exception {
    try (var client = MortiseClient.open(proxy.url() + PATIENT);
        var owner = client.mutex("told")) {
      proxy.holdAnswers();
      CompletableFuture<Lease> future = owner.acquireAsync();
      CompletableFuture<Lease> next =
          future.handle((lease, failure) -> owner.acquireAsync()).thenCompose(it -> it);
      cancelGranted(owner, future);
      proxy.letAnswers();
      assertTrue(result(next).release());
    }
  }

  /** Before the binding itself knows of the cancel, because the last caller is notified first. */
  @Test
  void aWaitMayFollowTheReportOfACancel() throws Exception {
    ExecutorService callbacks = Executors.newSingleThreadExecutor();
    try (var client = openWith(callbacks, redis.url());
        var owner = client.mutex("next")) {
      CountDownLatch mayGoOn = occupy(callbacks);
      CompletableFuture<Lease> future = untold(client, owner);
      CompletableFuture<Boolean> next =
          future.handle(
              (lease, failure) ->
                  assertDoesNotThrow(() -> owner.tryAcquire(PATIENCE).orElseThrow().release()));
      assertTrue(future.cancel(true));
      assertTrue(next.isDone());
      assertTrue(result(next));
      mayGoOn.countDown();
    } finally {
      callbacks.shutdown();
    }
  }

  @Test
  void anAcquireMayFollowTheReportOfAGrant() throws Exception {
    try (var client = MortiseClient.open(redis.url());
        var owner = client.mutex("told")) {
      CompletableFuture<Boolean> again =
          owner
              .acquireAsync()
              .thenApply(
                  lease -> lease.release() && owner.tryAcquire().orElseThrow().release());
      assertTrue(result(again));
    }
  }

  @Test
  void otherCallsSayHowItIsMeanwhile() throws Exception {
    try (var client = MortiseClient.open(proxy.url() + PATIENT);
        var owner = client.readWriteMutex("book")) {
      proxy.holdAnswers();
      CompletableFuture<Lease> future = owner.readLock().acquireAsync();
      proxy.untilAnswered();
      assertStatus(Status.BUSY, owner::downgrade);
      assertStatus(Status.BUSY, () -> owner.writeLock().tryAcquire());
      assertTrue(future.cancel(true));
      assertStatus(Status.NOT_OWNER, owner::downgrade);
      assertFalse(owner.isReading());
      proxy.letAnswers();
      assertTrue(owner.writeLock().acquire().release());
    }
  }

  @Test
  void closingEndsWhoWaitsForAGiveBack() throws Exception {
    var client = MortiseClient.open(proxy.url() + PATIENT);
    var owner = client.mutex("closed");
    proxy.holdAnswers();
    cancelGranted(owner, owner.acquireAsync());
    CompletableFuture<Optional<Lease>> late = owner.tryAcquireAsync(PATIENCE);
    client.close();
    var thrown = assertThrows(ExecutionException.class, () -> late.get(30, TimeUnit.SECONDS));
    assertEquals(Status.CLOSED, ((MortiseException) thrown.getCause()).status());
    assertStatus(Status.CLOSED, owner::acquire);
  }
}
