// The competitors rueidislock, redsync and bsm/redislock, as in their READMEs and examples. The
// first argument selects one, the others are those of the contract in competitor.c.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/mortise/mortise-go/bench/contention"
)

var ctx = context.Background()

type rueidisLock struct {
	locker  rueidislock.Locker
	name    string
	held    context.Context
	release context.CancelFunc
}

func openRueidislock(address string) func(string) contention.Lock {
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:   rueidis.ClientOption{InitAddress: []string{address}},
		KeyMajority:    1,
		NoLoopTracking: true,
	})
	if err != nil {
		log.Fatal("competitor: ", err)
	}
	return func(name string) contention.Lock { return &rueidisLock{locker: locker, name: name} }
}

func (l *rueidisLock) Acquire() (bool, error) {
	held, release, err := l.locker.WithContext(ctx, l.name)
	l.held, l.release = held, release
	return err == nil, err
}

func (l *rueidisLock) Release() error {
	l.release()
	return nil
}

func (l *rueidisLock) Lost() <-chan struct{} { return l.held.Done() }

type redsyncLock struct{ *redsync.Mutex }

func openRedsync(address string) func(string) contention.Lock {
	client := redis.NewClient(&redis.Options{Addr: address})
	rs := redsync.New(goredis.NewPool(client))
	return func(name string) contention.Lock { return redsyncLock{rs.NewMutex(name)} }
}

// After its 32 tries it is asked again.
func (l redsyncLock) Acquire() (bool, error) {
	err := l.Lock()
	var taken *redsync.ErrTaken
	if errors.Is(err, redsync.ErrFailed) || errors.As(err, &taken) {
		return false, nil
	}
	return err == nil, err
}

func (l redsyncLock) Release() error {
	_, err := l.Unlock()
	return err
}

func (l redsyncLock) Lost() <-chan struct{} { return nil }

type bsmLock struct {
	locker *redislock.Client
	name   string
	held   *redislock.Lock
}

func openBsm(address string) func(string) contention.Lock {
	client := redis.NewClient(&redis.Options{Network: "tcp", Addr: address})
	locker := redislock.New(client)
	return func(name string) contention.Lock { return &bsmLock{locker: locker, name: name} }
}

// As its example with retries: a lock of a second, three tries more. Then it is asked again.
func (l *bsmLock) Acquire() (bool, error) {
	backoff := redislock.LimitRetry(redislock.LinearBackoff(100*time.Millisecond), 3)
	held, err := l.locker.Obtain(ctx, l.name, time.Second,
		&redislock.Options{RetryStrategy: backoff})
	l.held = held
	if errors.Is(err, redislock.ErrNotObtained) {
		return false, nil
	}
	return err == nil, err
}

func (l *bsmLock) Release() error { return l.held.Release(ctx) }

func (l *bsmLock) Lost() <-chan struct{} { return nil }

func main() {
	openers := map[string]func(string) func(string) contention.Lock{
		"rueidislock": openRueidislock, "redsync": openRedsync, "bsm": openBsm}
	contention.Main(os.Args[2:], openers[os.Args[1]])
}
