package mortise

import (
	"context"
	"runtime"

	"github.com/mortise/mortise-go/internal/swig"
)

// Examination is what was found when the servers were examined.
type Examination struct {
	// Worst is the worst verdict of all findings; VerdictUnknown without any.
	Worst    Verdict
	Findings []Finding
	// JSON is all of it as one text.
	JSON string
}

// Finding is what was found of one matter at one server.
type Finding struct {
	// Name stays the same in later versions, such as "maxmemory_policy".
	Name    string
	Verdict Verdict
	// Server is the address, without user and password.
	Server string
	// Value is what was seen.
	Value string
	// Consequence is what could happen, and Mend what to do about it; both are empty where all is
	// well.
	Consequence, Mend string
}

// Verdict is what an examination found of one matter; the higher, the worse. A later version of the
// library may add values.
type Verdict int32

// String is "ok", "unknown", "warn" or "bad".
func (v Verdict) String() string { return swig.Text(swig.Verdict_text(int32(v))) }

// Examine examines the servers: their settings, rights and clocks, as far as they matter to
// locks. It changes nothing at a server. The findings are on the page about examination.
func (c *Client) Examine(ctx context.Context) (*Examination, error) {
	return c.examination(ctx, swig.Client_examine)
}

// Examination is what was found last, by Examine or, with WithExamination, when the client
// connected last. It asks nobody, and is without findings where nothing was examined so far.
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
