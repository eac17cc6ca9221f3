package mortise

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

// The result of a failed constructor, and a zero value, are an error and no crash: here clients,
// and as arguments.
func TestNilAndEmptyArguments(t *testing.T) {
	ctx := within(t)
	client := startServer(t).open(t)
	nothing := func(context.Context, *Hold) error { return nil }
	calls := map[string]func() error{
		"members":    func() error { return second(client.NewMulti((*Lock)(nil), (*RW)(nil).ForRead())) },
		"reader":     func() error { return second(client.NewMulti((&RW{}).ForRead())) },
		"writer":     func() error { return second(client.NewMulti((*RW)(nil).ForWrite())) },
		"permits":    func() error { return second(client.NewMulti((*Semaphore)(nil).ForPermits(1))) },
		"member":     func() error { return second(client.NewMulti(nil)) },
		"Do without": func() error { return Do(ctx, nil, nothing) },
		"Do nothing": func() error { return Do(ctx, client.lock(t, "a").Acquire, nil) },
		"Do nowhere": func() error { return Do(ctx, (*Lock)(nil).Acquire, nothing) },
		"Do as if": func() error {
			return Do(ctx, func(context.Context) (*Hold, error) { return nil, nil }, nothing)
		},
		"Do in no ctx": func() error { return Do(nil, client.lock(t, "a").Acquire, nothing) },
	}
	for _, c := range []*Client{nil, {}} {
		c := c
		calls["Ping"] = func() error { return c.Ping(ctx) }
		calls["CheckHealth"] = func() error { return second(c.CheckHealth(ctx)) }
		calls["ListLocks"] = func() error { return second(c.ListLocks(ctx)) }
		calls["ScanLocks"] = func() error { return second(c.ScanLocks(ctx, "", 1)) }
		calls["ListHistory"] = func() error { return second(c.ListHistory(ctx, "a", time.Minute)) }
		calls["Stats"] = func() error { return second(c.Stats()) }
		calls["StatsEvery"] = func() error { return second(c.StatsEvery(ctx, time.Second)) }
		calls["Log"] = func() error { return second(c.Log(ctx, LogLevelInfo)) }
		calls["LastHealth"] = func() error { return second(c.LastHealth()) }
		calls["SetCredentials"] = func() error { return c.SetCredentials(ctx, "", "x") }
		calls["NewLock"] = func() error { return second(c.NewLock("a")) }
		calls["NewRW"] = func() error { return second(c.NewRW("a", WithReentrant(true))) }
		calls["NewSemaphore"] = func() error { return second(c.NewSemaphore("a", 1)) }
		calls["NewElection"] = func() error { return second(c.NewElection("a")) }
		calls["NewMulti"] = func() error { return second(c.NewMulti()) }
		must(t, c.Close())
		expectInvalid(t, calls)
	}
	// Nothing of all that took the lock.
	hold, err := client.lock(t, "a").Try(ctx)
	must(t, err)
	must(t, hold.Unlock(ctx))
}

func TestNilAndEmptyLocks(t *testing.T) {
	ctx, calls := within(t), map[string]func() error{}
	for _, l := range []*Lock{nil, {}} {
		l := l
		calls["Lock.Acquire"] = func() error { return second(l.Acquire(ctx)) }
		calls["Lock.Try"] = func() error { return second(l.Try(ctx)) }
		calls["Lock.ForceRelease"] = func() error { return l.ForceRelease(ctx, "owner") }
		calls["Lock.Query"] = func() error { return second(l.Query(ctx)) }
		must(t, l.Close())
		if l.IsHeld() || l.Token() != 0 || l.Valid() != 0 {
			t.Error("an empty Lock is held")
		}
		expectInvalid(t, calls)
	}
	for _, rw := range []*RW{nil, {}} {
		rw := rw
		calls["RW.Read"] = func() error { return second(rw.Read(ctx)) }
		calls["RW.TryRead"] = func() error { return second(rw.TryRead(ctx)) }
		calls["RW.Write"] = func() error { return second(rw.Write(ctx)) }
		calls["RW.TryWrite"] = func() error { return second(rw.TryWrite(ctx)) }
		calls["RW.ForceRelease"] = func() error { return rw.ForceRelease(ctx, "owner") }
		calls["RW.Query"] = func() error { return second(rw.Query(ctx)) }
		calls["RW.TryUpgrade"] = func() error { return rw.TryUpgrade(ctx, nil) }
		calls["RW.Downgrade"] = func() error { return rw.Downgrade(ctx, &Hold{}) }
		must(t, rw.Close())
		if rw.IsReading() || rw.IsWriting() || rw.Token() != 0 || rw.Valid() != 0 {
			t.Error("an empty RW is held")
		}
		expectInvalid(t, calls)
	}
}

