package mortiseotel_test

import (
	"context"
	"fmt"
	"log"
	"os"

	mortise "github.com/mortise/mortise-go"
	"github.com/mortise/mortise-go/mortiseotel"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

func Example() {
	// A program has an exporter to its collector here.
	exporter := tracetest.NewInMemoryExporter()
	provider := trace.NewTracerProvider(trace.WithSyncer(exporter))
	ctx := context.Background()
	// In a program the URL is one such as "redis://localhost".
	client, err := mortise.Open(ctx, os.Getenv("MORTISE_TEST_URL"),
		mortise.WithListener(mortiseotel.New(provider)))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock, err := client.NewLock("report")
	if err != nil {
		log.Fatal(err)
	}
	err = mortise.Do(ctx, lock.Acquire, func(context.Context, *mortise.Hold) error { return nil })
	if err != nil {
		log.Fatal(err)
	}
	for _, span := range exporter.GetSpans() {
		fmt.Println(span.Name)
	}
	// Output:
	// mortise.wait
	// mortise.hold
}
