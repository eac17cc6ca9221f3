package mortise

import (
	"context"
	"errors"
	"math/rand"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// slow gives the URL of a way to the server on which every piece takes a moment of its own length.
func (s *server) slow(t testing.TB, longest time.Duration) string {
	t.Helper()
	socket := s.socket + ".slow"
	listener, err := net.Listen("unix", socket)
	must(t, err)
	t.Cleanup(func() { listener.Close() })
	carry := func(from, to net.Conn, chance *rand.Rand) {
		defer to.Close()
		piece := make([]byte, 4096)
		for {
			length, err := from.Read(piece)
			if err != nil {
				return
			}
			time.Sleep(time.Duration(chance.Int63n(int64(longest))))
			if _, err := to.Write(piece[:length]); err != nil {
				return
			}
		}
	}
	go func() {
		for seed := int64(0); ; seed += 2 {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("unix", s.socket)
			if err != nil {
				near.Close()
				return
			}
			go carry(near, far, rand.New(rand.NewSource(seed)))
			go carry(far, near, rand.New(rand.NewSource(seed+1)))
		}
	}()
	return "unix://" + socket
}

// stressed is for how long: MORTISE_STRESS is a duration such as 5m.
func stressed(t testing.TB) time.Duration {
	text := os.Getenv("MORTISE_STRESS")
	if text == "" {
		return 2 * time.Second
	}
	duration, err := time.ParseDuration(text)
	must(t, err)
	return duration
}

// Contexts end at all moments of an acquire of each kind, and of the change and the unlock after
// it. Whatever came of that, nothing stays at the server, where leases are longer than the test,
// and the handle can be used again at once.
func TestNothingIsLeftBehind(t *testing.T) {
	server := startServer(t)
	var clients []*Client
	for _, url := range []string{server.url, server.slow(t, 3*time.Millisecond)} {
		for i := 0; i < 2; i++ {
			client, err := Open(within(t), url, WithLease(time.Hour), WithCommandTimeout(time.Minute))
			must(t, err)
			defer client.Close()
			clients = append(clients, client)
		}
	}
	s := &stress{T: t, until: time.Now().Add(stressed(t))}
	var group sync.WaitGroup
	for i := 0; i < 24; i++ {
		group.Add(1)
		go func(client *Client, kind int, chance *rand.Rand) {
			defer group.Done()
			s.run(kind, client.cycle(t, kind, s), chance)
		}(clients[i%len(clients)], i/len(clients), rand.New(rand.NewSource(int64(i))))
	}
	group.Wait()
	t.Logf("%d given, %d cancelled, %d of these after the grant", s.given, s.cancelled, s.late)
	if s.given == 0 || s.cancelled == 0 {
		t.Error("not both have happened")
	}
	eventually(t, "all is given back", func() bool {
		return server.ask(
			t,
			`EVAL "local left = {} for _, key in ipairs(redis.call('KEYS', '{mortise:*')) do `+
				`if not key:find('permits') then left[#left + 1] = key end end return left" 0`,
		) == "*0\r\n"
	})
}

type stress struct {
	*testing.T
	until                          time.Time
	inside, given, cancelled, late int64
}

// isOver is true once time is up and a slow machine, too, has seen both ends of an acquire.
func (s *stress) isOver() bool {
	haveBoth := atomic.LoadInt64(&s.given) > 0 && atomic.LoadInt64(&s.cancelled) > 0
	return time.Now().After(s.until) && (haveBoth || time.Now().After(s.until.Add(patience)))
}

// longest is the bound of the contexts. It grows on a machine with much other load, where all
// acquires outlast a short one, until both ends have been seen.
func (s *stress) longest() time.Duration {
	longest := 8 * time.Millisecond
	for over := time.Since(s.until); over > 0 && longest < time.Minute; over -= time.Second {
		longest *= 2
	}
	return longest
}

// run goes through cycles of acquire and unlock, each under a context that ends soon.
func (s *stress) run(kind int, cycle func(ctx context.Context) error, chance *rand.Rand) {
	for !s.isOver() {
		patience := time.Duration(chance.Int63n(int64(s.longest())))
		ctx, cancel := context.WithCancel(context.Background())
		if chance.Intn(2) == 0 {
			ctx, cancel = context.WithTimeout(ctx, patience)
		} else {
			time.AfterFunc(patience, cancel)
		}
		err := cycle(ctx)
		cancel()
		var failed *Error
		switch {
		case err == nil:
		case errors.As(err, &failed) && (failed.Status == ErrCancelled || failed.Status == ErrTimedOut ||
			failed.Status == ErrUnknown):
			atomic.AddInt64(&s.cancelled, 1)
			if strings.Contains(failed.Message, "granted too late") {
				atomic.AddInt64(&s.late, 1)
			}
		default:
			s.Fatalf("kind %d: %v", kind, err)
		}
	}
}

// under is the work under a hold, which may be alone, and its end.
func (s *stress) under(ctx context.Context, hold *Hold, isAlone bool) error {
	atomic.AddInt64(&s.given, 1)
	if isAlone && atomic.AddInt64(&s.inside, 1) != 1 {
		s.Error("two are inside")
	}
	if isAlone {
		atomic.AddInt64(&s.inside, -1)
	}
	return hold.Unlock(ctx)
}

// cycle is an acquire and an unlock of one of six kinds.
func (c *Client) cycle(t testing.TB, kind int, s *stress) func(ctx context.Context) error {
	lock, rw, semaphore := c.lock(t, "mutex"), c.rw(t, "rw"), c.semaphore(t, "semaphore", 3)
	all, err := c.NewMulti(c.lock(t, "mutex"), c.rw(t, "rw").ForWrite(),
		c.semaphore(t, "semaphore", 3).ForPermits(2))
	must(t, err)
	unchanged := func(context.Context, *Hold) error { return nil }
	cycleOf := func(acquire func(context.Context) (*Hold, error),
		change func(context.Context, *Hold) error, isAlone bool) func(context.Context) error {
		return func(ctx context.Context) error {
			hold, err := acquire(ctx)
			if err != nil {
				return err
			}
			_ = change(ctx, hold)
			return s.under(ctx, hold, isAlone)
		}
	}
	extend := func(ctx context.Context, hold *Hold) error { return hold.Extend(ctx, 0) }
	two := func(ctx context.Context) (*Hold, error) { return semaphore.Acquire(ctx, 2) }
	return []func(context.Context) error{
		cycleOf(lock.Acquire, unchanged, true),
		cycleOf(lock.Acquire, extend, true),
		cycleOf(rw.Read, rw.TryUpgrade, false),
		cycleOf(rw.Write, rw.Downgrade, false),
		cycleOf(two, unchanged, false),
		cycleOf(all.Acquire, unchanged, true),
	}[kind]
}
