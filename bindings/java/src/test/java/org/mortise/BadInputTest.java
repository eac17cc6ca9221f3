package org.mortise;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mortise.Waiting.assertStatus;

import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;

/** Names of all kinds, and faults of arguments. */
class BadInputTest {
  @RegisterExtension static final Redis redis = new Redis();
  private static MortiseClient client;

  @BeforeAll
  static void open() {
    client = MortiseClient.open(redis.strictUrl());
  }

  @AfterAll
  static void close() throws Exception {
    client.close();
  }

  private static boolean isKey(byte[] name) {
    var key = new ByteArrayOutputStream();
    key.writeBytes("{mortise:".getBytes(UTF_8));
    key.writeBytes(name);
    key.write('}');
    return redis.command(List.of("EXISTS".getBytes(UTF_8), key.toByteArray())).equals(1L);
  }

  @Test
  void aNameIsItsUtf8() throws Exception {
    // U+1F512 has four bytes; in JNI's own encoding it would have six, and NUL two.
    byte[] bytes = {(byte) 0xF0, (byte) 0x9F, (byte) 0x94, (byte) 0x92, 0, 'x'};
    var lock = client.lock("\uD83D\uDD12\0x");
    lock.lock();
    assertTrue(isKey(bytes));
    assertTrue(client.mutex(bytes, null).tryAcquire().isEmpty());
    assertTrue(client.lock(bytes).isHeldByCurrentThread());
    lock.unlock();
    try (Lease lease = client.mutex(new byte[] {(byte) 0xFF, '{', '}', '\n'}, null).acquire()) {
      assertTrue(lease.isHeld());
      assertTrue(isKey(new byte[] {(byte) 0xFF, '{', '}', '\n'}));
    }
    assertStatus(Status.INVALID_ARGUMENT, () -> client.lock("half \uD83D"));
  }

  @Test
  void aNamesBytesAreCopied() {
    byte[] bytes = {'c', 'o', 'p', 'y'};
    var lock = client.lock(bytes);
    bytes[0] = 'x';
    lock.lock();
    assertTrue(isKey("copy".getBytes(UTF_8)));
    lock.unlock();
  }

  @Test
  void nullIsRefused() throws Exception {
    assertNull("url", () -> MortiseClient.open(null));
    assertNull("options", () -> MortiseClient.builder("local:").options(null));
    assertNull("executor", () -> MortiseClient.builder("local:").callbackExecutor(null));
    assertNull("listener", () -> MortiseClient.builder("local:").lossListener(null));
    assertNull("name", () -> client.lock((String) null));
    assertNull("name", () -> client.lock((byte[]) null));
    assertNull("options", () -> client.lock("x", null));
    assertNull("name", () -> client.readWriteLock((String) null));
    assertNull("name", () -> client.mutex((String) null));
    assertNull("name", () -> client.mutex((byte[]) null, null));
    assertNull("name", () -> client.readWriteMutex((String) null));
    assertNull("name", () -> client.semaphore((String) null, 1));
    assertNull("unit", () -> client.lock("x").tryLock(0, null));
    assertNull("timeout", () -> client.mutex("x").tryAcquire(null));
    assertNull("timeout", () -> client.mutex("x").tryAcquireAsync(null));
    assertNull("listener", () -> client.mutex("x").addLossListener(null));
    assertNull("member", () -> client.multi().add(null));
    assertNull("member", () -> client.multi().add(null));
    assertNull("member", () -> client.multi().add(null));
    assertNull("member", () -> client.multi().add(null));
    assertNull("key", () -> MortiseOptions.DEFAULTS.with(null, "x"));
    assertNull("value", () -> MortiseOptions.DEFAULTS.with("label", null));
    assertNull("label", () -> MortiseOptions.DEFAULTS.withLabel(null));
    assertNull("lease", () -> MortiseOptions.DEFAULTS.withLease(null));
    assertNull("protocol", () -> MortiseOptions.DEFAULTS.withProtocol(null));
    try (Lease lease = client.mutex("null").acquire()) {
      assertNull("lease", () -> lease.extend(null));
      assertNull("lease", () -> lease.extendAsync(null));
    }
  }

