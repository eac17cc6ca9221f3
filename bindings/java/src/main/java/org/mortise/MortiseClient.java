package org.mortise;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.nio.CharBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.LongUnaryOperator;

/**
 * A connection to one deployment. All owners and locks that are made from it share it. Any thread
 * may use it, also virtual threads: they never block their carrier.
 *
 * <ul>
 *   <li>{@link #lock} and {@link #readWriteLock} are Java's own interfaces: a thread is an owner.
 *   <li>{@link #mutex}, {@link #readWriteMutex}, {@link #semaphore} and {@link #multi} make
 *       explicit owners with leases and futures. They are not bound to a thread.
 * </ul>
 *
 * <p>Close it to release everything. A forgotten client is closed some time after the garbage
 * collector has collected it and all that was made from it.
 */
public final class MortiseClient implements AutoCloseable {
  static final Cleaner CLEANER = Cleaner.create();

  private final Core core;
  private final Cleaner.Cleanable cleanable;
  private final LossListener lossListener;
  private final LockListener lockListener;
  private final ThreadOwners<Mutex> mutexes =
      new ThreadOwners<>((name, options) -> new Mutex(this, name, options));
  private final ThreadOwners<ReadWriteMutex> readWrites =
      new ThreadOwners<>((name, options) -> new ReadWriteMutex(this, name, options));

  private MortiseClient(Builder builder) {
    core =
        new Core(
            builder.url == null ? null : Name.utf8(builder.url, "url"),
            builder.options,
            builder.callbackExecutor,
            builder.queueCapacity);
    lossListener = builder.lossListener;
    lockListener = builder.lockListener;
    cleanable = CLEANER.register(this, core.client());
  }

  /**
   * Opens a client with the default options.
   *
   * @param url such as {@code redis://localhost}, {@code unix:///run/redis.sock} or {@code local:};
   *     options can follow, as in {@code redis://localhost?lease=10s}
   * @return the client, connected. If the server cannot be reached or is still loading, the client
   *     retries for the command timeout
   */
  public static MortiseClient open(String url) {
    return builder(url).open();
  }

  /**
   * Opens a client with the URL in the environment variable {@code MORTISE_URL} and the default
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
   * Prepares a client with the URL in the environment variable {@code MORTISE_URL}.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder(null);
  }

  /** The settings of a client before it is opened. */
  public static final class Builder {
    private final String url;
    private MortiseOptions options = MortiseOptions.DEFAULTS;
    /** Null for threads of the client's own. */
    private Executor callbackExecutor;
    private LossListener lossListener;
    private LockListener lockListener;
    private long queueCapacity = Constants.MAX_QUEUE_CAPACITY;

    private Builder(String url) {
      this.url = url;
    }

    /**
     * Sets the defaults of all owners. The options in the URL override them.
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
     * Sets a listener for every loss of every owner of this client.
     *
     * @param listener none unless set
     * @return this
     */
    public Builder lossListener(LossListener listener) {
      lossListener = Objects.requireNonNull(listener, "listener");
      return this;
    }

