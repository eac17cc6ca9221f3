package org.mortise;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.Reference;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.mortise.Waiting.Worker;

/** What a listener of a client receives. */
class LockListenerTest {
  private static final MortiseOptions SHORT =
      MortiseOptions.DEFAULTS.withLease(Duration.ofMillis(300));
  @RegisterExtension static final Redis redis = new Redis();

  /** Records what it receives as text; tokens as T, in the order of their grants. */
  private static final class Recorder implements LockListener {
    final LinkedBlockingQueue<String> received = new LinkedBlockingQueue<>();

    @Override
    public Wait beginWait(String name, LockKind kind) {
      received.add("wait " + kind + " " + name);
      return new Wait() {
        @Override
        public Hold granted(long token) {
          assertEquals(kind == LockKind.MULTI, token == 0);
          received.add("granted " + name);
          return hold(name);
        }

        @Override
        public void failed(Status status) {
          received.add("failed " + status + " " + name);
        }
      };
    }

    private Hold hold(String name) {
      return new Hold() {
        @Override
        public void changed(LockKind kind, long token) {
          received.add("changed " + kind + " " + name + (token > 0 ? "" : " without a token"));
        }

        @Override
        public void released(Status status) {
          received.add("released " + status + " " + name);
        }

        @Override
        public void lost(LossReason reason) {
          received.add("lost " + reason + " " + name);
        }
      };
    }

    void assertNext(String... expected) throws InterruptedException {
      for (String line : expected) {
        assertEquals(line, received.poll(Waiting.PATIENCE_SECONDS, TimeUnit.SECONDS));
      }
    }

    void assertNoMore() {
      assertEquals(List.of(), List.copyOf(received));
    }
  }

  private final Recorder recorder = new Recorder();

  private MortiseClient open(MortiseOptions options) {
    return MortiseClient.builder(redis.url()).options(options).lockListener(recorder).open();
  }

  private MortiseClient open() {
    return open(MortiseOptions.DEFAULTS);
  }

  @Test
  void eachKindIsReported() throws Exception {
    try (var client = open()) {
      client.mutex("m").acquire().close();
      recorder.assertNext("wait MUTEX m", "granted m", "released OK m");
      client.semaphore("s", 3).permits(2).tryAcquire().orElseThrow().release();
      recorder.assertNext("wait SEMAPHORE s", "granted s", "released OK s");
      client.multi().add(client.mutex("a")).add(client.mutex("b")).acquire().close();
      recorder.assertNext(
          "wait MULTI multi of \"a\", \"b\"",
          "granted multi of \"a\", \"b\"",
          "released OK multi of \"a\", \"b\"");
      var rw = client.readWriteMutex("rw");
      try (Lease reading = rw.readLock().acquire()) {
        recorder.assertNext("wait READ rw", "granted rw");
        assertTrue(rw.tryUpgrade());
        recorder.assertNext("changed WRITE rw");
        rw.downgrade();
        recorder.assertNext("changed READ rw");
        assertTrue(reading.isHeld());
      }
      recorder.assertNext("released OK rw");
      recorder.assertNoMore();
    }
  }

  /** The executor runs a result when the owner has a later hold, or has changed the hold again. */
  @Test
  void aLateResultIsNotReported() throws Exception {
    var results = new LinkedBlockingQueue<Runnable>();
    try (var client =
        MortiseClient.builder(redis.url())
            .lockListener(recorder)
            .callbackExecutor(results::add)
            .open()) {
      var owner = client.readWriteMutex("late");
      Lease first = owner.writeLock().tryAcquire().orElseThrow();
      owner.downgradeAsync();
      recorder.assertNext("wait WRITE late", "granted late", "changed READ late");
      Runnable result = results.take();
      assertTrue(first.release());
      Lease second = owner.writeLock().tryAcquire().orElseThrow();
      recorder.assertNext("released OK late", "wait WRITE late", "granted late");
      result.run();
      recorder.assertNoMore();
      owner.downgrade();
      owner.tryUpgradeAsync();
      result = results.take();
      owner.downgrade();
      recorder.assertNext("changed READ late");
      result.run();
      recorder.assertNoMore();
      assertTrue(second.release());
      recorder.assertNext("released OK late");
    }
  }

  @Test
  void aThreadsLockIsReportedOnce() throws Exception {
    try (var client = open()) {
      MortiseLock lock = client.lock("thread");
      lock.lock();
      assertTrue(lock.tryLock());
      lock.unlock();
      recorder.assertNext("wait MUTEX thread", "granted thread");
      recorder.assertNoMore();
      lock.unlock();
      recorder.assertNext("released OK thread");
      MortiseReadWriteLock both = client.readWriteLock("both");
      both.writeLock().lock();
      both.readLock().lock();
      both.writeLock().unlock();
      both.readLock().unlock();
      recorder.assertNext(
          "wait WRITE both", "granted both", "changed READ both", "released OK both");
      recorder.assertNoMore();
    }
  }

