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
// "redis://localhost?lease=10s"; "" is the URL in the environment variable MORTISE_URL. A server
// that is not there yet, or still loading, is tried until the context ends or the client's command
// timeout, 3 s by default, is over; see WithLazyConnect. When the context ends first, that goes on
// in the background until then at most.
func Open(ctx context.Context, url string, options ...Option) (*Client, error) {
	if err := alive(ctx); err != nil {
		return nil, under(ctx, err)
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
			return nil, under(ctx, r.err)
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
		return nil, under(ctx, ended(ctx, "the server has not answered yet"))
	}
}

// core is the engine, or nil of a client that Open has not made.
func (c *Client) core() *engine {
	if c == nil {
		return nil
	}
	return c.engine
}

// Close gives back all holds, without waiting for the answers, and ends all calls that wait with
// ErrClosed. From then on its handles answer ErrClosed. A second Close does nothing.
func (c *Client) Close() error {
	e := c.core()
	if e == nil {
		return nil
	}
	defer runtime.KeepAlive(c)
	return e.close()
}

// SetCredentials gives the client another user and password, where the program knows when they
// change: they are said on the live connection, whose answer is waited for, and new connections log
// in with them. Holds and waits go on. Both are any bytes; the user "" is the server's default one.
// Without a connection at the moment they are kept, and tried at once. After every error those
// before stay in force; see mortise_client_set_credentials. A client that reads its password from a
// file, by WithPasswordFile, needs no such call, and answers ErrInvalidArgument.
func (c *Client) SetCredentials(ctx context.Context, user, password string) error {
	return c.ask(ctx, func(client, details uintptr) int32 {
		return swig.Client_set_credentials(client, user, password, details)
	})
}

// Ping asks the server for a sign of life.
func (c *Client) Ping(ctx context.Context) error {
	return c.ask(ctx, swig.Client_ping)
}

// ask makes a call of C that answers when the server has.
func (c *Client) ask(ctx context.Context, call func(client, details uintptr) int32) error {
	e := c.core()
	if e == nil {
		return noClient()
	}
	defer runtime.KeepAlive(c)
	return under(ctx, e.blocking(ctx, func() error {
		client, err := e.client.enter()
		if err != nil {
			return clientClosed()
		}
		defer e.client.leave()
		return checked(func(details uintptr) int32 { return call(client, details) })
	}))
}
