package org.mortise;

import java.lang.ref.Cleaner;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * One candidate of a named election, or an observer of it. The election is the mutex of its name,
 * whose holder leads. A leadership is a {@link Lease}: its end resigns.
 *
 * <p>The option {@code lease} is the time without a leader after a crash. A leadership lasts at
 * most {@link MortiseOptions#withMaxHold}, one hour by default. {@link MortiseOptions#withValue}
 * sets a text for each leadership, such as an address, which everybody can read.
 */
public final class Election extends Owner {
  private static final OwnerCalls CALLS =
      new OwnerCalls(
          "the candidate",
          MortiseNative::election_free,
          MortiseNative::election_is_leader,
          MortiseNative::election_token,
          MortiseNative::election_hold_number,
          MortiseNative::election_valid_ms,
          MortiseNative::election_deadline_ns,
          MortiseNative::election_extend,
          MortiseNative::election_extend_async,
          MortiseNative::election_progress,
          MortiseNative::election_set_value,
          MortiseNative::election_set_value_async,
          MortiseNative::election_cancel,
          MortiseNative::election_interrupt,
          MortiseNative::election_set_task,
          MortiseNative::election_query,
          MortiseNative::election_force_release,
          (it, lease) -> noId(),
          (it, id) -> noId(),
          MortiseNative::election_watch);
  private static final Mode.Calls LEADING =
      new Mode.Calls(
          it -> MortiseNative.election_campaign(it, 0),
          (it, queue, tag) -> MortiseNative.election_campaign_async(it, queue, tag, 0),
          MortiseNative::election_campaign,
          MortiseNative::election_campaign_async,
          MortiseNative::election_resign_hold,
          MortiseNative::election_resign_hold_async);

  /** An election is no member of a multi. */
  private final Mode mode =
      new Mode(
          this,
          LockKind.MUTEX,
          LEADING,
          (multi, owner) -> {
            throw new IllegalStateException("an election cannot be a member of a multi");
          });

  /** The tag of the present observation. Its monitor keeps the native object at the same one. */
  private final AtomicLong observed = new AtomicLong();

  private final Cleaner.Cleanable ofObservation;

  Election(MortiseClient client, Name name, MortiseOptions options) {
    super(
        client,
        name,
        options,
        CALLS,
        (it, settings) -> MortiseNative.election_new(it, name.bytes(), settings));
    // The cleaner must not know this object.
    Core telling = core();
    AtomicLong tag = observed;
    ofObservation = MortiseClient.CLEANER.register(this, () -> telling.unobserve(tag.get()));
  }

  /**
   * Waits until this candidate leads. Candidates lead in the order of their arrival at the server.
   * An interrupt of the thread ends the wait.
   *
   * @return the leadership
   * @throws InterruptedException if the thread was interrupted; it does not lead then
   */
  public Lease campaign() throws InterruptedException {
    return mode.acquire();
  }

  /**
   * As {@link #campaign()}, for so long.
   *
   * @param timeout rounded up to milliseconds; zero: leads only if nobody else leads
   * @return the leadership, or empty after the timeout
   * @throws InterruptedException if the thread was interrupted; it does not lead then
   */
  public Optional<Lease> campaign(Duration timeout) throws InterruptedException {
    return mode.tryAcquire(timeout);
  }

  /**
   * As {@link #campaign()}, without blocking.
   *
   * @return completed with the leadership; canceling it ends the campaign
   */
  public CompletableFuture<Lease> campaignAsync() {
    return mode.acquireAsync();
  }

  /**
   * As {@link #campaign(Duration)}, without blocking.
   *
   * @param timeout rounded up to milliseconds
   * @return completed with the leadership, or empty after the timeout
   */
  public CompletableFuture<Optional<Lease>> campaignAsync(Duration timeout) {
    return mode.tryAcquireAsync(timeout);
  }

  /**
   * Whether this candidate leads, by the local clock. A leader checks it, or {@link Lease#isHeld},
   * before each piece of work.
   *
   * @return true if it does
   */
  public boolean isLeader() {
    return isHeld();
  }

  /**
   * Asks the server for the leader. The reply may be outdated when it arrives.
   *
   * @return the leader, or empty if nobody leads
   */
  public Optional<Leader> leader() {
    return Leader.in(query());
  }

  /**
   * Reports the leader, without a campaign: at once, and after each change of the leader or of its
   * value. The client queries the server at this interval, so a change is reported up to one
   * interval late. An earlier listener is replaced. See {@code mortise_election_observe}.
   *
   * @param interval 10 ms or more, or zero for one second
   * @param listener receives the leader, or empty while nobody leads, on the client's callback
   *     executor; the observation ends when this object is closed or collected
   */
  public void observe(Duration interval, Consumer<Optional<Leader>> listener) {
    long intervalMillis = Times.roundedUp(interval, "interval");
    Objects.requireNonNull(listener, "listener");
    synchronized (observed) {
      long tag =
          core()
              .observe(
                  listener,
                  (queue, given) ->
                      call(
                          it -> MortiseNative.election_observe(it, queue, given, intervalMillis)));
      core().unobserve(observed.getAndSet(tag));
      if (isClosed()) core().unobserve(tag); // the close may have found no tag
    }
  }

  /** Ends the reports of {@link #observe}. */
  public void unobserve() {
    synchronized (observed) {
      call(it -> MortiseNative.election_observe(it, 0, 0, 0));
      core().unobserve(observed.getAndSet(0));
    }
  }

  @Override
  public void close() {
    ofObservation.clean();
    super.close();
  }

  private static int noId() {
    throw new MortiseException(
        Status.UNSUPPORTED, "a leadership has no id; export the hold of a mutex");
  }
}