  @Test
  void eachLeaseOfAReentrantOwnerIsAHold() throws Exception {
    try (var client = open(MortiseOptions.DEFAULTS.withReentrant(true))) {
      var owner = client.mutex("again");
      Lease outer = owner.acquire();
      Lease inner = owner.acquire();
      inner.release();
      recorder.assertNext("wait MUTEX again", "granted again");
      recorder.assertNext("wait MUTEX again", "granted again", "released OK again");
      recorder.assertNoMore();
      outer.release();
      recorder.assertNext("released OK again");
    }
  }

  @Test
  void aWaitThatFailsHasAStatus() throws Exception {
    try (var client = open();
        var other = MortiseClient.open(redis.url());
        Lease held = other.mutex("taken").acquire()) {
      assertTrue(held.isHeld());
      var owner = client.mutex("taken");
      assertFalse(owner.tryAcquire().isPresent());
      recorder.assertNext("wait MUTEX taken", "failed NOT_ACQUIRED taken");
      assertFalse(owner.tryAcquire(Duration.ofMillis(500)).isPresent());
      recorder.assertNext("wait MUTEX taken", "failed TIMED_OUT taken");
      assertFalse(owner.tryAcquireAsync(Duration.ofMillis(500)).get().isPresent());
      recorder.assertNext("wait MUTEX taken", "failed TIMED_OUT taken");
      var waiting = new Worker(() -> assertThrows(InterruptedException.class, owner::acquire));
      Waiting.untilWaiting(redis, "taken", 1);
      waiting.thread().interrupt();
      waiting.finish();
      recorder.assertNext("wait MUTEX taken", "failed CANCELLED taken");
      CompletableFuture<Lease> canceled = owner.acquireAsync();
      canceled.cancel(false);
      recorder.assertNext("wait MUTEX taken", "failed CANCELLED taken");
      CompletableFuture<Lease> closed = owner.acquireAsync();
      owner.close();
      assertThrows(Exception.class, closed::get);
      recorder.assertNext("wait MUTEX taken", "failed CLOSED taken");
      recorder.assertNoMore();
    }
  }

  /** The thread that cancels may be one of the JVM, as after orTimeout. */
  @Test
  void aCanceledFutureIsReportedByTheExecutor() throws Exception {
    var failed = new CompletableFuture<Thread>();
    LockListener.Wait wait =
        new LockListener.Wait() {
          @Override
          public LockListener.Hold granted(long token) {
            return null;
          }

          @Override
          public void failed(Status status) {
            failed.complete(Thread.currentThread());
          }
        };
    try (var client =
            MortiseClient.builder(redis.url()).lockListener((name, kind) -> wait).open();
        var other = MortiseClient.open(redis.url());
        Lease held = other.mutex("canceled").acquire()) {
      assertTrue(held.isHeld());
      assertTrue(client.mutex("canceled").acquireAsync().cancel(false));
      String name = Waiting.result(failed).getName();
      assertTrue(name.startsWith("mortise-callback-"), name);
    }
  }

  @Test
  void aFutureIsReportedAsACallIs() throws Exception {
    try (var client = open()) {
      var owner = client.mutex("future");
      Lease lease = Waiting.result(owner.acquireAsync());
      recorder.assertNext("wait MUTEX future", "granted future");
      assertTrue(Waiting.result(lease.releaseAsync()));
      recorder.assertNext("released OK future");
      // The hold begins for the listener before a stage can end it.
      Waiting.result(owner.acquireAsync().thenAccept(Lease::close));
      recorder.assertNext("wait MUTEX future", "granted future", "released OK future");
      recorder.assertNoMore();
    }
  }

  @Test
  void aLossEndsTheHold() throws Exception {
    try (var client = open(SHORT)) {
      Lease lease = client.mutex("lost").acquire();
      recorder.assertNext("wait MUTEX lost", "granted lost");
      redis.command("DEL", "{mortise:lost}");
      recorder.assertNext("lost SERVER_LOST lost");
      assertFalse(lease.release());
      recorder.assertNoMore();

      var all = client.multi().add(client.mutex("kept")).add(client.mutex("member"));
      Lease multi = all.acquire();
      recorder.received.clear();
      redis.command("DEL", "{mortise:member}");
      recorder.assertNext("lost SERVER_LOST multi of \"kept\", \"member\"");
      multi.release();
      recorder.assertNoMore();

      MortiseLock lock = client.lock("thread's");
      lock.lock();
      recorder.received.clear();
      redis.command("DEL", "{mortise:thread's}");
      recorder.assertNext("lost SERVER_LOST thread's");
      Waiting.assertStatus(Status.LOST, lock::unlock);
      recorder.assertNoMore();
    }
  }

