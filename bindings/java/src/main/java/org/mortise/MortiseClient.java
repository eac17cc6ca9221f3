package org.mortise;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.LongUnaryOperator;

/**
 * A connection to one deployment, shared by all that is made from it. Any thread may use it,
 * virtual threads included: they never block their carrier.
 *
 * <ul>
 *   <li>{@link #lock} and {@link #readWriteLock} are Java's own interfaces: a thread is an owner.
 *   <li>{@link #mutex}, {@link #readWrite}, {@link #semaphore} and {@link #multi} make explicit
 *       owners, which no thread is bound to, with leases and futures.
 * </ul>
 *
 * <p>Close it to give everything back. A client that is forgotten is closed some time after it, and
 * all that was made from it, was collected as garbage.
 */
public final class MortiseClient implements AutoCloseable {
  static final Cleaner CLEANER = Cleaner.create();

  private final Core core;
  private final Cleaner.Cleanable cleanable;
  private final LossListener lossListener;
  private final ThreadHolds<MutexOwner> mutexHolds = new ThreadHolds<>();
  private final ThreadHolds<ReadWriteOwner> readWriteHolds = new ThreadHolds<>();
  private final OwnerPool<MutexOwner> mutexes =
      new OwnerPool<>((name, options) -> new MutexOwner(this, name, options));
  private final OwnerPool<ReadWriteOwner> readWrites =
      new OwnerPool<>((name, options) -> new ReadWriteOwner(this, name, options));

  private MortiseClient(Builder builder) {
    core =
        new Core(
            builder.url == null ? null : Name.utf8(builder.url, "url"),
            builder.options,
            builder.callbackExecutor,
            builder.queueCapacity);
    lossListener = builder.lossListener;
    cleanable = CLEANER.register(this, core.client());
  }

  /**
   * Opens a client with the default options.
   *
   * @param url such as {@code redis://localhost}, {@code unix:///run/redis.sock} or {@code local:};
   *     options can follow, as in {@code redis://localhost?lease=10s}
   * @return the client, connected. A server that is not there yet, or still loading, is tried for
   *     the command timeout
   */
  public static MortiseClient open(String url) {
    return builder(url).open();
  }

  /**
   * Opens a client of the URL in the environment variable {@code MORTISE_URL}, with the default
   * options.
   *
   * @return the client, connected
   */
  public static MortiseClient open() {
    return builder().open();
  }

  /**
   * Prepares a client.
   *
   * @param url as for {@link #open}
   * @return a builder
   */
  public static Builder builder(String url) {
    return new Builder(Objects.requireNonNull(url, "url"));
  }

  /**
   * Prepares a client of the URL in the environment variable {@code MORTISE_URL}.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder(null);
  }

  /** What a client can be told before it is opened. */
  public static final class Builder {
    private final String url;
    private MortiseOptions options = MortiseOptions.DEFAULTS;
    /** Null for threads of the client's own. */
    private Executor callbackExecutor;
    private LossListener lossListener;
    private long queueCapacity = Constants.MAX_QUEUE_CAPACITY;

    private Builder(String url) {
      this.url = url;
    }

    /**
     * The defaults of all owners; the URL's own options come before them.
     *
     * @param options {@link MortiseOptions#DEFAULTS} unless set
     * @return this
     */
    public Builder options(MortiseOptions options) {
      this.options = Objects.requireNonNull(options, "options");
      return this;
    }

    /**
     * Sets where futures are completed and listeners run. A stage that depends on a future also
     * runs there, unless it has an executor of its own or the future was complete before.
     *
     * <p>Callbacks run in no particular order, also those of one lock. Only the calls of one
     * listener of the log, or of statistics, follow each other in order.
     *
     * <p>A callback may block, also in an acquire, where the executor has a thread for each
     * callback. With fewer threads, callbacks that block keep others from running, and a callback
     * that waits for a lock can deadlock with the callback that would release the lock.
     *
     * <p>A callback that the executor rejects is not lost: it runs in the thread that handed it
     * over. In general that is the client's dispatcher thread, which also runs the callbacks of an
     * executor such as {@code Runnable::run}. A callback that waits for a lock there gets an {@link
     * IllegalStateException}. The client never shuts the executor down.
     *
     * @param executor unless set, threads of the client's own without bound, a thread for each
     *     callback: from Java 24 on virtual threads; before, daemon threads that end when idle
     * @return this
     */
    public Builder callbackExecutor(Executor executor) {
      callbackExecutor = Objects.requireNonNull(executor, "executor");
      return this;
    }

