package mortise

import (
	"strconv"
	"time"

	"github.com/mortise/mortise-go/internal/swig"
)

// Unlimited is the WithMaxHold of a hold that is renewed without a limit.
const Unlimited time.Duration = -1

// Option is one setting. Given to Open it is a default for all handles of the client. The query of
// the URL overrides it. Given to a handle it overrides the client's settings. All other settings
// remain those of the client.
type Option struct {
	apply    func(options uintptr) error
	listener Listener // of WithListener only
}

// WithLease sets how long a hold lasts unless it is renewed: 50 ms to 366 days, 15 s by default.
func WithLease(lease time.Duration) Option {
	return durationOption(optionLease, lease, swig.Options_set_lease_ms)
}

// WithRenewal sets whether the client renews holds automatically, which is the default.
func WithRenewal(isOn bool) Option { return switchOption(isOn, swig.Options_set_renewal) }

// WithMaxHold sets how long a hold is renewed at most, so that a forgotten hold ends. The default
// is one hour. The maximum is 366 days, or Unlimited.
func WithMaxHold(maxHold time.Duration) Option {
	if maxHold == Unlimited {
		return numberOption(forever, swig.Options_set_max_hold_ms)
	}
	return durationOption(optionMaxHold, maxHold, swig.Options_set_max_hold_ms)
}

// WithProgress sets how long a hold is renewed after the last Hold.Progress, so that work that
// hangs loses the lock. The grant counts as the first report. By default no report is needed.
func WithProgress(progress time.Duration) Option {
	return durationOption(optionProgress, progress, swig.Options_set_progress_ms)
}

// WithReentrant sets whether a handle may acquire again what it holds. Each Hold then needs its own
// Unlock, and the last Unlock releases the lock.
func WithReentrant(isOn bool) Option { return switchOption(isOn, swig.Options_set_reentrant) }

// WithReentrantRead is WithReentrant for reading only.
func WithReentrantRead(isOn bool) Option {
	return switchOption(isOn, swig.Options_set_reentrant_read)
}

// WithReentrantWrite is WithReentrant for writing, and for a Lock.
func WithReentrantWrite(isOn bool) Option {
	return switchOption(isOn, swig.Options_set_reentrant_write)
}

// Fairness is the order in which waiters are served; see WithFairness.
type Fairness string

const (
	// Batch lets a client pass the lock on internally a few times first. It is the default.
	Batch Fairness = "batch"
	// Strict serves the waiters of all clients in the order of arrival.
	Strict Fairness = "strict"
)

// WithFairness sets the order in which waiters are served.
func WithFairness(order Fairness) Option {
	switch order {
	case Batch, Strict:
		return switchOption(order == Strict, swig.Options_set_fair_strict)
	}
	return WithOption(optionFair, string(order)) // which fails, and names the values
}

// Release is the moment when an Unlock returns; see WithRelease.
type Release string

const (
	// Answered waits for the reply of the server. It is the default.
	Answered Release = "answered"
	// Sent does not wait for the reply, which saves a round trip. If the request fails, a LogLine
	// reports it and the lease ends the hold.
	Sent Release = "sent"
)

// WithRelease sets when an Unlock returns.
func WithRelease(moment Release) Option { return WithOption(optionRelease, string(moment)) }

// WithRetain sets how long the client keeps an unlocked lock without waiters for its next acquire,
// which then needs no round trip. The default is 0. The maximum is half of the lease, and 366 days.
// Other clients that wait are handed the lock. A Try of another client fails.
func WithRetain(retain time.Duration) Option {
	return durationOption(optionRetain, retain, swig.Options_set_retain_ms)
}

// WithLabel sets a text that Query shows for the handle: UTF-8, at most 64 bytes.
func WithLabel(label string) Option { return textOption(label, swig.Options_set_label) }

// WithValue sets a value of each hold of the handle: UTF-8, at most 1024 bytes. See Hold.SetValue.
func WithValue(value string) Option { return WithOption(optionValue, value) }

// WithContended sets whether Hold.Contended reports that others wait for the lock. The default is
// false.
func WithContended(isOn bool) Option {
	if isOn {
		return WithOption(optionContended, "on")
	}
	return WithOption(optionContended, "off")
}

// WithDeadlockFailure sets whether the youngest wait of a deadlock fails with ErrDeadlock. Then
// unlock what the goroutine holds, and try again. It finds deadlocks of contexts with a task: see
// WithTask. The default is false: all wait until their contexts are over.
func WithDeadlockFailure(isOn bool) Option {
	if isOn {
		return WithOption(optionDeadlock, "fail")
	}
	return WithOption(optionDeadlock, "wait")
}

// WithProtocol sets how the locks are stored at the server. The default is "queued".
func WithProtocol(protocol string) Option { return textOption(protocol, swig.Options_set_protocol) }

// WithPollInterval sets the average pause between two attempts of a waiting acquire, in a protocol
// without a queue: 1 ms to 60 s, 100 ms by default.
func WithPollInterval(interval time.Duration) Option {
	return durationOption(optionPollInterval, interval, swig.Options_set_poll_interval_ms)
}

