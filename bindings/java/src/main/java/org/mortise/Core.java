package org.mortise;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.LongToIntFunction;
import java.util.function.LongUnaryOperator;

/**
 * What a client is made of: the native client, its completion queue, and the one thread that reads
 * the queue. The thread keeps this object alive, so it must not know the {@link MortiseClient}.
 */
final class Core {
  /** A native call that ends in one event on the queue. */
  interface Submission {
    int submit(long queue, long tag);
  }

  private static final String CLIENT = "the client";
  private static final int BATCH = 256;
  private static final int FIELDS = 10;

  private final NativeHandle client;
  private final long queueAddress;
  /** To be entered around each use, except by the dispatcher. */
  private final NativeHandle queue;
  private final Executor callbacks;
  private final Thread dispatcher;
  private final AtomicLong tags = new AtomicLong();
  /** By tag. Whoever is told keeps alive what it needs for that, such as the owner that waits. */
  private final Map<Long, CompletableFuture<Event>> waiting = new ConcurrentHashMap<>();
  private final Map<Long, Watch> watches = new ConcurrentHashMap<>();
  private final Map<Long, Report<Optional<Leader>>> observations = new ConcurrentHashMap<>();
  /** Of all owners, by the address. */
  private final Map<Long, NativeHandle> owners = new ConcurrentHashMap<>();
  /** Of owners with holds that a {@link LockListener} follows. */
  private final Set<HoldReports> openReports = ConcurrentHashMap.newKeySet();
  private final CompletableFuture<Void> ended = new CompletableFuture<>();

  /**
   * Opens the native client.
   *
   * @param callbacks the user's, or null for threads of the client's own
   */
  Core(byte[] url, MortiseOptions options, Executor callbacks, long queueCapacity) {
    String name = options.clientName(url);
    this.callbacks = callbacks == null ? CallbackThreads.executor(name) : callbacks;
    // It waits for the server.
    long address =
        Threads.block(() -> options.use(settings -> MortiseNative.client_new(url, settings)));
    try {
      queueAddress = MortiseNative.queue_new(address, queueCapacity);
    } catch (RuntimeException | Error failure) {
      MortiseNative.client_free(address);
      throw failure;
    }
    queue = new NativeHandle(queueAddress, CLIENT, MortiseNative::queue_free);
    client =
        new NativeHandle(
            address, () -> MortiseException.closed(CLIENT), this::end, used -> endInUse());
    dispatcher = Threads.daemon(this::dispatch, "mortise-dispatcher", name);
    try {
      dispatcher.start();
    } catch (Error noThread) {
      MortiseNative.queue_free(queueAddress);
      MortiseNative.client_free(address);
      throw noThread;
    }
  }

  /** The native client; to be entered around each use. */
  NativeHandle client() {
    return client;
  }

  /** Those that the close of the client closes. */
  Map<Long, NativeHandle> owners() {
    return owners;
  }

  Set<HoldReports> openReports() {
    return openReports;
  }

  /** A call on the native client that can wait for a server. */
  long call(LongUnaryOperator call) {
    return Threads.block(
        () -> {
          long address = client.enter();
          try {
            return call.applyAsLong(address);
          } finally {
            client.exit();
          }
        });
  }

  /** A call on the native client that sends nothing. */
  <T> T look(LongFunction<T> call) {
    long address = client.enter();
    try {
      return call.apply(address);
    } finally {
      client.exit();
    }
  }

  /** Ends all waiting, and returns when the last event has been told. */
  void close() {
    client.run();
    if (Thread.currentThread() != dispatcher) Threads.join(ended);
  }

  /** Run once, by who leaves the native client last. */
  private void end(long address) {
    Threads.block(
        () -> {
          MortiseNative.client_free(address);
          return 0;
        });
    shutDownQueue();
  }

  /** A listing keeps the native client for a minute. Nothing else is to wait for that. */
  private void endInUse() {
    for (NativeHandle owner : owners.values()) owner.run();
    shutDownQueue();
  }

  private void shutDownQueue() {
    long address;
    try {
      address = queue.enter();
    } catch (MortiseException before) {
      return;
    }
    try {
      MortiseNative.queue_shutdown(address);
    } finally {
      queue.exit();
    }
  }

  /** Makes a call with the queue, of a client that is open. Returns its status. */
  private int withQueue(LongToIntFunction call) {
    if (client.isClosed()) throw client.closed();
    long address = queue.enter();
    try {
      int code = call.applyAsInt(address);
      if (code == Constants.SHUT_DOWN) throw client.closed();
      return code;
    } finally {
      queue.exit();
    }
  }

