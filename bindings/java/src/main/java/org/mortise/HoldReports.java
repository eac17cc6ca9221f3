package org.mortise;

import java.util.ArrayList;
import java.util.List;

/**
 * The holds of one owner that a {@link LockListener} was notified of, and that have not ended. This
 * object does not refer to the owner, which can be collected. The listener is called outside of its
 * monitor.
 */
final class HoldReports {
  private final Core core;
  private final List<HoldReport> open = new ArrayList<>();

  HoldReports(Core core) {
    this.core = core;
  }

  /** Adds the hold of a grant. */
  HoldReport begin(Owner owner, Mode mode, Event grant, LockListener.Hold listener) {
    var report = new HoldReport(owner, grant.holdNumber(), mode.kind(), listener);
    synchronized (this) {
      open.add(report);
      core.openReports().add(this);
    }
    report
        .loss()
        .whenComplete(
            (reason, closed) -> {
              if (closed == null) {
                lose(report, reason);
              } else {
                close(report);
              }
            });
    Hold hold = owner.newHold(grant);
    try {
      report.watch(owner, hold);
    } catch (MortiseException unwatched) {
      // Closed meanwhile, or too much is being watched: then the release reports a loss.
    }
    // Read before the close is, because a close also ends the hold.
    boolean isOver = owner.isOver() || !owner.isCurrent(hold);
    if (owner.isClosed() || core.client().isClosed()) {
      close();
    } else if (isOver) {
      // Lost before the watch.
      core.callBack(() -> report.loss().complete(LossReason.UNKNOWN));
    }
    return report;
  }

  private void lose(HoldReport report, LossReason reason) {
    remove(report);
    report.lose(reason);
  }

  /** Takes back a grant that its caller did not receive. */
  void withdraw(HoldReport report) {
    remove(report);
    report.release(Status.CANCELLED);
  }

  /** Ends the hold that an unlock ended. */
  void end(long number, Status status) {
    HoldReport ended = takeLast(number);
    if (ended == null) return;
    if (status == Status.LOST) {
      ended.lose(LossReason.UNKNOWN);
    } else {
      ended.release(status);
    }
  }

  void change(long number, LockKind kind, long token) {
    for (HoldReport report : copy()) {
      if (report.number() == number) report.change(kind, token);
    }
  }

  /** Ends all, because the owner or the client was closed. The caller can be a Cleaner's thread. */
  void close() {
    for (HoldReport report : copy()) close(report);
  }

  private void close(HoldReport report) {
    remove(report);
    core.callBack(() -> report.release(Status.CLOSED));
  }

  private synchronized List<HoldReport> copy() {
    return List.copyOf(open);
  }

  /** The last one is the inner one, if the owner is reentrant. */
  private synchronized HoldReport takeLast(long number) {
    for (int i = open.size() - 1; i >= 0; i--) {
      if (open.get(i).number() != number) continue;
      HoldReport report = open.remove(i);
      forgetIfEmpty();
      return report;
    }
    return null;
  }

  private synchronized void remove(HoldReport report) {
    open.remove(report);
    forgetIfEmpty();
  }

  private void forgetIfEmpty() {
    if (open.isEmpty()) core.openReports().remove(this);
  }
}
