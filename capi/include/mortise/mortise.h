/**
 * Mortise: distributed locks on Redis and Valkey.
 *
 * The contract in eight rules:
 *
 * 1. A handle is an owner. `mortise_lock_new` makes one owner of one name. Two handles never share
 *    a hold, and a hold never belongs to a thread. Any thread may call any function on any handle.
 *    The exceptions are `mortise_options`, `mortise_error`, `mortise_event` and `mortise_info`: use
 *    each of these objects in one thread at a time. Within a process, the next holder sees all
 *    memory that was written before the unlock.
 * 2. A hold is a lease. It ends by unlock, or it is LOST and stays lost. `mortise_lock_is_held` and
 *    `mortise_lock_valid_ms` compare a clock with a deadline. The clock also runs during suspend.
 *    The deadline is taken before the request is sent. Neither needs a running thread to be right.
 * 3. A lease cannot stop a paused process from acting after its end. Pass the fencing token
 *    (`mortise_lock_token`) to the resource that the lock protects. The resource rejects a token
 *    below the highest token that it has seen.
 * 4. Every call has a deadline: its timeout, or the client's `command_timeout`.
 * 5. `mortise_status` is 0 if the call did what its name says, positive for a normal outcome, and
 *    negative for an error. Treat an unknown value by its sign. Numbers are never reused. Any
 *    function can also fail with MORTISE_NO_MEMORY or MORTISE_INTERNAL, even if its list below
 *    omits them.
 * 6. The last parameter `mortise_error` receives the details of a failure. It may be NULL.
 * 7. An input string is a pointer and a length, and is copied. An output string ends in NUL and is
 *    borrowed from its object. It is valid until the object is filled again or freed.
 * 8. `_free(NULL)` does nothing. A `_free` function never fails and takes bounded time. Objects may
 *    be freed in any order. After fork(), handles are inert in the child: every call returns
 *    MORTISE_FORKED, and nothing in the child affects the parent's locks.
 *
 * Names that end in `_ms` are milliseconds in `int64_t`. A timeout or a lease is at most
 * MORTISE_MAX_MS. A constructor returns an object that the caller frees, or NULL with the details
 * in `error`. A getter of NULL returns the value of an empty object, such as 0 or "". An `error`
 * parameter is filled on failure and emptied on success. This header compiles alone as C99 and as
 * C++.
 */
#ifndef MORTISE_MORTISE_H
#define MORTISE_MORTISE_H

#include <stddef.h>
#include <stdint.h>

#define MORTISE_VERSION_MAJOR 1
#define MORTISE_VERSION_MINOR 0
#define MORTISE_VERSION_PATCH 0
/** The version as one number: major * 1000000 + minor * 1000 + patch. */
#define MORTISE_VERSION_NUMBER 1000000
/** The version as text. */
#define MORTISE_VERSION_TEXT "1.0.0"
/** The major version of the ABI, for `mortise_get_api` and `mortise_check_abi`. */
#define MORTISE_ABI_MAJOR 1

#if defined(SWIG)
#define MORTISE_API
#elif defined(MORTISE_BUILDS_ARCHIVE)
#define MORTISE_API __attribute__((visibility("hidden")))
#else
#define MORTISE_API __attribute__((visibility("default")))
#endif

/**
 * Marks acquires and constructors, whose result the caller must check. A caller that ignores the
 * status of an acquire may run without the lock. The mark is `[[nodiscard]]` where the language has
 * it. Otherwise it is GCC's attribute, which a cast to `(void)` does not silence. To turn it off,
 * define it as nothing before this header.
 *
 * No parameter is marked `nonnull`, because NULL has a defined result everywhere. With that mark,
 * compilers would drop checks for NULL, also in the caller.
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
/** Marks functions that never return NULL. */
#if defined(__GNUC__) && !defined(SWIG)
#define MORTISE_NEVER_NULL __attribute__((returns_nonnull))
#else
#define MORTISE_NEVER_NULL
#endif

/** A timeout without end. Cancel and free still end the call. */
#define MORTISE_FOREVER (-1)
/** The longest timeout, lease or max_hold: 366 days, in milliseconds. */
#define MORTISE_MAX_MS INT64_C(31622400000)
/** The shortest lease, in milliseconds. */
#define MORTISE_MIN_LEASE_MS 50
/** The longest name of a lock, in bytes. A name has at least one byte, and may have any bytes. */
#define MORTISE_MAX_NAME_LEN 1024
/** The longest label of a handle, in bytes of UTF-8. */
#define MORTISE_MAX_LABEL_LEN 64
/** The longest value of a hold, in bytes of UTF-8. */
#define MORTISE_MAX_VALUE_LEN 1024
/** The longest password, in bytes. A server accepts no longer one before login. */
#define MORTISE_MAX_PASSWORD_LEN 16384
/** The largest number of members of a multi. */
#define MORTISE_MAX_MEMBERS 64
/** The largest number of permits of a semaphore. */
#define MORTISE_MAX_PERMITS 1000000
/** The largest capacity of a queue, in events. */
#define MORTISE_MAX_QUEUE_CAPACITY 1048576
/**
 * The numbers in one record of `mortise_queue_next_batch`: kind, tag, status, token, hold number.
 */
#define MORTISE_RECORD_FIELDS 5

/*
 * The keys of `mortise_options_set`. A URL's query and config files have the same keys. A duration
 * is "30s", "1500ms", "2m", "1h" or a plain number of milliseconds. A share is "1%", "0.5%" or
 * "5000ppm". docs/options.md describes each option. These lines are written by ./dev generate.
 */

/** How long a hold lasts unless it is renewed: a duration. */
#define MORTISE_OPTION_LEASE "lease"
/** Whether holds are renewed automatically, at a third of the lease: "on" or "off". */
#define MORTISE_OPTION_RENEWAL "renewal"
/** How long a hold is renewed at most: a duration or "unlimited". */
#define MORTISE_OPTION_MAX_HOLD "max_hold"
/** How long a hold is renewed after the last report of progress, always unless set: a duration. */
#define MORTISE_OPTION_PROGRESS "progress"
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
/** A text that queries show for each hold, until the holder changes it. */
#define MORTISE_OPTION_VALUE "value"
/** Whether a watch also reports that others wait for the lock: "on" or "off". */
#define MORTISE_OPTION_CONTENDED "contended"
/** Whether the youngest wait of a deadlock fails, or all wait: "fail" or "wait". */
#define MORTISE_OPTION_DEADLOCK "deadlock"
/** How locks are stored at the server, such as "queued". */
#define MORTISE_OPTION_PROTOCOL "protocol"
/** The mean pause between two attempts of an acquire that polls: a duration. */
#define MORTISE_OPTION_POLL_INTERVAL "poll_interval"
/** How many attempts an acquire that polls makes at most: a whole number or "unlimited". */
#define MORTISE_OPTION_POLL_ATTEMPTS "poll_attempts"
/** How long a read counts for other programs in `hash`, as the lease unless set: a duration. */
#define MORTISE_OPTION_READ_LIFETIME "read_lifetime"
/** How long a write counts for other programs in `hash`, as the lease unless set: a duration. */
#define MORTISE_OPTION_WRITE_LIFETIME "write_lifetime"
/** The deadline of calls without a timeout: a duration. A client's only. */
#define MORTISE_OPTION_COMMAND_TIMEOUT "command_timeout"
/** The connection's name in CLIENT LIST, `mortise` unless set. A client's only. */
#define MORTISE_OPTION_CLIENT_NAME "client_name"
/** A file with the password, read again at each connect. A client's only. */
#define MORTISE_OPTION_PASSWORD_FILE "password_file"
/** The user of the server at `unix://`, not verified unless set. A client's only. */
#define MORTISE_OPTION_PEER_USER "peer_user"
/** How long a waiting caller spins: a whole number of microseconds or "auto". A client's only. */
#define MORTISE_OPTION_BUSY_POLL "busy_poll"
/** Whether exit() releases the client's holds: "on" or "off". A client's only. */
#define MORTISE_OPTION_RELEASE_AT_EXIT "release_at_exit"
/** Whether a helper releases the holds of a dead program: "on" or "off". A client's only. */
#define MORTISE_OPTION_RELEASE_ON_DEATH "release_on_death"
/** How far this machine's clock and the server's may differ in speed: a share. A client's only. */
#define MORTISE_OPTION_DRIFT "drift"
/** Whether a client connects in the background: "lazy" or "wait". A client's only. */
#define MORTISE_OPTION_CONNECT "connect"
/** Certificates and revocation lists of the CAs, instead of the system's. A client's only. */
#define MORTISE_OPTION_TLS_CA_FILE "tls_ca_file"
/** A folder of such files, as `openssl rehash` makes it. A client's only. */
#define MORTISE_OPTION_TLS_CA_FOLDER "tls_ca_folder"
/** The certificate that the client presents to the server. A client's only. */
#define MORTISE_OPTION_TLS_CERTIFICATE_FILE "tls_certificate_file"
/** The key of the client's certificate. A client's only. */
#define MORTISE_OPTION_TLS_KEY_FILE "tls_key_file"
/** The name or address in the server's certificate, the URL's host unless set. A client's only. */
#define MORTISE_OPTION_TLS_NAME "tls_name"
/** Whether the client verifies the server's certificate: "on" or "off". A client's only. */
#define MORTISE_OPTION_TLS_VERIFY "tls_verify"
/** A file with the Sentinels' password, read again at each connect. A client's only. */
#define MORTISE_OPTION_SENTINEL_PASSWORD_FILE "sentinel_password_file"
/** Whether Sentinels use TLS, as in the URL's scheme unless set, such as "on". A client's only. */
#define MORTISE_OPTION_SENTINEL_TLS "sentinel_tls"
/** The name in the Sentinels' certificates, each Sentinel's host unless set. A client's only. */
#define MORTISE_OPTION_SENTINEL_TLS_NAME "sentinel_tls_name"
/** Where the client reaches servers that announce other addresses. A client's only. */
#define MORTISE_OPTION_ADDRESS_MAP "address_map"
/** Whether the client checks a server at connect, such as "off". A client's only. */
#define MORTISE_OPTION_HEALTH_CHECK "health_check"
/** How long a server of `redlock:` runs before it votes: a duration. A client's only. */
#define MORTISE_OPTION_QUARANTINE "quarantine"
/** How many replicas must acknowledge a hold: a whole number or "all". A client's only. */
#define MORTISE_OPTION_ACKS "acks"
/** Where the server and these replicas store a hold, such as "memory". A client's only. */
#define MORTISE_OPTION_DURABILITY "durability"
/** The names under which locks are counted, such as "orders:*,jobs:*". A client's only. */
#define MORTISE_OPTION_METRICS_NAME "metrics_name"
/** The first part of the client's keys and channels, before a colon. A client's only. */
#define MORTISE_OPTION_NAMESPACE "namespace"

/** The result of a call. docs/errors.md lists what to do about each status. */
enum mortise_status_code {
  /** The call did what its name says. */
  MORTISE_OK = 0,
  /** Another owner holds the lock, and the call does not wait. */
  MORTISE_NOT_ACQUIRED = 1,
  /** The timeout passed first. Nothing is held. */
  MORTISE_TIMED_OUT = 2,
  /** `mortise_lock_cancel` ended the wait. Nothing is held. */
  MORTISE_CANCELLED = 3,
  /** The hold was lost: its lease ended, or the server reports another owner or none. */
  MORTISE_LOST = 4,
  /** This handle holds nothing: it never did, or it has already unlocked. */
  MORTISE_NOT_OWNER = 5,
  /** The queue was shut down and has been drained. */
  MORTISE_SHUT_DOWN = 6,
  /** No call of this handle was waiting, so a cancel had nothing to end. */
  MORTISE_NOT_WAITING = 7,
  /** The wait was in a deadlock, and its handle has the option `deadlock`. Nothing is held. */
  MORTISE_DEADLOCK = 8,
  /** An argument is wrong. The message has its name, its value and the remedy. */
  MORTISE_INVALID_ARGUMENT = -1,
  /**
   * No connection in time, and the request was not sent. Or too few servers of a quorum answered,
   * or too few replicas with the option `acks`. It is safe to try again.
   */
  MORTISE_UNREACHABLE = -2,
  /** The request was sent and no answer arrived. The server may have executed it. */
  MORTISE_UNKNOWN = -3,
  /** The server refused the request and did not execute it; `mortise_error_server_text`. */
  MORTISE_REFUSED = -4,
  /** This handle holds the lock already and is not reentrant. */
  MORTISE_ALREADY_HELD = -5,
  /** Another call on this handle is acquiring or unlocking. */
  MORTISE_BUSY = -6,
  /** A bound was reached: a full queue, too many members, open requests or file descriptors. */
  MORTISE_LIMIT = -7,
  /** The handle or its client was freed while the call waited. */
  MORTISE_CLOSED = -8,
  /** The handle was made before fork() in the parent process. */
  MORTISE_FORKED = -9,
  /** This protocol, deployment or server cannot do that. */
  MORTISE_UNSUPPORTED = -10,
  /** Memory ran out. */
  MORTISE_NO_MEMORY = -11,
  /** A defect in Mortise. Please report it with the message. */
  MORTISE_INTERNAL = -12
};
/** A value of `enum mortise_status_code`, or one that a later version adds. */
typedef int32_t mortise_status;

/** The kinds of events. */
enum mortise_kind_code {
  /** No event: the object was never filled. */
  MORTISE_EVENT_NONE = 0,
  /** An acquire or try ended. The status is its result. On success the event has the token. */
  MORTISE_EVENT_ACQUIRED = 1,
  /** An unlock ended. */
  MORTISE_EVENT_UNLOCKED = 2,
  /** An extend ended. */
  MORTISE_EVENT_EXTENDED = 3,
  /** A watched hold was lost. The token is that of the lost hold. An AT_RISK event came before. */
  MORTISE_EVENT_LOST = 4,
  /**
   * A watched hold has a third of its lease left and is not being renewed, or is just being lost.
   * This event comes once per hold, and before every LOST. With the option `progress`, it may come
   * once more after each report of progress. While as many of them as the queue's capacity are
   * unread, it comes only together with the LOST.
   */
  MORTISE_EVENT_AT_RISK = 5,
  /** An upgrade ended. On MORTISE_OK the event has the new fencing token. */
  MORTISE_EVENT_UPGRADED = 6,
  /** A downgrade ended. */
  MORTISE_EVENT_DOWNGRADED = 7,
  /** A record of a client's log: see `mortise_client_watch_log`. */
  MORTISE_EVENT_LOG = 8,
  /** A client's statistics are due: see `mortise_client_watch_stats`. */
  MORTISE_EVENT_STATS = 9,
  /**
   * Others wait for the lock of a watched hold, whose handle has the option `contended`. It is a
   * hint, and ignoring it is allowed: see `mortise_lock_watch`.
   */
  MORTISE_EVENT_CONTENDED = 10,
  /** A change of the value of a hold ended. */
  MORTISE_EVENT_VALUE_SET = 11,
  /** An observed election has another leader, or its leader has another value. */
  MORTISE_EVENT_LEADER = 12,
  /** Nobody leads an observed election. */
  MORTISE_EVENT_NO_LEADER = 13,
  /** A wait for a lock began: see `mortise_client_watch_locks`. */
  MORTISE_EVENT_WAIT_BEGAN = 14,
  /** A wait ended without a hold. The status is the result of the acquire. */
  MORTISE_EVENT_WAIT_FAILED = 15,
  /** A wait ended with a hold, which begins. */
  MORTISE_EVENT_HOLD_BEGAN = 16,
  /** A hold continues in another mode, after an upgrade or a downgrade. */
  MORTISE_EVENT_HOLD_CHANGED = 17,
  /**
   * A hold ended. The status is MORTISE_OK after an unlock or an export, MORTISE_LOST after a loss,
   * and MORTISE_CLOSED if its handle or its client was freed.
   */
  MORTISE_EVENT_HOLD_ENDED = 18
};
/** A value of `enum mortise_kind_code`, or one that a later version adds. */
typedef int32_t mortise_kind;

/** Severity of a log record. Lower values are more severe. */
enum mortise_log_level_code {
  /** Not a log record. */
  MORTISE_LOG_LEVEL_NONE = 0,
  /** An operator must act: a hold was lost, a server refuses this client. */
  MORTISE_LOG_LEVEL_ERROR = 1,
  /** A problem that may end by itself: a server is unreachable or slow. */
  MORTISE_LOG_LEVEL_WARNING = 2,
  /** Good to know: a server is connected again. */
  MORTISE_LOG_LEVEL_INFO = 3
};
/** A value of `enum mortise_log_level_code`, or one that a later version adds. */
typedef int32_t mortise_log_level;

/** The subject of a log record. */
enum mortise_log_subject_code {
  /** Not a log record. */
  MORTISE_LOG_NONE = 0,
  /** A server is connected again. INFO. */
  MORTISE_LOG_RECONNECTED = 1,
  /** The client uses a different server: a promoted master, or a moved slot. INFO. */
  MORTISE_LOG_REDIRECTED = 2,
  /** The connection to a server ended. WARNING. */
  MORTISE_LOG_DISCONNECTED = 3,
  /** An attempt to connect failed. WARNING. */
  MORTISE_LOG_UNREACHABLE = 4,
  /** A server refused this client: a password, a right, a setting. ERROR. */
  MORTISE_LOG_REFUSED = 5,
  /** A server's answers are overdue. WARNING. */
  MORTISE_LOG_SLOW = 6,
  /** A hold was lost. The record has the lock's name and the reason. ERROR. */
  MORTISE_LOG_LOST = 7
};
/** A value of `enum mortise_log_subject_code`, or one that a later version adds. */
typedef int32_t mortise_log_subject;

/** The reason why a hold was lost or is at risk. */
enum mortise_reason_code {
  /** No loss and no risk, or the reason is unknown. */
  MORTISE_REASON_NONE = 0,
  /** Its lease ended, or will end, before a renewal was confirmed. */
  MORTISE_REASON_EXPIRED = 1,
  /**
   * A renewal found that another owner holds the lock. Only mutexes of `queued` and `token` report
   * this.
   */
  MORTISE_REASON_REPLACED = 2,
  /**
   * The server no longer has the hold: it was deleted, flushed, or lost in a restart. For other
   * kinds and protocols, another owner may hold the lock.
   */
  MORTISE_REASON_SERVER_LOST = 3,
  /** The option `max_hold` ended the renewals. */
  MORTISE_REASON_MAX_HOLD = 4,
  /** A call of `mortise_lock_force_release`, by any client, ended this hold. */
  MORTISE_REASON_FORCED = 5,
  /** No progress was reported within the option `progress`, which ended the renewals. */
  MORTISE_REASON_STALLED = 6
};
/** A value of `enum mortise_reason_code`, or one that a later version adds. */
typedef int32_t mortise_reason;