  // ---- asynchronous calls --------------------------------------------------------------------

  /** Makes a call and tells how it ended, here or on the dispatcher's thread. */
  CompletableFuture<Event> submit(Submission call) {
    Long tag = tags.incrementAndGet();
    var future = new CompletableFuture<Event>();
    waiting.put(tag, future);
    boolean isAccepted = false;
    try {
      int code = withQueue(address -> call.submit(address, tag));
      isAccepted = code == Status.OK.code();
      if (!isAccepted) future.complete(Event.of(code)); // an outcome that was known at once
    } catch (MortiseException refused) {
      future.completeExceptionally(refused);
    } finally {
      if (!isAccepted) waiting.remove(tag);
    }
    return future;
  }

  /** The dispatcher cannot wait for what only it can tell. */
  boolean mayWait() {
    return Thread.currentThread() != dispatcher;
  }

  void checkMayWait() {
    if (!mayWait()) {
      throw new IllegalStateException(
          "the dispatcher thread cannot wait for a lock; use the thenApplyAsync family, "
              + "or a callback executor with its own threads");
    }
  }

  /** Runs what belongs to the user, where the user wants it. */
  void callBack(Runnable work) {
    var once = new Once(work);
    try {
      callbacks.execute(once);
    } catch (Throwable refused) {
      if (!(refused instanceof RejectedExecutionException)) report(refused);
      // Better late and here than never. An executor may also have thrown after its work.
      once.run();
    }
  }

  private static final class Once extends AtomicBoolean implements Runnable {
    private static final long serialVersionUID = 1;
    private final transient Runnable work;

    Once(Runnable work) {
      this.work = work;
    }

    @Override
    public void run() {
      if (compareAndSet(false, true)) work.run();
    }
  }

  // ---- losses --------------------------------------------------------------------------------

  /** Tells of the losses of one owner until {@link #unwatch}. */
  long watch(Watch watch, Submission call) {
    long tag = tags.incrementAndGet();
    watches.put(tag, watch);
    try {
      withQueue(address -> call.submit(address, tag));
    } catch (RuntimeException refused) {
      watches.remove(tag);
      throw refused;
    }
    return tag;
  }

  void unwatch(long tag) {
    Watch watch = watches.remove(tag);
    if (watch != null) watch.close();
  }

  /** The number of watches that have not ended. For tests. */
  int watchCount() {
    return watches.size();
  }

  // ---- elections -----------------------------------------------------------------------------

  /** Reports the leader until {@link #unobserve}. */
  long observe(Consumer<Optional<Leader>> listener, Submission call) {
    long tag = tags.incrementAndGet();
    observations.put(tag, new Report<>(tag, Integer.MAX_VALUE, listener));
    try {
      withQueue(address -> call.submit(address, tag));
    } catch (RuntimeException refused) {
      observations.remove(tag);
      throw refused;
    }
    return tag;
  }

  void unobserve(long tag) {
    observations.remove(tag);
  }

  /** Frees the native info, also if nobody observes any more. */
  private void tellLeader(long tag, long info) {
    if (info == 0) return;
    Optional<Leader> leader = Leader.in(LockInfo.take(info));
    Report<Optional<Leader>> observation = observations.get(tag);
    if (observation != null) observation.offer(leader, this::callBack);
  }

  // ---- reports -------------------------------------------------------------------------------

  /** A native call that begins a watch of the client, or ends it on the queue 0. */
  interface Reports {
    int submit(long client, long queue, long tag);
  }

  void watchLog(LogLevel level, Consumer<? super LogLine> listener) {
    Objects.requireNonNull(level, "level");
    Objects.requireNonNull(listener, "listener");
    watch(
        log,
        new LogReport(tags.incrementAndGet(), listener::accept),
        (at, to, tag) -> MortiseNative.client_watch_log(at, to, tag, level.code()));
  }

  void unwatchLog() {
    int any = LogLevel.INFO.code();
    unwatch(log, (at, to, tag) -> MortiseNative.client_watch_log(at, to, tag, any));
  }

  void watchStats(long intervalMs, Consumer<? super Stats> listener) {
    Objects.requireNonNull(listener, "listener");
    var report =
        new Report<Void>(
            tags.incrementAndGet(),
            1, // which stands for all that were due since, as it reads the newest
            due -> {
              Stats counted;
              try {
                counted = look(address -> Stats.take(MortiseNative.client_stats(address)));
              } catch (MortiseException closed) {
                return; // meanwhile
              }
              listener.accept(counted);
            });
    watch(
        statistics,
        report,
        (at, to, tag) -> MortiseNative.client_watch_stats(at, to, tag, intervalMs));
  }

