// Mortise's own competitor in Go; the contract is in competitor.c.
package main

import (
	"context"
	"log"
	"os"

	"github.com/mortise/mortise-go"
	"github.com/mortise/mortise-go/bench/contention"
)

type lock struct {
	*mortise.Lock
	hold *mortise.Hold
}

func (l *lock) Acquire() (bool, error) {
	hold, err := l.Lock.Acquire(context.Background())
	l.hold = hold
	return err == nil, err
}

func (l *lock) Release() error { return l.hold.Unlock(context.Background()) }

func (l *lock) Lost() <-chan struct{} { return l.hold.Lost() }

func open(address string) func(string) contention.Lock {
	client, err := mortise.Open(context.Background(), "redis://"+address)
	if err != nil {
		log.Fatal("competitor: ", err)
	}
	return func(name string) contention.Lock {
		one, err := client.NewLock(name)
		if err != nil {
			log.Fatal("competitor: ", err)
		}
		return &lock{Lock: one}
	}
}

func main() { contention.Main(os.Args[1:], open) }
