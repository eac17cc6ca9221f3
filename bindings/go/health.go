package mortise

import (
	"context"
	"runtime"

	"github.com/mortise/mortise-go/internal/swig"
)

// Health is the result of a health check of the servers.
type Health struct {
	// Worst is the worst severity of all findings. It is SeverityUnknown without findings.
	Worst    Severity
	Findings []Finding
	// JSON is the whole result as one text.
	JSON string
}

// Finding is the result of one check at one server.
type Finding struct {
	// Name identifies the check, such as "maxmemory_policy". It stays the same in later versions.
	Name     string
	Severity Severity
	// Server is the address, without user and password.
	Server string
	// Value is the observed value.
	Value string
	// Consequence is what could happen, and Remedy how to fix it. Both are empty if the check
	// passed.
	Consequence, Remedy string
}

// Severity is the severity of a finding. Higher values are more severe. A later version of the
// library may add values.
type Severity int32

// String returns "ok", "unknown", "warn" or "bad".
func (v Severity) String() string { return swig.Text(swig.Severity_text(int32(v))) }

// CheckHealth checks the settings, rights and clocks of the servers, as far as they matter to
// locks. It changes nothing at a server. docs/health_check.md lists the findings.
func (c *Client) CheckHealth(ctx context.Context) (*Health, error) {
	e := c.core()
	if e == nil {
		return nil, noClient()
	}
	defer runtime.KeepAlive(c)
	var found *Health
	err := e.blocking(ctx, func() (err error) {
		found, err = e.readHealth(swig.Client_check_health)
		return err
	})
	if err != nil {
		return nil, under(ctx, err)
	}
	return found, nil
}

// LastHealth returns the last result, without a request to a server. The result comes from
// CheckHealth or, with WithHealthCheck, from the last connect. It has no findings before the first
// health check.
func (c *Client) LastHealth() (*Health, error) {
	e := c.core()
	if e == nil {
		return nil, noClient()
	}
	defer runtime.KeepAlive(c)
	return e.readHealth(swig.Client_last_health)
}

func (e *engine) readHealth(find func(client, details uintptr) uintptr) (*Health, error) {
	client, err := e.client.enter()
	if err != nil {
		return nil, clientClosed()
	}
	defer e.client.leave()
	address, err := made(func(details uintptr) uintptr { return find(client, details) })
	if err != nil {
		return nil, err
	}
	defer swig.Health_free(address)
	return readHealth(address), nil
}

func readHealth(address uintptr) *Health {
	read := &Health{
		Worst:    Severity(swig.Health_worst(address)),
		Findings: make([]Finding, swig.Health_count(address)),
		JSON:     swig.Text(swig.Health_json(address)),
	}
	for i := range read.Findings {
		index := int64(i)
		read.Findings[i] = Finding{
			Name:        swig.Text(swig.Health_name(address, index)),
			Severity:    Severity(swig.Health_severity(address, index)),
			Server:      swig.Text(swig.Health_server(address, index)),
			Value:       swig.Text(swig.Health_value(address, index)),
			Consequence: swig.Text(swig.Health_consequence(address, index)),
			Remedy:      swig.Text(swig.Health_remedy(address, index)),
		}
	}
	return read
}
