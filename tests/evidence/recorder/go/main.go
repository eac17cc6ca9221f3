// Command recorder uses locks by way of the Go binding, as recorder.c does by way of the C ABI:
// URL PROCESS CLIENTS NAMES SEED FOLDER. It writes to no register.
package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	mortise "github.com/mortise/mortise-go"
)

const (
	capacity      = 3
	clockBootTime = 7
)

// What each failure is called in a history.
var statusNames = []struct {
	err  error
	name string
}{
	{mortise.ErrNotAcquired, "not_acquired"}, {mortise.ErrTimedOut, "timed_out"},
	{mortise.ErrLost, "lost"}, {mortise.ErrNotOwner, "not_owner"},
	{mortise.ErrUnreachable, "unreachable"}, {mortise.ErrUnknown, "unknown"},
	{mortise.ErrRefused, "refused"}, {mortise.ErrAlreadyHeld, "already_held"},
	{mortise.ErrBusy, "busy"}, {mortise.ErrCancelled, "cancelled"}, {mortise.ErrLimit, "limit"},
}

func statusOf(err error) string {
	if err == nil {
		return "ok"
	}
	for _, one := range statusNames {
		if errors.Is(err, one.err) {
			return one.name
		}
	}
	return "error"
}

func now() int64 {
	var spec syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockBootTime, uintptr(unsafe.Pointer(&spec)), 0)
	return spec.Nano()
}

type recorder struct {
	url     string
	process int
	names   []string
	history *os.File
	isOver  atomic.Bool
}

// An owner is the handle of one client for one name. Its holds are numbered here.
type owner struct {
	kind, name string
	number     int
	mutex      *mortise.Lock
	rw         *mortise.RW
	semaphore  *mortise.Semaphore
	isWriter   bool
	permits    int64
	hold       *mortise.Hold
	holds      int64
}

type client struct {
	*recorder
	number int
	chance *rand.Rand
	owners []*owner
}

func (o *owner) acquire(ctx context.Context, isTry bool) (*mortise.Hold, error) {
	switch {
	case o.rw != nil && o.isWriter && isTry:
		return o.rw.TryWrite(ctx)
	case o.rw != nil && o.isWriter:
		return o.rw.Write(ctx)
	case o.rw != nil && isTry:
		return o.rw.TryRead(ctx)
	case o.rw != nil:
		return o.rw.Read(ctx)
	case o.semaphore != nil && isTry:
		return o.semaphore.Try(ctx, o.permits)
	case o.semaphore != nil:
		return o.semaphore.Acquire(ctx, o.permits)
	case isTry:
		return o.mutex.Try(ctx)
	}
	return o.mutex.Acquire(ctx)
}

// write adds the line of a call that has returned.
func (c *client) write(o *owner, op string, call int64, more string) {
	end := now()
	var token, lease int64
	if o.hold != nil {
		token = o.hold.Token()
		// Not later than the end itself, because the time was taken before.
		before := now()
		if valid := o.hold.Valid(); valid > 0 {
			lease = before + int64(valid)
		}
	}
	line := fmt.Sprintf(`{"process":%d,"client":%d,"owner":%d,"kind":"%s","name":"%s","op":"%s",`+
		`"call_ns":%d,"return_ns":%d,"token":%d,"hold":%d,"lease_end_ns":%d`, c.process, c.number,
		o.number, o.kind, o.name, op, call, end, token, o.holds, lease)
	if o.rw != nil {
		mode := "read"
		if o.isWriter {
			mode = "write"
		}
		line += fmt.Sprintf(`,"mode":"%s"`, mode)
	}
	if o.semaphore != nil {
		line += fmt.Sprintf(`,"permits":%d,"capacity":%d`, o.permits, capacity)
	}
	if _, err := c.history.WriteString(line + more + "}\n"); err != nil {
		panic(err)
	}
}

func (c *client) finish(o *owner, op string, call int64, err error) {
	c.write(o, op, call, fmt.Sprintf(`,"status":"%s"`, statusOf(err)))
}

func (c *client) work(o *owner) {
	for round := c.chance.Intn(4); round >= 0 && !c.isOver.Load(); round-- {
		call := now()
		isHeld := o.hold.IsHeld()
		c.write(o, "is_held", call, fmt.Sprintf(`,"held":%t`, isHeld))
		if !isHeld {
			return
		}
		if c.chance.Intn(4) == 0 {
			time.Sleep(time.Duration(c.chance.Intn(4000)) * time.Microsecond)
		}
		if c.chance.Intn(12) == 0 {
			call = now()
			c.finish(o, "extend", call, o.hold.Extend(context.Background(), 0))
		}
	}
}

func (c *client) use(o *owner) {
	o.isWriter = o.rw == nil || c.chance.Intn(3) == 0
	o.permits = 1 + int64(c.chance.Intn(capacity))
	isTry := c.chance.Intn(5) == 0
	op := "acquire"
	if isTry {
		op = "try"
	}
	ctx, cancel := context.WithTimeout(context.Background(),
		time.Duration(1+c.chance.Intn(2000))*time.Millisecond)
	defer cancel()
	call := now()
	hold, err := o.acquire(ctx, isTry)
	if err == nil {
		o.hold = hold
		o.holds++
	}
	c.finish(o, op, call, err)
	if err != nil {
		return
	}
	c.work(o)
	call = now()
	c.finish(o, "unlock", call, o.hold.Unlock(context.Background()))
	o.hold = nil
}

func (c *client) open() (*mortise.Client, error) {
	opened, err := mortise.Open(context.Background(), c.url)
	if errors.Is(err, mortise.ErrInvalidArgument) {
		panic(err)
	}
	if err != nil {
		return nil, err
	}
	for number, name := range c.names {
		o := &owner{name: name, number: number, kind: strings.TrimRight(name, "0123456789")}
		switch o.kind {
		case "rw":
			o.rw, err = opened.NewRW(name)
		case "semaphore":
			o.semaphore, err = opened.NewSemaphore(name, capacity)
		default:
			o.mutex, err = opened.NewLock(name)
		}
		if err != nil {
			panic(err)
		}
		c.owners = append(c.owners, o)
	}
	return opened, nil
}

func (c *client) run() {
	for !c.isOver.Load() {
		opened, err := c.open()
		if err != nil {
			// A server that restarts refuses connections for a while.
			time.Sleep(20 * time.Millisecond)
			continue
		}
		for !c.isOver.Load() {
			c.use(c.owners[c.chance.Intn(len(c.owners))])
		}
		opened.Close()
	}
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	if len(os.Args) != 7 {
		fmt.Fprintln(os.Stderr, "usage: recorder URL PROCESS CLIENTS NAMES SEED FOLDER")
		os.Exit(2)
	}
	one := &recorder{url: os.Args[1], process: number(os.Args[2]),
		names: strings.Split(os.Args[4], ",")}
	path := fmt.Sprintf("%s/%d.jsonl", os.Args[6], one.process)
	var err error
	one.history, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		panic(err)
	}
	over := make(chan os.Signal, 1)
	signal.Notify(over, syscall.SIGTERM)
	var done sync.WaitGroup
	for i := 0; i < number(os.Args[3]); i++ {
		done.Add(1)
		self := &client{recorder: one, number: i,
			chance: rand.New(rand.NewSource(int64(number(os.Args[5])*64 + i)))}
		go func() {
			defer done.Done()
			self.run()
		}()
	}
	<-over
	one.isOver.Store(true)
	done.Wait()
}
