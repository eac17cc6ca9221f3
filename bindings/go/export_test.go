package mortise

import (
	"context"
	"sync"
	"testing"
	"time"
)

// Adopt continues a hold whose exporter is over, with its contexts.
func TestAdoptContinuesAnExportedHold(t *testing.T) {
	server := startServer(t)
	client, other := server.open(t), server.open(t)
	exporter, err := client.lock(t, "a").Acquire(within(t))
	must(t, err)
	bound := exporter.Context()
	id, err := exporter.Export(within(t), time.Minute)
	must(t, err)
	receive(t, "the context of the exporter ends", bound.Done())
	if exporter.IsHeld() || exporter.Err() == nil {
		t.Fatal("the exporter goes on")
	}
	expect(t, exporter.Unlock(within(t)), ErrNotOwner)

	lock := other.lock(t, "a")
	adopter, err := lock.Adopt(within(t), id)
	must(t, err)
	if !adopter.IsHeld() || adopter.Token() <= exporter.Token() {
		t.Fatal("the adopter does not hold by a higher token")
	}
	expect(t, only(lock.Adopt(within(t), id)), ErrAlreadyHeld)
	expect(t, only(client.lock(t, "a").Adopt(within(t), id)), ErrNotOwner)
	again, err := adopter.Export(within(t), 0)
	must(t, err)
	adopter, err = lock.Adopt(within(t), again)
	must(t, err)
	must(t, adopter.Unlock(within(t)))
	expect(t, only(lock.Adopt(within(t), id)), ErrNotOwner)
}

// A hold whose replicas still have to acknowledge it is not held, and not over.
func TestFailedExportKeepsAHoldInDoubt(t *testing.T) {
	client := startServer(t).open(t)
	hold, err := client.lock(t, "a").Acquire(within(t))
	must(t, err)
	inDoubt := *held
	inDoubt.isHeld = func(uintptr) int32 { return 0 }
	hold.mode.Store(&inDoubt)
	_, err = hold.Export(within(t), time.Millisecond)
	expect(t, err, ErrInvalidArgument)
	hold.mode.Store(held)
	if err := hold.Err(); err != nil || !hold.IsHeld() || hold.Context().Err() != nil {
		t.Fatal("the failed export has ended the hold: ", err)
	}
	must(t, hold.Unlock(within(t)))
}

// endDuringExport ends a context while C exports.
func endDuringExport(h *handle, end context.CancelFunc) {
	usual := h.kind
	ending := *usual
	ending.export = func(address uintptr, leaseMs int64, details uintptr) uintptr {
		end()
		return usual.export(address, leaseMs, details)
	}
	h.kind = &ending
}

// C ends the hold before the server replies, so the end of the context must not hide the end.
func TestExportWithoutAReplyEndsTheHold(t *testing.T) {
	server := startServer(t)
	client := server.open(t, WithCommandTimeout(time.Second))
	lock := client.lock(t, "a")
	hold, err := lock.Acquire(within(t))
	must(t, err)
	server.ask(t, "CLIENT PAUSE 60000 WRITE")
	ctx, end := context.WithCancel(context.Background())
	endDuringExport(lock.own().core(), end)
	_, err = hold.Export(ctx, time.Minute)
	if err == nil {
		t.Fatal("the export needs no reply")
	}
	if hold.Err() == nil && !hold.IsHeld() {
		t.Fatal("the hold is not held, and not over: ", err)
	}
	expect(t, hold.Err(), ErrNotOwner)
	server.ask(t, "CLIENT UNPAUSE")
}

// A hold that was lost is not exported: its unlock is still to come, without which a reentrant
// handle cannot acquire.
func TestExportOfALostHoldLeavesItsUnlock(t *testing.T) {
	server := startServer(t)
	// Renewed soon, but long enough that a slow machine renews in time.
	lock := server.open(t).lock(t, "a", WithReentrant(true), WithLease(3*time.Second))
	usual := lock.own().core().kind
	losing := *usual
	losing.export = func(address uintptr, leaseMs int64, details uintptr) uintptr {
		server.ask(t, "DEL {mortise:a}")
		eventually(t, "C knows of the loss", func() bool { return usual.deadline(address) == 0 })
		return usual.export(address, leaseMs, details)
	}
	lock.own().core().kind = &losing
	for lease, expected := range map[time.Duration]Status{
		time.Minute: ErrLost, time.Millisecond: ErrInvalidArgument,
	} {
		hold, err := lock.Acquire(within(t))
		must(t, err)
		_, err = hold.Export(within(t), lease)
		expect(t, err, expected)
		receive(t, "the loss", hold.Lost())
		expect(t, hold.Err(), ErrLost)
		expect(t, hold.Unlock(within(t)), ErrLost)
	}
	hold, err := lock.Acquire(within(t))
	must(t, err)
	must(t, hold.Unlock(within(t)))
}

// An export that waits for other calls does not end a hold that begins meanwhile.
func TestLateExportLeavesTheNextHold(t *testing.T) {
	client := startServer(t).open(t)
	lock := client.lock(t, "a")
	hold, err := lock.Acquire(within(t))
	must(t, err)
	for i := 0; i < blockingCalls; i++ {
		client.engine.slots <- struct{}{}
	}
	exported := make(chan error, 1)
	go func() {
		_, err := hold.Export(within(t), time.Minute)
		exported <- err
	}()
	time.Sleep(100 * time.Millisecond) // so that the export waits for a slot
	must(t, hold.Unlock(within(t)))
	next, err := lock.Acquire(within(t))
	must(t, err)
	for i := 0; i < blockingCalls; i++ {
		<-client.engine.slots
	}
	expect(t, <-exported, ErrNotOwner)
	if !next.IsHeld() || next.Err() != nil {
		t.Fatal("the export has ended the next hold: ", next.Err())
	}
	must(t, next.Unlock(within(t)))
}

