package org.mortise;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.LongToIntFunction;
import java.util.function.LongBinaryOperator;
import java.util.function.LongUnaryOperator;

/**
 * One owner of one name. Two owners never share a hold. A hold does not belong to a thread: any
 * thread may use any owner. While one call acquires or releases, another such call fails with
 * {@link Status#BUSY}. Give each concurrent user its own owner.
 *
 * <p>Close it when it is no longer needed. This releases its hold. A forgotten owner is closed some
 * time after the garbage collector has collected it.
 */
public abstract class Owner implements AutoCloseable {
  private final MortiseClient client;
  private final Name name;
  private final MortiseOptions options;
  private final OwnerCalls calls;
  private final NativeHandle handle;
  private final Cleaner.Cleanable cleanable;
  /** Of those that have leases. */
  private final AtomicReference<Hold> newest = new AtomicReference<>();
  /** Null until it is first needed; guarded by its tag. */
  private Watch watch;
  private final Turn turn;
  /** As the user wants it; guarded by the turn. */
  private boolean isInterrupted;
  /** Set by the user, 0 for none; written under the turn. */
  private volatile long task;
  /** The task that the native object has; guarded by the turn. */
  private long nativeTask;
  /** The tag of the watch, for the cleaner, which must not know this object. */
  private final AtomicLong watchTag;
  /** Null without a {@link LockListener}. */
  private final HoldReports reports;

  /**
   * Makes the native object.
   *
   * @param options override the client's options; null for the client's options
   * @param make from the native client and the native options, 0 for the client's
   */
  Owner(
      MortiseClient client,
      Name name,
      MortiseOptions options,
      OwnerCalls calls,
      LongBinaryOperator make) {
    this.client = client;
    this.name = name;
    this.options = options;
    this.calls = calls;
    Core core = client.core();
    long opened = core.client().enter();
    long address;
    try {
      address =
          options == null
              ? make.applyAsLong(opened, 0)
              : options.useOver(opened, settings -> make.applyAsLong(opened, settings));
    } finally {
      core.client().exit();
    }
    var tag = new AtomicLong();
    watchTag = tag;
    HoldReports open = client.lockListener() == null ? null : new HoldReports(core);
    reports = open;
    handle =
        new NativeHandle(
            address,
            () -> new MortiseException(Status.CLOSED, name, calls.what() + " was closed"),
            freed -> {
              core.owners().remove(freed); // first, because the address can be used again
              calls.free().accept(freed);
              core.unwatch(tag.get());
              if (open != null) open.close();
            },
            woken -> wake(calls, woken));
    turn = new Turn(core, name, handle);
    cleanable = MortiseClient.CLEANER.register(this, handle);
    core.owners().put(address, handle);
    if (core.client().isClosed()) cleanable.clean(); // the close may have missed it
    LossListener listener = client.lossListener();
    if (listener != null && hasOwnLease()) addLossListener(listener);
  }

  /**
   * The client that made this owner.
   *
   * @return the client
   */
  public MortiseClient client() {
    return client;
  }

  /**
   * The name of the lock.
   *
   * @return the name, with a replacement character for bytes that are not UTF-8
   */
  public String name() {
    return name.toString();
  }

  /**
   * The name of the lock as bytes.
   *
   * @return the bytes that the owner was made with
   */
  public byte[] nameBytes() {
    return name.bytes().clone();
  }

  /**
   * When its hold ends unless it is renewed before, by the wall clock. A step of the wall clock
   * moves it, so use {@link #isHeld} to decide whether to act.
   *
   * @return the moment, or empty when it holds nothing
   */
  public Optional<Instant> deadline() {
    long end = deadlineNanos();
    if (end == 0) return Optional.empty();
    return Optional.of(Instant.now().plusNanos(end - MortiseNative.boot_now_ns()));
  }

  private long deadlineNanos() {
    return read(calls.deadlineNanos());
  }

  /** Whether what was acquired is lost or over; what waits for replicas is neither. */
  boolean isOver() {
    return deadlineNanos() == 0;
  }

  /**
   * How long its hold is still valid, by the local clock.
   *
   * @return whole milliseconds, rounded down; zero when it holds nothing
   */
  public Duration validFor() {
    return Duration.ofMillis(read(calls.validMillis()));
  }

  /**
   * Whether it holds, by the local clock.
   *
   * @return true if it does
   */
  public boolean isHeld() {
    return read(calls.isHeld()::applyAsInt) != 0;
  }