    /**
     * Sets a listener for the begin and the end of every wait and every hold of this client.
     *
     * @param listener none unless set
     * @return this
     */
    public Builder lockListener(LockListener listener) {
      lockListener = Objects.requireNonNull(listener, "listener");
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
     * @return the client, connected unless the options have {@link MortiseOptions#withLazyConnect}
     */
    public MortiseClient open() {
      return new MortiseClient(this);
    }
  }

  /**
   * The version of the native library.
   *
   * @return such as {@code "1.0.0"}
   */
  public static String version() {
    // The first to call has the library loaded by a static initialiser, which would keep a carrier.
    return new String(Threads.compute(MortiseNative::version_text), UTF_8);
  }

  /** Checks that the server replies. */
  public void ping() {
    call(MortiseNative::client_ping);
  }

  /**
   * Checks the health of the servers: their settings, rights and clocks, as far as they matter to
   * locks. It changes nothing at a server.
   *
   * @return the result; docs/health_check.md lists the findings
   */
  public Health checkHealth() {
    return Health.take(call(MortiseNative::client_check_health));
  }

  /**
   * Returns the last result, without a request to a server. It comes from {@link #checkHealth} or,
   * with {@link MortiseOptions#withHealthCheck}, from the last connect.
   *
   * @return the last result; without findings before the first health check
   */
  public Health lastHealth() {
    return look(address -> Health.take(MortiseNative.client_last_health(address)));
  }

  /**
   * Returns what the client has counted since it was made: acquires, holds, losses, round trips,
   * connections. It sends no request.
   *
   * @return the statistics; docs/statistics.md explains their names
   */
  public Stats stats() {
    return look(address -> Stats.take(MortiseNative.client_stats(address)));
  }

  /**
   * Asks all live clients which locks they hold and wait for. It returns when all have replied or
   * the time is over. The result then lacks the clients that have not replied.
   *
   * @param patience 1 ms to 1 minute
   * @return a listing of the locks
   */
  public Listing listLocks(Duration patience) {
    long timeoutMs = patience.toMillis();
    return Listing.take(call(client -> MortiseNative.client_list_locks(client, timeoutMs)));
  }

  /**
   * Searches the keys of the servers for locks. It finds holds of dead or stopped clients, which no
   * {@link #listLocks} reports. It changes nothing.
   *
   * @param pattern empty for locks in Mortise's own format; otherwise a pattern for keys of other
   *     programs in the syntax of SCAN, such as {@code lock:*}
   * @param mostKeys how many keys of each server are read at most
   * @param patience 1 ms to 1 minute
   * @return the locks that were found, as a listing of keys; it counts servers that replied instead
   *     of clients
   */
  public Listing scanLocks(String pattern, long mostKeys, Duration patience) {
    byte[] names = Name.utf8(pattern, "pattern");
    long timeoutMs = patience.toMillis();
    return Listing.take(
        call(client -> MortiseNative.client_scan_locks(client, names, mostKeys, timeoutMs)));
  }

  /**
   * Lists the latest events of one lock: its holds and waits, when they were, and for how long. It
   * asks all live clients, each of which keeps its last 4096 events.
   *
   * @param name the lock's name
   * @param window how far it goes back: 1 ms to 1 day
   * @param patience how long to wait for replies, 1 ms to 1 minute
   * @return the history of the lock
   */
  public History listHistory(String name, Duration window, Duration patience) {
    byte[] bytes = Name.utf8(name, "name");
    long windowMs = window.toMillis();
    long timeoutMs = patience.toMillis();
    return History.take(
        call(client -> MortiseNative.client_list_history(client, bytes, windowMs, timeoutMs)));
  }

  /**
   * Starts to report events of this client with this level or a more severe one. The events are
   * connections that end or come back, servers that refuse the client, changes of the server, and
   * lost holds. The callback executor runs the listener. An earlier listener is replaced.
   *
   * <p>The client never waits for the listener. It drops records that come too fast: each subject
   * has ten records at once and then one in ten seconds, and at most 64 wait for the listener. The
   * next record has the number of dropped records. Use {@link Builder#lossListener} to detect
   * losses.
   *
   * @param level the least severe level that is reported
   * @param listener such as {@link LogLine#to}
   */
  public void watchLog(LogLevel level, Consumer<? super LogLine> listener) {
    core.watchLog(level, listener);
    Reference.reachabilityFence(this);
  }

  /** Ends the reports of {@link #watchLog}. */
  public void unwatchLog() {
    core.unwatchLog();
    Reference.reachabilityFence(this);
  }

  /**
   * Starts to report the statistics at this interval. The callback executor runs the listener. An
   * earlier listener is replaced. One call stands for all that became due before it begins.
   *
   * @param interval 10 ms or more
   * @param listener receives the result of {@link #stats} at that moment
   */
  public void watchStats(Duration interval, Consumer<? super Stats> listener) {
    long intervalMs = interval.toMillis();
    core.watchStats(intervalMs, listener);
    Reference.reachabilityFence(this);
  }

  /** Ends the reports of {@link #watchStats}. */
  public void unwatchStats() {
    core.unwatchStats();
    Reference.reachabilityFence(this);
  }

  /** A call on the native client that sends nothing, so that any thread makes it by itself. */
  private <T> T look(LongFunction<T> call) {
    T result = core.look(call);
    Reference.reachabilityFence(this);
    return result;
  }

  /** A call on the native client that can wait for a server. */
  private long call(LongUnaryOperator call) {
    long result = core.call(call);
    Reference.reachabilityFence(this);
    return result;
  }

  /**
   * Gives the client another user and password, for programs that know when these change. The
   * client logs in with them on the live connection and waits for the reply. New connections also
   * use them. Holds and waits go on.
   *
   * <p>Without a connection, the client stores the credentials and tries to connect at once. After
   * every failure the previous credentials stay in force at each server that did not accept the new
   * ones. A client with {@link MortiseOptions#withPasswordFile} reads its password by itself and
   * needs no such call.
   *
   * @param user empty for the server's default user
   * @param password encoded as UTF-8; it is not changed
   */
  public void setCredentials(String user, char[] password) {
    byte[] bytes = Name.utf8(CharBuffer.wrap(password), "password");
    try {
      setCredentials(user, bytes);
    } finally {
      Arrays.fill(bytes, (byte) 0);
    }
  }

  /**
   * As {@link #setCredentials(String, char[])}, with a password of any bytes.
   *
   * @param user empty for the server's default user
   * @param password it is not changed
   */
  public void setCredentials(String user, byte[] password) {
    byte[] name = Name.utf8(user, "user");
    Objects.requireNonNull(password, "password");
    call(client -> MortiseNative.client_set_credentials(client, name, password));
  }

  // ---- Java's own interfaces -------------------------------------------------------------------

  /**
   * A mutex whose owners are threads.
   *
   * @param name the name, as UTF-8
   * @return the lock; all lock objects of one name are the same lock to a thread
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
   * @param options override the client's options
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
   * @param options override the client's options
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
  public Mutex mutex(String name) {
    return new Mutex(this, Name.of(name), null);
  }

  /**
   * A new owner of a mutex.
   *
   * @param name the name, as UTF-8
   * @param options override the client's options; null for the client's options
   * @return the owner
   */
  public Mutex mutex(String name, MortiseOptions options) {
    return new Mutex(this, Name.of(name), options);
  }

  /**
   * A new owner of a mutex.
   *
   * @param name any bytes
   * @param options override the client's options; null for the client's options
   * @return the owner
   */
  public Mutex mutex(byte[] name, MortiseOptions options) {
    return new Mutex(this, Name.of(name), options);
  }

  /**
   * A new candidate of an election, or an observer of it.
   *
   * @param name the name, as UTF-8
   * @return the candidate
   */
  public Election election(String name) {
    return new Election(this, Name.of(name), null);
  }

  /**
   * A new candidate of an election, or an observer of it.
   *
   * @param name the name, as UTF-8
   * @param options override the client's options; null for the client's options
   * @return the candidate
   */
  public Election election(String name, MortiseOptions options) {
    return new Election(this, Name.of(name), options);
  }

  /**
   * A new candidate of an election, or an observer of it.
   *
   * @param name any bytes
   * @param options override the client's options; null for the client's options
   * @return the candidate
   */
  public Election election(byte[] name, MortiseOptions options) {
    return new Election(this, Name.of(name), options);
  }

  /**
   * A new owner of a read-write lock.
   *
   * @param name the name, as UTF-8
   * @return the owner
   */
  public ReadWriteMutex readWriteMutex(String name) {
    return new ReadWriteMutex(this, Name.of(name), null);
  }

  /**
   * A new owner of a read-write lock.
   *
   * @param name the name, as UTF-8
   * @param options override the client's options; null for the client's options
   * @return the owner
   */
  public ReadWriteMutex readWriteMutex(String name, MortiseOptions options) {
    return new ReadWriteMutex(this, Name.of(name), options);
  }

  /**
   * A new owner of a read-write lock.
   *
   * @param name any bytes
   * @param options override the client's options; null for the client's options
   * @return the owner
   */
  public ReadWriteMutex readWriteMutex(byte[] name, MortiseOptions options) {
    return new ReadWriteMutex(this, Name.of(name), options);
  }

  /**
   * A new owner of permits of a semaphore.
   *
   * @param name the name, as UTF-8
   * @param capacity the number of permits; the first to use the name sets it for all
   * @return the owner
   */
  public Semaphore semaphore(String name, long capacity) {
    return new Semaphore(this, Name.of(name), capacity, null);
  }

  /**
   * A new owner of permits of a semaphore.
   *
   * @param name the name, as UTF-8
   * @param capacity the number of permits; the first to use the name sets it for all
   * @param options override the client's options; null for the client's options
   * @return the owner
   */
  public Semaphore semaphore(String name, long capacity, MortiseOptions options) {
    return new Semaphore(this, Name.of(name), capacity, options);
  }

  /**
   * A new owner of permits of a semaphore.
   *
   * @param name any bytes
   * @param capacity the number of permits; the first to use the name sets it for all
   * @param options override the client's options; null for the client's options
   * @return the owner
   */
  public Semaphore semaphore(byte[] name, long capacity, MortiseOptions options) {
    return new Semaphore(this, Name.of(name), capacity, options);
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
   * Closes the client. All waits end with {@link Status#CLOSED}, and holds are released without
   * waiting for the reply. All later calls of its owners and locks fail with CLOSED. When it
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

  LockListener lockListener() {
    return lockListener;
  }

  ThreadOwners<Mutex> mutexes() {
    return mutexes;
  }

  ThreadOwners<ReadWriteMutex> readWrites() {
    return readWrites;
  }
}
