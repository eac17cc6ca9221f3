package mortise

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mortise/mortise-go/internal/swig"
)

func TestWaitEndsWithItsContext(t *testing.T) {
	client := startServer(t).open(t, WithFairness(Strict))
	hold, err := client.lock(t, "a").Acquire(within(t))
	must(t, err)
	lock := client.lock(t, "a")

	short, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	_, err = lock.Acquire(short)
	expect(t, err, ErrTimedOut)
	expect(t, err, context.DeadlineExceeded)
	// In the millisecond that is left for it a busy server may not have answered.
	if _, err = lock.Acquire(short); !errors.Is(err, ErrUnknown) {
		expect(t, err, ErrTimedOut)
	}

	for _, deadline := range []time.Duration{0, patience, 1000 * 24 * time.Hour} {
		ctx, cancel := context.WithCancel(context.Background())
		if deadline != 0 {
			ctx, cancel = context.WithTimeout(context.Background(), deadline)
		}
		ended := make(chan error)
		go func() {
			_, err := lock.Acquire(ctx)
			ended <- err
		}()
		eventually(t, "it waits", func() bool { return waiters(t, lock) == 1 })
		_, err = lock.Try(within(t))
		expect(t, err, ErrBusy)
		cancel()
		err = <-ended
		expect(t, err, ErrCancelled)
		expect(t, err, context.Canceled)
	}

	// Nothing of that stays: the handle can be used again at once.
	must(t, hold.Unlock(within(t)))
	again, err := lock.Acquire(within(t))
	must(t, err)
	must(t, again.Unlock(within(t)))
}

// A grant that races the end of the context is either given to the caller or given back.
func TestCancelledGrantIsGivenBack(t *testing.T) {
	client := startServer(t).open(t)
	lock, other := client.lock(t, "a"), client.lock(t, "a")
	given, late, cancelled := 0, 0, 0
	for i := 0; i < 400; i++ {
		blocker, err := other.Acquire(within(t))
		must(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error)
		go func() {
			hold, err := lock.Acquire(ctx)
			if err == nil {
				err = hold.Unlock(context.Background())
				given++
			}
			ended <- err
		}()
		time.AfterFunc(time.Duration(i%200)*time.Microsecond, cancel)
		must(t, blocker.Unlock(within(t)))
		var failed *Error
		if err := <-ended; errors.As(err, &failed) {
			expect(t, err, ErrCancelled)
			cancelled++
			if strings.Contains(failed.Message, "granted too late") {
				late++
			}
		} else {
			must(t, err)
		}
		if lock.owner.handle.term != nil {
			t.Fatal("a grant that nobody has is kept")
		}
	}
	t.Logf("%d given, %d cancelled, %d of these after the grant", given, cancelled, late)
	// What was given back last may still be on its way.
	hold, err := other.Acquire(within(t))
	must(t, err)
	must(t, hold.Unlock(within(t)))
}

// The same without chance: the context ends between the grant and its event, in the first attempt,
// which does not wait, or in the second.
func TestGrantAfterTheEndIsGivenBack(t *testing.T) {
	client := startServer(t).open(t)
	lock, other := client.lock(t, "a"), client.lock(t, "a")
	late := func(ctx context.Context, end func()) submission {
		return func(address, queue uintptr, tag, timeoutMs int64, details uintptr) int32 {
			defer receive(t, "the context ends", ctx.Done())
			defer end()
			defer eventually(t, "it is granted", func() bool { return swig.Lock_is_held(address) != 0 })
			return swig.Lock_acquire_async(address, queue, tag, timeoutMs, details)
		}
	}
	for _, isTrial := range []bool{true, false} {
		for _, reason := range []Status{ErrCancelled, ErrTimedOut} {
			// Long enough for a grant, also on a busy machine.
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			end := cancel
			if reason == ErrTimedOut {
				end = func() {}
			}
			try, wait := submission(nil), late(ctx, end)
			if isTrial {
				try, wait = wait, swig.Lock_acquire_async
			}
			_, err := lock.owner.acquire(ctx, held, try, wait)
			cancel()
			expect(t, err, reason)
			if !strings.Contains(err.Error(), "granted too late") {
				t.Fatal("it was not granted: ", err)
			}
			hold, err := other.Try(within(t))
			must(t, err)
			must(t, hold.Unlock(within(t)))
		}
	}
}