  @Test
  void closingEndsHolds() throws Exception {
    var client = open();
    var owner = client.mutex("owner's");
    owner.acquire();
    var kept = client.mutex("client's");
    kept.acquire();
    recorder.received.clear();
    owner.close();
    recorder.assertNext("released CLOSED owner's");
    client.close();
    recorder.assertNext("released CLOSED client's");
    recorder.assertNoMore();
    // A collected owner would end its hold before the client does.
    Reference.reachabilityFence(kept);
  }

  @Test
  void closingAMemberEndsTheHoldOfItsMulti() throws Exception {
    try (var client = open()) {
      var closed = client.mutex("closed");
      Multi multi = client.multi().add(client.mutex("other")).add(closed);
      Lease held = multi.acquire();
      recorder.received.clear();
      closed.close();
      recorder.assertNext("released CLOSED multi of \"other\", \"closed\"");
      assertFalse(held.release());
      Waiting.assertStatus(Status.CLOSED, multi::tryAcquire);
      recorder.assertNext(
          "wait MULTI multi of \"other\", \"closed\"",
          "failed CLOSED multi of \"other\", \"closed\"");
      recorder.assertNoMore();
    }
  }

  /** A program whose listener throws, with its log on the standard error. */
  static final class Thrower {
    public static void main(String[] arguments) throws Exception {
      try (var client =
          MortiseClient.builder(arguments[0]).lockListener(Thrower::beginWait).open()) {
        for (String name : List.of("at once", "at its grant", "at its end")) {
          try (Lease lease = client.mutex(name).acquire()) {
            assertFalse(client.mutex(name).tryAcquire().isPresent());
            assertTrue(lease.isHeld());
          }
        }
      }
      System.out.println("done");
    }

    private static LockListener.Wait beginWait(String name, LockKind kind) {
      if (name.equals("at once")) throw new AssertionError("a listener's own");
      return new LockListener.Wait() {
        @Override
        public LockListener.Hold granted(long token) {
          if (name.equals("at its grant")) throw new AssertionError("a listener's own");
          return new LockListener.Hold() {
            @Override
            public void released(Status status) {
              throw new AssertionError("a listener's own");
            }

            @Override
            public void lost(LossReason reason) {}
          };
        }

        @Override
        public void failed(Status status) {
          throw new AssertionError("a listener's own");
        }
      };
    }
  }

  @Test
  void aListenerThatThrowsIsLoggedAndHarmless() throws Exception {
    Subprocess ended =
        Subprocess.run(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Thrower.class.getName(),
                redis.url()));
    assertEquals(0, ended.code(), ended.output());
    assertTrue(ended.output().contains("done"), ended.output());
    // Two waits, a grant and a try of the second name, a try and an end of the third.
    assertEquals(6, ended.output().split("java.lang.AssertionError: a listener's own").length - 1);
    assertEquals(6, ended.output().split("a LockListener threw an exception").length - 1);
  }

  @Test
  void aListenerMayUseTheClient() throws Exception {
    var self = new CompletableFuture<MortiseClient>();
    var received = new LinkedBlockingQueue<Boolean>();
    LockListener user =
        (name, kind) -> {
          if (!name.equals("outer")) return null;
          MortiseClient client = self.join();
          received.add(client.mutex("inner").tryAcquire().isPresent());
          return new LockListener.Wait() {
            @Override
            public LockListener.Hold granted(long token) {
              received.add(client.mutex("granted").tryAcquire().isPresent());
              return null;
            }

            @Override
            public void failed(Status status) {}
          };
        };
    try (var client = MortiseClient.builder(redis.url()).lockListener(user).open()) {
      self.complete(client);
      client.mutex("outer").acquire().close();
      assertEquals(List.of(true, true), List.copyOf(received));
    }
  }

  @Test
  void aForgottenOwnersHoldEnds() throws Exception {
    try (var client = open()) {
      client.mutex("forgotten").acquire();
      recorder.assertNext("wait MUTEX forgotten", "granted forgotten");
      Waiting.until(
          "the end of a forgotten hold",
          () -> {
            System.gc();
            return !recorder.received.isEmpty();
          });
      recorder.assertNext("released CLOSED forgotten");
    }
  }

  /** Otherwise each hold of an owner would make the next one slower. */
  @Test
  void anEndedHoldLeavesNothingInTheWatch() throws Exception {
    try (var client = open()) {
      var owner = client.mutex("places");
      var other = client.mutex("other-places");
      for (int i = 0; i < 20; i++) owner.acquire().close();
      Multi multi = client.multi().add(owner).add(other);
      for (int i = 0; i < 20; i++) multi.acquire().close();
      assertEquals(0, owner.watched().places());
      assertEquals(0, other.watched().places());
    }
  }
}
