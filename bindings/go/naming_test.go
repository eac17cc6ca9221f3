package mortise

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// expectNamed looks at a failure that has to name this lock, in words and as a value, once.
func expectNamed(t *testing.T, err, expected error, lock string) {
	t.Helper()
	expect(t, err, expected)
	var failed *Error
	if !errors.As(err, &failed) || failed.Lock != lock {
		t.Fatalf("%v is about %q; want %q", err, failed.Lock, lock)
	}
	begin := quoted(lock) + ": "
	if !strings.HasPrefix(failed.Message, begin) || strings.Count(failed.Message, quoted(lock)) != 1 {
		t.Fatalf("%q does not name %q once", failed.Message, lock)
	}
}

func TestFailuresNameTheLock(t *testing.T) {
	server := startServer(t)
	client := server.open(t)
	lock, rival := client.lock(t, "a\x00b"), client.lock(t, "a\x00b")
	hold, err := rival.Try(within(t))
	must(t, err)
	_, err = lock.Try(within(t))
	expectNamed(t, err, ErrNotAcquired, "a\x00b")
	_, err = rival.Try(within(t))
	expectNamed(t, err, ErrAlreadyHeld, "a\x00b")
	brief, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err = lock.Acquire(brief)
	expectNamed(t, err, ErrTimedOut, "a\x00b")
	expect(t, err, context.DeadlineExceeded)
	over, end := context.WithCancel(context.Background())
	end()
	_, err = lock.Acquire(over)
	expectNamed(t, err, ErrCancelled, "a\x00b")
	ended, end := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, end)
	_, err = lock.Acquire(ended)
	expectNamed(t, err, ErrCancelled, "a\x00b")
	must(t, hold.Unlock(within(t)))
	expectNamed(t, hold.Unlock(within(t)), ErrNotOwner, "a\x00b")
	expectNamed(t, hold.Err(), ErrNotOwner, "a\x00b")
	expectNamed(t, hold.Extend(within(t), 0), ErrNotOwner, "a\x00b")
	must(t, lock.Interrupt(true))
	_, err = lock.Acquire(within(t))
	expectNamed(t, err, ErrCancelled, "a\x00b")
	must(t, lock.Close())
	_, err = lock.Try(within(t))
	expectNamed(t, err, ErrClosed, "a\x00b")
	_, err = lock.Query(within(t))
	expectNamed(t, err, ErrClosed, "a\x00b")
	expectNamed(t, lock.Interrupt(false), ErrClosed, "a\x00b")

	hold, err = rival.Try(within(t))
	must(t, err)
	must(t, client.Close())
	expectNamed(t, hold.Err(), ErrClosed, "a\x00b")
	expectNamed(t, hold.Unlock(within(t)), ErrClosed, "a\x00b")
}

func TestFailuresOfAMultiNameItsMembers(t *testing.T) {
	client := startServer(t).open(t)
	all, err := client.NewMulti(client.lock(t, "a"), client.lock(t, "b"))
	must(t, err)
	rival, err := client.lock(t, "b").Try(within(t))
	must(t, err)
	_, err = all.Try(within(t))
	expectNamed(t, err, ErrNotAcquired, "b")
	must(t, rival.Unlock(within(t)))
	hold, err := all.Try(within(t))
	must(t, err)
	_, err = all.Try(within(t))
	expectMessage(t, err, ErrAlreadyHeld, `: multi of "a", "b": `)
	must(t, hold.Unlock(within(t)))
	expectMessage(t, hold.Unlock(within(t)), ErrNotOwner, `: multi of "a", "b": `)
	must(t, all.Close())
	_, err = all.Try(within(t))
	expectMessage(t, err, ErrClosed, `: multi of "a", "b": `)
}