/** Severity of one finding of a health check. Higher values are more severe. */
enum mortise_severity_code {
  /** As it should be. */
  MORTISE_SEVERITY_OK = 0,
  /** The server does not report it. */
  MORTISE_SEVERITY_UNKNOWN = 1,
  /** Locks are right until something fails: a crash, a failover, a script that hangs. */
  MORTISE_SEVERITY_WARN = 2,
  /** Locks do not work, or two owners may hold one lock without any fault. */
  MORTISE_SEVERITY_BAD = 3
};
/** A value of `enum mortise_severity_code`, or one that a later version adds. */
typedef int32_t mortise_severity;

/** Settings, as typed values or as text. One thread at a time. */
typedef struct mortise_options mortise_options;
/** The details of one failure. A call fills it, and also accepts NULL. One thread at a time. */
typedef struct mortise_error mortise_error;
/** One connection to one deployment, shared by all handles made from it. Any thread. */
typedef struct mortise_client mortise_client;
/** One owner of one named mutex. Any thread. */
typedef struct mortise_lock mortise_lock;
/** One owner of one named read-write lock. Any thread. */
typedef struct mortise_rw mortise_rw;
/** One owner of permits of one named semaphore. Any thread. */
typedef struct mortise_semaphore mortise_semaphore;
/** One candidate of one named election, or an observer of it. Any thread. */
typedef struct mortise_election mortise_election;
/** Several locks that are acquired all or none. Any thread. */
typedef struct mortise_multi mortise_multi;
/** A queue of asynchronous results and notices. Any thread. */
typedef struct mortise_queue mortise_queue;
/** One event, filled by `mortise_queue_next`. One thread at a time. */
typedef struct mortise_event mortise_event;
/** The server's state of a lock, filled by `mortise_lock_query`. One thread at a time. */
typedef struct mortise_info mortise_info;
/** The result of a health check of the servers. It never changes. Any thread. */
typedef struct mortise_health mortise_health;
/** The counters of a client at one moment. They never change. Any thread. */
typedef struct mortise_stats mortise_stats;
/** A listing of the holds and waits of all live clients. It never changes. Any thread. */
typedef struct mortise_listing mortise_listing;
/** The id of an exported hold. It never changes. Any thread. */
typedef struct mortise_hold_id mortise_hold_id;
/** Every function as a pointer, for users of dlopen. See mortise/api.h. */
typedef struct mortise_api mortise_api;

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version ---------------------------------------------------------------------------- */

/* Any thread may call these functions. Their strings and the table are static. Do not free them. */

/** The version of the loaded library as one number (MORTISE_VERSION_NUMBER). */
MORTISE_API int32_t mortise_version(void);
/** The version of the loaded library as text. The string is static. */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_version_text(void);
/**
 * Checks that the loaded library has the ABI that the caller was compiled for: the same major
 * version and at least this minor version.
 * @param major MORTISE_ABI_MAJOR of the caller.
 * @param minor MORTISE_VERSION_MINOR of the caller, 0 or more.
 * @return
 * - MORTISE_OK: it does.
 * - MORTISE_UNSUPPORTED: it does not.
 */
MORTISE_API mortise_status mortise_check_abi(int32_t major, int32_t minor);
/**
 * The table of all functions for this major version of the ABI. The table is static and only grows
 * at its end. Its `size` is the number of bytes that the library fills.
 * @param abi_major MORTISE_ABI_MAJOR of the caller.
 * @return the table, or NULL if the library has another major version.
 */
MORTISE_API const mortise_api *mortise_get_api(int32_t abi_major);
/**
 * A short English name of a status, such as "timed out". The string is static.
 * @param status any number. Another number than a status is "unknown status".
 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_status_text(mortise_status status);

/* ---- error ------------------------------------------------------------------------------ */

/*
 * The caller owns and frees an error. Use it in one thread at a time. A call fills it,
 * and an empty error has the status MORTISE_OK. Its strings are borrowed until it is filled again
 * or freed.
 */

/**
 * Makes an empty error.
 * @return the error, or NULL when memory runs out. Free it with `mortise_error_free`.
 */
MORTISE_NODISCARD MORTISE_API mortise_error *mortise_error_new(void);
/** Frees an error. */
MORTISE_API void mortise_error_free(mortise_error *error);
/** The status of the last call that filled this error, or MORTISE_OK if it is empty. */
MORTISE_API mortise_status mortise_error_status(const mortise_error *error);
/**
 * One line of English with the cause and the remedy, or "" if the error is empty.
 *
 * The message of a handle begins with the name of its lock in quotes. It shows at most 64 bytes of
 * the name, with a `?` for each byte that is no printable ASCII. A message about a wrong argument
 * begins with the argument instead. The message of a multi names the member that was held, lost or
 * did not answer. If no single member is the cause, it names the first three.
 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_error_message(const mortise_error *error);
/** The server's own text, such as "READONLY You can't write…", or "" if it sent none. */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_error_server_text(const mortise_error *error);
/** 1 if the same call may succeed later without any change, otherwise 0. */
MORTISE_API int32_t mortise_error_is_retryable(const mortise_error *error);
/** 1 if the server may have executed the request although the call failed, otherwise 0. */
MORTISE_API int32_t mortise_error_is_ambiguous(const mortise_error *error);

/**
 * The name of the lock that the error is about, or of the member of a multi. It is any bytes,
 * followed by a NUL. It is "" if the error is about an argument or about no lock.
 * @param name_len receives the number of bytes. May be NULL.
 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_error_lock_name(const mortise_error *error,
                                                                   size_t *name_len);
/** The reason of a loss if the status is MORTISE_LOST, otherwise MORTISE_REASON_NONE. */
MORTISE_API mortise_reason mortise_error_reason(const mortise_error *error);

/* ---- options ---------------------------------------------------------------------------- */

/*
 * The caller owns and frees options. Use them in one thread at a time. A setter copies its value.
 * @return
 * - MORTISE_OK: set.
 * - MORTISE_INVALID_ARGUMENT: `options` is NULL, or the value is out of range. The old value stays.
 */

/**
 * Makes options with the defaults: lease 15 s, renewal on, max_hold 1 h, not reentrant, fair=batch,
 * no label, command_timeout 3 s.
 *
 * Options given to `mortise_client_new` are the defaults of all its handles. Options given to
 * `mortise_lock_new` replace all of the client's. To change one setting of one handle, begin with
 * `mortise_options_new_from`. Constructors copy the values, so options may be freed at any time.
 * @return the options, or NULL when memory runs out. Free them with `mortise_options_free`.
 */
MORTISE_NODISCARD MORTISE_API mortise_options *mortise_options_new(void);
/**
 * Makes options with the settings of a client, as its options and its URL have them. They are the
 * base for a handle that differs in one setting. They are a copy: a change does not affect the
 * client.
 * @param client the client to copy from.
 * @return the options, or NULL. Free them with `mortise_options_free`. NULL has these causes:
 * - MORTISE_INVALID_ARGUMENT: `client` is NULL.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_NO_MEMORY: memory ran out.
 */
MORTISE_NODISCARD MORTISE_API mortise_options *mortise_options_new_from(
    const mortise_client *client, mortise_error *error);
/** Frees options. */
MORTISE_API void mortise_options_free(mortise_options *options);
/**
 * Sets one option from text, as the URL's query and config files do. docs/options.md lists the
 * values of each key. A handle cannot be made with options that contain a client-only option.
 * @param key one of MORTISE_OPTION_LEASE to MORTISE_OPTION_METRICS_NAME.
 * @param key_len bytes of `key`.
 * @param value the value as text.
 * @param value_len bytes of `value`, at most 4096.
 * @return
 * - MORTISE_OK: set.
 * - MORTISE_INVALID_ARGUMENT: the key is unknown, or the value is out of range.
 */
MORTISE_API mortise_status mortise_options_set(mortise_options *options, const char *key,
                                               size_t key_len, const char *value, size_t value_len,
                                               mortise_error *error);
/**
 * How long a hold lasts unless it is renewed. Default 15000.
 * @param lease_ms MORTISE_MIN_LEASE_MS to MORTISE_MAX_MS.
 */
MORTISE_API mortise_status mortise_options_set_lease_ms(mortise_options *options, int64_t lease_ms,
                                                        mortise_error *error);
/**
 * Whether the client renews holds by itself. Default 1.
 * @param is_on 0 or 1.
 */
MORTISE_API mortise_status mortise_options_set_renewal(mortise_options *options, int32_t is_on,
                                                       mortise_error *error);
/**
 * How long a hold is renewed, so that a forgotten hold ends. Default 3600000, one hour.
 * @param max_hold_ms 1 to MORTISE_MAX_MS, or MORTISE_FOREVER for no limit.
 */
MORTISE_API mortise_status mortise_options_set_max_hold_ms(mortise_options *options,
                                                           int64_t max_hold_ms,
                                                           mortise_error *error);
/**
 * How long a hold is renewed after the last report of progress. A lease proves that the process
 * lives, not that its work goes on. With this option, work that hangs loses the lock.
 *
 * The grant counts as the first report, and `mortise_lock_progress` is each further one. For the
 * members of a multi, it is the grant of all members. Without a report, the hold ends `progress_ms`
 * and one lease after the last. Before that, MORTISE_EVENT_AT_RISK reports MORTISE_REASON_STALLED,
 * while a third of the lease is left. A later report resumes the renewals. It applies to renewed
 * holds. Default 0: no report is needed.
 * @param progress_ms 0 to MORTISE_MAX_MS.
 */
MORTISE_API mortise_status mortise_options_set_progress_ms(mortise_options *options,
                                                           int64_t progress_ms,
                                                           mortise_error *error);
/**
 * Whether this handle may acquire again what it holds. Each further acquire is counted locally and
 * needs its own unlock. Default 0.
 * @param is_on 0 or 1.
 */
MORTISE_API mortise_status mortise_options_set_reentrant(mortise_options *options, int32_t is_on,
                                                         mortise_error *error);
/**
 * The same as `mortise_options_set_reentrant`, only for acquiring a read-write lock to read.
 * @param is_on 0 or 1.
 */
MORTISE_API mortise_status mortise_options_set_reentrant_read(mortise_options *options,
                                                              int32_t is_on, mortise_error *error);
/**
 * The same as `mortise_options_set_reentrant`, only for a mutex, and for acquiring a read-write
 * lock to write.
 * @param is_on 0 or 1.
 */
MORTISE_API mortise_status mortise_options_set_reentrant_write(mortise_options *options,
                                                               int32_t is_on, mortise_error *error);
/**
 * The format of the handle's locks at the server. The default "queued" is Mortise's own. The others
 * share locks with other programs: "token", "hash" (Redisson's), "timestamp" or "timestamp_binary"
 * for a mutex, and "two_key" or "hash" for a read-write lock.
 *
 * With these, both programs use the lock's name as the key. They have no queue, and
 * docs/protocols.md lists what each cannot promise. Their read-write locks return
 * MORTISE_UNSUPPORTED for an upgrade, a downgrade, and a read by a writer. Handles with different
 * protocols do not exclude each other.
 *
 * A constructor of a lock whose kind lacks the protocol fails with MORTISE_UNSUPPORTED.
 * @param protocol one of these names.
 * @param protocol_len bytes of `protocol`.
 */
MORTISE_API mortise_status mortise_options_set_protocol(mortise_options *options,
                                                        const char *protocol, size_t protocol_len,
                                                        mortise_error *error);
/**
 * The average pause between two attempts of a waiting acquire, for a protocol without a queue. Each
 * pause varies by half. Default 100.
 * @param poll_interval_ms 1 to 60000.
 */
MORTISE_API mortise_status mortise_options_set_poll_interval_ms(mortise_options *options,
                                                                int64_t poll_interval_ms,
                                                                mortise_error *error);
/**
 * The number of attempts of such an acquire before it ends with MORTISE_NOT_ACQUIRED. By default
 * only its timeout limits it.
 * @param poll_attempts 1 to 1000000000, or MORTISE_FOREVER for no limit.
 */
MORTISE_API mortise_status mortise_options_set_poll_attempts(mortise_options *options,
                                                             int64_t poll_attempts,
                                                             mortise_error *error);
/**
 * Whether grants are in strict order among all clients.
 *
 * 0 (batch): while others wait, the waiters of one client pass a mutex among themselves. They do so
 * up to 16 times and for 8 round trips to the server, which is 2 to 10 ms. While nobody waits,
 * readers of one client join each other without a round trip.
 *
 * 1 (strict): first come, first served among all clients, and each reader asks the server. Default
 * 0.
 * @param is_on 0 or 1.
 */
MORTISE_API mortise_status mortise_options_set_fair_strict(mortise_options *options, int32_t is_on,
                                                           mortise_error *error);
/**
 * How long an unlock keeps a lock without waiters for the next acquire of this client. That acquire
 * then needs no round trip. A waiter of another client receives the lock at once, but a try of
 * another client is refused: see docs/round_trips.md. It applies to renewed holds of the protocol
 * "queued". The time is at most half of the lease. Default 0: not at all.
 * @param retain_ms 0 to MORTISE_MAX_MS.
 */
MORTISE_API mortise_status mortise_options_set_retain_ms(mortise_options *options,
                                                         int64_t retain_ms, mortise_error *error);
/**
 * A text that `mortise_lock_query` shows for this handle. Default empty.
 * @param label UTF-8 without control characters.
 * @param label_len bytes of `label`, at most MORTISE_MAX_LABEL_LEN.
 */
MORTISE_API mortise_status mortise_options_set_label(mortise_options *options, const char *label,
                                                     size_t label_len, mortise_error *error);
/**
 * The deadline of every call without a timeout. If a request stays unanswered for this time, the
 * client treats its connection as broken. For clients only. Default 3000.
 * @param command_timeout_ms 10 to 60000.
 */
MORTISE_API mortise_status mortise_options_set_command_timeout_ms(mortise_options *options,
                                                                  int64_t command_timeout_ms,
                                                                  mortise_error *error);
/**
 * How far the speeds of this machine's clock and the server's may differ. The server keeps a lock
 * longer than its lease by this share. After a crash, others wait that much longer. If the clocks
 * differ by more, two clients may hold one lock.
 *
 * Both clocks slew while they are corrected: ntpd by at most 500 ppm, chronyd by up to 83333 ppm
 * unless its `maxslewrate` is lower. The value protects only the client's own holds, so clients
 * that share a lock may have different values. For clients only. Default 10000 (1 %).
 * @param drift_ppm 1000 (0.1 %) to 200000 (20 %), in millionths.
 */
MORTISE_API mortise_status mortise_options_set_drift_ppm(mortise_options *options,
                                                         int64_t drift_ppm, mortise_error *error);

/* ---- client ----------------------------------------------------------------------------- */

/*
 * Any thread may call these functions. The caller owns and frees a client. It may be
 * freed before its handles. They then return MORTISE_CLOSED, and still must be freed.
 */

/**
 * Opens a client: one connection and one thread, shared by all handles made from it.
 *
 * The client retries a server until command_timeout if the server is missing (nobody listens, no
 * such socket, the name is unknown), loading, busy or a replica. It fails at once on a problem that
 * only a person can fix.
 *
 * With `connect=lazy` the call returns at once, and the client connects in the background. Until it
 * is connected, each call waits within its own timeout and then reports the obstacle. The same
 * holds while the client looks for the master behind the URL's name.
 * @param url a URL of docs/urls.md, such as `redis://localhost`. NULL reads the environment
 *   variable MORTISE_URL during this call. A program that runs with another user's rights never
 *   reads it (see secure_getenv).
 * @param url_len bytes of `url`, 1 to 4096 for each URL of a list. 0 with NULL.
 * @param options defaults for the handles. The URL's query overrides them. NULL for the defaults.
 * @return the client, or NULL. Unless `connect=lazy`, it is connected and logged in. Free it with
 *   `mortise_client_free`. NULL has these causes:
 * - MORTISE_INVALID_ARGUMENT: the URL or an option is wrong, or MORTISE_URL is needed but unset or
 *   empty.
 * - MORTISE_UNREACHABLE: no server answered within command_timeout.
 * - MORTISE_REFUSED: wrong password, missing rights, or a server that is too old. Also a server
 *   that is still loading, busy or a replica after command_timeout, and a bad finding with
 *   `health_check=strict`.
 * - MORTISE_UNSUPPORTED: TLS without OpenSSL 3, or `release_on_death` with TLS or `redlock:`.
 * - MORTISE_LIMIT: no file descriptor or thread is available.
 * - MORTISE_NO_MEMORY: memory ran out.
 */
MORTISE_NODISCARD MORTISE_API mortise_client *mortise_client_new(const char *url, size_t url_len,
                                                                 const mortise_options *options,
                                                                 mortise_error *error);
/**
 * Closes and frees the client. Waiting calls end with MORTISE_CLOSED. The client sends the releases
 * of its holds for at most 100 ms and does not wait for the answers. Its handles then return
 * MORTISE_CLOSED.
 */
MORTISE_API void mortise_client_free(mortise_client *client);
/**
 * Checks that the server answers, within command_timeout.
 * @return
 * - MORTISE_OK: it does.
 * - MORTISE_UNREACHABLE: no connection in time. The request was not sent.
 * - MORTISE_UNKNOWN: the request was sent, and no answer arrived in time.
 * - MORTISE_REFUSED: the server refused the request.
 * - MORTISE_LIMIT: too many requests are open.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an object is NULL.
 */
