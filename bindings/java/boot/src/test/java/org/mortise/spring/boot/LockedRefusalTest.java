package org.mortise.spring.boot;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;

/** Methods that cannot run under a lock end the start of the application. */
class LockedRefusalTest {
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Application {}

  static class Private {
    @Locked("x")
    private void method() {}
  }

  static class Final {
    @Locked("x")
    public final void method() {}
  }

  static class Static {
    @Locked("x")
    public static void method() {}
  }

  static class Reactive {
    @Locked("x")
    public Mono<String> method() {
      return Mono.empty();
    }
  }

  static class Later {
    @Locked("x")
    public Future<String> method() {
      return null;
    }
  }

  static class Lazy {
    @Locked("x")
    public Stream<String> method() {
      return Stream.empty();
    }
  }

  /** As the compiler of Kotlin makes it of a suspending function. */
  @kotlin.Metadata
  static class Suspending {
    @Locked("x")
    public Object method(kotlin.coroutines.Continuation<? super String> rest) {
      return "x";
    }
  }

  static class Primitive {
    @Locked(value = "x", otherwise = Locked.Otherwise.SKIP)
    public int method() {
      return 1;
    }
  }

  static class Waiting {
    @Locked(value = "x", waitTime = "soon")
    public void method() {}
  }

  static class Negative {
    @Locked(value = "x", waitTime = "-1s")
    public void method() {}
  }

  static class Expression {
    @Locked("x-#{#id")
    public void method(String id) {}
  }

  static class Empty {
    @Locked("")
    public void method() {}
  }

  private static void assertRefused(Class<?> bean, String why) {
    Throwable thrown =
        assertThrows(
            Exception.class,
            () ->
                new SpringApplicationBuilder(
                        Application.class, bean)
                    .web(WebApplicationType.NONE)
                    .properties("spring.main.banner-mode=off", "logging.level.root=off")
                    .run("--mortise.url=" + Context.url()));
    while (thrown.getCause() != null && !(thrown instanceof IllegalStateException)) {
      thrown = thrown.getCause();
    }
    String message = thrown.getMessage();
    assertTrue(message.contains(bean.getSimpleName() + ".method("), message);
    assertTrue(message.contains(why), message);
  }

  @Test
  void aMethodThatNoProxyIntercepts() {
    assertRefused(Private.class, "it is private, so no proxy can take its lock");
    assertRefused(Final.class, "it is final, so");
    assertRefused(Static.class, "it is static, so");
  }

  @Test
  void aResultWhoseWorkRunsLater() {
    assertRefused(Reactive.class, "it returns reactor.core.publisher.Mono, whose work would run");
    assertRefused(Later.class, "it returns java.util.concurrent.Future, whose work would run");
    assertRefused(Lazy.class, "it returns java.util.stream.Stream, whose work would run");
    assertRefused(Suspending.class, "it is a suspending function, whose work would run");
    assertRefused(Primitive.class, "has otherwise = SKIP and returns int");
  }

  @Test
  void anAttributeThatIsWrong() {
    assertRefused(Waiting.class, "waitTime: \"soon\" is not a duration; give one such as 5s");
    assertRefused(Negative.class, "waitTime: PT-1S is out of range; give 0s to 366d");
    assertRefused(Expression.class, "\"x-#{#id\" is not an expression");
    assertRefused(Empty.class, "the name is empty; give one such as");
  }
}
