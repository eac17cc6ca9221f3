package mortise

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestLockExcludes(t *testing.T) {
	client := startServer(t).open(t)
	one, other := client.lock(t, "a"), client.lock(t, "a")
	hold, err := one.Acquire(within(t))
	must(t, err)
	if !hold.IsHeld() || hold.Valid() <= 0 || hold.Token() <= 0 || hold.Err() != nil {
		t.Fatalf("held %v, valid %v, token %d, %v", hold.IsHeld(), hold.Valid(), hold.Token(), hold.Err())
	}
	_, err = other.Try(within(t))
	expect(t, err, ErrNotAcquired)
	_, err = one.Try(within(t))
	expect(t, err, ErrAlreadyHeld)
	must(t, hold.Unlock(within(t)))
	later, err := other.Try(within(t))
	must(t, err)
	if later.Token() <= hold.Token() {
		t.Fatalf("token %d after %d", later.Token(), hold.Token())
	}
	if other.Token() != later.Token() {
		t.Fatalf("the handle's token is %d; its hold's is %d", other.Token(), later.Token())
	}
	must(t, later.Unlock(within(t)))
}

// A hold that was reported as over is not brought back, also in its last millisecond.
func TestNoHoldIsExtendedThatWasOver(t *testing.T) {
	client := startServer(t).open(t)
	lock := client.lock(t, "a", WithLease(60*time.Millisecond), WithRenewal(false))
	for i := 0; i < 10; i++ {
		hold, err := lock.Acquire(within(t))
		must(t, err)
		for hold.IsHeld() {
		}
		expect(t, hold.Extend(within(t), time.Minute), ErrLost)
		_ = hold.Unlock(within(t))
	}
}

func TestUnlockedHoldIsOver(t *testing.T) {
	client := startServer(t).open(t)
	lock := client.lock(t, "a")
	hold, err := lock.Acquire(within(t))
	must(t, err)
	ctx := hold.Context()
	bound, cancel := hold.Bind(within(t))
	defer cancel()
	must(t, hold.Unlock(within(t)))
	receive(t, "an unlock ends the hold's context", ctx.Done())
	receive(t, "an unlock ends a bound context", bound.Done())
	select {
	case <-hold.Lost():
		t.Fatal("an unlocked hold is not lost")
	default:
	}
	if hold.IsHeld() || hold.Valid() != 0 {
		t.Fatal("held after unlock")
	}
	expect(t, hold.Err(), ErrNotOwner)
	expect(t, hold.Unlock(within(t)), ErrNotOwner)
	expect(t, hold.Extend(within(t), time.Minute), ErrNotOwner)
	// The next hold of the handle is none of the first one's business.
	next, err := lock.Acquire(within(t))
	must(t, err)
	expect(t, hold.Unlock(within(t)), ErrNotOwner)
	if hold.IsHeld() || !next.IsHeld() {
		t.Fatal("an old hold speaks for a new one")
	}
}

func TestLostHoldStopsWork(t *testing.T) {
	server := startServer(t)
	client := server.open(t, WithLease(100*time.Millisecond), WithRenewal(false))
	lock := client.lock(t, "a")
	hold, err := lock.Acquire(within(t))
	must(t, err)
	receive(t, "the hold is at risk", hold.AtRisk())
	receive(t, "the hold is lost", hold.Lost())
	receive(t, "the hold's context ends", hold.Context().Done())
	expect(t, hold.Err(), ErrLost)
	if hold.IsHeld() {
		t.Fatal("held after loss")
	}
	// A later hold of the same handle stays untouched by the lost one.
	next, err := client.lock(t, "a", WithLease(time.Minute)).Acquire(within(t))
	must(t, err)
	expect(t, hold.Unlock(within(t)), ErrLost)
	expect(t, hold.Unlock(within(t)), ErrNotOwner)
	must(t, next.Unlock(within(t)))
	first, err := lock.Acquire(within(t))
	must(t, err)
	receive(t, "the hold is lost", first.Lost())
	second, err := lock.Acquire(within(t))
	must(t, err)
	expect(t, first.Unlock(within(t)), ErrLost)
	if first.IsHeld() {
		t.Fatal("a lost hold says that it is held")
	}
	if err := second.Unlock(within(t)); err != nil && !errors.Is(err, ErrLost) {
		t.Fatal(err)
	}
}

func TestHoldThatTheServerLost(t *testing.T) {
	server := startServer(t)
	lock := server.open(t, WithLease(600*time.Millisecond)).lock(t, "a")
	hold, err := lock.Acquire(within(t))
	must(t, err)
	if answer := server.ask(t, "FLUSHALL"); !strings.HasPrefix(answer, "+OK") {
		t.Fatal(answer)
	}
	receive(t, "the renewal finds the hold lost", hold.Lost())
	expect(t, hold.Unlock(within(t)), ErrLost)
}