func TestNilAndEmptySemaphoresElectionsAndMultis(t *testing.T) {
	ctx, calls := within(t), map[string]func() error{}
	for _, s := range []*Semaphore{nil, {}} {
		s := s
		calls["Semaphore.Acquire"] = func() error { return second(s.Acquire(ctx, 1)) }
		calls["Semaphore.Try"] = func() error { return second(s.Try(ctx, 1)) }
		calls["Semaphore.ForceRelease"] = func() error { return s.ForceRelease(ctx, "owner") }
		calls["Semaphore.Query"] = func() error { return second(s.Query(ctx)) }
		calls["Semaphore.Resize"] = func() error { return s.Resize(ctx, 1) }
		must(t, s.Close())
		if s.IsHeld() || s.Token() != 0 || s.Valid() != 0 {
			t.Error("an empty Semaphore is held")
		}
		expectInvalid(t, calls)
	}
	for _, e := range []*Election{nil, {}} {
		e := e
		calls["Election.Campaign"] = func() error { return second(e.Campaign(ctx)) }
		calls["Election.TryCampaign"] = func() error { return second(e.TryCampaign(ctx)) }
		calls["Election.ForceRelease"] = func() error { return e.ForceRelease(ctx, "owner") }
		calls["Election.Query"] = func() error { return second(e.Query(ctx)) }
		calls["Election.Leader"] = func() error { return second(e.Leader(ctx)) }
		calls["Election.Observe"] = func() error { return second(e.Observe(ctx, 0)) }
		must(t, e.Close())
		if e.IsLeader() || e.Token() != 0 || e.Valid() != 0 {
			t.Error("an empty Election leads")
		}
		expectInvalid(t, calls)
	}
	for _, m := range []*Multi{nil, {}} {
		m := m
		calls["Multi.Acquire"] = func() error { return second(m.Acquire(ctx)) }
		calls["Multi.Try"] = func() error { return second(m.Try(ctx)) }
		must(t, m.Close())
		if m.IsHeld() || m.MemberCount() != 0 || m.Valid() != 0 {
			t.Error("an empty Multi is held")
		}
		expectInvalid(t, calls)
	}
}

func TestNilAndEmptyHolds(t *testing.T) {
	ctx, calls := within(t), map[string]func() error{}
	for _, h := range []*Hold{nil, {}} {
		h := h
		calls["Hold.Err"] = h.Err
		calls["Hold.Unlock"] = func() error { return h.Unlock(ctx) }
		calls["Hold.Extend"] = func() error { return h.Extend(ctx, 0) }
		if h.IsHeld() || h.Valid() != 0 || h.Token() != 0 {
			t.Error("an empty Hold is held")
		}
		receive(t, "the context of an empty Hold is over", h.Context().Done())
		bound, cancel := h.Bind(ctx)
		receive(t, "what is bound to an empty Hold is over", bound.Done())
		cancel()
		if isClosed(h.Lost()) || isClosed(h.AtRisk()) {
			t.Error("an empty Hold is lost or at risk")
		}
		expectInvalid(t, calls)
	}
}

// second is the error of a call that also returns a value.
func second(_ any, err error) error { return err }

func expectInvalid(t *testing.T, calls map[string]func() error) {
	t.Helper()
	for what, call := range calls {
		if err := call(); !errors.Is(err, ErrInvalidArgument) {
			t.Errorf("%s: %v", what, err)
		}
		delete(calls, what)
	}
}

func isClosed(channel <-chan struct{}) bool {
	select {
	case <-channel:
		return true
	default:
		return false
	}
}

func TestNilContexts(t *testing.T) {
	client := startServer(t).open(t)
	rw := client.rw(t, "a")
	hold, err := rw.Write(within(t))
	must(t, err)
	//lint:ignore SA1012 nil is the subject of the test
	for what, err := range map[string]error{
		"Extend":  hold.Extend(nil, 0),
		"Upgrade": rw.TryUpgrade(nil, hold),
		"Ping":    client.Ping(nil),
		"Set":     client.SetCredentials(nil, "", "x"),
		"Resize":  client.semaphore(t, "s", 1).Resize(nil, 1),
	} {
		if !errors.Is(err, ErrInvalidArgument) || !strings.Contains(err.Error(), "ctx") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if !rw.IsWriting() {
		t.Fatal("what has no context did something")
	}
	bound, cancel := hold.Bind(nil)
	defer cancel()
	must(t, bound.Err())
	must(t, hold.Unlock(within(t)))
	receive(t, "an unlock ends what is bound", bound.Done())
}

// A copy is the same owner, also when the collector has found the original.
func TestCopiesAreTheSameOwner(t *testing.T) {
	client := startServer(t).open(t)
	copied := *client.lock(t, "a")
	hold, err := copied.Acquire(within(t))
	must(t, err)
	for i := 0; i < 5; i++ {
		runtime.GC()
		must(t, client.Ping(within(t))) // gives finalizers time
	}
	if !copied.IsHeld() || !hold.IsHeld() {
		t.Fatal("the collector freed what a copy uses")
	}
	must(t, hold.Unlock(within(t)))
	_, err = copied.Query(within(t))
	must(t, err)
}
