package org.mortise.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.mortise.Lease;
import org.mortise.MortiseClient;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Methods of beans under locks, which a client of its own looks at. */
class LockedTest {
  private static MortiseClient other;
  private static ConfigurableApplicationContext context;
  private static Reports reports;

  /** What a method can be given. */
  record Order(String id) {}

  static class Reports {
    private final Inner inner;

    Reports(Inner inner) {
      this.inner = inner;
    }

    @Locked("report-#{#id}")
    public long make(String id) {
      assertTaken("report-" + id);
      assertEquals("report-" + id, LockedHold.current().name());
      assertTrue(LockedHold.current().isHeld());
      return LockedHold.current().token();
    }

    @Locked("order-#{#order.id()}-#{#p1}")
    public void ship(Order order, int part) {
      assertTaken("order-" + order.id() + "-" + part);
    }

    @Locked("order-#{#order}")
    public void identity(Object order) {}

    @Locked("${reports.name}")
    public void named() {
      assertTaken("from a property");
    }

    @Locked(value = "busy", waitTime = "0s")
    public void orThrow() {}

    @Locked(value = "busy", waitTime = "${reports.wait}", otherwise = Locked.Otherwise.SKIP)
    public Optional<String> orSkip() {
      return Optional.of("run");
    }

    @Locked(value = "busy", waitTime = "0s", otherwise = Locked.Otherwise.SKIP)
    public String orNull() {
      return "run";
    }

    @Locked("throws")
    public void fail() {
      throw new UnsupportedOperationException("the method's own");
    }

    @Locked("later")
    public CompletableFuture<String> later(CompletableFuture<String> work) {
      return work;
    }

    @Locked("nested")
    public long outer() {
      assertEquals(LockedHold.current().token(), inner.nested());
      assertThrows(IllegalStateException.class, inner::nestedLater);
      return LockedHold.current().token();
    }

    @Locked(value = "both", kind = Locked.Kind.READ)
    public void reader() {
      try (var reading = other.readWriteMutex("both")) {
        assertTrue(reading.readLock().tryAcquire().isPresent());
      }
      assertThrows(IllegalStateException.class, inner::writer);
    }

    @Locked("lost")
    public void lose(boolean fails) throws Exception {
      CompletableFuture<?> lost = LockedHold.current().lost();
      try (var owner = other.mutex("lost")) {
        assertTrue(owner.forceRelease(owner.query().holders().get(0).owner()));
      }
      lost.get(60, TimeUnit.SECONDS);
      assertThrows(LockLostException.class, LockedHold.current()::requireHeld);
      assertThrows(LockLostException.class, () -> inner.lost());
      if (fails) throw new UnsupportedOperationException("the method's own");
    }

    @Locked("transaction")
    @Transactional
    public void inTransaction(CompletableFuture<Boolean> heldAtCommit) {
      assertTrue(TransactionSynchronizationManager.isActualTransactionActive());
      TransactionSynchronizationManager.registerSynchronization(
          new TransactionSynchronization() {
            @Override
            public void afterCompletion(int status) {
              heldAtCommit.complete(isTaken("transaction"));
            }
          });
      assertThrows(IllegalStateException.class, inner::ownLock);
      inner.ownTransaction();
    }
  }

  static class Inner {
    @Locked("nested")
    public long nested() {
      return LockedHold.current().token();
    }

    @Locked("nested")
    public CompletableFuture<String> nestedLater() {
      return CompletableFuture.completedFuture("run");
    }

    @Locked(value = "both", kind = Locked.Kind.WRITE)
    public void writer() {}

    @Locked("lost")
    public void lost() {
      throw new AssertionError("runs under a lost lock");
    }

    @Locked("another")
    public void ownLock() {}

