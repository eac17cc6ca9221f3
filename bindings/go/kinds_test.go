package mortise

import (
	"context"
	"strings"
	"testing"
	"time"
)

func (c *Client) rw(t testing.TB, name string, options ...Option) *RW {
	t.Helper()
	rw, err := c.NewRW(name, options...)
	must(t, err)
	return rw
}

func (c *Client) semaphore(t testing.TB, name string, permits int64, options ...Option) *Semaphore {
	t.Helper()
	semaphore, err := c.NewSemaphore(name, permits, options...)
	must(t, err)
	return semaphore
}

func TestManyReadOneWrites(t *testing.T) {
	client := startServer(t).open(t)
	one, other, writer := client.rw(t, "a"), client.rw(t, "a"), client.rw(t, "a")
	first, err := one.Read(within(t))
	must(t, err)
	second, err := other.TryRead(within(t))
	must(t, err)
	_, err = writer.TryWrite(within(t))
	expect(t, err, ErrNotAcquired)
	expect(t, one.TryUpgrade(within(t), first), ErrNotAcquired)
	if !first.IsHeld() {
		t.Fatal("a refused upgrade ends the reading")
	}
	must(t, second.Unlock(within(t)))
	must(t, first.Unlock(within(t)))
	hold, err := writer.Write(within(t))
	must(t, err)
	_, err = one.TryRead(within(t))
	expect(t, err, ErrNotAcquired)
	must(t, hold.Unlock(within(t)))
}

func TestUpgradeAndDowngrade(t *testing.T) {
	client := startServer(t).open(t)
	rw, other := client.rw(t, "a"), client.rw(t, "a")
	hold, err := rw.Read(within(t))
	must(t, err)
	before := hold.Token()
	must(t, rw.TryUpgrade(within(t), hold))
	if hold.Token() <= before || hold.Token() != rw.Token() || !hold.IsHeld() {
		t.Fatalf("token %d after %d", hold.Token(), before)
	}
	_, err = other.TryRead(within(t))
	expect(t, err, ErrNotAcquired)
	expect(t, rw.TryUpgrade(within(t), hold), ErrAlreadyHeld)
	must(t, rw.Downgrade(within(t), hold))
	if !hold.IsHeld() || hold.Context().Err() != nil {
		t.Fatal("a downgrade ended the hold")
	}
	reader, err := other.TryRead(within(t))
	must(t, err)
	expect(t, rw.Downgrade(within(t), hold), ErrNotOwner)
	expect(t, rw.Downgrade(within(t), reader), ErrInvalidArgument)
	expect(t, rw.TryUpgrade(within(t), nil), ErrInvalidArgument)
	must(t, hold.Unlock(within(t)))
	expect(t, rw.TryUpgrade(within(t), hold), ErrNotOwner)
	must(t, reader.Unlock(within(t)))
}

func TestLossAfterUpgradeIsReported(t *testing.T) {
	client := startServer(t).open(t, WithLease(2*time.Second), WithRenewal(false))
	rw := client.rw(t, "a")
	hold, err := rw.Read(within(t))
	must(t, err)
	must(t, rw.TryUpgrade(within(t), hold))
	receive(t, "the hold is lost", hold.Lost())
	expect(t, hold.Unlock(within(t)), ErrLost)
}

func TestReentrantReading(t *testing.T) {
	client := startServer(t).open(t)
	rw := client.rw(t, "a", WithReentrantRead(true))
	write, err := rw.Write(within(t))
	must(t, err)
	read, err := rw.Read(within(t))
	must(t, err)
	must(t, write.Unlock(within(t)))
	if !read.IsHeld() || write.IsHeld() || read.Context().Err() != nil {
		t.Fatal("reading ended with writing")
	}
	must(t, read.Unlock(within(t)))
	receive(t, "the last unlock ends the context", read.Context().Done())
}

func TestSemaphore(t *testing.T) {
	client := startServer(t).open(t)
	one, other := client.semaphore(t, "a", 3), client.semaphore(t, "a", 3)
	first, err := one.Acquire(within(t), 2)
	must(t, err)
	_, err = other.Try(within(t), 2)
	expect(t, err, ErrNotAcquired)
	second, err := other.Try(within(t), 1)
	must(t, err)
	info, err := one.Query(within(t))
	must(t, err)
	if info.Permits != 3 || info.PermitsInUse != 3 || len(info.Holders) != 2 ||
		info.Holders[0].Permits+info.Holders[1].Permits != 3 {
		t.Fatalf("%+v", info)
	}
	must(t, one.Resize(within(t), 5))
	third, err := client.semaphore(t, "a", 3).Acquire(within(t), 2)
	must(t, err)
	for _, hold := range []*Hold{first, second, third} {
		must(t, hold.Unlock(within(t)))
	}
	_, err = one.Acquire(within(t), 0)
	expect(t, err, ErrInvalidArgument)
	_, err = one.Acquire(within(t), 6)
	expect(t, err, ErrRefused)
	expect(t, one.Resize(within(t), -1), ErrInvalidArgument)
}