  private static void assertNull(String argument, Executable call) {
    assertEquals(argument, assertThrows(NullPointerException.class, call).getMessage());
  }

  private static void assertNamed(String argument, Executable call) {
    var thrown = assertThrows(MortiseException.class, call);
    assertEquals(Status.INVALID_ARGUMENT, thrown.status());
    assertTrue(thrown.getMessage().contains(argument), thrown.getMessage());
    assertEquals(-1, thrown.code());
  }

  @Test
  void aMessageNamesTheArgument() {
    assertNamed("name", () -> client.mutex(""));
    assertNamed("name", () -> client.mutex(new byte[1025], null));
    assertNamed("capacity", () -> client.semaphore("s", 0));
    assertNamed("permits", () -> client.semaphore("s", 1).permits(0).tryAcquire());
    assertNamed("nonsense", () -> client.mutex("x", MortiseOptions.DEFAULTS.with("nonsense", "1")));
    assertNamed("lease", () -> client.mutex("x", MortiseOptions.DEFAULTS.withLease(Duration.ZERO)));
    var forever = Duration.ofSeconds(Long.MAX_VALUE);
    assertNamed("lease", () -> client.mutex("x", MortiseOptions.DEFAULTS.withLease(forever)));
    assertNamed(
        "max_hold",
        () -> client.mutex("x", MortiseOptions.DEFAULTS.withMaxHold(Duration.ofNanos(-1))));
    assertNamed(
        "-5",
        () -> client.mutex("x", MortiseOptions.DEFAULTS.withLease(Duration.ofMillis(-5))));
    assertNamed("label", () -> client.mutex("x", MortiseOptions.DEFAULTS.withLabel("a\nb")));
    var year = Duration.ofDays(367);
    assertNamed("read_lifetime",
        () -> client.readWriteMutex("x", MortiseOptions.DEFAULTS.withReadLifetime(year)));
    assertNamed("write_lifetime",
        () -> client.readWriteMutex("x", MortiseOptions.DEFAULTS.withWriteLifetime(year)));
    assertNamed(
        "client_name", () -> client.mutex("x", MortiseOptions.DEFAULTS.withClientName("a b")));
    assertNamed(
        "password_file",
        () -> client.mutex("x", MortiseOptions.DEFAULTS.withPasswordFile(Path.of("/run/x"))));
    assertNamed("password", () -> client.setCredentials("", new char[0]));
    assertThrows(NullPointerException.class, () -> client.setCredentials(null, new char[1]));
    assertThrows(NullPointerException.class, () -> client.setCredentials("", (byte[]) null));
    assertNamed("busy_poll", () -> client.mutex("x", MortiseOptions.DEFAULTS.withBusyPoll(1001)));
    assertNamed(
        "busy_poll: is an option of a client",
        () -> client.mutex("x", MortiseOptions.DEFAULTS.withAdaptiveBusyPoll()));
    assertNamed("drift", () -> client.mutex("x", MortiseOptions.DEFAULTS.withDrift(1000)));
    assertNamed("scheme", () -> MortiseClient.open("http://localhost"));
    assertNamed("url", () -> MortiseClient.open(""));
  }

  /** As a question mark it would be another text. */
  @Test
  void aLoneSurrogateIsRefused() throws Exception {
    String half = "half \uD83D";
    var second = Duration.ofSeconds(1);
    try (Lease lease = client.mutex("surrogate").acquire()) {
      assertNamed("value: has a lone surrogate", () -> lease.setValue(half));
      assertNamed("value: has a lone surrogate", () -> lease.setValueAsync(half));
      assertNamed("owner: has a lone surrogate", () -> lease.owner().forceRelease(half));
      assertTrue(lease.isHeld());
    }
    assertNamed("id: has a lone surrogate", () -> client.mutex("surrogate").adopt(half));
    assertNamed("name: has a lone surrogate", () -> client.listHistory(half, second, second));
    assertNamed("pattern: has a lone surrogate", () -> client.scanLocks(half, 10, second));
    assertNamed("user: has a lone surrogate", () -> client.setCredentials(half, new char[1]));
    assertNamed("user: has a lone surrogate", () -> client.setCredentials(half, new byte[1]));
    assertNamed(
        "password: has a lone surrogate", () -> client.setCredentials("", half.toCharArray()));
  }

