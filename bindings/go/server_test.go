package mortise

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// patience is longer than any step here takes. A test that reaches it has failed.
const patience = 60 * time.Second

// server is a server of the test's own, from tests/support/server, on a unix socket.
type server struct {
	url      string
	socket   string
	commands io.Writer
	output   *bufio.Reader
}

func startServer(t testing.TB) *server {
	t.Helper()
	launcher := exec.Command("../../tests/support/server")
	launcher.Stderr = os.Stderr
	commands, err := launcher.StdinPipe()
	must(t, err)
	output, err := launcher.StdoutPipe()
	must(t, err)
	must(t, launcher.Start())
	t.Cleanup(func() {
		commands.Close()
		_ = launcher.Wait()
	})
	s := &server{commands: commands, output: bufio.NewReader(output)}
	s.socket = strings.Fields(s.receive(t))[1] + "/redis.sock"
	s.url = "unix://" + s.socket
	return s
}

func (s *server) receive(t testing.TB) string {
	t.Helper()
	line, err := s.output.ReadString('\n')
	must(t, err)
	return line
}

// control has the launcher do something with the server, such as pause, resume or kill it.
func (s *server) control(t testing.TB, command string) {
	t.Helper()
	_, err := io.WriteString(s.commands, command+"\n")
	must(t, err)
	s.receive(t)
}

// ask sends one line to the server and returns the beginning of its reply.
func (s *server) ask(t testing.TB, line string) string {
	t.Helper()
	connection, err := net.Dial("unix", s.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if _, err := connection.Write([]byte(line + "\r\n")); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 4096)
	length, err := connection.Read(answer)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer[:length])
}

func (s *server) open(t testing.TB, options ...Option) *Client {
	t.Helper()
	client, err := Open(context.Background(), s.url, options...)
	must(t, err)
	t.Cleanup(func() { client.Close() })
	return client
}

func (c *Client) lock(t testing.TB, name string, options ...Option) *Lock {
	t.Helper()
	lock, err := c.NewLock(name, options...)
	must(t, err)
	return lock
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func expect(t testing.TB, err, expected error) {
	t.Helper()
	if !errors.Is(err, expected) {
		t.Fatalf("got %v; want %v", err, expected)
	}
}

// within is a context that is longer than any step here takes.
func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// eventually waits until something has come true.
func eventually(t testing.TB, what string, isTrue func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !isTrue(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it never happened that ", what)
		}
	}
}

// waiters is how many wait for the lock, inside the client and at the server, by the client's
// strict fairness.
func waiters(t testing.TB, lock *Lock) int64 {
	t.Helper()
	info, err := lock.Query(within(t))
	must(t, err)
	return info.WaiterCount
}

// receive waits for a channel to be closed.
func receive(t testing.TB, what string, from <-chan struct{}) {
	t.Helper()
	select {
	case <-from:
	case <-time.After(patience):
		t.Fatal("it never happened that ", what)
	}
}
