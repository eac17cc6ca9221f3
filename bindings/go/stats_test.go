package mortise

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestStatsAreTheSameInEachForm: a sample for each line of the text, and a family of JSON for each.
func TestStatsAreTheSameInEachForm(t *testing.T) {
	client := startServer(t).open(t, WithMetricsName("label"))
	hold, err := client.lock(t, "a", WithLabel("of \"a\"")).Acquire(within(t))
	must(t, err)
	must(t, hold.Unlock(within(t)))
	stats, err := client.Stats()
	must(t, err)
	var lines []string
	for _, line := range strings.Split(strings.TrimSpace(stats.Prometheus), "\n") {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	if len(lines) != len(stats.Samples) {
		t.Fatalf("%d samples are not %d lines", len(stats.Samples), len(lines))
	}
	var decoded map[string]struct{ Type, Help string }
	must(t, json.Unmarshal([]byte(stats.JSON), &decoded))
	found := false
	for i, one := range stats.Samples {
		if !strings.HasPrefix(lines[i], one.Name+"{") {
			t.Errorf("%v is not %s", one, lines[i])
		}
		family := one.Name
		if one.Type == "histogram" {
			family = family[:strings.LastIndex(family, "_")]
		}
		if decoded[family].Type != one.Type {
			t.Errorf("%s is not %s in %s", family, one.Type, stats.JSON)
		}
		if one.Name == "mortise_hold_seconds_count" {
			found = one.Labels["name"] == "of \"a\"" && one.Labels["kind"] == "mutex" && one.Value == 1
		}
	}
	if !found {
		t.Errorf("the hold is not in %v", stats.Samples)
	}
}
