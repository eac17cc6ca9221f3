package mortise

import (
	"context"
	"testing"
	"time"
)

func nextLine(t *testing.T, lines <-chan LogLine) LogLine {
	t.Helper()
	select {
	case line, isOpen := <-lines:
		if !isOpen {
			t.Fatal("the log has ended")
		}
		return line
	case <-time.After(patience):
		t.Fatal("no line of the log")
	}
	return LogLine{}
}

func expectEnd[T any](t *testing.T, channel <-chan T) {
	t.Helper()
	for over := time.After(patience); ; {
		select {
		case _, isOpen := <-channel:
			if !isOpen {
				return
			}
		case <-over:
			t.Fatal("the channel is not closed")
		}
	}
}

func TestLogTellsWhatWasLost(t *testing.T) {
	server := startServer(t)
	client := server.open(t)
	lines, err := client.Log(within(t), LogLevelError)
	must(t, err)
	hold, err := client.lock(t, "a").Acquire(within(t))
	must(t, err)
	server.ask(t, "DEL {mortise:a}")
	expect(t, hold.Extend(within(t), 0), ErrLost)
	line := nextLine(t, lines)
	if line.Level != LogLevelError || line.Subject != LogLost || line.Lock != "a" ||
		line.DroppedRecords != 0 || line.Text == "" || line.Level.String() != "error" ||
		line.Subject.String() != "lost" {
		t.Errorf("%+v", line)
	}
	expect(t, line.Err, ErrLost)
}

func TestLogTellsWhatAnUnlockThatWasSentCameTo(t *testing.T) {
	server := startServer(t)
	client := server.open(t)
	lines, err := client.Log(within(t), LogLevelError)
	must(t, err)
	lose := func(name string, option Option) error {
		hold, err := client.lock(t, name, option).Acquire(within(t))
		must(t, err)
		server.ask(t, "DEL {mortise:"+name+"}")
		return hold.Unlock(within(t))
	}
	expect(t, lose("answered", WithRelease(Answered)), ErrLost)
	must(t, lose("sent", WithRelease(Sent)))
	line := nextLine(t, lines)
	if line.Lock == "answered" { // a loss that its unlock has returned may be a line as well
		line = nextLine(t, lines)
	}
	if line.Subject != LogLost || line.Lock != "sent" {
		t.Errorf("%+v", line)
	}
	expect(t, line.Err, ErrLost)
}

func TestLogEnds(t *testing.T) {
	client := startServer(t).open(t)
	ctx, cancel := context.WithCancel(within(t))
	first, err := client.Log(ctx, LogLevelInfo)
	must(t, err)
	second, err := client.Log(ctx, LogLevelInfo)
	must(t, err)
	expectEnd(t, first) // it was replaced
	cancel()
	expectEnd(t, second)
	_, err = client.Log(ctx, LogLevelInfo)
	expect(t, err, ErrCancelled)
	_, err = client.Log(within(t), 77)
	expect(t, err, ErrInvalidArgument)
	third, err := client.Log(within(t), LogLevelInfo)
	must(t, err)
	must(t, client.Close())
	expectEnd(t, third)
}

func TestStatsEverySoOften(t *testing.T) {
	client := startServer(t).open(t)
	hold, err := client.lock(t, "a").Acquire(within(t))
	must(t, err)
	ctx, cancel := context.WithCancel(within(t))
	all, err := client.StatsEvery(ctx, 10*time.Millisecond)
	must(t, err)
	for i := 0; i < 3; i++ {
		select {
		case counted := <-all:
			if len(counted.Samples) == 0 {
				t.Error("no samples")
			}
		case <-time.After(patience):
			t.Fatal("no statistics")
		}
	}
	cancel()
	expectEnd(t, all)
	must(t, hold.Unlock(within(t)))
	_, err = client.StatsEvery(within(t), time.Millisecond)
	expect(t, err, ErrInvalidArgument)
	left, err := client.StatsEvery(within(t), 10*time.Millisecond)
	must(t, err)
	must(t, client.Close())
	expectEnd(t, left)
}

// A log that is never read delays no call, and counts its dropped lines.
func TestLogThatNobodyReads(t *testing.T) {
	r := &reports{tag: 1, lines: make(chan LogLine, 1), over: make(chan struct{})}
	e := &engine{log: r}
	for i := 0; i < 5; i++ {
		e.report(1, &LogLine{DroppedRecords: 1})
	}
	e.report(2, &LogLine{}) // of a watch before
	if line := <-r.lines; line.DroppedRecords != 1 {
		t.Error(line.DroppedRecords)
	}
	e.report(1, &LogLine{})
	if line := <-r.lines; line.DroppedRecords != 8 {
		t.Error(line.DroppedRecords)
	}
}
