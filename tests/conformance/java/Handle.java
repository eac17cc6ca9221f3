import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.mortise.Acquirable;
import org.mortise.Election;
import org.mortise.Lease;
import org.mortise.LockInfo;
import org.mortise.LossListener;
import org.mortise.LossReason;
import org.mortise.Multi;
import org.mortise.Mutex;
import org.mortise.Owner;
import org.mortise.ReadWriteMutex;
import org.mortise.Semaphore;
import org.mortise.Status;

/** An owner with its leases by mode; the newest is the first. */
final class Handle implements LossListener {
  /** A method of C without its mode: `read_try` is `try` of the mode `read`. */
  record Method(String mode, String name) {
    static Method of(String text) {
      boolean hasMode = text.startsWith("read_") || text.startsWith("write_");
      int end = hasMode ? text.indexOf('_') : -1;
      return new Method(hasMode ? text.substring(0, end) : "", text.substring(end + 1));
    }
  }

  final String name;
  final Owner owner;
  private final int madeIn = Driver.run();
  private final Map<String, Deque<Lease>> leases = new HashMap<>();

  Handle(String name, Owner owner) {
    this.name = name;
    this.owner = owner;
  }

  @Override
  public void lost(String lock, long token) {
    throw new AssertionError("the reason is not told");
  }

  @Override
  public void lost(String lock, long token, LossReason reason) {
    var loss = new Result(Status.LOST, token, null, lock, null);
    Driver.notify(madeIn, name + " " + loss + " reason=" + reason.code());
  }

  @Override
  public void atRisk(String lock, long token) {
    Driver.notify(madeIn, name + " at_risk token=" + token);
  }

  @Override
  public void contended(String lock, long token) {
    Driver.notify(madeIn, name + " contended token=" + token);
  }

  private synchronized Deque<Lease> leases(String mode) {
    return leases.computeIfAbsent(mode, ignored -> new ArrayDeque<>());
  }

  private synchronized Result keep(String mode, Lease lease) {
    leases(mode).push(lease);
    return Result.token(lease.token());
  }

  /** An empty result of what waited and of what did not wait are two outcomes in C. */
  private Result keep(Method method, Optional<Lease> lease) {
    Status otherwise = method.name.equals("try") ? Status.NOT_ACQUIRED : Status.TIMED_OUT;
    return lease.map(it -> keep(method.mode, it)).orElse(Result.of(otherwise));
  }

  /** The newest lease of any mode; null if nothing is held. */
  private synchronized Lease newest() {
    for (Deque<Lease> some : leases.values()) {
      if (!some.isEmpty()) return some.peek();
    }
    return null;
  }

  private synchronized Lease take(String mode) {
    return leases(mode).poll();
  }

  /** The lease that the last acquire of that mode gave. */
  synchronized Lease newest(String mode) {
    return leases(mode).peek();
  }

  /** It was released, or is of another mode now. */
  synchronized void drop(String mode, Lease lease) {
    leases(mode).remove(lease);
  }

  synchronized void add(String mode, Lease lease) {
    leases(mode).push(lease);
  }

  private synchronized Result move(String from, String to) {
    Lease lease = take(from);
    return keep(to, lease);
  }

  private Acquirable acquirable(Method method, Line line) {
    if (owner instanceof Semaphore semaphore) return semaphore.permits(line.number("weight", 1));
    if (owner instanceof ReadWriteMutex rw) {
      return method.mode.equals("read") ? rw.readLock() : rw.writeLock();
    }
    return (Acquirable) owner;
  }

  /** False for a lease that was not yet released means that it was lost. */
  private static Result released(boolean wasHeld) {
    return Result.of(wasHeld ? Status.OK : Status.LOST);
  }

  private Result acquire(Method method, Line line) throws InterruptedException {
    Acquirable lock = acquirable(method, line);
    long timeout = line.number("timeout_ms", 0);
    if (timeout < 0) return keep(method.mode, lock.acquire());
    return keep(method, lock.tryAcquire(Duration.ofMillis(timeout)));
  }