MORTISE_API mortise_status mortise_client_ping(mortise_client *client, mortise_error *error);
/**
 * Changes the user and password of a client, for a program that knows when they change. The client
 * sends them on the open connection (AUTH) and waits for the answer within command_timeout. New
 * connections log in with them. Holds, waits and their order continue.
 *
 * Without an open connection, the client keeps the new credentials and connects with them at once.
 * A right that the new user lacks shows only when a call needs it. On a server without RESP3, the
 * client reconnects afterwards.
 *
 * Unless the call returns MORTISE_OK, the old credentials stay in force. After MORTISE_UNKNOWN, the
 * server may have accepted the new ones on this connection. So repeat the call.
 *
 * With several servers, such as those of a cluster, the servers that accepted the new credentials
 * keep them, also if another server did not. Then repeat the call, or set the old ones again.
 * @param user any bytes. NULL with 0, or "", is the server's default user.
 * @param user_len bytes of `user`, 0 to MORTISE_MAX_PASSWORD_LEN.
 * @param password any bytes, also NUL. The client overwrites its copy when it no longer needs it.
 * @param password_len bytes of `password`, 1 to MORTISE_MAX_PASSWORD_LEN.
 * @return
 * - MORTISE_OK: they are in force.
 * - MORTISE_REFUSED: a server did not accept them.
 * - MORTISE_UNREACHABLE: a connection broke, and nothing changed at its server.
 * - MORTISE_UNKNOWN: the request was sent, and no answer arrived in time.
 * - MORTISE_LIMIT: too many requests are open.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_NO_MEMORY: memory ran out.
 * - MORTISE_INVALID_ARGUMENT: an argument is wrong, or the client has the option `password_file`.
 *   Then write the file instead.
 */
MORTISE_API mortise_status mortise_client_set_credentials(mortise_client *client, const char *user,
                                                          size_t user_len, const char *password,
                                                          size_t password_len,
                                                          mortise_error *error);

/**
 * Checks the health of the servers: the settings, rights and clocks that matter to locks.
 * docs/health_check.md lists the findings. The check takes two round trips, changes nothing at a
 * server and waits at most command_timeout. If one server of several does not answer, that is a
 * finding.
 * @return the health check, or NULL. Free it with `mortise_health_free`. NULL has these
 *   causes:
 * - MORTISE_UNREACHABLE: no connection in time. The request was not sent.
 * - MORTISE_UNKNOWN: the request was sent, and no answer arrived in time.
 * - MORTISE_LIMIT: too many requests are open.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an object is NULL.
 * - MORTISE_NO_MEMORY: memory ran out.
 */
MORTISE_NODISCARD MORTISE_API mortise_health *mortise_client_check_health(mortise_client *client,
                                                                          mortise_error *error);
/**
 * The last health check, without a new one. It comes from `mortise_client_check_health`, or from
 * the last connect if the option `health_check` is `warn` or `strict`. It has no findings if there
 * was no check.
 * @return the health check, or NULL. Free it with `mortise_health_free`. NULL has these
 *   causes:
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an object is NULL.
 * - MORTISE_NO_MEMORY: memory ran out.
 */
MORTISE_NODISCARD MORTISE_API mortise_health *mortise_client_last_health(mortise_client *client,
                                                                         mortise_error *error);

/**
 * Reads what the client has counted since it was made: acquires, holds, losses, round trips,
 * connections. docs/statistics.md lists the names. It sends nothing and slows down no call that
 * locks.
 * @return the statistics, or NULL. Free them with `mortise_stats_free`. NULL has these causes:
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an object is NULL.
 * - MORTISE_NO_MEMORY: memory ran out.
 */
MORTISE_NODISCARD MORTISE_API mortise_stats *mortise_client_stats(mortise_client *client,
                                                                  mortise_error *error);

/**
 * Reports the log of this client on a queue, as one MORTISE_EVENT_LOG per record. The event has the
 * severity, the subject, and the record as its message. Its status is the result of the matter,
 * which is MORTISE_OK after a recovery. The log is off by default. A new watch replaces the old
 * one, and a NULL queue ends it.
 *
 * Logging never waits for the reader. Records take no room of the queue's capacity and come after
 * all other events. If they come too fast, the client drops some. Each subject may have ten at once
 * and then one in ten seconds, and at most 64 stay unread. `mortise_event_dropped_records` counts
 * the dropped ones. Do not rely on the log for losses: `mortise_lock_watch` drops none.
 * @param queue the queue that receives the events, or NULL.
 * @param tag any number. The events return it.
 * @param level report this severity and worse: MORTISE_LOG_LEVEL_ERROR to MORTISE_LOG_LEVEL_INFO.
 *   Ignored without a queue.
 * @return
 * - MORTISE_OK: the watch is set or ended.
 * - MORTISE_SHUT_DOWN: the queue was shut down.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an argument is NULL or out of range.
 */
MORTISE_API mortise_status mortise_client_watch_log(mortise_client *client, mortise_queue *queue,
                                                    int64_t tag, mortise_log_level level,
                                                    mortise_error *error);
/**
 * Sends a MORTISE_EVENT_STATS to a queue at regular intervals, as a signal to read
 * `mortise_client_stats`. The event carries no numbers. It takes no room of the queue's capacity
 * and comes after all other events. While one is unread, no other is sent. It is off by default. A
 * new watch replaces the old one, and a NULL queue ends it.
 * @param queue the queue that receives the events, or NULL.
 * @param tag any number. The events return it.
 * @param interval_ms 10 to MORTISE_MAX_MS. Ignored without a queue.
 * @return
 * - MORTISE_OK: the watch is set or ended.
 * - MORTISE_SHUT_DOWN: the queue was shut down.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an argument is NULL or out of range.
 */
MORTISE_API mortise_status mortise_client_watch_stats(mortise_client *client, mortise_queue *queue,
                                                      int64_t tag, int64_t interval_ms,
                                                      mortise_error *error);
/**
 * Reports the begin and the end of each wait and each hold of this client on a queue, for example
 * to trace them. It is off by default. A new watch replaces the old one, and a NULL queue ends it.
 *
 * Each accepted acquire and try begins a wait, which ends at once if the lock is free or the call
 * does not wait. MORTISE_EVENT_WAIT_BEGAN is followed by MORTISE_EVENT_WAIT_FAILED, or by
 * MORTISE_EVENT_HOLD_BEGAN and later MORTISE_EVENT_HOLD_ENDED, with each upgrade and downgrade as
 * MORTISE_EVENT_HOLD_CHANGED in between. The events of one handle come in this order, and
 * `mortise_event_handle_number` tells handles apart. A handle that acquires again what it holds
 * neither waits nor begins another hold. The members of a multi are reported one by one. A hold
 * ends when its unlock begins, and the result of the unlock is that of its call.
 *
 * The reports never wait for the reader. They take no room of the queue's capacity and come after
 * all other events. While 4096 are unread, the client drops later ones, and
 * `mortise_event_dropped_records` counts these. Do not rely on them for losses:
 * `mortise_lock_watch` drops none. docs/tracing.md has an example.
 * @param queue the queue that receives the events, or NULL.
 * @param tag any number. The events return it.
 * @return
 * - MORTISE_OK: the watch is set or ended.
 * - MORTISE_SHUT_DOWN: the queue was shut down.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an object is NULL.
 */
MORTISE_API mortise_status mortise_client_watch_locks(mortise_client *client, mortise_queue *queue,
                                                      int64_t tag, mortise_error *error);

/**
 * Lists what all live clients hold and wait for. The client finds their inboxes by PUBSUB CHANNELS,
 * or SHARDCHANNELS in a cluster. It sends each inbox a message and collects the answers. It looks
 * for no keys. docs/listing.md describes what a listing contains.
 *
 * The call ends when all clients have answered, or after `timeout_ms`. The latter is no error: the
 * missing clients count as silent. If one of several servers does not answer in half of that time,
 * the listing omits it and the clients that only it knows. The JSON names it as "missing". A client
 * makes one listing at a time.
 * @param timeout_ms 1 to 60000.
 * @return the listing, or NULL. Free it with `mortise_listing_free`. NULL has these causes:
 * - MORTISE_REFUSED: a right is missing.
 * - MORTISE_UNREACHABLE: no connection in time. The request was not sent.
 * - MORTISE_UNKNOWN: no server answered in time.
 * - MORTISE_BUSY: another listing of this client ran during all of the time.
 * - MORTISE_LIMIT: too many requests are open.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an argument is NULL or out of range.
 * - MORTISE_NO_MEMORY: memory ran out.
 */
MORTISE_NODISCARD MORTISE_API mortise_listing *mortise_client_list_locks(mortise_client *client,
                                                                         int64_t timeout_ms,
                                                                         mortise_error *error);

/**
 * Searches the keys of the servers for locks. It finds holds of dead or stopped clients, and of
 * other programs, which `mortise_client_list_locks` cannot list. It changes nothing and never uses
 * KEYS. It uses SCAN, 1000 keys at a time, with the right `+scan`.
 *
 * Each hold is an entry whose "source" is "key", with "name", "kind", "holds" and "time_left_ms". A
 * hold of Mortise's own also has its "client" and "label". Everything else is empty. If many owners
 * share a lock, the first 16 are entries, and one more entry counts the rest. In a quorum, the keys
 * of each server are entries.
 *
 * `mortise_listing_answered` counts the servers that answered. `mortise_listing_truncated` counts
 * those that were not searched to the end, because of the limit or the time. The JSON names servers
 * that did not answer at all as "missing".
 * @param pattern NULL with 0, or "", for locks in Mortise's own format. Otherwise a pattern of SCAN
 *   for keys in the formats of other programs, such as "lock:*". Their values are not read, and the
 *   kind is "other".
 * @param pattern_len bytes of `pattern`, at most MORTISE_MAX_NAME_LEN.
 * @param most_keys the largest number of keys to look at per server: 1 to 1000000000. At most
 *   100000 are kept in all.
 * @param timeout_ms 1 to 60000.
 * @return the listing, or NULL. Free it with `mortise_listing_free`. NULL has these causes:
 * - MORTISE_REFUSED: a right is missing.
 * - MORTISE_UNREACHABLE: no connection in time. The request was not sent.
 * - MORTISE_UNKNOWN: no server answered in time.
 * - MORTISE_LIMIT: too many requests are open.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an argument is NULL or out of range.
 * - MORTISE_NO_MEMORY: memory ran out.
 */
MORTISE_NODISCARD MORTISE_API mortise_listing *mortise_client_scan_locks(
    mortise_client *client, const char *pattern, size_t pattern_len, int64_t most_keys,
    int64_t timeout_ms, mortise_error *error);

/**
 * Lists the latest events of one lock in all live clients: its holds and waits, when they were, and
 * for how long. Each client keeps its last 4096 events, of all its locks together. The client asks
 * the others as `mortise_client_list_locks` does, and makes one listing at a time. docs/history.md
 * describes the events.
 *
 * The times are on the clock of the lock's server. They are as exact as "error_us": half of the
 * time that the answers took. The events of dead and silent clients are missing. A client that
 * sends more than it can have counts as truncated.
 * @param name any bytes.
 * @param name_len bytes of `name`: 1 to MORTISE_MAX_NAME_LEN.
 * @param window_ms how far the listing goes back: 1 to 86400000.
 * @param timeout_ms 1 to 60000.
 * @return the listing, whose entries are events in the order of their times, or NULL. Free it with
 *   `mortise_listing_free`. NULL has these causes:
 * - MORTISE_REFUSED: a right is missing.
 * - MORTISE_UNREACHABLE: no connection in time. The request was not sent.
 * - MORTISE_UNKNOWN: no server answered in time.
 * - MORTISE_BUSY: another listing of this client ran during all of the time.
 * - MORTISE_LIMIT: too many requests are open.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an argument is NULL or out of range.
 * - MORTISE_NO_MEMORY: memory ran out.
 */
MORTISE_NODISCARD MORTISE_API mortise_listing *mortise_client_list_history(
    mortise_client *client, const char *name, size_t name_len, int64_t window_ms,
    int64_t timeout_ms, mortise_error *error);

/* ---- listing ----------------------------------------------------------------------------- */

/*
 * The caller owns and frees a listing. It never changes, so any thread may read it. Its
 * strings are borrowed until it is freed.
 * @param index of an entry: 0 to `mortise_listing_count` - 1.
 */

/** Frees a listing. */
MORTISE_API void mortise_listing_free(mortise_listing *listing);
/** The whole listing as one JSON text in UTF-8. docs/listing.md describes it. */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_listing_json(const mortise_listing *listing);
/**
 * The number of clients that answered, including the client that asked. After a scan: of servers.
 */
MORTISE_API int64_t mortise_listing_answered(const mortise_listing *listing);
/** The number of live clients that did not answer in time. */
MORTISE_API int64_t mortise_listing_silent(const mortise_listing *listing);
/** The number of clients that answered only in part in time. After a scan: of servers. */
MORTISE_API int64_t mortise_listing_truncated(const mortise_listing *listing);
/** The number of entries. One entry is the relation of one client to one lock. */
MORTISE_API int64_t mortise_listing_count(const mortise_listing *listing);
/**
 * A text of an entry, up to its first NUL.
 * @param key its name in JSON: "client", "host", "label", "value", "name", "kind", "mode", "waits",
 *   "threads" or "source". In a history: "client", "host", "label", "event", "mode" or "why".
 * @param key_len bytes of `key`.
 * @return the text, or "" for another key and beyond the last entry.
 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_listing_text(const mortise_listing *listing,
                                                                int64_t index, const char *key,
                                                                size_t key_len);
/**
 * A number of an entry.
 * @param key its name in JSON: "pid". Of its hold: "holds", "token", "held_ms", "time_left_ms",
 *   "permits". Of its waits: "waiters", "waited_ms". Totals: "grants", "contended",
 *   "waited_total_ms". "retained" is 1 or more while the client retains the lock (option `retain`).
 *   In a history: "pid", "handle", "token", "permits", "place", "time_us", "lasted_us", "error_us".
 * @param key_len bytes of `key`.
 * @return the number, or 0 for another key and beyond the last entry. Its name ends in the unit of
 * a time.
 */
MORTISE_API int64_t mortise_listing_number(const mortise_listing *listing, int64_t index,
                                           const char *key, size_t key_len);

/* ---- stats ------------------------------------------------------------------------------ */

/*
 * The caller owns and frees statistics. They never change, so any thread may read
 * them. Their strings are borrowed until they are freed.
 * @param index of a sample: 0 to `mortise_stats_count` - 1.
 * @param label of a label: 0 to `mortise_stats_label_count` - 1.
 */

/** Frees statistics. */
MORTISE_API void mortise_stats_free(mortise_stats *stats);
/** All statistics as one JSON text in UTF-8. docs/statistics.md describes it. */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_stats_json(const mortise_stats *stats);
/** All statistics in the text format of Prometheus, version 0.0.4. */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_stats_prometheus(const mortise_stats *stats);
/**
 * The number of samples. A sample is a number with a name and labels. A histogram has one sample
 * for each bucket, one for its sum and one for its count, as in Prometheus' text. Indexes begin at
 * 0.
 */
MORTISE_API int64_t mortise_stats_count(const mortise_stats *stats);
/** The name of a sample, such as "mortise_holds", or "" beyond the last. */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_stats_name(const mortise_stats *stats,
                                                              int64_t index);
/** The type of a sample: "counter", "gauge" or "histogram", or "" beyond the last. */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_stats_type(const mortise_stats *stats,
                                                              int64_t index);
/** The value of a sample, in seconds or as a count, or 0 beyond the last. */
MORTISE_API double mortise_stats_value(const mortise_stats *stats, int64_t index);
/** The number of labels of a sample, or 0 beyond the last. */
MORTISE_API int64_t mortise_stats_label_count(const mortise_stats *stats, int64_t index);
/** The name of a label of a sample, such as "kind", or "" beyond the last. */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_stats_label_name(const mortise_stats *stats,
                                                                    int64_t index, int64_t label);
/** The value of a label of a sample, such as "mutex", or "" beyond the last. */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_stats_label_value(const mortise_stats *stats,
                                                                     int64_t index, int64_t label);

/* ---- health check ------------------------------------------------------------------------ */

/*
 * The caller owns and frees a health check. It never changes, so any thread may read it.
 * Its strings are borrowed until it is freed.
 * @param index of a finding: 0 to `mortise_health_count` - 1.
 */

/** Frees a health check. */
MORTISE_API void mortise_health_free(mortise_health *health);
/** The number of findings. Every server has the same findings. */
MORTISE_API int64_t mortise_health_count(const mortise_health *health);
/** The worst severity of all findings, or MORTISE_SEVERITY_UNKNOWN without findings. */
MORTISE_API mortise_severity mortise_health_worst(const mortise_health *health);
/**
 * The name of a finding, such as "maxmemory_policy", or "" beyond the last. Later versions keep it.
 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_health_name(const mortise_health *health,
                                                               int64_t index);
/** The severity of a finding, or MORTISE_SEVERITY_UNKNOWN beyond the last. */
MORTISE_API mortise_severity mortise_health_severity(const mortise_health *health, int64_t index);
/** The address of the finding's server without user and password, or "" beyond the last. */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_health_server(const mortise_health *health,
                                                                 int64_t index);
/** The value at the server, in printable ASCII, or "" beyond the last. */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_health_value(const mortise_health *health,
                                                                int64_t index);
/** What the finding can lead to, or "" if nothing is wrong, and beyond the last. */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_health_consequence(const mortise_health *health,
                                                                      int64_t index);
/** The remedy for the finding, or "" if nothing is wrong, and beyond the last. */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_health_remedy(const mortise_health *health,
                                                                 int64_t index);
/**
 * The whole health check as one JSON text in UTF-8. It is an object with `worst` and `findings`, an
 * array of objects with `name`, `severity`, `server`, `value`, `consequence` and `remedy`.
 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_health_json(const mortise_health *health);
/**
 * The name of a severity: "ok", "unknown", "warn" or "bad". The string is static.
 * @param severity MORTISE_SEVERITY_OK to MORTISE_SEVERITY_BAD. Another one is "unknown".
 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_severity_text(mortise_severity severity);

/* ---- lock ------------------------------------------------------------------------------- */

/*
 * Any thread may call these functions on any handle. If one call on a handle is acquiring or
 * unlocking, others return MORTISE_BUSY. So make one handle per concurrent user. The caller
 * owns and frees a handle, also after its client was freed. A call copies the strings it
 * receives.
 */

/**
 * Makes a new owner of the mutex of this name. It sends nothing.
 * @param client the client. It may be freed before the handle.
 * @param name any bytes. Two names are the same lock if their bytes are equal.
 * @param name_len 1 to MORTISE_MAX_NAME_LEN.
 * @param options NULL for the client's. See `mortise_options_new_from`.
 * @return the handle, or NULL. Free it with `mortise_lock_free`. NULL has these causes:
 * - MORTISE_INVALID_ARGUMENT: an argument or option is wrong. With `redlock:`, also a lease that
 *   the option `quarantine` does not allow.
 * - MORTISE_UNSUPPORTED: mutexes lack the option's protocol, or the protocol lacks an option.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_NO_MEMORY: memory ran out.
 */
