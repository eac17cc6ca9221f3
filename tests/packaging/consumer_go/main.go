// A user's program, built outside the source tree against an installed prefix.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/mortise/mortise-go"
)

func main() {
	ctx := context.Background()
	client, err := mortise.Open(ctx, os.Getenv("MORTISE_TEST_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock, err := client.NewLock("consumer")
	if err != nil {
		log.Fatal(err)
	}
	err = mortise.Do(ctx, lock.Try, func(ctx context.Context, hold *mortise.Hold) error {
		if hold.Token() <= 0 {
			return fmt.Errorf("the fencing token is %d", hold.Token())
		}
		return ctx.Err()
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(mortise.Version())
}
