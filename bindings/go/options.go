package mortise

import (
	"strconv"
	"time"

	"github.com/mortise/mortise-go/internal/swig"
)

// Unlimited is a WithMaxHold that never ends.
const Unlimited time.Duration = -1

// Option is one setting. Given to Open it is a default of all the client's handles; the query of
// the URL goes above it. Given to a handle it is laid over the client's settings: what is not given
// stays as it is for the client.
type Option struct {
	apply func(options uintptr) error
}

// WithLease sets how long a hold lasts unless it is renewed: 50 ms to 366 days, 30 s by default.
func WithLease(lease time.Duration) Option {
	return durationOption(optionLease, lease, swig.Options_set_lease_ms)
}

// WithRenewal sets whether holds are renewed by themselves, which is the default.
func WithRenewal(isOn bool) Option { return switchOption(isOn, swig.Options_set_renewal) }

// WithMaxHold sets how long a hold is renewed at most, so that a forgotten one ends: one hour by
// default, up to 366 days, or Unlimited.
func WithMaxHold(maxHold time.Duration) Option {
	if maxHold == Unlimited {
		return numberOption(forever, swig.Options_set_max_hold_ms)
	}
	return durationOption(optionMaxHold, maxHold, swig.Options_set_max_hold_ms)
}

// WithReentrant sets whether a handle may acquire again what it holds. Each Hold then needs its own
// Unlock, and the lock is given back with the last.
func WithReentrant(isOn bool) Option { return switchOption(isOn, swig.Options_set_reentrant) }

// WithReentrantRead is WithReentrant for reading only.
func WithReentrantRead(isOn bool) Option {
	return switchOption(isOn, swig.Options_set_reentrant_read)
}

// WithReentrantWrite is WithReentrant for writing, and for a Lock.
func WithReentrantWrite(isOn bool) Option {
	return switchOption(isOn, swig.Options_set_reentrant_write)
}

// WithFairStrict sets whether waiters are served in the order of their arrival among all clients.
// By default one client may pass the lock on within itself a few times first.
func WithFairStrict(isOn bool) Option { return switchOption(isOn, swig.Options_set_fair_strict) }

// WithReleaseSent sets whether an Unlock returns when it is sent, and does not wait for the answer,
// which saves a round trip. Where it then fails, a LogLine says so and the lease ends the hold.
func WithReleaseSent(isOn bool) Option {
	if isOn {
		return WithOption(optionRelease, "sent")
	}
	return WithOption(optionRelease, "answered")
}

// WithRetain sets how long an Unlock that nobody waits for keeps the lock for the next acquire of
// this client, which then costs no round trip: not at all by default, up to 366 days, at most half
// of the lease. Others are handed it when they wait, and are refused when they try.
func WithRetain(retain time.Duration) Option {
	return durationOption(optionRetain, retain, swig.Options_set_retain_ms)
}

// WithLabel sets a text that Query shows for the handle: UTF-8, at most 64 bytes.
func WithLabel(label string) Option { return textOption(label, swig.Options_set_label) }

// WithProtocol sets how the locks are written at the server; "queued" is the default.
func WithProtocol(protocol string) Option { return textOption(protocol, swig.Options_set_protocol) }

// WithPollInterval sets how long a waiting acquire of a protocol without a queue pauses between two
// attempts, on average: 1 ms to 60 s, 100 ms by default.
func WithPollInterval(interval time.Duration) Option {
	return durationOption(optionPollInterval, interval, swig.Options_set_poll_interval_ms)
}

// WithPollAttempts sets how many such attempts there are at most; -1, the default, is no limit.
func WithPollAttempts(attempts int64) Option {
	return numberOption(attempts, swig.Options_set_poll_attempts)
}

// WithReadLifetime sets for how long a read counts for other programs, in the read-write lock's
// protocol "hash": 1 ms to 366 days, by default as the lease.
func WithReadLifetime(lifetime time.Duration) Option {
	return keyedDuration(optionReadLifetime, lifetime)
}

// WithWriteLifetime is the same for a write.
func WithWriteLifetime(lifetime time.Duration) Option {
	return keyedDuration(optionWriteLifetime, lifetime)
}

// WithCommandTimeout sets how long the client waits for an answer of the server: 10 ms to 60 s, 3 s
// by default. For Open only.
func WithCommandTimeout(timeout time.Duration) Option {
	return durationOption(optionCommandTimeout, timeout, swig.Options_set_command_timeout_ms)
}

// WithDrift sets how far the speeds of this machine's clock and the server's may differ, in
// millionths: 1000 (0.1 %) to 200000 (20 %), 100000 by default. The server keeps a lock by so much
// longer than its lease. For Open only.
func WithDrift(ppm int64) Option { return numberOption(ppm, swig.Options_set_drift_ppm) }

// WithClientName sets the connection's name in CLIENT LIST: ASCII, at most 64 bytes, "mortise" by
// default. For Open only.
func WithClientName(name string) Option { return WithOption(optionClientName, name) }

// WithPasswordFile names a file with the password by its whole path. It is read again at each
// connect; a line end at its end is no part of the password. For Open only.
func WithPasswordFile(path string) Option { return WithOption(optionPasswordFile, path) }

// WithAdaptiveBusyPoll has a waiting call of C spin before it sleeps for as long as it pays, as it
// does by default. For Open only.
func WithAdaptiveBusyPoll() Option { return WithOption(optionBusyPoll, "auto") }

