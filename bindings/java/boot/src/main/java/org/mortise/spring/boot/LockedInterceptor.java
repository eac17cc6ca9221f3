package org.mortise.spring.boot;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.mortise.Acquirable;
import org.mortise.Lease;
import org.mortise.MortiseClient;
import org.mortise.MortiseException;
import org.mortise.Owner;
import org.mortise.Status;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/** Runs {@link Locked} methods under their locks. */
final class LockedInterceptor implements MethodInterceptor {
  private static final Log LOG = LogFactory.getLog(LockedInterceptor.class);
  private static final boolean HAS_TRANSACTIONS =
      ClassUtils.isPresent(
          "org.springframework.transaction.support.TransactionSynchronizationManager",
          LockedInterceptor.class.getClassLoader());

  private final ObjectProvider<MortiseClient> client;
  private final LockedMethods methods;

  LockedInterceptor(ObjectProvider<MortiseClient> client, LockedMethods methods) {
    this.client = client;
    this.methods = methods;
  }

  @Override
  public Object invoke(MethodInvocation call) throws Throwable {
    Object target = call.getThis();
    LockedMethod method = methods.find(call.getMethod(), AopUtils.getTargetClass(target));
    String name = method.name(target, call.getArguments());
    LockedHold outer = LockedHold.find(name);
    if (outer != null) {
      requireUsable(outer, method);
      return call.proceed();
    }
    requireNoTransaction(method, name);
    Owner owner = owner(method.kind(), name);
    Lease lease = null;
    try {
      lease = acquire(method, owner);
    } finally {
      if (lease == null) owner.close();
    }
    return lease == null ? method.skipped() : run(method, call, owner, lease);
  }

  private Owner owner(Locked.Kind kind, String name) {
    MortiseClient opened = client.getObject();
    return kind == Locked.Kind.MUTEX ? opened.mutex(name) : opened.readWriteMutex(name);
  }

  /** A thread that waited for its own lock would wait until the end of its time. */
  private static void requireUsable(LockedHold outer, LockedMethod method) {
    String called = "@Locked on " + method.method() + ": this thread already holds \""
        + outer.name() + "\" ";
    Locked.Kind held = outer.kind();
    Locked.Kind wanted = method.kind();
    boolean isCovered =
        held == wanted || held == Locked.Kind.WRITE && wanted == Locked.Kind.READ;
    if (!isCovered) {
      throw new IllegalStateException(
          called + "as " + held + ", and cannot wait for itself as " + wanted
              + "; use one name for each kind, or the stronger kind for the outer method");
    }
    if (method.returnsStage()) {
      throw new IllegalStateException(
          called + "and releases it before the result of this method completes; call it from a"
              + " method without that lock");
    }
    // A lost hold protects no more work (hazard 1).
    if (!outer.isHeld()) throw outer.lost("the call of " + method.method() + " was refused");
  }

  /** Otherwise the next holder could read what is not committed yet. */
  private static void requireNoTransaction(LockedMethod method, String name) {
    if (!HAS_TRANSACTIONS || method.mayBeInTransaction()) return;
    if (!TransactionSynchronizationManager.isActualTransactionActive()) return;
    throw new IllegalStateException(
        "@Locked on " + method.method() + ": a transaction is active, and would commit after the"
            + " release of \"" + name + "\"; put @Locked on the method that begins the"
            + " transaction, give mortise.locked.order less than the order of transactions, or"
            + " set insideTransaction");
  }

  /** Null if the call is to be skipped. */
  private static Lease acquire(LockedMethod method, Owner owner) {
    Acquirable lock =
        owner instanceof org.mortise.ReadWriteMutex both
            ? method.kind() == Locked.Kind.READ ? both.readLock() : both.writeLock()
            : (Acquirable) owner;
    try {
      Lease lease =
          (method.waitTime().isZero() ? lock.tryAcquire() : lock.tryAcquire(method.waitTime()))
              .orElse(null);
      if (lease != null || method.isSkipped()) return lease;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw notAcquired(method, owner, "the thread was interrupted");
    }
    throw notAcquired(
        method, owner, "another owner held it for " + method.waitTime().toMillis() + " ms");
  }

  private static LockNotAcquiredException notAcquired(
      LockedMethod method, Owner owner, String why) {
    return new LockNotAcquiredException(
        owner.name(),
        "@Locked on " + method.method() + ": \"" + owner.name() + "\" was not acquired: " + why);
  }

  private static Object run(LockedMethod method, MethodInvocation call, Owner owner, Lease lease)
      throws Throwable {
    LockedHold hold = LockedHold.enter(method.kind(), owner, lease);
    Object result;
    try {
      result = call.proceed();
    } catch (Throwable failure) {
      hold.leave();
      LockLostException lost = release(hold);
      if (lost != null) failure.addSuppressed(lost);
      throw failure;
    }
    hold.leave();
    if (method.returnsStage() && result instanceof CompletionStage<?> stage) {
      return releasedAfter(stage, hold);
    }
    LockLostException lost = release(hold);
    if (lost != null) throw lost;
    return result;
  }

  /** Completes as the stage does, after the release. Canceling it does not end the work. */
  private static CompletableFuture<Object> releasedAfter(
      CompletionStage<?> stage, LockedHold hold) {
    var end = new CompletableFuture<Object>();
    stage.whenComplete(
        (value, failure) ->
            hold.lease()
                .releaseAsync()
                .whenComplete(
                    (wasHeld, refused) -> {
                      hold.owner().close();
                      LockLostException lost = loss(hold, wasHeld, refused);
                      if (failure != null && lost != null) failure.addSuppressed(lost);
                      if (failure != null || lost != null) {
                        end.completeExceptionally(failure == null ? lost : failure);
                      } else {
                        end.complete(value);
                      }
                    }));
    return end;
  }

  private static LockLostException release(LockedHold hold) {
    try {
      return loss(hold, hold.lease().release(), null);
    } catch (MortiseException refused) {
      return loss(hold, null, refused);
    } finally {
      hold.owner().close();
    }
  }

  /** Null if the lock protected the method until its end. */
  private static LockLostException loss(LockedHold hold, Boolean wasHeld, Throwable refused) {
    if (refused == null) {
      return wasHeld ? null : hold.lost("before the end of the method, which has run");
    }
    if (refused instanceof MortiseException closed && closed.status() == Status.CLOSED) {
      return hold.lost("the client was closed before the end of the method");
    }
    // Only the end is not confirmed, which comes with the end of the lease (hazard 23).
    LOG.warn("the release of \"" + hold.name() + "\" was not confirmed", refused);
    return null;
  }
}
