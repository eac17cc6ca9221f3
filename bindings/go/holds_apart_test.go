package mortise

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/mortise/mortise-go/internal/swig"
)

// readers are two of one client, of which the first reads on, so that the second's holds have its
// token.
func readers(t *testing.T, client *Client, maxHold time.Duration) (kept *Hold, rw *RW) {
	t.Helper()
	kept, err := client.rw(t, "a").Read(within(t))
	must(t, err)
	return kept, client.rw(t, "a", WithMaxHold(maxHold))
}

// untilOver waits until the clock has passed the end, which is before any report.
func untilOver(rw *RW) {
	for rw.IsReading() {
		runtime.Gosched()
	}
}

func TestLostHoldStaysLostWhenItsHandleReadsAgain(t *testing.T) {
	server := startServer(t)
	// Longer than any machine stalls, because the next hold has to last until it is looked at.
	kept, rw := readers(t, server.open(t), 4*time.Second)
	lost, err := rw.Read(within(t))
	must(t, err)
	ctx := lost.Context()
	untilOver(rw)
	next, err := rw.Read(within(t))
	must(t, err)
	if next.Token() != lost.Token() || next.Token() != kept.Token() {
		t.Fatal("the tokens differ: ", kept.Token(), lost.Token(), next.Token())
	}
	receive(t, "the loss ends the context", ctx.Done())
	if lost.IsHeld() || lost.Valid() != 0 {
		t.Fatal("a lost hold is held again")
	}
	expect(t, lost.Err(), ErrLost)
	expect(t, lost.Extend(within(t), 0), ErrLost)
	expect(t, rw.TryUpgrade(within(t), lost), ErrLost)
	expect(t, rw.Downgrade(within(t), lost), ErrLost)
	expect(t, lost.Unlock(within(t)), ErrLost)
	expect(t, lost.Unlock(within(t)), ErrNotOwner)
	expect(t, lost.Err(), ErrLost)
	must(t, kept.Unlock(within(t)))
	_, err = server.open(t).rw(t, "a").TryWrite(within(t))
	expect(t, err, ErrNotAcquired)
	if !next.IsHeld() {
		t.Fatal("the end of a lost hold ended the next")
	}
	must(t, next.Unlock(within(t)))
}

// The next read begins before the loss is reported. Each of the two gets its own loss.
func TestEachLossIsReported(t *testing.T) {
	client := startServer(t).open(t)
	kept, rw := readers(t, client, 50*time.Millisecond)
	for i := 0; i < 30; i++ {
		hold, err := rw.Read(within(t))
		must(t, err)
		ctx := hold.Context()
		untilOver(rw)
		next, err := rw.Read(within(t))
		must(t, err)
		if hold.IsHeld() || hold.Valid() != 0 {
			t.Fatal("a lost hold is held again")
		}
		receive(t, "the loss ends the context", ctx.Done())
		receive(t, "the loss is told", hold.Lost())
		receive(t, "the risk is told", hold.AtRisk())
		expect(t, hold.Err(), ErrLost)
		// Before Go 1.20 no context has a cause.
		ended, cancel := withCause(context.Background())
		cancel(ErrLost)
		expect(t, causeOf(ctx), causeOf(ended))
		expect(t, hold.Unlock(within(t)), ErrLost)
		receive(t, "the next loss is told", next.Lost())
		expect(t, next.Err(), ErrLost)
		expect(t, next.Unlock(within(t)), ErrLost)
	}
	if !kept.IsHeld() {
		t.Fatal("the other reader lost its hold")
	}
	must(t, kept.Unlock(within(t)))
}

// A Hold asks C, and does not take a later hold of the handle for its own, even before the event of
// that hold.
func TestHoldKnowsALaterOneBeforeItsEvent(t *testing.T) {
	client := startServer(t).open(t)
	rw := client.rw(t, "a")
	hold, err := rw.Read(within(t))
	must(t, err)
	h := rw.owner.handle
	address, err := h.enter()
	must(t, err)
	defer h.leave()
	must(t, checked(func(details uintptr) int32 { return swig.Rw_read_unlock(address, details) }))
	must(t, checked(func(details uintptr) int32 { return swig.Rw_read_try(address, details) }))
	if !rw.IsReading() || hold.Err() != nil {
		t.Fatal("the handle does not read, or the hold was told")
	}
	if hold.IsHeld() || hold.Valid() != 0 {
		t.Fatal("a later hold was taken for this one")
	}
	expect(t, hold.Extend(within(t), 0), ErrLost)
	expect(t, h.extend(within(t), 0, hold.term.number), ErrLost)
	expect(t, rw.TryUpgrade(within(t), hold), ErrLost)
	ctx := hold.Context()
	expect(t, hold.Unlock(within(t)), ErrLost)
	receive(t, "the context ends", ctx.Done())
	receive(t, "the loss is told", hold.Lost())
	expect(t, hold.Err(), ErrLost)
	if !rw.IsReading() {
		t.Fatal("the unlock ended a later hold")
	}
}

