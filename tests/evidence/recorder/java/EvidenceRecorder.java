import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.mortise.Acquirable;
import org.mortise.Lease;
import org.mortise.MortiseClient;
import org.mortise.MortiseException;
import org.mortise.Mutex;
import org.mortise.ReadWriteMutex;
import org.mortise.Semaphore;
import org.mortise.Status;

/**
 * Uses locks by way of the Java binding, as recorder.c does by way of the C ABI, until a signal
 * ends the process: URL PROCESS CLIENTS NAMES SEED FOLDER. It writes to no register.
 */
final class EvidenceRecorder {
  private static final int CAPACITY = 3;
  /** From the clock of Java to that of all processes, which also counts suspends. */
  private static final long OFFSET_NS = Long.getLong("offset");

  private final String[] arguments;
  private final OutputStream history;

  private EvidenceRecorder(String[] arguments) throws IOException {
    this.arguments = arguments;
    history = new FileOutputStream(arguments[5] + "/" + arguments[1] + ".jsonl", true);
  }

  private static long now() {
    return System.nanoTime() + OFFSET_NS;
  }

  /** The handle of one client for one name. Its holds are numbered here. */
  private static final class Owner {
    final String kind;
    final String name;
    final int number;
    Acquirable reader;
    Acquirable writer;
    Semaphore semaphore;
    boolean isWriter = true;
    long permits;
    Lease lease;
    long holds;

    Owner(MortiseClient client, String name, int number) {
      this.name = name;
      this.number = number;
      kind = name.replaceAll("[0-9]*$", "");
      if (kind.equals("rw")) {
        ReadWriteMutex lock = client.readWriteMutex(name);
        reader = lock.readLock();
        writer = lock.writeLock();
      } else if (kind.equals("semaphore")) {
        semaphore = client.semaphore(name, CAPACITY);
      } else {
        Mutex lock = client.mutex(name);
        writer = lock;
      }
    }

    Acquirable chosen(Random chance) {
      isWriter = reader == null || chance.nextInt(3) == 0;
      permits = 1 + chance.nextInt(CAPACITY);
      if (semaphore != null) return semaphore.permits(permits);
      return isWriter ? writer : reader;
    }
  }

  private final class User implements Runnable {
    private final int number;
    private final Random chance;
    private final List<Owner> owners = new ArrayList<>();

    User(int number) {
      this.number = number;
      chance = new Random(Long.parseLong(arguments[4]) * 64 + number);
    }

    /** Adds the line of a call that has returned. */
    private void write(Owner owner, String op, long call, String more) {
      long end = now();
      long token = 0;
      long leaseEnd = 0;
      if (owner.lease != null) {
        token = owner.lease.token();
        // Not later than the end itself, because the time was taken before.
        long before = now();
        long valid = owner.lease.validFor().toNanos();
        if (valid > 0) leaseEnd = before + valid;
      }
      StringBuilder line = new StringBuilder(400);
      line.append(
          String.format(
              "{\"process\":%s,\"client\":%d,\"owner\":%d,\"kind\":\"%s\",\"name\":\"%s\"",
              arguments[1], number, owner.number, owner.kind, owner.name));
      line.append(
          String.format(
              ",\"op\":\"%s\",\"call_ns\":%d,\"return_ns\":%d,\"token\":%d,\"hold\":%d",
              op, call, end, token, owner.holds));
      line.append(",\"lease_end_ns\":").append(leaseEnd);
      if (owner.reader != null) {
        line.append(",\"mode\":\"").append(owner.isWriter ? "write" : "read").append('"');
      }
      if (owner.semaphore != null) {
        line.append(
            String.format(",\"permits\":%d,\"capacity\":%d", owner.permits, CAPACITY));
      }
      line.append(more).append("}\n");
      try {
        // One write for each line, because the process may be killed at any time.
        history.write(line.toString().getBytes(StandardCharsets.US_ASCII));
      } catch (IOException problem) {
        throw new IllegalStateException(problem);
      }
    }

    private void finish(Owner owner, String op, long call, String status) {
      write(owner, op, call, ",\"status\":\"" + status + '"');
    }

    private String statusOf(MortiseException problem) {
      return problem.status().name().toLowerCase();
    }

    private void work(Owner owner) throws InterruptedException {
      for (int round = chance.nextInt(4); round >= 0; --round) {
        long call = now();
        boolean isHeld = owner.lease.isHeld();
        write(owner, "is_held", call, ",\"held\":" + isHeld);
        if (!isHeld) return;
        if (chance.nextInt(4) == 0) Thread.sleep(0, chance.nextInt(999_999));
        if (chance.nextInt(12) == 0) extend(owner);
      }
    }

    private void extend(Owner owner) {
      long call = now();
      String status = "ok";
      try {
        owner.lease.extend(Duration.ofMillis(500));
      } catch (MortiseException problem) {
        status = statusOf(problem);
      }
      finish(owner, "extend", call, status);
    }

    private void use(Owner owner) throws InterruptedException {
      Acquirable chosen = owner.chosen(chance);
      boolean isTry = chance.nextInt(5) == 0;
      long call = now();
      String status = isTry ? "not_acquired" : "timed_out";
      try {
        Optional<Lease> granted =
            isTry
                ? chosen.tryAcquire()
                : chosen.tryAcquire(Duration.ofMillis(1 + chance.nextInt(2000)));
        if (granted.isPresent()) {
          owner.lease = granted.get();
          ++owner.holds;
          status = "ok";
        }
      } catch (MortiseException problem) {
        status = statusOf(problem);
      }
      finish(owner, isTry ? "try" : "acquire", call, status);
      if (owner.lease == null) return;
      work(owner);
      unlock(owner);
    }

    private void unlock(Owner owner) {
      long call = now();
      String status;
      try {
        status = owner.lease.release() ? "ok" : "lost";
      } catch (MortiseException problem) {
        status = statusOf(problem);
      }
      finish(owner, "unlock", call, status);
      owner.lease = null;
    }

    private MortiseClient open() throws InterruptedException {
      while (true) {
        try {
          return MortiseClient.open(arguments[0]);
        } catch (MortiseException problem) {
          if (problem.status() == Status.INVALID_ARGUMENT) throw problem;
          // A server that restarts refuses connections for a while.
          Thread.sleep(20);
        }
      }
    }

    @Override
    public void run() {
      try {
        MortiseClient client = open();
        for (String name : arguments[3].split(",")) {
          owners.add(new Owner(client, name, owners.size()));
        }
        while (true) use(owners.get(chance.nextInt(owners.size())));
      } catch (InterruptedException end) {
        Thread.currentThread().interrupt();
      }
    }
  }

  public static void main(String[] arguments) throws IOException {
    if (arguments.length != 6) {
      System.err.println("usage: EvidenceRecorder URL PROCESS CLIENTS NAMES SEED FOLDER");
      System.exit(2);
    }
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, problem) -> {
          problem.printStackTrace();
          Runtime.getRuntime().halt(1);
        });
    EvidenceRecorder recorder = new EvidenceRecorder(arguments);
    for (int i = 0; i < Integer.parseInt(arguments[2]); ++i) {
      new Thread(recorder.new User(i)).start();
    }
  }
}
