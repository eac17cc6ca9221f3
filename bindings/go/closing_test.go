package mortise

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mortise/mortise-go/internal/swig"
)

func TestUseAfterClose(t *testing.T) {
	client := startServer(t).open(t)
	lock := client.lock(t, "a")
	hold, err := lock.Acquire(within(t))
	must(t, err)
	must(t, lock.Close())
	must(t, lock.Close())
	receive(t, "closing ends the hold's context", hold.Context().Done())
	expect(t, hold.Err(), ErrClosed)
	if hold.IsHeld() || hold.Valid() != 0 || lock.Token() != 0 {
		t.Fatal("held after close")
	}
	expect(t, hold.Extend(within(t), 0), ErrClosed)
	expect(t, hold.Unlock(within(t)), ErrClosed)
	_, err = lock.Acquire(within(t))
	expect(t, err, ErrClosed)
	_, err = lock.Query(within(t))
	expect(t, err, ErrClosed)
	// What it held was given back.
	next, err := client.lock(t, "a").Acquire(within(t))
	must(t, err)

	must(t, client.Close())
	must(t, client.Close())
	receive(t, "closing the client ends the hold's context", next.Context().Done())
	expect(t, next.Unlock(within(t)), ErrClosed)
	expect(t, client.Ping(within(t)), ErrClosed)
	_, err = client.CheckHealth(within(t))
	expect(t, err, ErrClosed)
	_, err = client.LastHealth()
	expect(t, err, ErrClosed)
	_, err = client.Stats()
	expect(t, err, ErrClosed)
	_, err = client.ListLocks(within(t))
	expect(t, err, ErrClosed)
	_, err = client.ScanLocks(within(t), "", 1000)
	expect(t, err, ErrClosed)
	_, err = client.ListHistory(within(t), "a", time.Minute)
	expect(t, err, ErrClosed)
	_, err = client.Log(within(t), LogLevelInfo)
	expect(t, err, ErrClosed)
	_, err = client.StatsEvery(within(t), time.Second)
	expect(t, err, ErrClosed)
	expect(t, client.SetCredentials(within(t), "", "x"), ErrClosed)
	_, err = client.NewLock("a")
	expect(t, err, ErrClosed)
	_, err = client.NewMulti()
	expect(t, err, ErrClosed)
	if text := err.Error(); !strings.Contains(text, "closed") {
		t.Fatal("the error does not say what happened: ", text)
	}
}

func TestCloseWhileOthersWait(t *testing.T) {
	server := startServer(t)
	for _, closesClient := range []bool{true, false} {
		client, holder := server.open(t, WithFairness(Strict)), server.open(t)
		hold, err := holder.lock(t, "a").Acquire(within(t))
		must(t, err)
		var group sync.WaitGroup
		locks := make([]*Lock, 50)
		for i := range locks {
			lock := client.lock(t, "a")
			locks[i] = lock
			group.Add(1)
			go func() {
				defer group.Done()
				_, err := lock.Acquire(context.Background())
				if !errors.Is(err, ErrClosed) ||
					closesClient && !strings.Contains(err.Error(), "the client was closed") {
					t.Error("a waiter of a closed client got: ", err)
				}
			}()
		}
		eventually(t, "all wait", func() bool { return waiters(t, locks[0]) == int64(len(locks)) })
		if closesClient {
			must(t, client.Close())
		}
		for _, lock := range locks {
			must(t, lock.Close())
		}
		group.Wait()
		must(t, hold.Unlock(within(t)))
	}
}

// The close comes between the grant and its event, in the first attempt, which does not wait, or in
// the second.
func TestGrantAfterTheCloseIsGivenBack(t *testing.T) {
	client := startServer(t).open(t)
	for _, isTrial := range []bool{true, false} {
		lock, other := client.lock(t, "a"), client.lock(t, "a")
		wait := func(address, queue uintptr, tag, timeoutMs int64, details uintptr) int32 {
			defer lock.Close()
			defer eventually(t, "it is granted", func() bool { return swig.Lock_is_held(address) != 0 })
			return swig.Lock_acquire_async(address, queue, tag, timeoutMs, details)
		}
		try := submission(nil)
		if isTrial {
			try = wait
		}
		hold, err := lock.owner.acquire(within(t), held, try, wait)
		if hold != nil {
			receive(t, "the hold of a closed handle ends", hold.Context().Done())
		}
		expect(t, err, ErrClosed)
		next, err := other.Acquire(within(t))
		must(t, err)
		must(t, next.Unlock(within(t)))
	}
}

// A waiter gets the end at once, also while another call waits for a silent server.
func TestCloseDuringAQuery(t *testing.T) {
	server := startServer(t)
	client := server.open(t, WithCommandTimeout(15*time.Second))
	lock := client.lock(t, "a", WithFairness(Strict))
	hold, err := client.lock(t, "a", WithFairness(Strict)).Acquire(within(t))
	must(t, err)
	ended := make(chan error)
	go func() {
		_, err := lock.Acquire(context.Background())
		ended <- err
	}()
	eventually(t, "it waits", func() bool { return waiters(t, lock) == 1 })
	server.control(t, "pause")
	defer server.control(t, "resume")
	brief, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err = lock.Query(brief)
	expect(t, err, ErrTimedOut)
	begun := time.Now()
	must(t, lock.Close())
	expectClosed(t, <-ended)
	if took := time.Since(begun); took > 10*time.Second {
		t.Fatal("closing waits for the query: ", took)
	}
	server.control(t, "resume")
	must(t, hold.Unlock(within(t)))
}