    /**
     * Who is told of every loss of every owner of this client.
     *
     * @param listener nobody unless set
     * @return this
     */
    public Builder lossListener(LossListener listener) {
      lossListener = Objects.requireNonNull(listener, "listener");
      return this;
    }

    /** For tests of what happens when it is full. */
    Builder queueCapacity(long capacity) {
      queueCapacity = capacity;
      return this;
    }

    /**
     * Opens the client.
     *
     * @return the client, connected unless the options say {@link MortiseOptions#withLazyConnect}
     */
    public MortiseClient open() {
      return new MortiseClient(this);
    }
  }

  /**
   * The version of the native library.
   *
   * @return such as {@code "1.2.0"}
   */
  public static String version() {
    // The first to call has the library loaded by a static initialiser, which would keep a carrier.
    return new String(Threads.compute(MortiseNative::version_text), UTF_8);
  }

  /** Asks the server for a sign of life. */
  public void ping() {
    Threads.block(
        () -> {
          long address = core.client().enter();
          try {
            return MortiseNative.client_ping(address);
          } finally {
            core.client().exit();
            Reference.reachabilityFence(this);
          }
        });
  }

  /**
   * Examines the servers: their settings, rights and clocks, as far as they matter to locks. It
   * changes nothing at a server.
   *
   * @return what was found; the findings are on the page about examination
   */
  public Examination examine() {
    return Examination.take(found(MortiseNative::client_examine));
  }

  /**
   * What was found last: by {@link #examine} or, with {@link MortiseOptions#withExamination}, when
   * the client connected last. Asks nobody.
   *
   * @return what was found; without findings where nothing was examined so far
   */
  public Examination examination() {
    return Examination.take(found(MortiseNative::client_examination));
  }

  /**
   * What the client has counted since it was made: acquires, holds, losses, round trips,
   * connections. Asks no server.
   *
   * @return the statistics; their names are on the page about statistics
   */
  public Stats stats() {
    return Stats.take(found(MortiseNative::client_stats));
  }

  /**
   * Asks all clients that live what they hold and wait for. Ends when all have answered, or after
   * that time, and is then without those who have not.
   *
   * @param patience 1 ms to 1 minute
   * @return the census
   */
  public Census census(Duration patience) {
    long timeoutMs = patience.toMillis();
    return Census.take(found(client -> MortiseNative.client_census(client, timeoutMs)));
  }

  /**
   * Looks through the keys of the servers for locks: for holds of clients that are dead or stopped,
   * which no {@link #census} tells. It changes nothing.
   *
   * @param pattern empty for locks in Mortise's own format, else the pattern of keys of other
   *     programs, as SCAN has it, such as {@code lock:*}
   * @param mostKeys how many are looked at of each server
   * @param patience 1 ms to 1 minute
   * @return what was found, as a census of keys
   */
  public Census scan(String pattern, long mostKeys, Duration patience) {
    byte[] names = pattern.getBytes(UTF_8);
    long timeoutMs = patience.toMillis();
    return Census.take(
        found(client -> MortiseNative.client_scan(client, names, mostKeys, timeoutMs)));
  }

  /**
   * From now on what happens to this client, as bad as this level or worse, is told line by line,
   * by the executor of callbacks: connections that end or come back, servers that refuse it, other
   * servers that are asked than before, holds that were lost. Replaces an earlier listener.
   *
   * <p>Nothing ever waits for the listener: lines are left out where they come too fast, ten of a
   * subject at once and then one in ten seconds, and the next one says how many. So it is no place
   * to learn of losses: see {@link Builder#lossListener}.
   *
   * @param level what is told, as bad as this or worse
   * @param listener such as {@link LogLine#to}
   */
  public void watchLog(LogLevel level, Consumer<? super LogLine> listener) {
    Objects.requireNonNull(level, "level");
    Objects.requireNonNull(listener, "listener");
    core.watch(
        core.log,
        listener::accept,
        (client, queue, tag) -> MortiseNative.client_watch_log(client, queue, tag, level.code()));
    Reference.reachabilityFence(this);
  }

