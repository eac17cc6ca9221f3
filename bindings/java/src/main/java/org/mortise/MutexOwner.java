package org.mortise;

/** One owner of a mutex. */
public final class MutexOwner extends LeasingOwner {
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

  private final Mode mode = new Mode(this, EXCLUSIVE);

  MutexOwner(MortiseClient client, Name name, MortiseOptions options) {
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

  /** The native object, for a multi to add. */
  int addTo(long multi) {
    return call(it -> MortiseNative.multi_add_lock(multi, it));
  }
}
