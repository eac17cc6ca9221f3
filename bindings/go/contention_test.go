package mortise

import (
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// transactions is how many the server has had; every attempt at a mutex that does not wait is one.
func (s *server) transactions(t testing.TB) int64 {
	t.Helper()
	found := regexp.MustCompile(`cmdstat_multi:calls=(\d+)`).
		FindStringSubmatch(s.ask(t, "INFO commandstats"))
	if found == nil {
		return 0
	}
	count, err := strconv.ParseInt(found[1], 10, 64)
	must(t, err)
	return count
}

// With waiters, an acquire goes to the end of the queue, and does not first ask for a lock that is
// never free. With a new handle each time C asks once, because it does not know the others of a
// strict lock.
func TestContendedAcquireDoesNotTryFirst(t *testing.T) {
	const owners, acquires = 4, 400
	server := startServer(t)
	client := server.open(t, WithFairness(Strict))
	contend := func(lockOf func() *Lock, letGo func(*Lock)) float64 {
		var count, working atomic.Int64
		working.Store(owners)
		var group sync.WaitGroup
		before := server.transactions(t)
		for i := 0; i < owners; i++ {
			group.Add(1)
			go func() {
				defer group.Done()
				defer working.Add(-1)
				lock := lockOf()
				for begun := count.Add(1); begun <= acquires; begun = count.Add(1) {
					hold, err := lock.Acquire(within(t))
					if err == nil {
						// The last one may have begun before the others, and got the lock after them.
						eventually(t, "another waits", func() bool {
							return waiters(t, lock) > 0 || working.Load() == 1
						})
					}
					if err == nil {
						err = hold.Unlock(within(t))
					}
					if err != nil {
						t.Error(err)
						return
					}
					letGo(lock)
					lock = lockOf()
				}
			}()
		}
		group.Wait()
		return float64(server.transactions(t)-before) / acquires
	}
	kept := make(chan *Lock, owners)
	for i := 0; i < owners; i++ {
		kept <- client.lock(t, "a")
	}
	if each := contend(func() *Lock { return <-kept }, func(lock *Lock) { kept <- lock }); each > 0.5 {
		t.Errorf("a contended acquire tries %.2f times first", each)
	}
	fresh := func() *Lock { return client.lock(t, "a") }
	if each := contend(fresh, func(lock *Lock) { lock.Close() }); each > 1.5 {
		t.Errorf("a contended acquire of a new handle tries %.2f times first", each)
	}
}

// Afterwards they try again, which is faster where the lock is free.
func TestAcquireTriesAgainAfterContention(t *testing.T) {
	server := startServer(t)
	client := server.open(t)
	lock, other := client.lock(t, "a"), server.open(t).lock(t, "a")
	hold, err := other.Acquire(within(t))
	must(t, err)
	expect(t, only(lock.Try(within(t))), ErrNotAcquired)
	must(t, hold.Unlock(within(t)))
	if !lock.owner.handle.isTaken() {
		t.Fatal("a vain try is forgotten at once")
	}
	for i := 0; i < vainTries; i++ {
		hold, err := lock.Acquire(within(t))
		must(t, err)
		must(t, hold.Unlock(within(t)))
	}
	if lock.owner.handle.isTaken() {
		t.Fatal("a vain try is remembered for ever")
	}
}
