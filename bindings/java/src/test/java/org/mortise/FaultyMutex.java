package org.mortise;

/** A mutex whose native calls have faults that no server can be made to cause. */
final class FaultyMutex extends Owner {
  /** The faults of one mutex. */
  static final class Faults {
    boolean isInDoubt;
    boolean isOutOfMemory;
    /** After the call has entered the native object. */
    Runnable beforeWatch = () -> {};
    Runnable afterWatch = () -> {};
    Runnable beforeUnlock = () -> {};
    /** Before a call that is for the hold of the owner. */
    Runnable beforeCall = () -> {};

    void spendMemory() {
      beforeUnlock.run();
      if (isOutOfMemory) throw new MortiseException(Status.NO_MEMORY, "memory ran out");
    }
  }

  private final Faults faults;
  private final Mode mode;

  FaultyMutex(MortiseClient client, String name, Faults faults) {
    super(
        client,
        Name.of(name),
        null,
        calls(faults),
        (it, settings) -> MortiseNative.lock_new(it, Name.of(name).bytes(), settings));
    this.faults = faults;
    Mode.Calls acquiring =
        new Mode.Calls(
            MortiseNative::lock_try,
            MortiseNative::lock_try_async,
            MortiseNative::lock_acquire,
            MortiseNative::lock_acquire_async,
            (it, number) -> {
              faults.spendMemory();
              return MortiseNative.lock_unlock_hold(it, number);
            },
            (it, queue, tag, number) -> {
              faults.spendMemory();
              return MortiseNative.lock_unlock_hold_async(it, queue, tag, number);
            });
    mode = new Mode(this, LockKind.MUTEX, acquiring, MortiseNative::multi_add_lock);
  }

  private static OwnerCalls calls(Faults faults) {
    return new OwnerCalls(
        "the mutex's owner",
        MortiseNative::lock_free,
        it -> faults.isInDoubt ? 0 : MortiseNative.lock_is_held(it),
        MortiseNative::lock_token,
        MortiseNative::lock_hold_number,
        MortiseNative::lock_valid_ms,
        MortiseNative::lock_deadline_ns,
        (it, lease) -> {
          faults.beforeCall.run();
          return MortiseNative.lock_extend(it, lease);
        },
        (it, queue, tag, lease) -> {
          faults.beforeCall.run();
          return MortiseNative.lock_extend_async(it, queue, tag, lease);
        },
        it -> {
          faults.beforeCall.run();
          return MortiseNative.lock_progress(it);
        },
        (it, value) -> {
          faults.beforeCall.run();
          return MortiseNative.lock_set_value(it, value);
        },
        (it, queue, tag, value) -> {
          faults.beforeCall.run();
          return MortiseNative.lock_set_value_async(it, queue, tag, value);
        },
        MortiseNative::lock_cancel,
        MortiseNative::lock_interrupt,
        MortiseNative::lock_set_task,
        MortiseNative::lock_query,
        MortiseNative::lock_force_release,
        MortiseNative::lock_export,
        MortiseNative::lock_adopt,
        (it, queue, tag) -> {
          faults.beforeWatch.run();
          return MortiseNative.lock_watch(it, queue, tag);
        });
  }

  Mode mode() {
    return mode;
  }

  @Override
  void addLoss(HoldFuture<LossReason> loss, Hold hold) {
    super.addLoss(loss, hold);
    faults.afterWatch.run();
  }
}
