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
          MortiseNative::lock_set_task,
          MortiseNative::lock_query,
          MortiseNative::lock_force_release,
          MortiseNative::lock_export,
          MortiseNative::lock_adopt,
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

  /**
   * Continues an exported hold with this owner, which renews it from now on. Of several adopters
   * one succeeds. The lease has a higher fencing token. It waits for the command timeout at most.
   *
   * @param id the text of {@link Lease#export}, of a lock of this name and kind
   * @return the lease
   * @throws MortiseException with {@link Status#NOT_OWNER} when the exported hold has ended or was
   *     adopted, {@link Status#INVALID_ARGUMENT} when the id was changed or is of another lock, and
   *     others
   */
  public Lease adopt(String id) {
    return mode().adopt(bytesOf(id));
  }

  @Override
  Mode mode() {
    return mode;
  }
}
