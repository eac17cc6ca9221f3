package mortiseotel_test

import (
	"context"
	"os"
	"testing"
	"time"

	mortise "github.com/mortise/mortise-go"
	"github.com/mortise/mortise-go/mortiseotel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// traced is a client of the server that tests/support/with_server has started, with its spans.
func traced(t *testing.T, options ...mortise.Option) (
	*mortise.Client, *tracetest.SpanRecorder, *trace.TracerProvider,
) {
	t.Helper()
	url := os.Getenv("MORTISE_TEST_URL")
	if url == "" {
		t.Fatal("no MORTISE_TEST_URL: run this by tests/support/with_server")
	}
	recorder := tracetest.NewSpanRecorder()
	provider := trace.NewTracerProvider(trace.WithSpanProcessor(recorder))
	options = append(options, mortise.WithListener(mortiseotel.New(provider)))
	client, err := mortise.Open(context.Background(), url, options...)
	must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client, recorder, provider
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// spans waits until this number of spans has ended.
func spans(t *testing.T, recorder *tracetest.SpanRecorder, count int) []trace.ReadOnlySpan {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if ended := recorder.Ended(); len(ended) >= count {
			return ended
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("%d spans have ended, not %d", len(recorder.Ended()), count)
	return nil
}

func attributeOf(span trace.ReadOnlySpan, key string) attribute.Value {
	for _, pair := range span.Attributes() {
		if string(pair.Key) == key {
			return pair.Value
		}
	}
	return attribute.Value{}
}

func expectText(t *testing.T, span trace.ReadOnlySpan, key, text string) {
	t.Helper()
	if got := attributeOf(span, key).AsString(); got != text {
		t.Fatalf("%s of %s is %q, not %q", key, span.Name(), got, text)
	}
}

func TestWaitAndHoldAreChildrenOfTheContextsSpan(t *testing.T) {
	client, recorder, provider := traced(t)
	lock, err := client.NewLock("traced")
	must(t, err)
	ctx, request := provider.Tracer("test").Start(context.Background(), "request")
	hold, err := lock.Acquire(ctx)
	must(t, err)
	must(t, hold.Unlock(ctx))
	request.End()
	ended := spans(t, recorder, 3)
	wait, held := ended[0], ended[1]
	if wait.Name() != "mortise.wait" || held.Name() != "mortise.hold" {
		t.Fatalf("the spans are %s and %s", wait.Name(), held.Name())
	}
	for _, span := range []trace.ReadOnlySpan{wait, held} {
		if span.Parent().SpanID() != request.SpanContext().SpanID() {
			t.Fatalf("%s is no child of the request", span.Name())
		}
		expectText(t, span, "mortise.lock.name", "traced")
		expectText(t, span, "mortise.lock.kind", "mutex")
		if token := attributeOf(span, "mortise.token").AsInt64(); token != hold.Token() {
			t.Fatalf("the token of %s is %d, not %d", span.Name(), token, hold.Token())
		}
		if span.Status().Code != codes.Unset {
			t.Fatalf("%s has the status %v", span.Name(), span.Status())
		}
	}
	expectText(t, wait, "mortise.outcome", "granted")
	expectText(t, held, "mortise.outcome", "released")
	if !held.Links()[0].SpanContext.Equal(wait.SpanContext()) {
		t.Fatal("the hold has no link to its wait")
	}
}

func TestFailedWaitHasItsOutcome(t *testing.T) {
	client, recorder, _ := traced(t)
	one, err := client.NewLock("taken")
	must(t, err)
	other, err := client.NewLock("taken")
	must(t, err)
	hold, err := one.Acquire(context.Background())
	must(t, err)
	if _, err := other.Try(context.Background()); err == nil {
		t.Fatal("a taken lock was acquired")
	}
	if _, err := one.Try(context.Background()); err == nil {
		t.Fatal("a held lock was acquired again")
	}
	must(t, hold.Unlock(context.Background()))
	ended := spans(t, recorder, 4)
	expectText(t, ended[1], "mortise.outcome", "not_acquired")
	if ended[1].Status().Code != codes.Unset || ended[2].Status().Code != codes.Error {
		t.Fatalf("the statuses are %v and %v", ended[1].Status(), ended[2].Status())
	}
}

func TestLostHoldEndsWithAnError(t *testing.T) {
	client, recorder, _ := traced(t,
		mortise.WithLease(100*time.Millisecond), mortise.WithRenewal(false))
	lock, err := client.NewLock("lost")
	must(t, err)
	hold, err := lock.Acquire(context.Background())
	must(t, err)
	lost := spans(t, recorder, 2)[1]
	expectText(t, lost, "mortise.outcome", "lost")
	expectText(t, lost, "mortise.loss.reason", "expired")
	if lost.Status().Code != codes.Error || lost.Status().Description != "the hold was lost: expired" {
		t.Fatalf("the status is %v", lost.Status())
	}
	if hold.IsHeld() {
		t.Fatal("a lost hold is held")
	}
}

func TestStalledHoldHasItsReason(t *testing.T) {
	client, recorder, _ := traced(t,
		mortise.WithLease(100*time.Millisecond), mortise.WithProgress(100*time.Millisecond))
	lock, err := client.NewLock("stalled")
	must(t, err)
	hold, err := lock.Acquire(context.Background())
	must(t, err)
	expectText(t, spans(t, recorder, 2)[1], "mortise.loss.reason", "stalled")
	if hold.IsHeld() {
		t.Fatal("a stalled hold is held")
	}
}

func TestUpgradeIsAnEventOfItsHold(t *testing.T) {
	client, recorder, _ := traced(t)
	lock, err := client.NewRW("upgraded")
	must(t, err)
	hold, err := lock.Read(context.Background())
	must(t, err)
	must(t, lock.TryUpgrade(context.Background(), hold))
	must(t, hold.Unlock(context.Background()))
	held := spans(t, recorder, 2)[1]
	expectText(t, held, "mortise.lock.kind", "write")
	if held.Events()[0].Name != "upgraded" {
		t.Fatalf("the event is %q", held.Events()[0].Name)
	}
}
