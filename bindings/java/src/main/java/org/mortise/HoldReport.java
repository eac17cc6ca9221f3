package org.mortise;

import java.util.concurrent.atomic.AtomicBoolean;

/** One hold that a {@link LockListener} was notified of. */
final class HoldReport {
  private final long number;
  private final LockListener.Hold listener;
  private final AtomicBoolean isOver = new AtomicBoolean();
  private volatile LockKind kind;
  /** Kept here, because a {@link Watch} does not keep it. */
  private final HoldFuture<LossReason> loss = new HoldFuture<>(null);

  HoldReport(long number, LockKind kind, LockListener.Hold listener) {
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
    if (isOver.compareAndSet(false, true)) WaitReport.call(() -> listener.released(status));
  }

  void lose(LossReason reason) {
    if (isOver.compareAndSet(false, true)) WaitReport.call(() -> listener.lost(reason));
  }
}
