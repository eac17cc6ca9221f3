package mortise

import (
	"bytes"
	"context"
	"errors"
	"log"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// recorder receives everything as text.
type recorder struct{ received chan string }

type recordedWait struct {
	recorder
	name string
}

func newRecorder() recorder { return recorder{make(chan string, 100)} }

func (r recorder) BeginWait(_ context.Context, name string, kind LockKind) WaitListener {
	r.received <- "wait " + string(kind) + " " + name
	return recordedWait{r, name}
}

func (r recordedWait) Granted(token int64) HoldListener {
	if token == 0 {
		r.received <- "granted " + r.name + " without a token"
	} else {
		r.received <- "granted " + r.name
	}
	return r
}

func (r recordedWait) Failed(err error) { r.add("failed", err) }

func (r recordedWait) Changed(kind LockKind, token int64) {
	r.received <- "changed " + string(kind) + " " + r.name
}

func (r recordedWait) Ended(err error) { r.add("ended", err) }

func (r recordedWait) add(what string, err error) {
	var status Status
	if errors.As(err, &status) {
		what += " " + strings.TrimPrefix(status.Error(), "mortise: ")
	}
	var failed *Error
	if errors.As(err, &failed) && failed.Status == ErrLost && failed.Reason == ServerLost {
		what += " at the server"
	}
	r.received <- what + " " + r.name
}

func (r recorder) expect(t *testing.T, lines ...string) {
	t.Helper()
	for _, line := range lines {
		select {
		case got := <-r.received:
			if got != line {
				t.Fatalf("received %q, not %q", got, line)
			}
		case <-within(t).Done():
			t.Fatalf("never came: %q", line)
		}
	}
}

func (r recorder) expectNoMore(t *testing.T) {
	t.Helper()
	if len(r.received) > 0 {
		t.Fatalf("also received %q", <-r.received)
	}
}

func TestListenerReceivesEachKind(t *testing.T) {
	r := newRecorder()
	client := startServer(t).open(t, WithListener(r))
	a, b := client.lock(t, "a"), client.lock(t, "b")
	hold, err := a.Acquire(within(t))
	must(t, err)
	must(t, hold.Unlock(within(t)))
	expect(t, hold.Unlock(within(t)), ErrNotOwner)
	r.expect(t, "wait mutex a", "granted a", "ended a")

	rw, err := client.NewRW("rw")
	must(t, err)
	hold, err = rw.Read(within(t))
	must(t, err)
	must(t, rw.TryUpgrade(within(t), hold))
	must(t, rw.Downgrade(within(t), hold))
	must(t, hold.Unlock(within(t)))
	r.expect(t, "wait read rw", "granted rw", "changed write rw", "changed read rw", "ended rw")

	seats, err := client.NewSemaphore("s", 3)
	must(t, err)
	hold, err = seats.Try(within(t), 2)
	must(t, err)
	must(t, hold.Unlock(within(t)))
	r.expect(t, "wait semaphore s", "granted s", "ended s")

	both, err := client.NewMulti(a, b)
	must(t, err)
	hold, err = both.Acquire(within(t))
	must(t, err)
	must(t, hold.Unlock(within(t)))
	const name = `multi of "a", "b"`
	r.expect(t, "wait multi "+name, "granted "+name+" without a token", "ended "+name)
	r.expectNoMore(t)
}

func TestListenerReceivesFailures(t *testing.T) {
	r := newRecorder()
	server := startServer(t)
	client := server.open(t, WithListener(r))
	held, err := server.open(t).lock(t, "a").Acquire(within(t))
	must(t, err)
	lock := client.lock(t, "a")
	_, err = lock.Try(within(t))
	expect(t, err, ErrNotAcquired)
	r.expect(t, "wait mutex a", "failed not acquired a")
	ctx, cancel := context.WithTimeout(within(t), 1500*time.Millisecond)
	defer cancel()
	_, err = lock.Acquire(ctx)
	expect(t, err, ErrTimedOut)
	r.expect(t, "wait mutex a", "failed timed out a")
	canceled, cancel := context.WithCancel(within(t))
	ended := make(chan error, 1)
	go func() {
		_, err := lock.Acquire(canceled)
		ended <- err
	}()
	r.expect(t, "wait mutex a")
	cancel()
	expect(t, <-ended, ErrCancelled)
	r.expect(t, "failed cancelled a")
	r.expectNoMore(t)
	must(t, held.Unlock(within(t)))
}

func TestListenerReceivesLossesAndCloses(t *testing.T) {
	r := newRecorder()
	server := startServer(t)
	client := server.open(t, WithListener(r), WithLease(300*time.Millisecond))
	hold, err := client.lock(t, "lost").Acquire(within(t))
	must(t, err)
	server.ask(t, "DEL {mortise:lost}")
	r.expect(t, "wait mutex lost", "granted lost", "ended lost at the server lost")
	expect(t, hold.Unlock(within(t)), ErrLost)

	both, err := client.NewMulti(client.lock(t, "kept"), client.lock(t, "member"))
	must(t, err)
	hold, err = both.Acquire(within(t))
	must(t, err)
	server.ask(t, "DEL {mortise:member}")
	const name = `multi of "kept", "member"`
	r.expect(t, "wait multi "+name, "granted "+name+" without a token",
		"ended lost at the server "+name)
	_ = hold.Unlock(within(t))

	closed := client.lock(t, "handle's")
	_, err = closed.Acquire(within(t))
	must(t, err)
	must(t, closed.Close())
	r.expect(t, "wait mutex handle's", "granted handle's", "ended closed handle's")
	kept := client.lock(t, "client's")
	_, err = kept.Acquire(within(t))
	must(t, err)
	must(t, client.Close())
	r.expect(t, "wait mutex client's", "granted client's", "ended closed client's")
	runtime.KeepAlive(kept)
	r.expectNoMore(t)
}

// An export that gets no answer ends the hold, also after its context.
func TestListenerReceivesTheEndByAFailedExport(t *testing.T) {
	for _, doesEnd := range []bool{false, true} {
		r := newRecorder()
		server := startServer(t)
		client := server.open(t, WithListener(r), WithCommandTimeout(2*time.Second))
		lock := client.lock(t, "a")
		hold, err := lock.Acquire(within(t))
		must(t, err)
		r.expect(t, "wait mutex a", "granted a")
		server.control(t, "pause")
		ctx, end := context.WithCancel(within(t))
		if doesEnd {
			endDuringExport(lock.own().core(), end)
		}
		_, err = hold.Export(ctx, time.Minute)
		end()
		if err == nil {
			t.Fatal("exported without an answer")
		}
		r.expect(t, "ended outcome unknown a")
		r.expectNoMore(t)
	}
}

func TestEachHoldOfAReentrantHandleIsReported(t *testing.T) {
	r := newRecorder()
	client := startServer(t).open(t, WithListener(r))
	lock := client.lock(t, "a", WithReentrant(true))
	outer, err := lock.Acquire(within(t))
	must(t, err)
	inner, err := lock.Acquire(within(t))
	must(t, err)
	must(t, inner.Unlock(within(t)))
	r.expect(t, "wait mutex a", "granted a", "wait mutex a", "granted a", "ended a")
	r.expectNoMore(t)
	must(t, outer.Unlock(within(t)))
	r.expect(t, "ended a")
}

func TestListenerReceivesAnUpgradeThatOutlastsItsContext(t *testing.T) {
	r := newRecorder()
	server := startServer(t)
	client := server.open(t, WithListener(r))
	rw, err := client.NewRW("rw")
	must(t, err)
	hold, err := rw.Read(within(t))
	must(t, err)
	server.ask(t, "CLIENT PAUSE 500 WRITE")
	ctx, cancel := context.WithTimeout(within(t), 100*time.Millisecond)
	defer cancel()
	expect(t, rw.TryUpgrade(ctx, hold), ErrTimedOut)
	r.expect(t, "wait read rw", "granted rw", "changed write rw")
	must(t, hold.Unlock(within(t)))
	r.expect(t, "ended rw")
	r.expectNoMore(t)
}

// panicking panics in each of its methods from the given one on.
type panicking struct{ isAtOnce bool }

func (p panicking) BeginWait(context.Context, string, LockKind) WaitListener {
	if p.isAtOnce {
		panic("a listener's own")
	}
	return p
}

func (p panicking) Granted(token int64) HoldListener {
	if token%2 == 0 {
		panic("a listener's own")
	}
	return p
}

func (p panicking) Failed(error)            { panic("a listener's own") }
func (p panicking) Changed(LockKind, int64) { panic("a listener's own") }
func (p panicking) Ended(error)             { panic("a listener's own") }

func TestPanicOfAListenerIsLoggedAndHarmless(t *testing.T) {
	var logged bytes.Buffer
	log.SetOutput(&logged)
	defer log.SetOutput(os.Stderr)
	server := startServer(t)
	for _, listener := range []panicking{{true}, {false}} {
		client := server.open(t, WithListener(listener))
		lock := client.lock(t, "a")
		for i := 0; i < 4; i++ {
			hold, err := lock.Acquire(within(t))
			must(t, err)
			_, err = client.lock(t, "a").Try(within(t))
			expect(t, err, ErrNotAcquired)
			must(t, hold.Unlock(within(t)))
		}
	}
	// Eight waits; then four grants or ends of holds, and four tries.
	if count := strings.Count(logged.String(), "mortise: a Listener panicked"); count != 16 {
		t.Fatalf("%d panics were logged: %s", count, logged.String())
	}
}

func TestListenerMayUseTheClient(t *testing.T) {
	var client *Client
	inner := make(chan error, 2)
	client = startServer(t).open(t, WithListener(using(func(name string) {
		if name != "outer" {
			return
		}
		lock, err := client.NewLock("inner")
		if err == nil {
			_, err = lock.Try(context.Background())
			_ = lock.Close()
		}
		inner <- err
	})))
	hold, err := client.lock(t, "outer").Acquire(within(t))
	must(t, err)
	must(t, hold.Unlock(within(t)))
	must(t, <-inner)
}

type using func(name string)

func (u using) BeginWait(_ context.Context, name string, _ LockKind) WaitListener {
	u(name)
	return nil
}

func TestListenerIsForAClient(t *testing.T) {
	server := startServer(t)
	_, err := server.open(t).NewLock("a", WithListener(newRecorder()))
	expect(t, err, ErrInvalidArgument)
	_, err = Open(within(t), server.url, WithListener(nil))
	expect(t, err, ErrInvalidArgument)
}