// WithBusyPoll sets how long it spins whether it pays or not: up to 1 ms, 0 for never. For Open
// only.
func WithBusyPoll(spin time.Duration) Option {
	us := int64(spin/time.Microsecond) + btoi(spin%time.Microsecond > 0)
	return WithOption(optionBusyPoll, strconv.FormatInt(us, 10))
}

// WithLazyConnect sets whether Open returns at once and connects in the background, for as long as
// it takes. Until then an acquire waits within its time, and all else says what stands in its way.
// For Open only.
func WithLazyConnect(isOn bool) Option {
	if isOn {
		return WithOption(optionConnect, "lazy")
	}
	return WithOption(optionConnect, "wait")
}

// WithTLSCAFile names the file with the certificates of who signs servers, for a URL of rediss://,
// in place of the system's; it is read again at each connect. For Open only.
func WithTLSCAFile(path string) Option { return WithOption(optionTlsCaFile, path) }

// WithTLSCAFolder is the same for a folder, as "openssl rehash" makes it. For Open only.
func WithTLSCAFolder(path string) Option { return WithOption(optionTlsCaFolder, path) }

// WithTLSCertificateFile names the file with the certificate that the client shows the server; it
// is read again at each connect. For Open only.
func WithTLSCertificateFile(path string) Option {
	return WithOption(optionTlsCertificateFile, path)
}

// WithTLSKeyFile names the file with the key of that certificate. For Open only.
func WithTLSKeyFile(path string) Option { return WithOption(optionTlsKeyFile, path) }

// WithTLSName sets the name or address that the server's certificate has to have, in place of the
// URL's host. For Open only.
func WithTLSName(name string) Option { return WithOption(optionTlsName, name) }

// WithTLSVerify sets whether the server has to prove who it is, which it has by default. Without it
// anybody between client and server may be the server. For Open only.
func WithTLSVerify(isOn bool) Option {
	if isOn {
		return WithOption(optionTlsVerify, "on")
	}
	return WithOption(optionTlsVerify, "off")
}

// WithSentinelPasswordFile names the file with the password of the Sentinels of a URL of
// redis+sentinel://; it is read again at each connect. For Open only.
func WithSentinelPasswordFile(path string) Option {
	return WithOption(optionSentinelPasswordFile, path)
}

// WithSentinelTLS sets whether Sentinels are spoken to by TLS, in place of what the URL's scheme
// says of servers. For Open only.
func WithSentinelTLS(isOn bool) Option {
	if isOn {
		return WithOption(optionSentinelTls, "on")
	}
	return WithOption(optionSentinelTls, "off")
}

// WithSentinelTLSName sets the name or address that the Sentinels' certificates have to have, in
// place of each one's host. For Open only.
func WithSentinelTLSName(name string) Option { return WithOption(optionSentinelTlsName, name) }

// WithExamination sets whether the server is examined each time that it is connected to: "off", the
// default; "warn", for Client.Examination to tell; or "strict", which also asks nothing of a server
// with a finding that is bad, and lets Open fail with it. For Open only.
func WithExamination(how string) Option { return WithOption(optionExamine, how) }

// WithQuarantine sets how long a server of redlock: has to run before it votes, 60 s unless set. No
// lease may be longer. With 0 it votes at once, which is safe only where servers forget nothing
// (appendfsync always). For Open only.
func WithQuarantine(quarantine time.Duration) Option {
	return keyedDuration(optionQuarantine, quarantine)
}

// WithAcks sets how many replicas of its server have a hold before it counts, none unless set. For
// Open only.
func WithAcks(replicas int) Option { return WithOption(optionAcks, strconv.Itoa(replicas)) }

// WithAcksOfAll has all replicas that the Sentinels, or the cluster, know of have a hold before it
// counts. For Open only.
func WithAcksOfAll() Option { return WithOption(optionAcks, "all") }

// WithDurability sets where the server, and the replicas that acknowledge, have a hold before it
// counts: in "memory", the default, or by "fsync" on their disks. For Open only.
func WithDurability(where string) Option { return WithOption(optionDurability, where) }

// WithMetricsName sets under which names Stats counts locks apart: "off", the default; "label", by
// the handles' labels; "name", by the locks' names; or patterns such as "orders:*,jobs:*". There
// are 200 names at most, the rest is counted as "other". For Open only.
func WithMetricsName(rule string) Option { return WithOption(optionMetricsName, rule) }

// WithOption sets any option by its name, as the query of a URL does: WithOption("lease", "30s").
func WithOption(key, value string) Option {
	return Option{func(options uintptr) error {
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
	return Option{func(options uintptr) error {
		return checked(func(details uintptr) int32 { return set(options, number, details) })
	}}
}

func textOption(text string, set func(options uintptr, text string, details uintptr) int32) Option {
	return Option{func(options uintptr) error {
		return checked(func(details uintptr) int32 { return set(options, text, details) })
	}}
}

func numberOption(number int64, set func(uintptr, int64, uintptr) int32) Option {
	return Option{func(options uintptr) error {
		return checked(func(details uintptr) int32 { return set(options, number, details) })
	}}
}

func durationOption(
	key string, value time.Duration, set func(uintptr, int64, uintptr) int32,
) Option {
	if value < 0 {
		return Option{func(uintptr) error {
			return failure(ErrInvalidArgument, key+": "+value.String()+" is negative; give a time to come")
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
				"option: an empty Option; make it by one of the With functions")
		}
		if err := option.apply(address); err != nil {
			return err
		}
	}
	return call(address)
}