  private static final Duration BEYOND_A_LONG =
      Duration.ofMillis(Long.MAX_VALUE).plus(Duration.ofNanos(1));

  @Test
  void numbersAreNotCutOff() throws Exception {
    // The low 32 bits of each would be a good number.
    long low = (1L << 32) + 1;
    assertNamed("capacity", () -> client.semaphore("big", low));
    assertNamed("capacity", () -> client.semaphore("big", (1L << 53) + 1));
    assertNamed("capacity", () -> client.semaphore("big", Long.MAX_VALUE));
    assertNamed("permits", () -> client.semaphore("big", 2).permits(low).tryAcquire());
    assertNamed("permits", () -> client.multi().add(client.semaphore("big", 2).permits(low)));
    assertNamed("capacity", () -> client.semaphore("big", 2).resize(low));
    assertNamed("owner", () -> client.mutex("big").forceRelease(""));
    assertNamed("poll_attempts",
        () -> client.mutex("x", MortiseOptions.DEFAULTS.withPollAttempts(1L << 53)));
    try (Lease lease = client.mutex("long").acquire()) {
      assertNamed("lease", () -> lease.extend(Duration.ofMillis(1L << 53)));
      assertNamed("lease", () -> lease.extend(BEYOND_A_LONG));
      assertNamed("lease", () -> lease.extend(Duration.ofNanos(-1)));
      assertTrue(lease.isHeld());
    }
  }

  @Test
  void anyTimeoutIsGood() throws Exception {
    var longest = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
    var shortest = Duration.ofSeconds(Long.MIN_VALUE);
    for (Duration timeout :
        List.of(longest, BEYOND_A_LONG, Duration.ofNanos(1), Duration.ZERO, shortest)) {
      try {
        client.mutex("any").tryAcquire(timeout).ifPresent(Lease::close);
      } catch (MortiseException e) {
        // Within a moment a slow server has not answered, which is reported.
        assertTrue(e.isAmbiguous(), e.toString());
        assertTrue(timeout.compareTo(Duration.ofSeconds(1)) < 0, timeout.toString());
      }
    }
    // A truncated time would be none at all, or endless.
    assertEquals(1, Times.timeoutMillis(Duration.ofNanos(1)));
    assertEquals(2, Times.timeoutMillis(1_000_001, TimeUnit.NANOSECONDS));
    assertEquals(0, Times.timeoutMillis(shortest));
    assertEquals(Times.timeoutMillis(longest), Times.timeoutMillis(BEYOND_A_LONG));
    assertEquals(Times.timeoutMillis(longest), Times.timeoutMillis(Long.MAX_VALUE, TimeUnit.DAYS));
  }

  @Test
  void nobodyThere() {
    var thrown =
        assertThrows(
            MortiseException.class,
            () -> MortiseClient.open("unix:///nowhere/redis.sock?command_timeout=200ms"));
    assertEquals(Status.UNREACHABLE, thrown.status());
    assertTrue(thrown.isRetryable());
    assertFalse(thrown.isAmbiguous());
  }

  @Test
  void aLazyClientWaitsForItsServer() {
    var options =
        MortiseOptions.DEFAULTS.withLazyConnect(true).withCommandTimeout(Duration.ofMillis(200));
    try (var lazy = MortiseClient.builder("unix:///nowhere/redis.sock").options(options).open()) {
      assertStatus(Status.UNREACHABLE, lazy::ping);
      assertStatus(Status.UNREACHABLE, () -> lazy.mutex("x").tryAcquire());
    }
    options = options.withLazyConnect(false);
    assertFalse(options.equals(options.withLazyConnect(true)));
  }

