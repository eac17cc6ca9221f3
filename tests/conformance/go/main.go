// The driver in Go: executes the runner's commands, one a line. README.md has the lines.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mortise/mortise-go"
)

var statusNames = map[mortise.Status]string{
	mortise.ErrNotAcquired:     "not_acquired",
	mortise.ErrTimedOut:        "timed_out",
	mortise.ErrCancelled:       "cancelled",
	mortise.ErrLost:            "lost",
	mortise.ErrNotOwner:        "not_owner",
	mortise.ErrShutDown:        "shut_down",
	mortise.ErrNotWaiting:      "not_waiting",
	mortise.ErrDeadlock:        "deadlock",
	mortise.ErrInvalidArgument: "invalid_argument",
	mortise.ErrUnreachable:     "unreachable",
	mortise.ErrUnknown:         "unknown",
	mortise.ErrRefused:         "refused",
	mortise.ErrAlreadyHeld:     "already_held",
	mortise.ErrBusy:            "busy",
	mortise.ErrLimit:           "limit",
	mortise.ErrClosed:          "closed",
	mortise.ErrForked:          "forked",
	mortise.ErrUnsupported:     "unsupported",
	mortise.ErrNoMemory:        "no_memory",
	mortise.ErrInternal:        "internal",
}

var (
	printing sync.Mutex
	handles  = map[string]*handle{}
	made     []*handle // all, also those whose name another handle has by now
	run      int       // how many resets there were
)

func report(format string, values ...any) {
	printing.Lock()
	defer printing.Unlock()
	fmt.Printf(format+"\n", values...)
}

// notify prints a notice of a handle. After a reset there is none.
func (h *handle) notify(kind, format string, values ...any) {
	printing.Lock()
	defer printing.Unlock()
	if h.run == run {
		fmt.Printf("notice "+h.name+" "+kind+" "+format+"\n", values...)
	}
}

// result is what a call came to.
type result struct {
	err   error
	token int64
	value *int64
	text  string
}

func failed(err error) result { return result{err: err} }

func number(value int64) result { return result{value: &value} }

func truth(is bool) result {
	if is {
		return number(1)
	}
	return number(0)
}

func (r result) String() string {
	text := "ok"
	if r.err != nil {
		var status mortise.Status
		if !errors.As(r.err, &status) {
			panic(r.err)
		}
		text = statusNames[status] + " text=" + url.PathEscape(r.err.Error())
	}
	if failure := (*mortise.Error)(nil); errors.As(r.err, &failure) && failure.Status < 0 {
		text += fmt.Sprintf(" retryable=%d ambiguous=%d", *truth(failure.IsRetryable()).value,
			*truth(failure.IsAmbiguous()).value)
		text += " printed=" + url.PathEscape(fmt.Sprintf("%+v %#v", *failure, failure))
	}
	if r.text != "" {
		text += " text=" + url.PathEscape(r.text)
	}
	if r.token != 0 {
		text += fmt.Sprintf(" token=%d", r.token)
	}
	if r.value != nil {
		text += fmt.Sprintf(" value=%d", *r.value)
	}
	return text
}

type arguments map[string]string

func (given arguments) number(key string, otherwise int64) int64 {
	text, has := given[key]
	if !has {
		return otherwise
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return value
}

// within is the context with this call's timeout.
func (given arguments) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, time.Duration(given.number("timeout_ms", 0))*time.Millisecond)
}

// ---- new
// -----------------------------------------------------------------------------------------

func membersOf(list string) []mortise.Member {
	var members []mortise.Member
	for _, item := range strings.Split(list, ",") {
		name, mode, _ := strings.Cut(item, ":")
		switch object := handles[name].object.(type) {
		case *mortise.Lock:
			members = append(members, object)
		case *mortise.RW:
			if mode == "read" {
				members = append(members, object.ForRead())
			} else {
				members = append(members, object.ForWrite())
			}
		case *mortise.Semaphore:
			weight, _ := strconv.ParseInt(mode, 10, 64)
			members = append(members, object.ForPermits(weight))
		}
	}
	return members
}

func create(kind, name string, given arguments) (any, error) {
	var options []mortise.Option
	for key, value := range given {
		if strings.HasPrefix(key, "opt.") {
			options = append(options, mortise.WithOption(key[len("opt."):], value))
		}
	}
	if kind == "client" {
		if given["listens"] != "" {
			listeners[name] = &listener{client: name, run: run}
			options = append(options, mortise.WithListener(listeners[name]))
		}
		return mortise.Open(context.Background(), given["url"], options...)
	}
	client := handles[given["client"]].object.(*mortise.Client)
	switch kind {
	case "lock":
		return client.NewLock(given["name"], options...)
	case "rw":
		return client.NewRW(given["name"], options...)
	case "election":
		return client.NewElection(given["name"], options...)
	case "semaphore":
		return client.NewSemaphore(given["name"], given.number("permits", 1), options...)
	}
	return client.NewMulti(membersOf(given["members"])...)
}

// ---- lines
// ---------------------------------------------------------------------------------------

func parse(line string) (words []string, given arguments) {
	given = arguments{}
	for _, word := range strings.Fields(line) {
		key, value, isGiven := strings.Cut(word, "=")
		if !isGiven {
			words = append(words, word)
			continue
		}
		text, err := url.PathUnescape(value)
		if err != nil {
			panic(err)
		}
		given[key] = text
	}
	return words, given
}

func do(words []string, given arguments) result {
	switch words[1] {
	case "new":
		object, err := create(words[2], words[3], given)
		if err == nil {
			handles[words[3]] = &handle{name: words[3], run: run, object: object,
				holds: map[string][]*mortise.Hold{}, ended: map[string]*mortise.Hold{}}
			made = append(made, handles[words[3]])
		}
		return failed(err)
	case "call":
		if hold := namedHolds[words[2]]; hold != nil {
			return hold.call(context.Background(), words[3], given)
		}
		handle := handles[words[2]]
		return handle.call(handle.context(), words[3], given)
	case "start":
		handles[words[2]].start(words[0], words[3], given)
	case "reset":
		reset()
	case "pump":
		time.Sleep(time.Duration(given.number("timeout_ms", 0)) * time.Millisecond)
	}
	return result{}
}

// reset frees everything, so that the next run finds a driver as if it had just started.
func reset() {
	printing.Lock()
	run++
	printing.Unlock()
	for i := len(made) - 1; i >= 0; i-- {
		if made[i].endReports != nil {
			made[i].endReports()
		}
		_ = made[i].object.(interface{ Close() error }).Close() // it may be closed
	}
	made, handles, namedHolds = nil, map[string]*handle{}, map[string]*named{}
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words, given := parse(lines.Text())
		report("%s %s", words[0], do(words, given))
	}
}