MORTISE_NODISCARD MORTISE_API mortise_lock *mortise_lock_new(mortise_client *client,
                                                             const char *name, size_t name_len,
                                                             const mortise_options *options,
                                                             mortise_error *error);
/**
 * Frees a handle. A hold is released without waiting for the answer. A call that waits for the lock
 * in another thread ends with MORTISE_CLOSED. A query in another thread continues until its answer
 * or its deadline.
 */
MORTISE_API void mortise_lock_free(mortise_lock *lock);
/**
 * Acquires the lock if it is free, within command_timeout.
 * @return
 * - MORTISE_OK: acquired. `mortise_lock_token` is the fencing token.
 * - MORTISE_NOT_ACQUIRED: another owner holds it.
 * - MORTISE_ALREADY_HELD: this handle holds it and is not reentrant.
 * - MORTISE_BUSY: another call on this handle is acquiring or unlocking.
 * - MORTISE_LOST: a reentrant handle lost its hold. Unlock it first.
 * - MORTISE_CANCELLED: cancelled or interrupted.
 * - MORTISE_UNREACHABLE: no connection in time. With the option `acks`, also too few replicas have
 *   the hold, and the client releases it.
 * - MORTISE_UNKNOWN: sent, but not answered in time. The client releases a possible hold.
 * - MORTISE_REFUSED: the server refused the request.
 * - MORTISE_UNSUPPORTED: the helper process of `release_on_death` cannot start. The message names
 * the reason.
 * - MORTISE_LIMIT: too many requests are open, the queue of a watch is full, or there are too many
 *   processes or claims for `release_on_death`, or its helper process was too slow to start.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an object is NULL.
 */
MORTISE_NODISCARD MORTISE_API mortise_status mortise_lock_try(mortise_lock *lock,
                                                              mortise_error *error);
/**
 * Acquires the lock and waits for its turn, in the order of arrival at the server.
 * @param timeout_ms 0 to MORTISE_MAX_MS, or MORTISE_FOREVER. 0 is the same as `mortise_lock_try`.
 * @return the statuses of `mortise_lock_try`, and:
 * - MORTISE_TIMED_OUT: the timeout passed. Nothing is held.
 * - MORTISE_DEADLOCK: with the option `deadlock` = "fail", threads waited for each other, and this
 *   wait was the youngest of them. Nothing is held. Unlock what this thread holds, then try again.
 * - MORTISE_UNREACHABLE: until the timeout, no server was reachable, or not as many replicas as
 *   `acks` needs.
 * - MORTISE_INVALID_ARGUMENT: also for a timeout out of range.
 */
MORTISE_NODISCARD MORTISE_API mortise_status mortise_lock_acquire(mortise_lock *lock,
                                                                  int64_t timeout_ms,
                                                                  mortise_error *error);
/**
 * Ends the hold and lets the next waiter in. Afterwards this handle holds nothing, whatever the
 * status. A reentrant handle with more unlocks to come still holds the lock.
 *
 * With the option `release` = "sent" the call does not wait for the answer. A loss or a refusal is
 * then a log record (`mortise_client_watch_log`) instead of a status.
 * @return
 * - MORTISE_OK: released.
 * - MORTISE_LOST: the hold was lost before.
 * - MORTISE_NOT_OWNER: there was no hold.
 * - MORTISE_UNREACHABLE, MORTISE_UNKNOWN: no answer within command_timeout. The client continues to
 *   try in the background, and the lease ends the hold at the latest.
 * - MORTISE_REFUSED: the server refused. The lease will end the hold.
 * - MORTISE_BUSY: another call on this handle is acquiring or unlocking.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an object is NULL.
 */
MORTISE_API mortise_status mortise_lock_unlock(mortise_lock *lock, mortise_error *error);
/**
 * Extends the hold so that it lasts at least `lease_ms` from now. It never shortens the hold. With
 * renewal on, later renewals use the longer of this lease and the handle's.
 * @param lease_ms 0 for the handle's lease, or MORTISE_MIN_LEASE_MS to MORTISE_MAX_MS. With
 *   `redlock:`, the option `quarantine` limits it.
 * @return
 * - MORTISE_OK: extended.
 * - MORTISE_LOST: the hold was lost.
 * - MORTISE_NOT_OWNER: there is no hold.
 * - MORTISE_UNREACHABLE: no connection in time. The old deadline stays. With the option `acks`,
 *   also too few replicas have the extension.
 * - MORTISE_UNKNOWN: sent, but not answered in time. The old deadline stays.
 * - MORTISE_REFUSED: the server refused the request.
 * - MORTISE_BUSY: another call on this handle is acquiring or unlocking.
 * - MORTISE_LIMIT: too many requests are open.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an argument is NULL or out of range.
 */
MORTISE_API mortise_status mortise_lock_extend(mortise_lock *lock, int64_t lease_ms,
                                               mortise_error *error);
/**
 * Reports that the work under the hold goes on. With the option `progress`, the client renews the
 * hold only for that time after the last report. After MORTISE_EVENT_AT_RISK, a report resumes the
 * renewals if the hold still lasts. Without the option, the call only checks the hold.
 *
 * It does not wait for a server, so a loop may call it for each item of work. Call it where work
 * was done. In a timer or a thread of its own it proves nothing.
 * @return
 * - MORTISE_OK: reported.
 * - MORTISE_LOST: the hold was lost. No report restores it.
 * - MORTISE_NOT_OWNER: there is no hold.
 * - MORTISE_BUSY: another call on this handle is acquiring or unlocking.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an object is NULL.
 */
MORTISE_API mortise_status mortise_lock_progress(mortise_lock *lock, mortise_error *error);

/**
 * Sets the value of this hold: a text that everybody can read who queries or lists the lock, such
 * as the address of a leader. It belongs to this hold and ends with it. `mortise_info_entry_value`
 * reads it. With the option `value`, each hold of the handle has a value from its beginning.
 *
 * The server stores the value under the owner of the hold, with the same end as its lease. Only the
 * owner of a hold in force can set it. So a late or stale owner never changes the value of the next
 * one, and no query shows the value of an earlier hold. Each renewal also stores the value again,
 * in one more request. An unlock removes it, in one more request. While a hold has a value, the
 * lock is neither passed on to another handle of this client without the server, nor retained.
 * @param value UTF-8 without zero bytes, or NULL with 0, or "", to remove the value.
 * @param value_len bytes of `value`, at most MORTISE_MAX_VALUE_LEN.
 * @return
 * - MORTISE_OK: the server has it.
 * - MORTISE_LOST: the hold was lost.
 * - MORTISE_NOT_OWNER: there is no hold.
 * - MORTISE_UNSUPPORTED: the protocol, or `redlock:`, has no values. Also for a reader that shares
 *   its hold with other readers of this client: give the handle the option `fair` = "strict".
 * - MORTISE_UNREACHABLE: no connection in time. The next renewal sets it.
 * - MORTISE_UNKNOWN: sent, but not answered in time. The next renewal sets it again.
 * - MORTISE_REFUSED: the server refused the request. The next renewal tries again.
 * - MORTISE_BUSY: another call on this handle is acquiring, unlocking or setting the value.
 * - MORTISE_LIMIT: too many requests are open. The next renewal sets it.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an argument is NULL or out of range.
 */
MORTISE_API mortise_status mortise_lock_set_value(mortise_lock *lock, const char *value,
                                                  size_t value_len, mortise_error *error);
/**
 * Exports the hold: ends it at this handle without a release. Another handle, process or host
 * continues it with `mortise_lock_adopt` and the id. Until then no client renews the hold, and it
 * lasts for this lease at the server. The server refuses what this handle may still have sent.
 * Afterwards this handle holds nothing and can acquire again. The value of the hold ends. The call
 * waits at most command_timeout.
 *
 * If this handle adopted the hold, the id is the one that it was adopted by. So an id serves one
 * adopter after the other, such as the commands of a job. The text contains the name of the lock,
 * but no server and no password. A client with the text and access to the server can end the hold.
 * @param lease_ms how long the hold lasts without an adoption: MORTISE_MIN_LEASE_MS to
 *   MORTISE_MAX_MS, or 0 for the handle's lease. An adopted hold then has at least the rest of the
 *   time that it had before the adoption.
 * @return the id, or NULL. Free it with `mortise_hold_id_free`. After a failure the hold continues
 *   if `mortise_lock_deadline_ns` is not 0. Otherwise its lease ends it. NULL has these causes:
 * - MORTISE_LOST: the hold was lost.
 * - MORTISE_NOT_OWNER: there is no hold.
 * - MORTISE_ALREADY_HELD: this handle was acquired more than once. Unlock all but one first.
 * - MORTISE_UNREACHABLE: no connection.
 * - MORTISE_UNKNOWN: sent, but not answered in time.
 * - MORTISE_REFUSED: the server refused the request.
 * - MORTISE_UNSUPPORTED: the option `protocol`, or `redlock:`, has no holds by id.
 * - MORTISE_BUSY: another call on this handle is acquiring or unlocking, or other readers of this
 *   client share the hold. A reader with `fair=strict` shares none.
 * - MORTISE_LIMIT: too many requests are open.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an argument is NULL or out of range.
 * - MORTISE_NO_MEMORY: memory ran out.
 */
MORTISE_NODISCARD MORTISE_API mortise_hold_id *mortise_lock_export(mortise_lock *lock,
                                                                   int64_t lease_ms,
                                                                   mortise_error *error);
/**
 * Continues an exported hold with this handle, which then renews it as a hold of its own. It waits
 * at most command_timeout. The server replaces the owner in one step, so of several adopters one
 * succeeds, and neither the exporter nor an earlier adopter can renew or release the hold. The
 * fencing token rises, so a resource rejects what the exporter still writes.
 * @param id the text of `mortise_hold_id_text`, of a handle with the same name and kind, at any
 *   client of the same servers.
 * @param id_len bytes of `id`, 1 to 4096.
 * @return
 * - MORTISE_OK: this handle holds the lock.
 * - MORTISE_NOT_OWNER: the exported hold has ended, or another handle has adopted it, or these are
 *   other servers.
 * - MORTISE_ALREADY_HELD: this handle holds the lock.
 * - MORTISE_BUSY: another call on this handle is acquiring or unlocking.
 * - MORTISE_LOST: a reentrant handle lost its hold. Unlock it first.
 * - MORTISE_CANCELLED: cancelled or interrupted.
 * - MORTISE_UNREACHABLE: no connection in time. The request was not sent.
 * - MORTISE_UNKNOWN: sent, but not answered in time. If the server adopts the hold nevertheless, a
 *   later request of this client makes the id valid again.
 * - MORTISE_REFUSED: the server refused the request.
 * - MORTISE_UNSUPPORTED: the option `protocol`, or `redlock:`, has no holds by id.
 * - MORTISE_LIMIT: too many requests are open, or the watching queue is full.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an argument is NULL, or the id was changed or is of another lock,
 *   kind or namespace.
 */
MORTISE_NODISCARD MORTISE_API mortise_status mortise_lock_adopt(mortise_lock *lock, const char *id,
                                                                size_t id_len,
                                                                mortise_error *error);
/**
 * Ends the waiting acquire of this handle, of any thread or queue, with MORTISE_CANCELLED. If a
 * grant arrives first, the acquire returns MORTISE_OK.
 * @return
 * - MORTISE_OK: a wait was cancelled.
 * - MORTISE_NOT_WAITING: no call of this handle was waiting.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an object is NULL.
 */
MORTISE_API mortise_status mortise_lock_cancel(mortise_lock *lock, mortise_error *error);
/**
 * Cancels the waiting acquire as `mortise_lock_cancel` does, and also blocks later acquires. While
 * the handle is interrupted, each acquire and try returns MORTISE_CANCELLED at once and causes no
 * event. A call with 0 ends that.
 *
 * Unlike a cancel, an interrupt cannot come too early. It suits a caller that calls once and from
 * another thread, such as a std::stop_callback or a thread that waits for signals. It does not
 * affect a hold: unlock, extend and the rest continue. If a grant arrives first, the acquire
 * returns MORTISE_OK.
 * @param is_on 1 to interrupt, 0 to end it. Repeating a value changes nothing.
 * @return
 * - MORTISE_OK: done, whether or not an acquire waited.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an argument is NULL or out of range.
 */
MORTISE_API mortise_status mortise_lock_interrupt(mortise_lock *lock, int32_t is_on,
                                                  mortise_error *error);
/**
 * Names the task that later acquires of this handle belong to. A task is work that acquires, waits
 * and releases one after the other, as a thread does, but whose calls block no thread: a goroutine,
 * a coroutine or a request. So the option `deadlock` and the command `mortise doctor --deadlocks`
 * find its deadlocks. They do not find those of an asynchronous acquire without a task. A blocking
 * acquire without a task belongs to its thread.
 *
 * Give the number to the handles of one task only, and not to work that runs at the same time.
 * Otherwise a wait counts as the wait of a holder that does not wait. The call sends no request. It
 * affects neither a hold nor an acquire that waits. Any thread may call it.
 * @param task a number of the caller's choice, unique among the tasks of this process: 1 to
 * INT64_MAX. 0 ends the task.
 * @return
 * - MORTISE_OK: done.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an argument is NULL or out of range.
 */
MORTISE_API mortise_status mortise_lock_set_task(mortise_lock *lock, int64_t task,
                                                 mortise_error *error);
/**
 * The name that the handle was made with: any bytes, followed by a NUL. They are borrowed until the
 * handle is freed. "" for NULL.
 * @param name_len receives the number of bytes. May be NULL.
 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_lock_name(const mortise_lock *lock,
                                                             size_t *name_len);
/**
 * 1 while this handle holds the lock by the local clock, otherwise 0. It sends nothing. With the
 * option `acks` it is also 0 after a failover, from the discovery of the new server until its
 * replicas have the hold. The hold is not lost by that alone.
 */
MORTISE_API int32_t mortise_lock_is_held(const mortise_lock *lock);
/**
 * How long the hold is still valid by the local clock, in milliseconds rounded down. It is 0 while
 * `mortise_lock_is_held` is 0. After a wait it is at most 1.6 s until the first renewal confirms
 * the grant. It sends nothing.
 */
MORTISE_API int64_t mortise_lock_valid_ms(const mortise_lock *lock);
/**
 * The moment when the hold ends unless it is renewed, in nanoseconds of CLOCK_BOOTTIME (see
 * clock_gettime), or 0 if nothing is held. Each renewal moves it. It is rounded down to a multiple
 * of 1024, so that a double holds it exactly. While `mortise_lock_is_held` is 0 because of the
 * option `acks`, the deadline stays readable, because the hold is not lost. It sends nothing.
 */
MORTISE_API int64_t mortise_lock_deadline_ns(const mortise_lock *lock);
/**
 * The fencing token of the hold. It rises with every grant of this name and never changes during a
 * hold. After the hold it stays readable until the next acquire. It is 0 before the first hold, and
 * always below 2^53.
 */
MORTISE_API int64_t mortise_lock_token(const mortise_lock *lock);
/**
 * The number of the hold among all holds of this handle. The first is 1, and each grant raises it.
 * It does not change during a hold, and stays readable afterwards until the next acquire. It is 0
 * before the first hold. Two holds of one handle never have the same number. Consecutive holds of a
 * reader may have the same token. It sends nothing.
 */
MORTISE_API int64_t mortise_lock_hold_number(const mortise_lock *lock);
/**
 * Unlocks the hold with this number, and never a later one of the same handle. It is for threads
 * that share a handle, and for objects that stand for one hold.
 * @param hold_number the value of `mortise_lock_hold_number` during the hold: 1 or more.
 * @return the statuses of `mortise_lock_unlock`, and:
 * - MORTISE_LOST: also if that hold has ended, and the handle was acquired again or is acquiring.
 *   Nothing was unlocked.
 * - MORTISE_INVALID_ARGUMENT: also for a number below 1.
 */
MORTISE_API mortise_status mortise_lock_unlock_hold(mortise_lock *lock, int64_t hold_number,
                                                    mortise_error *error);
/**
 * Starts `mortise_lock_unlock_hold`, which ends in one MORTISE_EVENT_UNLOCKED. The hold ends now.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @param hold_number the value of `mortise_lock_hold_number` during the hold: 1 or more.
 * @return the statuses of `mortise_lock_unlock_async`, and:
 * - MORTISE_LOST: also if that hold has ended, and the handle was acquired again or is acquiring.
 * - MORTISE_INVALID_ARGUMENT: also for a number below 1.
 */
MORTISE_API mortise_status mortise_lock_unlock_hold_async(mortise_lock *lock, mortise_queue *queue,
                                                          int64_t tag, int64_t hold_number,
                                                          mortise_error *error);
/**
 * Asks the server for the holder and the waiters of the lock. The answer may be old when it
 * arrives. So to decide whether to act, use `mortise_lock_is_held`. It waits at most
 * command_timeout.
 * @param info is filled on MORTISE_OK. Required.
 * @return
 * - MORTISE_OK: `info` is filled.
 * - MORTISE_UNREACHABLE: no connection in time. The request was not sent.
 * - MORTISE_UNKNOWN: the request was sent, and no answer arrived in time.
 * - MORTISE_REFUSED: the server refused the request.
 * - MORTISE_LIMIT: too many requests are open.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an object is NULL.
 */
MORTISE_API mortise_status mortise_lock_query(mortise_lock *lock, mortise_info *info,
                                              mortise_error *error);
/**
 * Ends the hold of another owner of this lock at once. It is for an operator that knows that the
 * hold is stuck. The next waiter receives the lock with a higher fencing token, as after an unlock.
 *
 * The holder is notified and asks the server. Its hold is then LOST, with the reason
 * MORTISE_REASON_FORCED. Until the holder knows, two owners act at a time. Only a resource that
 * rejects the lower token prevents that.
 *
 * The owner names the claim of a client at the server, which lasts while handles of this client
 * pass the lock on (`fair=batch`), retain it or share a read. The call ends the holds of these
 * handles, also one that began after the owner was read. It never ends a hold of another client or
 * of a later claim.
 * @param owner the holder, from `mortise_info_entry_owner`. Any bytes.
 * @param owner_len bytes of `owner`, 1 to 4096.
 * @return
 * - MORTISE_OK: the owner no longer holds the lock.
 * - MORTISE_NOT_OWNER: the owner did not hold it. Nothing changed.
 * - MORTISE_REFUSED: the protocol is that of other programs, whose owners cannot be notified. Also
 *   if the server refused, or the name is another kind of lock.
 * - MORTISE_UNREACHABLE: no connection in time. The request was not sent.
 * - MORTISE_UNKNOWN: the request was sent, and no answer arrived in time.
 * - MORTISE_LIMIT: too many requests are open.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an argument is NULL or out of range.
 */
