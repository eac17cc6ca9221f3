package org.mortise;

import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.spi.AbstractInterruptibleChannel;

/**
 * Ends a native call that waits when its thread is interrupted, for which Java has what channels
 * are made of. For platform threads, and for one call.
 */
final class Interruption extends AbstractInterruptibleChannel {
  private final Owner owner;
  private boolean hasStruck;
  private boolean isOver;

  Interruption(Owner owner) {
    this.owner = owner;
  }

  void watch() {
    begin();
  }

  /** After this an interrupt ends nothing any more. */
  void unwatch() {
    try {
      end(true);
    } catch (AsynchronousCloseException interrupted) {
      // The thread's own flag says so, too.
    }
    synchronized (this) {
      isOver = true;
      if (hasStruck) owner.interruptCalls(false);
    }
  }

  /** By the thread that interrupts, which may come when the call has ended. */
  @Override
  protected synchronized void implCloseChannel() {
    if (isOver) return;
    hasStruck = true;
    owner.interruptCalls(true);
  }
}
