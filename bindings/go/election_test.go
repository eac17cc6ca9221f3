package mortise

import (
	"context"
	"testing"
	"time"
)

func (c *Client) election(t testing.TB, name string, options ...Option) *Election {
	t.Helper()
	election, err := c.NewElection(name, options...)
	must(t, err)
	return election
}

// nextLeader returns the next leader that satisfies the condition.
func nextLeader(t *testing.T, leaders <-chan *Leader, isRight func(*Leader) bool) *Leader {
	t.Helper()
	for over := time.After(patience); ; {
		select {
		case leader, isOpen := <-leaders:
			if !isOpen {
				t.Fatal("the observation has ended")
			}
			if isRight(leader) {
				return leader
			}
		case <-over:
			t.Fatal("no such leader")
		}
	}
}

func isNobody(leader *Leader) bool { return leader == nil }

func TestElectionWithDo(t *testing.T) {
	client := startServer(t).open(t)
	candidate := client.election(t, "a", WithValue("10.0.0.5:8080"))
	observer := client.election(t, "a")
	leaders, err := observer.Observe(within(t), 10*time.Millisecond)
	must(t, err)
	nextLeader(t, leaders, isNobody)
	must(t, Do(within(t), candidate.Campaign, func(ctx context.Context, hold *Hold) error {
		if !candidate.IsLeader() || hold.Token() != candidate.Token() {
			t.Error("the candidate does not lead")
		}
		_, err := observer.TryCampaign(ctx)
		expect(t, err, ErrNotAcquired)
		leader := nextLeader(t, leaders, func(leader *Leader) bool {
			return leader != nil && leader.Value == "10.0.0.5:8080"
		})
		if leader.IsMine || leader.Owner == "" || leader.PID == 0 {
			t.Errorf("%+v", leader)
		}
		mine, err := candidate.Leader(ctx)
		must(t, err)
		if !mine.IsMine || mine.Owner != leader.Owner {
			t.Errorf("%+v", mine)
		}
		return nil
	}))
	nextLeader(t, leaders, isNobody)
	nobody, err := candidate.Leader(within(t))
	must(t, err)
	if nobody != nil || candidate.IsLeader() {
		t.Error("it still leads")
	}
}

func TestObservationEnds(t *testing.T) {
	client := startServer(t).open(t)
	election := client.election(t, "a")
	first, err := election.Observe(within(t), 0)
	must(t, err)
	nextLeader(t, first, isNobody)
	ctx, cancel := context.WithCancel(within(t))
	second, err := election.Observe(ctx, 0)
	must(t, err)
	expectEnd(t, first)
	nextLeader(t, second, isNobody)
	cancel()
	expectEnd(t, second)
	_, err = election.Observe(ctx, 0)
	expect(t, err, ErrCancelled)
	_, err = election.Observe(within(t), -1)
	expect(t, err, ErrInvalidArgument)
	third, err := election.Observe(within(t), 0)
	must(t, err)
	must(t, election.Close())
	expectEnd(t, third)
	fourth, err := client.election(t, "a").Observe(within(t), 0)
	must(t, err)
	must(t, client.Close())
	expectEnd(t, fourth)
}

// Nothing would end an observation that began after the close.
func TestObserveDuringAClose(t *testing.T) {
	election := startServer(t).open(t).election(t, "a")
	h := election.own().core()
	_, err := h.enter() // as Observe does first
	must(t, err)
	must(t, election.Close())
	begin := func(int64, uintptr) int32 { return 0 }
	expect(t, h.engine.beginObservation(h, &observation{over: make(chan struct{})}, begin), ErrClosed)
	h.leave()
}
