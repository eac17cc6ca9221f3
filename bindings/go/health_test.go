package mortise

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestHealthTellsTheSameAsJSON(t *testing.T) {
	server := startServer(t)
	client := server.open(t)
	none, err := client.LastHealth()
	must(t, err)
	if len(none.Findings) != 0 || none.Worst != SeverityUnknown {
		t.Fatalf("before a health check there is %v", none)
	}
	found, err := client.CheckHealth(within(t))
	must(t, err)
	var decoded struct {
		Worst    string
		Findings []struct{ Name, Severity, Server, Value, Consequence, Remedy string }
	}
	must(t, json.Unmarshal([]byte(found.JSON), &decoded))
	if decoded.Worst != found.Worst.String() || len(decoded.Findings) != len(found.Findings) {
		t.Fatalf("%s is not %v", found.JSON, found)
	}
	for i, one := range found.Findings {
		if same := decoded.Findings[i]; same.Name != one.Name || same.Severity != one.Severity.String() ||
			same.Server != one.Server || same.Value != one.Value ||
			same.Consequence != one.Consequence || same.Remedy != one.Remedy {
			t.Errorf("%v is not %v", same, one)
		}
	}
	last, err := client.LastHealth()
	must(t, err)
	if last.JSON != found.JSON {
		t.Errorf("%s is not %s", last.JSON, found.JSON)
	}
}

// It sends nothing, so it waits for no other call.
func TestLastHealthNeedsNoSlot(t *testing.T) {
	client := startServer(t).open(t)
	for i := 0; i < blockingCalls; i++ {
		client.engine.slots <- struct{}{}
	}
	looked := make(chan error, 1)
	go func() { looked <- only(client.LastHealth()) }()
	select {
	case err := <-looked:
		must(t, err)
	case <-time.After(patience):
		t.Fatal("it waits for the other calls")
	}
	for i := 0; i < blockingCalls; i++ {
		<-client.engine.slots
	}
}

func TestStrictHealthRefusesToOpen(t *testing.T) {
	server := startServer(t)
	server.ask(t, "CONFIG SET maxmemory 1gb")
	server.ask(t, "CONFIG SET maxmemory-policy allkeys-lru")
	client, err := Open(within(t), server.url, WithHealthCheck("warn"))
	must(t, err)
	defer client.Close()
	found, err := client.LastHealth()
	must(t, err)
	if found.Worst != SeverityBad {
		t.Errorf("%v", found)
	}
	_, err = Open(within(t), server.url, WithHealthCheck("strict"))
	expect(t, err, ErrRefused)
	if !strings.Contains(err.Error(), "maxmemory_policy") {
		t.Error(err)
	}
}
