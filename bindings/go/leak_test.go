package mortise

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// After Close no goroutine, file descriptor or thread of the client remains, whatever was in
// progress, even if the server does not answer.
func TestCloseLeavesNothingRunning(t *testing.T) {
	server := startServer(t)
	server.open(t).Close() // objects that are made once are made
	goroutines, files := runtime.NumGoroutine(), descriptors(t)
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for round := 0; round < 3; round++ {
		client, err := Open(within(t), server.url, WithCommandTimeout(15*time.Second))
		must(t, err)
		held, err := client.lock(t, "a").Acquire(within(t))
		must(t, err)
		_, release := held.Bind(context.Background())
		rw := client.rw(t, "b")
		reading, err := rw.Read(within(t))
		must(t, err)
		left, err := client.lock(t, "c").Acquire(within(t))
		must(t, err)
		server.control(t, "pause")
		var group sync.WaitGroup
		for i := 0; i < 20; i++ {
			lock := client.lock(t, "a", WithFairness([]Fairness{Strict, Batch}[i%2]))
			group.Add(1)
			go func() {
				defer group.Done()
				_, err := lock.Acquire(context.Background())
				expectClosed(t, err)
			}()
		}
		brief, end := context.WithTimeout(context.Background(), 5*time.Millisecond)
		for _, err := range []error{
			client.Ping(brief), rw.TryUpgrade(brief, reading), reading.Unlock(over), left.Unlock(over),
		} {
			if !errors.Is(err, ErrTimedOut) && !errors.Is(err, ErrCancelled) {
				t.Error(err)
			}
		}
		end()
		begun := time.Now()
		must(t, client.Close())
		group.Wait()
		if took := time.Since(begun); took > 10*time.Second {
			t.Fatal("closing waits for the server: ", took)
		}
		release()
		server.control(t, "resume")
	}
	eventually(t, "all goroutines have ended",
		func() bool { return runtime.NumGoroutine() <= goroutines })
	eventually(t, "all files are closed", func() bool { return descriptors(t) <= files })
}

// descriptors is how many files are open.
func descriptors(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(entries)
}

// An Open whose caller has left leaves nothing, either.
func TestOpenWithoutTime(t *testing.T) {
	server := startServer(t)
	server.open(t).Close()
	goroutines, files := runtime.NumGoroutine(), descriptors(t)
	server.control(t, "pause")
	for i := 0; i < 5; i++ {
		brief, end := context.WithTimeout(context.Background(), 10*time.Millisecond)
		_, err := Open(brief, server.url)
		end()
		expect(t, err, context.DeadlineExceeded)
	}
	server.control(t, "resume")
	eventually(t, "all goroutines have ended",
		func() bool { return runtime.NumGoroutine() <= goroutines })
	eventually(t, "all files are closed", func() bool { return descriptors(t) <= files })
}

// Objects that are bound to a hold are freed with the call of its function, with its parent, or
// with the hold. They do not keep a forgotten hold.
func TestBindLeavesNothing(t *testing.T) {
	client := startServer(t).open(t)
	lock, before := client.lock(t, "a"), handlesOf(client)
	hold, err := lock.Acquire(within(t))
	must(t, err)
	goroutines := runtime.NumGoroutine()
	type key struct{}
	var left atomic.Int64
	bind := func(hold *Hold) (context.CancelFunc, context.CancelFunc) {
		parent, end := context.WithCancel(context.Background())
		value := new([1]*Hold)
		left.Add(1)
		runtime.SetFinalizer(value, func(*[1]*Hold) { left.Add(-1) })
		_, cancel := hold.Bind(context.WithValue(parent, key{}, value))
		return end, cancel
	}
	isGone := func() bool {
		runtime.GC()
		return left.Load() == 0 && runtime.NumGoroutine() <= goroutines
	}
	const many = 100
	for i := 0; i < many; i++ {
		end, _ := bind(hold)
		end()
	}
	eventually(t, "nothing is left of what ended with its parent", isGone)
	for i := 0; i < many; i++ {
		_, cancel := bind(hold)
		cancel()
	}
	eventually(t, "nothing is left of what was ended", isGone)
	for i := 0; i < many; i++ {
		bind(hold)
	}
	must(t, hold.Unlock(within(t)))
	eventually(t, "nothing is left of what ended with the hold", isGone)

	func() {
		forgotten, err := client.lock(t, "b").Acquire(within(t))
		must(t, err)
		bind(forgotten)
	}()
	eventually(t, "a forgotten hold is collected, also one that something is bound to", func() bool {
		return isGone() && handlesOf(client) == before
	})
	runtime.KeepAlive(hold)
	runtime.KeepAlive(lock)
	runtime.KeepAlive(client)
}