  /** The number of its hold, or of its last one; 0 before the first. Each grant raises it. */
  long holdNumber() {
    return read(calls.holdNumber());
  }

  /**
   * The fencing token of its hold, or of its last hold.
   *
   * @return the token; 0 before the first hold
   */
  public long token() {
    return read(calls.token());
  }

  /**
   * Ends its waiting acquire, of any thread or future, with {@link Status#CANCELLED}. A grant may
   * win the race.
   *
   * @return whether there was a wait to end
   */
  public boolean cancel() {
    return call(calls.cancel()) == Status.OK.code();
  }

  /**
   * Ends its waiting acquire as {@link #cancel} does. Later acquires also fail with {@link
   * Status#CANCELLED} until this is called with false. A hold is not affected.
   *
   * @param isOn true: interrupted from now on; false: no longer interrupted
   */
  public void interrupt(boolean isOn) {
    synchronized (turn) {
      call(it -> calls.interrupt().interrupt(it, isOn ? 1 : 0));
      isInterrupted = isOn;
    }
  }

  /**
   * Names the task that later acquires of this owner belong to: work that acquires, waits and
   * releases one after the other, such as a chain of futures. {@link
   * MortiseOptions#withDeadlockFailure} and the command {@code mortise doctor --deadlocks} find
   * deadlocks of tasks. Without a task they find no deadlock of a future, nor of a {@link Multi} in
   * a platform thread. All other calls then belong to their thread, which may be virtual.
   *
   * <p>Give the number to the owners of one task only, and not to work that runs at the same time.
   * Otherwise a wait counts as the wait of a holder that does not wait. A hold, and an acquire that
   * waits, keep their task.
   *
   * @param task unique among the tasks of this process: 1 to 8 999 999 999 999 999; 0 for no task
   * @throws MortiseException with {@link Status#INVALID_ARGUMENT} for another number, and {@link
   *     Status#CLOSED}
   */
  public void setTask(long task) {
    if (task < 0 || task >= Threads.FIRST_TASK) {
      throw new MortiseException(
          Status.INVALID_ARGUMENT,
          "task: " + task + " is out of range; give 0 to " + (Threads.FIRST_TASK - 1));
    }
    synchronized (turn) {
      call(it -> calls.setTask().set(it, task));
      nativeTask = task;
      this.task = task;
    }
  }

  /** The task of an acquire by a future. */
  long task() {
    return task;
  }

  /** The task of an acquire that this thread waits for: the user's, or the thread's own. */
  long callerTask() {
    long set = task;
    return set != 0 ? set : Threads.task();
  }

  /** For the acquire that has the turn, because the next one may be of another thread. */
  private void useTask(long address, long acquiring) {
    requireOpen(); // the native multi would also acquire a closed member
    synchronized (turn) {
      if (acquiring == nativeTask) return;
      calls.setTask().set(address, acquiring);
      nativeTask = acquiring;
    }
  }

  private static void wake(OwnerCalls calls, long address) {
    try {
      calls.interrupt().interrupt(address, 1);
    } catch (MortiseException closed) {
      // With the client, which has woken those who wait.
    }
  }

  /** The same for the thread whose turn it is, which does not undo what the user wants. */
  void interruptCalls(boolean isOn) {
    synchronized (turn) {
      try {
        call(it -> calls.interrupt().interrupt(it, isOn || isInterrupted ? 1 : 0));
      } catch (MortiseException closed) {
        // Which has ended the wait.
      }
    }
  }

  /**
   * Asks the server for the holders and the waiters. Use {@link #isHeld} to decide whether to act:
   * the reply of the server may be outdated when it arrives.
   *
   * @return the state at the server
   */
  public LockInfo query() {
    return LockInfo.of(info -> Threads.block(() -> call(it -> calls.query().query(it, info))));
  }

  /**
   * Ends the hold of another owner at once. Use it only for a hold that is stuck. The next waiter
   * is granted the lock, with a higher fencing token. The holder is notified, and its hold is lost
   * for the reason {@link LossReason#FORCED}. Until the holder is notified, it may work at the same
   * time as the next one.
   *
   * @param owner the holder, as in {@link LockInfo.Entry#owner}
   * @return true if the hold was ended; false if that owner does not hold the lock, or no longer
   */
  public boolean forceRelease(String owner) {
    byte[] whose = Name.utf8(owner, "owner");
    long status = Threads.block(() -> call(it -> calls.force().release(it, whose)));
    return status == Status.OK.code();
  }

