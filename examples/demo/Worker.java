import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import org.mortise.Lease;
import org.mortise.MortiseClient;
import org.mortise.MortiseException;
import org.mortise.MortiseOptions;
import org.mortise.Mutex;
import org.mortise.Status;

/** The demo's worker in Java: worker.c has the contract, and the same order of reading. */
final class Worker implements AutoCloseable {
  private static final int LINE_SIZE = 160;
  private static final PrintStream OUTPUT =
      new PrintStream(new FileOutputStream(FileDescriptor.out), true);

  private final Path folder;
  private final long pauseMillis;
  private final boolean isSafe;
  private final long process = ProcessHandle.current().pid();
  private final Random random = new Random(process);
  private MortiseClient client;
  private Mutex lock;
  private long endMillis;
  private long count;

  private Worker(String[] arguments) {
    folder = Path.of(arguments[2]);
    pauseMillis = Long.parseLong(arguments[5]);
    isSafe = !arguments[6].equals("unsafe");
  }

  private static long nowMillis() {
    return System.nanoTime() / 1_000_000;
  }

  private static void tell(String format, Object... values) {
    OUTPUT.print(String.format(format, values) + "\n");
    OUTPUT.flush();
  }

  /** From half of the average to one and a half. */
  private void takeAPause() throws InterruptedException {
    long micros = pauseMillis * (500 + random.nextInt(1000));
    Thread.sleep(micros / 1000, (int) (micros % 1000) * 1000);
  }

  // ---- the store: see store.h ----------------------------------------------------------------

  private record Value(long number, long token) {
    static Value of(String line) {
      String[] words = line.trim().split(" +");
      return new Value(Long.parseLong(words[0]), Long.parseLong(words[1]));
    }

    String line() {
      return String.format("%20d %20d%n", number, token);
    }
  }

  private Value read() throws IOException {
    return Value.of(Files.readString(folder.resolve("number"), US_ASCII));
  }

  private static Value read(FileChannel file) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(LINE_SIZE);
    file.read(bytes, 0);
    return Value.of(new String(bytes.array(), 0, bytes.position(), US_ASCII));
  }

  private void append(String format, Object... values) throws IOException {
    Files.writeString(
        folder.resolve("writes"),
        String.format(format, values) + "\n",
        US_ASCII,
        StandardOpenOption.WRITE,
        StandardOpenOption.APPEND);
  }

  /** What stood there; the value was refused when that had a higher token. */
  private Value write(Value value) throws IOException {
    try (FileChannel file =
            FileChannel.open(
                folder.resolve("number"), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      // Until the file is closed.
      file.lock();
      Value present = read(file);
      if (isRefused(value, present)) {
        append("refused %d %d %d %d", process, value.number, value.token, present.token);
      } else {
        append("wrote %d %d %d", process, value.number, value.token);
        file.write(ByteBuffer.wrap(value.line().getBytes(US_ASCII)), 0);
      }
      return present;
    }
  }

  private boolean isRefused(Value value, Value present) {
    return isSafe && value.token < present.token;
  }

  // ---- the work ------------------------------------------------------------------------------

  private void openLock(String url, String name, long leaseMillis) {
    client =
        MortiseClient.builder(url)
            .options(MortiseOptions.DEFAULTS.withLease(Duration.ofMillis(leaseMillis)))
            .open();
    lock = client.mutex(name);
  }

  private void increment(long token) throws IOException, InterruptedException {
    tell("held %d", token);
    long number = read().number + 1;
    takeAPause();
    Value value = new Value(number, token);
    Value present = write(value);
    if (isRefused(value, present)) {
      tell("refused %d %d %d", number, token, present.token);
    } else {
      count += 1;
      tell("wrote %d %d", number, token);
    }
  }

  private Optional<Lease> acquire(long leftMillis) throws InterruptedException {
    try {
      return lock.tryAcquire(Duration.ofMillis(leftMillis));
    } catch (MortiseException failure) {
      // The time was up between the request and its reply: the library releases the lock.
      if (failure.status() == Status.UNKNOWN && nowMillis() >= endMillis) return Optional.empty();
      throw failure;
    }
  }

  /** One turn: false when the time is up. */
  private boolean takeTurn() throws IOException, InterruptedException {
    long leftMillis = endMillis - nowMillis();
    if (leftMillis <= 0) return false;
    if (!isSafe) {
      increment(0);
      return true;
    }

    Optional<Lease> acquired = acquire(leftMillis);
    if (acquired.isEmpty()) return false;
    Lease lease = acquired.get();
    increment(lease.token());
    tell("%s %d", lease.release() ? "free" : "lost", lease.token());
    return true;
  }

  private void work(String[] arguments) throws IOException, InterruptedException {
    if (isSafe) openLock(arguments[0], arguments[1], Long.parseLong(arguments[4]));
    tell("ready");
    System.in.readAllBytes();
    endMillis = nowMillis() + Long.parseLong(arguments[3]);
    while (takeTurn()) {}
    tell("done %d", count);
  }

  @Override
  public void close() {
    if (client != null) client.close();
  }

  public static void main(String[] arguments) {
    if (arguments.length != 7) {
      System.err.println("usage: Worker URL LOCK FOLDER RUN_MS LEASE_MS PAUSE_MS safe|unsafe");
      System.exit(2);
    }
    try (Worker worker = new Worker(arguments)) {
      worker.work(arguments);
    } catch (IOException | InterruptedException | RuntimeException failure) {
      tell("failed %s", failure.toString().lines().findFirst().orElse(""));
      System.exit(1);
    }
  }
}
