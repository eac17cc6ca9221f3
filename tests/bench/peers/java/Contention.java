import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/** What the competitors in Java have in common; the contract is in competitor.c. */
class Contention {
  /** A lock that the thread which calls acquires and releases. */
  interface Owner {
    void acquire() throws Exception;

    void release() throws Exception;

    /** Whether the calling thread holds the lock, as far as the library reports a loss. */
    default boolean isHeld() {
      return true;
    }
  }

  /** Opens locks by their names. */
  interface Opener {
    Owner open(String name);
  }

  private static final FileOutputStream OUTPUT = new FileOutputStream(FileDescriptor.out);

  private final Owner lock;
  private final long sectionUs;
  private final FileChannel check;
  private final long endNs;
  // Guarded by this, as all that follows.
  private final long[] counts;
  private final long[] sinceNs;
  private long[] waitsUs = new long[1024];
  private int waitCount;
  private long handoffs;
  private long overlaps;
  private long errors;
  private String error = "";

  private Contention(Owner lock, String[] arguments) throws IOException {
    this.lock = lock;
    int waiters = Integer.parseInt(arguments[3]);
    sectionUs = Long.parseLong(arguments[4]);
    endNs = System.nanoTime() + (long) (Double.parseDouble(arguments[5]) * 1e9);
    check =
        arguments[6].equals("-")
            ? null
            : FileChannel.open(
                Path.of(arguments[6]), StandardOpenOption.READ, StandardOpenOption.WRITE);
    counts = new long[waiters];
    sinceNs = new long[waiters];
  }

  static void main(String[] arguments, Opener opener) throws Exception {
    Owner lock = opener.open(arguments[2]);
    warmUp(opener.open("warm-up-" + ProcessHandle.current().pid()));
    report("ready");
    while (System.in.read() > '\n') {}
    if (arguments[0].equals("contend")) {
      new Contention(lock, arguments).run();
      while (System.in.read() >= 0) {}
      Runtime.getRuntime().halt(0);
    }
    if (arguments[0].equals("work")) {
      new Contention(lock, arguments).startWork();
      Thread.sleep(Long.MAX_VALUE);
    }
    if (arguments[0].equals("many")) {
      for (int i = 0; i < Integer.parseInt(arguments[3]); i++) {
        opener.open(arguments[2] + "-" + i).acquire();
      }
    } else {
      lock.acquire();
    }
    report(arguments[0].equals("take") ? "taken" : "held");
    Thread.sleep(Long.MAX_VALUE);
  }

  private static void report(String line) {
    System.out.println(line);
    System.out.flush();
  }

  private static void warmUp(Owner lock) throws Exception {
    long warmUpNs = Long.parseLong(System.getenv().getOrDefault("WARM_UP_S", "1")) * 1_000_000_000;
    for (long end = System.nanoTime() + warmUpNs; System.nanoTime() < end; ) {
      lock.acquire();
      lock.release();
    }
  }

  private void start(IntConsumer task) {
    for (int i = 0; i < counts.length; i++) {
      int number = i;
      var thread = new Thread(() -> task.accept(number));
      thread.setDaemon(true);
      thread.start();
    }
  }

  private void startWork() {
    start(number -> {
      long id = (ProcessHandle.current().pid() << 16) + number + 1;
      for (; ; ) {
        try {
          work(id);
        } catch (Exception problem) {
          write("failed " + id + " " + problem);
        }
      }
    });
  }

  private void work(long id) throws Exception {
    try {
      lock.acquire();
    } catch (Exception problem) {
      Thread.sleep(10);
      throw problem;
    }
    write("enter " + id);
    long end = System.nanoTime() + sectionUs * 1000;
    while (System.nanoTime() < end && lock.isHeld()) {
      Thread.sleep(5);
    }
    write("leave " + id);
    lock.release();
  }

  /** One write, so that lines of several processes in one pipe are in their true order. */
  private static void write(String line) {
    try {
      OUTPUT.write((line.replace('\n', ' ') + "\n").getBytes(StandardCharsets.UTF_8));
    } catch (IOException problem) {
      Runtime.getRuntime().halt(1);
    }
  }

  private void run() throws InterruptedException {
    start(this::contend);
    Thread.sleep(Math.max(0, (endNs - System.nanoTime()) / 1_000_000 + 1));
    report(results());
  }

  private void contend(int number) {
    long id = (ProcessHandle.current().pid() << 16) + number + 1;
    for (; ; ) {
      long startNs = System.nanoTime();
      if (startNs >= endNs) return;
      setSince(number, startNs);
      try {
        lock.acquire();
        long gotNs = System.nanoTime();
        long[] found = enter(id);
        if (sectionUs > 0) Thread.sleep(sectionUs / 1000, (int) (sectionUs % 1000) * 1000);
        if (leave(id)) found[0] = 1;
        record(number, startNs, gotNs, found);
        lock.release();
      } catch (Exception problem) {
        countError(problem);
      }
    }
  }

  private synchronized void setSince(int number, long ns) {
    sinceNs[number] = ns;
  }

  private synchronized void countError(Exception problem) {
    if (System.nanoTime() < endNs && errors++ == 0) error = problem.toString();
  }

  private synchronized void record(int number, long startNs, long gotNs, long[] found) {
    sinceNs[number] = 0;
    if (gotNs >= endNs) return;
    counts[number]++;
    if (waitCount == waitsUs.length) waitsUs = Arrays.copyOf(waitsUs, 2 * waitCount);
    waitsUs[waitCount++] = (gotNs - startNs) / 1000;
    overlaps += found[0];
    handoffs += found[1];
  }

  private static ByteBuffer numbers(int count) {
    return ByteBuffer.allocateDirect(8 * count).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Whether another waiter is inside, and whether another was last, as 0 and 1. */
  private long[] enter(long id) throws IOException {
    var found = new long[2];
    if (check == null) return found;
    ByteBuffer content = numbers(2);
    check.read(content, 0);
    found[0] = content.getLong(0) != 0 ? 1 : 0;
    found[1] = content.getLong(8) != id ? 1 : 0;
    content.clear();
    content.putLong(0, id).putLong(8, id);
    check.write(content, 0);
    return found;
  }

  private boolean leave(long id) throws IOException {
    if (check == null) return false;
    ByteBuffer content = numbers(1);
    check.read(content, 0);
    boolean isOther = content.getLong(0) != id;
    content.clear();
    content.putLong(0, 0);
    check.write(content, 0);
    return isOther;
  }

  private static String list(LongStream values) {
    return values.mapToObj(Long::toString).collect(Collectors.joining(",", "[", "]"));
  }

  private synchronized String results() {
    var unfinished =
        Arrays.stream(sinceNs).filter(ns -> ns != 0 && ns < endNs).map(ns -> (endNs - ns) / 1000);
    return "{\"counts\":" + list(Arrays.stream(counts))
        + ",\"waits_us\":" + list(Arrays.stream(waitsUs, 0, waitCount))
        + ",\"unfinished_us\":" + list(unfinished)
        + ",\"handoffs\":" + handoffs + ",\"overlaps\":" + overlaps + ",\"errors\":" + errors
        + ",\"error\":\"" + error.replaceAll("[^ -!#-\\[\\]-~]", "'") + "\"}";
  }
}
