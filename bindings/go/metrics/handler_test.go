package metrics_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	mortise "github.com/mortise/mortise-go"
	"github.com/mortise/mortise-go/metrics"
)

// get asks the handler as Prometheus does.
func get(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(text)
}

func TestHandlerServesWhatWasCounted(t *testing.T) {
	ctx := context.Background()
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir()) // where the server of local: is
	client, err := mortise.Open(ctx, "local:")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	lock, err := client.NewLock("report")
	if err != nil {
		t.Fatal(err)
	}
	hold, err := lock.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(metrics.Handler(client))
	defer server.Close()
	answer, text := get(t, server.URL)
	if kind := answer.Header.Get("Content-Type"); !strings.Contains(kind, "version=0.0.4") {
		t.Error("the type is", kind)
	}
	if !strings.Contains(text, "mortise_holds{kind=\"mutex\"} 1\n") {
		t.Error("the hold is not in", text)
	}
	if err := hold.Unlock(ctx); err != nil {
		t.Fatal(err)
	}
	client.Close()
	if answer, text := get(t, server.URL); answer.StatusCode != http.StatusServiceUnavailable {
		t.Error("a closed client answers", answer.Status, text)
	}
}
