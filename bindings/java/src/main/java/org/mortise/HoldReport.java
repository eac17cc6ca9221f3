package org.mortise;

import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicBoolean;

/** One hold that a {@link LockListener} was notified of. */
final class HoldReport {
  /** The owner can be collected. */
  private final WeakReference<Owner> owner;

  private final long number;
  private final LockListener.Hold listener;
  private final AtomicBoolean isOver = new AtomicBoolean();
  private volatile LockKind kind;
  /** Kept here, because a {@link Watch} does not keep it. */
  private final HoldFuture<LossReason> loss = new HoldFuture<>(null);

  HoldReport(Owner owner, long number, LockKind kind, LockListener.Hold listener) {
    this.owner = new WeakReference<>(owner);
    this.number = number;
    this.kind = kind;
    this.listener = listener;
  }

  long number() {
    return number;
  }

  HoldFuture<LossReason> loss() {
    return loss;
  }

  void change(LockKind other, long token) {
    if (kind == other || isOver.get()) return;
    kind = other;
    WaitReport.call(() -> listener.changed(other, token));
  }

  void release(Status status) {
    end(() -> listener.released(status));
  }

  void lose(LossReason reason) {
    end(() -> listener.lost(reason));
  }

  private void end(Runnable notification) {
    if (!isOver.compareAndSet(false, true)) return;
    unwatch();
    WaitReport.call(notification);
  }

  /** Follows the loss of the hold until its end. */
  void watch(Owner watched, Hold hold) {
    watched.addLoss(loss, hold);
    if (isOver.get()) unwatch(); // it ended meanwhile
  }

  private void unwatch() {
    Owner watched = owner.get();
    if (watched != null) watched.removeLoss(loss);
  }
}
