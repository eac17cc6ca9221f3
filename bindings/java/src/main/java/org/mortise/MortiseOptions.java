package org.mortise;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongUnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Settings of a client or of one owner. A client's settings are the defaults of its owners. An
 * owner's settings override those of its client, and all other settings remain those of the client.
 * Options are immutable: each method returns new options. Values are checked when the options are
 * used.
 */
public final class MortiseOptions {
  /**
   * No option is set. A client then has a lease of 15 s that is renewed for an hour, is not
   * reentrant, and has fair=batch and a command timeout of 3 s. An owner has the options of its
   * client.
   */
  public static final MortiseOptions DEFAULTS = new MortiseOptions(Map.of());

  /** In the query of a URL. */
  private static final Pattern CLIENT_NAME =
      Pattern.compile("[?&]" + Constants.OPTION_CLIENT_NAME + "=([^&]*)");

  private final Map<String, String> values;

  private MortiseOptions(Map<String, String> values) {
    this.values = values;
  }

  /**
   * Sets one option from text, as the query of a URL does.
   *
   * @param key such as {@code "lease"}; docs/options.md has a table of the keys
   * @param value such as {@code "30s"} or {@code "on"}
   * @return options with that value
   */
  public MortiseOptions with(String key, String value) {
    var more = new LinkedHashMap<>(values);
    more.put(Objects.requireNonNull(key, "key"), Objects.requireNonNull(value, "value"));
    return new MortiseOptions(more);
  }

  /**
   * How long a hold lasts unless it is renewed.
   *
   * @param lease 50 ms to 366 days
   * @return options with that value
   */
  public MortiseOptions withLease(Duration lease) {
    return with(Constants.OPTION_LEASE, text(lease, "lease"));
  }

  /**
   * Whether the client renews holds automatically.
   *
   * @param isOn true, the default, to renew them
   * @return options with that value
   */
  public MortiseOptions withRenewal(boolean isOn) {
    return with(Constants.OPTION_RENEWAL, isOn ? "on" : "off");
  }

  /**
   * How long a hold is renewed at most, so that a forgotten hold ends.
   *
   * @param maxHold 1 ms to 366 days; see {@link #withUnlimitedHold}
   * @return options with that value
   */
  public MortiseOptions withMaxHold(Duration maxHold) {
    return with(Constants.OPTION_MAX_HOLD, text(maxHold, "maxHold"));
  }

  /**
   * How long a hold is renewed after the last {@link Lease#progress}, so that work that hangs loses
   * the lock. The grant counts as the first report.
   *
   * @param progress 1 ms to 366 days, or zero: no report is needed, which is the default
   * @return options with that value
   */
  public MortiseOptions withProgress(Duration progress) {
    return with(Constants.OPTION_PROGRESS, text(progress, "progress"));
  }

  /**
   * Removes the limit of {@link #withMaxHold}: a hold is renewed for as long as its client lives.
   * Use it for work that is monitored by other means, such as a leader's.
   *
   * @return options with that value
   */
  public MortiseOptions withUnlimitedHold() {
    return with(Constants.OPTION_MAX_HOLD, "unlimited");
  }

  /**
   * Whether an owner may acquire again what it holds. Each further lease is counted locally. The
   * {@link java.util.concurrent.locks.Lock} adapters are always reentrant.
   *
   * @param isOn false is the default
   * @return options with that value
   */
  public MortiseOptions withReentrant(boolean isOn) {
    return with(Constants.OPTION_REENTRANT, isOn ? "on" : "off");
  }

  /**
   * As {@link #withReentrant}, only for reading a read-write lock.
   *
   * @param isOn false is the default
   * @return options with that value
   */
  public MortiseOptions withReentrantRead(boolean isOn) {
    return with(Constants.OPTION_REENTRANT_READ, isOn ? "on" : "off");
  }

  /**
   * As {@link #withReentrant}, for writing and for a mutex.
   *
   * @param isOn false is the default
   * @return options with that value
   */
  public MortiseOptions withReentrantWrite(boolean isOn) {
    return with(Constants.OPTION_REENTRANT_WRITE, isOn ? "on" : "off");
  }