func TestExtend(t *testing.T) {
	client := startServer(t).open(t)
	hold, err := client.lock(t, "a", WithLease(5*time.Second), WithRenewal(false)).Acquire(within(t))
	must(t, err)
	must(t, hold.Extend(within(t), time.Minute))
	if hold.Valid() < 30*time.Second {
		t.Fatal("valid for ", hold.Valid())
	}
	expect(t, hold.Extend(within(t), time.Millisecond), ErrInvalidArgument)
	expect(t, hold.Extend(within(t), -time.Second), ErrInvalidArgument)
}

func TestReentrant(t *testing.T) {
	client := startServer(t).open(t)
	lock, other := client.lock(t, "a", WithReentrant(true)), client.lock(t, "a")
	outer, err := lock.Acquire(within(t))
	must(t, err)
	inner, err := lock.Acquire(within(t))
	must(t, err)
	if inner.Token() != outer.Token() {
		t.Fatalf("tokens %d and %d of one hold", inner.Token(), outer.Token())
	}
	must(t, inner.Unlock(within(t)))
	expect(t, inner.Unlock(within(t)), ErrNotOwner)
	if inner.IsHeld() || !outer.IsHeld() || outer.Context().Err() != nil {
		t.Fatal("the outer hold ended with the inner one")
	}
	_, err = other.Try(within(t))
	expect(t, err, ErrNotAcquired)
	must(t, outer.Unlock(within(t)))
	receive(t, "the last unlock ends the context", outer.Context().Done())
	hold, err := other.Try(within(t))
	must(t, err)
	must(t, hold.Unlock(within(t)))
}

func TestNamesOfAnyBytes(t *testing.T) {
	server := startServer(t)
	client, otherHandle := server.open(t), server.open(t)
	longest := strings.Repeat("n", 1024)
	names := []string{"\x00", "a\x00b", "a\x00c", "\xff\xfe", "🔒", "{mortise:x}", longest}
	for _, name := range names {
		hold, err := client.lock(t, name).Try(within(t))
		must(t, err)
		_, err = otherHandle.lock(t, name).Try(within(t))
		expect(t, err, ErrNotAcquired)
		must(t, hold.Unlock(within(t)))
	}
	hold, err := client.lock(t, "🔒\x00").Try(within(t))
	must(t, err)
	if answer := server.ask(t, `EXISTS "{mortise:`+"🔒"+`\x00}"`); !strings.HasPrefix(answer, ":1") {
		t.Fatal("the key is not the name's bytes: ", answer)
	}
	must(t, hold.Unlock(within(t)))
}

func TestDo(t *testing.T) {
	client := startServer(t).open(t)
	lock, other := client.lock(t, "a"), client.lock(t, "a")
	isFree := func() {
		t.Helper()
		hold, err := other.Try(within(t))
		must(t, err)
		must(t, hold.Unlock(within(t)))
	}
	must(t, Do(within(t), lock.Acquire, func(ctx context.Context, hold *Hold) error {
		if !hold.IsHeld() || ctx.Err() != nil {
			t.Error("the work is not under the lock")
		}
		return nil
	}))
	isFree()
	mine := errors.New("mine")
	expect(t, Do(within(t), lock.Try, func(context.Context, *Hold) error { return mine }), mine)
	isFree()
	func() {
		defer func() {
			if recover() != mine {
				t.Error("the panic did not come through")
			}
		}()
		_ = Do(within(t), lock.Acquire, func(context.Context, *Hold) error { panic(mine) })
	}()
	isFree()
	brief := client.lock(t, "a", WithLease(100*time.Millisecond), WithRenewal(false))
	expect(t, Do(within(t), brief.Acquire, func(ctx context.Context, hold *Hold) error {
		receive(t, "the loss ends the work's context", ctx.Done())
		return nil
	}), ErrLost)
}

func TestQuery(t *testing.T) {
	client := startServer(t).open(t)
	lock := client.lock(t, "a", WithLabel("holder ☂"), WithFairness(Strict))
	hold, err := lock.Acquire(within(t))
	must(t, err)
	waiter := client.lock(t, "a", WithLabel("waiter"), WithFairness(Strict))
	ctx, cancel := context.WithCancel(within(t))
	ended := make(chan error)
	go func() {
		_, err := waiter.Acquire(ctx)
		ended <- err
	}()
	eventually(t, "one waits", func() bool { return waiters(t, lock) == 1 })
	info, err := lock.Query(within(t))
	must(t, err)
	if !info.IsHeld || !info.IsMine || info.HolderCount != 1 || info.TimeLeft <= 0 ||
		info.LatestToken < hold.Token() || len(info.Holders) != 1 || len(info.Waiters) != 1 {
		t.Fatalf("%+v", info)
	}
	if info.Holders[0].Label != "holder ☂" || info.Holders[0].PID <= 0 ||
		!info.Holders[0].IsExclusive ||
		info.Waiters[0].Label != "waiter" {
		t.Fatalf("%+v", info)
	}
	cancel()
	expect(t, <-ended, ErrCancelled)
}