  /** Ends that. */
  public void unwatchLog() {
    core.unwatch(
        core.log,
        (client, queue, tag) ->
            MortiseNative.client_watch_log(client, queue, tag, LogLevel.INFO.code()));
    Reference.reachabilityFence(this);
  }

  /**
   * From now on the statistics are told every so often, by the executor of callbacks. Replaces an
   * earlier listener.
   *
   * @param interval 10 ms or more
   * @param listener what {@link #stats} gives at that moment
   */
  public void watchStats(Duration interval, Consumer<? super Stats> listener) {
    long intervalMs = interval.toMillis();
    Objects.requireNonNull(listener, "listener");
    Core counting = core;
    core.watch(
        core.statistics,
        due -> {
          Stats counted;
          try {
            counted = counting.stats();
          } catch (MortiseException closed) {
            return; // meanwhile
          }
          listener.accept(counted);
        },
        (client, queue, tag) ->
            MortiseNative.client_watch_stats(client, queue, tag, intervalMs));
    Reference.reachabilityFence(this);
  }

  /** Ends that. */
  public void unwatchStats() {
    core.unwatch(
        core.statistics,
        (client, queue, tag) -> MortiseNative.client_watch_stats(client, queue, tag, 0));
    Reference.reachabilityFence(this);
  }

  private long found(LongUnaryOperator find) {
    return Threads.block(
        () -> {
          long address = core.client().enter();
          try {
            return find.applyAsLong(address);
          } finally {
            core.client().exit();
            Reference.reachabilityFence(this);
          }
        });
  }

  /**
   * Gives the client another user and password, where the program knows when they change. They are
   * said on the live connection, whose answer is waited for, and new connections log in with them.
   * Holds and waits go on. Without a connection at the moment they are kept, and tried at once.
   * After every failure those before stay in force. A client that reads its password from a file,
   * by {@link MortiseOptions#withPasswordFile}, needs no such call.
   *
   * @param user empty for the server's default user
   * @param password as UTF-8; it is not changed
   */
  public void setCredentials(String user, char[] password) {
    ByteBuffer coded = UTF_8.encode(CharBuffer.wrap(password));
    byte[] bytes = new byte[coded.remaining()];
    coded.get(bytes);
    try {
      setCredentials(user, bytes);
    } finally {
      Arrays.fill(coded.array(), (byte) 0);
      Arrays.fill(bytes, (byte) 0);
    }
  }

  /**
   * The same with a password of any bytes.
   *
   * @param user empty for the server's default user
   * @param password it is not changed
   */
  public void setCredentials(String user, byte[] password) {
    byte[] name = user.getBytes(UTF_8);
    Objects.requireNonNull(password, "password");
    Threads.block(
        () -> {
          long address = core.client().enter();
          try {
            return MortiseNative.client_set_credentials(address, name, password);
          } finally {
            core.client().exit();
            Reference.reachabilityFence(this);
          }
        });
  }

  // ---- Java's own interfaces -------------------------------------------------------------------

  /**
   * A mutex whose owners are threads.
   *
   * @param name the name, as UTF-8
   * @return the lock; all of one name are one to a thread
   */
  public MortiseLock lock(String name) {
    return new MortiseLock(this, Name.of(name), null);
  }

  /**
   * A mutex whose owners are threads.
   *
   * @param name any bytes
   * @return the lock
   */
  public MortiseLock lock(byte[] name) {
    return new MortiseLock(this, Name.of(name), null);
  }

  /**
   * A mutex whose owners are threads, with options of its own.
   *
   * @param name the name, as UTF-8
   * @param options laid over the client's
   * @return the lock
   */
  public MortiseLock lock(String name, MortiseOptions options) {
    return new MortiseLock(this, Name.of(name), Objects.requireNonNull(options, "options"));
  }

  /**
   * A read-write lock whose owners are threads.
   *
   * @param name the name, as UTF-8
   * @return the lock
   */
  public MortiseReadWriteLock readWriteLock(String name) {
    return new MortiseReadWriteLock(this, Name.of(name), null);
  }

  /**
   * A read-write lock whose owners are threads.
   *
   * @param name any bytes
   * @return the lock
   */
  public MortiseReadWriteLock readWriteLock(byte[] name) {
    return new MortiseReadWriteLock(this, Name.of(name), null);
  }