// WithPollAttempts sets the maximum number of such attempts. The default, -1, means no limit.
func WithPollAttempts(attempts int64) Option {
	return numberOption(attempts, swig.Options_set_poll_attempts)
}

// WithReadLifetime sets for how long other programs respect a read, in the protocol "hash" of the
// read-write lock: 1 ms to 366 days, by default the lease.
func WithReadLifetime(lifetime time.Duration) Option {
	return keyedDuration(optionReadLifetime, lifetime)
}

// WithWriteLifetime is like WithReadLifetime, for a write.
func WithWriteLifetime(lifetime time.Duration) Option {
	return keyedDuration(optionWriteLifetime, lifetime)
}

// WithCommandTimeout sets how long the client waits for a reply of the server: 10 ms to 60 s, 3 s
// by default. For Open only.
func WithCommandTimeout(timeout time.Duration) Option {
	return durationOption(optionCommandTimeout, timeout, swig.Options_set_command_timeout_ms)
}

// WithDrift sets how much the clock rates of this machine and the server may differ, in millionths:
// 1000 (0.1 %) to 200000 (20 %), 10000 by default. The server keeps a lock longer than its lease
// by this share. For Open only.
func WithDrift(ppm int64) Option { return numberOption(ppm, swig.Options_set_drift_ppm) }

// WithClientName sets the connection's name in CLIENT LIST: ASCII, at most 64 bytes, "mortise" by
// default. For Open only.
func WithClientName(name string) Option { return WithOption(optionClientName, name) }

// WithNamespace sets the first part of the client's keys and channels, before a colon: at most 64
// letters, digits, '.', '-' and '_'. Clients of different namespaces have different locks, and none
// is set by default. For Open only.
func WithNamespace(name string) Option { return WithOption(optionNamespace, name) }

// WithPasswordFile sets the absolute path of a file with the password. The client reads it again at
// each connect. A final line end does not belong to the password. For Open only.
func WithPasswordFile(path string) Option { return WithOption(optionPasswordFile, path) }

// WithPeerUser sets the name or the number of the user whose server has to listen at a unix socket.
// Otherwise the client does not log in. For Open with unix:// only.
func WithPeerUser(user string) Option { return WithOption(optionPeerUser, user) }

// WithAdaptiveBusyPoll makes a waiting call of C spin before it sleeps, for as long as this pays.
// This is the default. For Open only.
func WithAdaptiveBusyPoll() Option { return WithOption(optionBusyPoll, "auto") }

// WithBusyPoll sets a fixed time that a waiting call spins: up to 1 ms, 0 for never. For Open only.
func WithBusyPoll(spin time.Duration) Option {
	us := int64(spin/time.Microsecond) + btoi(spin%time.Microsecond > 0)
	return WithOption(optionBusyPoll, strconv.FormatInt(us, 10))
}

// WithLazyConnect sets whether Open returns at once and connects in the background, for as long as
// necessary. Until then an acquire waits within its time, and other calls return the reason why
// there is no connection. For Open only.
func WithLazyConnect(isOn bool) Option {
	if isOn {
		return WithOption(optionConnect, "lazy")
	}
	return WithOption(optionConnect, "wait")
}

// WithReleaseOnDeath sets whether a helper process releases the client's locks as soon as the
// program is dead, however it ends. Do not use it if something outlives the program and still does
// the protected work. For Open only.
func WithReleaseOnDeath(isOn bool) Option {
	if isOn {
		return WithOption(optionReleaseOnDeath, "on")
	}
	return WithOption(optionReleaseOnDeath, "off")
}

// WithTLSCAFile names the file with the certificates of the authorities that sign servers, for a
// URL of rediss://. It replaces the authorities of the system. The client reads it again at each
// connect. For Open only.
func WithTLSCAFile(path string) Option { return WithOption(optionTlsCaFile, path) }

// WithTLSCAFolder is the same for a folder, as "openssl rehash" makes it. For Open only.
func WithTLSCAFolder(path string) Option { return WithOption(optionTlsCaFolder, path) }

// WithTLSCertificateFile names the file with the client's certificate. The client reads it again at
// each connect. For Open only.
func WithTLSCertificateFile(path string) Option {
	return WithOption(optionTlsCertificateFile, path)
}

// WithTLSKeyFile names the file with the key of that certificate. For Open only.
func WithTLSKeyFile(path string) Option { return WithOption(optionTlsKeyFile, path) }

// WithTLSName sets the name or address that the server's certificate must have, in place of the
// URL's host. For Open only.
func WithTLSName(name string) Option { return WithOption(optionTlsName, name) }

// WithTLSVerify sets whether the client verifies the server's certificate, which is the default.
// Without verification anybody between client and server can act as the server. For Open only.
func WithTLSVerify(isOn bool) Option {
	if isOn {
		return WithOption(optionTlsVerify, "on")
	}
	return WithOption(optionTlsVerify, "off")
}

