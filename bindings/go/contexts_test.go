package mortise

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"
)

// scene is what a call of the table below is made in: a client with one handle of each kind.
type scene struct {
	server    *server
	client    *Client
	lock      *Lock
	rw        *RW
	semaphore *Semaphore
	multi     *Multi
	hold      *Hold // by whichever handle the call is about
	id        string
}

// contextCalls is everything that takes a context, each with what has to be held before.
var contextCalls = map[string]struct {
	hold func(*scene, context.Context) (*Hold, error)
	call func(*scene, context.Context) error
}{
	"Open": {nil, func(s *scene, ctx context.Context) error {
		client, err := Open(ctx, s.server.url)
		client.Close()
		return err
	}},
	"Do": {nil, func(s *scene, ctx context.Context) error {
		return Do(ctx, s.lock.Acquire, func(ctx context.Context, _ *Hold) error { return ctx.Err() })
	}},
	"Client.Ping": {nil, func(s *scene, ctx context.Context) error {
		return s.client.Ping(ctx)
	}},
	"Client.CheckHealth": {nil, func(s *scene, ctx context.Context) error {
		_, err := s.client.CheckHealth(ctx)
		return err
	}},
	"Client.ListLocks": {nil, func(s *scene, ctx context.Context) error {
		_, err := s.client.ListLocks(ctx)
		return err
	}},
	"Client.ScanLocks": {nil, func(s *scene, ctx context.Context) error {
		_, err := s.client.ScanLocks(ctx, "", 1000)
		return err
	}},
	"Client.ListHistory": {nil, func(s *scene, ctx context.Context) error {
		_, err := s.client.ListHistory(ctx, "a", time.Minute)
		return err
	}},
	"Client.Log": {nil, func(s *scene, ctx context.Context) error {
		_, err := s.client.Log(ctx, LogLevelInfo)
		return err
	}},
	"Client.StatsEvery": {nil, func(s *scene, ctx context.Context) error {
		_, err := s.client.StatsEvery(ctx, time.Second)
		return err
	}},
	"Client.SetCredentials": {nil, func(s *scene, ctx context.Context) error {
		return s.client.SetCredentials(ctx, "", "any")
	}},
	"Lock.Acquire": {nil, func(s *scene, ctx context.Context) error {
		return only(s.lock.Acquire(ctx))
	}},
	"Lock.Try": {nil, func(s *scene, ctx context.Context) error {
		return only(s.lock.Try(ctx))
	}},
	"Lock.ForceRelease": {nil, func(s *scene, ctx context.Context) error {
		return unlessFree(s.lock.ForceRelease(ctx, "m1:nobody:1.1::1"))
	}},
	"Lock.Query": {nil, func(s *scene, ctx context.Context) error {
		return only(s.lock.Query(ctx))
	}},
	"RW.Read": {nil, func(s *scene, ctx context.Context) error {
		return only(s.rw.Read(ctx))
	}},
	"RW.TryRead": {nil, func(s *scene, ctx context.Context) error {
		return only(s.rw.TryRead(ctx))
	}},
	"RW.Write": {nil, func(s *scene, ctx context.Context) error {
		return only(s.rw.Write(ctx))
	}},
	"RW.TryWrite": {nil, func(s *scene, ctx context.Context) error {
		return only(s.rw.TryWrite(ctx))
	}},
	"RW.ForceRelease": {nil, func(s *scene, ctx context.Context) error {
		return unlessFree(s.rw.ForceRelease(ctx, "m1:nobody:1.1::1"))
	}},
	"RW.Query": {nil, func(s *scene, ctx context.Context) error {
		return only(s.rw.Query(ctx))
	}},
	"RW.TryUpgrade": {reads, func(s *scene, ctx context.Context) error {
		return s.rw.TryUpgrade(ctx, s.hold)
	}},
	"RW.Downgrade": {writes, func(s *scene, ctx context.Context) error {
		return s.rw.Downgrade(ctx, s.hold)
	}},
	"Semaphore.Acquire": {nil, func(s *scene, ctx context.Context) error {
		return only(s.semaphore.Acquire(ctx, 1))
	}},
	"Semaphore.Try": {nil, func(s *scene, ctx context.Context) error {
		return only(s.semaphore.Try(ctx, 1))
	}},
	"Semaphore.ForceRelease": {nil, func(s *scene, ctx context.Context) error {
		return unlessFree(s.semaphore.ForceRelease(ctx, "m1:nobody:1.1::1"))
	}},
	"Semaphore.Query": {nil, func(s *scene, ctx context.Context) error {
		return only(s.semaphore.Query(ctx))
	}},
	"Semaphore.Resize": {nil, func(s *scene, ctx context.Context) error {
		return s.semaphore.Resize(ctx, 4)
	}},
	"Multi.Acquire": {nil, func(s *scene, ctx context.Context) error {
		return only(s.multi.Acquire(ctx))
	}},
	"Multi.Try": {nil, func(s *scene, ctx context.Context) error {
		return only(s.multi.Try(ctx))
	}},
	"Hold.Extend": {locks, func(s *scene, ctx context.Context) error {
		return s.hold.Extend(ctx, time.Minute)
	}},
	"Hold.Export": {locks, func(s *scene, ctx context.Context) error {
		return only(s.hold.Export(ctx, time.Minute))
	}},
	"Lock.Adopt": {exports, func(s *scene, ctx context.Context) error {
		return only(s.lock.Adopt(ctx, s.id))
	}},
	"RW.Adopt": {exportsWriting, func(s *scene, ctx context.Context) error {
		return only(s.rw.Adopt(ctx, s.id))
	}},
	"Semaphore.Adopt": {exportsPermit, func(s *scene, ctx context.Context) error {
		return only(s.semaphore.Adopt(ctx, s.id))
	}},
	"Hold.SetValue": {locks, func(s *scene, ctx context.Context) error {
		return s.hold.SetValue(ctx, "10.0.0.5:8080")
	}},
	"Hold.Unlock": {locks, func(s *scene, ctx context.Context) error {
		return s.hold.Unlock(ctx)
	}},
	"Hold.Unlock, multi": {locksAll, func(s *scene, ctx context.Context) error {
		return s.hold.Unlock(ctx)
	}},
	"Hold.Unlock, lost": {loses, func(s *scene, ctx context.Context) error {
		return s.hold.Unlock(ctx)
	}},
}