// A hold by a writer is adopted as one, and can be changed.
func TestAdoptOfAReadWriteLockKeepsItsMode(t *testing.T) {
	client := startServer(t).open(t)
	rw := client.rw(t, "a")
	for _, acquire := range []func(context.Context) (*Hold, error){rw.Read, rw.Write} {
		hold, err := acquire(within(t))
		must(t, err)
		wasWriting := rw.IsWriting()
		id, err := hold.Export(within(t), time.Minute)
		must(t, err)
		adopted, err := rw.Adopt(within(t), id)
		must(t, err)
		if rw.IsWriting() != wasWriting {
			t.Fatal("the mode has changed")
		}
		if wasWriting {
			must(t, rw.Downgrade(within(t), adopted))
		}
		must(t, adopted.Unlock(within(t)))
	}
}

func TestWrongIDsAreRefused(t *testing.T) {
	client := startServer(t).open(t)
	lock := client.lock(t, "a")
	expect(t, only(lock.Adopt(within(t), "no id")), ErrInvalidArgument)
	expect(t, only(client.rw(t, "a").Adopt(within(t), "no id")), ErrInvalidArgument)
	hold, err := lock.Acquire(within(t))
	must(t, err)
	_, err = hold.Export(within(t), -time.Second)
	expect(t, err, ErrInvalidArgument)
	_, err = hold.Export(within(t), time.Millisecond)
	expect(t, err, ErrInvalidArgument)
	if !hold.IsHeld() {
		t.Fatal("a wrong argument has ended the hold")
	}
	must(t, hold.Unlock(within(t)))
	multi, err := client.NewMulti(lock)
	must(t, err)
	all, err := multi.Acquire(within(t))
	must(t, err)
	_, err = all.Export(within(t), time.Minute)
	expect(t, err, ErrUnsupported)
	must(t, all.Unlock(within(t)))
}

// A listener sees the end of the exporter's hold, and an adoption as a wait.
func TestAListenerFollowsAnAdoption(t *testing.T) {
	received := newRecorder()
	client := startServer(t).open(t, WithListener(received))
	lock := client.lock(t, "a")
	hold, err := lock.Acquire(within(t))
	must(t, err)
	id, err := hold.Export(within(t), time.Minute)
	must(t, err)
	received.expect(t, "wait mutex a", "granted a", "ended a")
	hold, err = lock.Adopt(within(t), id)
	must(t, err)
	must(t, hold.Unlock(within(t)))
	received.expect(t, "wait mutex a", "granted a", "ended a")
}

// The end of the context cancels the adoption, and not the acquire after it.
func TestTheEndOfAnAdoptionLeavesTheNextAcquire(t *testing.T) {
	server := startServer(t)
	client, other := server.open(t), server.open(t)
	hold, err := other.lock(t, "a").Acquire(within(t))
	must(t, err)
	lock := client.lock(t, "a")
	ctx, end := context.WithCancel(context.Background())
	cancels := make(chan struct{})
	var once sync.Once
	// The context ends during the adoption, and the cancel is slow.
	usual := lock.own().core().kind
	slow := *usual
	slow.adopt = func(address uintptr, id string, details uintptr) int32 {
		end()
		<-cancels
		return usual.adopt(address, id, details)
	}
	slow.cancel = func(address, details uintptr) int32 {
		once.Do(func() { close(cancels) })
		time.Sleep(100 * time.Millisecond)
		return usual.cancel(address, details)
	}
	lock.own().core().kind = &slow
	expect(t, only(lock.Adopt(ctx, "no id")), ErrInvalidArgument)
	lock.own().core().kind = usual
	go func() {
		time.Sleep(300 * time.Millisecond)
		_ = hold.Unlock(context.Background())
	}()
	next, err := lock.Acquire(within(t))
	must(t, err)
	must(t, next.Unlock(within(t)))
}

// The deadline also ends the wait for other calls that keep a thread.
func TestAdoptDuringManyCallsEndsWithItsContext(t *testing.T) {
	server := startServer(t)
	client := server.open(t, WithCommandTimeout(patience))
	lock := client.lock(t, "a")
	hold, err := lock.Acquire(within(t))
	must(t, err)
	id, err := hold.Export(within(t), time.Minute)
	must(t, err)
	server.control(t, "pause")
	var group sync.WaitGroup
	for i := 0; i < blockingCalls; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			_, _ = lock.Query(within(t))
		}()
	}
	eventually(t, "all slots are taken", func() bool {
		return len(client.engine.slots) == blockingCalls
	})
	brief, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- only(lock.Adopt(brief, id)) }()
	select {
	case err := <-ended:
		expect(t, err, ErrTimedOut)
	case <-time.After(patience / 2):
		t.Fatal("it waits for the other calls")
	}
	server.control(t, "resume")
	group.Wait()
	adopted, err := lock.Adopt(within(t), id)
	must(t, err)
	must(t, adopted.Unlock(within(t)))
}