MORTISE_API mortise_status mortise_lock_force_release(mortise_lock *lock, const char *owner,
                                                      size_t owner_len, mortise_error *error);
/**
 * Starts `mortise_lock_try`, which ends in one MORTISE_EVENT_ACQUIRED. If this call fails, there is
 * no event.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @return
 * - MORTISE_OK: started.
 * - MORTISE_ALREADY_HELD: this handle holds the lock and is not reentrant.
 * - MORTISE_BUSY: another call on this handle is acquiring or unlocking.
 * - MORTISE_LOST: a reentrant handle lost its hold. Unlock it first.
 * - MORTISE_CANCELLED: the handle is interrupted.
 * - MORTISE_LIMIT: the queue is full, or too many requests are open.
 * - MORTISE_SHUT_DOWN: the queue was shut down.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an argument is NULL or out of range.
 */
MORTISE_API mortise_status mortise_lock_try_async(mortise_lock *lock, mortise_queue *queue,
                                                  int64_t tag, mortise_error *error);
/**
 * Starts `mortise_lock_acquire`, which ends in one MORTISE_EVENT_ACQUIRED. If this call fails,
 * there is no event.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @param timeout_ms 0 to MORTISE_MAX_MS, or MORTISE_FOREVER.
 * @return the statuses of `mortise_lock_try_async`.
 */
MORTISE_API mortise_status mortise_lock_acquire_async(mortise_lock *lock, mortise_queue *queue,
                                                      int64_t tag, int64_t timeout_ms,
                                                      mortise_error *error);
/**
 * Starts `mortise_lock_unlock`, which ends in one MORTISE_EVENT_UNLOCKED. The hold ends now. If
 * this call fails, there is no event.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @return
 * - MORTISE_OK: started.
 * - MORTISE_LOST: the hold was lost before.
 * - MORTISE_NOT_OWNER: there was no hold.
 * - MORTISE_BUSY: another call on this handle is acquiring or unlocking.
 * - MORTISE_LIMIT: the queue is full, or too many requests are open.
 * - MORTISE_SHUT_DOWN: the queue was shut down.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an argument is NULL or out of range.
 */
MORTISE_API mortise_status mortise_lock_unlock_async(mortise_lock *lock, mortise_queue *queue,
                                                     int64_t tag, mortise_error *error);
/**
 * Starts `mortise_lock_extend`, which ends in one MORTISE_EVENT_EXTENDED. If this call fails, there
 * is no event.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @param lease_ms as for `mortise_lock_extend`.
 * @return the statuses of `mortise_lock_unlock_async`.
 */
MORTISE_API mortise_status mortise_lock_extend_async(mortise_lock *lock, mortise_queue *queue,
                                                     int64_t tag, int64_t lease_ms,
                                                     mortise_error *error);
/**
 * Starts `mortise_lock_set_value`, which ends in one MORTISE_EVENT_VALUE_SET. If this call fails,
 * there is no event.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @param value as for `mortise_lock_set_value`.
 * @param value_len bytes of `value`, at most MORTISE_MAX_VALUE_LEN.
 * @return the statuses of `mortise_lock_unlock_async`, and:
 * - MORTISE_UNSUPPORTED: as for `mortise_lock_set_value`.
 */
MORTISE_API mortise_status mortise_lock_set_value_async(mortise_lock *lock, mortise_queue *queue,
                                                        int64_t tag, const char *value,
                                                        size_t value_len, mortise_error *error);
/**
 * Reports the losses and risks of this handle as events on a queue. The queue reserves room for a
 * loss and the risk before it, so these are never dropped. While as many risks as the queue's
 * capacity are unread, the risk of a hold that is not lost is dropped. A new watch replaces the old
 * one, and a NULL queue ends it.
 *
 * With the option `contended`, a MORTISE_EVENT_CONTENDED also reports that others wait for the
 * lock: another handle of this or another client is in an acquire that waits. The holder can then
 * end its work early, and unlock. There is at most one such event per hold, when the client first
 * learns of a waiter. That can be right after the grant. Later waiters cause no further event
 * during this hold, unless a new watch is set, and the next hold has its own.
 *
 * The event is a hint. A holder may ignore it. All waiters may have given up meanwhile. The event
 * may come late: the next renewal reports the waiters when a message is lost, or when a handle of
 * this client without the option has passed the lock on. It never comes if the queue was full when
 * the acquire began, or before a renewal if the hold is not renewed. With `redlock:` it reports
 * waiters that a server has refused because of its vote for this hold.
 * @param queue the queue that receives the events, or NULL.
 * @param tag any number. The events return it.
 * @return
 * - MORTISE_OK: the watch is set or ended.
 * - MORTISE_LIMIT: the queue is full.
 * - MORTISE_SHUT_DOWN: the queue was shut down.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an object is NULL.
 */
MORTISE_API mortise_status mortise_lock_watch(mortise_lock *lock, mortise_queue *queue, int64_t tag,
                                              mortise_error *error);

/* ---- read-write lock -------------------------------------------------------------------- */

/*
 * The rules of a mutex apply. Any thread may call these functions, with one acquire or unlock of a
 * handle at a time. The caller owns and frees a handle, also after its client was freed.
 */

/**
 * Makes a new owner of the read-write lock of this name. Many owners may read at once, and one may
 * write. A handle reads or writes. For both at once, make two handles. It sends nothing.
 *
 * Requests are served in order of arrival. A waiting writer holds back later readers. When a writer
 * leaves, all readers at the head of the queue enter together. A mutex of the same name is another
 * lock, and each of the two refuses the other.
 * @param client the client. It may be freed before the handle.
 * @param name any bytes. Two names are the same lock if their bytes are equal.
 * @param name_len 1 to MORTISE_MAX_NAME_LEN.
 * @param options NULL for the client's. See `mortise_options_new_from`.
 * @return the handle, or NULL. Free it with `mortise_rw_free`. NULL has the causes of
 *   `mortise_lock_new`, and:
 * - MORTISE_UNSUPPORTED: read-write locks lack the option's protocol, or the protocol lacks an
 *   option.
 */
MORTISE_NODISCARD MORTISE_API mortise_rw *mortise_rw_new(mortise_client *client, const char *name,
                                                         size_t name_len,
                                                         const mortise_options *options,
                                                         mortise_error *error);
/** Frees a handle. Its hold and its waiting calls end as with `mortise_lock_free`. */
MORTISE_API void mortise_rw_free(mortise_rw *rw);
/**
 * Acquires the lock to read if no writer holds it or waits for it, within command_timeout.
 *
 * Readers of one client share a lease. While one of them holds and nobody waits, another reader
 * sends nothing (docs/round_trips.md), unless the option `fair` is `strict`. The share of a dead
 * client ends by itself while other readers continue. With `reentrant_read`, a handle that reads or
 * writes may read again, which is counted locally.
 * @return the statuses of `mortise_lock_try`, and:
 * - MORTISE_UNSUPPORTED: the handle writes, and the protocol cannot also read.
 */
MORTISE_NODISCARD MORTISE_API mortise_status mortise_rw_read_try(mortise_rw *rw,
                                                                 mortise_error *error);
/**
 * Acquires the lock to read and waits for its turn.
 * @param timeout_ms 0 to MORTISE_MAX_MS, or MORTISE_FOREVER.
 * @return the statuses of `mortise_lock_acquire`, and those of `mortise_rw_read_try`.
 */
MORTISE_NODISCARD MORTISE_API mortise_status mortise_rw_read_acquire(mortise_rw *rw,
                                                                     int64_t timeout_ms,
                                                                     mortise_error *error);
/**
 * Ends the hold of a reader. A reentrant handle that also writes continues to write.
 * @return the statuses of `mortise_lock_unlock`, and:
 * - MORTISE_NOT_OWNER: also if this handle writes and does not read.
 */
MORTISE_API mortise_status mortise_rw_read_unlock(mortise_rw *rw, mortise_error *error);
/**
 * Acquires the lock to write if nobody holds it or waits for it, within command_timeout.
 * @return the statuses of `mortise_lock_try`, and:
 * - MORTISE_ALREADY_HELD: also if this handle reads. See `mortise_rw_upgrade`.
 */
MORTISE_NODISCARD MORTISE_API mortise_status mortise_rw_write_try(mortise_rw *rw,
                                                                  mortise_error *error);
/**
 * Acquires the lock to write and waits for its turn.
 * @param timeout_ms 0 to MORTISE_MAX_MS, or MORTISE_FOREVER.
 * @return the statuses of `mortise_lock_acquire`, and those of `mortise_rw_write_try`.
 */
MORTISE_NODISCARD MORTISE_API mortise_status mortise_rw_write_acquire(mortise_rw *rw,
                                                                      int64_t timeout_ms,
                                                                      mortise_error *error);
/**
 * Ends the hold of a writer. A reentrant handle that also reads continues to read.
 * @return the statuses of `mortise_lock_unlock`, and:
 * - MORTISE_NOT_OWNER: also if this handle reads and does not write.
 */
MORTISE_API mortise_status mortise_rw_write_unlock(mortise_rw *rw, mortise_error *error);
/**
 * Turns the hold of this reader into one of a writer, if no other handle of any client reads. The
 * upgrade goes ahead of the waiters. It never waits, so two readers that both try cannot deadlock.
 * The hold gets a new fencing token.
 *
 * If the server's user lacks CLIENT KILL, the client cannot end old connections. Then a renewal
 * that a broken connection still carries can undo the upgrade. The fencing token is the safeguard.
 *
 * With `redlock:` a quorum of the servers has to know no other reader. Otherwise they undo the
 * upgrade.
 * @return
 * - MORTISE_OK: this handle writes.
 * - MORTISE_NOT_ACQUIRED: others also read. This handle continues to read.
 * - MORTISE_LOST: the hold was lost.
 * - MORTISE_NOT_OWNER: this handle does not read.
 * - MORTISE_ALREADY_HELD: this handle writes already, or reads more than once.
 * - MORTISE_UNKNOWN: sent, but not answered in time. This handle counts as reading.
 * - MORTISE_UNSUPPORTED: the protocol has no upgrade.
 * - MORTISE_UNREACHABLE: no connection in time. The request was not sent.
 * - MORTISE_REFUSED: the server refused the request.
 * - MORTISE_BUSY: another call on this handle is acquiring or unlocking.
 * - MORTISE_LIMIT: too many requests are open.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an object is NULL.
 */
MORTISE_NODISCARD MORTISE_API mortise_status mortise_rw_upgrade(mortise_rw *rw,
                                                                mortise_error *error);
/**
 * Turns the hold of this writer into one of a reader, without a gap. The readers at the head of the
 * queue enter. The fencing token stays. From the call on, this handle only reads, whatever the
 * status.
 * @return
 * - MORTISE_OK: this handle reads.
 * - MORTISE_LOST: the hold was lost.
 * - MORTISE_NOT_OWNER: this handle does not write.
 * - MORTISE_ALREADY_HELD: this handle was acquired more than once.
 * - MORTISE_UNREACHABLE, MORTISE_UNKNOWN: no answer yet. The next renewal lets the readers in.
 * - MORTISE_UNSUPPORTED: the protocol has no downgrade.
 * - MORTISE_REFUSED: the server refused the request.
 * - MORTISE_BUSY: another call on this handle is acquiring or unlocking.
 * - MORTISE_LIMIT: too many requests are open.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an object is NULL.
 */
MORTISE_API mortise_status mortise_rw_downgrade(mortise_rw *rw, mortise_error *error);
/**
 * Extends the hold of this reader or writer.
 * @param lease_ms as for `mortise_lock_extend`.
 * @return the statuses of `mortise_lock_extend`.
 */
MORTISE_API mortise_status mortise_rw_extend(mortise_rw *rw, int64_t lease_ms,
                                             mortise_error *error);
/**
 * Cancels a wait to read or write, and blocks later ones until a call with 0.
 * @param is_on 1 to interrupt, 0 to end it.
 * @return the statuses of `mortise_lock_interrupt`.
 */
MORTISE_API mortise_status mortise_rw_interrupt(mortise_rw *rw, int32_t is_on,
                                                mortise_error *error);
/**
 * Names the task that later calls of this handle belong to, as `mortise_lock_set_task`.
 * @param task 1 to INT64_MAX, unique among the tasks of this process. 0 ends the task.
 * @return the statuses of `mortise_lock_set_task`.
 */
MORTISE_API mortise_status mortise_rw_set_task(mortise_rw *rw, int64_t task, mortise_error *error);
/**
 * The name of the read-write lock: any bytes, followed by a NUL. Borrowed until the handle is
 * freed.
 * @param name_len receives the number of bytes. May be NULL.
 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_rw_name(const mortise_rw *rw, size_t *name_len);
/**
 * Reports that the work of this reader or writer goes on.
 * @return the statuses of `mortise_lock_progress`.
 */
MORTISE_API mortise_status mortise_rw_progress(mortise_rw *rw, mortise_error *error);
/**
 * Exports the hold of this reader or writer.
 * @param lease_ms as for `mortise_lock_export`.
 * @return the id, or NULL. Free it with `mortise_hold_id_free`. NULL has the causes of
 *   `mortise_lock_export`.
 */
MORTISE_NODISCARD MORTISE_API mortise_hold_id *mortise_rw_export(mortise_rw *rw, int64_t lease_ms,
                                                                 mortise_error *error);
/**
 * Continues an exported hold with this handle. The handle then reads or writes, as the exporter
 * did.
 * @param id as for `mortise_lock_adopt`.
 * @param id_len bytes of `id`, 1 to 4096.
 * @return the statuses of `mortise_lock_adopt`.
 */
MORTISE_NODISCARD MORTISE_API mortise_status mortise_rw_adopt(mortise_rw *rw, const char *id,
                                                              size_t id_len, mortise_error *error);
/**
 * Ends a wait to read or write with MORTISE_CANCELLED.
 * @return the statuses of `mortise_lock_cancel`.
 */
MORTISE_API mortise_status mortise_rw_cancel(mortise_rw *rw, mortise_error *error);
/**
 * 1 while this handle holds the lock to read by the local clock, otherwise 0. The option `acks` has
 * the same effect as on `mortise_lock_is_held`.
 */
MORTISE_API int32_t mortise_rw_is_reading(const mortise_rw *rw);
/**
 * 1 while this handle holds the lock to write by the local clock, otherwise 0. The option `acks`
 * has the same effect as on `mortise_lock_is_held`.
 */
MORTISE_API int32_t mortise_rw_is_writing(const mortise_rw *rw);
/**
 * The moment when the hold of this reader or writer ends, as `mortise_lock_deadline_ns` of a mutex.
 */
MORTISE_API int64_t mortise_rw_deadline_ns(const mortise_rw *rw);
/** How long the hold of this reader or writer is valid, as `mortise_lock_valid_ms` of a mutex. */
MORTISE_API int64_t mortise_rw_valid_ms(const mortise_rw *rw);
/**
 * The fencing token of the hold. A writer's token is above every earlier token of readers and
 * writers. A reader's token is above every earlier writer's and below every later writer's. Among
 * readers tokens do not rise, and readers of one client may have the same one. So a fence compares
 * a reader's token with the highest token of a writer, and stores only writers' tokens.
 */
MORTISE_API int64_t mortise_rw_token(const mortise_rw *rw);
/**
 * The number of the hold, as `mortise_lock_hold_number`. An upgrade or a downgrade does not change
 * it.
 */
MORTISE_API int64_t mortise_rw_hold_number(const mortise_rw *rw);
/**
 * Unlocks the hold of a reader with this number, and never a later one.
 * @param hold_number the value of `mortise_rw_hold_number` during the hold: 1 or more.
 * @return the statuses of `mortise_lock_unlock_hold` and `mortise_rw_read_unlock`.
 */
MORTISE_API mortise_status mortise_rw_read_unlock_hold(mortise_rw *rw, int64_t hold_number,
                                                       mortise_error *error);
/**
 * Starts `mortise_rw_read_unlock_hold`, which ends in one MORTISE_EVENT_UNLOCKED.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @param hold_number the value of `mortise_rw_hold_number` during the hold: 1 or more.
 * @return the statuses of `mortise_lock_unlock_hold_async`.
 */
MORTISE_API mortise_status mortise_rw_read_unlock_hold_async(mortise_rw *rw, mortise_queue *queue,
                                                             int64_t tag, int64_t hold_number,
                                                             mortise_error *error);
/**
 * Unlocks the hold of a writer with this number, and never a later one.
 * @param hold_number the value of `mortise_rw_hold_number` during the hold: 1 or more.
 * @return the statuses of `mortise_lock_unlock_hold` and `mortise_rw_write_unlock`.
 */
MORTISE_API mortise_status mortise_rw_write_unlock_hold(mortise_rw *rw, int64_t hold_number,
                                                        mortise_error *error);
/**
 * Starts `mortise_rw_write_unlock_hold`, which ends in one MORTISE_EVENT_UNLOCKED.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @param hold_number the value of `mortise_rw_hold_number` during the hold: 1 or more.
 * @return the statuses of `mortise_lock_unlock_hold_async`.
 */
MORTISE_API mortise_status mortise_rw_write_unlock_hold_async(mortise_rw *rw, mortise_queue *queue,
                                                              int64_t tag, int64_t hold_number,
                                                              mortise_error *error);
/**
 * Asks the server for up to 16 holders and up to 16 waiters, in this order.
 * @param info is filled on MORTISE_OK. Required.
 * @return the statuses of `mortise_lock_query`.
 */
MORTISE_API mortise_status mortise_rw_query(mortise_rw *rw, mortise_info *info,
                                            mortise_error *error);
/**
 * Ends the hold of another owner: the writer, or one of many readers. Otherwise the same as
 * `mortise_lock_force_release`.
 * @param owner the holder, from `mortise_info_entry_owner`. Any bytes.
 * @param owner_len bytes of `owner`, 1 to 4096.
 * @return the statuses of `mortise_lock_force_release`.
 */
MORTISE_API mortise_status mortise_rw_force_release(mortise_rw *rw, const char *owner,
                                                    size_t owner_len, mortise_error *error);
/**
 * Starts `mortise_rw_read_try`, which ends in one MORTISE_EVENT_ACQUIRED.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @return the statuses of `mortise_lock_try_async`, and:
 * - MORTISE_UNSUPPORTED: the handle writes, and the protocol cannot also read.
 */
