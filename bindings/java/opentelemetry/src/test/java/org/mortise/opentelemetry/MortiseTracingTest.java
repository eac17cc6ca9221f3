package org.mortise.opentelemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.mortise.Lease;
import org.mortise.MortiseClient;
import org.mortise.MortiseOptions;

class MortiseTracingTest {
  private final InMemorySpanExporter exporter = InMemorySpanExporter.create();
  private final OpenTelemetrySdk telemetry =
      OpenTelemetrySdk.builder()
          .setTracerProvider(
              SdkTracerProvider.builder()
                  .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                  .build())
          .build();
  private final MortiseClient client = open(MortiseOptions.DEFAULTS);

  private MortiseClient open(MortiseOptions options) {
    String url =
        Objects.requireNonNull(
            System.getenv("MORTISE_TEST_URL"),
            "no MORTISE_TEST_URL: run this by tests/support/with_server");
    return MortiseClient.builder(url)
        .options(options)
        .lockListener(new MortiseTracing(telemetry))
        .open();
  }

  @AfterEach
  void close() {
    client.close();
    telemetry.close();
  }

  private SpanData span(int number) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    while (exporter.getFinishedSpanItems().size() <= number && System.nanoTime() < end) {
      Thread.sleep(2);
    }
    return exporter.getFinishedSpanItems().get(number);
  }

  private static String text(SpanData span, String key) {
    return span.getAttributes().get(AttributeKey.stringKey(key));
  }

  private static Long token(SpanData span) {
    return span.getAttributes().get(AttributeKey.longKey("mortise.token"));
  }

  @Test
  void aWaitAndItsHoldAreChildrenOfTheCurrentSpan() throws Exception {
    Span request = telemetry.getTracer("test").spanBuilder("request").startSpan();
    long token;
    try (Scope current = request.makeCurrent();
        Lease lease = client.mutex("traced").acquire()) {
      token = lease.token();
    }
    request.end();
    SpanData wait = span(0);
    SpanData hold = span(1);
    assertEquals("mortise.wait", wait.getName());
    assertEquals("mortise.hold", hold.getName());
    for (SpanData each : new SpanData[] {wait, hold}) {
      assertEquals(request.getSpanContext().getSpanId(), each.getParentSpanId());
      assertEquals("traced", text(each, "mortise.lock.name"));
      assertEquals("mutex", text(each, "mortise.lock.kind"));
      assertEquals(token, token(each));
      assertEquals(StatusCode.UNSET, each.getStatus().getStatusCode());
    }
    assertEquals("granted", text(wait, "mortise.outcome"));
    assertEquals("released", text(hold, "mortise.outcome"));
    assertEquals(wait.getSpanContext(), hold.getLinks().get(0).getSpanContext());
    assertTrue(hold.getStartEpochNanos() >= wait.getStartEpochNanos());
  }

  @Test
  void aFailedWaitHasItsOutcome() throws Exception {
    try (Lease held = client.mutex("taken").acquire()) {
      assertFalse(client.mutex("taken").tryAcquire().isPresent());
      assertFalse(client.mutex("taken").tryAcquire(Duration.ofMillis(500)).isPresent());
      assertTrue(held.isHeld());
    }
    assertEquals("not_acquired", text(span(1), "mortise.outcome"));
    assertEquals("timed_out", text(span(2), "mortise.outcome"));
    assertEquals(StatusCode.UNSET, span(2).getStatus().getStatusCode());
  }

  @Test
  void anErrorOfAWaitIsAnError() throws Exception {
    var owner = client.mutex("twice");
    try (Lease held = owner.acquire()) {
      try {
        owner.tryAcquire();
      } catch (org.mortise.MortiseException alreadyHeld) {
        assertTrue(held.isHeld());
      }
    }
    assertEquals("already_held", text(span(1), "mortise.outcome"));
    assertEquals(StatusCode.ERROR, span(1).getStatus().getStatusCode());
  }

  @Test
  void aLostHoldEndsWithAnError() throws Exception {
    MortiseOptions ending =
        MortiseOptions.DEFAULTS.withLease(Duration.ofMillis(100)).withRenewal(false);
    try (var brief = open(ending)) {
      Lease lease = brief.mutex("lost").acquire();
      SpanData hold = span(1);
      assertFalse(lease.isHeld());
      assertEquals("lost", text(hold, "mortise.outcome"));
      assertEquals("expired", text(hold, "mortise.loss.reason"));
      assertEquals(StatusCode.ERROR, hold.getStatus().getStatusCode());
      assertEquals("the hold was lost: expired", hold.getStatus().getDescription());
    }
  }

  @Test
  void anUpgradeIsAnEventOfItsHold() throws Exception {
    var lock = client.readWriteMutex("upgraded");
    long token;
    try (Lease reading = lock.readLock().acquire()) {
      assertTrue(lock.tryUpgrade());
      token = reading.token();
    }
    SpanData hold = span(1);
    assertEquals("read", text(span(0), "mortise.lock.kind"));
    assertEquals("write", text(hold, "mortise.lock.kind"));
    assertEquals(token, token(hold));
    assertEquals("upgraded", hold.getEvents().get(0).getName());
  }

  @Test
  void aMultiHasNoToken() throws Exception {
    var both = client.multi().add(client.mutex("a")).add(client.mutex("b"));
    both.acquire().close();
    assertEquals("multi of \"a\", \"b\"", text(span(1), "mortise.lock.name"));
    assertEquals(null, token(span(1)));
  }

  @Test
  void aClosedClientHasReleasedItsHolds() throws Exception {
    client.mutex("closed").acquire();
    client.close();
    SpanData hold = span(1);
    assertEquals("released", text(hold, "mortise.outcome"));
    assertEquals(StatusCode.UNSET, hold.getStatus().getStatusCode());
  }
}
