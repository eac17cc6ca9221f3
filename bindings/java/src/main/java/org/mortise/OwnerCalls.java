package org.mortise;

import java.util.function.LongConsumer;
import java.util.function.LongToIntFunction;
import java.util.function.LongUnaryOperator;

/** The native functions that every kind of owner has, for one kind. */
record OwnerCalls(
    String what,
    LongConsumer free,
    LongToIntFunction isHeld,
    LongUnaryOperator token,
    LongUnaryOperator holdNumber,
    LongUnaryOperator validMillis,
    LongUnaryOperator deadlineNanos,
    Extend extend,
    ExtendLater extendLater,
    LongToIntFunction progress,
    SetValue setValue,
    SetValueLater setValueLater,
    LongToIntFunction cancel,
    Interrupt interrupt,
    SetTask setTask,
    Query query,
    Force force,
    Export export,
    Adopt adopt,
    Start watch) {

  /** A native call that ends in one event. */
  interface Start {
    int start(long handle, long queue, long tag);
  }

  /** A native call that waits in its thread at most so long. */
  interface Acquire {
    int acquire(long handle, long timeoutMillis);
  }

  /** The same as an event. */
  interface Wait {
    int start(long handle, long queue, long tag, long timeoutMillis);
  }

  /** Ends the hold with this number, and no other. */
  interface Unlock {
    int unlock(long handle, long holdNumber);
  }

  /** The same as an event. */
  interface UnlockLater {
    int start(long handle, long queue, long tag, long holdNumber);
  }

  interface Extend {
    int extend(long handle, long leaseMillis);
  }

  interface ExtendLater {
    int start(long handle, long queue, long tag, long leaseMillis);
  }

  interface SetValue {
    int set(long handle, byte[] value);
  }

  interface SetValueLater {
    int start(long handle, long queue, long tag, byte[] value);
  }

  interface Interrupt {
    int interrupt(long handle, int isOn);
  }

  interface SetTask {
    int set(long handle, long task);
  }

  interface Query {
    int query(long handle, long info);
  }

  /** Gives the native id, or 0 after an outcome that was thrown. */
  interface Export {
    long export(long handle, long leaseMillis);
  }

  interface Adopt {
    int adopt(long handle, byte[] id);
  }

  interface Force {
    int release(long handle, byte[] owner);
  }
}
