/**
 * Mortise: distributed locks on Redis and Valkey.
 *
 * The contract, in eight rules:
 *
 * 1. A handle is an owner. `mortise_lock_new` makes one owner of one name; two handles never share
 *    a hold, and a hold never follows a thread. Any thread may call any function on any handle.
 *    The exceptions are `mortise_options`, `mortise_error`, `mortise_event` and `mortise_info`:
 *    those belong to one thread at a time. What was written before an unlock is seen by the next
 *    holder in the process.
 * 2. A hold is a lease. It ends by unlock, or it is LOST, for ever. `mortise_lock_is_held` and
 *    `mortise_lock_valid_ms` are computed from a suspend-aware clock and a deadline taken before
 *    the request was sent; no thread has to run for them to be right.
 * 3. A lease cannot stop a paused process from acting after its end. Hand the fencing token
 *    (`mortise_lock_token`) to whatever you protect and let it refuse a token lower than the
 *    highest it has seen.
 * 4. Every call has a deadline: the timeout that it is given, or the client's `command_timeout`.
 * 5. `mortise_status` is 0 when the call did what its name says, positive for an outcome that is
 *    part of normal life, negative for an error. Treat an unknown value by its sign. Numbers are
 *    never reused.
 * 6. Details of a failure go into the `mortise_error` given as the last parameter. It may be NULL.
 * 7. Strings are pointer and length, and are copied. Strings that come out are borrowed from the
 *    object they were asked of, also end in NUL, and live until it is refilled or freed.
 * 8. `_free(NULL)` does nothing, `_free` never fails and takes bounded time, and the order of
 *    freeing never matters. After fork() the child's handles are inert: every call answers
 *    MORTISE_FORKED and nothing that the child does can touch the parent's locks.
 *
 * Times are milliseconds in `int64_t` and end in `_ms`. A timeout or lease has to be at most
 * MORTISE_MAX_MS. This header compiles alone as C99 and as C++.
 */
#ifndef MORTISE_MORTISE_H
#define MORTISE_MORTISE_H

#include <stddef.h>
#include <stdint.h>

#define MORTISE_VERSION_MAJOR 1
#define MORTISE_VERSION_MINOR 2
#define MORTISE_VERSION_PATCH 0
/** The version as one number: major * 1000000 + minor * 1000 + patch. */
#define MORTISE_VERSION_NUMBER 1002000
/** The version as text. */
#define MORTISE_VERSION_TEXT "1.2.0"
/** The major version of the ABI: what `mortise_get_api` and `mortise_check_abi` take. */
#define MORTISE_ABI_MAJOR 1

#if defined(SWIG)
#define MORTISE_API
#elif defined(MORTISE_BUILDS_ARCHIVE)
#define MORTISE_API __attribute__((visibility("hidden")))
#else
#define MORTISE_API __attribute__((visibility("default")))
#endif

/**
 * On functions whose result is not to be ignored: acquires, because who goes on without the lock is
 * not alone, and what makes an object. `[[nodiscard]]` where the language has it, else GCC's
 * attribute, which no `(void)` silences; define it as nothing before this header to be without it.
 *
 * No parameter is marked `nonnull`: NULL has a defined answer everywhere, and with that mark
 * compilers would leave out checks for it, also in the caller.
 */