// A member of a multi that was lost and has a hold of its own is no longer a part of the multi's.
func TestLostMemberIsNoPartOfItsMulti(t *testing.T) {
	client := startServer(t).open(t)
	kept, brief := readers(t, client, 4*time.Second)
	all, err := client.NewMulti(brief.ForRead(), client.lock(t, "b"))
	must(t, err)
	hold, err := all.Acquire(within(t))
	must(t, err)
	untilOver(brief)
	own, err := brief.Read(within(t))
	must(t, err)
	receive(t, "the multi is lost", hold.Lost())
	expect(t, hold.Err(), ErrLost)
	expect(t, hold.Unlock(within(t)), ErrLost)
	if !own.IsHeld() || own.Err() != nil {
		t.Fatal("the unlock of the multi ended a later hold of its member: ", own.Err())
	}
	must(t, own.Unlock(within(t)))
	must(t, kept.Unlock(within(t)))
}

// An event of a member that comes before the grant of its multi ends the multi's hold, too.
func TestEarlyNewsOfAMember(t *testing.T) {
	client := startServer(t).open(t)
	lock := client.lock(t, "a")
	all, err := client.NewMulti(lock)
	must(t, err)
	lock.owner.handle.notice(eventAtRisk, event{number: 1})
	lock.owner.handle.notice(eventLost, event{number: 1})
	hold, err := all.Acquire(within(t))
	must(t, err)
	receive(t, "the risk is known", hold.AtRisk())
	receive(t, "the loss is known", hold.Lost())
	must(t, all.Close())
}

// The close of a member also ends a hold of its multi that is noted only afterwards.
func TestEarlyEndOfAMember(t *testing.T) {
	part, all := newTerm(1, 1), newTerm(0, 1)
	part.end(handleClosed())
	part.joins(all)
	if over := all.reason(); over == nil || over.Status != ErrClosed {
		t.Fatal(over)
	}
}

// Failed attempts of a multi leave notices in its members, up to a limit.
func TestEarlyNewsAreBounded(t *testing.T) {
	h := startServer(t).open(t).lock(t, "a").owner.handle
	const last = 10 * mostEarly
	for number := int64(1); number <= last; number++ {
		h.notice(eventContended, event{number: number})
	}
	if len(h.early) > mostEarly {
		t.Fatal("the handle keeps too many notices: ", len(h.early))
	}
	receive(t, "the last is kept", h.grant(1, last).when(contentionOf))
}

// The contexts of a hold are over before another owner holds. Here the unlock returns after that.
func TestContextIsOverBeforeTheNextHold(t *testing.T) {
	server := startServer(t)
	locks := [2]*Lock{server.open(t).lock(t, "a"), server.open(t).lock(t, "a")}
	hold, err := locks[0].Acquire(within(t))
	must(t, err)
	for i := 1; i <= 300; i++ {
		ctx := hold.Context()
		bound, cancel := hold.Bind(context.Background())
		next := make(chan *Hold)
		isGranted := make(chan struct{})
		go func() {
			next <- func() *Hold {
				defer close(isGranted)
				later, err := locks[i%2].Acquire(within(t))
				if err != nil {
					t.Error(err)
				} else if ctx.Err() == nil || bound.Err() == nil {
					t.Errorf("handover %d: the next holds while the context lives", i)
				}
				return later
			}()
		}()
		hold.mode.Store(&mode{isHeld: swig.Lock_is_held,
			unlock: func(address, queue uintptr, tag, number int64, details uintptr) int32 {
				defer receive(t, "the next holds", isGranted)
				return swig.Lock_unlock_hold_async(address, queue, tag, number, details)
			}})
		must(t, hold.Unlock(within(t)))
		cancel()
		if hold = <-next; hold == nil || t.Failed() {
			t.FailNow()
		}
	}
	must(t, hold.Unlock(within(t)))
}

// An unlock that C did not take has ended the Hold all the same, and can be repeated.
func TestUnlockAfterARefusedOne(t *testing.T) {
	client := startServer(t).open(t)
	lock := client.lock(t, "a")
	for _, status := range []Status{ErrBusy, ErrLimit, ErrNoMemory} {
		hold, err := lock.Acquire(within(t))
		must(t, err)
		hold.mode.Store(&mode{isHeld: swig.Lock_is_held,
			unlock: func(_, _ uintptr, _, _ int64, _ uintptr) int32 { return int32(status) }})
		for i := 0; i < 2; i++ {
			expect(t, hold.Unlock(within(t)), status)
			receive(t, "the context is over", hold.Context().Done())
			expect(t, hold.Err(), ErrNotOwner)
			if hold.IsHeld() || !lock.IsHeld() {
				t.Fatal("the Hold goes on, or the lock was given back")
			}
		}
		hold.mode.Store(held)
		must(t, hold.Unlock(within(t)))
		expect(t, hold.Unlock(within(t)), ErrNotOwner)
		if lock.IsHeld() {
			t.Fatal("the lock was not given back")
		}
	}
}