// WithSentinelPasswordFile names the file with the password of the Sentinels of a URL of
// redis+sentinel://. The client reads it again at each connect. For Open only.
func WithSentinelPasswordFile(path string) Option {
	return WithOption(optionSentinelPasswordFile, path)
}

// WithSentinelTLS sets whether the client uses TLS with the Sentinels. By default it follows the
// URL's scheme, as for servers. For Open only.
func WithSentinelTLS(isOn bool) Option {
	if isOn {
		return WithOption(optionSentinelTls, "on")
	}
	return WithOption(optionSentinelTls, "off")
}

// WithSentinelTLSName sets the name or address that the Sentinels' certificates must have, in place
// of each Sentinel's host. For Open only.
func WithSentinelTLSName(name string) Option { return WithOption(optionSentinelTlsName, name) }

// WithAddressMap sets where the client reaches servers that a cluster or Sentinels announce
// elsewhere, as behind NAT: "10.0.0.5:6379>localhost:7001,10.0.0.6:6379>localhost:7002". For Open
// only.
func WithAddressMap(pairs string) Option { return WithOption(optionAddressMap, pairs) }

// WithHealthCheck sets whether the client checks the health of a server at each connect. The
// default is "off". With "warn" Client.LastHealth returns the findings. With "strict" the client
// also sends no requests to a server with a bad finding, and Open fails with that finding. For Open
// only.
func WithHealthCheck(how string) Option { return WithOption(optionHealthCheck, how) }

// WithQuarantine sets how long a server of redlock: has to run before it votes, 60 s by default. No
// lease may be longer. With 0 a server votes at once, which is safe only if servers forget nothing
// (appendfsync always). For Open only.
func WithQuarantine(quarantine time.Duration) Option {
	return keyedDuration(optionQuarantine, quarantine)
}

// WithAcks sets how many replicas must store a hold before it counts, 0 by default. For Open only.
func WithAcks(replicas int) Option { return WithOption(optionAcks, strconv.Itoa(replicas)) }

// WithAcksOfAll makes a hold count when all replicas that the Sentinels or the cluster know have
// stored it. For Open only.
func WithAcksOfAll() Option { return WithOption(optionAcks, "all") }

// WithDurability sets where the server and the acknowledging replicas store a hold before it
// counts: in "memory", the default, or on disk with "fsync". For Open only.
func WithDurability(where string) Option { return WithOption(optionDurability, where) }

// WithMetricsName sets by which names Stats distinguishes locks. The default is "off". With "label"
// the names are the handles' labels, with "name" the locks' names. Patterns such as
// "orders:*,jobs:*" are also possible. There are at most 200 names. All others count as "other".
// For Open only.
func WithMetricsName(rule string) Option { return WithOption(optionMetricsName, rule) }

// WithOption sets any option by its name, as the query of a URL does: WithOption("lease", "30s").
func WithOption(key, value string) Option {
	return Option{apply: func(options uintptr) error {
		return checked(func(details uintptr) int32 {
			return swig.Options_set(options, key, value, details)
		})
	}}
}

func switchOption(isOn bool, set func(options uintptr, isOn int32, details uintptr) int32) Option {
	number := int32(0)
	if isOn {
		number = 1
	}
	return Option{apply: func(options uintptr) error {
		return checked(func(details uintptr) int32 { return set(options, number, details) })
	}}
}

func textOption(text string, set func(options uintptr, text string, details uintptr) int32) Option {
	return Option{apply: func(options uintptr) error {
		return checked(func(details uintptr) int32 { return set(options, text, details) })
	}}
}

func numberOption(number int64, set func(uintptr, int64, uintptr) int32) Option {
	return Option{apply: func(options uintptr) error {
		return checked(func(details uintptr) int32 { return set(options, number, details) })
	}}
}

func durationOption(
	key string, value time.Duration, set func(uintptr, int64, uintptr) int32,
) Option {
	if value < 0 {
		return Option{apply: func(uintptr) error {
			return failure(ErrInvalidArgument, key+": "+value.String()+" is negative; give 0 or more")
		}}
	}
	return numberOption(milliseconds(value), set)
}

// keyedDuration is for those that have no setter of their own.
func keyedDuration(key string, value time.Duration) Option {
	return durationOption(key, value, func(options uintptr, ms int64, details uintptr) int32 {
		return swig.Options_set(options, key, strconv.FormatInt(ms, 10), details)
	})
}

// milliseconds rounds up, so that a short time does not become none.
func milliseconds(value time.Duration) int64 {
	return int64(value/time.Millisecond) + btoi(value%time.Millisecond > 0)
}

func btoi(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// withOptions makes a call of C with an options object that begins as `base`, or with none to have
// the defaults.
func withOptions(options []Option, base func(details uintptr) uintptr,
	call func(options uintptr) error) error {
	if len(options) == 0 {
		return call(0)
	}
	address, err := made(base)
	if err != nil {
		return err
	}
	defer swig.Options_free(address)
	for _, option := range options {
		if option.apply == nil {
			return failure(ErrInvalidArgument,
				"option: an empty Option; make it with a With function")
		}
		if err := option.apply(address); err != nil {
			return err
		}
	}
	return call(address)
}