  /**
   * Whether waiters of all clients are served in the order of arrival. Otherwise a client may pass
   * the lock on internally a few times first.
   *
   * @param isOn false is the default
   * @return options with that value
   */
  public MortiseOptions withStrictFairness(boolean isOn) {
    return with(Constants.OPTION_FAIR, isOn ? "strict" : "batch");
  }

  /**
   * Whether an unlock returns when the request is sent, without waiting for the reply. This saves a
   * round trip. If the request fails, a {@link LogLine} reports it and the lease ends the hold.
   *
   * @param isOn false is the default
   * @return options with that value
   */
  public MortiseOptions withReleaseSent(boolean isOn) {
    return with(Constants.OPTION_RELEASE, isOn ? "sent" : "answered");
  }

  /**
   * How long the client keeps an unlocked lock without waiters for its next acquire, which then
   * needs no round trip. Other clients that wait are handed the lock. An acquire of another client
   * that does not wait fails.
   *
   * @param retain up to 366 days, and at most half of the lease; zero, the default, keeps no lock
   * @return options with that value
   */
  public MortiseOptions withRetain(Duration retain) {
    return with(Constants.OPTION_RETAIN, text(retain, "retain"));
  }

  /**
   * How locks are stored at the server. All users of a name must use the same protocol.
   *
   * @param protocol {@code "queued"}, Mortise's own, is the default; docs/protocols.md lists those
   *     of other programs
   * @return options with that value
   */
  public MortiseOptions withProtocol(String protocol) {
    return with(Constants.OPTION_PROTOCOL, Objects.requireNonNull(protocol, "protocol"));
  }

  /**
   * The average pause between two attempts, with a protocol whose waiters retry.
   *
   * @param interval 1 ms to 60 s
   * @return options with that value
   */
  public MortiseOptions withPollInterval(Duration interval) {
    return with(Constants.OPTION_POLL_INTERVAL, text(interval, "interval"));
  }

  /**
   * How many attempts an acquire makes at most, with such a protocol. After that it ends with
   * {@link Status#NOT_ACQUIRED}.
   *
   * @param attempts 1 to 1 000 000 000; unlimited unless set
   * @return options with that value
   */
  public MortiseOptions withPollAttempts(long attempts) {
    return with(Constants.OPTION_POLL_ATTEMPTS, Long.toString(attempts));
  }

  /**
   * How long other programs respect a read, in the protocol {@code "hash"} of read-write locks.
   *
   * @param lifetime 1 ms to 366 days; the lease unless set
   * @return options with that value
   */
  public MortiseOptions withReadLifetime(Duration lifetime) {
    return with(Constants.OPTION_READ_LIFETIME, text(lifetime, "lifetime"));
  }

  /**
   * As {@link #withReadLifetime}, for a write.
   *
   * @param lifetime 1 ms to 366 days; the lease unless set
   * @return options with that value
   */
  public MortiseOptions withWriteLifetime(Duration lifetime) {
    return with(Constants.OPTION_WRITE_LIFETIME, text(lifetime, "lifetime"));
  }

  /**
   * A text that queries show for the owner.
   *
   * @param label at most 64 bytes of UTF-8
   * @return options with that value
   */
  public MortiseOptions withLabel(String label) {
    return with(Constants.OPTION_LABEL, Objects.requireNonNull(label, "label"));
  }

  /**
   * A value of each hold of the owner. See {@link Lease#setValue}.
   *
   * @param value at most 1024 bytes of UTF-8
   * @return options with that value
   */
  public MortiseOptions withValue(String value) {
    return with(Constants.OPTION_VALUE, Objects.requireNonNull(value, "value"));
  }

  /**
   * Whether {@link Lease#contended} and {@link LossListener#contended} report that others wait for
   * the lock. The default is off.
   *
   * @param isOn true: they report it
   * @return options with that value
   */
  public MortiseOptions withContended(boolean isOn) {
    return with(Constants.OPTION_CONTENDED, isOn ? "on" : "off");
  }

