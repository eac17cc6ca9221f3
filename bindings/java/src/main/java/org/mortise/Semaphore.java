package org.mortise;

/**
 * One owner of permits of a semaphore. It has one hold at a time. Make more owners for more holds.
 * Waiters are served in the order of arrival, so later waiters for few permits do not pass a waiter
 * for many.
 */
public final class Semaphore extends LeasingOwner {
  private static final OwnerCalls CALLS =
      new OwnerCalls(
          "the semaphore's owner",
          MortiseNative::semaphore_free,
          MortiseNative::semaphore_is_held,
          MortiseNative::semaphore_token,
          MortiseNative::semaphore_hold_number,
          MortiseNative::semaphore_valid_ms,
          MortiseNative::semaphore_deadline_ns,
          MortiseNative::semaphore_extend,
          MortiseNative::semaphore_extend_async,
          MortiseNative::semaphore_progress,
          MortiseNative::semaphore_set_value,
          MortiseNative::semaphore_set_value_async,
          MortiseNative::semaphore_cancel,
          MortiseNative::semaphore_interrupt,
          MortiseNative::semaphore_set_task,
          MortiseNative::semaphore_query,
          MortiseNative::semaphore_force_release,
          MortiseNative::semaphore_export,
          MortiseNative::semaphore_adopt,
          MortiseNative::semaphore_watch);

  private final Mode single = mode(1);

  Semaphore(MortiseClient client, Name name, long capacity, MortiseOptions options) {
    super(
        client,
        name,
        options,
        CALLS,
        (it, settings) -> MortiseNative.semaphore_new(it, name.bytes(), capacity, settings));
  }

  /**
   * Several permits that are acquired at once. This owner itself acquires one permit.
   *
   * @param permits 1 to all permits of the semaphore
   * @return what can be acquired
   */
  public Acquirable permits(long permits) {
    return mode(permits);
  }

  /**
   * Changes the number of permits for all users of the name. Existing holds remain.
   *
   * @param capacity 1 to 1 000 000
   */
  public void resize(long capacity) {
    Threads.block(() -> call(it -> MortiseNative.semaphore_resize(it, capacity)));
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
    return single;
  }

  private Mode mode(long permits) {
    return new Mode(
        this,
        LockKind.SEMAPHORE,
        new Mode.Calls(
            it -> MortiseNative.semaphore_try(it, permits),
            (it, queue, tag) -> MortiseNative.semaphore_try_async(it, queue, tag, permits),
            (it, timeout) -> MortiseNative.semaphore_acquire(it, permits, timeout),
            (it, queue, tag, timeout) ->
                MortiseNative.semaphore_acquire_async(it, queue, tag, permits, timeout),
            MortiseNative::semaphore_release_hold,
            MortiseNative::semaphore_release_hold_async),
        (multi, it) -> MortiseNative.multi_add_semaphore(multi, it, permits));
  }
}
