package mortise

import (
	"context"
	"runtime"

	"github.com/mortise/mortise-go/internal/swig"
)

// Client is a connection to one deployment. All handles that are made from it share it.
type Client struct {
	engine *engine
}

// Open connects to the server. The URL is redis://[user[:password]@]host[:port][/db],
// unix:///path/to.sock, or local: for a private server of this user. A query sets options, as in
// "redis://localhost?lease=10s". An empty URL stands for the environment variable MORTISE_URL.
//
// If the server cannot be reached or is still loading, Open retries until the context ends or the
// client's command timeout is over, 3 s by default. See WithLazyConnect. When the context ends
// first, the attempt goes on in the background until the command timeout at most.
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
		return nil, under(ctx, ended(ctx, "the server has not replied yet"))
	}
}

// core is the engine, or nil of a client that Open has not made.
func (c *Client) core() *engine {
	if c == nil {
		return nil
	}
	return c.engine
}

// Close releases all holds without waiting for the replies. All waiting calls end with ErrClosed.
// Later calls of the client and of its handles return ErrClosed. A second Close does nothing.
func (c *Client) Close() error {
	e := c.core()
	if e == nil {
		return nil
	}
	defer runtime.KeepAlive(c)
	return e.close()
}

// SetCredentials gives the client another user and password, for programs that know when these
// change. The client logs in with them on the live connection and waits for the reply. New
// connections also use them. Holds and waits go on. User and password are any bytes. An empty user
// is the server's default user.
//
// Without a connection, the client stores the credentials and tries to connect at once. After every
// error the previous credentials stay in force at each server that did not accept the new ones; see
// mortise_client_set_credentials. A client with WithPasswordFile reads its password by itself, so
// this call returns ErrInvalidArgument.
func (c *Client) SetCredentials(ctx context.Context, user, password string) error {
	return c.ask(ctx, func(client, details uintptr) int32 {
		return swig.Client_set_credentials(client, user, password, details)
	})
}

// Ping checks that the server replies.
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