  void unwatchStats() {
    unwatch(statistics, (at, to, tag) -> MortiseNative.client_watch_stats(at, to, tag, 0));
  }

  /** Begins a watch in place of an earlier one, as one step: the native client has the same one. */
  private <R extends Report<?>> void watch(AtomicReference<R> place, R report, Reports call) {
    synchronized (place) {
      R before = place.getAndSet(report);
      try {
        long address = client.enter();
        try {
          withQueue(entered -> call.submit(address, entered, report.tag()));
        } finally {
          client.exit();
        }
      } catch (RuntimeException refused) {
        place.set(before);
        throw refused;
      }
    }
  }

  /** Ends the watch, if there is one. */
  private void unwatch(AtomicReference<? extends Report<?>> place, Reports call) {
    synchronized (place) {
      place.set(null);
      long address = client.enter();
      try {
        call.submit(address, 0, 0);
      } finally {
        client.exit();
      }
    }
  }

  /** Who receives lines of the log, or null. */
  private final AtomicReference<LogReport> log = new AtomicReference<>();
  /** Who receives statistics, or null. */
  private final AtomicReference<Report<Void>> statistics = new AtomicReference<>();

  /** Whether the watch with this tag is still the present one. */
  private static boolean isOf(Report<?> report, long tag) {
    return report != null && report.tag() == tag;
  }

  private static LogLine line(long[] records, int at, Object texts) {
    var both = (byte[][]) texts;
    return new LogLine(
        LogLevel.of((int) records[at + 5]),
        LogSubject.of((int) records[at + 6]),
        both == null ? "" : new String(both[0], UTF_8),
        both == null ? "" : Name.of(both[1]).toString(),
        LossReason.of((int) records[at + 4]),
        records[at + 7]);
  }

  // ---- the dispatcher's thread ---------------------------------------------------------------

  private void dispatch() {
    long[] records = new long[BATCH * FIELDS];
    Object[] details = new Object[BATCH];
    try {
      for (; ; ) {
        int count = next(records, details);
        if (count < 0) return;
        for (int i = 0; i < count; i++) {
          Object detail = details[i];
          details[i] = null;
          try {
            tell(records, i * FIELDS, detail);
          } catch (Throwable thrown) {
            // A listener's or a dependent's; the others still have to be told.
            report(thrown);
          }
        }
      }
    } finally {
      queue.run();
      for (CompletableFuture<Event> left : waiting.values()) {
        left.completeExceptionally(MortiseException.closed("the client"));
      }
      for (HoldReports left : openReports) left.close();
      ended.complete(null);
    }
  }

  private int next(long[] records, Object[] details) {
    try {
      return MortiseNative.nextEvents(queueAddress, Constants.FOREVER, records, details);
    } catch (OutOfMemoryError passing) {
      report(passing);
      return 0;
    }
  }

  /** The detail is a failure, or the texts of a line of the log; null where there is none. */
  private void tell(long[] records, int at, Object detail) {
    int kind = (int) records[at];
    long tag = records[at + 1];
    long token = records[at + 3];
    long holdNumber = records[at + 8];
    if (kind == Constants.EVENT_LOG) {
      LogReport watching = log.get();
      if (isOf(watching, tag)) watching.tell(line(records, at, detail), this::callBack);
      return;
    }
    if (kind == Constants.EVENT_STATS) {
      Report<Void> watching = statistics.get();
      if (isOf(watching, tag)) watching.offer(null, this::callBack);
      return;
    }
    if (kind == Constants.EVENT_LEADER || kind == Constants.EVENT_NO_LEADER) {
      tellLeader(tag, records[at + 9]);
      return;
    }
    if (Watch.isNotice(kind)) {
      Watch watch = watches.get(tag);
      LossReason reason = LossReason.of((int) records[at + 4]);
      if (watch != null) watch.tell(this::callBack, kind, token, holdNumber, reason);
      return;
    }
    CompletableFuture<Event> future = waiting.remove(tag);
    if (future == null) return;
    if (detail != null) {
      future.completeExceptionally((MortiseException) detail);
    } else {
      future.complete(new Event((int) records[at + 2], token, holdNumber));
    }
  }

  static void report(Throwable thrown) {
    Thread thread = Thread.currentThread();
    try {
      thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
    } catch (Throwable alsoThrown) {
      // Nobody is left to be told.
    }
  }
}
