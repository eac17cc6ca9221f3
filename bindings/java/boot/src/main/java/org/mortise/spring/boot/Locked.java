package org.mortise.spring.boot;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A method of a bean that runs while it holds a lock. Spring calls it through a proxy, so a call
 * from the same object takes no lock.
 *
 * <p>The lock is acquired before a transaction of the method begins, and released after the
 * transaction has ended. A method that returns a {@link java.util.concurrent.CompletionStage} holds
 * the lock until the stage completes. {@link LockedHold#current()} has the fencing token.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Locked {
  /**
   * The name of the lock, with expressions of SpEL, such as {@code "report-#{#id}"}. Variables are
   * the parameters of the method, by their names or as {@code #p0}. An expression without a value
   * is refused, because different calls would share a lock by mistake.
   *
   * @return the name
   */
  String value();

  /**
   * How the lock is held.
   *
   * @return {@link Kind#MUTEX} is the default
   */
  Kind kind() default Kind.MUTEX;

  /**
   * How long the call waits for the lock, such as {@code "5s"} or {@code "${report.wait}"}. {@code
   * "0s"} does not wait.
   *
   * @return empty for the property {@code mortise.locked.wait-time}
   */
  String waitTime() default "";

  /**
   * What a call does that does not acquire the lock in time.
   *
   * @return {@link Otherwise#THROW} is the default
   */
  Otherwise otherwise() default Otherwise.THROW;

  /**
   * Whether the method may be called within a transaction. The lock is then released before that
   * transaction commits, so the next holder can read old data. Set it only for a method whose
   * writes do not belong to that transaction, such as with {@code REQUIRES_NEW}.
   *
   * @return false is the default: such a call is refused
   */
  boolean insideTransaction() default false;

  /** How a lock is held. */
  enum Kind {
    /** By one holder. */
    MUTEX,
    /** As a reader of a read-write lock. */
    READ,
    /** As the writer of a read-write lock. */
    WRITE
  }

  /** What a call does that does not acquire the lock in time. */
  enum Otherwise {
    /** It throws a {@link LockNotAcquiredException}. */
    THROW,
    /**
     * It returns null without running the method; for an {@link java.util.Optional} empty, for a
     * stage one with null. A method with a primitive result cannot have it.
     */
    SKIP
  }
}