  /**
   * Adds a listener for the losses and risks of this owner. For a {@link Multi} it receives those
   * of its members, with their names.
   *
   * @param listener runs on the client's callback executor; it must not refer to this owner,
   *     because the owner could then not be collected
   */
  public void addLossListener(LossListener listener) {
    Objects.requireNonNull(listener, "listener");
    if (!hasOwnLease()) throw noLeaseOfItsOwn();
    watched().add(listener);
  }

  /** The watch of its losses, which begins with the first call. */
  Watch watched() {
    synchronized (watchTag) {
      if (watch == null) {
        var fresh = new Watch(name);
        watchTag.set(
            core().watch(fresh, (queue, tag) -> call(it -> calls.watch().start(it, queue, tag))));
        watch = fresh;
        if (isClosed()) core().unwatch(watchTag.get()); // the close may have found no tag
      }
      return watch;
    }
  }

  /** From now on this is told of the loss of that hold. */
  void addLoss(HoldFuture<LossReason> loss, Hold hold) {
    addLoss(loss, hold.number());
  }

  void addLoss(HoldFuture<LossReason> loss, long holdNumber) {
    watched().add(loss, holdNumber);
  }

  void removeLoss(HoldFuture<LossReason> loss) {
    synchronized (watchTag) {
      if (watch != null) watch.remove(loss);
    }
  }

  /** From now on the watch completes the future when others wait for that hold. */
  void addContention(HoldFuture<Void> contention, Hold hold) {
    addContention(contention, hold.number());
  }

  void addContention(HoldFuture<Void> contention, long holdNumber) {
    boolean isKnown = watched().addContention(contention, holdNumber);
    if (isKnown) core().callBack(() -> contention.complete(null));
  }

  void removeContention(HoldFuture<Void> contention) {
    synchronized (watchTag) {
      if (watch != null) watch.removeContention(contention);
    }
  }

  /**
   * Closes it. Its hold is released without waiting for the reply, and a waiting acquire ends with
   * {@link Status#CLOSED}.
   */
  @Override
  public void close() {
    cleanable.clean();
  }

  /** A multi has those of its members only. */
  boolean hasOwnLease() {
    return calls.watch() != null;
  }

  static MortiseException noLeaseOfItsOwn() {
    return new MortiseException(
        Status.UNSUPPORTED, "a multi has no lease of its own; ask its members");
  }

  // ---- calls -----------------------------------------------------------------------------------

  Core core() {
    return client.core();
  }

  HoldReports reports() {
    return reports;
  }

  /** Null if no listener follows this wait. */
  WaitReport beginWait(Mode mode) {
    return reports == null ? null : WaitReport.begin(client.lockListener(), this, mode);
  }

  Turn turn() {
    return turn;
  }

  /** No call can begin, and running calls are asked to end. */
  boolean isClosed() {
    return handle.isClosed();
  }

  void requireOpen() {
    if (handle.isClosed()) throw handle.closed();
  }

  Name ownName() {
    return name;
  }

  /** Whether it was made for this name, with these options. */
  boolean isFor(Name otherName, MortiseOptions otherOptions) {
    return name.equals(otherName) && Objects.equals(options, otherOptions);
  }

  int call(LongToIntFunction call) {
    long address = handle.enter();
    try {
      return call.applyAsInt(address);
    } finally {
      handle.exit();
      Reference.reachabilityFence(this);
    }
  }

  /** An acquire of this thread. The number of what it has got cannot be that of a later hold. */
  Event acquire(LongToIntFunction acquire) {
    return acquire(callerTask(), acquire);
  }

  private Event acquire(long acquiring, LongToIntFunction acquire) {
    long address = handle.enter();
    try {
      useTask(address, acquiring);
      int code = acquire.applyAsInt(address);
      if (code != Status.OK.code()) return Event.of(code);
      long holdNumber = calls.holdNumber().applyAsLong(address);
      return new Event(code, calls.token().applyAsLong(address), holdNumber);
    } finally {
      handle.exit();
      Reference.reachabilityFence(this);
    }
  }

  CompletableFuture<Event> start(OwnerCalls.Start start) {
    return core().submit((queue, tag) -> call(it -> start.start(it, queue, tag)));
  }

  /** Begins an acquire of this task. */
  CompletableFuture<Event> startAcquire(long acquiring, OwnerCalls.Start start) {
    return start(
        (it, queue, tag) -> {
          useTask(it, acquiring);
          return start.start(it, queue, tag);
        });
  }