MORTISE_API mortise_status mortise_rw_read_try_async(mortise_rw *rw, mortise_queue *queue,
                                                     int64_t tag, mortise_error *error);
/**
 * Starts `mortise_rw_read_acquire`, which ends in one MORTISE_EVENT_ACQUIRED.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @param timeout_ms 0 to MORTISE_MAX_MS, or MORTISE_FOREVER.
 * @return the statuses of `mortise_rw_read_try_async`.
 */
MORTISE_API mortise_status mortise_rw_read_acquire_async(mortise_rw *rw, mortise_queue *queue,
                                                         int64_t tag, int64_t timeout_ms,
                                                         mortise_error *error);
/**
 * Starts `mortise_rw_read_unlock`, which ends in one MORTISE_EVENT_UNLOCKED. The hold ends now.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @return the statuses of `mortise_lock_unlock_async`.
 */
MORTISE_API mortise_status mortise_rw_read_unlock_async(mortise_rw *rw, mortise_queue *queue,
                                                        int64_t tag, mortise_error *error);
/**
 * Starts `mortise_rw_write_try`, which ends in one MORTISE_EVENT_ACQUIRED.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @return the statuses of `mortise_lock_try_async`.
 */
MORTISE_API mortise_status mortise_rw_write_try_async(mortise_rw *rw, mortise_queue *queue,
                                                      int64_t tag, mortise_error *error);
/**
 * Starts `mortise_rw_write_acquire`, which ends in one MORTISE_EVENT_ACQUIRED.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @param timeout_ms 0 to MORTISE_MAX_MS, or MORTISE_FOREVER.
 * @return the statuses of `mortise_lock_try_async`.
 */
MORTISE_API mortise_status mortise_rw_write_acquire_async(mortise_rw *rw, mortise_queue *queue,
                                                          int64_t tag, int64_t timeout_ms,
                                                          mortise_error *error);
/**
 * Starts `mortise_rw_write_unlock`, which ends in one MORTISE_EVENT_UNLOCKED. The hold ends now.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @return the statuses of `mortise_lock_unlock_async`.
 */
MORTISE_API mortise_status mortise_rw_write_unlock_async(mortise_rw *rw, mortise_queue *queue,
                                                         int64_t tag, mortise_error *error);
/**
 * Starts `mortise_rw_upgrade`, which ends in one MORTISE_EVENT_UPGRADED.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @return the statuses of `mortise_lock_unlock_async`, and:
 * - MORTISE_ALREADY_HELD: this handle writes already, or reads more than once.
 * - MORTISE_UNSUPPORTED: the protocol has no upgrade.
 */
MORTISE_API mortise_status mortise_rw_upgrade_async(mortise_rw *rw, mortise_queue *queue,
                                                    int64_t tag, mortise_error *error);
/**
 * Starts `mortise_rw_downgrade`, which ends in one MORTISE_EVENT_DOWNGRADED.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @return the statuses of `mortise_lock_unlock_async`, and:
 * - MORTISE_ALREADY_HELD: this handle was acquired more than once.
 * - MORTISE_UNSUPPORTED: the protocol has no downgrade.
 */
MORTISE_API mortise_status mortise_rw_downgrade_async(mortise_rw *rw, mortise_queue *queue,
                                                      int64_t tag, mortise_error *error);
/**
 * Starts `mortise_rw_extend`, which ends in one MORTISE_EVENT_EXTENDED.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @param lease_ms as for `mortise_lock_extend`.
 * @return the statuses of `mortise_lock_unlock_async`.
 */
MORTISE_API mortise_status mortise_rw_extend_async(mortise_rw *rw, mortise_queue *queue,
                                                   int64_t tag, int64_t lease_ms,
                                                   mortise_error *error);
/**
 * Sets the value of the hold of this reader or writer.
 * @param value as for `mortise_lock_set_value`.
 * @param value_len bytes of `value`, at most MORTISE_MAX_VALUE_LEN.
 * @return the statuses of `mortise_lock_set_value`.
 */
MORTISE_API mortise_status mortise_rw_set_value(mortise_rw *rw, const char *value, size_t value_len,
                                                mortise_error *error);
/**
 * Starts `mortise_rw_set_value`, which ends in one MORTISE_EVENT_VALUE_SET. If this call fails,
 * there is no event.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @param value as for `mortise_lock_set_value`.
 * @param value_len bytes of `value`, at most MORTISE_MAX_VALUE_LEN.
 * @return the statuses of `mortise_lock_unlock_async`, and:
 * - MORTISE_UNSUPPORTED: as for `mortise_lock_set_value`.
 */
MORTISE_API mortise_status mortise_rw_set_value_async(mortise_rw *rw, mortise_queue *queue,
                                                      int64_t tag, const char *value,
                                                      size_t value_len, mortise_error *error);
/**
 * Reports the losses and risks of this reader or writer as events on a queue, and with the option
 * `contended` that others wait. NULL ends the watch.
 * @param queue the queue that receives the events, or NULL.
 * @param tag any number. The events return it.
 * @return the statuses of `mortise_lock_watch`.
 */
MORTISE_API mortise_status mortise_rw_watch(mortise_rw *rw, mortise_queue *queue, int64_t tag,
                                            mortise_error *error);

/* ---- semaphore -------------------------------------------------------------------------- */

/*
 * The rules of a mutex apply. Any thread may call these functions, with one acquire or unlock of a
 * handle at a time. The caller owns and frees a handle, also after its client was freed.
 */

/**
 * Makes a new owner of permits of the semaphore of this name. One handle holds permits once at a
 * time. For more holds make more handles. Requests are served in order of arrival. So a request for
 * few permits does not pass a waiter for many. The option `reentrant` has no effect. It sends
 * nothing.
 * @param client the client. It may be freed before the handle.
 * @param name any bytes. Two names are the same lock if their bytes are equal.
 * @param name_len 1 to MORTISE_MAX_NAME_LEN.
 * @param capacity the number of permits: 1 to MORTISE_MAX_PERMITS. The first user of the name sets
 *   the number for all, and `mortise_semaphore_resize` changes it. The server forgets it a day
 *   after the last lease.
 * @param options NULL for the client's. See `mortise_options_new_from`.
 * @return the handle, or NULL. Free it with `mortise_semaphore_free`. NULL has the causes of
 *   `mortise_lock_new`, and:
 * - MORTISE_UNSUPPORTED: the client is of `redlock:`, whose votes cannot count permits
 *   (docs/redlock.md), or the protocol is not `queued`.
 */
MORTISE_NODISCARD MORTISE_API mortise_semaphore *mortise_semaphore_new(
    mortise_client *client, const char *name, size_t name_len, int64_t capacity,
    const mortise_options *options, mortise_error *error);
/**
 * Frees a handle. All its permits are released, and its waiting calls end as with
 * `mortise_lock_free`.
 */
MORTISE_API void mortise_semaphore_free(mortise_semaphore *semaphore);
/**
 * Acquires this number of permits at once if they are free and nobody waits, within
 * command_timeout.
 * @param permits 1 to the number of permits.
 * @return the statuses of `mortise_lock_try`, and:
 * - MORTISE_REFUSED: also if the semaphore has fewer than `permits`.
 * - MORTISE_INVALID_ARGUMENT: also for a number out of range.
 */
MORTISE_NODISCARD MORTISE_API mortise_status mortise_semaphore_try(mortise_semaphore *semaphore,
                                                                   int64_t permits,
                                                                   mortise_error *error);
/**
 * Acquires this number of permits at once and waits for its turn.
 * @param permits 1 to the number of permits.
 * @param timeout_ms 0 to MORTISE_MAX_MS, or MORTISE_FOREVER.
 * @return the statuses of `mortise_lock_acquire` and `mortise_semaphore_try`.
 */
MORTISE_NODISCARD MORTISE_API mortise_status mortise_semaphore_acquire(mortise_semaphore *semaphore,
                                                                       int64_t permits,
                                                                       int64_t timeout_ms,
                                                                       mortise_error *error);
/**
 * Releases all permits of this handle.
 * @return the statuses of `mortise_lock_unlock`.
 */
MORTISE_API mortise_status mortise_semaphore_release(mortise_semaphore *semaphore,
                                                     mortise_error *error);
/**
 * Changes the number of permits, for all users of the name. Existing holds stay, even if they
 * exceed the new number. Nobody enters until there is room. Meanwhile clients retain no permits
 * (option `retain`), and holders may be notified as of a waiter (option `contended`). It waits at
 * most command_timeout.
 * @param capacity 1 to MORTISE_MAX_PERMITS.
 * @return
 * - MORTISE_OK: changed.
 * - MORTISE_REFUSED: the server refused, or the name is another kind of lock.
 * - MORTISE_UNREACHABLE: no connection in time. The request was not sent.
 * - MORTISE_UNKNOWN: the request was sent, and no answer arrived in time.
 * - MORTISE_LIMIT: too many requests are open.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an argument is NULL or out of range.
 */
MORTISE_API mortise_status mortise_semaphore_resize(mortise_semaphore *semaphore, int64_t capacity,
                                                    mortise_error *error);
/**
 * Extends the hold of all permits of this handle.
 * @param lease_ms as for `mortise_lock_extend`.
 * @return the statuses of `mortise_lock_extend`.
 */
MORTISE_API mortise_status mortise_semaphore_extend(mortise_semaphore *semaphore, int64_t lease_ms,
                                                    mortise_error *error);
/**
 * Cancels a wait for permits, and blocks later ones until a call with 0.
 * @param is_on 1 to interrupt, 0 to end it.
 * @return the statuses of `mortise_lock_interrupt`.
 */
MORTISE_API mortise_status mortise_semaphore_interrupt(mortise_semaphore *semaphore, int32_t is_on,
                                                       mortise_error *error);
/**
 * Names the task that later calls of this handle belong to, as `mortise_lock_set_task`.
 * @param task 1 to INT64_MAX, unique among the tasks of this process. 0 ends the task.
 * @return the statuses of `mortise_lock_set_task`.
 */
MORTISE_API mortise_status mortise_semaphore_set_task(mortise_semaphore *semaphore, int64_t task,
                                                      mortise_error *error);
/**
 * The name of the semaphore: any bytes, followed by a NUL. Borrowed until the handle is freed.
 * @param name_len receives the number of bytes. May be NULL.
 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_semaphore_name(
    const mortise_semaphore *semaphore, size_t *name_len);
/**
 * Reports that the work under the permits of this handle goes on.
 * @return the statuses of `mortise_lock_progress`.
 */
MORTISE_API mortise_status mortise_semaphore_progress(mortise_semaphore *semaphore,
                                                      mortise_error *error);
/**
 * Exports the hold of the permits of this handle.
 * @param lease_ms as for `mortise_lock_export`.
 * @return the id, or NULL. Free it with `mortise_hold_id_free`. NULL has the causes of
 *   `mortise_lock_export`.
 */
MORTISE_NODISCARD MORTISE_API mortise_hold_id *mortise_semaphore_export(
    mortise_semaphore *semaphore, int64_t lease_ms, mortise_error *error);
/**
 * Continues an exported hold with this handle. The handle then holds the permits of the exporter.
 * @param id as for `mortise_lock_adopt`.
 * @param id_len bytes of `id`, 1 to 4096.
 * @return the statuses of `mortise_lock_adopt`.
 */
MORTISE_NODISCARD MORTISE_API mortise_status mortise_semaphore_adopt(mortise_semaphore *semaphore,
                                                                     const char *id, size_t id_len,
                                                                     mortise_error *error);
/**
 * Ends a wait for permits with MORTISE_CANCELLED.
 * @return the statuses of `mortise_lock_cancel`.
 */
MORTISE_API mortise_status mortise_semaphore_cancel(mortise_semaphore *semaphore,
                                                    mortise_error *error);
/**
 * 1 while this handle holds permits by the local clock, otherwise 0. The option `acks` has the same
 * effect as on `mortise_lock_is_held`.
 */
MORTISE_API int32_t mortise_semaphore_is_held(const mortise_semaphore *semaphore);
/** The moment when the hold of the permits ends, as `mortise_lock_deadline_ns` of a mutex. */
MORTISE_API int64_t mortise_semaphore_deadline_ns(const mortise_semaphore *semaphore);
/** How long the hold of the permits is valid, as `mortise_lock_valid_ms` of a mutex. */
MORTISE_API int64_t mortise_semaphore_valid_ms(const mortise_semaphore *semaphore);
/**
 * The fencing token of the hold. Holders that enter together may have the same one. Holders of
 * permits hold at the same time, so a fence cannot order them by their tokens.
 */
MORTISE_API int64_t mortise_semaphore_token(const mortise_semaphore *semaphore);
/**
 * The number of the hold among all holds of this handle, as `mortise_lock_hold_number` of a mutex.
 */
MORTISE_API int64_t mortise_semaphore_hold_number(const mortise_semaphore *semaphore);
/**
 * Releases all permits of the hold with this number, and never a later hold.
 * @param hold_number the value of `mortise_semaphore_hold_number` during the hold: 1 or more.
 * @return the statuses of `mortise_lock_unlock_hold`.
 */
MORTISE_API mortise_status mortise_semaphore_release_hold(mortise_semaphore *semaphore,
                                                          int64_t hold_number,
                                                          mortise_error *error);
/**
 * Starts `mortise_semaphore_release_hold`, which ends in one MORTISE_EVENT_UNLOCKED.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @param hold_number the value of `mortise_semaphore_hold_number` during the hold: 1 or more.
 * @return the statuses of `mortise_lock_unlock_hold_async`.
 */
MORTISE_API mortise_status mortise_semaphore_release_hold_async(mortise_semaphore *semaphore,
                                                                mortise_queue *queue, int64_t tag,
                                                                int64_t hold_number,
                                                                mortise_error *error);
/**
 * Asks the server for up to 16 holders and up to 16 waiters, in this order.
 * @param info is filled on MORTISE_OK. Required.
 * @return the statuses of `mortise_lock_query`.
 */
MORTISE_API mortise_status mortise_semaphore_query(mortise_semaphore *semaphore, mortise_info *info,
                                                   mortise_error *error);
/**
 * Ends the hold of another owner, with all permits of that handle. Otherwise the same as
 * `mortise_lock_force_release`.
 * @param owner the holder, from `mortise_info_entry_owner`. Any bytes.
 * @param owner_len bytes of `owner`, 1 to 4096.
 * @return the statuses of `mortise_lock_force_release`.
 */
MORTISE_API mortise_status mortise_semaphore_force_release(mortise_semaphore *semaphore,
                                                           const char *owner, size_t owner_len,
                                                           mortise_error *error);
/**
 * Starts `mortise_semaphore_try`, which ends in one MORTISE_EVENT_ACQUIRED.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @param permits 1 to the number of permits.
 * @return the statuses of `mortise_lock_try_async`.
 */
MORTISE_API mortise_status mortise_semaphore_try_async(mortise_semaphore *semaphore,
                                                       mortise_queue *queue, int64_t tag,
                                                       int64_t permits, mortise_error *error);
/**
 * Starts `mortise_semaphore_acquire`, which ends in one MORTISE_EVENT_ACQUIRED.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @param permits 1 to the number of permits.
 * @param timeout_ms 0 to MORTISE_MAX_MS, or MORTISE_FOREVER.
 * @return the statuses of `mortise_lock_try_async`.
 */
MORTISE_API mortise_status mortise_semaphore_acquire_async(mortise_semaphore *semaphore,
                                                           mortise_queue *queue, int64_t tag,
                                                           int64_t permits, int64_t timeout_ms,
                                                           mortise_error *error);
/**
 * Starts `mortise_semaphore_release`, which ends in one MORTISE_EVENT_UNLOCKED. The hold ends now.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @return the statuses of `mortise_lock_unlock_async`.
 */
MORTISE_API mortise_status mortise_semaphore_release_async(mortise_semaphore *semaphore,
                                                           mortise_queue *queue, int64_t tag,
                                                           mortise_error *error);
/**
 * Starts `mortise_semaphore_extend`, which ends in one MORTISE_EVENT_EXTENDED.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @param lease_ms as for `mortise_lock_extend`.
 * @return the statuses of `mortise_lock_unlock_async`.
 */
MORTISE_API mortise_status mortise_semaphore_extend_async(mortise_semaphore *semaphore,
                                                          mortise_queue *queue, int64_t tag,
                                                          int64_t lease_ms, mortise_error *error);
/**
 * Sets the value of the hold of this handle's permits.
 * @param value as for `mortise_lock_set_value`.
 * @param value_len bytes of `value`, at most MORTISE_MAX_VALUE_LEN.
 * @return the statuses of `mortise_lock_set_value`.
 */
MORTISE_API mortise_status mortise_semaphore_set_value(mortise_semaphore *semaphore,
                                                       const char *value, size_t value_len,
                                                       mortise_error *error);
/**
 * Starts `mortise_semaphore_set_value`, which ends in one MORTISE_EVENT_VALUE_SET. If this call
 * fails, there is no event.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @param value as for `mortise_lock_set_value`.
 * @param value_len bytes of `value`, at most MORTISE_MAX_VALUE_LEN.
 * @return the statuses of `mortise_lock_unlock_async`, and:
 * - MORTISE_UNSUPPORTED: as for `mortise_lock_set_value`.
 */
MORTISE_API mortise_status mortise_semaphore_set_value_async(mortise_semaphore *semaphore,
                                                             mortise_queue *queue, int64_t tag,
                                                             const char *value, size_t value_len,
                                                             mortise_error *error);
/**
 * Reports the losses and risks of this handle's permits as events on a queue, and with the option
 * `contended` that others wait. NULL ends the watch.
 * @param queue the queue that receives the events, or NULL.
 * @param tag any number. The events return it.
 * @return the statuses of `mortise_lock_watch`.
 */
MORTISE_API mortise_status mortise_semaphore_watch(mortise_semaphore *semaphore,
                                                   mortise_queue *queue, int64_t tag,
                                                   mortise_error *error);

/* ---- election --------------------------------------------------------------------------- */

/*
 * An election is the mutex of its name, whose holder leads. Candidates in other languages,
 * `mortise_lock` and the command `mortise exec` with the same name and protocol take part. The
 * rules of a mutex apply. Any thread may call these functions, with one campaign or resignation of
 * a handle at a time. The caller owns and frees a handle, also after its client was freed.
 *
 * docs/recipes/leader_election.md shows a leader in each language.
 */

