import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.mortise.History;
import org.mortise.Listing;
import org.mortise.Health;
import org.mortise.LogLevel;
import org.mortise.MortiseClient;
import org.mortise.MortiseOptions;
import org.mortise.Multi;
import org.mortise.Mutex;
import org.mortise.Owner;
import org.mortise.ReadWriteMutex;
import org.mortise.Semaphore;
import org.mortise.Stats;
import org.mortise.Status;

/** The driver in Java: executes the runner's commands, one a line. README.md has the lines. */
final class Driver {
  private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);
  private static final Map<String, MortiseClient> CLIENTS = new HashMap<>();
  private static final Map<String, Handle> HANDLES = new HashMap<>();
  private static final Map<String, NamedLease> LEASES = new HashMap<>();
  // All that is to be closed, also what has lost its name to another.
  private static final Deque<AutoCloseable> MADE = new ArrayDeque<>();
  private static int run; // how many resets there were

  private Driver() {}

  static synchronized void report(String line) {
    OUT.println(line);
  }

  static synchronized int run() {
    return run;
  }

  /** Prints a notice of an object that was made in this run. After a reset there is none. */
  static synchronized void notify(int madeIn, String line) {
    if (madeIn == run) OUT.println("notice " + line);
  }

  private static synchronized void endRun() {
    ++run;
    Reports.forget();
  }

  // ---- new -------------------------------------------------------------------------------------

  private static void makeMembers(Multi multi, String members) {
    for (String member : members.split(",")) {
      String[] parts = member.split(":");
      Owner owner = HANDLES.get(parts[0]).owner;
      if (owner instanceof Mutex mutex) {
        multi.add(mutex);
      } else if (owner instanceof Semaphore semaphore) {
        multi.add(semaphore.permits(Long.parseLong(parts[1])));
      } else if (parts[1].equals("read")) {
        multi.add(((ReadWriteMutex) owner).readLock());
      } else {
        multi.add(((ReadWriteMutex) owner).writeLock());
      }
    }
  }

  private static MortiseClient open(Line line) {
    String url = line.given().get("url");
    MortiseClient.Builder builder =
        url == null ? MortiseClient.builder() : MortiseClient.builder(url);
    MortiseOptions options = line.options();
    if (options != null) builder.options(options);
    if (line.given().containsKey("listens")) {
      builder.lockListener(Reports.of(line.word(3)));
    }
    return builder.open();
  }

  private static Owner make(Line line) {
    MortiseClient client = CLIENTS.get(line.given().get("client"));
    if (line.word(2).equals("multi")) {
      Multi multi = client.multi();
      makeMembers(multi, line.given().get("members"));
      return multi;
    }
    String name = line.given().get("name");
    return switch (line.word(2)) {
      case "lock" -> client.mutex(name, line.options());
      case "rw" -> client.readWriteMutex(name, line.options());
      case "election" -> client.election(name, line.options());
      case "semaphore" -> client.semaphore(name, line.number("permits", 1), line.options());
      default -> throw new IllegalArgumentException(line.word(2));
    };
  }

  private static Result create(Line line) {
    String name = line.word(3);
    if (line.word(2).equals("client")) {
      MortiseClient client = open(line);
      MADE.push(client);
      CLIENTS.put(name, client);
    } else {
      Owner owner = make(line);
      MADE.push(owner);
      HANDLES.put(name, new Handle(name, owner));
    }
    return Result.OK;
  }

  // ---- reports
  // -------------------------------------------------------------------------------------

  /** What was found when the server was checked: of all, as JSON, or of one matter. */
  private static Result fieldOf(Health found, String of) {
    if (of == null) return Result.number(found.worst().code());
    if (of.equals("json")) return Result.with(found.findings().size(), found.json());
    for (Health.Finding one : found.findings()) {
      if (!one.name().equals(of)) continue;
      String severity = one.severity().name().toLowerCase(Locale.ROOT);
      return Result.with(
          one.severity().code(),
          String.join(
              "\n", severity, one.server(), one.value(), one.consequence(), one.remedy()));
    }
    return Result.OK;
  }

  /** What the client has counted: how much, as JSON, or one sample by its name and labels. */
  private static Result fieldOf(Stats counted, String of) {
    if (of == null) return Result.with(counted.samples().size(), counted.json());
    for (Stats.Sample one : counted.samples()) {
      var text = new StringBuilder(one.name());
      one.labels().forEach((label, value) -> text.append(" " + label + "=" + value));
      if (text.toString().equals(of)) return Result.with((long) one.value(), one.type());
    }
    return Result.OK;
  }

  /** The answers of all clients: how many, as JSON, or one field of all entries. */
  private static Result fieldOf(Listing taken, String of) {
    if (of == null) return Result.with(taken.answered(), taken.json());
    if (of.equals("unheard")) return Result.number(taken.silent() + taken.truncated());
    long sum = 0;
    var texts = new StringBuilder();
    for (Listing.Entry one : taken.entries()) {
      Object field = fieldOf(one, of);
      if (field instanceof Long number) sum += number;
      if (field instanceof Duration span) sum += span.toMillis();
      if (field instanceof String text) texts.append(text).append("\n");
    }
    return Result.with(sum, texts.toString());
  }

  private static Result fieldOf(History taken, String of) {
    if (of == null) return Result.with(taken.answered(), taken.json());
    if (of.equals("unheard")) return Result.number(taken.silent() + taken.truncated());
    long sum = 0;
    var texts = new StringBuilder();
    for (History.Event one : taken.events()) {
      Object field = fieldOf(one, of);
      if (field instanceof Long number) sum += number;
      if (field instanceof String text) texts.append(text).append("\n");
    }
    return Result.with(sum, texts.toString());
  }

  private static Object fieldOf(History.Event one, String key) {
    return switch (key) {
      case "client" -> one.client();
      case "host" -> one.host();
      case "pid" -> one.pid();
      case "label" -> one.label();
      case "event" -> one.event();
      case "mode" -> one.mode();
      case "handle" -> one.handle();
      case "token" -> one.token();
      case "permits" -> one.permits();
      case "place" -> one.place();
      case "why" -> one.why();
      case "time_us" -> ChronoUnit.MICROS.between(Instant.EPOCH, one.time());
      case "error_us" -> one.error().dividedBy(ChronoUnit.MICROS.getDuration());
      case "lasted_us" -> one.lasted().dividedBy(ChronoUnit.MICROS.getDuration());
      default -> throw new IllegalArgumentException(key);
    };
  }

  private static Object fieldOf(Listing.Entry one, String key) {
    return switch (key) {
      case "client" -> one.client();
      case "host" -> one.host();
      case "pid" -> one.pid();
      case "label" -> one.label();
      case "value" -> one.value();
      case "name" -> one.name();
      case "kind" -> one.kind();
      case "mode" -> one.mode();
      case "holds" -> one.holds();
      case "token" -> one.token();
      case "held_ms" -> one.held();
      case "time_left_ms" -> one.timeLeft();
      case "permits" -> one.permits();
      case "waiters" -> one.waiters();
      case "waited_ms" -> one.waited();
      case "grants" -> one.grants();
      case "contended" -> one.contended();
      case "waited_total_ms" -> one.waitedTotal();
      case "waits" -> one.waits();
      case "retained" -> one.retained();
      case "threads" -> one.threads();
      case "source" -> one.source();
      default -> throw new IllegalArgumentException(key);
    };
  }

  private static Result callClient(MortiseClient client, String method, Line line) {
    switch (method) {
      case "check_health":
        return fieldOf(client.checkHealth(), line.given().get("of"));
      case "last_health":
        return fieldOf(client.lastHealth(), line.given().get("of"));
      case "list_locks":
        Duration patience = Duration.ofMillis(line.number("timeout_ms", 0));
        return fieldOf(client.listLocks(patience), line.given().get("of"));
      case "scan_locks":
        String pattern = line.given().getOrDefault("pattern", "");
        Duration scanning = Duration.ofMillis(line.number("timeout_ms", 0));
        return fieldOf(
            client.scanLocks(pattern, line.number("most_keys", 1000), scanning),
            line.given().get("of"));
      case "list_history":
        Duration window = Duration.ofMillis(line.number("window_ms", 60_000));
        return fieldOf(
            client.listHistory(
                line.given().get("lock"),
                window,
                Duration.ofMillis(line.number("timeout_ms", 0))),
            line.given().get("of"));
      case "stats":
        return fieldOf(client.stats(), line.given().get("of"));
      default:
        return callPlain(client, method, line);
    }
  }

  private static Result callPlain(MortiseClient client, String method, Line line) {
    switch (method) {
      case "set_credentials" ->
          client.setCredentials(
              line.given().get("user"), line.given().get("password").toCharArray());
      case "watch_log" -> watchLog(client, line);
      case "watch_stats" -> watchStats(client, line);
      case "watch_locks" -> Reports.of(line.word(2)).turn(line.number("is_on", 1) == 1);
      case "ping" -> client.ping();
      case "free" -> client.close();
      default -> throw new IllegalArgumentException(method);
    }
    return Result.OK;
  }

  private static void watchLog(MortiseClient client, Line line) {
    String on = line.word(2);
    int level = (int) line.number("level", 0);
    if (level == 0) {
      client.unwatchLog();
      return;
    }
    LogLevel least =
        Arrays.stream(LogLevel.values()).filter(one -> one.code() == level).findAny().orElseThrow();
    int madeIn = run();
    client.watchLog(
        least,
        record ->
            notify(
                madeIn,
                (on + " " + record.subject().name().toLowerCase(Locale.ROOT))
                    + (" value=" + record.level().code() + " reason=" + record.reason().code())
                    + (" text=" + Result.encode(record.text()))));
  }

  private static void watchStats(MortiseClient client, Line line) {
    String on = line.word(2);
    long intervalMs = line.number("interval_ms", 0);
    if (intervalMs == 0) {
      client.unwatchStats();
      return;
    }
    int madeIn = run();
    client.watchStats(
        Duration.ofMillis(intervalMs),
        counted -> notify(madeIn, on + " stats value=" + counted.samples().size()));
  }

  private static Result call(Line line) throws InterruptedException {
    String on = line.word(2);
    if (CLIENTS.containsKey(on)) return callClient(CLIENTS.get(on), line.word(3), line);
    if (LEASES.containsKey(on)) return LEASES.get(on).call(line.word(3), line);
    Handle handle = HANDLES.get(on);
    Result result = handle.call(line.word(3), line);
    String gives = line.given().get("gives");
    if (gives != null && result.status() == Status.OK) {
      String mode = Handle.Method.of(line.word(3)).mode();
      LEASES.put(gives, new NamedLease(handle.newest(mode), handle, mode));
    }
    return result;
  }

  private static Result start(Line line) {
    HANDLES
        .get(line.word(2))
        .start(line.word(3), line)
        .exceptionally(Result::of)
        .thenAccept(result -> report("done " + line.word(0) + " " + result));
    return Result.OK;
  }

  /** Frees everything, so that the next run finds a driver as if it had just started. */
  private static void reset() {
    endRun();
    while (!MADE.isEmpty()) {
      try {
        MADE.pop().close();
      } catch (RuntimeException failure) {
        throw failure;
      } catch (Exception failure) {
        throw new IllegalStateException(failure);
      }
    }
    CLIENTS.clear();
    HANDLES.clear();
    LEASES.clear();
  }

  private static Result perform(Line line) throws InterruptedException {
    switch (line.word(1)) {
      case "new":
        return create(line);
      case "call":
        return call(line);
      case "start":
        return start(line);
      case "reset":
        reset();
        return Result.OK;
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
      report(line.word(0) + " " + result);
    }
  }
}