  void cancelQuietly() {
    try {
      cancel();
    } catch (MortiseException closed) {
      // The wait has ended, then.
    }
  }

  int extend(long leaseMillis) {
    if (Threads.mustNotBlock()) return Threads.join(extendLater(leaseMillis)).code();
    return call(it -> calls.extend().extend(it, leaseMillis));
  }

  CompletableFuture<Event> extendLater(long leaseMillis) {
    return start((it, queue, tag) -> calls.extendLater().start(it, queue, tag, leaseMillis));
  }

  /** Reports that the work under its hold goes on. */
  void progress() {
    int code = call(calls.progress());
    if (code != Status.OK.code()) throw MortiseException.ofOutcome(code, name);
  }

  int setValue(byte[] value) {
    if (Threads.mustNotBlock()) return Threads.join(setValueLater(value)).code();
    return call(it -> calls.setValue().set(it, value));
  }

  CompletableFuture<Event> setValueLater(byte[] value) {
    return start((it, queue, tag) -> calls.setValueLater().start(it, queue, tag, value));
  }

  /** The text of an exported hold, for the library. */
  static byte[] bytesOf(String id) {
    return Name.utf8(id, "id");
  }

  /** The id of its hold, which has ended here. */
  String export(long leaseMillis) {
    return Threads.compute(
        () -> {
          long address = handle.enter();
          try {
            long id = calls.export().export(address, leaseMillis);
            try {
              return new String(MortiseNative.hold_id_text(id), UTF_8);
            } finally {
              MortiseNative.hold_id_free(id);
            }
          } finally {
            handle.exit();
            Reference.reachabilityFence(this);
          }
        });
  }

  /** The native call that continues an exported hold. */
  Event adopt(byte[] id) {
    long acquiring = callerTask();
    return Threads.compute(() -> acquire(acquiring, it -> calls.adopt().adopt(it, id)));
  }

  void requireExtended(int code) {
    if (code != Status.OK.code()) throw MortiseException.ofOutcome(code, name);
  }

  /** A future for the user, completed where the user wants it. */
  <T> CompletableFuture<T> deliver(CompletableFuture<Event> end, Function<Event, T> result) {
    var future = new CompletableFuture<T>();
    end.whenComplete(
        (event, failure) ->
            core()
                .callBack(
                    () -> {
                      if (failure != null) {
                        future.completeExceptionally(failure);
                        return;
                      }
                      try {
                        future.complete(result.apply(event));
                      } catch (MortiseException outcome) {
                        future.completeExceptionally(outcome);
                      }
                    }));
    return future;
  }

  /** A number of the native object; 0 once it is closed. */
  long read(LongUnaryOperator call) {
    long address;
    try {
      address = handle.enter();
    } catch (MortiseException closed) {
      return 0;
    }
    try {
      return call.applyAsLong(address);
    } finally {
      handle.exit();
      Reference.reachabilityFence(this);
    }
  }

  // ---- leases ----------------------------------------------------------------------------------

  /** The lease for a grant. A reentrant acquire has the number of the first. */
  Lease grant(Mode mode, Event grant) {
    Hold hold = hold(grant);
    var lease = new Lease(this, hold, mode);
    hold.add(lease);
    return lease;
  }

  private Hold hold(Event grant) {
    Hold fresh = newHold(grant);
    // The thread of an earlier grant, which was lost since, may be the later one here.
    Hold known =
        newest.accumulateAndGet(
            fresh, (old, mine) -> old == null || old.number() < mine.number() ? mine : old);
    return known.number() == fresh.number() ? known : fresh;
  }

  Hold newHold(Event grant) {
    return new Hold(grant, List.of());
  }

  /** Whether no other hold has followed it, also when it has ended; of a multi in no member. */
  boolean isCurrent(Hold hold) {
    if (holdNumber() != hold.number() || isClosed()) return false;
    for (Hold.Part part : hold.parts()) {
      if (part.member().holdNumber() != part.number()) return false;
    }
    return true;
  }

  /** The mode to which an upgrade or a downgrade of a hold in this mode leads, or null. */
  Mode other(Mode mode) {
    return null;
  }

  /** The hold with this number has another mode and perhaps another token now. */
  void changeHold(Mode mode, long number, long token) {
    Hold hold = newest.get();
    boolean isNewest = hold != null && hold.number() == number;
    if (isNewest && !hold.change(mode, token)) return;
    if (reports != null) reports.change(number, mode.kind(), token);
  }
}