func TestMulti(t *testing.T) {
	client := startServer(t).open(t)
	lock, rw, semaphore := client.lock(t, "a"), client.rw(t, "b"), client.semaphore(t, "c", 2)
	all, err := client.NewMulti(lock, rw.ForWrite(), semaphore.ForPermits(2))
	must(t, err)
	otherHandle := client.rw(t, "b")
	reader, err := otherHandle.Read(within(t))
	must(t, err)
	_, err = all.Try(within(t))
	expect(t, err, ErrNotAcquired)
	if hold, err := client.lock(t, "a").Try(within(t)); err != nil {
		t.Fatal("a member is held after a failure: ", err)
	} else {
		must(t, hold.Unlock(within(t)))
	}
	must(t, reader.Unlock(within(t)))
	hold, err := all.Acquire(within(t))
	must(t, err)
	if !hold.IsHeld() || hold.Valid() <= 0 || hold.Token() != 0 || lock.Token() <= 0 ||
		rw.Token() <= 0 {
		t.Fatal("the members are not held")
	}
	_, err = all.Acquire(within(t))
	expect(t, err, ErrAlreadyHeld)
	_, err = lock.Acquire(within(t))
	expect(t, err, ErrAlreadyHeld)
	_, err = otherHandle.TryRead(within(t))
	expect(t, err, ErrNotAcquired)
	must(t, hold.Extend(within(t), 10*time.Minute))
	if hold.Valid() < 5*time.Minute || lock.Valid() < 5*time.Minute {
		t.Fatal("the members are not extended: ", hold.Valid(), lock.Valid())
	}
	must(t, hold.Progress())
	must(t, hold.Unlock(within(t)))
	expect(t, hold.Extend(within(t), time.Minute), ErrNotOwner)
	expect(t, hold.Progress(), ErrNotOwner)
	receive(t, "an unlock ends the context", hold.Context().Done())
	single, err := lock.Try(within(t))
	must(t, err)
	must(t, single.Unlock(within(t)))
	must(t, all.Close())
	_, err = all.Acquire(within(t))
	expect(t, err, ErrClosed)
}

func TestMultiIsLostWithAMember(t *testing.T) {
	client := startServer(t).open(t)
	brief := client.lock(t, "a", WithLease(100*time.Millisecond), WithRenewal(false))
	all, err := client.NewMulti(brief, client.lock(t, "b"))
	must(t, err)
	hold, err := all.Acquire(within(t))
	must(t, err)
	receive(t, "the multi is at risk", hold.AtRisk())
	receive(t, "the multi is lost", hold.Lost())
	receive(t, "the loss ends the context", hold.Context().Done())
	expect(t, hold.Unlock(within(t)), ErrLost)
	expect(t, hold.Err(), ErrLost) // not because of the unlock
	expect(t, hold.Unlock(within(t)), ErrNotOwner)
	free, err := client.lock(t, "b").Try(within(t))
	must(t, err)
	must(t, free.Unlock(within(t)))
}

func TestMultiIsOverWhenAMemberIsClosed(t *testing.T) {
	client := startServer(t).open(t)
	closed := client.lock(t, "a")
	all, err := client.NewMulti(closed, client.lock(t, "b"))
	must(t, err)
	hold, err := all.Acquire(within(t))
	must(t, err)
	must(t, closed.Close())
	receive(t, "the close ends the context", hold.Context().Done())
	expect(t, hold.Err(), ErrClosed)
	if hold.IsHeld() {
		t.Fatal("it is held without a member")
	}
	if err := hold.Unlock(within(t)); err == nil {
		t.Fatal("an unlock without a member succeeded")
	}
	free, err := client.lock(t, "b").Try(within(t))
	must(t, err)
	must(t, free.Unlock(within(t)))
	_, err = all.Try(within(t))
	expect(t, err, ErrClosed)
}

// expectMessage is expect for an error with a certain text.
func expectMessage(t *testing.T, err, expected error, says string) {
	t.Helper()
	expect(t, err, expected)
	if !strings.Contains(err.Error(), says) {
		t.Fatalf("%q does not say %q", err, says)
	}
}

func TestMultiNamesTheMemberThatIsLost(t *testing.T) {
	server := startServer(t)
	client := server.open(t)
	all, err := client.NewMulti(client.lock(t, "kept"), client.lock(t, "gone"))
	must(t, err)
	hold, err := all.Acquire(within(t))
	must(t, err)
	ctx, cancel := hold.Bind(within(t))
	defer cancel()
	server.ask(t, "DEL {mortise:gone}")
	err = hold.Extend(within(t), time.Minute)
	expectMessage(t, err, ErrLost, `"gone": `)
	receive(t, "the multi is lost", hold.Lost())
	receive(t, "the loss ends the context", ctx.Done())
	expectMessage(t, hold.Err(), ErrLost, `"gone": `)
	expectMessage(t, hold.Unlock(within(t)), ErrLost, `"gone": `)
}

func TestMultiOfWrongMembers(t *testing.T) {
	server := startServer(t)
	client := server.open(t)
	foreign := server.open(t).lock(t, "b")
	for name, members := range map[string][]Member{
		"an empty member":     {nil},
		"of another client":   {foreign},
		"the same name twice": {client.lock(t, "a"), client.lock(t, "a")},
		"no permits":          {client.semaphore(t, "s", 1).ForPermits(0)},
	} {
		if _, err := client.NewMulti(members...); err == nil {
			t.Error(name, " was accepted")
		} else {
			expect(t, err, ErrInvalidArgument)
		}
	}
	none, err := client.NewMulti()
	must(t, err)
	_, err = none.Acquire(context.Background())
	expect(t, err, ErrInvalidArgument)
}
