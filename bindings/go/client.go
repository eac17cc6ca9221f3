package mortise

import (
	"context"
	"runtime"

	"github.com/mortise/mortise-go/internal/swig"
)

// Client is one connection to one server, shared by all handles that are made from it.
type Client struct {
	engine *engine
}

// Open connects and greets the server. The URL is redis://[user[:password]@]host[:port][/db],
// unix:///path/to.sock, or local: for a private server of this user; a query sets options, as in
// "redis://localhost?lease=10s". The context ends the wait; the client's command timeout, 3 s by
// default, does so too.
func Open(ctx context.Context, url string, options ...Option) (*Client, error) {
	if err := alive(ctx); err != nil {
		return nil, err
	}
	type result struct {
		engine *engine
		err    error
	}
	opened := make(chan result, 1)
	go func() {
		e, err := newEngine(url, options)
		opened <- result{e, err}
	}()
	select {
	case r := <-opened:
		if r.err != nil {
			return nil, r.err
		}
		client := &Client{r.engine}
		// A safety net for a client that nobody closed, and that nothing refers to.
		runtime.SetFinalizer(client, func(c *Client) { go c.engine.close() })
		return client, nil
	case <-ctx.Done():
		go func() { // when it opens after all
			if r := <-opened; r.err == nil {
				r.engine.close()
			}
		}()
		return nil, ended(ctx, "the server has not answered yet")
	}
}

// Close gives back all holds, without waiting for the answers, and ends all calls that wait with
// ErrClosed. From then on its handles answer ErrClosed. A second Close does nothing.
func (c *Client) Close() error {
	if c.engine == nil {
		return nil
	}
	return c.engine.close()
}

// Ping asks the server for a sign of life.
func (c *Client) Ping(ctx context.Context) error {
	e := c.engine
	if e == nil {
		return failure(ErrInvalidArgument, "this Client was not made by Open")
	}
	defer runtime.KeepAlive(c)
	return e.blocking(ctx, func() error {
		client, err := e.client.enter()
		if err != nil {
			return failure(ErrClosed, "the client was closed")
		}
		defer e.client.leave()
		return checked(func(details uintptr) int32 { return swig.Client_ping(client, details) })
	})
}

// owner is what the user's objects have in common that own one name.
type owner struct {
	handle *handle
	client *Client // kept from being collected
}

// newOwner makes a handle of this name; the options replace those of the client.
func (c *Client) newOwner(k *kind, options []Option,
	create func(client, options, details uintptr) uintptr) (owner, error) {
	var h *handle
	err := withOptions(options, func(options uintptr) (err error) {
		h, err = newHandle(c.engine, k, func(client, details uintptr) uintptr {
			return create(client, options, details)
		})
		return err
	})
	return owner{h, c}, err
}

// Close gives back what is held, without waiting for the answer; a call that waits ends with
// ErrClosed, and so does every later one. A second Close does nothing.
func (o *owner) Close() error { return o.handle.close() }

// Token is the fencing token of the last hold, also after its end. 0 before the first.
func (o *owner) Token() int64 {
	if o.handle == nil {
		return 0
	}
	return look(o.handle, o.handle.kind.token)
}

// Query asks the server who holds the lock and who waits.
func (o *owner) Query(ctx context.Context) (*Info, error) {
	defer runtime.KeepAlive(o)
	return o.handle.query(ctx)
}
