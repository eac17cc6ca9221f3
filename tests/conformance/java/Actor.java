import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.mortise.Acquirable;
import org.mortise.Lease;
import org.mortise.LockInfo;
import org.mortise.LossListener;
import org.mortise.MortiseClient;
import org.mortise.MortiseException;
import org.mortise.MortiseOptions;
import org.mortise.Multi;
import org.mortise.MutexOwner;
import org.mortise.Owner;
import org.mortise.ReadWriteOwner;
import org.mortise.SemaphoreOwner;
import org.mortise.Status;

/** The actor in Java: does what the conductor tells it line by line; README.md has the lines. */
final class Actor {
  private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);
  private static final Map<String, MortiseClient> CLIENTS = new HashMap<>();
  private static final Map<String, Handle> HANDLES = new HashMap<>();

  private Actor() {}

  private static synchronized void say(String line) {
    OUT.println(line);
  }

  // ---- lines -----------------------------------------------------------------------------------

  /** Percent-encoded values by key; what has no key is a word. */
  record Line(List<String> words, Map<String, String> given) {
    static Line parse(String text) {
      var line = new Line(new ArrayList<>(), new HashMap<>());
      for (String word : text.split(" ")) {
        int end = word.indexOf('=');
        if (end < 0) {
          line.words.add(word);
        } else {
          String value = word.substring(end + 1).replace("+", "%2B");
          line.given.put(word.substring(0, end), URLDecoder.decode(value, StandardCharsets.UTF_8));
        }
      }
      return line;
    }

    String word(int place) {
      return words.get(place);
    }

    long number(String key, long otherwise) {
      return given.containsKey(key) ? Long.parseLong(given.get(key)) : otherwise;
    }

    MortiseOptions options() {
      MortiseOptions options = null;
      for (Map.Entry<String, String> one : given.entrySet()) {
        if (!one.getKey().startsWith("opt.")) continue;
        if (options == null) options = MortiseOptions.DEFAULTS;
        options = options.with(one.getKey().substring("opt.".length()), one.getValue());
      }
      return options;
    }
  }

  /** What a call came to. */
  record Result(Status status, long token, Long value, String text) {
    static final Result OK = of(Status.OK);

    static Result of(Status status) {
      return new Result(status, 0, null, "");
    }

    static Result token(long token) {
      return new Result(Status.OK, token, null, "");
    }

    static Result number(long value) {
      return new Result(Status.OK, 0, value, "");
    }

    static Result truth(boolean is) {
      return number(is ? 1 : 0);
    }

    /** What is no failure of Mortise is one of this program, and ends it. */
    static Result of(Throwable thrown) {
      Throwable failure = thrown instanceof CompletionException ? thrown.getCause() : thrown;
      if (failure instanceof MortiseException said) {
        return new Result(said.status(), 0, null, said.getMessage());
      }
      failure.printStackTrace();
      Runtime.getRuntime().halt(2);
      return OK;
    }

    @Override
    public String toString() {
      var line = new StringBuilder(status.name().toLowerCase(Locale.ROOT));
      if (token != 0) line.append(" token=").append(token);
      if (value != null) line.append(" value=").append(value);
      if (!text.isEmpty()) {
        String encoded = URLEncoder.encode(text, StandardCharsets.UTF_8);
        line.append(" text=").append(encoded.replace("+", "%20"));
      }
      return line.toString();
    }
  }

  // ---- new -------------------------------------------------------------------------------------

  private static void makeMembers(Multi multi, String members) {
    for (String member : members.split(",")) {
      String[] parts = member.split(":");
      Owner owner = HANDLES.get(parts[0]).owner;
      if (owner instanceof MutexOwner mutex) {
        multi.add(mutex);
      } else if (owner instanceof SemaphoreOwner semaphore) {
        multi.add(semaphore, Long.parseLong(parts[1]));
      } else if (parts[1].equals("read")) {
        multi.addReading((ReadWriteOwner) owner);
      } else {
        multi.addWriting((ReadWriteOwner) owner);
      }
    }
  }

  private static MortiseClient open(Line line) {
    MortiseClient.Builder builder = MortiseClient.builder(line.given.get("url"));
    MortiseOptions options = line.options();
    if (options != null) builder.options(options);
    return builder.open();
  }

  private static Owner make(Line line) {
    MortiseClient client = CLIENTS.get(line.given.get("client"));
    if (line.word(2).equals("multi")) {
      Multi multi = client.multi();
      makeMembers(multi, line.given.get("members"));
      return multi;
    }
    String name = line.given.get("name");
    return switch (line.word(2)) {
      case "lock" -> client.mutex(name, line.options());
      case "rw" -> client.readWrite(name, line.options());
      case "semaphore" -> client.semaphore(name, line.number("permits", 1), line.options());
      default -> throw new IllegalArgumentException(line.word(2));
    };
  }

  private static Result create(Line line) {
    String name = line.word(3);
    if (line.word(2).equals("client")) {
      CLIENTS.put(name, open(line));
    } else {
      HANDLES.put(name, new Handle(name, make(line)));
    }
    return Result.OK;
  }

  // ---- owners ----------------------------------------------------------------------------------

  /** A method of C without its mode: `read_try` is `try` of the mode `read`. */
  record Method(String mode, String name) {
    static Method of(String text) {
      boolean hasMode = text.startsWith("read_") || text.startsWith("write_");
      int end = hasMode ? text.indexOf('_') : -1;
      return new Method(hasMode ? text.substring(0, end) : "", text.substring(end + 1));
    }
  }

  /** An owner with its leases by mode; the newest is the first. */
  static final class Handle implements LossListener {
    final String name;
    final Owner owner;
    private final Map<String, Deque<Lease>> leases = new HashMap<>();

    Handle(String name, Owner owner) {
      this.name = name;
      this.owner = owner;
    }

    @Override
    public void lost(String lock, long token) {
      say("notice " + name + " lost token=" + token);
    }

    @Override
    public void atRisk(String lock, long token) {
      say("notice " + name + " at_risk token=" + token);
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

    private synchronized Result move(String from, String to) {
      Lease lease = take(from);
      return keep(to, lease);
    }

    private Acquirable acquirable(Method method, Line line) {
      if (owner instanceof SemaphoreOwner semaphore) return semaphore.of(line.number("weight", 1));
      if (owner instanceof ReadWriteOwner rw) {
        return method.mode.equals("read") ? rw.reading() : rw.writing();
      }
      return (Acquirable) owner;
    }

    /** False of a lease that was not yet released says that it was lost. */
    private static Result released(boolean wasHeld) {
      return Result.of(wasHeld ? Status.OK : Status.LOST);
    }

    private Result acquire(Method method, Line line) throws InterruptedException {
      Acquirable lock = acquirable(method, line);
      long timeout = line.number("timeout_ms", 0);
      if (timeout < 0) return keep(method.mode, lock.acquire());
      return keep(method, lock.tryAcquire(Duration.ofMillis(timeout)));
    }

    Result call(String text, Line line) throws InterruptedException {
      Method method = Method.of(text);
      switch (method.name) {
        case "try":
          return keep(method, acquirable(method, line).tryAcquire());
        case "acquire":
          return acquire(method, line);
        case "unlock", "release":
          Lease lease = take(method.mode);
          // Without a lease there is nothing to call in Java.
          return lease == null ? Result.of(Status.NOT_OWNER) : released(lease.release());
        case "extend":
          Lease held = newest();
          if (held == null) return Result.of(Status.NOT_OWNER);
          held.extend(Duration.ofMillis(line.number("lease_ms", 0)));
          return Result.token(held.token());
        case "upgrade_try":
          boolean isUpgraded = ((ReadWriteOwner) owner).tryUpgrade();
          return isUpgraded ? move("read", "write") : Result.of(Status.NOT_ACQUIRED);
        case "downgrade":
          ((ReadWriteOwner) owner).downgrade();
          return move("write", "read");
        default:
          return callOther(method.name, line);
      }
    }

    /** What a query is about, by the name of the getter in C. */
    private static Result told(LockInfo info, String of) {
      return switch (of) {
        case "is_held" -> Result.truth(info.isHeld());
        case "is_mine" -> Result.truth(info.isMine());
        case "holder_count" -> Result.number(info.holderCount());
        case "permits" -> Result.number(info.permits());
        case "permits_in_use" -> Result.number(info.permitsInUse());
        case "label" -> new Result(Status.OK, 0, null, info.holders().get(0).label());
        default -> Result.number(info.waiterCount());
      };
    }

    /** The calls that need no lease. */
    private Result callOther(String method, Line line) {
      switch (method) {
        case "cancel":
          return Result.of(owner.cancel() ? Status.OK : Status.NOT_OWNER);
        case "watch":
          owner.addLossListener(this);
          return Result.OK;
        case "resize":
          ((SemaphoreOwner) owner).resize(line.number("permits", 1));
          return Result.OK;
        case "free":
          owner.close();
          return Result.OK;
        default:
          return switch (method) {
            case "is_held" -> Result.truth(owner.isHeld());
            case "is_reading" -> Result.truth(((ReadWriteOwner) owner).isReading());
            case "is_writing" -> Result.truth(((ReadWriteOwner) owner).isWriting());
            case "valid_ms" -> Result.number(owner.validMillis());
            case "token" -> Result.number(owner.token());
            case "query" -> told(owner.query(), line.given.getOrDefault("of", ""));
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
        case "unlock", "release":
          return take(method.mode).releaseAsync().thenApply(Handle::released);
        case "extend":
          Lease held = newest();
          return held.extendAsync(Duration.ofMillis(line.number("lease_ms", 0)))
              .thenApply(done -> Result.token(held.token()));
        case "upgrade_try":
          return ((ReadWriteOwner) owner)
              .tryUpgradeAsync()
              .thenApply(is -> is ? move("read", "write") : Result.of(Status.NOT_ACQUIRED));
        case "downgrade":
          return ((ReadWriteOwner) owner).downgradeAsync().thenApply(done -> move("write", "read"));
        default:
          throw new IllegalArgumentException(text);
      }
    }
  }

  // ---- what it is told -------------------------------------------------------------------------

  private static Result callClient(MortiseClient client, String method) {
    switch (method) {
      case "ping" -> client.ping();
      case "free" -> client.close();
      default -> throw new IllegalArgumentException(method);
    }
    return Result.OK;
  }

  private static Result start(Line line) {
    HANDLES
        .get(line.word(2))
        .start(line.word(3), line)
        .exceptionally(Result::of)
        .thenAccept(result -> say("done " + line.word(0) + " " + result));
    return Result.OK;
  }

  private static Result perform(Line line) throws InterruptedException {
    switch (line.word(1)) {
      case "new":
        return create(line);
      case "call":
        MortiseClient client = CLIENTS.get(line.word(2));
        if (client != null) return callClient(client, line.word(3));
        return HANDLES.get(line.word(2)).call(line.word(3), line);
      case "start":
        return start(line);
      case "pump":
        Thread.sleep(line.number("timeout_ms", 0));
        return Result.OK;
      default:
        throw new IllegalArgumentException(line.word(1));
    }
  }

  public static void main(String[] arguments) throws IOException, InterruptedException {
    var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String text = lines.readLine(); text != null; text = lines.readLine()) {
      Line line = Line.parse(text);
      Result result;
      try {
        result = perform(line);
      } catch (RuntimeException failure) {
        result = Result.of(failure);
      }
      say(line.word(0) + " " + result);
    }
  }
}
