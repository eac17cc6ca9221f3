package mortise

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// patience is longer than anything here takes; whoever reaches it has failed.
const patience = 60 * time.Second

// server is a redis-server of the test's own, or what MORTISE_TEST_SERVER names, on a unix socket in
// a folder of its own.
type server struct {
	url     string
	socket  string
	process *os.Process
}

func startServer(t testing.TB) *server {
	t.Helper()
	program := os.Getenv("MORTISE_TEST_SERVER")
	if program == "" {
		program = "redis-server"
	}
	// Not t.TempDir, as the path of a socket may have 108 bytes only.
	folder, err := os.MkdirTemp("", "mortise-go-")
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(folder, "redis.sock")
	command := exec.Command(program, "--port", "0", "--unixsocket", socket, "--save", "",
		"--appendonly", "no", "--dir", folder)
	// The server ends with this process, however that ends.
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		os.RemoveAll(folder)
	})
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		connection, err := net.Dial("unix", socket)
		if err == nil {
			connection.Close()
			return &server{"unix://" + socket, socket, command.Process}
		}
		if time.Now().After(deadline) {
			t.Fatal("the server does not start: ", err)
		}
	}
}

// ask sends one line to the server and returns the beginning of its answer.
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

func (s *server) signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	if err := s.process.Signal(signal); err != nil {
		t.Fatal(err)
	}
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

func expect(t testing.TB, err, wanted error) {
	t.Helper()
	if !errors.Is(err, wanted) {
		t.Fatalf("got %v; want %v", err, wanted)
	}
}

// within is a context that is longer than anything here takes.
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

// waiters is how many wait for the lock, inside the client and at the server, by the client's strict
// fairness.
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
