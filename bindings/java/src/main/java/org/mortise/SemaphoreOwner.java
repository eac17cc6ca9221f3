package org.mortise;

/**
 * One owner of permits of a semaphore. It holds permits once at a time; for more holds make more
 * owners. Who comes first is served first, so a waiter for many permits is not passed by those who
 * want few.
 */
public final class SemaphoreOwner extends LeasingOwner {
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
          MortiseNative::semaphore_cancel,
          MortiseNative::semaphore_interrupt,
          MortiseNative::semaphore_query,
          MortiseNative::semaphore_force_release,
          MortiseNative::semaphore_watch);

  private final Mode single = permits(1);

  SemaphoreOwner(MortiseClient client, Name name, long permits, MortiseOptions options) {
    super(
        client,
        name,
        options,
        CALLS,
        (it, settings) -> MortiseNative.semaphore_new(it, name.bytes(), permits, settings));
  }

  /**
   * To acquire so many permits at once; this owner itself acquires one.
   *
   * @param weight how many, 1 to the number of permits
   * @return what can be acquired
   */
  public Acquirable of(long weight) {
    return permits(weight);
  }

  /**
   * Changes how many permits there are, for all users of the name. Holds in force stay.
   *
   * @param permits 1 to 1 000 000
   */
  public void resize(long permits) {
    Threads.block(() -> call(it -> MortiseNative.semaphore_resize(it, permits)));
  }

  @Override
  Mode mode() {
    return single;
  }

  int addTo(long multi, long weight) {
    return call(it -> MortiseNative.multi_add_semaphore(multi, it, weight));
  }

  private Mode permits(long weight) {
    return new Mode(
        this,
        new Mode.Calls(
            it -> MortiseNative.semaphore_try(it, weight),
            (it, queue, tag) -> MortiseNative.semaphore_try_async(it, queue, tag, weight),
            (it, timeout) -> MortiseNative.semaphore_acquire(it, weight, timeout),
            (it, queue, tag, timeout) ->
                MortiseNative.semaphore_acquire_async(it, queue, tag, weight, timeout),
            MortiseNative::semaphore_release_hold,
            MortiseNative::semaphore_release_hold_async));
  }
}