#ifndef MORTISE_NODISCARD
#if defined(SWIG)
#define MORTISE_NODISCARD
#elif (defined(__cplusplus) && __cplusplus >= 201703L) || \
    (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
#define MORTISE_NODISCARD [[nodiscard]]
#elif defined(__GNUC__)
#define MORTISE_NODISCARD __attribute__((warn_unused_result))
#else
#define MORTISE_NODISCARD
#endif
#endif
/** On functions that never return NULL. */
#if defined(__GNUC__) && !defined(SWIG)
#define MORTISE_NEVER_NULL __attribute__((returns_nonnull))
#else
#define MORTISE_NEVER_NULL
#endif

/** A timeout that never ends. The call is still ended by cancel and by free. */
#define MORTISE_FOREVER (-1)
/** The longest timeout, lease or max_hold: 366 days, in milliseconds. */
#define MORTISE_MAX_MS INT64_C(31622400000)
/** The shortest lease, in milliseconds. */
#define MORTISE_MIN_LEASE_MS 50
/** The longest name of a lock, in bytes. Names are any bytes, at least one. */
#define MORTISE_MAX_NAME_LEN 1024
/** The longest label of a handle, in bytes of UTF-8. */
#define MORTISE_MAX_LABEL_LEN 64
/** The longest password, in bytes: what a server takes from somebody who has not logged in. */
#define MORTISE_MAX_PASSWORD_LEN 16384
/** The most members of a multi. */
#define MORTISE_MAX_MEMBERS 64
/** The most permits that a semaphore can have. */
#define MORTISE_MAX_PERMITS 1000000
/** The largest capacity of a queue, in events. */
#define MORTISE_MAX_QUEUE_CAPACITY 1048576
/**
 * How many numbers one record of `mortise_queue_next_batch` has: kind, tag, status, token, hold
 * number.
 */
#define MORTISE_RECORD_FIELDS 5

/*
 * The keys of `mortise_options_set`, which are those of a URL's query and of config files, too. A
 * duration is "30s", "1500ms", "2m", "1h" or a plain number of milliseconds, a share "1%", "0.5%"
 * or "5000ppm". All about them is in docs/options.md. These lines are written by ./dev options.
 */

/** How long a hold lasts unless it is renewed: a duration. */
#define MORTISE_OPTION_LEASE "lease"
/** Whether holds are renewed by themselves, at a third of the lease: "on" or "off". */
#define MORTISE_OPTION_RENEWAL "renewal"
/** How long a hold is renewed at most: a duration or "unlimited". */
#define MORTISE_OPTION_MAX_HOLD "max_hold"
/** Whether a handle may acquire again what it holds: "on" or "off". */
#define MORTISE_OPTION_REENTRANT "reentrant"
/** The same for reading only: "on" or "off". */
#define MORTISE_OPTION_REENTRANT_READ "reentrant_read"
/** The same for writing, and for a mutex: "on" or "off". */
#define MORTISE_OPTION_REENTRANT_WRITE "reentrant_write"
/** Whether handles of a client pass locks on and share them, or each waits: "strict" or "batch". */
#define MORTISE_OPTION_FAIR "fair"
/** Whether an unlock ends when it is answered, or when it is sent: "sent" or "answered". */
#define MORTISE_OPTION_RELEASE "release"
/** How long an unlock keeps the lock for the client's next acquire: a duration. */
#define MORTISE_OPTION_RETAIN "retain"
/** A text that queries show for the handle. */
#define MORTISE_OPTION_LABEL "label"
/** How locks are stored at the server, such as "queued". */
#define MORTISE_OPTION_PROTOCOL "protocol"
/** The pause between two attempts where one waits by trying again, on average: a duration. */
#define MORTISE_OPTION_POLL_INTERVAL "poll_interval"
/** How many attempts such an acquire makes at most: a whole number or "unlimited". */
#define MORTISE_OPTION_POLL_ATTEMPTS "poll_attempts"
/** How long a read counts for other programs in `hash`, as the lease unless set: a duration. */
#define MORTISE_OPTION_READ_LIFETIME "read_lifetime"
/** The same of a write: a duration. */
#define MORTISE_OPTION_WRITE_LIFETIME "write_lifetime"
/** The deadline of calls without a timeout: a duration. A client's only. */
#define MORTISE_OPTION_COMMAND_TIMEOUT "command_timeout"
/** The connection's name in CLIENT LIST, `mortise` unless set. A client's only. */
#define MORTISE_OPTION_CLIENT_NAME "client_name"
/** A file with the password, read again at each connect. A client's only. */
#define MORTISE_OPTION_PASSWORD_FILE "password_file"
/** How long a waiting caller spins: a whole number of microseconds or "auto". A client's only. */
#define MORTISE_OPTION_BUSY_POLL "busy_poll"
/** Whether exit() gives the client's holds back: "on" or "off". A client's only. */
#define MORTISE_OPTION_RELEASE_AT_EXIT "release_at_exit"
/** How far this machine's clock and the server's may differ in speed: a share. A client's only. */
#define MORTISE_OPTION_DRIFT "drift"
/** Whether a client connects in the background: "lazy" or "wait". A client's only. */
#define MORTISE_OPTION_CONNECT "connect"
/** Certificates and revocation lists of who signs servers, else the system's. A client's only. */
#define MORTISE_OPTION_TLS_CA_FILE "tls_ca_file"
/** The same as a folder, as `openssl rehash` makes it. A client's only. */
#define MORTISE_OPTION_TLS_CA_FOLDER "tls_ca_folder"
/** The certificate that the client shows the server. A client's only. */
#define MORTISE_OPTION_TLS_CERTIFICATE_FILE "tls_certificate_file"
/** Its key. A client's only. */
#define MORTISE_OPTION_TLS_KEY_FILE "tls_key_file"
/** The name or address in the server's certificate, the URL's host unless set. A client's only. */
#define MORTISE_OPTION_TLS_NAME "tls_name"
/** Whether the server has to prove who it is: "on" or "off". A client's only. */
#define MORTISE_OPTION_TLS_VERIFY "tls_verify"
/** A file with the Sentinels' password, read again at each connect. A client's only. */
#define MORTISE_OPTION_SENTINEL_PASSWORD_FILE "sentinel_password_file"
/** Whether Sentinels have TLS, as the scheme says unless set, such as "on". A client's only. */
#define MORTISE_OPTION_SENTINEL_TLS "sentinel_tls"
/** The name in the Sentinels' certificates, each one's host unless set. A client's only. */
#define MORTISE_OPTION_SENTINEL_TLS_NAME "sentinel_tls_name"
/** Whether servers are examined when they are connected to, such as "off". A client's only. */
#define MORTISE_OPTION_EXAMINE "examine"
/** How long a server of `redlock:` runs before it votes: a duration. A client's only. */
#define MORTISE_OPTION_QUARANTINE "quarantine"
/** How many replicas have a hold before it counts: a whole number or "all". A client's only. */
#define MORTISE_OPTION_ACKS "acks"
/** Where the server and these replicas have it by then, such as "memory". A client's only. */
#define MORTISE_OPTION_DURABILITY "durability"
/** Under which names locks are counted apart, such as "orders:*,jobs:*". A client's only. */
#define MORTISE_OPTION_METRICS_NAME "metrics_name"

/** What a call came to. See docs/errors.md for what to do about each. */
enum mortise_status_code {
  /** The call did what its name says. */
  MORTISE_OK = 0,
  /** Somebody else holds the lock, and the call was not to wait. */
  MORTISE_NOT_ACQUIRED = 1,
  /** The timeout passed first. Nothing is held. */
  MORTISE_TIMED_OUT = 2,
  /** The wait was ended by `mortise_lock_cancel`. Nothing is held. */
  MORTISE_CANCELLED = 3,
  /** The hold was lost: its lease ended, or the server says that it is no longer ours. */
  MORTISE_LOST = 4,
  /** This handle holds nothing: it never did, or it has already unlocked. */
  MORTISE_NOT_OWNER = 5,
  /** The queue was shut down and has been drained. */
  MORTISE_SHUT_DOWN = 6,
  /** An argument is wrong; the message names it, its value and the mend. */
  MORTISE_INVALID_ARGUMENT = -1,
  /** No server answered; the request was never sent. Safe to try again. */
  MORTISE_UNREACHABLE = -2,
  /** The request was sent and no answer came: it may or may not have been carried out. */
  MORTISE_UNKNOWN = -3,
  /** The server refused the request and did not carry it out; `mortise_error_server_text`. */
  MORTISE_REFUSED = -4,
  /** This handle holds the lock already and is not reentrant. */
  MORTISE_ALREADY_HELD = -5,
  /** Another call on this handle is acquiring or unlocking. */
  MORTISE_BUSY = -6,
  /** A bound was hit: a full queue, too many members, open requests or file descriptors. */
  MORTISE_LIMIT = -7,
  /** The handle or its client was freed while the call waited. */
  MORTISE_CLOSED = -8,
  /** The handle was made before fork() in the parent process. */
  MORTISE_FORKED = -9,
  /** This protocol, deployment or server cannot do that. */
  MORTISE_UNSUPPORTED = -10,
  /** Memory ran out. */
  MORTISE_NO_MEMORY = -11,
  /** A defect in Mortise; please report it with the message. */
  MORTISE_INTERNAL = -12
};
/** A value of `enum mortise_status_code`, or one that a later version adds. */
typedef int32_t mortise_status;

/** What an event tells. */
enum mortise_event_kind_code {
  /** No event: the object was never filled. */
  MORTISE_EVENT_NONE = 0,
  /** An acquire or try ended; `mortise_event_status` says how, on OK with its fencing token. */
  MORTISE_EVENT_ACQUIRED = 1,
  /** An unlock ended. */
  MORTISE_EVENT_UNLOCKED = 2,
  /** An extend ended. */
  MORTISE_EVENT_EXTENDED = 3,
  /** A watched hold was lost; the token is that of the lost hold. AT_RISK was told before. */
  MORTISE_EVENT_LOST = 4,
  /**
   * A watched hold has a third of its lease left and is not being renewed, or is just being lost;
   * once per hold, and before every LOST.
   */
  MORTISE_EVENT_AT_RISK = 5,
  /** An upgrade ended; on MORTISE_OK with the new fencing token. */
  MORTISE_EVENT_UPGRADED = 6,
  /** A downgrade ended. */
  MORTISE_EVENT_DOWNGRADED = 7,
  /** A line of a client's log: see `mortise_client_watch_log`. @since 1.2 */
  MORTISE_EVENT_LOG = 8,
  /** A client's statistics are due: see `mortise_client_watch_stats`. @since 1.2 */
  MORTISE_EVENT_STATS = 9
};
/** A value of `enum mortise_event_kind_code`, or one that a later version adds. */
typedef int32_t mortise_event_kind;

/** How bad it is what a line of the log tells. The lower, the worse. */
enum mortise_log_level_code {
  /** It is no line of the log. */
  MORTISE_LOG_LEVEL_NONE = 0,
  /** Somebody has to do something: a hold was lost, a server refuses this client. */
  MORTISE_LOG_LEVEL_ERROR = 1,
  /** It may become bad, and may end by itself: a server is not reached, or slow. */
  MORTISE_LOG_LEVEL_WARNING = 2,
  /** It is good to know: a server is reached again. */
  MORTISE_LOG_LEVEL_INFO = 3
};
/** A value of `enum mortise_log_level_code`, or one that a later version adds. */
typedef int32_t mortise_log_level;

/** What a line of the log is about. */
enum mortise_log_subject_code {
  /** It is no line of the log. */
  MORTISE_LOG_NONE = 0,
  /** A server is connected to again. INFO. */
  MORTISE_LOG_RECONNECTED = 1,
  /** Another server than before is asked: a master that was promoted, a slot that moved. INFO. */
  MORTISE_LOG_REDIRECTED = 2,
  /** The connection to a server ended. WARNING. */
  MORTISE_LOG_DISCONNECTED = 3,
  /** An attempt to connect came to nothing. WARNING. */
  MORTISE_LOG_UNREACHABLE = 4,
  /** A server refused this client: a password, a right, a setting. ERROR. */
  MORTISE_LOG_REFUSED = 5,
  /** A server's answers are overdue. WARNING. */
  MORTISE_LOG_SLOW = 6,
  /** A hold was lost; with its lock's name and the reason. ERROR. */
  MORTISE_LOG_LOST = 7
};
/** A value of `enum mortise_log_subject_code`, or one that a later version adds. */
typedef int32_t mortise_log_subject;

/** Why a hold was lost, or is at risk. */
enum mortise_reason_code {
  /** It is about no loss and no risk, or the reason is not known. */
  MORTISE_REASON_NONE = 0,
  /** Its lease ended, or will end, before a renewal was confirmed. */
  MORTISE_REASON_EXPIRED = 1,
  /**
   * The server says that another holds the lock; told of mutexes by `queued` and `token` when
   * renewed.
   */
  MORTISE_REASON_REPLACED = 2,
  /**
   * The server does not have the hold any more: it was deleted, flushed, or lost in a restart; with
   * other kinds and protocols also when another holds the lock.
   */
  MORTISE_REASON_SERVER_LOST = 3,
  /** The option `max_hold` ended the renewals. */
  MORTISE_REASON_MAX_HOLD = 4,
  /** `mortise_lock_force_release` was called for this hold, somewhere. @since 1.2 */
  MORTISE_REASON_FORCED = 5
};
/** A value of `enum mortise_reason_code`, or one that a later version adds. */
typedef int32_t mortise_reason;

/** What an examination found of one matter. The higher, the worse. */
enum mortise_verdict_code {
  /** As it should be. */
  MORTISE_VERDICT_OK = 0,
  /** The server does not tell. */
  MORTISE_VERDICT_UNKNOWN = 1,
  /** Locks are right until something fails: a crash, a failover, a script that hangs. */
  MORTISE_VERDICT_WARN = 2,
  /** Locks do not work, or two may hold without any fault. */
  MORTISE_VERDICT_BAD = 3
};
/** A value of `enum mortise_verdict_code`, or one that a later version adds. */
typedef int32_t mortise_verdict;

/** Settings, as typed values or as text. One thread at a time. */
typedef struct mortise_options mortise_options;
/** The details of one failure, filled by the call that it is given to. One thread at a time. */
typedef struct mortise_error mortise_error;
/** One connection to one deployment, shared by all handles made from it. Any thread. */
typedef struct mortise_client mortise_client;
/** One owner of one named mutex. Any thread. */
typedef struct mortise_lock mortise_lock;
/** One owner of one named read-write lock. Any thread. */
typedef struct mortise_rw mortise_rw;
/** One owner of permits of one named semaphore. Any thread. */
typedef struct mortise_semaphore mortise_semaphore;
/** Several locks that are acquired all or none. Any thread. */
typedef struct mortise_multi mortise_multi;
/** Where asynchronous results and notices arrive. Any thread. */
typedef struct mortise_queue mortise_queue;
/** One event, filled by `mortise_queue_next`. One thread at a time. */
typedef struct mortise_event mortise_event;
/** What the server knows of a lock, filled by `mortise_lock_query`. One thread at a time. */
typedef struct mortise_info mortise_info;
/** What was found when the servers were examined. It never changes: any thread. */
typedef struct mortise_examination mortise_examination;
/** What a client has counted. It never changes: any thread. */
typedef struct mortise_stats mortise_stats;
/** What all clients that live hold and wait for. It never changes: any thread. */
typedef struct mortise_census mortise_census;
/** Every function as a pointer, for users of dlopen; see mortise/api.h. */
typedef struct mortise_api mortise_api;

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version ---------------------------------------------------------------------------- */

/** The version of the loaded library as one number (MORTISE_VERSION_NUMBER). @since 1.0 */
MORTISE_API int32_t mortise_version(void);
/** The version of the loaded library as text; static. @since 1.0 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_version_text(void);
/**
 * Whether the loaded library has the ABI that the caller was compiled for: the same major and at
 * least this minor version. Returns MORTISE_OK or MORTISE_UNSUPPORTED.
 * @since 1.0
 */
MORTISE_API mortise_status mortise_check_abi(int32_t major, int32_t minor);
/**
 * The table of all functions for this ABI major version, or NULL when the library does not have
 * it. Static; entries are only ever appended, and `size` says how many bytes are there.
 * @since 1.0
 */
MORTISE_API const mortise_api *mortise_get_api(int32_t abi_major);
/** A short English name of a status, such as "timed out"; static, never NULL. @since 1.0 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_status_text(mortise_status status);

/* ---- error ------------------------------------------------------------------------------ */

/**
 * A new, empty error, or NULL when memory runs out. Free it with `mortise_error_free`. @since 1.0
 */
MORTISE_NODISCARD MORTISE_API mortise_error *mortise_error_new(void);
/** Frees an error. @since 1.0 */
MORTISE_API void mortise_error_free(mortise_error *error);
/** The status of the last call that filled this object; MORTISE_OK when it is empty. @since 1.0 */
MORTISE_API mortise_status mortise_error_code(const mortise_error *error);
/**
 * One line of English that says what was wrong and how to mend it; "" when empty. Unless an
 * argument is wrong, which is named then, what a handle says begins with the name of its lock in
 * quotes, of at most 64 bytes and with a `?` for each that is no printable ASCII. A multi names the
 * member that stood in the way, was lost or did not answer; where it is about none of them in
 * particular, the first three.
 * @since 1.0
 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_error_message(const mortise_error *error);
/** The server's own words, such as "READONLY You can't write…"; "" when it had none. @since 1.0 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_error_server_text(const mortise_error *error);
/** 1 when the same call may succeed later without any change, else 0. @since 1.0 */
MORTISE_API int32_t mortise_error_is_retryable(const mortise_error *error);
/** 1 when the request may have been carried out although the call failed, else 0. @since 1.0 */
MORTISE_API int32_t mortise_error_is_ambiguous(const mortise_error *error);

/**
 * The name of the lock whose handle, or the member of a multi, it is about: any bytes, with a NUL
 * behind them; "" when it is about none, or about an argument.
 * @param name_len set to the number of bytes; may be NULL.
 * @since 1.1
 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_error_lock_name(const mortise_error *error,
                                                                   size_t *name_len);
/** Why the hold was lost, for MORTISE_LOST; else MORTISE_REASON_NONE. @since 1.1 */
MORTISE_API mortise_reason mortise_error_reason(const mortise_error *error);

/* ---- options ---------------------------------------------------------------------------- */

/**
 * New options with the defaults: lease 30 s, renewal on, max_hold 1 h, not reentrant, fair=batch,
 * no label, command_timeout 3 s. NULL when memory runs out. Given to `mortise_client_new` they are
 * the defaults of all its handles; given to `mortise_lock_new` they are complete in themselves: to
 * change one setting of one handle, begin with `mortise_options_new_from`. Values are copied when
 * they are used; free them at any time.
 * @since 1.0
 */
MORTISE_NODISCARD MORTISE_API mortise_options *mortise_options_new(void);
/**
 * New options with the client's own settings, as its options and its URL made them: the base for a
 * handle that differs in one of them. Copied; what is done to them does not change the client.
 * @return the options, or NULL on MORTISE_INVALID_ARGUMENT (no client), MORTISE_FORKED,
 *   MORTISE_NO_MEMORY. Free them with `mortise_options_free`.
 * @since 1.1
 */
MORTISE_NODISCARD MORTISE_API mortise_options *mortise_options_new_from(
    const mortise_client *client, mortise_error *error);
/** Frees options. @since 1.0 */
MORTISE_API void mortise_options_free(mortise_options *options);
/**
 * Sets one option from text, as the URL's query and config files do: one of the keys
 * MORTISE_OPTION_LEASE to MORTISE_OPTION_METRICS_NAME, which say what values they have. New in 1.1
 * are `reentrant_read`, `reentrant_write`, `poll_interval`, `poll_attempts`, `read_lifetime`,
 * `write_lifetime` (see docs/protocols.md), `release_at_exit` (see docs/operations.md),
 * `drift` and `connect` (mortise_client_new says what it means); new in 1.2 are `examine` (see
 * docs/examination.md), `quarantine` (see docs/redlock.md), `acks` and `durability` (see
 * docs/acks.md), `metrics_name` (see docs/statistics.md).
 *
 * A handle is not made with options in which one was set that is a client's only.
 *
 * @return MORTISE_OK; MORTISE_INVALID_ARGUMENT for an unknown key or a value out of range.
 * @since 1.0
 */
MORTISE_API mortise_status mortise_options_set(mortise_options *options, const char *key,
                                               size_t key_len, const char *value, size_t value_len,
                                               mortise_error *error);
/** How long a hold lasts unless renewed: MORTISE_MIN_LEASE_MS to MORTISE_MAX_MS. @since 1.0 */
MORTISE_API mortise_status mortise_options_set_lease_ms(mortise_options *options, int64_t lease_ms,
                                                        mortise_error *error);
/** Whether holds are renewed by themselves (0 or 1). Default 1. @since 1.0 */
MORTISE_API mortise_status mortise_options_set_renewal(mortise_options *options, int32_t is_on,
                                                       mortise_error *error);
/**
 * How long a hold is renewed at most, so that a forgotten hold ends: 1 to MORTISE_MAX_MS, or
 * MORTISE_FOREVER for no limit. Default one hour.
 * @since 1.0
 */
MORTISE_API mortise_status mortise_options_set_max_hold_ms(mortise_options *options,
                                                           int64_t max_hold_ms,
                                                           mortise_error *error);
/**
 * Whether this handle may acquire again what it holds (0 or 1). Each further acquire is counted
 * locally and needs its own unlock. Default 0.
 * @since 1.0
 */
MORTISE_API mortise_status mortise_options_set_reentrant(mortise_options *options, int32_t is_on,
                                                         mortise_error *error);
/** As `mortise_options_set_reentrant`, for acquiring a read-write lock to read. @since 1.1 */
MORTISE_API mortise_status mortise_options_set_reentrant_read(mortise_options *options,
                                                              int32_t is_on, mortise_error *error);
/** As `mortise_options_set_reentrant`, for writing, and for a mutex. @since 1.1 */
MORTISE_API mortise_status mortise_options_set_reentrant_write(mortise_options *options,
                                                               int32_t is_on, mortise_error *error);
/**
 * How the handle's locks are written at the server: "queued", Mortise's own and the default, or, to
 * share locks with other programs, "token", "hash" (Redisson's), "timestamp" or "timestamp_binary"
 * for a mutex, "two_key" or "hash" for a read-write lock. Both sides then use the lock's name as
 * the key. These have no queue; what each of them cannot promise is in docs/protocols.md.
 * Read-write locks answer an upgrade, a downgrade and a read while they write with
 * MORTISE_UNSUPPORTED. Handles with different protocols do not see each other.
 *
 * @return MORTISE_OK; MORTISE_INVALID_ARGUMENT for another text. Whether the kind of lock has it is
 *   said when the lock is made: MORTISE_UNSUPPORTED.
 * @since 1.1
 */
MORTISE_API mortise_status mortise_options_set_protocol(mortise_options *options,
                                                        const char *protocol, size_t protocol_len,
                                                        mortise_error *error);
/**
 * How long a waiting acquire of a protocol without a queue pauses between two attempts, on average;
 * each pause is spread by half. 1 to 60000 ms. Default 100.
 * @since 1.1
 */
MORTISE_API mortise_status mortise_options_set_poll_interval_ms(mortise_options *options,
                                                                int64_t poll_interval_ms,
                                                                mortise_error *error);
/**
 * How many attempts such an acquire makes at most before it ends with MORTISE_NOT_ACQUIRED: 1 to
 * 1000000000, or MORTISE_FOREVER for no limit but its timeout, the default.
 * @since 1.1
 */
MORTISE_API mortise_status mortise_options_set_poll_attempts(mortise_options *options,
                                                             int64_t poll_attempts,
                                                             mortise_error *error);
/**
 * 0 (batch): waiters of one client pass a mutex on among themselves while others wait, up to
 * 16 times and for 8 round trips to the server (2 to 10 ms); readers of one client join those who
 * read, without a round trip, while nobody waits. 1 (strict): first come, first served among all
 * clients, and each reader asks the server. Default 0.
 * @since 1.0
 */
MORTISE_API mortise_status mortise_options_set_fair_strict(mortise_options *options, int32_t is_on,
                                                           mortise_error *error);
/**
 * How long an unlock that nobody waits for keeps the lock for the next acquire of this client,
 * which then costs no round trip: 0 to 31622400000 ms, at most half of the lease. Others are
 * handed it when they wait, and are refused when they try: docs/round_trips.md. Only for holds
 * that are renewed, of the protocol "queued". Default 0: not at all.
 * @since 1.2
 */
MORTISE_API mortise_status mortise_options_set_retain_ms(mortise_options *options,
                                                         int64_t retain_ms, mortise_error *error);
/**
 * A text that `mortise_lock_query` shows for this handle: UTF-8 without control characters, at
 * most MORTISE_MAX_LABEL_LEN bytes. Default empty.
 * @since 1.0
 */
MORTISE_API mortise_status mortise_options_set_label(mortise_options *options, const char *label,
                                                     size_t label_len, mortise_error *error);
/**
 * The deadline of every call that takes no timeout, and how long an open request may stay without
 * an answer before its connection counts as broken: 10 to 60000. Client only. Default 3000.
 * @since 1.0
 */
MORTISE_API mortise_status mortise_options_set_command_timeout_ms(mortise_options *options,
                                                                  int64_t command_timeout_ms,
                                                                  mortise_error *error);
/**
 * How far the speeds of this machine's clock and the server's may differ, in millionths: 1000 (0.1
 * %) to 200000 (20 %). By so much longer than the lease the server keeps a lock, so that is what a
 * crash costs the others on top of the lease; where the clocks differ by more, two clients may hold
 * at once. Both clocks slew while they are corrected: ntpd by at most 500, chronyd by up to 83333
 * unless its `maxslewrate` is lower. Each client answers for its own holds, so clients that share a
 * lock may have different values. Client only. Default 100000 (10 %).
 * @since 1.1
 */
MORTISE_API mortise_status mortise_options_set_drift_ppm(mortise_options *options,
                                                         int64_t drift_ppm, mortise_error *error);

/* ---- client ----------------------------------------------------------------------------- */

/**
 * Opens a client: one connection and one thread, shared by all handles made from it. A server that
 * is not there yet (nobody listens, no such socket, the name is not known), loading, busy or a
 * replica is tried until command_timeout; what only somebody can mend ends it at once. With
 * `connect=lazy` it returns at once, and connects in the background for as long as it takes: until
 * then, all calls wait within their timeouts for the connection, and then say what stood in its
 * way. So they do while the client looks for the master that the URL's name leads to.
 *
 * @param url `redis://[user[:password]@]host[:port][/db][?option=value&…]`, since 1.2 `rediss://…`
 *   for the same over TLS, `unix://[user[:password]@]/path/to.sock[?db=n&…]`, or `local:`, a
 * private server of this user on this host that is started when needed and ends by itself. Since
 * 1.2 `redis+sentinel://[user[:password]@]host[:port][,host[:port]…]/master[/db][?option=value&…]`
 * is whichever server these 1 to 16 Sentinels call the master of that name, and
 * `rediss+sentinel://…` the same over TLS; see docs/sentinel.md, also for `sentinel_user` and
 * `sentinel_password`. Since 1.2
 * `redis+cluster://[user[:password]@]host[:port][,host[:port]…][/db][?option=value&…]` is the
 * cluster that these 1 to 64 servers are of, each name at the master that has its slot, and
 * `rediss+cluster://…` the same over TLS; see docs/cluster.md.
 * Since 1.2 it may be `shard:` and 2 to 64 of these, except clusters, with a ',' between two: each
 * name of a lock belongs to one of the servers, and the client opens when all have answered.
 * Queries may then have `shard=NAME` and `weight=N`, 1 to 100, and options of one server, `tls_…`,
 * `sentinel_…` and `password_file`, count for their own URL. Since 1.2 it may also be `redlock:`
 * and 2 to 31 of these, except clusters: more than half of the servers have to agree on each lock,
 * and the client opens when so many have answered. Percent-encoding is undone in every part. Since
 * 1.1 NULL is the URL in the environment variable MORTISE_URL, which is read only then, during this
 * call, and never by a program that runs with another user's rights (see secure_getenv).
 * @param url_len bytes of `url`, 1 to 4096, and as many for each of a list; 0 with NULL.
 * @param options defaults for the handles, overridden by the URL's query; NULL for the defaults.
 * @param error filled on failure; may be NULL.
 * @return the client, connected and greeted unless `connect=lazy`; NULL on MORTISE_INVALID_ARGUMENT
 *   (also for NULL while MORTISE_URL is unset or empty), MORTISE_UNREACHABLE (nobody answered
 * within command_timeout), MORTISE_REFUSED (wrong password, missing rights, too old a server; still
 * loading, busy or a replica at the end of command_timeout; with `examine=strict` what was found
 * bad), MORTISE_UNSUPPORTED (TLS without OpenSSL 3), MORTISE_LIMIT (no descriptor or thread to be
 * had), MORTISE_NO_MEMORY. Free it with `mortise_client_free`.
 * @since 1.0
 */
MORTISE_NODISCARD MORTISE_API mortise_client *mortise_client_new(const char *url, size_t url_len,
                                                                 const mortise_options *options,
                                                                 mortise_error *error);
/**
 * Closes the client. Waiting calls end with MORTISE_CLOSED, holds are given back without waiting
 * for the answer (for at most 100 ms), and its handles answer MORTISE_CLOSED from then on.
 * @since 1.0
 */
MORTISE_API void mortise_client_free(mortise_client *client);
/**
 * Asks the server for a sign of life.
 * @return MORTISE_OK, MORTISE_UNREACHABLE, MORTISE_UNKNOWN, MORTISE_REFUSED, MORTISE_LIMIT,
 *   MORTISE_CLOSED, MORTISE_FORKED, MORTISE_INVALID_ARGUMENT.
 * @since 1.0
 */
MORTISE_API mortise_status mortise_client_ping(mortise_client *client, mortise_error *error);
/**
 * Gives a client another user and password, where the program knows when they change. They are said
 * on the live connection (AUTH), and its answer is waited for within command_timeout; new
 * connections log in with them. Holds, waits and their order go on. Without a connection at the
 * moment they are kept, and tried at once. A right that the new user lacks is seen when it is
 * needed. Where the server has no RESP3, the client then connects anew.
 *
 * On every status but MORTISE_OK those before stay in force; on MORTISE_UNKNOWN the server may have
 * taken the new ones on this connection, so ask again.
 *
 * @param user any bytes; NULL with 0, or "", for the server's default user.
 * @param user_len bytes of `user`, 0 to MORTISE_MAX_PASSWORD_LEN.
 * @param password any bytes, also NUL. It is copied, and the copy is overwritten when it is not
 *   needed any more.
 * @param password_len bytes of `password`, 1 to MORTISE_MAX_PASSWORD_LEN.
 * @return MORTISE_OK; MORTISE_REFUSED: the server did not accept them; MORTISE_UNREACHABLE: the
 *   connection broke, and nothing is changed; MORTISE_UNKNOWN: no answer in time; MORTISE_LIMIT,
 *   MORTISE_CLOSED, MORTISE_FORKED, MORTISE_NO_MEMORY; MORTISE_INVALID_ARGUMENT, also for a client
 *   with the option `password_file`, which is where its password comes from: write the file.
 * @since 1.2
 */
MORTISE_API mortise_status mortise_client_set_credentials(mortise_client *client, const char *user,
                                                          size_t user_len, const char *password,
                                                          size_t password_len,
                                                          mortise_error *error);

/**
 * Examines the servers: their settings, rights and clocks, as far as they matter to locks. The
 * findings are in docs/examination.md. It takes two round trips, changes nothing at a server,
 * and waits for command_timeout at most. A server that does not answer by then is a finding, where
 * another one does.
 * @return the examination; NULL on MORTISE_UNREACHABLE, MORTISE_UNKNOWN (no answer in time),
 *   MORTISE_LIMIT, MORTISE_CLOSED, MORTISE_FORKED, MORTISE_INVALID_ARGUMENT, MORTISE_NO_MEMORY.
 *   Free it with `mortise_examination_free`.
 * @since 1.2
 */
MORTISE_NODISCARD MORTISE_API mortise_examination *mortise_client_examine(mortise_client *client,
                                                                          mortise_error *error);
/**
 * The same as it was found last, without asking: by `mortise_client_examine`, or when the client
 * connected last, with the option `examine` as `warn` or `strict`. Without findings where nothing
 * was examined so far.
 * @return the examination; NULL on MORTISE_CLOSED, MORTISE_FORKED, MORTISE_INVALID_ARGUMENT,
 *   MORTISE_NO_MEMORY. Free it with `mortise_examination_free`.
 * @since 1.2
 */
MORTISE_NODISCARD MORTISE_API mortise_examination *mortise_client_examination(
    mortise_client *client, mortise_error *error);

/**
 * What the client has counted since it was made: acquires, holds, losses, round trips, connections.
 * Each name is in docs/statistics.md. It asks no server and costs calls that lock nothing.
 * @return the statistics; NULL on MORTISE_CLOSED, MORTISE_FORKED, MORTISE_INVALID_ARGUMENT,
 *   MORTISE_NO_MEMORY. Free them with `mortise_stats_free`.
 * @since 1.2
 */
MORTISE_NODISCARD MORTISE_API mortise_stats *mortise_client_stats(mortise_client *client,
                                                                  mortise_error *error);

/**
 * From now on what happens to this client is told on the queue, line by line, each an event of
 * MORTISE_EVENT_LOG with this tag: how bad it is, what it is about, and the line as the event's
 * message. Its status is what the matter came to, which is MORTISE_OK of what is well again. Off
 * until it is called; it replaces an earlier watch, and a NULL queue ends it.
 *
 * Nothing ever waits for the reader. Lines take no room of the queue's capacity, stand behind all
 * other events, and are left out where they come too fast: of each subject ten may come at once,
 * then one in ten seconds, and at most 64 stay unread. `mortise_event_left_out` says how many were.
 * So it is no place to learn of losses: `mortise_lock_watch` leaves out none.
 *
 * @param tag any number; comes back in the events.
 * @param level what is as bad as this or worse is told: MORTISE_LOG_LEVEL_ERROR to
 *   MORTISE_LOG_LEVEL_INFO; not looked at without a queue.
 * @return MORTISE_OK, MORTISE_SHUT_DOWN, MORTISE_CLOSED, MORTISE_FORKED, MORTISE_INVALID_ARGUMENT.
 * @since 1.2
 */
MORTISE_API mortise_status mortise_client_watch_log(mortise_client *client, mortise_queue *queue,
                                                    int64_t tag, mortise_log_level level,
                                                    mortise_error *error);
/**
 * From now on an event of MORTISE_EVENT_STATS comes to the queue every so often, with this tag, for
 * whoever reads `mortise_client_stats` then: the event itself carries no numbers. It takes no room
 * of the queue's capacity and stands behind all other events; while one is unread no other comes.
 * Off until it is called; it replaces an earlier watch, and a NULL queue ends it.
 * @param tag any number; comes back in the events.
 * @param interval_ms 10 to MORTISE_MAX_MS; not looked at without a queue.
 * @return MORTISE_OK, MORTISE_SHUT_DOWN, MORTISE_CLOSED, MORTISE_FORKED, MORTISE_INVALID_ARGUMENT.
 * @since 1.2
 */
MORTISE_API mortise_status mortise_client_watch_stats(mortise_client *client, mortise_queue *queue,
                                                      int64_t tag, int64_t interval_ms,
                                                      mortise_error *error);

/**
 * Asks all clients that live what they hold and wait for: finds their inboxes by PUBSUB CHANNELS,
 * in a cluster SHARDCHANNELS, sends each a message, and gathers what they answer. It looks for no
 * keys. What it tells and what it does not is in docs/census.md. It ends when all have
 * answered, or after `timeout_ms`, which is no error: who has not answered by then is silent. Of
 * several servers, those that do not answer in half of that time are left out, with the clients
 * that only they know; the JSON names them as "missing". One census after the other is taken of a
 * client.
 * @param timeout_ms 1 to 60000.
 * @return the census; NULL on MORTISE_REFUSED (a right is missing), MORTISE_UNREACHABLE,
 *   MORTISE_UNKNOWN (no server answered in time), MORTISE_BUSY (another one was taken all the
 *   time), MORTISE_LIMIT, MORTISE_CLOSED, MORTISE_FORKED, MORTISE_INVALID_ARGUMENT,
 *   MORTISE_NO_MEMORY. Free it with `mortise_census_free`.
 * @since 1.2
 */
MORTISE_NODISCARD MORTISE_API mortise_census *mortise_client_census(mortise_client *client,
                                                                    int64_t timeout_ms,
                                                                    mortise_error *error);

/**
 * Looks through the keys of the servers for locks: for holds of clients that are dead or stopped,
 * and of other programs, which no census tells. It changes nothing, and never says KEYS: it SCANs,
 * 1000 keys at a time, with the right `+scan`. Each hold that is found is an entry whose "source"
 * is "key", with "name", "kind", "holds", "time_left_ms" and, of Mortise's own, the "client" that
 * holds and its "label"; all else is empty. Of many that share a lock the first 16 are entries, and
 * one more has the rest. At a quorum each server's keys are entries. How many servers have
 * answered, and how many were not looked through to the end, because of a limit or the time, the
 * census says as of clients; those that did not answer at all its JSON names as "missing".
 *
 * @param pattern NULL with 0, or "", for locks in Mortise's own format. Or the pattern, as SCAN has
 *   it, of keys in the formats of other programs, such as "lock:*": of these nothing is read, and
 *   the kind is "other".
 * @param pattern_len bytes of `pattern`, at most MORTISE_MAX_NAME_LEN.
 * @param most_keys how many keys are looked at of each server at most: 1 to 1000000000. At most
 *   100000 are kept in all.
 * @param timeout_ms 1 to 60000.
 * @return what was found; NULL on MORTISE_REFUSED (a right is missing), MORTISE_UNREACHABLE,
 *   MORTISE_UNKNOWN (no server answered in time), MORTISE_LIMIT, MORTISE_CLOSED, MORTISE_FORKED,
 *   MORTISE_INVALID_ARGUMENT, MORTISE_NO_MEMORY. Free it with `mortise_census_free`.
 * @since 1.2
 */
MORTISE_NODISCARD MORTISE_API mortise_census *mortise_client_scan(
    mortise_client *client, const char *pattern, size_t pattern_len, int64_t most_keys,
    int64_t timeout_ms, mortise_error *error);

/* ---- census ----------------------------------------------------------------------------- */

/** Frees a census. @since 1.2 */
MORTISE_API void mortise_census_free(mortise_census *census);
/** All of it as one JSON text in UTF-8; see docs/census.md. @since 1.2 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_census_json(const mortise_census *census);
/** How many clients have answered, the asker among them. @since 1.2 */
MORTISE_API int64_t mortise_census_answered(const mortise_census *census);
/** How many live and have not answered in time. @since 1.2 */
MORTISE_API int64_t mortise_census_silent(const mortise_census *census);
/** How many have answered, but not to the end in time. @since 1.2 */
MORTISE_API int64_t mortise_census_truncated(const mortise_census *census);
/** How many entries there are: each is what one client has to do with one lock. @since 1.2 */
MORTISE_API int64_t mortise_census_count(const mortise_census *census);
/**
 * A text of an entry, by its name in JSON: "client", "host", "label", "name", "kind", "mode",
 * "waits", "source"; up to its first NUL. "" for another key, or beyond the last entry.
 * @since 1.2
 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_census_text(const mortise_census *census,
                                                               int64_t index, const char *key,
                                                               size_t key_len);
/**
 * A number of an entry, by its name in JSON: "pid"; of its hold "holds", "token", "held_ms",
 * "time_left_ms", "permits"; "waiters", "waited_ms"; "grants", "contended", "waited_total_ms". 0
 * for another key, or beyond the last entry.
 * @since 1.2
 */
MORTISE_API int64_t mortise_census_number(const mortise_census *census, int64_t index,
                                          const char *key, size_t key_len);

/* ---- stats ------------------------------------------------------------------------------ */

/** Frees statistics. @since 1.2 */
MORTISE_API void mortise_stats_free(mortise_stats *stats);
/** All of it as one JSON text in UTF-8; see docs/statistics.md. @since 1.2 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_stats_json(const mortise_stats *stats);
/** All of it in the text format of Prometheus, version 0.0.4. @since 1.2 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_stats_prometheus(const mortise_stats *stats);
/**
 * How many samples there are: numbers, each with its name and labels. A histogram has one for each
 * of its buckets, its sum and its count, as in Prometheus' text.
 * @since 1.2
 */
MORTISE_API int64_t mortise_stats_count(const mortise_stats *stats);
/** A sample's name, such as "mortise_holds"; "" beyond the last. @since 1.2 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_stats_name(const mortise_stats *stats,
                                                              int64_t index);
/** "counter", "gauge" or "histogram", of which the sample is; "" beyond the last. @since 1.2 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_stats_type(const mortise_stats *stats,
                                                              int64_t index);
/** A sample's number, in seconds or as a count; 0 beyond the last. @since 1.2 */
MORTISE_API double mortise_stats_value(const mortise_stats *stats, int64_t index);
/** How many labels a sample has; 0 beyond the last. @since 1.2 */
MORTISE_API int64_t mortise_stats_label_count(const mortise_stats *stats, int64_t index);
/** The name of a sample's label, such as "kind"; "" beyond the last. @since 1.2 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_stats_label_name(const mortise_stats *stats,
                                                                    int64_t index, int64_t label);
/** The value of a sample's label, such as "mutex"; "" beyond the last. @since 1.2 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_stats_label_value(const mortise_stats *stats,
                                                                     int64_t index, int64_t label);

/* ---- examination ------------------------------------------------------------------------ */

/** Frees an examination. @since 1.2 */
MORTISE_API void mortise_examination_free(mortise_examination *examination);
/** How many findings there are, the same for each server. @since 1.2 */
MORTISE_API int64_t mortise_examination_count(const mortise_examination *examination);
/** The worst of all verdicts; MORTISE_VERDICT_UNKNOWN without findings. @since 1.2 */
MORTISE_API mortise_verdict mortise_examination_worst(const mortise_examination *examination);
/**
 * The name of a finding, such as "maxmemory_policy", which stays the same in later versions; ""
 * beyond the last. @since 1.2
 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_examination_name(
    const mortise_examination *examination, int64_t index);
/** What was found; MORTISE_VERDICT_UNKNOWN beyond the last. @since 1.2 */
MORTISE_API mortise_verdict mortise_examination_verdict(const mortise_examination *examination,
                                                        int64_t index);
/** At which server: its address without user and password; "" beyond the last. @since 1.2 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_examination_server(
    const mortise_examination *examination, int64_t index);
/** The value that was seen, in printable ASCII; "" beyond the last. @since 1.2 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_examination_value(
    const mortise_examination *examination, int64_t index);
/** What could happen; "" where all is well, and beyond the last. @since 1.2 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_examination_consequence(
    const mortise_examination *examination, int64_t index);
/** What to do about it; "" where all is well, and beyond the last. @since 1.2 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_examination_mend(
    const mortise_examination *examination, int64_t index);
/**
 * All of it as one JSON text in UTF-8: an object with `worst` and `findings`, an array of objects
 * with `name`, `verdict`, `server`, `value`, `consequence` and `mend`. @since 1.2
 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_examination_json(
    const mortise_examination *examination);
/** "ok", "unknown", "warn" or "bad"; static, never NULL. @since 1.2 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_verdict_text(mortise_verdict verdict);

/* ---- lock ------------------------------------------------------------------------------- */

/**
 * Makes a new owner of the mutex of this name. Nothing is sent.
 *
 * @param client the client; the handle keeps what it needs of it.
 * @param name any bytes. Two names are the same lock when their bytes are the same.
 * @param name_len 1 to MORTISE_MAX_NAME_LEN.
 * @param options NULL for the client's; see `mortise_options_new_from`.
 * @return the handle, or NULL on MORTISE_INVALID_ARGUMENT (with `redlock:` also for a lease that
 * its `quarantine` does not allow), MORTISE_CLOSED, MORTISE_FORKED, MORTISE_UNSUPPORTED,
 *   MORTISE_NO_MEMORY. Free it with `mortise_lock_free`.
 * @since 1.0
 */
MORTISE_NODISCARD MORTISE_API mortise_lock *mortise_lock_new(mortise_client *client,
                                                             const char *name, size_t name_len,
                                                             const mortise_options *options,
                                                             mortise_error *error);
/**
 * Frees a handle. A hold is given back without waiting for the answer; a call that
 * waits for the lock in another thread ends with MORTISE_CLOSED. A query there goes on until it is
 * answered or its time is up.
 * @since 1.0
 */
MORTISE_API void mortise_lock_free(mortise_lock *lock);
/**
 * Acquires the lock if it is free, within command_timeout.
 *
 * @return MORTISE_OK: held; read the token with `mortise_lock_token`. MORTISE_NOT_ACQUIRED:
 * somebody else holds it. MORTISE_ALREADY_HELD: this handle does, and is not reentrant.
 * MORTISE_BUSY: another call on this handle is at work. MORTISE_LOST: a reentrant handle's hold was
 * lost; unlock it first. MORTISE_UNREACHABLE (with the option `acks` also: too few replicas have
 * it, and it is given back), MORTISE_UNKNOWN (it is being given back), MORTISE_REFUSED,
 * MORTISE_CANCELLED, MORTISE_CLOSED, MORTISE_FORKED, MORTISE_LIMIT, MORTISE_INVALID_ARGUMENT.
 * @since 1.0
 */
MORTISE_NODISCARD MORTISE_API mortise_status mortise_lock_try(mortise_lock *lock,
                                                              mortise_error *error);
/**
 * Acquires the lock, waiting for its turn in the order of arrival at the server.
 *
 * @param timeout_ms 0 to MORTISE_MAX_MS, or MORTISE_FOREVER. With 0 it does what
 *   `mortise_lock_try` does.
 * @return as `mortise_lock_try`, and MORTISE_TIMED_OUT. MORTISE_UNREACHABLE when the server, or as
 *   many replicas as `acks` says, could not be reached until the timeout.
 * @since 1.0
 */
MORTISE_NODISCARD MORTISE_API mortise_status mortise_lock_acquire(mortise_lock *lock,
                                                                  int64_t timeout_ms,
                                                                  mortise_error *error);
/**
 * Ends the hold and lets the next waiter in. After it returns, whatever it returns, this handle
 * holds nothing (unless reentrant, with more unlocks to come).
 *
 * @return MORTISE_OK: released. MORTISE_LOST: the hold had been lost before. MORTISE_NOT_OWNER:
 * there was no hold. MORTISE_UNKNOWN or MORTISE_UNREACHABLE: no answer within command_timeout; it
 * is tried on in the background, and the lease ends it at the latest. MORTISE_REFUSED: the lease
 * will end it. MORTISE_BUSY, MORTISE_CLOSED, MORTISE_FORKED, MORTISE_INVALID_ARGUMENT. With the
 * option `release` = "sent" it does not wait for the answer, so that a loss or a refusal is a line
 * of the log (mortise_client_watch_log) instead.
 * @since 1.0
 */
MORTISE_API mortise_status mortise_lock_unlock(mortise_lock *lock, mortise_error *error);
/**
 * Makes the hold last at least `lease_ms` from now; never shortens it. With renewal on, later
 * renewals use the longer of this lease and the handle's.
 *
 * @param lease_ms 0 for the handle's lease, else MORTISE_MIN_LEASE_MS to MORTISE_MAX_MS; of a
 * client of `redlock:` to what its option `quarantine` allows.
 * @return MORTISE_OK, MORTISE_LOST, MORTISE_NOT_OWNER, MORTISE_UNREACHABLE (with the option `acks`
 * also: too few replicas have it) or MORTISE_UNKNOWN (the old deadline stands), MORTISE_REFUSED,
 * MORTISE_BUSY, MORTISE_LIMIT, MORTISE_CLOSED, MORTISE_FORKED, MORTISE_INVALID_ARGUMENT.
 * @since 1.0
 */
MORTISE_API mortise_status mortise_lock_extend(mortise_lock *lock, int64_t lease_ms,
                                               mortise_error *error);
/**
 * Ends this handle's waiting acquire, of any thread or queue, with MORTISE_CANCELLED. A grant may
 * win the race; the acquire then says MORTISE_OK.
 * @return MORTISE_OK: a wait was told to end. MORTISE_NOT_OWNER: nothing was waiting.
 * MORTISE_CLOSED, MORTISE_FORKED, MORTISE_INVALID_ARGUMENT.
 * @since 1.0
 */
MORTISE_API mortise_status mortise_lock_cancel(mortise_lock *lock, mortise_error *error);
/**
 * Ends this handle's waiting acquire as `mortise_lock_cancel` does, and keeps every acquire and try
 * that begins from now on from beginning: it answers MORTISE_CANCELLED, at once and without an
 * event, until this is called with 0. So there is no moment at which it comes too early, as for a
 * cancel: made for what calls once and from another thread, such as a std::stop_callback or a
 * thread that waits for signals. A hold is not touched: unlock, extend and the rest go on. A grant
 * may win the race with a wait; the acquire then says MORTISE_OK.
 *
 * @param is_on 1: interrupted from now on; 0: not any more. Calling it again changes nothing.
 * @return MORTISE_OK, whether or not something waited; MORTISE_CLOSED, MORTISE_FORKED,
 *   MORTISE_INVALID_ARGUMENT.
 * @since 1.1
 */
MORTISE_API mortise_status mortise_lock_interrupt(mortise_lock *lock, int32_t is_on,
                                                  mortise_error *error);
/**
 * The name that the handle was made with: any bytes, with a NUL behind them, which live until the
 * handle is freed. "" of NULL.
 * @param name_len set to the number of bytes; may be NULL.
 * @since 1.1
 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_lock_name(const mortise_lock *lock,
                                                             size_t *name_len);
/**
 * 1 while this handle holds the lock by the local clock, else 0. Sends nothing. With the option
 * `acks` it is 0, too, from when another server is found to have the lock until the replicas of
 * that one have the hold; nothing is lost by that alone.
 * @since 1.0
 */
MORTISE_API int32_t mortise_lock_is_held(const mortise_lock *lock);
/**
 * How long the hold is still valid by the local clock, in milliseconds rounded down; 0 while
 * `mortise_lock_is_held` is. Right after a wait it can be shorter than the lease (at most 3 s),
 * until the first renewal confirms the grant. Sends nothing.
 * @since 1.0
 */
MORTISE_API int64_t mortise_lock_valid_ms(const mortise_lock *lock);
/**
 * When the hold ends unless it is renewed before: nanoseconds of CLOCK_BOOTTIME, as clock_gettime
 * tells them; 0 when not held. Each renewal moves it on. Rounded down to a multiple of 1024, so
 * that a double holds it exactly however long the machine runs. It is told also while, with the
 * option `acks`, `mortise_lock_is_held` waits for replicas: the hold is not lost. Sends nothing.
 * @since 1.1
 */
MORTISE_API int64_t mortise_lock_deadline_ns(const mortise_lock *lock);
/**
 * The fencing token of the hold: it rises with every grant of this name and never changes during a
 * hold. It stays readable after the hold ended, until the next acquire. 0 before the first. Below
 * 2^53.
 * @since 1.0
 */
MORTISE_API int64_t mortise_lock_token(const mortise_lock *lock);
/**
 * The number of the hold among all holds of this handle: 1 for the first, and each grant raises it.
 * It does not change during a hold, and stays readable after the end until the next acquire. 0
 * before the first. Two holds of one handle never have the same number, whereas consecutive holds
 * of a reader may have the same token. Sends nothing.
 * @since 1.2
 */
MORTISE_API int64_t mortise_lock_hold_number(const mortise_lock *lock);
/**
 * As `mortise_lock_unlock`, but ends only the hold with this number, never a later one of the same
 * handle. For programs whose threads share a handle, and for objects that stand for one hold.
 * @param hold_number What `mortise_lock_hold_number` returned during the hold; 1 or more.
 * @return As `mortise_lock_unlock`. MORTISE_LOST: that hold has ended, and the handle was acquired
 * again or is acquiring; nothing was unlocked.
 * @since 1.2
 */
MORTISE_API mortise_status mortise_lock_unlock_hold(mortise_lock *lock, int64_t hold_number,
                                                    mortise_error *error);
/** As `mortise_lock_unlock_hold`, ending in one MORTISE_EVENT_UNLOCKED. @since 1.2 */
MORTISE_API mortise_status mortise_lock_unlock_hold_async(mortise_lock *lock, mortise_queue *queue,
                                                          int64_t tag, int64_t hold_number,
                                                          mortise_error *error);
/**
 * Asks the server who holds the lock and who waits. To decide whether to act, use
 * `mortise_lock_is_held`: what the server says may be old when it arrives.
 * @param info filled on MORTISE_OK.
 * @return MORTISE_OK, MORTISE_UNREACHABLE, MORTISE_UNKNOWN, MORTISE_REFUSED, MORTISE_LIMIT,
 *   MORTISE_CLOSED, MORTISE_FORKED, MORTISE_INVALID_ARGUMENT.
 * @since 1.0
 */
MORTISE_API mortise_status mortise_lock_query(mortise_lock *lock, mortise_info *info,
                                              mortise_error *error);
/**
 * Ends somebody else's hold of this lock at once, whoever it is: for people who know that it is
 * stuck. Whoever waits is next and has a higher fencing token, as after an unlock. The holder is
 * told and asks the server, which says that the hold is LOST, for the reason MORTISE_REASON_FORCED;
 * what it does until it has heard, two do at a time, unless what is written to refuses the lower
 * token. A hold that was named is ended, never one that has begun since.
 * @param owner who holds it, as `mortise_info_entry_owner` says, any bytes.
 * @param owner_len 1 to 4096.
 * @return MORTISE_OK: it held, and does not any more. MORTISE_NOT_OWNER: it does not hold it, or
 *   not any more; nothing has changed. MORTISE_REFUSED: the protocol is one of other programs,
 *   whose owners would not hear of it. Else as `mortise_semaphore_resize`.
 * @since 1.2
 */
MORTISE_API mortise_status mortise_lock_force_release(mortise_lock *lock, const char *owner,
                                                      size_t owner_len, mortise_error *error);
/**
 * As `mortise_lock_try`, ending in one MORTISE_EVENT_ACQUIRED on the queue. When this call itself
 * fails there is no event.
 * @param tag any number; comes back in the event.
 * @return MORTISE_OK: accepted. MORTISE_ALREADY_HELD, MORTISE_BUSY, MORTISE_LIMIT (the queue is
 * full), MORTISE_SHUT_DOWN, MORTISE_CLOSED, MORTISE_FORKED, MORTISE_INVALID_ARGUMENT.
 * @since 1.0
 */
MORTISE_API mortise_status mortise_lock_try_async(mortise_lock *lock, mortise_queue *queue,
                                                  int64_t tag, mortise_error *error);
/** As `mortise_lock_acquire`, ending in one event; see `mortise_lock_try_async`. @since 1.0 */
MORTISE_API mortise_status mortise_lock_acquire_async(mortise_lock *lock, mortise_queue *queue,
                                                      int64_t tag, int64_t timeout_ms,
                                                      mortise_error *error);
/** As `mortise_lock_unlock`, ending in one MORTISE_EVENT_UNLOCKED. The hold ends now. @since 1.0 */
MORTISE_API mortise_status mortise_lock_unlock_async(mortise_lock *lock, mortise_queue *queue,
                                                     int64_t tag, mortise_error *error);
/** As `mortise_lock_extend`, ending in one MORTISE_EVENT_EXTENDED. @since 1.0 */
MORTISE_API mortise_status mortise_lock_extend_async(mortise_lock *lock, mortise_queue *queue,
                                                     int64_t tag, int64_t lease_ms,
                                                     mortise_error *error);
/**
 * From now on this handle's losses and risks are told as events on the queue, each with this tag.
 * Room for them is reserved: they are never dropped. Replaces an earlier watch; a NULL queue ends
 * it.
 * @return MORTISE_OK, MORTISE_LIMIT, MORTISE_SHUT_DOWN, MORTISE_CLOSED, MORTISE_FORKED,
 *   MORTISE_INVALID_ARGUMENT.
 * @since 1.0
 */
MORTISE_API mortise_status mortise_lock_watch(mortise_lock *lock, mortise_queue *queue, int64_t tag,
                                              mortise_error *error);

/* ---- read-write lock -------------------------------------------------------------------- */

/**
 * Makes a new owner of the read-write lock of this name: many may read at once, one may write. A
 * handle reads or writes; two that do both at once are two handles. Who comes first is served
 * first: a waiting writer holds back later readers, and a leaving writer lets in all readers at the
 * head of the queue together. A mutex of the same name is another lock; the two refuse each other.
 * Nothing is sent. Parameters and failures as `mortise_lock_new`; MORTISE_UNSUPPORTED also when the
 * option `protocol` names one that read-write locks do not have.
 * @since 1.1
 */
MORTISE_NODISCARD MORTISE_API mortise_rw *mortise_rw_new(mortise_client *client, const char *name,
                                                         size_t name_len,
                                                         const mortise_options *options,
                                                         mortise_error *error);
/** Frees a handle, as `mortise_lock_free`. @since 1.1 */
MORTISE_API void mortise_rw_free(mortise_rw *rw);
/**
 * Acquires the lock for reading if no writer holds it or waits for it, within command_timeout.
 * Readers of one client share a lease: while one of them holds and nobody waits, another one asks
 * the server nothing (docs/round_trips.md), unless it has the option `fair` as `strict`. What a
 * dead client's readers held ends by itself while the others go on. Statuses as `mortise_lock_try`.
 * With `reentrant_read` a handle that reads or writes may read again: that is counted locally.
 * @since 1.1
 */
MORTISE_NODISCARD MORTISE_API mortise_status mortise_rw_read_try(mortise_rw *rw,
                                                                 mortise_error *error);
/** The same, waiting for its turn as `mortise_lock_acquire` does. @since 1.1 */
MORTISE_NODISCARD MORTISE_API mortise_status mortise_rw_read_acquire(mortise_rw *rw,
                                                                     int64_t timeout_ms,
                                                                     mortise_error *error);
/**
 * Ends the hold for reading, as `mortise_lock_unlock`. MORTISE_NOT_OWNER also when this handle
 * writes and does not read.
 * @since 1.1
 */
MORTISE_API mortise_status mortise_rw_read_unlock(mortise_rw *rw, mortise_error *error);
/**
 * Acquires the lock for writing if nobody holds it or waits for it, within command_timeout.
 * Statuses as `mortise_lock_try`; MORTISE_ALREADY_HELD also when this handle reads (see
 * `mortise_rw_upgrade_try`).
 * @since 1.1
 */
MORTISE_NODISCARD MORTISE_API mortise_status mortise_rw_write_try(mortise_rw *rw,
                                                                  mortise_error *error);
/** The same, waiting for its turn as `mortise_lock_acquire` does. @since 1.1 */
MORTISE_NODISCARD MORTISE_API mortise_status mortise_rw_write_acquire(mortise_rw *rw,
                                                                      int64_t timeout_ms,
                                                                      mortise_error *error);
/**
 * Ends the hold for writing, as `mortise_lock_unlock`. A reentrant handle that also reads goes on
 * reading. MORTISE_NOT_OWNER also when this handle reads and does not write.
 * @since 1.1
 */
MORTISE_API mortise_status mortise_rw_write_unlock(mortise_rw *rw, mortise_error *error);
/**
 * Turns this handle's hold for reading into one for writing if no other handle reads, of this
 * client or another, ahead of those who wait; it never waits, so two readers that both try cannot
 * deadlock. The hold gets a new fencing token. Where the server's user may not end old connections
 * (CLIENT KILL), a renewal that a broken connection still had under way can undo it; the fencing
 * token is the safeguard then.
 *
 * @return MORTISE_OK: it writes. MORTISE_NOT_ACQUIRED: others read too; it reads on. MORTISE_LOST:
 * the hold was lost. MORTISE_NOT_OWNER: it does not read. MORTISE_ALREADY_HELD: it writes already,
 * or reads more than once. MORTISE_UNKNOWN: no answer; it counts as reading. MORTISE_UNSUPPORTED:
 * the protocol, or `redlock:`, has no upgrade. MORTISE_UNREACHABLE, MORTISE_REFUSED, MORTISE_BUSY,
 * MORTISE_LIMIT, MORTISE_CLOSED, MORTISE_FORKED, MORTISE_INVALID_ARGUMENT.
 * @since 1.1
 */
MORTISE_NODISCARD MORTISE_API mortise_status mortise_rw_upgrade_try(mortise_rw *rw,
                                                                    mortise_error *error);
/**
 * Turns this handle's hold for writing into one for reading, without a gap, and lets in the readers
 * that wait at the head of the queue. The fencing token stays. From the call on, whatever it
 * returns, this handle only reads.
 *
 * @return MORTISE_OK. MORTISE_LOST: the hold was lost. MORTISE_NOT_OWNER: it does not write.
 *   MORTISE_ALREADY_HELD: it was acquired more than once. MORTISE_UNKNOWN or MORTISE_UNREACHABLE:
 * no answer yet; the readers are let in by the next renewal. MORTISE_UNSUPPORTED: the protocol has
 * no downgrade, or `redlock:` has none. MORTISE_REFUSED, MORTISE_BUSY, MORTISE_LIMIT,
 * MORTISE_CLOSED, MORTISE_FORKED, MORTISE_INVALID_ARGUMENT.
 * @since 1.1
 */
MORTISE_API mortise_status mortise_rw_downgrade(mortise_rw *rw, mortise_error *error);
/** As `mortise_lock_extend`. @since 1.1 */
MORTISE_API mortise_status mortise_rw_extend(mortise_rw *rw, int64_t lease_ms,
                                             mortise_error *error);
/** As `mortise_lock_interrupt`. @since 1.1 */
MORTISE_API mortise_status mortise_rw_interrupt(mortise_rw *rw, int32_t is_on,
                                                mortise_error *error);
/** As `mortise_lock_name`. @since 1.1 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_rw_name(const mortise_rw *rw, size_t *name_len);
/** As `mortise_lock_cancel`. @since 1.1 */
MORTISE_API mortise_status mortise_rw_cancel(mortise_rw *rw, mortise_error *error);
/**
 * 1 while this handle holds the lock for reading by the local clock, else 0; with the option `acks`
 * as `mortise_lock_is_held`.
 * @since 1.1
 */
MORTISE_API int32_t mortise_rw_is_reading(const mortise_rw *rw);
/** The same for writing. @since 1.1 */
MORTISE_API int32_t mortise_rw_is_writing(const mortise_rw *rw);
/** As `mortise_lock_deadline_ns`. @since 1.1 */
MORTISE_API int64_t mortise_rw_deadline_ns(const mortise_rw *rw);
/** As `mortise_lock_valid_ms`. @since 1.1 */
MORTISE_API int64_t mortise_rw_valid_ms(const mortise_rw *rw);
/**
 * As `mortise_lock_token`, for a writer: its token is above every earlier reader's and writer's. A
 * reader's token is above every earlier writer's and below every later one's. Among readers tokens
 * do not rise, and readers of one client may have the same: a fence compares a reader's token with
 * the highest token of a writer, and stores only writers' tokens.
 * @since 1.1
 */
MORTISE_API int64_t mortise_rw_token(const mortise_rw *rw);
/** As `mortise_lock_hold_number`. An upgrade or a downgrade does not change it. @since 1.2 */
MORTISE_API int64_t mortise_rw_hold_number(const mortise_rw *rw);
/** As `mortise_lock_unlock_hold`, of a reader. @since 1.2 */
MORTISE_API mortise_status mortise_rw_read_unlock_hold(mortise_rw *rw, int64_t hold_number,
                                                       mortise_error *error);
/** As `mortise_rw_read_unlock_hold`, ending in one MORTISE_EVENT_UNLOCKED. @since 1.2 */
MORTISE_API mortise_status mortise_rw_read_unlock_hold_async(mortise_rw *rw, mortise_queue *queue,
                                                             int64_t tag, int64_t hold_number,
                                                             mortise_error *error);
/** As `mortise_lock_unlock_hold`, of a writer. @since 1.2 */
MORTISE_API mortise_status mortise_rw_write_unlock_hold(mortise_rw *rw, int64_t hold_number,
                                                        mortise_error *error);
/** As `mortise_rw_write_unlock_hold`, ending in one MORTISE_EVENT_UNLOCKED. @since 1.2 */
MORTISE_API mortise_status mortise_rw_write_unlock_hold_async(mortise_rw *rw, mortise_queue *queue,
                                                              int64_t tag, int64_t hold_number,
                                                              mortise_error *error);
/** As `mortise_lock_query`: up to 16 holders, then up to 16 waiters. @since 1.1 */
MORTISE_API mortise_status mortise_rw_query(mortise_rw *rw, mortise_info *info,
                                            mortise_error *error);
/** As `mortise_lock_force_release`. A writer or a reader, of whom there may be many. @since 1.2 */
MORTISE_API mortise_status mortise_rw_force_release(mortise_rw *rw, const char *owner,
                                                    size_t owner_len, mortise_error *error);
/** As `mortise_rw_read_try`, ending in one event; see `mortise_lock_try_async`. @since 1.1 */
MORTISE_API mortise_status mortise_rw_read_try_async(mortise_rw *rw, mortise_queue *queue,
                                                     int64_t tag, mortise_error *error);
/** As `mortise_rw_read_acquire`, ending in one event. @since 1.1 */
MORTISE_API mortise_status mortise_rw_read_acquire_async(mortise_rw *rw, mortise_queue *queue,
                                                         int64_t tag, int64_t timeout_ms,
                                                         mortise_error *error);
/** As `mortise_rw_read_unlock`, ending in one event. @since 1.1 */
MORTISE_API mortise_status mortise_rw_read_unlock_async(mortise_rw *rw, mortise_queue *queue,
                                                        int64_t tag, mortise_error *error);
/** As `mortise_rw_write_try`, ending in one event. @since 1.1 */
MORTISE_API mortise_status mortise_rw_write_try_async(mortise_rw *rw, mortise_queue *queue,
                                                      int64_t tag, mortise_error *error);
/** As `mortise_rw_write_acquire`, ending in one event. @since 1.1 */
MORTISE_API mortise_status mortise_rw_write_acquire_async(mortise_rw *rw, mortise_queue *queue,
                                                          int64_t tag, int64_t timeout_ms,
                                                          mortise_error *error);
/** As `mortise_rw_write_unlock`, ending in one event. @since 1.1 */
MORTISE_API mortise_status mortise_rw_write_unlock_async(mortise_rw *rw, mortise_queue *queue,
                                                         int64_t tag, mortise_error *error);
/** As `mortise_rw_upgrade_try`, ending in one MORTISE_EVENT_UPGRADED. @since 1.1 */
MORTISE_API mortise_status mortise_rw_upgrade_try_async(mortise_rw *rw, mortise_queue *queue,
                                                        int64_t tag, mortise_error *error);
/** As `mortise_rw_downgrade`, ending in one MORTISE_EVENT_DOWNGRADED. @since 1.1 */
MORTISE_API mortise_status mortise_rw_downgrade_async(mortise_rw *rw, mortise_queue *queue,
                                                      int64_t tag, mortise_error *error);
/** As `mortise_rw_extend`, ending in one MORTISE_EVENT_EXTENDED. @since 1.1 */
MORTISE_API mortise_status mortise_rw_extend_async(mortise_rw *rw, mortise_queue *queue,
                                                   int64_t tag, int64_t lease_ms,
                                                   mortise_error *error);
/** As `mortise_lock_watch`. @since 1.1 */
MORTISE_API mortise_status mortise_rw_watch(mortise_rw *rw, mortise_queue *queue, int64_t tag,
                                            mortise_error *error);

/* ---- semaphore -------------------------------------------------------------------------- */

/**
 * Makes a new owner of permits of the semaphore of this name. One handle holds permits once at a
 * time; for more holds make more handles. Who comes first is served first, so a waiter for many
 * permits is not passed by those who want few. Nothing is sent.
 *
 * @param permits how many there are: 1 to MORTISE_MAX_PERMITS. The first to use the name sets the
 *   number for all; the server forgets it a day after the last lease. `mortise_semaphore_resize`
 *   changes it.
 * @return as `mortise_lock_new`; MORTISE_UNSUPPORTED also for another protocol than `queued`, and
 *   with `redlock:`. The option `reentrant` has no effect.
 * @since 1.1
 */
MORTISE_NODISCARD MORTISE_API mortise_semaphore *mortise_semaphore_new(
    mortise_client *client, const char *name, size_t name_len, int64_t permits,
    const mortise_options *options, mortise_error *error);
/** Frees a handle, as `mortise_lock_free`. @since 1.1 */
MORTISE_API void mortise_semaphore_free(mortise_semaphore *semaphore);
/**
 * Acquires so many permits at once if they are free and nobody waits, within command_timeout.
 * @param weight how many: 1 to the number of permits.
 * @return as `mortise_lock_try`; MORTISE_REFUSED also when the semaphore has fewer permits than the
 *   weight.
 * @since 1.1
 */
MORTISE_NODISCARD MORTISE_API mortise_status mortise_semaphore_try(mortise_semaphore *semaphore,
                                                                   int64_t weight,
                                                                   mortise_error *error);
/** The same, waiting for its turn as `mortise_lock_acquire` does. @since 1.1 */
MORTISE_NODISCARD MORTISE_API mortise_status mortise_semaphore_acquire(mortise_semaphore *semaphore,
                                                                       int64_t weight,
                                                                       int64_t timeout_ms,
                                                                       mortise_error *error);
/** Gives back all permits of this handle, as `mortise_lock_unlock`. @since 1.1 */
MORTISE_API mortise_status mortise_semaphore_release(mortise_semaphore *semaphore,
                                                     mortise_error *error);
/**
 * Changes how many permits there are, for all users of the name. Holds in force stay, also when
 * they are more than the new number; nobody is let in until there is room.
 * @param permits 1 to MORTISE_MAX_PERMITS.
 * @return as `mortise_lock_query`; MORTISE_REFUSED when the name is another kind of lock.
 * @since 1.1
 */
MORTISE_API mortise_status mortise_semaphore_resize(mortise_semaphore *semaphore, int64_t permits,
                                                    mortise_error *error);
/** As `mortise_lock_extend`. @since 1.1 */
MORTISE_API mortise_status mortise_semaphore_extend(mortise_semaphore *semaphore, int64_t lease_ms,
                                                    mortise_error *error);
/** As `mortise_lock_interrupt`. @since 1.1 */
MORTISE_API mortise_status mortise_semaphore_interrupt(mortise_semaphore *semaphore, int32_t is_on,
                                                       mortise_error *error);
/** As `mortise_lock_name`. @since 1.1 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_semaphore_name(
    const mortise_semaphore *semaphore, size_t *name_len);
/** As `mortise_lock_cancel`. @since 1.1 */
MORTISE_API mortise_status mortise_semaphore_cancel(mortise_semaphore *semaphore,
                                                    mortise_error *error);
/** As `mortise_lock_is_held`, of permits. @since 1.1 */
MORTISE_API int32_t mortise_semaphore_is_held(const mortise_semaphore *semaphore);
/** As `mortise_lock_deadline_ns`. @since 1.1 */
MORTISE_API int64_t mortise_semaphore_deadline_ns(const mortise_semaphore *semaphore);
/** As `mortise_lock_valid_ms`. @since 1.1 */
MORTISE_API int64_t mortise_semaphore_valid_ms(const mortise_semaphore *semaphore);
/**
 * As `mortise_lock_token`; holders that were let in together may share one. Holders of permits hold
 * at the same time, so a fence cannot order them by their tokens.
 * @since 1.1
 */
MORTISE_API int64_t mortise_semaphore_token(const mortise_semaphore *semaphore);
/** As `mortise_lock_hold_number`. @since 1.2 */
MORTISE_API int64_t mortise_semaphore_hold_number(const mortise_semaphore *semaphore);
/** As `mortise_lock_unlock_hold`. @since 1.2 */
MORTISE_API mortise_status mortise_semaphore_release_hold(mortise_semaphore *semaphore,
                                                          int64_t hold_number,
                                                          mortise_error *error);
/** As `mortise_semaphore_release_hold`, ending in one MORTISE_EVENT_UNLOCKED. @since 1.2 */
MORTISE_API mortise_status mortise_semaphore_release_hold_async(mortise_semaphore *semaphore,
                                                                mortise_queue *queue, int64_t tag,
                                                                int64_t hold_number,
                                                                mortise_error *error);
/** As `mortise_lock_query`: up to 16 holders, then up to 16 waiters. @since 1.1 */
MORTISE_API mortise_status mortise_semaphore_query(mortise_semaphore *semaphore, mortise_info *info,
                                                   mortise_error *error);
/** As `mortise_lock_force_release`. All permits of that handle. @since 1.2 */
MORTISE_API mortise_status mortise_semaphore_force_release(mortise_semaphore *semaphore,
                                                           const char *owner, size_t owner_len,
                                                           mortise_error *error);
/** As `mortise_semaphore_try`, ending in one event; see `mortise_lock_try_async`. @since 1.1 */
MORTISE_API mortise_status mortise_semaphore_try_async(mortise_semaphore *semaphore,
                                                       mortise_queue *queue, int64_t tag,
                                                       int64_t weight, mortise_error *error);
/** As `mortise_semaphore_acquire`, ending in one event. @since 1.1 */
MORTISE_API mortise_status mortise_semaphore_acquire_async(mortise_semaphore *semaphore,
                                                           mortise_queue *queue, int64_t tag,
                                                           int64_t weight, int64_t timeout_ms,
                                                           mortise_error *error);
/** As `mortise_semaphore_release`, ending in one MORTISE_EVENT_UNLOCKED. @since 1.1 */
MORTISE_API mortise_status mortise_semaphore_release_async(mortise_semaphore *semaphore,
                                                           mortise_queue *queue, int64_t tag,
                                                           mortise_error *error);
/** As `mortise_semaphore_extend`, ending in one MORTISE_EVENT_EXTENDED. @since 1.1 */
MORTISE_API mortise_status mortise_semaphore_extend_async(mortise_semaphore *semaphore,
                                                          mortise_queue *queue, int64_t tag,
                                                          int64_t lease_ms, mortise_error *error);
/** As `mortise_lock_watch`. @since 1.1 */
MORTISE_API mortise_status mortise_semaphore_watch(mortise_semaphore *semaphore,
                                                   mortise_queue *queue, int64_t tag,
                                                   mortise_error *error);

/* ---- multi ------------------------------------------------------------------------------ */

/**
 * Makes an empty set of locks that are acquired all or none. Members are handles of this client, of
 * any kind, each name once; every member stays usable by itself, and keeps its own lease, token and
 * notices. They are acquired one after the other in an order that is the same in every process,
 * whatever the order of adding, so that two multis with common names cannot deadlock.
 * @return the multi, or NULL on MORTISE_INVALID_ARGUMENT, MORTISE_CLOSED, MORTISE_FORKED,
 *   MORTISE_NO_MEMORY. Free it with `mortise_multi_free`.
 * @since 1.1
 */
MORTISE_NODISCARD MORTISE_API mortise_multi *mortise_multi_new(mortise_client *client,
                                                               mortise_error *error);
/**
 * Frees a multi. What it holds is given back without waiting for the answers; a call that waits in
 * another thread ends with MORTISE_CLOSED. Its members stay.
 * @since 1.1
 */
MORTISE_API void mortise_multi_free(mortise_multi *multi);
/**
 * Adds a mutex.
 * @return MORTISE_OK; MORTISE_INVALID_ARGUMENT for a handle of another client or a name that is a
 *   member already; MORTISE_BUSY while the multi is held or at work; MORTISE_LIMIT beyond
 *   MORTISE_MAX_MEMBERS; MORTISE_FORKED.
 * @since 1.1
 */
MORTISE_API mortise_status mortise_multi_add_lock(mortise_multi *multi, mortise_lock *lock,
                                                  mortise_error *error);
/** Adds a read-write lock that is acquired to read; see `mortise_multi_add_lock`. @since 1.1 */
MORTISE_API mortise_status mortise_multi_add_reader(mortise_multi *multi, mortise_rw *rw,
                                                    mortise_error *error);
/** Adds a read-write lock that is acquired to write; see `mortise_multi_add_lock`. @since 1.1 */
MORTISE_API mortise_status mortise_multi_add_writer(mortise_multi *multi, mortise_rw *rw,
                                                    mortise_error *error);
/** Adds so many permits of a semaphore; see `mortise_multi_add_lock`. @since 1.1 */
MORTISE_API mortise_status mortise_multi_add_semaphore(mortise_multi *multi,
                                                       mortise_semaphore *semaphore, int64_t weight,
                                                       mortise_error *error);
/**
 * Acquires all members if all are free, within command_timeout. After any other answer than
 * MORTISE_OK none is held: those that were acquired first are given back in reverse order.
 *
 * @return as `mortise_lock_try`; the message names the member that stood in the way. MORTISE_LOST:
 *   a member's lease ended while the others were acquired. MORTISE_ALREADY_HELD: the multi or a
 *   member is held. MORTISE_BUSY: another call on the multi or a member is at work.
 *   MORTISE_INVALID_ARGUMENT also without members.
 * @since 1.1
 */
MORTISE_NODISCARD MORTISE_API mortise_status mortise_multi_try(mortise_multi *multi,
                                                               mortise_error *error);
/** The same, waiting for each member's turn; the timeout is for all together. @since 1.1 */
MORTISE_NODISCARD MORTISE_API mortise_status mortise_multi_acquire(mortise_multi *multi,
                                                                   int64_t timeout_ms,
                                                                   mortise_error *error);
/**
 * Unlocks all members, in reverse order. After it returns, whatever it returns, none is held.
 * @return as `mortise_lock_unlock`, with a message that names the member: MORTISE_OK when all were
 *   released, MORTISE_LOST if one had been lost, otherwise the first failure.
 * @since 1.1
 */
MORTISE_API mortise_status mortise_multi_unlock(mortise_multi *multi, mortise_error *error);
/**
 * Makes the hold of every member last at least `lease_ms` from now, as `mortise_lock_extend`. When
 * a member is lost already, or one of its own calls is at work, the server is asked nothing.
 * Otherwise all are asked at once; those that agree are extended, also when another fails, and no
 * member ends sooner than it would have. After a failure the multi still has to be unlocked, and
 * `mortise_multi_valid_ms` tells what is left. An unlock may come while this waits; it then ends
 * with MORTISE_NOT_OWNER.
 *
 * @param lease_ms 0 for each member's own lease, else MORTISE_MIN_LEASE_MS to MORTISE_MAX_MS.
 * @return MORTISE_OK when all were extended, else as `mortise_lock_extend`, with a message that
 * names the member: MORTISE_LOST if one was lost, otherwise the first failure. MORTISE_NOT_OWNER:
 * the multi holds nothing. MORTISE_BUSY: it is acquiring or unlocking.
 * @since 1.1
 */
MORTISE_API mortise_status mortise_multi_extend(mortise_multi *multi, int64_t lease_ms,
                                                mortise_error *error);
/**
 * As `mortise_lock_interrupt`; a member that is interrupted by itself stands in the way, too.
 * @since 1.1
 */
MORTISE_API mortise_status mortise_multi_interrupt(mortise_multi *multi, int32_t is_on,
                                                   mortise_error *error);
/** Ends a waiting acquire, as `mortise_lock_cancel`. @since 1.1 */
MORTISE_API mortise_status mortise_multi_cancel(mortise_multi *multi, mortise_error *error);
/** As `mortise_lock_is_held`: 1 while all members are held, else 0. @since 1.1 */
MORTISE_API int32_t mortise_multi_is_held(const mortise_multi *multi);
/** `mortise_lock_valid_ms` of the member that ends first. @since 1.1 */
MORTISE_API int64_t mortise_multi_valid_ms(const mortise_multi *multi);
/** `mortise_lock_deadline_ns` of the member that ends first; 0 unless all are held. @since 1.1 */
MORTISE_API int64_t mortise_multi_deadline_ns(const mortise_multi *multi);
/**
 * As `mortise_lock_hold_number`, of the multi's own holds; its members have numbers of their own. A
 * member that is acquired by itself after it was lost is not part of the multi's hold: then
 * `mortise_multi_is_held` stays 0, and an unlock of the multi does not unlock that member.
 * @since 1.2
 */
MORTISE_API int64_t mortise_multi_hold_number(const mortise_multi *multi);
/** As `mortise_lock_unlock_hold`, of all members. @since 1.2 */
MORTISE_API mortise_status mortise_multi_unlock_hold(mortise_multi *multi, int64_t hold_number,
                                                     mortise_error *error);
/** As `mortise_multi_unlock_hold`, ending in one MORTISE_EVENT_UNLOCKED. @since 1.2 */
MORTISE_API mortise_status mortise_multi_unlock_hold_async(mortise_multi *multi,
                                                           mortise_queue *queue, int64_t tag,
                                                           int64_t hold_number,
                                                           mortise_error *error);
/** How many members it has. @since 1.1 */
MORTISE_API int64_t mortise_multi_member_count(const mortise_multi *multi);
/** As `mortise_multi_try`, ending in one MORTISE_EVENT_ACQUIRED, without a token. @since 1.1 */
MORTISE_API mortise_status mortise_multi_try_async(mortise_multi *multi, mortise_queue *queue,
                                                   int64_t tag, mortise_error *error);
/** As `mortise_multi_acquire`, ending in one MORTISE_EVENT_ACQUIRED. @since 1.1 */
MORTISE_API mortise_status mortise_multi_acquire_async(mortise_multi *multi, mortise_queue *queue,
                                                       int64_t tag, int64_t timeout_ms,
                                                       mortise_error *error);
/**
 * Watches every member, as `mortise_lock_watch` does each by itself, which this replaces: from now
 * on their losses and risks are events on the queue, each with this tag, the member's token and, in
 * `mortise_event_lock_name` and the message, its name. All members or, after a failure, none is
 * watched; one that is added later is not. A NULL queue ends it.
 * @return as `mortise_lock_watch`; MORTISE_INVALID_ARGUMENT also without members.
 * @since 1.1
 */
MORTISE_API mortise_status mortise_multi_watch(mortise_multi *multi, mortise_queue *queue,
                                               int64_t tag, mortise_error *error);
/** As `mortise_multi_extend`, ending in one MORTISE_EVENT_EXTENDED. @since 1.1 */
MORTISE_API mortise_status mortise_multi_extend_async(mortise_multi *multi, mortise_queue *queue,
                                                      int64_t tag, int64_t lease_ms,
                                                      mortise_error *error);
/** As `mortise_multi_unlock`, ending in one MORTISE_EVENT_UNLOCKED. @since 1.1 */
MORTISE_API mortise_status mortise_multi_unlock_async(mortise_multi *multi, mortise_queue *queue,
                                                      int64_t tag, mortise_error *error);

/* ---- info ------------------------------------------------------------------------------- */

/** A new, empty info, or NULL when memory runs out. Free it with `mortise_info_free`. @since 1.0 */
MORTISE_NODISCARD MORTISE_API mortise_info *mortise_info_new(void);
/** Frees an info. @since 1.0 */
MORTISE_API void mortise_info_free(mortise_info *info);
/** 1 when somebody held the lock, else 0. @since 1.0 */
MORTISE_API int32_t mortise_info_is_held(const mortise_info *info);
/** 1 when the holder is this handle, else 0. @since 1.0 */
MORTISE_API int32_t mortise_info_is_mine(const mortise_info *info);
/**
 * Milliseconds until the holder's lease ends at the server, which is by its `drift` (a tenth) and 2
 * ms longer than for the holder itself; -1 when nobody holds.
 * @since 1.0
 */
MORTISE_API int64_t mortise_info_time_left_ms(const mortise_info *info);
/**
 * The newest fencing token drawn in this database when asked. The holder's is not above it.
 * @since 1.0
 */
MORTISE_API int64_t mortise_info_latest_token(const mortise_info *info);
/** How many hold: 0 or 1 of a mutex or a writer, any number of readers. @since 1.1 */
MORTISE_API int64_t mortise_info_holder_count(const mortise_info *info);
/** How many of the entries are holders; they come first, the rest are waiters. @since 1.1 */
MORTISE_API int64_t mortise_info_shown_holder_count(const mortise_info *info);
/** How many permits a semaphore has; 1 of a mutex, 0 of a read-write lock. @since 1.1 */
MORTISE_API int64_t mortise_info_permits(const mortise_info *info);
/** How many permits of a semaphore are in use. @since 1.1 */
MORTISE_API int64_t mortise_info_permits_in_use(const mortise_info *info);
/** How many clients wait at the server. @since 1.0 */
MORTISE_API int64_t mortise_info_waiter_count(const mortise_info *info);
/**
 * How many people the info describes: entry 0 is the holder when `mortise_info_is_held`, the rest
 * are waiters in their order, at most 16 of them.
 * @since 1.0
 */
MORTISE_API int64_t mortise_info_entry_count(const mortise_info *info);
/** An entry's owner as the server stores it; "" beyond the last. @since 1.0 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_info_entry_owner(const mortise_info *info,
                                                                    int64_t index);
/** 1 when an entry is a holder of, or waits for, the whole lock: a mutex, a writer. @since 1.1 */
MORTISE_API int32_t mortise_info_entry_is_exclusive(const mortise_info *info, int64_t index);
/**
 * 1 when a holder's client has unlocked and keeps the lock for its next acquire, as the option
 * `retain` has it; so that client says, which a query asks. 0 also where it does not answer.
 * @since 1.2
 */
MORTISE_API int32_t mortise_info_entry_is_retained(const mortise_info *info, int64_t index);
/** How many permits of a semaphore an entry holds or waits for; else 1. @since 1.1 */
MORTISE_API int64_t mortise_info_entry_weight(const mortise_info *info, int64_t index);
/** An entry's host name; "" when unknown. @since 1.0 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_info_entry_host(const mortise_info *info,
                                                                   int64_t index);
/** An entry's process id; 0 when unknown. @since 1.0 */
MORTISE_API int64_t mortise_info_entry_pid(const mortise_info *info, int64_t index);
/** An entry's label; "" when it has none. @since 1.0 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_info_entry_label(const mortise_info *info,
                                                                    int64_t index);

/* ---- queue ------------------------------------------------------------------------------ */

/**
 * A new queue for results and notices.
 * @param capacity how many asynchronous calls and watches may be open or unread at once: 1 to
 *   MORTISE_MAX_QUEUE_CAPACITY, or 0 for 65536.
 * @return the queue, or NULL on MORTISE_INVALID_ARGUMENT, MORTISE_CLOSED, MORTISE_FORKED,
 *   MORTISE_NO_MEMORY, MORTISE_LIMIT (no file descriptor). Free it with `mortise_queue_free`.
 * @since 1.0
 */
MORTISE_NODISCARD MORTISE_API mortise_queue *mortise_queue_new(mortise_client *client,
                                                               int64_t capacity,
                                                               mortise_error *error);
/** Shuts the queue down and frees it; unread events are dropped. @since 1.0 */
MORTISE_API void mortise_queue_free(mortise_queue *queue);
/**
 * Takes the oldest event, waiting for one if need be.
 * @param timeout_ms 0 to MORTISE_MAX_MS, or MORTISE_FOREVER.
 * @param event filled on MORTISE_OK; required.
 * @return MORTISE_OK; MORTISE_TIMED_OUT, also when woken by `mortise_queue_wake`; MORTISE_SHUT_DOWN
 *   once drained after shutdown; MORTISE_FORKED; MORTISE_INVALID_ARGUMENT.
 * @since 1.0
 */
MORTISE_API mortise_status mortise_queue_next(mortise_queue *queue, int64_t timeout_ms,
                                              mortise_event *event, mortise_error *error);
/**
 * As `mortise_queue_next` for many events at once, as plain numbers: record i has its kind, tag,
 * status, token and hold number at records[i * MORTISE_RECORD_FIELDS + 0 … 4].
 * @param records room for `capacity` records.
 * @param capacity 1 or more.
 * @param count set to the number of records written; required.
 * @since 1.0
 */
MORTISE_API mortise_status mortise_queue_next_batch(mortise_queue *queue, int64_t timeout_ms,
                                                    int64_t *records, int64_t capacity,
                                                    int64_t *count, mortise_error *error);
/**
 * A file descriptor that is readable while the queue has events or is shut down. Only poll it:
 * never read, write or close it. -1 in a forked child.
 * @since 1.0
 */
MORTISE_API int32_t mortise_queue_fd(const mortise_queue *queue);
/**
 * Makes one waiting (or the next) `mortise_queue_next` return MORTISE_TIMED_OUT now, unless it
 * finds an event. Async-signal-safe, so that a signal handler can end a wait: see
 * docs/threading.md.
 * @since 1.0
 */
MORTISE_API void mortise_queue_wake(mortise_queue *queue);
/**
 * No new calls are accepted, waiting acquires that end here are cancelled, and `mortise_queue_next`
 * says MORTISE_SHUT_DOWN once every accepted tag has had its event and has been read. Who hears
 * that may free the queue, also while this call has not returned yet.
 * @since 1.0
 */
MORTISE_API void mortise_queue_shutdown(mortise_queue *queue);

/**
 * A new, empty event, or NULL when memory runs out. Free it with `mortise_event_free`. @since 1.0
 */
MORTISE_NODISCARD MORTISE_API mortise_event *mortise_event_new(void);
/** Frees an event. @since 1.0 */
MORTISE_API void mortise_event_free(mortise_event *event);
/** What the event tells. @since 1.0 */
MORTISE_API mortise_event_kind mortise_event_get_kind(const mortise_event *event);
/** The tag given to the call or watch. @since 1.0 */
MORTISE_API int64_t mortise_event_tag(const mortise_event *event);
/** How the call ended; MORTISE_LOST for a loss, MORTISE_OK for a risk. @since 1.0 */
MORTISE_API mortise_status mortise_event_status(const mortise_event *event);
/** The fencing token of the hold that the event is about; 0 when there is none. @since 1.0 */
MORTISE_API int64_t mortise_event_token(const mortise_event *event);
/**
 * The number of the hold that the event is about, as `mortise_lock_hold_number`; for a loss or a
 * risk of a watched multi that of the member. 0 when there is none.
 * @since 1.2
 */
MORTISE_API int64_t mortise_event_hold_number(const mortise_event *event);
/** As `mortise_error_message`; "" when the call did not fail. @since 1.0 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_event_message(const mortise_event *event);
/**
 * Why the hold was lost, or is at risk; else MORTISE_REASON_NONE. The message has it in words.
 * @since 1.1
 */
MORTISE_API mortise_reason mortise_event_reason(const mortise_event *event);
/** As `mortise_error_lock_name`; also of a loss and a risk. @since 1.1 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_event_lock_name(const mortise_event *event,
                                                                   size_t *name_len);
/** How bad it is what a line of the log tells; else MORTISE_LOG_LEVEL_NONE. @since 1.2 */
MORTISE_API mortise_log_level mortise_event_log_level(const mortise_event *event);
/** What a line of the log is about; else MORTISE_LOG_NONE. @since 1.2 */
MORTISE_API mortise_log_subject mortise_event_log_subject(const mortise_event *event);
/** "error", "warning" or "info"; static, never NULL. @since 1.2 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_log_level_text(mortise_log_level level);
/** A subject in one word, such as "reconnected"; static, never NULL. @since 1.2 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_log_subject_text(mortise_log_subject subject);
/** How many lines of the log were left out just before this one. @since 1.2 */
MORTISE_API int64_t mortise_event_left_out(const mortise_event *event);
/** As `mortise_error_server_text`. @since 1.0 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_event_server_text(const mortise_event *event);
/** As `mortise_error_is_retryable`. @since 1.0 */
MORTISE_API int32_t mortise_event_is_retryable(const mortise_event *event);
/** As `mortise_error_is_ambiguous`. @since 1.0 */
MORTISE_API int32_t mortise_event_is_ambiguous(const mortise_event *event);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // MORTISE_MORTISE_H