/**
 * Makes a candidate of the election of this name. It may also only observe the election. It sends
 * nothing.
 *
 * The options are those of a mutex. `lease` is the time without a leader after a crash. A
 * leadership ends after `max_hold`, which is one hour by default, so a leader for longer needs
 * `max_hold` = "unlimited". With the option `value`, such as the address of the candidate, each of
 * its leaderships has this value. `reentrant` and `retain` have no effect, and `fair` is always
 * "strict": an observer then sees each leadership.
 * @param client the client. It may be freed before the handle.
 * @param name any bytes. Two names are the same election if their bytes are equal.
 * @param name_len 1 to MORTISE_MAX_NAME_LEN.
 * @param options NULL for the client's. See `mortise_options_new_from`.
 * @return the handle, or NULL. Free it with `mortise_election_free`. NULL has the causes of
 *   `mortise_lock_new`.
 */
MORTISE_NODISCARD MORTISE_API mortise_election *mortise_election_new(mortise_client *client,
                                                                     const char *name,
                                                                     size_t name_len,
                                                                     const mortise_options *options,
                                                                     mortise_error *error);
/**
 * Frees a handle. It resigns without waiting for the answer, and ends a campaign as
 * `mortise_lock_free` ends an acquire. It observes no longer.
 */
MORTISE_API void mortise_election_free(mortise_election *election);
/**
 * Waits until this candidate leads. Candidates lead in the order of their arrival at the server.
 * @param timeout_ms 0 to MORTISE_MAX_MS, or MORTISE_FOREVER. With 0 it leads only if nobody else
 *   leads, and otherwise returns MORTISE_NOT_ACQUIRED.
 * @return the statuses of `mortise_lock_acquire`, and:
 * - MORTISE_ALREADY_HELD: this handle leads already.
 * - MORTISE_BUSY: another call on this handle campaigns or resigns.
 */
MORTISE_NODISCARD MORTISE_API mortise_status mortise_election_campaign(mortise_election *election,
                                                                       int64_t timeout_ms,
                                                                       mortise_error *error);
/**
 * Starts `mortise_election_campaign`, which ends in one MORTISE_EVENT_ACQUIRED. If this call fails,
 * there is no event.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @param timeout_ms 0 to MORTISE_MAX_MS, or MORTISE_FOREVER.
 * @return the statuses of `mortise_lock_acquire_async`.
 */
MORTISE_API mortise_status mortise_election_campaign_async(mortise_election *election,
                                                           mortise_queue *queue, int64_t tag,
                                                           int64_t timeout_ms,
                                                           mortise_error *error);
/**
 * Ends the leadership and lets the next candidate lead. Afterwards this handle does not lead,
 * whatever the status. Elections of this name that this client observes are queried at once.
 * @return the statuses of `mortise_lock_unlock`, and:
 * - MORTISE_LOST: the leadership was lost before.
 * - MORTISE_NOT_OWNER: this handle does not lead.
 */
MORTISE_API mortise_status mortise_election_resign(mortise_election *election,
                                                   mortise_error *error);
/**
 * Starts `mortise_election_resign`, which ends in one MORTISE_EVENT_UNLOCKED. The leadership ends
 * now.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @return the statuses of `mortise_lock_unlock_async`.
 */
MORTISE_API mortise_status mortise_election_resign_async(mortise_election *election,
                                                         mortise_queue *queue, int64_t tag,
                                                         mortise_error *error);
/**
 * Ends the leadership with this number, as `mortise_lock_unlock_hold`, and never a later one of the
 * same handle.
 * @param hold_number the value of `mortise_election_hold_number` during the leadership: 1 or more.
 * @return the statuses of `mortise_lock_unlock_hold`.
 */
MORTISE_API mortise_status mortise_election_resign_hold(mortise_election *election,
                                                        int64_t hold_number, mortise_error *error);
/**
 * Starts `mortise_election_resign_hold`, which ends in one MORTISE_EVENT_UNLOCKED. The leadership
 * ends now.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @param hold_number the value of `mortise_election_hold_number` during the leadership: 1 or more.
 * @return the statuses of `mortise_lock_unlock_hold_async`.
 */
MORTISE_API mortise_status mortise_election_resign_hold_async(mortise_election *election,
                                                              mortise_queue *queue, int64_t tag,
                                                              int64_t hold_number,
                                                              mortise_error *error);
/**
 * Extends the leadership so that it lasts at least `lease_ms` from now. Renewal does the same by
 * itself. It never shortens the leadership.
 * @param lease_ms as for `mortise_lock_extend`.
 * @return the statuses of `mortise_lock_extend`.
 */
MORTISE_API mortise_status mortise_election_extend(mortise_election *election, int64_t lease_ms,
                                                   mortise_error *error);
/**
 * Starts `mortise_election_extend`, which ends in one MORTISE_EVENT_EXTENDED. If this call fails,
 * there is no event.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @param lease_ms as for `mortise_lock_extend`.
 * @return the statuses of `mortise_lock_extend_async`.
 */
MORTISE_API mortise_status mortise_election_extend_async(mortise_election *election,
                                                         mortise_queue *queue, int64_t tag,
                                                         int64_t lease_ms, mortise_error *error);
/**
 * Reports that the work of the leader goes on (option `progress`), as `mortise_lock_progress`.
 * @return the statuses of `mortise_lock_progress`.
 */
MORTISE_API mortise_status mortise_election_progress(mortise_election *election,
                                                     mortise_error *error);
/**
 * Sets the value of this leadership, such as the address of the leader, as
 * `mortise_lock_set_value`. Observers are notified of it.
 * @param value UTF-8 without zero bytes, or NULL with 0, or "", to remove the value.
 * @param value_len bytes of `value`, at most MORTISE_MAX_VALUE_LEN.
 * @return the statuses of `mortise_lock_set_value`.
 */
MORTISE_API mortise_status mortise_election_set_value(mortise_election *election, const char *value,
                                                      size_t value_len, mortise_error *error);
/**
 * Starts `mortise_election_set_value`, which ends in one MORTISE_EVENT_VALUE_SET. If this call
 * fails, there is no event.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @param value as for `mortise_election_set_value`.
 * @param value_len bytes of `value`, at most MORTISE_MAX_VALUE_LEN.
 * @return the statuses of `mortise_lock_set_value_async`.
 */
MORTISE_API mortise_status mortise_election_set_value_async(mortise_election *election,
                                                            mortise_queue *queue, int64_t tag,
                                                            const char *value, size_t value_len,
                                                            mortise_error *error);
/**
 * Ends the campaign of this handle, of any thread or queue, with MORTISE_CANCELLED.
 * @return the statuses of `mortise_lock_cancel`.
 */
MORTISE_API mortise_status mortise_election_cancel(mortise_election *election,
                                                   mortise_error *error);
/**
 * Ends the campaign of this handle, and blocks later campaigns until a call with 0, as
 * `mortise_lock_interrupt`. A leadership is not affected.
 * @param is_on 1 to interrupt, 0 to end it.
 * @return the statuses of `mortise_lock_interrupt`.
 */
MORTISE_API mortise_status mortise_election_interrupt(mortise_election *election, int32_t is_on,
                                                      mortise_error *error);
/**
 * Names the task that later calls of this handle belong to, as `mortise_lock_set_task`.
 * @param task 1 to INT64_MAX, unique among the tasks of this process. 0 ends the task.
 * @return the statuses of `mortise_lock_set_task`.
 */
MORTISE_API mortise_status mortise_election_set_task(mortise_election *election, int64_t task,
                                                     mortise_error *error);
/**
 * The name that the handle was made with, as `mortise_lock_name`.
 * @param name_len receives the number of bytes. May be NULL.
 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_election_name(const mortise_election *election,
                                                                 size_t *name_len);
/**
 * 1 while this handle leads by the local clock, otherwise 0. It sends nothing. A leader checks it
 * before each piece of work.
 */
MORTISE_API int32_t mortise_election_is_leader(const mortise_election *election);
/** How long the leadership is still valid by the local clock, as `mortise_lock_valid_ms`. */
MORTISE_API int64_t mortise_election_valid_ms(const mortise_election *election);
/** The moment when the leadership ends unless it is renewed, as `mortise_lock_deadline_ns`. */
MORTISE_API int64_t mortise_election_deadline_ns(const mortise_election *election);
/**
 * The fencing token of the leadership, as `mortise_lock_token`. It rises with every leader. Pass it
 * to each resource that an earlier leader must not change any more.
 */
MORTISE_API int64_t mortise_election_token(const mortise_election *election);
/** The number of the leadership among those of this handle, as `mortise_lock_hold_number`. */
MORTISE_API int64_t mortise_election_hold_number(const mortise_election *election);
/**
 * Asks the server for the leader. The first entry of the info is the leader, with its value, owner,
 * host and process id, and the further entries are candidates. No leader leaves
 * `mortise_info_is_held` at 0. The answer may be old when it arrives. So to decide whether to act,
 * use `mortise_election_is_leader`.
 * @param info is filled on MORTISE_OK. Required.
 * @return the statuses of `mortise_lock_query`.
 */
MORTISE_API mortise_status mortise_election_query(mortise_election *election, mortise_info *info,
                                                  mortise_error *error);
/**
 * Ends the leadership of another owner at once, as `mortise_lock_force_release`. It is for an
 * operator that knows that the leader is stuck.
 * @param owner the leader, from `mortise_info_entry_owner`. Any bytes.
 * @param owner_len bytes of `owner`, 1 to 4096.
 * @return the statuses of `mortise_lock_force_release`.
 */
MORTISE_API mortise_status mortise_election_force_release(mortise_election *election,
                                                          const char *owner, size_t owner_len,
                                                          mortise_error *error);
/**
 * Reports the losses and risks of the leadership of this handle, and with the option `contended`
 * that other candidates wait, as `mortise_lock_watch`. MORTISE_EVENT_LOST has the reason.
 * @param queue the queue that receives the events, or NULL.
 * @param tag any number. The events return it.
 * @return the statuses of `mortise_lock_watch`.
 */
MORTISE_API mortise_status mortise_election_watch(mortise_election *election, mortise_queue *queue,
                                                  int64_t tag, mortise_error *error);
/**
 * Reports the leader, without a campaign. A MORTISE_EVENT_LEADER or a MORTISE_EVENT_NO_LEADER
 * follows soon, and another one after each change of the leader or of its value.
 * `mortise_event_leader` has the leader. A new call replaces the old one, and a NULL queue ends the
 * reports.
 *
 * The client queries the server once per interval, as `mortise_election_query` does, with one to
 * three requests. So a report comes up to one interval late, and a leadership that began and ended
 * between two queries is not reported. The client queries at once when a leadership of this name
 * ends in this client. A new leader may be reported before its value, and once more with it. While
 * the server does not answer, nothing is reported.
 *
 * Each unread event takes one place of the queue. While the queue is full, changes are not
 * reported. The next event then has the newest leader. One thread of the client, which the first
 * call starts, queries all elections that the client observes. A query that is not answered delays
 * the others by at most command_timeout.
 * @param queue the queue that receives the events, or NULL.
 * @param tag any number. The events return it.
 * @param interval_ms 10 to MORTISE_MAX_MS, or 0 for 1000. Ignored without a queue.
 * @return
 * - MORTISE_OK: the election is observed, or no longer.
 * - MORTISE_LIMIT: no thread is available.
 * - MORTISE_SHUT_DOWN: the queue was shut down.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an argument is NULL or out of range.
 */
MORTISE_API mortise_status mortise_election_observe(mortise_election *election,
                                                    mortise_queue *queue, int64_t tag,
                                                    int64_t interval_ms, mortise_error *error);

/* ---- multi ------------------------------------------------------------------------------ */

/*
 * The rules of a mutex apply. Any thread may call these functions, with one acquire or unlock of a
 * multi at a time. The caller owns and frees a multi and its members, in any order.
 */

/**
 * Makes an empty set of locks that are acquired all or none. Members are handles of this client, of
 * any kind, each name once. Every member stays usable by itself, and keeps its own lease, token and
 * notices.
 *
 * Members are acquired one after another, in an order that is the same in every process. The order
 * of adding does not matter. So two multis with common names cannot deadlock.
 * @param client the client of all members. It may be freed before the multi.
 * @return the multi, or NULL. Free it with `mortise_multi_free`. NULL has these causes:
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an object is NULL.
 * - MORTISE_NO_MEMORY: memory ran out.
 */
MORTISE_NODISCARD MORTISE_API mortise_multi *mortise_multi_new(mortise_client *client,
                                                               mortise_error *error);
/**
 * Frees a multi. Its hold is released without waiting for the answers. A call that waits in another
 * thread ends with MORTISE_CLOSED. The members stay.
 */
MORTISE_API void mortise_multi_free(mortise_multi *multi);
/**
 * Adds a mutex. It still belongs to the caller.
 * @param lock a mutex of the multi's client.
 * @return
 * - MORTISE_OK: added.
 * - MORTISE_INVALID_ARGUMENT: the handle is NULL or of another client, or its name is a member
 *   already.
 * - MORTISE_BUSY: the multi is held, or a call on it is running.
 * - MORTISE_LIMIT: the multi has MORTISE_MAX_MEMBERS members.
 * - MORTISE_FORKED: called in a forked child.
 */
MORTISE_API mortise_status mortise_multi_add_lock(mortise_multi *multi, mortise_lock *lock,
                                                  mortise_error *error);
/**
 * Adds a read-write lock that the multi acquires to read.
 * @param rw a read-write lock of the multi's client.
 * @return the statuses of `mortise_multi_add_lock`.
 */
MORTISE_API mortise_status mortise_multi_add_reader(mortise_multi *multi, mortise_rw *rw,
                                                    mortise_error *error);
/**
 * Adds a read-write lock that the multi acquires to write.
 * @param rw a read-write lock of the multi's client.
 * @return the statuses of `mortise_multi_add_lock`.
 */
MORTISE_API mortise_status mortise_multi_add_writer(mortise_multi *multi, mortise_rw *rw,
                                                    mortise_error *error);
/**
 * Adds a semaphore, of which the multi acquires this number of permits.
 * @param semaphore a semaphore of the multi's client.
 * @param permits 1 to the number of permits.
 * @return the statuses of `mortise_multi_add_lock`.
 */
MORTISE_API mortise_status mortise_multi_add_semaphore(mortise_multi *multi,
                                                       mortise_semaphore *semaphore,
                                                       int64_t permits, mortise_error *error);
/**
 * Acquires all members if all are free, within command_timeout. Unless it returns MORTISE_OK, none
 * is held: members that were already acquired are released in reverse order.
 * @return the statuses of `mortise_lock_try`. The message names the member that failed.
 * - MORTISE_LOST: a member's lease ended while the others were acquired.
 * - MORTISE_ALREADY_HELD: the multi or a member is held.
 * - MORTISE_BUSY: another call on the multi or a member is running.
 * - MORTISE_INVALID_ARGUMENT: also without members.
 */
MORTISE_NODISCARD MORTISE_API mortise_status mortise_multi_try(mortise_multi *multi,
                                                               mortise_error *error);
/**
 * Acquires all members and waits for the turn of each.
 * @param timeout_ms for all members together: 0 to MORTISE_MAX_MS, or MORTISE_FOREVER.
 * @return the statuses of `mortise_multi_try`, and:
 * - MORTISE_TIMED_OUT: the timeout passed first. Nothing is held.
 * - MORTISE_DEADLOCK: as of `mortise_lock_acquire`, for a member with that option. Nothing is held.
 */
MORTISE_NODISCARD MORTISE_API mortise_status mortise_multi_acquire(mortise_multi *multi,
                                                                   int64_t timeout_ms,
                                                                   mortise_error *error);
/**
 * Unlocks all members, in reverse order. Afterwards none is held, whatever the status. An upgrade
 * of a member that is still open ends with MORTISE_NOT_OWNER.
 * @return the statuses of `mortise_lock_unlock`. The message names the member that failed.
 * - MORTISE_OK: all were released.
 * - MORTISE_LOST: a member was lost before. This status wins over other failures.
 * - any other status: the first failure of a member.
 */
MORTISE_API mortise_status mortise_multi_unlock(mortise_multi *multi, mortise_error *error);
/**
 * Extends the hold of every member so that it lasts at least `lease_ms` from now. If a member is
 * lost already, or a call on a member is running, nothing is sent. Otherwise all members are
 * extended at once, and one failure does not stop the others. No member ends sooner than it would
 * have.
 *
 * After a failure, the multi still has to be unlocked, and `mortise_multi_valid_ms` is the
 * remaining time. An unlock may come while this call waits, which then ends with MORTISE_NOT_OWNER.
 * @param lease_ms 0 for each member's own lease, or MORTISE_MIN_LEASE_MS to MORTISE_MAX_MS.
 * @return the statuses of `mortise_lock_extend`. The message names the member that failed.
 * - MORTISE_OK: all were extended.
 * - MORTISE_LOST: a member was lost. This status wins over other failures.
 * - MORTISE_NOT_OWNER: the multi holds nothing.
 * - MORTISE_BUSY: the multi is acquiring or unlocking.
 * - any other status: the first failure of a member.
 */
MORTISE_API mortise_status mortise_multi_extend(mortise_multi *multi, int64_t lease_ms,
                                                mortise_error *error);
/**
 * Cancels a waiting acquire of the multi, and blocks later ones until a call with 0. A member that
 * is interrupted by itself also stops the multi's acquire.
 * @param is_on 1 to interrupt, 0 to end it.
 * @return the statuses of `mortise_lock_interrupt`.
 */
MORTISE_API mortise_status mortise_multi_interrupt(mortise_multi *multi, int32_t is_on,
                                                   mortise_error *error);
/**
 * Names the task that later calls of this handle belong to, as `mortise_lock_set_task`.
 * @param task 1 to INT64_MAX, unique among the tasks of this process. 0 ends the task.
 * @return the statuses of `mortise_lock_set_task`.
 */
MORTISE_API mortise_status mortise_multi_set_task(mortise_multi *multi, int64_t task,
                                                  mortise_error *error);
/**
 * Reports that the work under all members goes on. The option `progress` of each member applies to
 * it. If a member is lost already, nothing is reported.
 * @return the statuses of `mortise_lock_progress`. The message names the member that failed.
 * - MORTISE_OK: reported for all members.
 * - MORTISE_LOST: a member was lost.
 * - MORTISE_NOT_OWNER: the multi holds nothing.
 * - any other status: the first failure of a member.
 */
MORTISE_API mortise_status mortise_multi_progress(mortise_multi *multi, mortise_error *error);
/**
 * Ends a waiting acquire of the multi with MORTISE_CANCELLED.
 * @return the statuses of `mortise_lock_cancel`.
 */