// asksNobody are those that a silent server does not hold up.
var asksNobody = map[string]bool{
	"Hold.Unlock, lost": true, "Client.Log": true, "Client.StatsEvery": true,
}

func locks(s *scene, ctx context.Context) (*Hold, error)    { return s.lock.Acquire(ctx) }
func reads(s *scene, ctx context.Context) (*Hold, error)    { return s.rw.Read(ctx) }
func writes(s *scene, ctx context.Context) (*Hold, error)   { return s.rw.Write(ctx) }
func locksAll(s *scene, ctx context.Context) (*Hold, error) { return s.multi.Acquire(ctx) }

func exports(s *scene, ctx context.Context) (*Hold, error) {
	return s.export(ctx, s.lock.Acquire)
}

func exportsWriting(s *scene, ctx context.Context) (*Hold, error) {
	return s.export(ctx, s.rw.Write)
}

func exportsPermit(s *scene, ctx context.Context) (*Hold, error) {
	return s.export(ctx, func(ctx context.Context) (*Hold, error) {
		return s.semaphore.Acquire(ctx, 1)
	})
}

func (s *scene) export(ctx context.Context,
	acquire func(context.Context) (*Hold, error)) (*Hold, error) {
	hold, err := acquire(ctx)
	if err == nil {
		s.id, err = hold.Export(ctx, time.Minute)
	}
	return hold, err
}

func loses(s *scene, ctx context.Context) (*Hold, error) {
	lock, err := s.client.NewLock("lost", WithLease(50*time.Millisecond), WithRenewal(false))
	if err != nil {
		return nil, err
	}
	hold, err := lock.Acquire(ctx)
	if err == nil {
		<-hold.Lost()
	}
	return hold, err
}

// unlessFree is nil for the reply about a hold that no caller gets.
func unlessFree(err error) error {
	if errors.Is(err, ErrNotOwner) {
		return nil
	}
	return err
}

func only[T any](_ T, err error) error { return err }

func newScene(t *testing.T, server *server) *scene {
	t.Helper()
	client := server.open(t, WithCommandTimeout(20*time.Second))
	s := &scene{server: server, client: client, lock: client.lock(t, t.Name()),
		rw: client.rw(t, t.Name()+"/rw"), semaphore: client.semaphore(t, t.Name()+"/semaphore", 3)}
	multi, err := client.NewMulti(client.lock(t, t.Name()+"/member"))
	must(t, err)
	s.multi = multi
	return s
}

// Nothing that takes a context is missing above.
func TestEveryCallUnderAContextIsKnown(t *testing.T) {
	expected := reflect.TypeOf((*context.Context)(nil)).Elem()
	for _, object := range []any{&Client{}, &Lock{}, &RW{}, &Semaphore{}, &Multi{}, &Hold{}} {
		kind := reflect.TypeOf(object)
		for i := 0; i < kind.NumMethod(); i++ {
			method := kind.Method(i)
			name := kind.Elem().Name() + "." + method.Name
			if method.Type.NumIn() < 2 || method.Type.In(1) != expected || name == "Hold.Bind" {
				continue
			}
			if _, isKnown := contextCalls[name]; !isKnown {
				t.Error(name, " takes a context and is not in the table")
			}
		}
	}
}