// The interruption ends the first attempt, and is over before the second.
func TestShortInterruptionEndsTheWait(t *testing.T) {
	client := startServer(t).open(t, WithFairness(Strict))
	blocker, err := client.lock(t, "a").Acquire(within(t))
	must(t, err)
	lock := client.lock(t, "a")
	interrupted := func(address, queue uintptr, tag, timeoutMs int64, details uintptr) int32 {
		defer func() { must(t, lock.Interrupt(false)) }()
		defer func() { must(t, lock.Interrupt(true)) }()
		return swig.Lock_acquire_async(address, queue, tag, timeoutMs, details)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, err = lock.owner.acquire(ctx, held, interrupted, swig.Lock_acquire_async)
	expect(t, err, ErrCancelled)
	must(t, blocker.Unlock(within(t)))
}

// The event of a loss is not missed when it comes before that of the grant.
func TestLossBeforeTheGrantIsKnown(t *testing.T) {
	client := startServer(t).open(t)
	lock := client.lock(t, "a")
	hold, err := lock.Acquire(within(t))
	must(t, err)
	must(t, hold.Unlock(within(t)))
	lock.owner.handle.notice(eventAtRisk, event{number: 2})
	lock.owner.handle.notice(eventLost, event{number: 2})
	later := lock.owner.handle.grant(hold.Token(), 2)
	receive(t, "the loss is known", later.whenLost())
	receive(t, "the risk is known", later.when(riskOf))
	if next := lock.owner.handle.grant(hold.Token(), 3); next.reason() != nil {
		t.Fatal("a later hold is lost with an earlier one")
	}
}

func TestUnlockWithoutTime(t *testing.T) {
	client := startServer(t).open(t)
	hold, err := client.lock(t, "a").Acquire(within(t))
	must(t, err)
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if err := hold.Unlock(over); err != nil { // the reply may come first
		expect(t, err, ErrCancelled)
	}
	next, err := client.lock(t, "a").Acquire(within(t))
	must(t, err)
	must(t, next.Unlock(within(t)))
}

// After an unlock whose reply was not awaited, the handle can be used as if it had been answered;
// also that of a member, or of the multi of a member.
func TestAcquireAfterAnUnlockWithoutTime(t *testing.T) {
	server := startServer(t)
	client := server.open(t)
	lock := client.lock(t, "a")
	all, err := client.NewMulti(lock)
	must(t, err)
	over, cancel := context.WithCancel(context.Background())
	cancel()
	type acquire func(context.Context) (*Hold, error)
	for _, calls := range [][2]acquire{
		{lock.Acquire, lock.Acquire}, {lock.Acquire, lock.Try},
		{all.Acquire, lock.Try}, {lock.Acquire, all.Try},
	} {
		hold, err := calls[0](within(t))
		must(t, err)
		server.control(t, "pause")
		expect(t, hold.Unlock(over), ErrCancelled)
		brief, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		_, err = calls[1](brief)
		cancel()
		expect(t, err, ErrTimedOut)
		server.control(t, "resume")
		next, err := calls[1](within(t))
		must(t, err)
		must(t, next.Unlock(within(t)))
	}
}

func TestStoppedServerKeepsNobody(t *testing.T) {
	server := startServer(t)
	client := server.open(t, WithCommandTimeout(10*time.Second))
	lock := client.lock(t, "a")
	server.control(t, "pause")
	defer server.control(t, "resume")
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if _, err := lock.Acquire(ctx); err == nil {
		t.Fatal("acquired from a stopped server")
	}
	expect(t, client.Ping(ctx), ErrTimedOut)
	_, err := lock.Query(ctx)
	expect(t, err, ErrTimedOut)
	if took := time.Since(begun); took > 8*time.Second {
		t.Fatal("a context of 50 ms ended after ", took)
	}
}
