// Package metrics serves what a client has counted to Prometheus.
package metrics

import (
	"net/http"

	mortise "github.com/mortise/mortise-go"
)

// Handler answers with the client's statistics in Prometheus' text format, as /metrics does; after
// the client was closed with 503 and why. A program with several clients gives each a path.
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
