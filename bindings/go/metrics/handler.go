// Package metrics serves the statistics of a client to Prometheus.
package metrics

import (
	"net/http"

	mortise "github.com/mortise/mortise-go"
)

// Handler returns a handler for a path such as /metrics. It replies with the client's statistics in
// the text format of Prometheus. After the client is closed, it replies with 503 and the reason. A
// program with several clients gives each its own path.
func Handler(client *mortise.Client) http.Handler {
	return http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
		stats, err := client.Stats()
		if err != nil {
			http.Error(answer, err.Error(), http.StatusServiceUnavailable)
			return
		}
		answer.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = answer.Write([]byte(stats.Prometheus)) // who has gone away needs no answer
	})
}