  /**
   * A read-write lock whose owners are threads, with options of its own.
   *
   * @param name the name, as UTF-8
   * @param options laid over the client's
   * @return the lock
   */
  public MortiseReadWriteLock readWriteLock(String name, MortiseOptions options) {
    return new MortiseReadWriteLock(
        this, Name.of(name), Objects.requireNonNull(options, "options"));
  }

  // ---- explicit owners -------------------------------------------------------------------------

  /**
   * A new owner of a mutex.
   *
   * @param name the name, as UTF-8
   * @return the owner
   */
  public MutexOwner mutex(String name) {
    return new MutexOwner(this, Name.of(name), null);
  }

  /**
   * A new owner of a mutex.
   *
   * @param name the name, as UTF-8
   * @param options laid over the client's, or null for these
   * @return the owner
   */
  public MutexOwner mutex(String name, MortiseOptions options) {
    return new MutexOwner(this, Name.of(name), options);
  }

  /**
   * A new owner of a mutex.
   *
   * @param name any bytes
   * @param options laid over the client's, or null for these
   * @return the owner
   */
  public MutexOwner mutex(byte[] name, MortiseOptions options) {
    return new MutexOwner(this, Name.of(name), options);
  }

  /**
   * A new owner of a read-write lock.
   *
   * @param name the name, as UTF-8
   * @return the owner
   */
  public ReadWriteOwner readWrite(String name) {
    return new ReadWriteOwner(this, Name.of(name), null);
  }

  /**
   * A new owner of a read-write lock.
   *
   * @param name the name, as UTF-8
   * @param options laid over the client's, or null for these
   * @return the owner
   */
  public ReadWriteOwner readWrite(String name, MortiseOptions options) {
    return new ReadWriteOwner(this, Name.of(name), options);
  }

  /**
   * A new owner of a read-write lock.
   *
   * @param name any bytes
   * @param options laid over the client's, or null for these
   * @return the owner
   */
  public ReadWriteOwner readWrite(byte[] name, MortiseOptions options) {
    return new ReadWriteOwner(this, Name.of(name), options);
  }

  /**
   * A new owner of permits of a semaphore.
   *
   * @param name the name, as UTF-8
   * @param permits how many there are; the first to use the name sets it for all
   * @return the owner
   */
  public SemaphoreOwner semaphore(String name, long permits) {
    return new SemaphoreOwner(this, Name.of(name), permits, null);
  }

  /**
   * A new owner of permits of a semaphore.
   *
   * @param name the name, as UTF-8
   * @param permits how many there are; the first to use the name sets it for all
   * @param options laid over the client's, or null for these
   * @return the owner
   */
  public SemaphoreOwner semaphore(String name, long permits, MortiseOptions options) {
    return new SemaphoreOwner(this, Name.of(name), permits, options);
  }

  /**
   * A new owner of permits of a semaphore.
   *
   * @param name any bytes
   * @param permits how many there are; the first to use the name sets it for all
   * @param options laid over the client's, or null for these
   * @return the owner
   */
  public SemaphoreOwner semaphore(byte[] name, long permits, MortiseOptions options) {
    return new SemaphoreOwner(this, Name.of(name), permits, options);
  }

  /**
   * An empty set of locks that are acquired all or none.
   *
   * @return the multi
   */
  public Multi multi() {
    return new Multi(this);
  }

  /**
   * Closes the client: everything that waits ends with {@link Status#CLOSED}, holds are given back
   * without waiting for the answer, and what was made from it says CLOSED from then on. When it
   * returns, all futures were handed to the callback executor.
   */
  @Override
  public void close() {
    try {
      cleanable.clean();
      core.close();
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  // ---- for the owners --------------------------------------------------------------------------

  Core core() {
    return core;
  }

  LossListener lossListener() {
    return lossListener;
  }

  ThreadHolds<MutexOwner> mutexHolds() {
    return mutexHolds;
  }

  ThreadHolds<ReadWriteOwner> readWriteHolds() {
    return readWriteHolds;
  }

  OwnerPool<MutexOwner> mutexes() {
    return mutexes;
  }

  OwnerPool<ReadWriteOwner> readWrites() {
    return readWrites;
  }
}
