import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.mortise.Lease;
import org.mortise.MortiseClient;
import org.mortise.MortiseLock;
import org.mortise.MortiseOptions;
import org.mortise.Mutex;

/**
 * The Java competitor of the benchmark: executes each line, and answers by a line of numbers. The
 * arguments are the server's URL and the name of a lock.
 */
class JavaCompetitor {
  private static final MortiseOptions STRICT = MortiseOptions.DEFAULTS.withStrictFairness(true);
  private static final Method START_VIRTUAL_THREAD = findStartVirtualThread();

  private final MortiseClient client;
  private final String name;
  private final MortiseLock lock;
  private final MortiseLock strictLock;
  private List<CompletableFuture<?>> crowd = List.of();
  private List<String> grants = List.of();

  private JavaCompetitor(MortiseClient client, String name) {
    this.client = client;
    this.name = name;
    lock = client.lock(name);
    strictLock = client.lock(name, STRICT);
  }

  public static void main(String[] arguments) throws Exception {
    try (var client = MortiseClient.open(arguments[0]);
        var requests = new BufferedReader(new InputStreamReader(System.in))) {
      var competitor = new JavaCompetitor(client, arguments[1]);
      for (String line = requests.readLine(); line != null; line = requests.readLine()) {
        String[] words = line.split(" ");
        System.out.println(
            competitor.answer(words[0], words.length > 1 ? Integer.parseInt(words[1]) : 0));
      }
    }
  }

  private static Method findStartVirtualThread() {
    try {
      return Thread.class.getMethod("startVirtualThread", Runnable.class);
    } catch (NoSuchMethodException older) {
      return null;
    }
  }

  private String answer(String what, int count) throws Exception {
    switch (what) {
      case "pairs" -> pairs(count);
      case "fresh" -> fresh(count);
      case "contend" -> contend(count);
      case "readings" -> read(count);
      case "gate" -> {
        lock.lock();
        crowd = new ArrayList<>();
        grants = new ArrayList<>();
      }
      case "join" -> join(crowd.size());
      case "serve" -> {
        lock.unlock();
        for (CompletableFuture<?> one : crowd) one.get();
        crowd = List.of();
        return String.join(" ", grants);
      }
      case "cycle" -> cycle(count);
      case "memory" -> {
        return String.valueOf(heapBytes());
      }
      default -> throw new IllegalArgumentException(what);
    }
    return "0";
  }

  /** Locks and unlocks so often. */
  private void pairs(int count) {
    for (int i = 0; i < count; i++) {
      lock.lock();
      lock.unlock();
    }
  }

  /** The same, each with a lock object of its own. */
  private void fresh(int count) {
    for (int i = 0; i < count; i++) {
      MortiseLock own = client.lock(name);
      own.lock();
      own.unlock();
    }
  }

  /** Eight threads, each first come, first served, have the lock so often in all. */
  private void contend(int count) throws Exception {
    int threads = 8;
    var ends = new ArrayList<CompletableFuture<Void>>();
    for (int i = 0; i < threads; i++) {
      var end = new CompletableFuture<Void>();
      ends.add(end);
      new Thread(
              () -> {
                try {
                  for (int k = 0; k < count / threads; k++) {
                    strictLock.lock();
                    strictLock.unlock();
                  }
                  end.complete(null);
                } catch (Throwable thrown) {
                  end.completeExceptionally(thrown);
                }
              })
          .start();
    }
    for (CompletableFuture<Void> end : ends) end.get();
  }

  /** Asks an owner so often whether it holds. */
  private void read(int count) throws InterruptedException {
    try (var owner = client.mutex(name);
        Lease lease = owner.acquire()) {
      for (int i = 0; i < count; i++) {
        if (!owner.isHeld()) throw new AssertionError(lease + " was lost");
      }
    }
  }

  /** Pairs, each hundred by an owner of its own. */
  private void cycle(int count) throws InterruptedException {
    for (int i = 0; i < count; i += 100) {
      try (var owner = client.mutex(name)) {
        for (int k = 0; k < 100; k++) {
          if (!owner.acquire().release()) throw new AssertionError("the hold was lost");
        }
      }
    }
  }

  /** One more waits: a virtual thread, or, where there is none, a future. */
  private void join(int number) throws ReflectiveOperationException {
    if (START_VIRTUAL_THREAD == null) {
      crowd.add(waitAsFuture(number));
      return;
    }
    var end = new CompletableFuture<Void>();
    crowd.add(end);
    START_VIRTUAL_THREAD.invoke(null, (Runnable) () -> {
      try {
        strictLock.lock();
        granted(number, strictLock.token());
        strictLock.unlock();
        end.complete(null);
      } catch (Throwable thrown) {
        end.completeExceptionally(thrown);
      }
    });
  }

  private CompletableFuture<?> waitAsFuture(int number) {
    Mutex owner = client.mutex(name, STRICT);
    return owner
        .acquireAsync()
        .thenCompose(
            lease -> {
              granted(number, lease.token());
              return lease.releaseAsync();
            })
        .thenRun(owner::close);
  }

  private synchronized void granted(int number, long token) {
    grants.add(number + " " + token);
  }

  /** The used part of the heap, all of which is resident from the start. */
  private static long heapBytes() {
    System.gc();
    var runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }
}
