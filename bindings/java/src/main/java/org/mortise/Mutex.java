package org.mortise;

/**
 * One owner of a mutex, which acquires it as a {@link Lease}. For a lock whose owner is a thread
 * see {@link MortiseClient#lock}.
 */
public final class Mutex extends LeasingOwner {
  private static final OwnerCalls CALLS =
      new OwnerCalls(
          "the mutex's owner",
          MortiseNative::lock_free,
          MortiseNative::lock_is_held,
          MortiseNative::lock_token,
          MortiseNative::lock_hold_number,
          MortiseNative::lock_valid_ms,
          MortiseNative::lock_deadline_ns,
          MortiseNative::lock_extend,
          MortiseNative::lock_extend_async,
          MortiseNative::lock_progress,
          MortiseNative::lock_set_value,
          MortiseNative::lock_set_value_async,
          MortiseNative::lock_cancel,
          MortiseNative::lock_interrupt,
          MortiseNative::lock_query,
          MortiseNative::lock_force_release,
          MortiseNative::lock_watch);
  private static final Mode.Calls EXCLUSIVE =
      new Mode.Calls(
          MortiseNative::lock_try,
          MortiseNative::lock_try_async,
          MortiseNative::lock_acquire,
          MortiseNative::lock_acquire_async,
          MortiseNative::lock_unlock_hold,
          MortiseNative::lock_unlock_hold_async);

  private final Mode mode =
      new Mode(this, LockKind.MUTEX, EXCLUSIVE, MortiseNative::multi_add_lock);

  Mutex(MortiseClient client, Name name, MortiseOptions options) {
    super(
        client,
        name,
        options,
        CALLS,
        (it, settings) -> MortiseNative.lock_new(it, name.bytes(), settings));
  }

  @Override
  Mode mode() {
    return mode;
  }
}
