package mortise

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestExaminationTellsTheSameAsJSON(t *testing.T) {
	server := startServer(t)
	client := server.open(t)
	none, err := client.Examination()
	must(t, err)
	if len(none.Findings) != 0 || none.Worst != VerdictUnknown {
		t.Fatalf("before an examination there is %v", none)
	}
	found, err := client.Examine(within(t))
	must(t, err)
	var told struct {
		Worst    string
		Findings []struct{ Name, Verdict, Server, Value, Consequence, Mend string }
	}
	must(t, json.Unmarshal([]byte(found.JSON), &told))
	if told.Worst != found.Worst.String() || len(told.Findings) != len(found.Findings) {
		t.Fatalf("%s is not %v", found.JSON, found)
	}
	for i, one := range found.Findings {
		if same := told.Findings[i]; same.Name != one.Name || same.Verdict != one.Verdict.String() ||
			same.Server != one.Server || same.Value != one.Value ||
			same.Consequence != one.Consequence || same.Mend != one.Mend {
			t.Errorf("%v is not %v", same, one)
		}
	}
	last, err := client.Examination()
	must(t, err)
	if last.JSON != found.JSON {
		t.Errorf("%s is not %s", last.JSON, found.JSON)
	}
}

func TestStrictExaminationRefusesToOpen(t *testing.T) {
	server := startServer(t)
	server.ask(t, "CONFIG SET maxmemory 1gb")
	server.ask(t, "CONFIG SET maxmemory-policy allkeys-lru")
	client, err := Open(within(t), server.url, WithExamination("warn"))
	must(t, err)
	defer client.Close()
	found, err := client.Examination()
	must(t, err)
	if found.Worst != VerdictBad {
		t.Errorf("%v", found)
	}
	_, err = Open(within(t), server.url, WithExamination("strict"))
	expect(t, err, ErrRefused)
	if !strings.Contains(err.Error(), "maxmemory_policy") {
		t.Error(err)
	}
}
