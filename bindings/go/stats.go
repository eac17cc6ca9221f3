package mortise

import (
	"runtime"

	"github.com/mortise/mortise-go/internal/swig"
)

// Stats is what a client has counted since it was made. docs/statistics.md explains the names. The
// package metrics serves them to Prometheus.
type Stats struct {
	// Samples are all values. A histogram has one sample for each bucket, its sum and its count, as
	// in the text format of Prometheus.
	Samples []Sample
	// JSON and Prometheus are all values as one text.
	JSON, Prometheus string
}

// Sample is one value with its name and labels.
type Sample struct {
	// Name is a name such as "mortise_holds". It stays the same in later versions.
	Name string
	// Type is "counter", "gauge" or "histogram", the type of the metric.
	Type string
	// Labels are pairs such as "kind" with "mutex".
	Labels map[string]string
	// Value is in seconds, or a count.
	Value float64
}

// Stats returns what the client has counted so far: acquires, holds, losses, round trips,
// connections. It sends no request.
func (c *Client) Stats() (*Stats, error) {
	e := c.core()
	if e == nil {
		return nil, noClient()
	}
	defer runtime.KeepAlive(c)
	return e.readStats()
}

func (e *engine) readStats() (*Stats, error) {
	client, err := e.client.enter()
	if err != nil {
		return nil, clientClosed()
	}
	defer e.client.leave()
	address, err := made(func(details uintptr) uintptr { return swig.Client_stats(client, details) })
	if err != nil {
		return nil, err
	}
	defer swig.Stats_free(address)
	return readStats(address), nil
}

func readStats(address uintptr) *Stats {
	read := &Stats{
		Samples:    make([]Sample, swig.Stats_count(address)),
		JSON:       swig.Text(swig.Stats_json(address)),
		Prometheus: swig.Text(swig.Stats_prometheus(address)),
	}
	for i := range read.Samples {
		index := int64(i)
		labels := map[string]string{}
		for j := int64(0); j < swig.Stats_label_count(address, index); j++ {
			name := swig.Text(swig.Stats_label_name(address, index, j))
			labels[name] = swig.Text(swig.Stats_label_value(address, index, j))
		}
		read.Samples[i] = Sample{
			Name:   swig.Text(swig.Stats_name(address, index)),
			Type:   swig.Text(swig.Stats_type(address, index)),
			Labels: labels,
			Value:  swig.Stats_value(address, index),
		}
	}
	return read
}