  /**
   * Whether the youngest wait of a deadlock fails: it throws a {@link MortiseException} with {@link
   * Status#DEADLOCK}. That works for platform threads and virtual threads. Futures, and a {@link
   * Multi} in a platform thread, need a task: see {@link Owner#setTask}. Otherwise they wait on.
   *
   * @param isOn false is the default
   * @return options with that value
   */
  public MortiseOptions withDeadlockFailure(boolean isOn) {
    return with(Constants.OPTION_DEADLOCK, isOn ? "fail" : "wait");
  }

  /**
   * The deadline of every call that takes no timeout. For clients only.
   *
   * @param timeout 10 ms to 60 s
   * @return options with that value
   */
  public MortiseOptions withCommandTimeout(Duration timeout) {
    return with(Constants.OPTION_COMMAND_TIMEOUT, text(timeout, "timeout"));
  }

  /**
   * The connection's name in {@code CLIENT LIST}. For clients only.
   *
   * @param name printable ASCII without spaces, at most 64 bytes; {@code "mortise"} unless set
   * @return options with that value
   */
  public MortiseOptions withClientName(String name) {
    return with(Constants.OPTION_CLIENT_NAME, Objects.requireNonNull(name, "name"));
  }

  /**
   * The first part of the client's keys and channels, before a colon. Clients of different
   * namespaces have different locks. For clients only.
   *
   * @param name letters, digits, {@code .}, {@code -} and {@code _}, at most 64; none unless set
   * @return options with that value
   */
  public MortiseOptions withNamespace(String name) {
    return with(Constants.OPTION_NAMESPACE, Objects.requireNonNull(name, "name"));
  }

  /**
   * A file with the password. The client reads it again at each connect. For clients only.
   *
   * @param file a regular file of at most 16384 bytes; a final line end does not belong to the
   *     password
   * @return options with that value
   */
  public MortiseOptions withPasswordFile(Path file) {
    return with(Constants.OPTION_PASSWORD_FILE, file.toAbsolutePath().toString());
  }

  /**
   * The user whose server has to listen at a unix socket. Otherwise the client does not log in. For
   * clients of {@code unix://} only.
   *
   * @param user the name or the number of the user
   * @return options with that value
   */
  public MortiseOptions withPeerUser(String user) {
    return with(Constants.OPTION_PEER_USER, Objects.requireNonNull(user, "user"));
  }

  /**
   * How long a waiting native call spins before it sleeps. For clients only.
   *
   * @param microseconds 0 to 1000; see {@link #withAdaptiveBusyPoll}
   * @return options with that value
   */
  public MortiseOptions withBusyPoll(long microseconds) {
    return with(Constants.OPTION_BUSY_POLL, Long.toString(microseconds));
  }

  /**
   * Makes a waiting native call spin as long as this pays: the default. For clients only.
   *
   * @return options with that value
   */
  public MortiseOptions withAdaptiveBusyPoll() {
    return with(Constants.OPTION_BUSY_POLL, "auto");
  }

  /**
   * Whether opening a client returns at once and connects in the background, for as long as
   * necessary. Until then an acquire waits within its time, and other calls report why there is no
   * connection. For clients only.
   *
   * @param isOn false is the default: the client tries to connect for the command timeout
   * @return options with that value
   */
  public MortiseOptions withLazyConnect(boolean isOn) {
    return with(Constants.OPTION_CONNECT, isOn ? "lazy" : "wait");
  }

  /**
   * Whether the client's holds are released when the JVM ends: by a return from main,
   * {@code System.exit} or SIGTERM. For clients only.
   *
   * @param isOn false is the default
   * @return options with that value
   */
  public MortiseOptions withReleaseAtExit(boolean isOn) {
    return with(Constants.OPTION_RELEASE_AT_EXIT, isOn ? "on" : "off");
  }

