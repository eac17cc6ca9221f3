package mortise

import (
	"context"
	"errors"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The statuses are written here and in the header. The header counts.
func TestEveryStatusHasItsSentinel(t *testing.T) {
	header, err := os.ReadFile("../../capi/include/mortise/mortise.h")
	must(t, err)
	sentinels := map[string]Status{
		"OK": 0, "NOT_ACQUIRED": ErrNotAcquired, "TIMED_OUT": ErrTimedOut, "CANCELLED": ErrCancelled,
		"LOST": ErrLost, "NOT_OWNER": ErrNotOwner, "SHUT_DOWN": ErrShutDown,
		"NOT_WAITING": ErrNotWaiting, "DEADLOCK": ErrDeadlock,
		"INVALID_ARGUMENT": ErrInvalidArgument, "UNREACHABLE": ErrUnreachable, "UNKNOWN": ErrUnknown,
		"REFUSED": ErrRefused, "ALREADY_HELD": ErrAlreadyHeld, "BUSY": ErrBusy, "LIMIT": ErrLimit,
		"CLOSED": ErrClosed, "FORKED": ErrForked, "UNSUPPORTED": ErrUnsupported,
		"NO_MEMORY": ErrNoMemory, "INTERNAL": ErrInternal, "EVENT_LOST": eventLost,
		"EVENT_AT_RISK": eventAtRisk, "REASON_NONE": Status(NoReason), "REASON_EXPIRED": Status(Expired),
		"REASON_REPLACED": Status(Replaced), "REASON_SERVER_LOST": Status(ServerLost),
		"REASON_FORCED":   Status(Forced),
		"REASON_STALLED":  Status(Stalled),
		"REASON_MAX_HOLD": Status(MaxHold), "SEVERITY_OK": Status(SeverityOK),
		"SEVERITY_UNKNOWN": Status(SeverityUnknown), "SEVERITY_WARN": Status(SeverityWarn),
		"SEVERITY_BAD": Status(SeverityBad), "LOG_LEVEL_NONE": 0, "LOG_NONE": 0,
		"LOG_LEVEL_ERROR": Status(LogLevelError), "LOG_LEVEL_WARNING": Status(LogLevelWarning),
		"LOG_LEVEL_INFO": Status(LogLevelInfo), "LOG_RECONNECTED": Status(LogReconnected),
		"LOG_REDIRECTED": Status(LogRedirected), "LOG_DISCONNECTED": Status(LogDisconnected),
		"LOG_UNREACHABLE": Status(LogUnreachable), "LOG_REFUSED": Status(LogRefused),
		"LOG_SLOW": Status(LogSlow), "LOG_LOST": Status(LogLost),
	}
	enumerators := regexp.MustCompile(`(?m)^  MORTISE_([A-Z_]+) = (-?\d+),?$`)
	found := 0
	for _, match := range enumerators.FindAllStringSubmatch(string(header), -1) {
		number, err := strconv.Atoi(match[2])
		must(t, err)
		status, isKnown := sentinels[match[1]]
		switch {
		case isKnown && status != Status(number):
			t.Errorf("MORTISE_%s is %d; here it is %d", match[1], number, status)
		case isKnown:
			found++
		case !strings.HasPrefix(match[1], "EVENT_"):
			t.Errorf("MORTISE_%s has no sentinel", match[1])
		}
	}
	if found != len(sentinels) {
		t.Errorf("%d of %d are in the header", found, len(sentinels))
	}
}

func TestErrorHasItsDetails(t *testing.T) {
	server := startServer(t)
	client := server.open(t)
	if answer := server.ask(t, "HSET {mortise:a} field value"); !strings.HasPrefix(answer, ":1") {
		t.Fatal(answer)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, err := client.lock(t, "a").Acquire(ctx)
	expect(t, err, ErrRefused)
	var details *Error
	if !errors.As(err, &details) {
		t.Fatalf("%T is no *Error", err)
	}
	if details.Status != ErrRefused || details.Message == "" || details.ServerText == "" ||
		details.IsAmbiguous() {
		t.Fatalf("%+v", details)
	}
	if text := err.Error(); !strings.HasPrefix(text, "mortise: ") ||
		!strings.Contains(text, details.Message) {
		t.Fatal(text)
	}
	if errors.Is(err, ErrUnknown) || errors.Is(err, context.Canceled) {
		t.Fatal("it is also something else")
	}
	var status Status
	if !errors.As(err, &status) || status != ErrRefused {
		t.Fatal("the status cannot be had")
	}
}

func TestUnreachable(t *testing.T) {
	_, err := Open(within(t), "unix:///nowhere/redis.sock", WithCommandTimeout(50*time.Millisecond))
	expect(t, err, ErrUnreachable)
	var details *Error
	if !errors.As(err, &details) || !details.IsRetryable() || details.IsAmbiguous() {
		t.Fatalf("%+v", details)
	}
	lazy, err := Open(within(t), "unix:///nowhere/redis.sock", WithLazyConnect(true),
		WithCommandTimeout(50*time.Millisecond))
	must(t, err)
	expect(t, lazy.Ping(within(t)), ErrUnreachable)
	lazy.Close()
	_, err = Open(within(t), "unix:///nowhere/redis.sock", WithLazyConnect(false),
		WithCommandTimeout(50*time.Millisecond))
	expect(t, err, ErrUnreachable)
	server := startServer(t)
	client := server.open(t, WithCommandTimeout(200*time.Millisecond))
	lock := client.lock(t, "a")
	server.control(t, "kill")
	eventually(t, "the server is gone", func() bool {
		_, err := lock.Try(within(t))
		return errors.Is(err, ErrUnreachable)
	})
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_, err = lock.Acquire(ctx)
	expect(t, err, ErrUnreachable)
}

func TestBadInput(t *testing.T) {
	server := startServer(t)
	client := server.open(t)
	semaphore := client.semaphore(t, "s", 3)
	hold, err := semaphore.Acquire(within(t), 1)
	must(t, err)
	for _, bad := range []struct {
		make  func() error
		names string
	}{
		{func() error { return only(Open(within(t), "http://x")) }, "scheme"},
		{func() error { return only(Open(within(t), "")) }, "url"},
		{func() error { return only(client.NewLock("")) }, "name"},
		{func() error { return only(client.NewLock(strings.Repeat("x", 1025))) }, "name"},
		{func() error { return only(client.NewSemaphore("s", 0)) }, "capacity"},
		{func() error { return only(client.NewLock("a", WithLease(time.Millisecond))) }, "lease"},
		{func() error { return only(client.NewLock("a", WithLease(-time.Second))) }, "lease"},
		{func() error {
			return only(client.NewLock("a", WithCommandTimeout(time.Second)))
		}, "command_timeout"},
		{func() error { return only(client.NewRW("a", WithDrift(1000))) }, "drift"},
		{func() error { return only(client.NewLock("a", WithMaxHold(-time.Millisecond))) }, "max_hold"},
		{func() error { return only(client.NewLock("a", WithProgress(-time.Millisecond))) }, "progress"},
		{func() error { return only(client.NewLock("a", WithLease(math.MinInt64))) }, "lease"},
		{func() error { return only(client.NewLock("a", WithLease(math.MaxInt64))) }, "9223372036855 ms"},
		{func() error {
			return only(client.NewLock("a", WithLease(366*24*time.Hour+1)))
		}, "31622400001 ms"},
		{func() error {
			return only(client.NewLock("a", WithPollInterval(math.MaxInt64)))
		}, "poll_interval"},
		{func() error { return only(client.NewLock("a", WithPollAttempts(-2))) }, "poll_attempts"},
		{func() error { return only(client.NewRW("a", WithReadLifetime(-1))) }, "read_lifetime"},
		{func() error {
			return only(client.NewRW("a", WithReadLifetime(367*24*time.Hour)))
		}, "read_lifetime"},
		{func() error {
			return only(client.NewRW("a", WithWriteLifetime(367*24*time.Hour)))
		}, "write_lifetime"},
		{func() error {
			return only(Open(within(t), server.url, WithBusyPoll(time.Millisecond+1)))
		}, "busy_poll"},
		{func() error {
			return only(client.NewLock("a", WithAdaptiveBusyPoll()))
		}, "busy_poll: is an option of a client"},
		{func() error { return only(Open(within(t), server.url, WithClientName("a b"))) }, "client_name"},
		{func() error {
			return only(Open(within(t), server.url, WithPasswordFile("word")))
		}, "full path"},
		{func() error { return client.SetCredentials(within(t), "", "") }, "password"},
		{func() error { return only(client.NewSemaphore("s", 1<<53+1)) }, "9007199254740993"},
		{func() error { return only(semaphore.Acquire(within(t), 1<<53+1)) }, "9007199254740993"},
		{func() error { return only(semaphore.Try(within(t), math.MinInt64)) }, "-9223372036854775808"},
		{func() error { return semaphore.Resize(within(t), math.MaxInt64) }, "9223372036854775807"},
		{func() error { return hold.Extend(within(t), 1) }, "lease_ms: 1 "}, // not 0
		{func() error { return hold.Extend(within(t), -1) }, "lease"},
		{func() error { return hold.Extend(within(t), math.MaxInt64) }, "9223372036855"},
		{func() error { return only(client.NewLock("a", WithLabel("\xff"))) }, "label"},
		{func() error { return only(client.NewLock("a", WithOption("leese", "1s"))) }, "leese"},
		{func() error { return only(client.NewLock("a", Option{})) }, "ption"},
		{func() error { return only((&Client{}).NewLock("a")) }, "Open"},
		{func() error { return (&Client{}).Ping(within(t)) }, "Open"},
		{func() error { return only((&Lock{}).Acquire(within(t))) }, "handle"},
		//lint:ignore SA1012 nil is the subject of the test
		{func() error { return only(client.lock(t, "a").Acquire(nil)) }, "ctx"},
		{func() error { return only(Open(nil, server.url)) }, "ctx"},
	} {
		err := bad.make()
		expect(t, err, ErrInvalidArgument)
		if !strings.Contains(err.Error(), bad.names) {
			t.Errorf("%q does not name %s", err, bad.names)
		}
	}
}

// A short time is not rounded to zero, which has another meaning in C.
func TestTimesAreRoundedUp(t *testing.T) {
	for given, expected := range map[time.Duration]int64{
		0: 0, 1: 1, time.Millisecond - 1: 1, time.Millisecond: 1, time.Millisecond + 1: 2,
		math.MaxInt64: 9223372036855,
	} {
		if got := milliseconds(given); got != expected {
			t.Errorf("%v are %d ms; want %d", given, got, expected)
		}
	}
	for given, expected := range map[time.Duration]int64{
		-time.Hour: 1, math.MaxInt64: forever, 366*24*time.Hour + time.Minute: forever,
	} {
		ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(given))
		if got := timeoutOf(ctx); got != expected {
			t.Errorf("a deadline in %v is a timeout of %d ms; want %d", given, got, expected)
		}
		cancel()
	}
	if got := timeoutOf(context.Background()); got != forever {
		t.Errorf("no deadline is a timeout of %d ms", got)
	}
}

func TestOptions(t *testing.T) {
	server := startServer(t)
	client := server.open(t, WithLease(20*time.Second), WithLabel("of the client"))
	valid := func(lock *Lock) time.Duration {
		t.Helper()
		hold, err := lock.Acquire(within(t))
		must(t, err)
		defer func() { must(t, hold.Unlock(within(t))) }()
		return hold.Valid()
	}
	if v := valid(client.lock(t, "a")); v > 20*time.Second || v < 10*time.Second {
		t.Errorf("with the client's lease of 20 s a hold is valid for %v", v)
	}
	lease := 90*time.Second + time.Microsecond
	if v := valid(client.lock(t, "a", WithLease(lease))); v < 60*time.Second {
		t.Errorf("with a lease of 90 s a hold is valid for %v", v)
	}
	if v := valid(client.lock(t, "a", WithLabel("a label"))); v > 20*time.Second ||
		v < 10*time.Second {
		t.Errorf("beside the client's lease of 20 s an option of the handle's own leaves %v", v)
	}
	for _, option := range []Option{
		WithRenewal(true), WithMaxHold(time.Hour), WithMaxHold(Unlimited), WithReentrant(true),
		WithReentrantRead(true), WithReentrantWrite(true), WithFairness(Batch), WithLabel(""),
		WithRelease(Answered), WithProgress(time.Minute),
		WithProtocol("queued"), WithPollInterval(time.Second), WithPollAttempts(-1),
		WithPollAttempts(3), WithOption("lease", "1500ms"),
	} {
		valid(client.lock(t, "a", option))
	}
	other, err := Open(within(t), server.url+"?lease=7s", WithCommandTimeout(time.Second))
	must(t, err)
	defer other.Close()
	if v := valid(other.lock(t, "a")); v > 7*time.Second {
		t.Errorf("with a lease of 7 s in the URL a hold is valid for %v", v)
	}
	must(t, other.Ping(within(t)))
	careful, err := Open(within(t), server.url, WithDrift(1000), WithOption("lease", "100s"))
	must(t, err)
	defer careful.Close()
	hold, err := careful.lock(t, "drift").Acquire(within(t))
	must(t, err)
	info, err := careful.lock(t, "drift").Query(within(t))
	must(t, err)
	if info.TimeLeft > 100102*time.Millisecond || info.TimeLeft < 50*time.Second {
		t.Errorf("with a drift of 0.1 %% the server keeps a lease of 100 s for %v", info.TimeLeft)
	}
	must(t, hold.Unlock(within(t)))
	t.Setenv("MORTISE_URL", server.url)
	named, err := Open(within(t), "")
	must(t, err)
	must(t, named.Close())
}