var errOfTheCaller = errors.New("the caller's reason")

// A failure is also the end of its context, with the cause that the caller gave: of a context that
// is over before the call, and of one that ends while the server is silent.
func TestEndOfTheContextIsInEveryFailure(t *testing.T) {
	server := startServer(t)
	cancelled := func() (context.Context, func()) {
		ctx, cancel := withCause(context.Background())
		return ctx, func() { cancel(errOfTheCaller) }
	}
	expired := func() (context.Context, func()) {
		ctx, cancel := withDeadlineCause(20*time.Millisecond, errOfTheCaller)
		t.Cleanup(cancel)
		return ctx, func() {}
	}
	for name, row := range contextCalls {
		row := row
		for _, isSilent := range []bool{false, true} {
			if isSilent && asksNobody[name] {
				continue
			}
			for is, begin := range map[error]func() (context.Context, func()){
				context.Canceled: cancelled, context.DeadlineExceeded: expired,
			} {
				title := name + ", " + is.Error()
				if isSilent {
					title += " while the server is silent"
				}
				is, begin, isSilent := is, begin, isSilent
				t.Run(title, func(t *testing.T) {
					s := newScene(t, server)
					if row.hold != nil {
						hold, err := row.hold(s, within(t))
						must(t, err)
						s.hold = hold
					}
					if isSilent {
						server.control(t, "pause")
						defer server.control(t, "resume")
					}
					ctx, end := begin()
					if isSilent {
						time.AfterFunc(20*time.Millisecond, end)
					} else {
						end()
						receive(t, "the context ends", ctx.Done())
					}
					err := row.call(s, ctx)
					// The others need a reply. A release works in any case.
					if err == nil && !isSilent && (name == "Hold.Unlock" || name == "Hold.Unlock, multi" ||
						name == "RW.Downgrade") {
						return
					}
					expect(t, err, is)
					expect(t, err, causeOf(ctx))
					var details *Error
					if name != "Do" && !errors.As(err, &details) {
						t.Fatalf("%T is no *Error", err)
					}
					if name == "Hold.Unlock, lost" {
						expect(t, err, ErrLost)
					}
				})
			}
		}
	}
}

// After the end of the server the failure is both unreachable and a timeout.
func TestDeadlineAtAServerThatIsGone(t *testing.T) {
	server := startServer(t)
	client := server.open(t, WithCommandTimeout(10*time.Second))
	lock := client.lock(t, "a")
	server.control(t, "kill")
	eventually(t, "the server is gone", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		return errors.Is(only(lock.Acquire(ctx)), ErrUnreachable)
	})
	// Long enough that the call begins before its end.
	ctx, cancel := withDeadlineCause(time.Second, errOfTheCaller)
	defer cancel()
	_, err := lock.Acquire(ctx)
	expect(t, err, ErrUnreachable)
	expect(t, err, context.DeadlineExceeded)
	expect(t, err, causeOf(ctx))
}

// A failure before the end of its context has nothing to do with it.
func TestFailureUnderALivingContext(t *testing.T) {
	client := startServer(t).open(t)
	hold, err := client.lock(t, "a").Acquire(within(t))
	must(t, err)
	ctx, cancel := context.WithCancel(within(t))
	_, err = client.lock(t, "a").Try(ctx)
	expect(t, err, ErrNotAcquired)
	cancel()
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		t.Fatal("the end of a context is in an earlier failure")
	}
	must(t, hold.Unlock(within(t)))
}

// What gives something back needs no context.
func TestGivingBackWithoutAContext(t *testing.T) {
	client := startServer(t).open(t)
	lock, other := client.lock(t, "a"), client.lock(t, "a")
	hold, err := lock.Acquire(within(t))
	must(t, err)
	//lint:ignore SA1012 nil is the subject of the test
	must(t, hold.Unlock(nil))
	next, err := other.Try(within(t))
	must(t, err)
	must(t, next.Unlock(within(t)))
	//lint:ignore SA1012 nil is the subject of the test
	expect(t, hold.Unlock(nil), ErrNotOwner)

	rw := client.rw(t, "b")
	writing, err := rw.Write(within(t))
	must(t, err)
	//lint:ignore SA1012 nil is the subject of the test
	must(t, rw.Downgrade(nil, writing))
	if rw.IsWriting() || !rw.IsReading() {
		t.Fatal("it does not read only")
	}
	must(t, writing.Unlock(within(t)))
}
