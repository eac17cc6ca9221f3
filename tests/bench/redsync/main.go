// The benchmark's contenders for one lock by redsync, with its defaults. The arguments are their
// number and the URLs of the servers, unix:///path each. A line "contend MS HOLD_US PAUSE_US" lets
// them contend for so long, each holding for a moment and pausing after it, at random, for as long
// on average. The answer is a line with the time of each acquire in microseconds, with failed ones
// and their repetition.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	client "github.com/redis/go-redis/v9"
)

const name = "redsync-bench"

func main() {
	count, err := strconv.Atoi(os.Args[1])
	must(err)
	contenders := make([]*redsync.Mutex, count)
	for i := range contenders {
		contenders[i] = newMutex(os.Args[2:])
	}
	requests := bufio.NewScanner(os.Stdin)
	for requests.Scan() {
		var length, hold, pause int64
		_, err := fmt.Sscanf(requests.Text(), "contend %d %d %d", &length, &hold, &pause)
		must(err)
		end := time.Now().Add(time.Duration(length) * time.Millisecond)
		fmt.Println(contend(contenders, end, time.Duration(hold)*time.Microsecond,
			time.Duration(pause)*time.Microsecond))
	}
}

func must(err error) {
	if err != nil {
		log.Fatal("bench: ", err)
	}
}

// newMutex has connections of its own, as another process would.
func newMutex(urls []string) *redsync.Mutex {
	pools := make([]redis.Pool, len(urls))
	for i, url := range urls {
		path := strings.TrimPrefix(url, "unix://")
		one := client.NewClient(&client.Options{Network: "unix", Addr: path})
		must(one.Ping(context.Background()).Err())
		pools[i] = goredis.NewPool(one)
	}
	return redsync.New(pools...).NewMutex(name)
}

func contend(contenders []*redsync.Mutex, end time.Time, hold, pause time.Duration) string {
	taken := make([][]string, len(contenders))
	var group sync.WaitGroup
	for i := range contenders {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			for time.Now().Before(end) {
				start := time.Now()
				for contenders[i].Lock() != nil {
				}
				taken[i] = append(taken[i], strconv.FormatInt(time.Since(start).Microseconds(), 10))
				time.Sleep(hold)
				_, err := contenders[i].Unlock()
				must(err)
				time.Sleep(time.Duration(rand.Int63n(2 * int64(pause))))
			}
		}(i)
	}
	group.Wait()
	var all []string
	for _, one := range taken {
		all = append(all, one...)
	}
	return strings.Join(all, " ")
}
