package org.mortise.spring.boot;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.BaseStream;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.annotation.AnnotatedElementUtils;

/** One {@link Locked} method, checked. */
final class LockedMethod {
  private static final Duration LONGEST = Duration.ofDays(366);

  private final Method method;
  private final Locked locked;
  private final LockName name;
  private final Duration waitTime;

  LockedMethod(Method method, ConfigurableBeanFactory beans, Duration defaultWaitTime) {
    this.method = method;
    locked = AnnotatedElementUtils.findMergedAnnotation(method, Locked.class);
    requireProxied();
    requireResult();
    String template = beans.resolveEmbeddedValue(locked.value());
    name = new LockName(method, template == null ? "" : template, beans);
    waitTime = waitTime(beans.resolveEmbeddedValue(locked.waitTime()), defaultWaitTime);
  }

  /** A method that no proxy can intercept would run without its lock. */
  private void requireProxied() {
    int modifiers = method.getModifiers();
    for (int refused : new int[] {Modifier.PRIVATE, Modifier.STATIC, Modifier.FINAL}) {
      if ((modifiers & refused) == 0) continue;
      throw refused(
          "is " + Modifier.toString(refused) + ", so no proxy can take its lock; remove that word");
    }
  }

  /** The work of a lazy result would run after the release. */
  private void requireResult() {
    if (KotlinDetector.isSuspendingFunction(method)) {
      throw refused(
          "is a suspending function, whose work would run after the release; make it a function"
              + " that does not suspend, or acquire the lock in the coroutine with"
              + " MortiseClient.mutex(…).acquireAsync()");
    }
    Class<?> type = method.getReturnType();
    boolean isStage = CompletionStage.class.isAssignableFrom(type);
    if (isStage && type != CompletionStage.class && type != CompletableFuture.class) {
      throw refused(
          "returns " + type.getName() + "; return a CompletionStage or a CompletableFuture");
    }
    boolean isLater =
        Future.class.isAssignableFrom(type)
            || BaseStream.class.isAssignableFrom(type)
            || Flow.Publisher.class.isAssignableFrom(type)
            || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
    if (isLater && !isStage) {
      throw refused(
          "returns " + type.getName() + ", whose work would run after the release; return a"
              + " CompletionStage or the value, or acquire the lock in the pipeline with"
              + " MortiseClient.mutex(…).acquireAsync()");
    }
    if (locked.otherwise() == Locked.Otherwise.SKIP && type.isPrimitive() && type != void.class) {
      throw refused(
          "has otherwise = SKIP and returns " + type.getName() + ", which has no value for \"not"
              + " run\"; return an Optional");
    }
  }

  private Duration waitTime(String text, Duration defaultWaitTime) {
    if (text == null || text.isBlank()) return checked(defaultWaitTime);
    Duration given;
    try {
      given = DurationStyle.detectAndParse(text);
    } catch (IllegalArgumentException failure) {
      throw refused(
          "waitTime: \"" + text + "\" is not a duration; give one such as 5s, 500ms or 0s");
    }
    return checked(given);
  }

  private Duration checked(Duration given) {
    if (!given.isNegative() && given.compareTo(LONGEST) <= 0) return given;
    throw refused("waitTime: " + given + " is out of range; give 0s to 366d");
  }

  private IllegalStateException refused(String why) {
    return new IllegalStateException("@Locked on " + method + ": it " + why);
  }

  Method method() {
    return method;
  }

  Locked.Kind kind() {
    return locked.kind();
  }

  Duration waitTime() {
    return waitTime;
  }

  boolean mayBeInTransaction() {
    return locked.insideTransaction();
  }

  boolean isSkipped() {
    return locked.otherwise() == Locked.Otherwise.SKIP;
  }

  boolean returnsStage() {
    return CompletionStage.class.isAssignableFrom(method.getReturnType());
  }

  /** The result of a call that is skipped. */
  Object skipped() {
    if (returnsStage()) return CompletableFuture.completedFuture(null);
    return method.getReturnType() == Optional.class ? Optional.empty() : null;
  }

  String name(Object target, Object[] arguments) {
    return name.evaluate(target, arguments);
  }
}
