package mortise

import (
	"context"
	"strings"
	"testing"
	"time"
)

// circle has two tasks, each of which holds a lock and waits for that of the other.
type circle struct {
	held    [2]*Lock
	awaited [2]*Lock
}

func newCircle(t *testing.T, first, second *Client) *circle {
	t.Helper()
	clients := [2]*Client{first, second}
	names := [2]string{"orders", "stock"}
	c := &circle{}
	for i, client := range clients {
		c.held[i] = client.lock(t, names[i])
		c.awaited[i] = client.lock(t, names[1-i], WithDeadlockFailure(true))
	}
	return c
}

// run returns how both waits ended. Each task unlocks what it holds after its wait.
func (c *circle) run(t *testing.T, contexts [2]context.Context) [2]error {
	t.Helper()
	var holds [2]*Hold
	for i, lock := range c.held {
		hold, err := lock.Acquire(contexts[i])
		must(t, err)
		holds[i] = hold
	}
	ends := [2]chan error{make(chan error, 1), make(chan error, 1)}
	for i, lock := range c.awaited {
		go func(i int, lock *Lock) {
			hold, err := lock.Acquire(contexts[i])
			if err == nil {
				err = hold.Unlock(context.Background())
			}
			if unlocked := holds[i].Unlock(context.Background()); err == nil {
				err = unlocked
			}
			ends[i] <- err
		}(i, lock)
	}
	return [2]error{<-ends[0], <-ends[1]}
}

func TestOneWaitOfADeadlockOfTasksFails(t *testing.T) {
	server := startServer(t)
	contexts := [2]context.Context{WithTask(within(t)), WithTask(within(t))}
	ends := newCircle(t, server.open(t), server.open(t)).run(t, contexts)
	failed := ends[0]
	if failed == nil {
		failed = ends[1]
	} else {
		must(t, ends[1])
	}
	expectMessage(t, failed, ErrDeadlock, ", which this task holds")
}

// Without tasks nobody knows which goroutine holds what, so both wait until their contexts end.
func TestWithoutTasksADeadlockLasts(t *testing.T) {
	server := startServer(t)
	short, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	ends := newCircle(t, server.open(t), server.open(t)).run(t, [2]context.Context{short, short})
	for _, err := range ends {
		if err != nil {
			expect(t, err, ErrTimedOut)
		}
	}
	if ends[0] == nil && ends[1] == nil {
		t.Fatal("there was no deadlock")
	}
}

// A handle that goes from one goroutine to the next belongs to the task of its last acquire.
func TestAHandleBelongsToTheTaskOfItsAcquire(t *testing.T) {
	client := startServer(t).open(t)
	lock := client.lock(t, "orders")
	again := client.lock(t, "orders", WithDeadlockFailure(true))
	task, other := WithTask(within(t)), WithTask(within(t))
	hold, err := lock.Acquire(task)
	must(t, err)
	_, err = again.Acquire(context.WithValue(task, circle{}, 1))
	expectMessage(t, err, ErrDeadlock, "in a deadlock: this task holds it")
	for _, ctx := range []context.Context{other, context.Background()} {
		short, cancel := context.WithTimeout(ctx, 2500*time.Millisecond)
		_, err = again.Acquire(short)
		cancel()
		expect(t, err, ErrTimedOut)
	}
	must(t, hold.Unlock(within(t)))
}

// The multi waits for a lock that its own task holds, and gives its other member back.
func TestAMultiOfATaskFails(t *testing.T) {
	client := startServer(t).open(t)
	task := WithTask(within(t))
	hold, err := client.lock(t, "b").Acquire(task)
	must(t, err)
	free := client.lock(t, "a")
	multi, err := client.NewMulti(free, client.lock(t, "b", WithDeadlockFailure(true)))
	must(t, err)
	defer multi.Close()
	_, err = multi.Acquire(task)
	expectMessage(t, err, ErrDeadlock, "in a deadlock: this task holds it")
	if free.IsHeld() {
		t.Fatal("a member is still held")
	}
	must(t, hold.Unlock(within(t)))
}

// The report of a listing has the number of the task.
func TestAListingNamesTasks(t *testing.T) {
	client := startServer(t).open(t)
	hold, err := client.lock(t, "a").Acquire(WithTask(within(t)))
	must(t, err)
	listing, err := client.ListLocks(within(t))
	must(t, err)
	if len(listing.Entries) != 1 || !strings.Contains(listing.Entries[0].Threads, ":t") {
		t.Fatalf("%+v", listing.Entries)
	}
	must(t, hold.Unlock(within(t)))
}

func TestATaskOfNoContextIsOfTheBackground(t *testing.T) {
	ctx := WithTask(nil) //nolint:staticcheck // nil is what the test is about
	if taskOf(ctx) == 0 || taskOf(ctx) == taskOf(WithTask(ctx)) {
		t.Fatal("no task of its own")
	}
}
