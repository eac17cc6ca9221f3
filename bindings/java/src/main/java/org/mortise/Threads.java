package org.mortise;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** What has to be known about the thread that calls. */
final class Threads {
  /** Thread.isVirtual of Java 21, or null. */
  private static final MethodHandle IS_VIRTUAL = findIsVirtual();

  /**
   * The task of a virtual thread is this plus the number of the thread, such as 9000000000000042.
   * The user's tasks are smaller. A reader of a listing can store all tasks in a double.
   */
  static final long FIRST_TASK = 9_000_000_000_000_000L;

  private static final AtomicLong NUMBERS = new AtomicLong();
  private static final int MOST_HELPED = 256;
  private static final long HELPER_IDLE_SECONDS = 5;
  /** For the few native calls that have no asynchronous form, when a virtual thread makes them. */
  private static final ThreadPoolExecutor HELP =
      new ThreadPoolExecutor(
          0,
          Integer.MAX_VALUE,
          HELPER_IDLE_SECONDS,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          work -> daemon(work, "mortise-helper", ""));
  /**
   * Of virtual threads that a helper serves. With few places a server that does not answer would
   * make a call wait for many others. Without a limit each virtual thread could cost a helper.
   */
  private static final java.util.concurrent.Semaphore PLACES =
      new java.util.concurrent.Semaphore(MOST_HELPED, true);

  private Threads() {}

  /** A thread that holds up no end of the JVM. */
  static Thread daemon(Runnable work, String task, String served) {
    var thread = new Thread(null, work, name(task, served), 0, false);
    thread.setDaemon(true);
    return thread;
  }

  /**
   * For recordings and dumps each thread has a name of its own, such as {@code
   * mortise-dispatcher-1}, with whom it serves in brackets unless that is empty.
   */
  static String name(String task, String served) {
    return task + "-" + NUMBERS.incrementAndGet() + (served.isEmpty() ? "" : " (" + served + ")");
  }

  private static MethodHandle findIsVirtual() {
    try {
      return MethodHandles.publicLookup()
          .findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
    } catch (ReflectiveOperationException older) {
      return null;
    }
  }

  /** Whether a native call that blocks would take a carrier away from other virtual threads. */
  static boolean mustNotBlock() {
    if (IS_VIRTUAL == null) return false;
    try {
      return (boolean) IS_VIRTUAL.invokeExact(Thread.currentThread());
    } catch (Throwable impossible) {
      throw new AssertionError(impossible);
    }
  }

  /** The task of this thread if it is virtual, otherwise 0. */
  static long task() {
    return mustNotBlock() ? FIRST_TASK + Thread.currentThread().getId() : 0;
  }

  /** Makes a native call that blocks: here, or in a helper when this thread is virtual. */
  static long block(LongSupplier call) {
    return mustNotBlock() ? inPlace(call::getAsLong) : call.getAsLong();
  }

  /** The same with a result of another type. */
  static <T> T compute(Supplier<T> call) {
    return mustNotBlock() ? inPlace(call) : call.get();
  }

  private static <T> T inPlace(Supplier<T> call) {
    PLACES.acquireUninterruptibly();
    try {
      return join(help(call));
    } finally {
      PLACES.release();
    }
  }

  /** Makes a call that blocks in a helper. */
  static <T> CompletableFuture<T> help(Supplier<T> call) {
    var end = new CompletableFuture<T>();
    HELP.execute(
        () -> {
          try {
            end.complete(call.get());
          } catch (Throwable thrown) {
            end.completeExceptionally(thrown);
          }
        });
    return end;
  }

  /** The result, however often this thread is interrupted; it stays so. */
  static <T> T join(CompletableFuture<T> future) {
    boolean isInterrupted = false;
    try {
      for (; ; ) {
        try {
          return get(future);
        } catch (InterruptedException again) {
          isInterrupted = true;
        }
      }
    } finally {
      if (isInterrupted) Thread.currentThread().interrupt();
    }
  }

  static <T> T get(CompletableFuture<T> future) throws InterruptedException {
    try {
      return future.get();
    } catch (ExecutionException failure) {
      throw unchecked(failure.getCause());
    }
  }

  private static RuntimeException unchecked(Throwable cause) {
    if (cause instanceof MortiseException failure) return failure.here();
    if (cause instanceof RuntimeException failure) return failure;
    if (cause instanceof Error error) throw error;
    return new IllegalStateException(cause);
  }
}
