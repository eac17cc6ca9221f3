package mortise

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
)

// After Close there is no goroutine, no file descriptor and no thread of the client's left, whatever was
// under way; not even of a server that does not answer.
func TestCloseLeavesNothingRunning(t *testing.T) {
	server := startServer(t)
	server.open(t).Close() // what is made once for all is made
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
		server.signal(t, syscall.SIGSTOP)
		var group sync.WaitGroup
		for i := 0; i < 20; i++ {
			lock := client.lock(t, "a", WithFairStrict(i%2 == 0))
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
		server.signal(t, syscall.SIGCONT)
	}
	eventually(t, "all goroutines have ended", func() bool { return runtime.NumGoroutine() <= goroutines })
	eventually(t, "all files are closed", func() bool { return descriptors(t) <= files })
}

// descriptors is how many files are open.
func descriptors(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(entries)
}

// An Open that nobody waits for any more leaves nothing, either.
func TestOpenWithoutTime(t *testing.T) {
	server := startServer(t)
	server.open(t).Close()
	goroutines, files := runtime.NumGoroutine(), descriptors(t)
	server.signal(t, syscall.SIGSTOP)
	for i := 0; i < 5; i++ {
		brief, end := context.WithTimeout(context.Background(), 10*time.Millisecond)
		_, err := Open(brief, server.url)
		end()
		expect(t, err, context.DeadlineExceeded)
	}
	server.signal(t, syscall.SIGCONT)
	eventually(t, "all goroutines have ended", func() bool { return runtime.NumGoroutine() <= goroutines })
	eventually(t, "all files are closed", func() bool { return descriptors(t) <= files })
}