  /**
   * Whether a helper process releases the client's holds as soon as the JVM is dead, however it
   * ends. Do not use it if something outlives the JVM and still does the protected work. For
   * clients only.
   *
   * @param isOn false is the default
   * @return options with that value
   */
  public MortiseOptions withReleaseOnDeath(boolean isOn) {
    return with(Constants.OPTION_RELEASE_ON_DEATH, isOn ? "on" : "off");
  }

  /**
   * How much the clock rates of this machine and the server may differ. The server keeps a lock
   * longer than its lease by this share. For clients only.
   *
   * @param millionths 1000 (0.1 %) to 200000 (20 %); 10000 unless set
   * @return options with that value
   */
  public MortiseOptions withDrift(long millionths) {
    return with(Constants.OPTION_DRIFT, millionths + "ppm");
  }

  /**
   * The file with the certificates of the authorities that sign servers, for a URL of
   * {@code rediss://}. The client reads it again at each connect. For clients only.
   *
   * @param path an absolute path; the system's authorities are used unless set
   * @return options with that value
   */
  public MortiseOptions withTlsCaFile(String path) {
    return with(Constants.OPTION_TLS_CA_FILE, Objects.requireNonNull(path, "path"));
  }

  /**
   * As {@link #withTlsCaFile}, for a folder as {@code openssl rehash} makes it. For clients only.
   *
   * @param path an absolute path
   * @return options with that value
   */
  public MortiseOptions withTlsCaFolder(String path) {
    return with(Constants.OPTION_TLS_CA_FOLDER, Objects.requireNonNull(path, "path"));
  }

  /**
   * The file with the client's certificate, which is read at each connect. For clients only.
   *
   * @param path an absolute path; the client has no certificate unless set
   * @return options with that value
   */
  public MortiseOptions withTlsCertificateFile(String path) {
    return with(Constants.OPTION_TLS_CERTIFICATE_FILE, Objects.requireNonNull(path, "path"));
  }

  /**
   * The file with the key of that certificate. For clients only.
   *
   * @param path an absolute path
   * @return options with that value
   */
  public MortiseOptions withTlsKeyFile(String path) {
    return with(Constants.OPTION_TLS_KEY_FILE, Objects.requireNonNull(path, "path"));
  }

  /**
   * The name or address that the server's certificate must have. For clients only.
   *
   * @param name the URL's host unless set
   * @return options with that value
   */
  public MortiseOptions withTlsName(String name) {
    return with(Constants.OPTION_TLS_NAME, Objects.requireNonNull(name, "name"));
  }

  /**
   * Whether the client verifies the server's certificate. Without verification anybody between
   * client and server can act as the server. For clients only.
   *
   * @param isOn true is the default
   * @return options with that value
   */
  public MortiseOptions withTlsVerify(boolean isOn) {
    return with(Constants.OPTION_TLS_VERIFY, isOn ? "on" : "off");
  }

  /**
   * The file with the password of the Sentinels of a URL of {@code redis+sentinel://}. The client
   * reads it again at each connect. For clients only.
   *
   * @param path an absolute path; none unless set
   * @return options with that value
   */
  public MortiseOptions withSentinelPasswordFile(String path) {
    return with(Constants.OPTION_SENTINEL_PASSWORD_FILE, Objects.requireNonNull(path, "path"));
  }

  /**
   * Whether the client uses TLS with the Sentinels. For clients only.
   *
   * @param isOn unless set, the URL's scheme decides, as for servers
   * @return options with that value
   */
  public MortiseOptions withSentinelTls(boolean isOn) {
    return with(Constants.OPTION_SENTINEL_TLS, isOn ? "on" : "off");
  }

  /**
   * The name or address that the Sentinels' certificates must have. For clients only.
   *
   * @param name each Sentinel's host unless set
   * @return options with that value
   */
  public MortiseOptions withSentinelTlsName(String name) {
    return with(Constants.OPTION_SENTINEL_TLS_NAME, Objects.requireNonNull(name, "name"));
  }