  private Result campaign(Method method, Line line) throws InterruptedException {
    var election = (Election) owner;
    long timeout = line.number("timeout_ms", 0);
    if (timeout < 0) return keep(method.mode, election.campaign());
    return keep(method, election.campaign(Duration.ofMillis(timeout)));
  }

  private CompletableFuture<Result> campaignLater(Method method, Line line) {
    var election = (Election) owner;
    long timeout = line.number("timeout_ms", 0);
    if (timeout < 0) return election.campaignAsync().thenApply(lease -> keep(method.mode, lease));
    return election.campaignAsync(Duration.ofMillis(timeout)).thenApply(it -> keep(method, it));
  }

  /** Prints the leaders, or ends that without an interval. */
  private void observe(Line line) {
    var election = (Election) owner;
    long intervalMs = line.number("interval_ms", 0);
    if (intervalMs == 0) {
      election.unobserve();
      return;
    }
    election.observe(
        Duration.ofMillis(intervalMs),
        leader ->
            Driver.notify(
                madeIn,
                leader
                    .map(it -> name + " leader text=" + Result.encode(it.value()))
                    .orElse(name + " no_leader")));
  }

  Result call(String text, Line line) throws InterruptedException {
    Method method = Method.of(text);
    switch (method.name) {
      case "try":
        return keep(method, acquirable(method, line).tryAcquire());
      case "acquire":
        return acquire(method, line);
      case "campaign":
        return campaign(method, line);
      case "unlock", "release", "resign":
        Lease lease = take(method.mode);
        // Without a lease there is nothing to call in Java.
        return lease == null ? Result.of(Status.NOT_OWNER) : released(lease.release());
      case "extend":
        Lease held = newest();
        if (held == null) return Result.of(Status.NOT_OWNER);
        held.extend(Duration.ofMillis(line.number("lease_ms", 0)));
        return Result.token(held.token());
      case "export":
        Lease exported = newest();
        return exported == null ? Result.of(Status.NOT_OWNER) : export(exported, line);
      case "adopt":
        return adopt(line);
      case "progress":
        Lease working = newest();
        if (working == null) return Result.of(Status.NOT_OWNER);
        working.progress();
        return Result.token(working.token());
      case "set_value":
        Lease valued = newest();
        if (valued == null) return Result.of(Status.NOT_OWNER);
        valued.setValue(line.given().get("value"));
        return Result.OK;
      case "upgrade":
        boolean isUpgraded = ((ReadWriteMutex) owner).tryUpgrade();
        return isUpgraded ? move("read", "write") : Result.of(Status.NOT_ACQUIRED);
      case "downgrade":
        ((ReadWriteMutex) owner).downgrade();
        return move("write", "read");
      default:
        return callOther(method.name, line);
    }
  }

  static Result export(Lease lease, Line line) {
    return Result.text(lease.export(Duration.ofMillis(line.number("lease_ms", 0))));
  }

  private Result adopt(Line line) {
    String id = line.given().get("id");
    if (owner instanceof Mutex mutex) return keep("", mutex.adopt(id));
    if (owner instanceof Semaphore semaphore) return keep("", semaphore.adopt(id));
    var rw = (ReadWriteMutex) owner;
    Lease lease = rw.adopt(id);
    return keep(rw.isWriting() ? "write" : "read", lease);
  }

  /** What a query is about, by the name of the getter in C. */
  private static Result fieldOf(LockInfo info, String of) {
    return switch (of) {
      case "is_held" -> Result.truth(info.isHeld());
      case "is_mine" -> Result.truth(info.isMine());
      case "holder_count" -> Result.number(info.holderCount());
      case "permits" -> Result.number(info.permits());
      case "permits_in_use" -> Result.number(info.permitsInUse());
      case "retained" ->
          Result.number(info.holders().stream().filter(LockInfo.Entry::isRetained).count());
      case "label" -> Result.text(info.holders().get(0).label());
      case "value" -> {
        String text = info.holders().isEmpty() ? "" : info.holders().get(0).value();
        yield Result.with(text.getBytes(UTF_8).length, text);
      }
      default -> Result.number(info.waiterCount());
    };
  }

