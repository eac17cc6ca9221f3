// Bench measures what Go adds to C: the same calls from both, by turns, in one process and against
// one server, whose URL is in MORTISE_TEST_URL. `./dev bench` runs it.
package main

/*
#cgo pkg-config: mortise
#include <mortise/mortise.h>

static mortise_lock *open_lock(const char *url, size_t url_len) {
  mortise_client *client = mortise_client_new(url, url_len, NULL, NULL);
  return mortise_lock_new(client, "bench:c", 7, NULL, NULL);
}

// Returns how many of the calls failed.
static int64_t acquire_and_unlock(mortise_lock *lock, int64_t times) {
  int64_t failed = 0;
  for (int64_t i = 0; i < times; ++i) {
    failed += mortise_lock_acquire(lock, MORTISE_FOREVER, NULL) != MORTISE_OK;
    failed += mortise_lock_unlock(lock, NULL) != MORTISE_OK;
  }
  return failed;
}

static int64_t look(mortise_lock *lock, int64_t times) {
  int64_t held = 0;
  for (int64_t i = 0; i < times; ++i) held += mortise_lock_is_held(lock);
  return held;
}
*/
import "C"

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/mortise/mortise-go"
)

const (
	rounds  = 31
	pairs   = 1000
	looks   = 200000
	waiters = 10000
	cycles  = 1000000
)

func main() {
	url := os.Getenv("MORTISE_TEST_URL")
	client, err := mortise.Open(context.Background(), url)
	must(err)
	defer client.Close()
	bytes := []byte(url)
	cLock := C.open_lock((*C.char)(C.CBytes(bytes)), C.size_t(len(bytes)))
	if cLock == nil {
		must(fmt.Errorf("no client of C for %q", url))
	}
	measurePairs(client, cLock)
	measureLooks(client, cLock)
	measureWaiters(client)
	measureGrowth(client)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: ", err)
		os.Exit(1)
	}
}

// byTurns runs both so often, and has the median of each, in nanoseconds for one of times.
func byTurns(times int, inC, inGo func()) (c, golang float64) {
	var ofC, ofGo []float64
	measure := func(work func()) float64 {
		begun := time.Now()
		work()
		return float64(time.Since(begun).Nanoseconds()) / float64(times)
	}
	for i := 0; i < rounds; i++ {
		ofC = append(ofC, measure(inC))
		ofGo = append(ofGo, measure(inGo))
	}
	sort.Float64s(ofC)
	sort.Float64s(ofGo)
	return ofC[rounds/2], ofGo[rounds/2]
}

func measurePairs(client *mortise.Client, cLock *C.mortise_lock) {
	lock, err := client.NewLock("bench:go")
	must(err)
	ctx := context.Background()
	c, golang := byTurns(pairs, func() {
		if failed := C.acquire_and_unlock(cLock, pairs); failed != 0 {
			must(fmt.Errorf("%d calls of C failed", failed))
		}
	}, func() {
		for i := 0; i < pairs; i++ {
			hold, err := lock.Acquire(ctx)
			must(err)
			must(hold.Unlock(ctx))
		}
	})
	fmt.Printf("%-44s C %8.1f us   Go %8.1f us   %.2f of C\n", "acquire and unlock, one goroutine",
		c/1000, golang/1000, golang/c)
}

func measureLooks(client *mortise.Client, cLock *C.mortise_lock) {
	lock, err := client.NewLock("bench:go")
	must(err)
	hold, err := lock.Acquire(context.Background())
	must(err)
	c, golang := byTurns(looks, func() { C.look(cLock, looks) }, func() {
		for i := 0; i < looks; i++ {
			hold.IsHeld()
		}
	})
	must(hold.Unlock(context.Background()))
	fmt.Printf("%-44s C %8.1f ns   Go %8.1f ns   %+.1f ns\n", "a call that asks C only, hold.IsHeld",
		c, golang, golang-c)
}

func measureWaiters(client *mortise.Client) {
	ctx := context.Background()
	gate, err := client.NewLock("bench:many", mortise.WithFairStrict(true))
	must(err)
	hold, err := gate.Acquire(ctx)
	must(err)
	before := memory()
	var group sync.WaitGroup
	for i := 0; i < waiters; i++ {
		lock, err := client.NewLock("bench:many", mortise.WithFairStrict(true))
		must(err)
		group.Add(1)
		go func() {
			defer group.Done()
			hold, err := lock.Acquire(ctx)
			must(err)
			must(hold.Unlock(ctx))
			must(lock.Close())
		}()
	}
	for waiting := int64(0); waiting < waiters; time.Sleep(10 * time.Millisecond) {
		info, err := gate.Query(ctx)
		must(err)
		waiting = info.WaiterCount
	}
	each := (memory() - before) / waiters
	threads := status("Threads:")
	begun := time.Now()
	must(hold.Unlock(ctx))
	group.Wait()
	if now := status("Threads:"); now > threads {
		threads = now
	}
	fmt.Printf("%-44s %d bytes each   %d threads   all served in %v\n",
		fmt.Sprintf("%d goroutines wait for one lock", waiters), each, threads,
		time.Since(begun).Round(time.Millisecond))
}

// measureGrowth is what is left of very many holds, each hundred of a handle of their own.
func measureGrowth(client *mortise.Client) {
	ctx := context.Background()
	run := func(times int) {
		for done := 0; done < times; done += 100 {
			lock, err := client.NewLock("bench:go")
			must(err)
			for i := 0; i < 100; i++ {
				hold, err := lock.Acquire(ctx)
				must(err)
				must(hold.Unlock(ctx))
			}
			must(lock.Close())
		}
	}
	run(cycles / 10)
	before := memory()
	run(cycles)
	fmt.Printf("%-44s %+d KiB\n", fmt.Sprintf("memory after %d holds more", cycles), (memory()-before)/1024)
}

// memory is what the process has, in bytes, of C and of Go.
func memory() int64 {
	runtime.GC()
	return status("VmRSS:") * 1024
}

// status is a number that the kernel has of this process.
func status(field string) int64 {
	text, err := os.ReadFile("/proc/self/status")
	must(err)
	at := strings.Index(string(text), field)
	var number int64
	_, err = fmt.Sscan(string(text[at+len(field):]), &number)
	must(err)
	return number
}