    @Locked(value = "another", insideTransaction = true)
    @Transactional(propagation = Propagation.REQUIRES_NEW)
    public void ownTransaction() {
      assertTaken("another");
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Application {
    @Bean
    Inner inner() {
      return new Inner();
    }

    @Bean
    Reports reports(Inner inner) {
      return new Reports(inner);
    }
  }

  @BeforeAll
  static void start() {
    other = MortiseClient.open(Context.url());
    context =
        Context.start(
            Application.class, "--reports.name=from a property", "--reports.wait=0s");
    reports = context.getBean(Reports.class);
  }

  @AfterAll
  static void close() {
    context.close();
    other.close();
  }

  private static boolean isTaken(String name) {
    try (var owner = other.mutex(name)) {
      Optional<Lease> lease = owner.tryAcquire();
      lease.ifPresent(Lease::close);
      return lease.isEmpty();
    }
  }

  private static void assertTaken(String name) {
    assertTrue(isTaken(name), name);
  }

  @Test
  void aMethodRunsUnderItsLockWithAToken() {
    long first = reports.make("4711");
    assertFalse(isTaken("report-4711"));
    assertTrue(reports.make("4711") > first);
    assertThrows(IllegalStateException.class, LockedHold::current);
  }

  @Test
  void aNameHasParametersAndProperties() {
    reports.ship(new Order("7"), 3);
    reports.named();
  }

  @Test
  void anExpressionWithoutAValueIsRefused() {
    for (String id : new String[] {null, "", " "}) {
      var refused = assertThrows(IllegalArgumentException.class, () -> reports.make(id));
      assertTrue(refused.getMessage().contains("Reports.make(java.lang.String): #{#id} is "));
    }
    var identity =
        assertThrows(IllegalArgumentException.class, () -> reports.identity(new Object()));
    assertTrue(identity.getMessage().contains("#{#order} is of java.lang.Object, whose toString"));
    assertThrows(IllegalArgumentException.class, () -> reports.identity(Optional.empty()));
    assertThrows(IllegalArgumentException.class, () -> reports.ship(null, 1));
  }

  @Test
  void aLockThatIsHeldIsAnExceptionOrSkipped() throws Exception {
    try (var owner = other.mutex("busy");
        Lease held = owner.acquire()) {
      var refused = assertThrows(LockNotAcquiredException.class, reports::orThrow);
      assertEquals("busy", refused.lockName());
      assertEquals(Optional.empty(), reports.orSkip());
      assertNull(reports.orNull());
      assertTrue(held.isHeld());
    }
    assertEquals(Optional.of("run"), reports.orSkip());
    assertEquals("run", reports.orNull());
  }

  @Test
  void anExceptionOfTheMethodReleasesTheLock() {
    assertThrows(UnsupportedOperationException.class, reports::fail);
    assertFalse(isTaken("throws"));
  }

  @Test
  void aStageHoldsTheLockUntilItCompletes() throws Exception {
    var work = new CompletableFuture<String>();
    CompletableFuture<String> result = reports.later(work);
    assertTaken("later");
    assertThrows(IllegalStateException.class, LockedHold::current);
    work.complete("done");
    assertEquals("done", result.get(60, TimeUnit.SECONDS));
    assertFalse(isTaken("later"));
    var failing = new CompletableFuture<String>();
    CompletableFuture<String> failed = reports.later(failing);
    failing.completeExceptionally(new UnsupportedOperationException("the work's own"));
    var thrown =
        assertThrows(ExecutionException.class, () -> failed.get(60, TimeUnit.SECONDS));
    assertTrue(thrown.getCause() instanceof UnsupportedOperationException);
    assertFalse(isTaken("later"));
  }

  @Test
  void aNestedMethodWithTheSameLockRunsUnderIt() {
    assertTrue(reports.outer() > 0);
    assertFalse(isTaken("nested"));
  }

  @Test
  void readersRunSideBySide() {
    reports.reader();
  }

  @Test
  void aLossIsAnExceptionAfterTheMethod() {
    var lost = assertThrows(LockLostException.class, () -> reports.lose(false));
    assertEquals("lost", lost.lockName());
    assertTrue(lost.token() > 0);
    var own = assertThrows(UnsupportedOperationException.class, () -> reports.lose(true));
    assertTrue(own.getSuppressed()[0] instanceof LockLostException);
  }

  @Test
  void theTransactionEndsBeforeTheRelease() throws Exception {
    var heldAtCommit = new CompletableFuture<Boolean>();
    reports.inTransaction(heldAtCommit);
    assertTrue(heldAtCommit.get());
    assertFalse(isTaken("transaction"));
  }

  @Test
  void aTransactionAroundTheLockIsRefused() {
    try (var inside =
        Context.start(
            Application.class,
            "--mortise.locked.order=2147483647",
            "--reports.name=x",
            "--reports.wait=0s")) {
      Reports late = inside.getBean(Reports.class);
      var template =
          new TransactionTemplate(inside.getBean(PlatformTransactionManager.class));
      var refused =
          assertThrows(
              IllegalStateException.class,
              () -> template.executeWithoutResult(status -> late.make("1")));
      assertTrue(refused.getMessage().contains("a transaction is active"));
    }
  }
}
