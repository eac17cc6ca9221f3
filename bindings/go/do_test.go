package mortise

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// brief is a lock whose hold is lost after 100 ms.
func (c *Client) brief(t testing.TB, name string) *Lock {
	return c.lock(t, name, WithLease(100*time.Millisecond), WithRenewal(false))
}

type mishap struct{ text string }

func (m *mishap) Error() string { return m.text }

// Work that heeds its context ends with the context's error: that must not hide the loss.
func TestDoTellsTheLossBesideTheError(t *testing.T) {
	client := startServer(t).open(t)
	lock := client.brief(t, "a")
	untilLost := func(err error) error {
		return Do(within(t), lock.Acquire, func(ctx context.Context, hold *Hold) error {
			receive(t, "the loss ends the work's context", ctx.Done())
			if err == nil {
				return ctx.Err()
			}
			return err
		})
	}
	err := untilLost(nil)
	expect(t, err, ErrLost)
	expect(t, err, context.Canceled)

	err = untilLost(fmt.Errorf("wrapped: %w", &mishap{"mine"}))
	expect(t, err, ErrLost)
	var own *mishap
	if !errors.As(err, &own) || own.text != "mine" {
		t.Fatal("the work's error is not in ", err)
	}

	err = untilLost(failure(ErrRefused, "another lock"))
	expect(t, err, ErrRefused)
	var status Status
	if !errors.As(err, &status) || status != ErrLost {
		t.Fatal("the status is ", status)
	}
	var plain *Error
	if !errors.As(failure(ErrRefused, ""), &plain) || errors.As(plain, &own) {
		t.Fatal("an error without a cause has one")
	}

	lost := failure(ErrLost, "as the work says")
	if err = untilLost(lost); err != error(lost) {
		t.Fatal("an error that tells the loss was replaced by ", err)
	}
}

// The end of the hold ends the work's context, but not the wait for the unlock's reply.
func TestDoAfterTheWorkHasUnlocked(t *testing.T) {
	client := startServer(t).open(t)
	outer, inner := client.lock(t, "a"), client.lock(t, "b")
	for i := 0; i < 100; i++ {
		must(t, Do(within(t), outer.Acquire, func(ctx context.Context, first *Hold) error {
			return Do(ctx, inner.Acquire, func(ctx context.Context, second *Hold) error {
				must(t, second.Unlock(ctx))
				return first.Unlock(ctx)
			})
		}))
	}
}

// The work was alone, and the hold ends by itself, also without a message.
func TestDoIsContentWithAnUnlockOfUnknownOutcome(t *testing.T) {
	server := startServer(t)
	client := server.open(t, WithCommandTimeout(time.Second))
	mine := errors.New("mine")
	for _, want := range []error{nil, mine} {
		got := Do(within(t), client.lock(t, "a").Acquire, func(context.Context, *Hold) error {
			server.control(t, "pause")
			return want
		})
		server.control(t, "resume")
		if got != want {
			t.Fatal("the work ended with ", want, ", Do with ", got)
		}
	}
}

// The end of the caller's context ends the work, and not the wait for the unlock's reply.
func TestDoUnlocksUnderAContextOfItsOwn(t *testing.T) {
	server := startServer(t)
	client := server.open(t)
	ctx, cancel := context.WithCancel(within(t))
	lock := client.lock(t, "a")
	resumed := make(chan struct{})
	must(t, Do(ctx, lock.Acquire, func(context.Context, *Hold) error {
		cancel()
		server.control(t, "pause")
		time.AfterFunc(100*time.Millisecond, func() {
			defer close(resumed)
			server.control(t, "resume")
		})
		return nil
	}))
	<-resumed
	if answer := server.ask(t, "EXISTS {mortise:a}"); !strings.HasPrefix(answer, ":0") {
		t.Fatal("the lock was not given back: ", answer)
	}
}

// The work's context has the values and the end of the caller's.
func TestDoIsUnderTheCallersContext(t *testing.T) {
	client := startServer(t).open(t)
	type key struct{}
	outer, cancel := context.WithCancel(context.WithValue(within(t), key{}, "value"))
	expect(t, Do(outer, client.lock(t, "a").Acquire, func(ctx context.Context, hold *Hold) error {
		if ctx.Value(key{}) != "value" {
			t.Error("the caller's values are gone")
		}
		if _, has := ctx.Deadline(); !has {
			t.Error("the caller's deadline is gone")
		}
		cancel()
		receive(t, "the caller ends the work", ctx.Done())
		if !hold.IsHeld() || hold.Context().Err() != nil {
			t.Error("the end of the caller's context ended the hold")
		}
		return ctx.Err()
	}), context.Canceled)
	hold, err := client.lock(t, "a").Try(within(t))
	must(t, err)
	must(t, hold.Unlock(within(t)))
}

func TestHoldSaysWhyItEnded(t *testing.T) {
	client := startServer(t).open(t)
	hold, err := client.brief(t, "a").Acquire(within(t))
	must(t, err)
	receive(t, "the hold is lost", hold.Lost())
	expect(t, hold.Unlock(within(t)), ErrLost)
	expect(t, hold.Err(), ErrLost) // not because of the unlock
	expect(t, hold.Unlock(within(t)), ErrNotOwner)
	expect(t, hold.Err(), ErrLost)
}

// After the report of a loss the lock can be used at once.
func TestLossListenerCallsBack(t *testing.T) {
	client := startServer(t).open(t)
	// Long enough that a slow machine unlocks the second hold before its end.
	lock := client.lock(t, "a", WithLease(2*time.Second), WithRenewal(false))
	hold, err := lock.Acquire(within(t))
	must(t, err)
	ended := make(chan error, 1)
	go func() {
		<-hold.Lost()
		if err := hold.Unlock(within(t)); !errors.Is(err, ErrLost) {
			ended <- err
			return
		}
		_, err := lock.Query(within(t))
		if err == nil {
			hold, err = lock.Acquire(within(t))
		}
		if err == nil {
			err = hold.Unlock(within(t))
		}
		ended <- err
	}()
	must(t, <-ended)
}
