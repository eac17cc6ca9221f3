package mortise_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/mortise/mortise-go"
)

// In a program the URL is one such as "redis://localhost".
var url = os.Getenv("MORTISE_TEST_URL")

func Example() {
	ctx := context.Background()
	client, err := mortise.Open(ctx, url)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock, err := client.NewLock("report")
	if err != nil {
		log.Fatal(err)
	}
	hold, err := lock.Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("held:", hold.IsHeld())
	// Work under hold.Context(), and give hold.Token() to whatever the lock protects.
	fmt.Println("unlocked:", hold.Unlock(ctx))
	// Output:
	// held: true
	// unlocked: <nil>
}

func ExampleDo() {
	ctx := context.Background()
	client, err := mortise.Open(ctx, url)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock, err := client.NewLock("report", mortise.WithLease(10*time.Second))
	if err != nil {
		log.Fatal(err)
	}
	err = mortise.Do(ctx, lock.Acquire, func(ctx context.Context, hold *mortise.Hold) error {
		fmt.Println("alone, with a token:", hold.Token() > 0)
		return ctx.Err() // over when the hold is lost
	})
	fmt.Println(err)
	// Output:
	// alone, with a token: true
	// <nil>
}

func ExampleLock_Acquire() {
	client, err := mortise.Open(context.Background(), url)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	one, _ := client.NewLock("report")
	other, _ := client.NewLock("report")
	hold, err := one.Acquire(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	_, err = other.Acquire(ctx)
	fmt.Println(errors.Is(err, mortise.ErrTimedOut), errors.Is(err, context.DeadlineExceeded))
	_, err = other.Try(context.Background())
	fmt.Println(errors.Is(err, mortise.ErrNotAcquired))
	fmt.Println(hold.Unlock(context.Background()))
	// Output:
	// true true
	// true
	// <nil>
}

func ExampleClient_NewMulti() {
	ctx := context.Background()
	client, err := mortise.Open(ctx, url)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	from, _ := client.NewLock("account:1")
	to, _ := client.NewLock("account:2")
	both, err := client.NewMulti(from, to)
	if err != nil {
		log.Fatal(err)
	}
	hold, err := both.Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("both:", from.Token() > 0 && to.Token() > 0)
	fmt.Println(hold.Unlock(ctx))
	// Output:
	// both: true
	// <nil>
}

func ExampleSemaphore() {
	ctx := context.Background()
	client, err := mortise.Open(ctx, url)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	slots, err := client.NewSemaphore("slots", 10)
	if err != nil {
		log.Fatal(err)
	}
	three := func(ctx context.Context) (*mortise.Hold, error) { return slots.Acquire(ctx, 3) }
	err = mortise.Do(ctx, three, func(ctx context.Context, hold *mortise.Hold) error {
		info, err := slots.Query(ctx)
		if err == nil {
			fmt.Println(info.PermitsInUse, "of", info.Permits)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// 3 of 10
	// <nil>
}

func ExampleRW() {
	ctx := context.Background()
	client, err := mortise.Open(ctx, url)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	config, err := client.NewRW("config")
	if err != nil {
		log.Fatal(err)
	}
	hold, err := config.Read(ctx)
	if err != nil {
		log.Fatal(err)
	}
	// Others read, too. To write, be the only one, or unlock and wait for your turn.
	fmt.Println("reads:", config.IsReading())
	if err := config.TryUpgrade(ctx, hold); err == nil {
		fmt.Println("writes:", config.IsWriting())
	}
	fmt.Println(hold.Unlock(ctx))
	// Output:
	// reads: true
	// writes: true
	// <nil>
}