  /**
   * Where the client reaches servers that a cluster or Sentinels announce elsewhere, as behind NAT.
   * For clients only.
   *
   * @param pairs such as {@code 10.0.0.5:6379>localhost:7001,10.0.0.6:6379>localhost:7002}
   * @return options with that value
   */
  public MortiseOptions withAddressMap(String pairs) {
    return with(Constants.OPTION_ADDRESS_MAP, Objects.requireNonNull(pairs, "pairs"));
  }

  /**
   * Whether the client checks the health of a server at each connect. For clients only.
   *
   * @param how {@code off} is the default. With {@code warn} {@link MortiseClient#lastHealth}
   *     returns the findings. With {@code strict} the client also sends no requests to a server
   *     with a bad finding, and {@link MortiseClient#open} fails with that finding
   * @return options with that value
   */
  public MortiseOptions withHealthCheck(String how) {
    return with(Constants.OPTION_HEALTH_CHECK, how);
  }

  /**
   * How long a server of {@code redlock:} has to run before it votes. No lease may be longer. For
   * clients only.
   *
   * @param quarantine 60 seconds is the default; with zero a server votes at once, which is safe
   *     only if servers forget nothing ({@code appendfsync always})
   * @return options with that value
   */
  public MortiseOptions withQuarantine(Duration quarantine) {
    return with(Constants.OPTION_QUARANTINE, Long.toString(quarantine.toMillis()));
  }

  /**
   * How many replicas must store a hold before it counts. For clients only.
   *
   * @param replicas 0 to 64; none unless set
   * @return options with that value
   */
  public MortiseOptions withAcks(int replicas) {
    return with(Constants.OPTION_ACKS, Integer.toString(replicas));
  }

  /**
   * Makes a hold count when all replicas that the Sentinels or the cluster know have stored it. For
   * clients only.
   *
   * @return options with that value
   */
  public MortiseOptions withAcksOfAll() {
    return with(Constants.OPTION_ACKS, "all");
  }

  /**
   * Where servers and acknowledging replicas store a hold before it counts. For clients only.
   *
   * @param where {@code memory} is the default; {@code fsync} is on disk
   * @return options with that value
   */
  public MortiseOptions withDurability(String where) {
    return with(Constants.OPTION_DURABILITY, where);
  }

  /**
   * By which names {@link MortiseClient#stats} distinguishes locks. There are at most 200 names,
   * and all others count as {@code other}. For clients only.
   *
   * @param rule {@code off} is the default; {@code label} uses the handles' labels, {@code name}
   *     the locks' names; patterns such as {@code orders:*,jobs:*} are also possible
   * @return options with that value
   */
  public MortiseOptions withMetricsName(String rule) {
    return with(Constants.OPTION_METRICS_NAME, rule);
  }

  /** Calls with the address of native options, which live that long. */
  long use(LongUnaryOperator call) {
    return use(MortiseNative.options_new(), call);
  }

  /** The same with options that are otherwise those of the native client. */
  long useOver(long client, LongUnaryOperator call) {
    return use(MortiseNative.options_new_from(client), call);
  }

  private long use(long address, LongUnaryOperator call) {
    if (address == 0) throw new OutOfMemoryError("native memory");
    try {
      for (Map.Entry<String, String> one : values.entrySet()) {
        byte[] value = Name.utf8(one.getValue(), one.getKey());
        MortiseNative.options_set(address, Name.utf8(one.getKey(), "key"), value);
      }
      return call.applyAsLong(address);
    } finally {
      MortiseNative.options_free(address);
    }
  }

  /** The name of a client: that in the URL, otherwise that of these options, or empty. */
  String clientName(byte[] url) {
    String text = url == null ? System.getenv("MORTISE_URL") : new String(url, UTF_8);
    if (text == null) text = "";
    Matcher found = CLIENT_NAME.matcher(text);
    return found.find() ? found.group(1) : values.getOrDefault(Constants.OPTION_CLIENT_NAME, "");
  }

  private static String text(Duration length, String what) {
    return Long.toString(Times.roundedUp(length, what));
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof MortiseOptions options && values.equals(options.values);
  }

  @Override
  public int hashCode() {
    return values.hashCode();
  }

  @Override
  public String toString() {
    return values.toString();
  }
}
