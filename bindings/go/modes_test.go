package mortise

import (
	"context"
	"errors"
	"testing"
	"time"
)

// A change of mode whose reply was not awaited: the unlock after it has to end the hold all the
// same, in either mode.
func TestUnlockAfterAChangeWithoutAnAnswer(t *testing.T) {
	server := startServer(t)
	client, otherHandle := server.open(t), server.open(t)
	over, end := context.WithCancel(context.Background())
	end()
	for what, change := range map[string]struct {
		acquire func(*RW, context.Context) (*Hold, error)
		to      func(*RW, context.Context, *Hold) error
	}{
		"upgrade":   {(*RW).Read, (*RW).TryUpgrade},
		"downgrade": {(*RW).Write, (*RW).Downgrade},
	} {
		for _, ctx := range []context.Context{context.Background(), over} {
			rw := client.rw(t, "a")
			hold, err := change.acquire(rw, within(t))
			must(t, err)
			server.control(t, "pause")
			brief, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
			expect(t, change.to(rw, brief, hold), ErrTimedOut)
			cancel()
			if !hold.IsHeld() {
				t.Fatalf("the %s ended the hold", what)
			}
			unlocked := make(chan error)
			go func() { unlocked <- hold.Unlock(ctx) }()
			if ctx == over { // it is released although no caller waits for that
				expect(t, <-unlocked, ErrCancelled)
				server.control(t, "resume")
			} else {
				server.control(t, "resume")
				must(t, <-unlocked)
			}
			next, err := otherHandle.rw(t, "a").Write(within(t))
			must(t, err)
			if rw.IsReading() || rw.IsWriting() {
				t.Fatalf("held after the unlock after the %s", what)
			}
			must(t, next.Unlock(within(t)))
		}
	}
}

// From the call on it only reads, also under a context that is over.
func TestDowngradeInAnyCase(t *testing.T) {
	client := startServer(t).open(t)
	rw := client.rw(t, "a")
	hold, err := rw.Write(within(t))
	must(t, err)
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if err := rw.Downgrade(over, hold); err != nil { // the reply may come first
		expect(t, err, ErrCancelled)
	}
	if !rw.IsReading() || rw.IsWriting() || !hold.IsHeld() {
		t.Fatal("it does not read")
	}
	reader, err := client.rw(t, "a").Read(within(t))
	must(t, err)
	must(t, reader.Unlock(within(t)))
	must(t, hold.Unlock(within(t)))
}

func TestConcurrentUpgrades(t *testing.T) {
	client := startServer(t).open(t)
	rw := client.rw(t, "a")
	for i := 0; i < 100; i++ {
		hold, err := rw.Read(within(t))
		must(t, err)
		upgraded := make(chan error)
		go func() { upgraded <- rw.TryUpgrade(within(t), hold) }()
		if i%2 == 0 && !hold.IsHeld() {
			t.Fatal("not held during an upgrade")
		}
		must(t, hold.Unlock(within(t))) // before, during or after it
		if err := <-upgraded; err != nil && !errors.Is(err, ErrNotOwner) && !errors.Is(err, ErrBusy) {
			t.Fatal(err) // otherwise the unlock came first
		}
		if rw.IsReading() || rw.IsWriting() {
			t.Fatal("held after the unlock")
		}
	}
}

// A handle reports its hold, also as a member, where it has no Hold.
func TestHandlesKnowWhatTheyHold(t *testing.T) {
	client := startServer(t).open(t)
	lock, reader, writer := client.lock(t, "a"), client.rw(t, "b"), client.rw(t, "c")
	semaphore := client.semaphore(t, "d", 3)
	all, err := client.NewMulti(
		lock, reader.ForRead(), writer.ForWrite(), semaphore.ForPermits(2))
	must(t, err)
	if all.MemberCount() != 4 {
		t.Fatalf("%d members of 4", all.MemberCount())
	}
	expectHeld := func(expected bool) {
		t.Helper()
		for i, is := range []bool{
			lock.IsHeld(), reader.IsReading(), writer.IsWriting(), semaphore.IsHeld(), all.IsHeld(),
			lock.Valid() > 0, reader.Valid() > 0, writer.Valid() > 0, semaphore.Valid() > 0, all.Valid() > 0,
		} {
			if is != expected {
				t.Errorf("number %d: held %v; want %v", i, is, expected)
			}
		}
	}
	expectHeld(false)
	hold, err := all.Acquire(within(t))
	must(t, err)
	expectHeld(true)
	if reader.IsWriting() || writer.IsReading() {
		t.Error("held in the other mode")
	}
	must(t, hold.Unlock(within(t)))
	expectHeld(false)
}
