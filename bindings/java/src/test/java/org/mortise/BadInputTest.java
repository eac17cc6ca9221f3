package org.mortise;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mortise.Waiting.assertStatus;

import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Names of all kinds, and what is wrong with arguments. */
class BadInputTest {
  private static Redis redis;
  private static MortiseClient client;

  @BeforeAll
  static void open() {
    redis = new Redis();
    client = MortiseClient.open(redis.strictUrl());
  }

  @AfterAll
  static void close() throws Exception {
    client.close();
    redis.close();
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
  void nullIsRefused() {
    assertThrows(NullPointerException.class, () -> MortiseClient.open(null));
    assertThrows(NullPointerException.class, () -> client.lock((String) null));
    assertThrows(NullPointerException.class, () -> client.lock((byte[]) null));
    assertThrows(NullPointerException.class, () -> client.mutex((String) null));
    assertThrows(NullPointerException.class, () -> client.mutex("x").tryAcquire(null));
    assertThrows(NullPointerException.class, () -> client.mutex("x").addLossListener(null));
    assertThrows(NullPointerException.class, () -> client.multi().add(null));
    assertThrows(NullPointerException.class, () -> MortiseOptions.DEFAULTS.with(null, "x"));
    assertThrows(NullPointerException.class, () -> MortiseOptions.DEFAULTS.withLabel(null));
    assertThrows(NullPointerException.class, () -> client.lock("x", null));
  }

  private static void assertNamed(String argument, org.junit.jupiter.api.function.Executable call) {
    var thrown = assertThrows(MortiseException.class, call);
    assertEquals(Status.INVALID_ARGUMENT, thrown.status());
    assertTrue(thrown.getMessage().contains(argument), thrown.getMessage());
    assertEquals(-1, thrown.code());
  }

  @Test
  void aMessageNamesTheArgument() {
    assertNamed("name", () -> client.mutex(""));
    assertNamed("name", () -> client.mutex(new byte[1025], null));
    assertNamed("permits", () -> client.semaphore("s", 0));
    assertNamed("weight", () -> client.semaphore("s", 1).of(0).tryAcquire());
    assertNamed("nonsense", () -> client.mutex("x", MortiseOptions.DEFAULTS.with("nonsense", "1")));
    assertNamed("lease", () -> client.mutex("x", MortiseOptions.DEFAULTS.withLease(Duration.ZERO)));
    assertNamed(
        "lease",
        () -> client.mutex("x", MortiseOptions.DEFAULTS.withLease(Duration.ofSeconds(Long.MAX_VALUE))));
    assertNamed("label", () -> client.mutex("x", MortiseOptions.DEFAULTS.withLabel("a\nb")));
    assertNamed("scheme", () -> MortiseClient.open("http://localhost"));
    assertNamed("url", () -> MortiseClient.open(""));
  }

  @Test
  void nobodyThere() {
    var thrown =
        assertThrows(
            MortiseException.class, () -> MortiseClient.open("unix:///nowhere/redis.sock"));
    assertEquals(Status.UNREACHABLE, thrown.status());
    assertTrue(thrown.isRetryable());
    assertFalse(thrown.isAmbiguous());
  }

  @Test
  void everyOptionIsUsed() throws Exception {
    var options =
        MortiseOptions.DEFAULTS
            .withLease(Duration.ofSeconds(7))
            .withMaxHold(Duration.ofMinutes(1))
            .withRenewal(true)
            .withStrictFairness(true)
            .withCommandTimeout(Duration.ofSeconds(2))
            .withReentrant(true)
            .withLabel("all");
    assertEquals("7000", options.toString().replaceAll(".*lease=(\\d+).*", "$1"));
    try (var configured = MortiseClient.builder(redis.url()).options(options).open()) {
      var owner = configured.mutex("options");
      try (Lease lease = owner.acquire();
          Lease again = owner.acquire()) {
        assertTrue(lease.validMillis() <= 7000 && again.isHeld());
        assertEquals("all", owner.query().holders().get(0).label());
      }
    }
    try (var byUrl = MortiseClient.open(redis.url() + "?lease=5s")) {
      var lock = byUrl.lock("url");
      lock.lock();
      assertTrue(lock.validMillis() <= 5000);
      lock.unlock();
    }
  }

  @Test
  void aFrozenServerIsAnError() throws Exception {
    try (var frozen = new Redis();
        var impatient = MortiseClient.open(frozen.url() + "?command_timeout=100ms")) {
      frozen.signal("STOP");
      assertStatus(Status.UNKNOWN, () -> impatient.mutex("x").tryAcquire());
      frozen.signal("CONT");
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
    assertEquals("1.1.0", MortiseClient.version());
  }
}
