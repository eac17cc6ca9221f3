package org.mortise.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.opentelemetry.api.OpenTelemetry;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.mortise.LockListener;
import org.mortise.MortiseClient;
import org.mortise.MortiseException;
import org.mortise.Status;
import org.mortise.opentelemetry.MortiseTracing;
import org.mortise.spring.integration.MortiseLockRegistry;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.context.properties.source.*;
import org.springframework.boot.health.actuate.endpoint.HealthEndpoint;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.integration.support.locks.LockRegistry;

class MortiseAutoConfigurationTest {
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Plain {}

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class WithClient {
    @Bean
    MortiseClient own() {
      return MortiseClient.open(Context.url());
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class WithTelemetry {
    @Bean
    OpenTelemetry telemetry() {
      return OpenTelemetry.noop();
    }
  }

  private static Throwable causeOf(Executable start) {
    return NestedExceptionUtils.getMostSpecificCause(assertThrows(Exception.class, start));
  }

  @Test
  void theClientHasItsProperties() throws Exception {
    MortiseClient client;
    try (var context =
        Context.start(
            Plain.class, "--mortise.options.lease=7s", "--mortise.options.command-timeout=5s")) {
      client = context.getBean(MortiseClient.class);
      var owner = client.mutex("properties");
      owner.acquire();
      Duration valid = owner.validFor();
      assertTrue(valid.toMillis() > 3_000 && valid.toMillis() <= 7_000, valid.toString());
    }
    // The context has closed it.
    assertEquals(
        Status.CLOSED, assertThrows(MortiseException.class, client::ping).status());
  }

  @Test
  void aUsersClientIsTheOnlyOne() {
    try (var context = Context.startAlone(WithClient.class)) {
      assertSame(context.getBean("own"), context.getBean(MortiseClient.class));
      assertNotNull(context.getBean(MortiseLockRegistry.class));
    }
  }

  @Test
  void theRegistryIsSpringIntegrations() {
    try (var context = Context.start(Plain.class)) {
      LockRegistry<?> registry = context.getBean(LockRegistry.class);
      assertSame(context.getBean(MortiseLockRegistry.class), registry);
      var lock = context.getBean(MortiseLockRegistry.class).obtain("registry");
      lock.lock();
      assertTrue(lock.token() > 0);
      lock.unlock();
    }
  }

  @Test
  void theHealthIsThatOfTheServers() {
    try (var context = Context.start(Plain.class)) {
      HealthEndpoint endpoint = context.getBean(HealthEndpoint.class);
      assertEquals("UP", endpoint.healthForPath("mortise").getStatus().getCode());
      context.getBean(MortiseClient.class).close();
      assertEquals("DOWN", endpoint.healthForPath("mortise").getStatus().getCode());
    }
  }

  @Test
  void aTracerIsUsedWhereThereIsOne() {
    try (var context = Context.start(WithTelemetry.class)) {
      assertTrue(context.getBean(LockListener.class) instanceof MortiseTracing);
    }
    try (var context = Context.start(Plain.class)) {
      assertEquals(0, context.getBeanNamesForType(LockListener.class).length);
    }
  }

  @Test
  void aWrongPropertyIsNamedWithItsValueAndTheFix() {
    var wrong =
        (InvalidConfigurationPropertyValueException)
            causeOf(() -> Context.start(Plain.class, "--mortise.options.command-timeout=1ms"));
    assertEquals("mortise.options.command-timeout", wrong.getName());
    assertEquals("1ms", wrong.getValue());
    assertEquals(
        "command_timeout: 1 ms is below the minimum of 10 ms; give 10 to 60000",
        wrong.getReason());
    var unknown =
        (InvalidConfigurationPropertyValueException)
            causeOf(() -> Context.start(Plain.class, "--mortise.options.leese=1s"));
    assertEquals("mortise.options.leese", unknown.getName());
    assertTrue(unknown.getReason().contains("give one of lease, "), unknown.getReason());
    var missing =
        (InvalidConfigurationPropertyValueException)
            causeOf(() -> Context.startAlone(Plain.class));
    assertEquals("mortise.url", missing.getName());
    Throwable url =
        assertThrows(
            Exception.class,
            () -> Context.startAlone(Plain.class, "--mortise.url=nothing://:secret@host"));
    while (url.getCause() != null && !url.getMessage().startsWith("mortise.url: ")) {
      url = url.getCause();
    }
    assertTrue(url.getMessage().startsWith("mortise.url: "), url.toString());
    assertTrue(!url.getMessage().contains("secret"), url.toString());
  }
}