MORTISE_API mortise_status mortise_multi_cancel(mortise_multi *multi, mortise_error *error);
/** 1 while all members are held by the local clock, otherwise 0. */
MORTISE_API int32_t mortise_multi_is_held(const mortise_multi *multi);
/** `mortise_lock_valid_ms` of the member that ends first. */
MORTISE_API int64_t mortise_multi_valid_ms(const mortise_multi *multi);
/** `mortise_lock_deadline_ns` of the member that ends first, or 0 unless all are held. */
MORTISE_API int64_t mortise_multi_deadline_ns(const mortise_multi *multi);
/**
 * The number of the multi's own hold. Its members have numbers of their own. A member that is
 * upgraded or downgraded by itself remains part of the multi's hold. If a member is acquired by
 * itself after it was lost, that hold is not part of it. `mortise_multi_is_held` then stays 0, and
 * an unlock of the multi does not unlock that member.
 */
MORTISE_API int64_t mortise_multi_hold_number(const mortise_multi *multi);
/**
 * Unlocks all members of the multi's hold with this number, and never a later hold.
 * @param hold_number the value of `mortise_multi_hold_number` during the hold: 1 or more.
 * @return the statuses of `mortise_multi_unlock` and `mortise_lock_unlock_hold`.
 */
MORTISE_API mortise_status mortise_multi_unlock_hold(mortise_multi *multi, int64_t hold_number,
                                                     mortise_error *error);
/**
 * Starts `mortise_multi_unlock_hold`, which ends in one MORTISE_EVENT_UNLOCKED.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @param hold_number the value of `mortise_multi_hold_number` during the hold: 1 or more.
 * @return the statuses of `mortise_lock_unlock_hold_async`.
 */
MORTISE_API mortise_status mortise_multi_unlock_hold_async(mortise_multi *multi,
                                                           mortise_queue *queue, int64_t tag,
                                                           int64_t hold_number,
                                                           mortise_error *error);
/** The number of members. */
MORTISE_API int64_t mortise_multi_member_count(const mortise_multi *multi);
/**
 * Starts `mortise_multi_try`, which ends in one MORTISE_EVENT_ACQUIRED without a token.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @return the statuses of `mortise_lock_try_async`, and:
 * - MORTISE_INVALID_ARGUMENT: also without members.
 */
MORTISE_API mortise_status mortise_multi_try_async(mortise_multi *multi, mortise_queue *queue,
                                                   int64_t tag, mortise_error *error);
/**
 * Starts `mortise_multi_acquire`, which ends in one MORTISE_EVENT_ACQUIRED without a token.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @param timeout_ms for all members together: 0 to MORTISE_MAX_MS, or MORTISE_FOREVER.
 * @return the statuses of `mortise_multi_try_async`.
 */
MORTISE_API mortise_status mortise_multi_acquire_async(mortise_multi *multi, mortise_queue *queue,
                                                       int64_t tag, int64_t timeout_ms,
                                                       mortise_error *error);
/**
 * Watches every member, which replaces its own `mortise_lock_watch`. The losses and risks of
 * members are events on the queue, and so are the waiters for members with the option `contended`.
 * Each event has this tag and the member's token.
 * `mortise_event_lock_name` and the message have its name. After a failure no member is watched. A
 * member that is added later is not watched. A NULL queue ends the watch.
 * @param queue the queue that receives the events, or NULL.
 * @param tag any number. The events return it.
 * @return the statuses of `mortise_lock_watch`, and:
 * - MORTISE_INVALID_ARGUMENT: also without members.
 */
MORTISE_API mortise_status mortise_multi_watch(mortise_multi *multi, mortise_queue *queue,
                                               int64_t tag, mortise_error *error);
/**
 * Starts `mortise_multi_extend`, which ends in one MORTISE_EVENT_EXTENDED.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @param lease_ms as for `mortise_multi_extend`.
 * @return the statuses of `mortise_lock_unlock_async`.
 */
MORTISE_API mortise_status mortise_multi_extend_async(mortise_multi *multi, mortise_queue *queue,
                                                      int64_t tag, int64_t lease_ms,
                                                      mortise_error *error);
/**
 * Starts `mortise_multi_unlock`, which ends in one MORTISE_EVENT_UNLOCKED.
 * @param queue the queue that receives the event.
 * @param tag any number. The event returns it.
 * @return the statuses of `mortise_lock_unlock_async`.
 */
MORTISE_API mortise_status mortise_multi_unlock_async(mortise_multi *multi, mortise_queue *queue,
                                                      int64_t tag, mortise_error *error);

/* ---- hold id ---------------------------------------------------------------------------- */

/*
 * The caller owns and frees an id. It never changes, so any thread may read it. Its strings are
 * borrowed until it is freed.
 */

/**
 * Reads the id of an exported hold from its text, and checks that the text is complete. It asks no
 * server whether the hold still exists.
 * @param id the text of `mortise_hold_id_text`.
 * @param id_len bytes of `id`, 1 to 4096.
 * @return the id, or NULL. Free it with `mortise_hold_id_free`. NULL has these causes:
 * - MORTISE_INVALID_ARGUMENT: `id` is NULL, was changed, or is no id.
 * - MORTISE_NO_MEMORY: memory ran out.
 */
MORTISE_NODISCARD MORTISE_API mortise_hold_id *mortise_hold_id_new(const char *id, size_t id_len,
                                                                   mortise_error *error);
/** Frees an id. The hold continues. */
MORTISE_API void mortise_hold_id_free(mortise_hold_id *hold_id);
/** The id as text: letters, digits, '-' and '.', less than 4096 bytes. */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_hold_id_text(const mortise_hold_id *hold_id);
/**
 * The name of the lock: any bytes, followed by a NUL.
 * @param name_len receives the number of bytes. May be NULL.
 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_hold_id_name(const mortise_hold_id *hold_id,
                                                                size_t *name_len);
/** The kind of the lock: "mutex", "rw" or "semaphore", or "" for NULL. */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_hold_id_kind(const mortise_hold_id *hold_id);
/** 1 for the hold of a mutex or a writer, otherwise 0. */
MORTISE_API int32_t mortise_hold_id_is_exclusive(const mortise_hold_id *hold_id);
/** The number of permits of a semaphore as its exporter knew it, otherwise 0. */
MORTISE_API int64_t mortise_hold_id_capacity(const mortise_hold_id *hold_id);
/**
 * When the hold ends without an adoption: milliseconds since 1970 by the clock of the exporter. It
 * is for people. The server decides by its own clock.
 */
MORTISE_API int64_t mortise_hold_id_valid_until_ms(const mortise_hold_id *hold_id);

/* ---- info ------------------------------------------------------------------------------- */

/*
 * The caller owns and frees an info. Use it in one thread at a time. A query fills it.
 * Its strings are borrowed until it is filled again or freed.
 * @param index of an entry: 0 to `mortise_info_entry_count` - 1.
 */

/**
 * Makes an empty info.
 * @return the info, or NULL when memory runs out. Free it with `mortise_info_free`.
 */
MORTISE_NODISCARD MORTISE_API mortise_info *mortise_info_new(void);
/** Frees an info. */
MORTISE_API void mortise_info_free(mortise_info *info);
/** 1 if an owner held the lock, otherwise 0. */
MORTISE_API int32_t mortise_info_is_held(const mortise_info *info);
/** 1 if the holder is this handle, otherwise 0. */
MORTISE_API int32_t mortise_info_is_mine(const mortise_info *info);
/**
 * Milliseconds until the holder's lease ends at the server, or -1 without a holder. The server
 * keeps the lease 2 ms and the share `drift` (1 % by default) longer than the holder itself.
 */
MORTISE_API int64_t mortise_info_time_left_ms(const mortise_info *info);
/**
 * The newest fencing token of this database at the time of the query. The holder's is not above it.
 */
MORTISE_API int64_t mortise_info_latest_token(const mortise_info *info);
/** The number of holders: 0 or 1 of a mutex or a writer, any number of readers. */
MORTISE_API int64_t mortise_info_holder_count(const mortise_info *info);
/** The number of entries that are holders. They come first, and the rest are waiters. */
MORTISE_API int64_t mortise_info_shown_holder_count(const mortise_info *info);
/** The number of permits of a semaphore. 1 for a mutex, 0 for a read-write lock. */
MORTISE_API int64_t mortise_info_permits(const mortise_info *info);
/** The number of permits of a semaphore that are in use. */
MORTISE_API int64_t mortise_info_permits_in_use(const mortise_info *info);
/** The number of clients that wait at the server. */
MORTISE_API int64_t mortise_info_waiter_count(const mortise_info *info);
/** The number of entries: up to 16 holders, then up to 16 waiters in their order. */
MORTISE_API int64_t mortise_info_entry_count(const mortise_info *info);
/** The owner of an entry as the server stores it, or "" beyond the last. */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_info_entry_owner(const mortise_info *info,
                                                                    int64_t index);
/** 1 if an entry holds or waits for the exclusive lock, as a mutex or a writer, otherwise 0. */
MORTISE_API int32_t mortise_info_entry_is_exclusive(const mortise_info *info, int64_t index);
/**
 * 1 if a holder's client has unlocked and retains the lock for its next acquire (option `retain`).
 * The query asks that client. 0 also if the client does not answer.
 */
MORTISE_API int32_t mortise_info_entry_is_retained(const mortise_info *info, int64_t index);
/** The number of permits of a semaphore that an entry holds or waits for, otherwise 1. */
MORTISE_API int64_t mortise_info_entry_permits(const mortise_info *info, int64_t index);
/** The host name of an entry, or "" if it is unknown. */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_info_entry_host(const mortise_info *info,
                                                                   int64_t index);
/** The process id of an entry, or 0 if it is unknown. */
MORTISE_API int64_t mortise_info_entry_pid(const mortise_info *info, int64_t index);
/** The label of an entry, or "" if it has none. */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_info_entry_label(const mortise_info *info,
                                                                    int64_t index);
/** The value of a holder (`mortise_lock_set_value`), or "" if it has none. */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_info_entry_value(const mortise_info *info,
                                                                    int64_t index);

/* ---- queue ------------------------------------------------------------------------------ */

/*
 * Any thread may call these functions, and several threads may read a queue. The caller owns
 * and frees a queue.
 */

/**
 * Makes a queue for results and notices.
 * @param client the client. It may be freed before the queue.
 * @param capacity the number of asynchronous calls and watches that may be open or unread at once:
 *   1 to MORTISE_MAX_QUEUE_CAPACITY, or 0 for 65536.
 * @return the queue, or NULL. Free it with `mortise_queue_free`. NULL has these causes:
 * - MORTISE_INVALID_ARGUMENT: an argument is NULL or out of range.
 * - MORTISE_LIMIT: no file descriptor is available.
 * - MORTISE_CLOSED: the handle or its client was freed.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_NO_MEMORY: memory ran out.
 */
MORTISE_NODISCARD MORTISE_API mortise_queue *mortise_queue_new(mortise_client *client,
                                                               int64_t capacity,
                                                               mortise_error *error);
/** Shuts the queue down and frees it. Unread events are dropped. */
MORTISE_API void mortise_queue_free(mortise_queue *queue);
/**
 * Takes the oldest event. If there is none, it waits.
 * @param timeout_ms 0 to MORTISE_MAX_MS, or MORTISE_FOREVER.
 * @param event is filled on MORTISE_OK. Required.
 * @return
 * - MORTISE_OK: `event` is filled.
 * - MORTISE_TIMED_OUT: no event in time, or `mortise_queue_wake` ended the wait.
 * - MORTISE_SHUT_DOWN: the queue was shut down and is drained.
 * - MORTISE_FORKED: called in a forked child.
 * - MORTISE_INVALID_ARGUMENT: an argument is NULL or out of range.
 */
MORTISE_API mortise_status mortise_queue_next(mortise_queue *queue, int64_t timeout_ms,
                                              mortise_event *event, mortise_error *error);
/**
 * Takes up to `capacity` events at once, as plain numbers. If there is none, it waits for the
 * first. Record i has its kind, tag, status, token and hold number at records[i *
 * MORTISE_RECORD_FIELDS + 0 … 4].
 * @param timeout_ms 0 to MORTISE_MAX_MS, or MORTISE_FOREVER.
 * @param records room for `capacity` records. Required.
 * @param capacity 1 or more.
 * @param count receives the number of records written. Required.
 * @return the statuses of `mortise_queue_next`.
 */
MORTISE_API mortise_status mortise_queue_next_batch(mortise_queue *queue, int64_t timeout_ms,
                                                    int64_t *records, int64_t capacity,
                                                    int64_t *count, mortise_error *error);
/**
 * A file descriptor that is readable while the queue has events or is shut down. Only poll it:
 * never read, write or close it. It belongs to the queue, and `mortise_queue_free` closes it. -1 in
 * a forked child.
 */
MORTISE_API int32_t mortise_queue_fd(const mortise_queue *queue);
/**
 * Makes one waiting (or the next) `mortise_queue_next` return MORTISE_TIMED_OUT now, unless there
 * is an event. Two calls end two waits. It is async-signal-safe, so that a signal handler can end a
 * wait. See docs/threading.md.
 */
MORTISE_API void mortise_queue_wake(mortise_queue *queue);
/**
 * Shuts the queue down. It accepts no new calls, and its waiting acquires are cancelled. When every
 * accepted tag has had its event and the events are read, `mortise_queue_next` returns
 * MORTISE_SHUT_DOWN. Its reader may then free the queue, even if this call has not returned yet.
 */
MORTISE_API void mortise_queue_shutdown(mortise_queue *queue);

/* ---- event ------------------------------------------------------------------------------ */

/*
 * The caller owns and frees an event. Use it in one thread at a time.
 * `mortise_queue_next` fills it. Its strings are borrowed until it is filled again or freed.
 */

/**
 * Makes an empty event.
 * @return the event, or NULL when memory runs out. Free it with `mortise_event_free`.
 */
MORTISE_NODISCARD MORTISE_API mortise_event *mortise_event_new(void);
/** Frees an event. */
MORTISE_API void mortise_event_free(mortise_event *event);
/** The kind of the event. */
MORTISE_API mortise_kind mortise_event_kind(const mortise_event *event);
/** The tag of the call or watch. */
MORTISE_API int64_t mortise_event_tag(const mortise_event *event);
/** The result of the call. MORTISE_LOST for a loss, MORTISE_OK for a risk and for waiters. */
MORTISE_API mortise_status mortise_event_status(const mortise_event *event);
/** The fencing token of the event's hold, or 0 without a hold. */
MORTISE_API int64_t mortise_event_token(const mortise_event *event);
/**
 * The number of the event's hold, as `mortise_lock_hold_number`, or 0 without a hold. For a notice
 * of a watched multi, it is the member's number.
 */
MORTISE_API int64_t mortise_event_hold_number(const mortise_event *event);
/**
 * The cause and the remedy of a failure, a notice in words, or the log record, in one line. "" if
 * the call succeeded.
 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_event_message(const mortise_event *event);
/** The reason of a loss or a risk, otherwise MORTISE_REASON_NONE. The message has it in words. */
MORTISE_API mortise_reason mortise_event_reason(const mortise_event *event);
/**
 * The name of the lock that a failure or a notice of a watch is about: any bytes, followed by a
 * NUL. Otherwise "".
 * @param name_len receives the number of bytes. May be NULL.
 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_event_lock_name(const mortise_event *event,
                                                                   size_t *name_len);
/**
 * The leader that an event of an observed election reports, as `mortise_election_query` fills an
 * info at the time of the report.
 * @param info is filled on MORTISE_OK. Required.
 * @return
 * - MORTISE_OK: `info` is filled. Its first entry is the leader, if any.
 * - MORTISE_INVALID_ARGUMENT: an object is NULL, or the event is of another kind than
 *   MORTISE_EVENT_LEADER and MORTISE_EVENT_NO_LEADER.
 */
MORTISE_API mortise_status mortise_event_leader(const mortise_event *event, mortise_info *info,
                                                mortise_error *error);
/** The severity of a log record, otherwise MORTISE_LOG_LEVEL_NONE. */
MORTISE_API mortise_log_level mortise_event_log_level(const mortise_event *event);
/** The subject of a log record, otherwise MORTISE_LOG_NONE. */
MORTISE_API mortise_log_subject mortise_event_log_subject(const mortise_event *event);
/**
 * The name of a severity: "error", "warning" or "info". The string is static.
 * @param level MORTISE_LOG_LEVEL_ERROR to MORTISE_LOG_LEVEL_INFO.
 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_log_level_text(mortise_log_level level);
/**
 * A subject in one word, such as "reconnected". The string is static.
 * @param subject MORTISE_LOG_RECONNECTED to MORTISE_LOG_LOST.
 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_log_subject_text(mortise_log_subject subject);
/**
 * The number of log records that were dropped just before this one. For a wait or a hold: of events
 * of waits and holds.
 */
MORTISE_API int64_t mortise_event_dropped_records(const mortise_event *event);
/**
 * The kind of lock of an event of `mortise_client_watch_locks`: "mutex", "read", "write" or
 * "semaphore". Otherwise "". The string is static. An election is a mutex.
 */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_event_lock_kind(const mortise_event *event);
/**
 * The number of the handle in its client, for an event of `mortise_client_watch_locks`. Otherwise
 * 0. In a history it is "handle".
 */
MORTISE_API int64_t mortise_event_handle_number(const mortise_event *event);
/**
 * When an event of `mortise_client_watch_locks` happened, in microseconds since 1970 by the clock
 * of this machine. Otherwise 0.
 */
MORTISE_API int64_t mortise_event_time_us(const mortise_event *event);
/**
 * How long the wait of a MORTISE_EVENT_HOLD_BEGAN or MORTISE_EVENT_WAIT_FAILED took, in
 * microseconds. For MORTISE_EVENT_HOLD_CHANGED and MORTISE_EVENT_HOLD_ENDED, how long the hold
 * lasted in the mode that ends. Otherwise 0.
 */
MORTISE_API int64_t mortise_event_lasted_us(const mortise_event *event);
/** The server's own text for a failure, or "" if it sent none. */
MORTISE_NEVER_NULL MORTISE_API const char *mortise_event_server_text(const mortise_event *event);
/** 1 if the same call may succeed later without any change, otherwise 0. */
MORTISE_API int32_t mortise_event_is_retryable(const mortise_event *event);
/** 1 if the server may have executed the request although the call failed, otherwise 0. */
MORTISE_API int32_t mortise_event_is_ambiguous(const mortise_event *event);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // MORTISE_MORTISE_H