// Everything at once, for the race detector and the order of freeing.
func TestCloseDuringCalls(t *testing.T) {
	server := startServer(t)
	for round := 0; round < 20; round++ {
		client := server.open(t)
		var group sync.WaitGroup
		for i := 0; i < 8; i++ {
			lock := client.lock(t, "a")
			group.Add(1)
			go func() {
				defer group.Done()
				for {
					hold, err := lock.Acquire(context.Background())
					if err != nil {
						expectClosed(t, err)
						return
					}
					hold.IsHeld()
					if _, err := lock.Query(context.Background()); err != nil {
						expectClosed(t, err)
					}
					if err := hold.Unlock(context.Background()); err != nil {
						expectClosed(t, err)
					}
				}
			}()
		}
		time.Sleep(time.Duration(round) * time.Millisecond)
		must(t, client.Close())
		group.Wait()
	}
}

// closeInside closes the client while a call of C is at work on its only multi, and reports whether
// the multi was freed meanwhile.
func closeInside(client *Client, isFreed *atomic.Bool) bool {
	e := client.core()
	hasClosed := func() bool {
		for _, h := range e.allHandles() {
			if h.kind.whatItIs == multiKind.whatItIs {
				return h.hasClosed()
			}
		}
		return false
	}
	go client.Close()
	for !hasClosed() {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond)
	return isFreed.Load()
}

// watchedKind is the kind of multis that note their end.
func watchedKind(isFreed *atomic.Bool) *kind {
	watched := *multiKind
	watched.free = func(address uintptr) {
		isFreed.Store(true)
		multiKind.free(address)
	}
	return &watched
}

func newMultiHandle(client *Client, k *kind) (*handle, error) {
	return newHandle(client.core(), k, func(client uintptr) (uintptr, error) {
		return made(func(details uintptr) uintptr { return swig.Multi_new(client, details) })
	})
}

func TestAHandleIsFreedAfterItWasMade(t *testing.T) {
	client := startServer(t).open(t)
	var isFreed atomic.Bool
	wasEarly := false
	watched := watchedKind(&isFreed)
	watched.watch = func(_, _ uintptr, _ int64, _ uintptr) int32 {
		wasEarly = closeInside(client, &isFreed)
		return 0
	}
	h, err := newMultiHandle(client, watched)
	must(t, err)
	if wasEarly || !isFreed.Load() {
		t.Error("freed before its end: ", wasEarly, ", after its end: ", isFreed.Load())
	}
	_, err = h.enter()
	expectClosed(t, err)
}

func TestAMultiIsFreedAfterAMemberWasAdded(t *testing.T) {
	client := startServer(t).open(t)
	lock := client.lock(t, "member")
	_, err := client.core().client.enter() // as a Ping
	must(t, err)
	var isFreed atomic.Bool
	h, err := newMultiHandle(client, watchedKind(&isFreed))
	must(t, err)
	wasEarly := false
	work := func() { wasEarly = closeInside(client, &isFreed) }
	must(t, newOwner(client, h).add(slowMember{lock, work}))
	client.core().client.leave()
	if wasEarly || !isFreed.Load() {
		t.Error("freed before its end: ", wasEarly, ", after its end: ", isFreed.Load())
	}
}

type slowMember struct {
	lock *Lock
	work func()
}

func (s slowMember) asMember() member {
	return member{s.lock.own(), func(_, _, _ uintptr) int32 {
		s.work()
		return 0
	}}
}

func expectClosed(t *testing.T, err error) {
	if !errors.Is(err, ErrClosed) {
		t.Error("during a close: ", err)
	}
}

// Without Close, the collector releases unreachable objects, and nothing else.
func TestForgottenObjectsAreFreed(t *testing.T) {
	server := startServer(t)
	client, other := server.open(t), server.open(t)
	before := handlesOf(client)
	func() {
		lock := client.lock(t, "forgotten")
		_, err := lock.Acquire(within(t))
		must(t, err)
		all, err := client.NewMulti(client.lock(t, "member"))
		must(t, err)
		_, err = all.Acquire(within(t))
		must(t, err)
	}()
	kept, err := client.lock(t, "kept").Acquire(within(t))
	must(t, err)
	underContext, err := client.lock(t, "context").Acquire(within(t))
	must(t, err)
	ctx := underContext.Context()
	underContext = nil
	eventually(t, "the collector frees what is forgotten", func() bool {
		runtime.GC()
		return handlesOf(client) == before+2
	})
	for _, name := range []string{"forgotten", "member"} {
		hold, err := other.lock(t, name).Acquire(within(t))
		must(t, err)
		must(t, hold.Unlock(within(t)))
	}
	for i := 0; i < 5; i++ {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if !kept.IsHeld() || ctx.Err() != nil {
		t.Fatal("the collector freed what is used")
	}
	runtime.KeepAlive(client)
}

func TestForgottenClientIsClosed(t *testing.T) {
	server := startServer(t)
	func() {
		client, err := Open(within(t), server.url)
		must(t, err)
		_, err = client.lock(t, "a").Acquire(within(t))
		must(t, err)
	}()
	lock := server.open(t).lock(t, "a")
	eventually(t, "the collector closes the client", func() bool {
		runtime.GC()
		_, err := lock.Try(within(t))
		return err == nil
	})
}

func handlesOf(client *Client) int {
	client.engine.mutex.Lock()
	defer client.engine.mutex.Unlock()
	return len(client.engine.handles)
}
