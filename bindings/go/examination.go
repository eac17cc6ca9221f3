package mortise

import (
	"context"
	"runtime"

	"github.com/mortise/mortise-go/internal/swig"
)

// Examination is the result of a health check of the servers.
type Examination struct {
	// Worst is the worst verdict of all findings. It is VerdictUnknown without findings.
	Worst    Verdict
	Findings []Finding
	// JSON is the whole result as one text.
	JSON string
}

// Finding is the result of one check at one server.
type Finding struct {
	// Name identifies the check, such as "maxmemory_policy". It stays the same in later versions.
	Name    string
	Verdict Verdict
	// Server is the address, without user and password.
	Server string
	// Value is the observed value.
	Value string
	// Consequence is what could happen, and Mend how to fix it. Both are empty if the check passed.
	Consequence, Mend string
}

// Verdict is the severity of a finding. Higher values are more severe. A later version of the
// library may add values.
type Verdict int32

// String returns "ok", "unknown", "warn" or "bad".
func (v Verdict) String() string { return swig.Text(swig.Verdict_text(int32(v))) }

// Examine checks the settings, rights and clocks of the servers, as far as they matter to locks. It
// changes nothing at a server. docs/examination.md lists the findings.
func (c *Client) Examine(ctx context.Context) (*Examination, error) {
	return c.examination(ctx, swig.Client_examine)
}

// Examination returns the last result, without a request to a server. It comes from Examine or,
// with WithExamination, from the last connect. It has no findings before the first health check.
func (c *Client) Examination() (*Examination, error) {
	return c.examination(context.Background(), swig.Client_examination)
}

func (c *Client) examination(
	ctx context.Context, find func(client, details uintptr) uintptr,
) (*Examination, error) {
	e := c.core()
	if e == nil {
		return nil, noClient()
	}
	defer runtime.KeepAlive(c)
	var found *Examination
	err := e.blocking(ctx, func() error {
		client, err := e.client.enter()
		if err != nil {
			return clientClosed()
		}
		defer e.client.leave()
		address, err := made(func(details uintptr) uintptr { return find(client, details) })
		if err != nil {
			return err
		}
		defer swig.Examination_free(address)
		found = readExamination(address)
		return nil
	})
	if err != nil {
		return nil, under(ctx, err)
	}
	return found, nil
}

func readExamination(address uintptr) *Examination {
	read := &Examination{
		Worst:    Verdict(swig.Examination_worst(address)),
		Findings: make([]Finding, swig.Examination_count(address)),
		JSON:     swig.Text(swig.Examination_json(address)),
	}
	for i := range read.Findings {
		index := int64(i)
		read.Findings[i] = Finding{
			Name:        swig.Text(swig.Examination_name(address, index)),
			Verdict:     Verdict(swig.Examination_verdict(address, index)),
			Server:      swig.Text(swig.Examination_server(address, index)),
			Value:       swig.Text(swig.Examination_value(address, index)),
			Consequence: swig.Text(swig.Examination_consequence(address, index)),
			Mend:        swig.Text(swig.Examination_mend(address, index)),
		}
	}
	return read
}
