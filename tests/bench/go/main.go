// The Go competitor of the benchmark: executes each line, and answers by a line of numbers. The
// arguments are the server's URL and the name of a lock.
//
//	pairs N   acquires and unlocks so often
//	fresh N   the same by Do, each with a handle of its own
//	contend N eight owners, each first come, first served, have the lock so often in all
//	readings N  asks a hold so often whether it is held
//	gate      takes the lock
//	join      one goroutine more waits for the lock, and unlocks it when it has it
//	serve     unlocks the lock; when all were served, for each of them, in the order of the grants,
//	          its number and its token
//	cycle N   pairs, each hundred by a handle of its own
//	memory    collects garbage; 0, because resident memory has all of the rest
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"os"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/mortise/mortise-go"
)

var ctx = context.Background()

type competitor struct {
	client *mortise.Client
	lock   *mortise.Lock
	name   string
	crowd
}

// crowd is the waiters for the lock.
type crowd struct {
	gate   *mortise.Hold
	joined int
	group  sync.WaitGroup
	grants []string // guarded by the lock
}

func main() {
	client := made(mortise.Open(ctx, os.Args[1]))
	name := os.Args[2]
	s := &competitor{client: client, lock: made(client.NewLock(name)), name: name}
	requests := bufio.NewScanner(os.Stdin)
	for requests.Scan() {
		var what string
		var count int
		fmt.Sscan(requests.Text(), &what, &count)
		fmt.Println(s.answer(what, count))
	}
}

func must(err error) {
	if err != nil {
		log.Fatal("bench: ", err)
	}
}

func made[T any](value T, err error) T {
	must(err)
	return value
}

func (s *competitor) answer(what string, count int) string {
	switch what {
	case "pairs":
		pairs(s.lock, count)
	case "fresh":
		s.fresh(count)
	case "contend":
		s.contend(count)
	case "readings":
		s.read(count)
	case "gate":
		s.crowd = crowd{gate: made(made(s.client.NewLock(s.name)).Acquire(ctx))}
	case "join":
		s.join()
	case "serve":
		return s.serve()
	case "cycle":
		for ; count > 0; count -= 100 {
			lock := made(s.client.NewLock(s.name))
			pairs(lock, 100)
			must(lock.Close())
		}
	case "memory":
		debug.FreeOSMemory()
	default:
		log.Fatal("bench: no such question: ", what)
	}
	return "0"
}

func pairs(lock *mortise.Lock, count int) {
	for i := 0; i < count; i++ {
		must(made(lock.Acquire(ctx)).Unlock(ctx))
	}
}

func (s *competitor) fresh(count int) {
	for i := 0; i < count; i++ {
		lock := made(s.client.NewLock(s.name))
		must(mortise.Do(ctx, lock.Acquire, func(context.Context, *mortise.Hold) error { return nil }))
		must(lock.Close())
	}
}

func (s *competitor) contend(count int) {
	const owners = 8
	var group sync.WaitGroup
	for i := 0; i < owners; i++ {
		lock := made(s.client.NewLock(s.name, mortise.WithFairness(mortise.Strict)))
		group.Add(1)
		go func() {
			defer group.Done()
			pairs(lock, count/owners)
			must(lock.Close())
		}()
	}
	group.Wait()
}

func (s *competitor) read(count int) {
	hold := made(s.lock.Acquire(ctx))
	for i := 0; i < count; i++ {
		if !hold.IsHeld() {
			log.Fatal("bench: the hold was lost")
		}
	}
	must(hold.Unlock(ctx))
}

func (s *competitor) join() {
	lock := made(s.client.NewLock(s.name, mortise.WithFairness(mortise.Strict)))
	number := s.joined
	s.joined++
	s.group.Add(1)
	go func() {
		defer s.group.Done()
		hold := made(lock.Acquire(ctx))
		s.grants = append(s.grants, fmt.Sprint(number, " ", hold.Token()))
		must(hold.Unlock(ctx))
		must(lock.Close())
	}()
}

func (s *competitor) serve() string {
	must(s.gate.Unlock(ctx))
	s.group.Wait()
	return strings.Join(s.grants, " ")
}
