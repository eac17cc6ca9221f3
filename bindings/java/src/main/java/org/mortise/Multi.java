package org.mortise;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;

/**
 * A set of locks that are acquired all or none. Every process acquires them in the same order, so
 * two sets with common names cannot deadlock. Members are owners of the same client, each name
 * once. Each member can still be used on its own, and keeps its own tokens, leases and listeners.
 *
 * <p>The close of a member ends the hold of the multi. Then {@link Lease#isHeld} is false, and an
 * extend or a later acquire fails with {@link Status#CLOSED}. The other members stay held until the
 * lease is released.
 */
public final class Multi extends LeasingOwner {
  private static final OwnerCalls CALLS =
      new OwnerCalls(
          "the multi",
          MortiseNative::multi_free,
          MortiseNative::multi_is_held,
          it -> 0,
          MortiseNative::multi_hold_number,
          MortiseNative::multi_valid_ms,
          MortiseNative::multi_deadline_ns,
          MortiseNative::multi_extend,
          MortiseNative::multi_extend_async,
          MortiseNative::multi_progress,
          (it, value) -> unsupported(),
          (it, queue, tag, value) -> unsupported(),
          MortiseNative::multi_cancel,
          MortiseNative::multi_interrupt,
          MortiseNative::multi_set_task,
          (it, info) -> unsupported(),
          (it, owner) -> unsupported(),
          (it, lease) -> noId(),
          (it, id) -> noId(),
          null);
  private static final Mode.Calls ALL =
      new Mode.Calls(
          MortiseNative::multi_try,
          MortiseNative::multi_try_async,
          null,
          MortiseNative::multi_acquire_async,
          MortiseNative::multi_unlock_hold,
          MortiseNative::multi_unlock_hold_async);

  private static final int MOST_SHOWN = 3;

  private final Mode mode = new Mode(this, LockKind.MULTI, ALL, null);
  /** Collected together with this, not before. */
  private final List<Owner> members = new ArrayList<>();
  /** Of each member. */
  private final List<LossListener> listeners = new ArrayList<>();

  /** Those of the members, for messages, which must not refer to any owner. */
  private final List<Name> names;

  Multi(MortiseClient client) {
    this(client, new CopyOnWriteArrayList<>());
  }

  private Multi(MortiseClient client, List<Name> names) {
    super(
        client,
        Name.ofNone("multi", () -> title(names)),
        null,
        CALLS,
        (it, settings) -> MortiseNative.multi_new(it));
    this.names = names;
  }

  /** What the native code says instead of a name. */
  private static String title(List<Name> names) {
    String shown =
        names.stream().limit(MOST_SHOWN).map(Name::quoted).collect(Collectors.joining(", "));
    int more = names.size() - MOST_SHOWN;
    return "multi of " + shown + (more > 0 ? " and " + more + " more" : "");
  }

  /**
   * Adds a member: a {@link Mutex}, {@link ReadWriteMutex#readLock}, {@link
   * ReadWriteMutex#writeLock}, a {@link Semaphore} for one permit, or {@link Semaphore#permits}.
   *
   * @param member a lock of this client
   * @return this
   */
  public Multi add(Acquirable member) {
    Mode mode =
        Objects.requireNonNull(member, "member") instanceof LeasingOwner owner
            ? owner.mode()
            : (Mode) member;
    if (mode.owner() instanceof Multi) {
      throw new MortiseException(
          Status.INVALID_ARGUMENT, "member: is a Multi; add its members instead");
    }
    call(mode::addTo);
    return keep(mode.owner());
  }

  /**
   * The number of members.
   *
   * @return the number; 0 once it is closed
   */
  public int memberCount() {
    return (int) read(MortiseNative::multi_member_count);
  }

  @Override
  Mode mode() {
    return mode;
  }

  @Override
  public synchronized void addLossListener(LossListener listener) {
    Objects.requireNonNull(listener, "listener");
    for (Owner member : members) member.addLossListener(listener);
    listeners.add(listener);
  }

  private synchronized Multi keep(Owner member) {
    for (LossListener listener : listeners) member.addLossListener(listener);
    members.add(member);
    names.add(member.ownName());
    turn().relateTo(member.turn());
    return this;
  }

  private synchronized List<Owner> members() {
    return List.copyOf(members);
  }

  @Override
  boolean isClosed() {
    return super.isClosed() || members().stream().anyMatch(Owner::isClosed);
  }

  @Override
  void requireOpen() {
    super.requireOpen();
    members().forEach(Owner::requireOpen);
  }

  @Override
  Hold newHold(Event grant) {
    List<Hold.Part> parts =
        members().stream().map(member -> new Hold.Part(member, member.holdNumber())).toList();
    return new Hold(grant, parts);
  }

  /** It is lost with the first of its members. */
  @Override
  void addLoss(HoldFuture<LossReason> loss, Hold hold) {
    for (Hold.Part part : hold.parts()) part.member().addLoss(loss, part.number());
  }

  @Override
  void removeLoss(HoldFuture<LossReason> loss) {
    for (Owner member : members()) member.removeLoss(loss);
  }

  /** It is contended with the first of its members. */
  @Override
  void addContention(HoldFuture<Void> contention, Hold hold) {
    for (Hold.Part part : hold.parts()) part.member().addContention(contention, part.number());
  }

  @Override
  void removeContention(HoldFuture<Void> contention) {
    for (Owner member : members()) member.removeContention(contention);
  }

  private static int unsupported() {
    throw noLeaseOfItsOwn();
  }

  private static int noId() {
    throw new MortiseException(
        Status.UNSUPPORTED, "a multi has no id; export the hold of a lock with one name");
  }
}