  @Test
  void everyOptionIsUsed() throws Exception {
    var options =
        MortiseOptions.DEFAULTS
            .withLease(Duration.ofSeconds(7))
            .withMaxHold(Duration.ofMinutes(1))
            .withProgress(Duration.ofMinutes(1))
            .withRenewal(true)
            .withStrictFairness(true)
            .withCommandTimeout(Duration.ofSeconds(2))
            .withReentrant(true)
            .withProtocol("queued")
            .withPollInterval(Duration.ofMillis(20))
            .withPollAttempts(7)
            .withDrift(1000)
            .withLabel("all");
    assertEquals(options, options.withLabel("none").withLabel("all"));
    assertEquals(options.hashCode(), options.withLabel("none").withLabel("all").hashCode());
    assertFalse(options.equals(MortiseOptions.DEFAULTS));
    assertEquals("7000", options.toString().replaceAll(".*lease=(\\d+).*", "$1"));
    try (var configured = MortiseClient.builder(redis.url()).options(options).open()) {
      var owner = configured.mutex("options");
      try (Lease lease = owner.acquire();
          Lease again = owner.acquire()) {
        assertTrue(lease.validFor().toMillis() <= 7000 && again.isHeld());
        assertEquals("all", owner.query().holders().get(0).label());
      }
      // An option that is not set keeps the client's value.
      var labelled = configured.mutex("labelled", MortiseOptions.DEFAULTS.withLabel("own"));
      try (Lease lease = labelled.acquire()) {
        assertTrue(lease.validFor().toMillis() <= 7000);
        assertEquals("own", labelled.query().holders().get(0).label());
      }
    }
    try (var byUrl = MortiseClient.open(redis.url() + "?lease=5s")) {
      var lock = byUrl.lock("url");
      lock.lock();
      assertTrue(lock.validFor().toMillis() <= 5000);
      lock.unlock();
    }
  }

  @Test
  void reentrancyCanBeOfOneModeOnly() {
    var defaults = MortiseOptions.DEFAULTS;
    try (var reader = client.readWriteMutex("modes", defaults.withReentrantRead(true));
        var writer = client.readWriteMutex("modes", defaults.withReentrantWrite(true))) {
      assertReentrant(reader.readLock());
      assertNotReentrant(reader.writeLock());
      assertReentrant(writer.writeLock());
      assertNotReentrant(writer.readLock());
    }
  }

  private static void assertReentrant(Acquirable mode) {
    try (Lease once = mode.tryAcquire().orElseThrow();
        Lease twice = mode.tryAcquire().orElseThrow()) {
      assertTrue(once.isHeld() && twice.isHeld());
    }
  }

  private static void assertNotReentrant(Acquirable mode) {
    try (Lease once = mode.tryAcquire().orElseThrow()) {
      assertTrue(once.isHeld());
      var thrown = assertThrows(MortiseException.class, mode::tryAcquire);
      assertEquals(Status.ALREADY_HELD, thrown.status());
    }
  }

  @Test
  void pollingHasItsOwnOptions() throws Exception {
    var options = MortiseOptions.DEFAULTS.withProtocol("token")
            .withPollInterval(Duration.ofMillis(1))
            .withPollAttempts(3);
    redis.command("SET", "polled", "somebody's");
    assertStatus(Status.NOT_ACQUIRED, () -> client.mutex("polled", options).acquire());
    redis.command("DEL", "polled");
    try (Lease lease = client.mutex("polled", options).acquire()) {
      assertTrue(lease.isHeld() && redis.exists("polled"));
    }
  }

  @Test
  void aFrozenServerIsAnError() throws Exception {
    try (var frozen = new Redis();
        var impatient = MortiseClient.open(frozen.url() + "?command_timeout=100ms")) {
      frozen.control("pause");
      assertStatus(Status.UNKNOWN, () -> impatient.mutex("x").tryAcquire());
      frozen.control("resume");
      Waiting.until(
          "it answers again",
          () -> {
            try {
              impatient.ping();
              return true;
            } catch (MortiseException notYet) {
              return false;
            }
          });
    }
  }

  @Test
  void versionsAgree() {
    assertEquals("1.0.0", MortiseClient.version());
  }
}
