//go:build mortise_crowd

package mortise

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Many wait, each is served in its turn, and they need no thread each. The tag is for a run of its
// own: a grant that is confirmed later than in 1.6 s, as on a busy machine, is lost.
func TestTenThousandWait(t *testing.T) {
	const many = 10000
	client := startServer(t).open(t, WithFairness(Strict), WithLease(10*time.Minute))
	gate := client.lock(t, "a")
	hold, err := gate.Acquire(within(t))
	must(t, err)
	var served, mostThreads int64
	var group sync.WaitGroup
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	order := make([]int32, many)
	start := func(i int) {
		lock := client.lock(t, "a")
		group.Add(1)
		go func() {
			defer group.Done()
			defer lock.Close()
			hold, err := lock.Acquire(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			order[atomic.AddInt64(&served, 1)-1] = int32(i)
			if err := hold.Unlock(ctx); err != nil {
				t.Error(err)
			}
		}()
	}
	// The first thousand in a known order, the others all at once.
	for i := 0; i < 1000; i++ {
		start(i)
		eventually(t, "the server knows the waiter",
			func() bool { return waiters(t, gate) == int64(i+1) })
	}
	for i := 1000; i < many; i++ {
		start(i)
	}
	eventually(t, "all wait", func() bool { return waiters(t, gate) == many })
	mostThreads = threads(t)
	must(t, hold.Unlock(ctx))
	finished := make(chan struct{})
	go func() {
		group.Wait()
		close(finished)
	}()
	for isOver := false; !isOver; {
		select {
		case <-finished:
			isOver = true
		case <-time.After(20 * time.Millisecond):
			if now := threads(t); now > mostThreads {
				mostThreads = now
			}
		}
	}
	if served != many {
		t.Fatalf("%d of %d were served", served, many)
	}
	for i := 0; i < 1000; i++ {
		if order[i] != int32(i) {
			t.Fatalf("waiter %d was served as number %d", order[i], i)
		}
	}
	// A thread for each waiter would be many. The runtime starts some while the machine is slow.
	if mostThreads > 100 {
		t.Fatalf("%d threads for %d waiters", mostThreads, many)
	}
	t.Logf("%d waiters, at most %d threads", many, mostThreads)
}

func threads(t testing.TB) int64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	must(t, err)
	at := strings.Index(string(status), "\nThreads:")
	var count int64
	if _, err := fmt.Sscan(string(status[at+len("\nThreads:"):]), &count); err != nil {
		t.Fatal(err)
	}
	return count
}
