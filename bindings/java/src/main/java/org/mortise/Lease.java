package org.mortise;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A hold on a lock. It ends by {@link #close()}, or it is lost and never comes back. A lease cannot
 * stop a paused process from acting after its end. Pass the fencing {@link #token()} to the
 * protected resource, which must refuse a token lower than the highest token it has seen.
 */
public final class Lease implements AutoCloseable {
  private final Owner owner;
  private final Hold hold;
  private volatile Mode mode;
  private final AtomicBoolean isReleased = new AtomicBoolean();
  /** Exports that wait for the server. Until its reply the owner has no hold. */
  private final AtomicInteger exports = new AtomicInteger();
  /** Null until it is asked for; guarded by this. */
  private HoldFuture<LossReason> loss;

  /** Null until it is asked for; guarded by this. */
  private HoldFuture<Void> contention;

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
   * The fencing token. It rises with every grant of a mutex or to a writer. It never changes during
   * a hold, except by an upgrade. Among readers tokens do not rise: compare a reader's token with
   * the highest token of a writer, and store only writers' tokens. The token stays readable after
   * the end.
   *
   * @return the token, below 2<sup>53</sup>; 0 for a {@link Multi}, whose members have their own
   */
  public long token() {
    return hold.token();
  }

  /**
   * Whether the lease is still held, by the local clock. It sends no request.
   *
   * @return true until it is released or lost
   */
  public boolean isHeld() {
    // In this order: what is held after the look at the number may be another hold already.
    return !isReleased.get() && owner.isHeld() && owner.isCurrent(hold);
  }

  /**
   * How long the lease is still valid without a renewal, by the local clock. Right after a wait it
   * can be shorter than the owner's lease, until the first renewal confirms the grant.
   *
   * @return whole milliseconds, rounded down; zero when it is not held
   */
  public Duration validFor() {
    Duration valid = owner.validFor();
    return !isReleased.get() && owner.isCurrent(hold) ? valid : Duration.ZERO;
  }

  /**
   * A future that completes when the hold is lost: its lease ended, or the server no longer has it.
   * Stop the protected work then. The hold of a {@link Multi} is lost with the first lost member.
   *
   * <p>A release is no loss. After a release the future is never completed, even if the release
   * itself reports that the hold was lost. The close of the owner, or of a member of a multi, is
   * also a release. So let a stage depend on the future, or also wait for the work. A reference to
   * the future keeps the lease and its owner from being collected. Completing the future by hand,
   * as by {@code cancel}, ends no hold.
   *
   * @return completed with the reason, on the client's callback executor; the same future each
   *     time if this was called before a release. The reason can be {@link LossReason#UNKNOWN} when
   *     this was first called after the loss, or when an {@link #export} found the loss
   * @throws MortiseException with {@link Status#LIMIT} when too much is being watched, and {@link
   *     Status#CLOSED}
   */
  public synchronized CompletableFuture<LossReason> lost() {
    if (loss != null) return loss;
    var asked = new HoldFuture<LossReason>(this);
    // Not kept: the release may be refused, and a later future completes then.
    if (isReleased.get()) return asked;
    owner.addLoss(asked, hold);
    // In this order: a release or an export at the same time says so before it ends the hold, and
    // an export is a release when it ends. A close also ends the hold.
    if (isLost() && exports.get() == 0 && !isReleased.get()) {
      owner.requireOpen();
      owner.core().callBack(() -> asked.complete(LossReason.UNKNOWN));
    }
    loss = asked;
    return asked;
  }

  /**
   * A future that completes when others wait for the lock, if the owner has {@link
   * MortiseOptions#withContended}. The work can then end early and release the lease. It completes
   * at most once per hold, and the hold of a {@link Multi} with the first contended member.
   *
   * <p>It is a hint: all waiters may have given up meanwhile, and a lost message delays it until
   * the next renewal. A reference to the future keeps the lease and its owner from being collected.
   *
   * @return completed on the client's callback executor; the same future each time if this was
   *     called before a release
   * @throws MortiseException with {@link Status#LIMIT} when too much is being watched, and {@link
   *     Status#CLOSED}
   */
  public synchronized CompletableFuture<Void> contended() {
    if (contention != null) return contention;
    var asked = new HoldFuture<Void>(this);
    if (isReleased.get()) return asked;
    owner.addContention(asked, hold);
    contention = asked;
    return asked;
  }

  /** Whether it is not held, although nobody has released it. */
  private boolean isLost() {
    return owner.isOver() || !owner.isCurrent(hold);
  }

  /**
   * Makes the hold last at least this long from now. It never shortens the hold. For a {@link
   * Multi} it extends all members, even if one of them fails. If a member was lost before, no
   * member is extended.
   *
   * @param lease 50 ms to 366 days, or zero for the owner's lease
   * @throws MortiseException with {@link Status#LOST} when the hold was lost before, {@link
   *     Status#NOT_OWNER} when it was released, and others, after which the old end stands
   */
  public void extend(Duration lease) {
    requireCurrent();
    owner.requireExtended(owner.extend(Times.roundedUp(lease, "lease")));
    requireCurrent();
  }

  /**
   * Ends the hold here without a release. It lasts for this lease at the server, and no client
   * renews it. Another owner, process or host continues it by the id: see {@link Mutex#adopt}. If
   * the hold was adopted, its id stays the same. It waits for the command timeout at most.
   *
   * @param lease how long the hold lasts without an adoption: 50 ms to 366 days, or zero for the
   *     owner's lease
   * @return the id
   * @throws MortiseException with {@link Status#LOST} if the hold was lost before, {@link
   *     Status#UNSUPPORTED} for a {@link Multi} and where holds have no ids, and others. If {@link
   *     #isHeld} is true afterwards, the hold continues. A hold that waits for replicas also
   *     continues, although {@link #isHeld} is false. Otherwise its lease ends it
   */
  public String export(Duration lease) {
    long leaseMillis = Times.roundedUp(lease, "lease");
    requireCurrent();
    exports.incrementAndGet();
    try {
      String id = owner.export(leaseMillis);
      exported(Status.OK);
      return id;
    } catch (MortiseException failure) {
      if (owner.isOver()) endedByExport(failure.status());
      throw failure;
    } finally {
      exports.decrementAndGet();
    }
  }

  /**
   * Reports that the work under the hold goes on. With the option {@link
   * MortiseOptions#withProgress}, the client renews the hold only for that time after the last
   * report. After a risk was reported, a report resumes the renewals if the hold still lasts. It
   * does not wait for a server, so a loop may call it for each item of work. Call it where work was
   * done: in a timer it proves nothing. For a {@link Multi} it reports for all members.
   *
   * @throws MortiseException with {@link Status#LOST} if the hold was lost before, and {@link
   *     Status#NOT_OWNER} if it was released
   */
  public void progress() {
    requireCurrent();
    owner.progress();
    requireCurrent();
  }

  /**
   * As {@link #extend}, without blocking.
   *
   * @param lease 50 ms to 366 days, or zero for the owner's lease
   * @return completed when the server has confirmed
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
          requireOfThis(event);
          return null;
        });
  }

  /**
   * Sets the value of the hold, which {@link Owner#query} and listings show to everybody, such as
   * the address of a leader. It ends with the hold. Only the owner of a hold in force can set it,
   * so it never appears for a later hold.
   *
   * @param value at most 1024 bytes of UTF-8 without a zero character; empty to remove the value
   * @throws MortiseException with {@link Status#LOST} when the hold was lost before, {@link
   *     Status#NOT_OWNER} when it was released, {@link Status#UNSUPPORTED} for a reader that shares
   *     its hold, a multi, a quorum, and the formats of other programs
   */
  public void setValue(String value) {
    byte[] bytes = Name.utf8(value, "value");
    requireCurrent();
    owner.requireExtended(owner.setValue(bytes));
    requireCurrent();
  }

  /**
   * As {@link #setValue}, without blocking.
   *
   * @param value as for {@link #setValue}
   * @return completed when the server has the value
   */
  public CompletableFuture<Void> setValueAsync(String value) {
    byte[] bytes = Name.utf8(value, "value");
    try {
      requireCurrent();
    } catch (MortiseException ended) {
      return CompletableFuture.failedFuture(ended);
    }
    return owner.deliver(
        owner.setValueLater(bytes),
        event -> {
          requireOfThis(event);
          return null;
        });
  }

  /**
   * Ends the hold and lets the next waiter acquire. After it returns or throws, nothing is held,
   * except after {@link Status#BUSY} and {@link Status#NO_MEMORY}.
   *
   * @return true when it was held until now; false when it was lost or released before
   * @throws MortiseException with {@link Status#BUSY} when another call on the owner is in
   *     progress, such as an upgrade, and with {@link Status#NO_MEMORY} when memory ran out. The
   *     lease is still held, and has to be released afterwards. Any other status: the server did
   *     not confirm the end, which comes with the end of the lease at the latest
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
    // A call that changed nothing fails at once.
    end.whenComplete((event, failure) -> ended(failure));
    return owner.deliver(end, event -> wasHeld(event.code()));
  }

  /**
   * As {@link #release}, without reporting failures: nothing is held afterwards, whatever the
   * server replied. Call {@link #release} to learn the result.
   *
   * @throws MortiseException with {@link Status#BUSY} and {@link Status#NO_MEMORY} only: the lease
   *     is still held
   */
  @Override
  public void close() {
    try {
      release();
    } catch (MortiseException failure) {
      if (Mode.hasChangedNothing(failure.status())) throw failure;
      // It is ended here, and at the server by its lease at the latest.
    }
  }

  /** Nobody has it, and the hold is given back by another. */
  void forget() {
    isReleased.set(true);
    hold.remove(this);
  }

  /** The hold is over after a failed export: it was exported, or it was lost before. */
  private void endedByExport(Status status) {
    switch (status) {
      case LOST -> foundLost();
      case INVALID_ARGUMENT, UNSUPPORTED -> {} // refused before, so it is a loss of its own
      default -> exported(status);
    }
  }

  /** Reports a loss that an export found. A reentrant owner still needs the release. */
  private void foundLost() {
    mode.reportUnlock(hold.number(), Status.LOST);
    HoldFuture<LossReason> asked;
    synchronized (this) {
      asked = loss;
    }
    if (asked != null) owner.core().callBack(() -> asked.complete(LossReason.UNKNOWN));
  }

  private void exported(Status status) {
    isReleased.set(true);
    mode.reportUnlock(hold.number(), status);
    ended(null);
  }

  private void ended(Throwable failure) {
    if (failure instanceof MortiseException said && Mode.hasChangedNothing(said.status())) {
      isReleased.set(false);
    } else {
      hold.remove(this);
      forgetNotices();
    }
  }

  private synchronized void forgetNotices() {
    if (loss != null) owner.removeLoss(loss);
    if (contention != null) owner.removeContention(contention);
  }

  /**
   * Before a call that is for the hold of the owner, and again after it: the owner may have lost
   * this hold and acquired another one before the call.
   */
  private void requireCurrent() {
    if (isReleased.get()) {
      throw MortiseException.ofOutcome(Status.NOT_OWNER.code(), owner.ownName());
    }
    if (owner.isCurrent(hold)) return;
    owner.requireOpen();
    throw lostBefore();
  }

  /** As the second {@link #requireCurrent}, by the number in the result. */
  private void requireOfThis(Event end) {
    owner.requireExtended(end.code());
    if (end.holdNumber() != hold.number()) throw lostBefore();
  }

  private MortiseException lostBefore() {
    return MortiseException.ofOutcome(Status.LOST.code(), owner.ownName());
  }

  private static boolean wasHeld(int code) {
    return code == Status.OK.code();
  }

  @Override
  public String toString() {
    return "Lease[" + owner.name() + ", token " + token() + (isHeld() ? ", held]" : ", ended]");
  }
}