  /** Ends the hold of the owner that is given, or of the first that the server knows of. */
  private Result forceRelease(String given) {
    String whose = given;
    if (whose == null) {
      var holders = owner.query().holders();
      whose = holders.isEmpty() ? "" : holders.get(0).owner();
    }
    return Result.of(owner.forceRelease(whose) ? Status.OK : Status.NOT_OWNER);
  }

  private static long nanos(Instant moment) {
    return moment.getEpochSecond() * 1_000_000_000 + moment.getNano();
  }

  /** The calls that need no lease. */
  private Result callOther(String method, Line line) {
    switch (method) {
      case "cancel":
        return Result.of(owner.cancel() ? Status.OK : Status.NOT_WAITING);
      case "interrupt":
        owner.interrupt(line.number("is_on", 1) == 1);
        return Result.OK;
      case "set_task":
        owner.setTask(line.number("task", 0));
        return Result.OK;
      case "name":
        return Result.text(owner.name());
      case "watch":
        owner.addLossListener(this);
        return Result.OK;
      case "observe":
        observe(line);
        return Result.OK;
      case "resize":
        ((Semaphore) owner).resize(line.number("permits", 1));
        return Result.OK;
      case "free":
        owner.close();
        return Result.OK;
      default:
        return switch (method) {
          case "is_held" -> Result.truth(owner.isHeld());
          case "is_leader" -> Result.truth(((Election) owner).isLeader());
          case "is_reading" -> Result.truth(((ReadWriteMutex) owner).isReading());
          case "is_writing" -> Result.truth(((ReadWriteMutex) owner).isWriting());
          case "valid_ms" -> Result.number(owner.validFor().toMillis());
          case "deadline_ns" -> Result.number(owner.deadline().map(Handle::nanos).orElse(0L));
          case "token" -> Result.number(owner.token());
          case "query" -> fieldOf(owner.query(), line.given().getOrDefault("of", ""));
          case "force_release" -> forceRelease(line.given().get("owner"));
          case "member_count" -> Result.number(((Multi) owner).memberCount());
          default -> throw new IllegalArgumentException(method);
        };
    }
  }

  private CompletableFuture<Result> acquireLater(Method method, Line line) {
    Acquirable lock = acquirable(method, line);
    long timeout = line.number("timeout_ms", 0);
    if (timeout < 0) return lock.acquireAsync().thenApply(lease -> keep(method.mode, lease));
    return lock.tryAcquireAsync(Duration.ofMillis(timeout)).thenApply(it -> keep(method, it));
  }

  CompletableFuture<Result> start(String text, Line line) {
    Method method = Method.of(text);
    switch (method.name) {
      case "try":
        return acquirable(method, line).tryAcquireAsync().thenApply(it -> keep(method, it));
      case "acquire":
        return acquireLater(method, line);
      case "campaign":
        return campaignLater(method, line);
      case "unlock", "release", "resign":
        return take(method.mode).releaseAsync().thenApply(Handle::released);
      case "extend":
        Lease held = newest();
        return held.extendAsync(Duration.ofMillis(line.number("lease_ms", 0)))
            .thenApply(done -> Result.token(held.token()));
      case "set_value":
        return newest().setValueAsync(line.given().get("value")).thenApply(done -> Result.OK);
      case "upgrade":
        return ((ReadWriteMutex) owner)
            .tryUpgradeAsync()
            .thenApply(is -> is ? move("read", "write") : Result.of(Status.NOT_ACQUIRED));
      case "downgrade":
        return ((ReadWriteMutex) owner).downgradeAsync().thenApply(done -> move("write", "read"));
      case "query": // which has no future of its own
        return CompletableFuture.supplyAsync(() -> callOther(method.name, line));
      default:
        throw new IllegalArgumentException(text);
    }
  }
}
