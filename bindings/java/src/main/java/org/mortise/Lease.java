package org.mortise;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A hold on a lock. It ends by {@link #close()}, or it is lost, for ever: a lease cannot stop a
 * paused process from acting after its end. Hand the fencing {@link #token()} to whatever you
 * protect and let it refuse a token lower than the highest that it has seen.
 */
public final class Lease implements AutoCloseable {
  private final Owner owner;
  private final Hold hold;
  private volatile Mode mode;
  private final AtomicBoolean isReleased = new AtomicBoolean();
  /** Null until somebody asks; guarded by this. */
  private LossFuture loss;

  Lease(Owner owner, Hold hold, Mode mode) {
    this.owner = owner;
    this.hold = hold;
    this.mode = mode;
  }

  void change(Mode other) {
    mode = other;
  }

  /**
   * The owner that holds it.
   *
   * @return the owner
   */
  public Owner owner() {
    return owner;
  }

  /**
   * The fencing token: it rises with every grant of a mutex or to a writer, and never changes
   * during a hold, but for an upgrade. Among readers tokens do not rise: a fence compares a
   * reader's token with the highest of a writer, and stores only writers' tokens. It stays readable
   * after the end.
   *
   * @return the token, below 2<sup>53</sup>; 0 of a {@link Multi}, whose members have their own
   */
  public long token() {
    return hold.token();
  }

  /**
   * Whether it is still held, by the local clock. Asks nobody.
   *
   * @return true until it is released or lost
   */
  public boolean isHeld() {
    // In this order: what is held after the look at the number may be another hold already.
    return !isReleased.get() && owner.isHeld() && owner.isCurrent(hold);
  }

  /**
   * How long it is still valid without a renewal, by the local clock. Right after a wait it can be
   * shorter than the lease, until the first renewal confirms the grant.
   *
   * @return milliseconds, rounded down; 0 when it is not held
   */
  public long validMillis() {
    long valid = owner.validMillis();
    return !isReleased.get() && owner.isCurrent(hold) ? valid : 0;
  }

  /**
   * Tells when the hold is lost: its lease ended, or the server no longer has it. That is when to
   * stop what it protects. A {@link Multi}'s is lost with the first of its members.
   *
   * <p>A release is no loss: afterwards this is never completed, also where the release itself says
   * that the hold had been lost. So let something depend on it rather than wait for it, or wait for
   * the work as well. Who keeps it keeps the lease and its owner from being collected. Completing
   * it by hand, as by {@code cancel}, ends no hold.
   *
   * @return completed with the reason, on the client's callback executor; the same one each time.
   *     The reason can be {@link LossReason#UNKNOWN} when this was first called after the loss
   * @throws MortiseException with {@link Status#LIMIT} when too much is being watched, and {@link
   *     Status#CLOSED}
   */
  public synchronized CompletableFuture<LossReason> lost() {
    if (loss != null) return loss;
    var asked = new LossFuture(this);
    if (!isReleased.get()) {
      owner.addLoss(asked, hold);
      if (isLost()) owner.core().callBack(() -> asked.complete(LossReason.UNKNOWN));
    }
    loss = asked;
    return asked;
  }

  /** Whether it is not held, although nobody has released it. */
  private boolean isLost() {
    return owner.isOver() || !owner.isCurrent(hold);
  }

  /**
   * Makes the hold last at least so long from now; never shortens it. Of a {@link Multi} all
   * members are extended, also when another fails, unless one was lost before: then none is.
   *
   * @param lease 50 ms to 366 days, or zero for the owner's lease
   * @throws MortiseException with {@link Status#LOST} when it was lost before, {@link
   *     Status#NOT_OWNER} when it was released, and others, after which the old end stands
   */
  public void extend(Duration lease) {
    requireCurrent();
    owner.requireExtended(owner.extend(Times.roundedUp(lease, "lease")));
  }

  /**
   * As {@link #extend}, without blocking.
   *
   * @param lease 50 ms to 366 days, or zero for the owner's lease
   * @return completed when the server has agreed
   */
  public CompletableFuture<Void> extendAsync(Duration lease) {
    long leaseMillis = Times.roundedUp(lease, "lease");
    try {
      requireCurrent();
    } catch (MortiseException ended) {
      return CompletableFuture.failedFuture(ended);
    }
    return owner.deliver(
        owner.extendLater(leaseMillis),
        event -> {
          owner.requireExtended(event.code());
          return null;
        });
  }

  /**
   * Ends the hold and lets the next one in. After it returns or throws, nothing is held, but for
   * {@link Status#BUSY}.
   *
   * @return true when it was held until now; false when it had been lost, or was released before
   * @throws MortiseException with {@link Status#BUSY} when another call on the owner is at work, as
   *     an upgrade: it is still held, to be released afterwards; any other when the server did not
   *     confirm the end, which comes with the end of the lease at the latest
   */
  public boolean release() {
    if (!isReleased.compareAndSet(false, true)) return false;
    int code;
    try {
      code = mode.unlock(hold.number());
    } catch (MortiseException failure) {
      ended(failure);
      throw failure;
    }
    ended(null);
    return wasHeld(code);
  }

  /**
   * As {@link #release}, without blocking.
   *
   * @return completed as {@link #release} returns
   */
  public CompletableFuture<Boolean> releaseAsync() {
    if (!isReleased.compareAndSet(false, true)) return CompletableFuture.completedFuture(false);
    CompletableFuture<Event> end = mode.unlockLater(hold.number());
    // Busy is said at once or not at all.
    end.whenComplete((event, failure) -> ended(failure));
    return owner.deliver(end, event -> wasHeld(event.code()));
  }

  /**
   * As {@link #release}, and quiet: nothing is held afterwards, whatever the server said. Call
   * {@link #release} to know.
   *
   * @throws MortiseException with {@link Status#BUSY} only: it is still held
   */
  @Override
  public void close() {
    try {
      release();
    } catch (MortiseException failure) {
      if (failure.status() == Status.BUSY) throw failure;
      // It is ended here, and at the server by its lease at the latest.
    }
  }

  /** Nobody has it, and the hold is given back by another. */
  void forget() {
    isReleased.set(true);
    hold.remove(this);
  }

  private void ended(Throwable failure) {
    if (failure instanceof MortiseException said && said.status() == Status.BUSY) {
      isReleased.set(false);
    } else {
      hold.remove(this);
      forgetLoss();
    }
  }

  private synchronized void forgetLoss() {
    if (loss != null) owner.removeLoss(loss);
  }

  private void requireCurrent() {
    if (isReleased.get()) {
      throw MortiseException.ofOutcome(Status.NOT_OWNER.code(), owner.ownName());
    }
    if (owner.isCurrent(hold)) return;
    if (owner.isClosed()) throw owner.closed();
    throw MortiseException.ofOutcome(Status.LOST.code(), owner.ownName());
  }

  private static boolean wasHeld(int code) {
    return code == Status.OK.code();
  }

  @Override
  public String toString() {
    return "Lease[" + owner.name() + ", token " + token() + (isHeld() ? ", held]" : ", ended]");
  }
}
