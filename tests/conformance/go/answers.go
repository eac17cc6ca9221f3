// The fields of answers that a scenario can ask for.

package main

import (
	"strings"

	"github.com/mortise/mortise-go"
)

// infoField is what a query is about, by the name of the getter in C.
func infoField(info *mortise.Info, of string) result {
	switch of {
	case "is_held":
		return truth(info.IsHeld)
	case "is_mine":
		return truth(info.IsMine)
	case "holder_count":
		return number(info.HolderCount)
	case "permits":
		return number(info.Permits)
	case "permits_in_use":
		return number(info.PermitsInUse)
	case "retained":
		var count int64
		for _, one := range info.Holders {
			if one.IsRetained {
				count++
			}
		}
		return number(count)
	case "label":
		return result{text: info.Holders[0].Label}
	case "value":
		text := ""
		if len(info.Holders) > 0 {
			text = info.Holders[0].Value
		}
		length := int64(len(text))
		return result{value: &length, text: text}
	}
	return number(info.WaiterCount)
}

// listingField returns of a listing how many have answered, as JSON, or one field of all entries.
func listingField(of string) func(*mortise.Listing, error) result {
	return func(taken *mortise.Listing, err error) result {
		if err != nil {
			return failed(err)
		}
		return entriesField(taken, of)
	}
}

func entriesField(taken *mortise.Listing, of string) result {
	if of == "" {
		return result{value: &taken.Answered, text: taken.JSON}
	}
	if of == "unheard" {
		return number(taken.Silent + taken.Truncated)
	}
	var sum int64
	var texts []string
	for _, one := range taken.Entries {
		field, text := fieldOf(one, of)
		sum += field
		texts = append(texts, text)
	}
	return result{value: &sum, text: strings.Join(texts, "\n")}
}

// historyField returns the same of a history.
func historyField(taken *mortise.History, err error, of string) result {
	if err != nil {
		return failed(err)
	}
	if of == "" {
		return result{value: &taken.Answered, text: taken.JSON}
	}
	if of == "unheard" {
		return number(taken.Silent + taken.Truncated)
	}
	var sum int64
	var texts []string
	for _, one := range taken.Events {
		words := map[string]string{"client": one.Client, "host": one.Host, "label": one.Label,
			"event": one.Event, "mode": one.Mode, "why": one.Why}
		numbers := map[string]int64{"pid": one.Pid, "handle": one.Handle, "token": one.Token,
			"permits": one.Permits, "place": one.Place, "time_us": one.Time.UnixMicro(),
			"error_us": one.Error.Microseconds(), "lasted_us": one.Lasted.Microseconds()}
		sum += numbers[of]
		texts = append(texts, words[of])
	}
	return result{value: &sum, text: strings.Join(texts, "\n")}
}

// fieldOf is a field of an entry by its name in JSON, as a number or as a text.
func fieldOf(one mortise.ListingEntry, key string) (int64, string) {
	texts := map[string]string{"client": one.Client, "host": one.Host, "label": one.Label,
		"value": one.Value,
		"name":  one.Name, "kind": one.Kind, "mode": one.Mode, "waits": one.Waits,
		"threads": one.Threads, "source": one.Source}
	numbers := map[string]int64{"pid": one.Pid, "holds": one.Holds, "token": one.Token,
		"held_ms": one.Held.Milliseconds(), "time_left_ms": one.TimeLeft.Milliseconds(),
		"permits": one.Permits, "waiters": one.Waiters, "waited_ms": one.Waited.Milliseconds(),
		"grants": one.Grants, "contended": one.Contended,
		"waited_total_ms": one.WaitedTotal.Milliseconds(), "retained": one.Retained}
	return numbers[key], texts[key]
}

// isSample returns whether it is "name label=value label=value", in any order.
func isSample(one mortise.Sample, of string) bool {
	words := strings.Fields(of)
	if words[0] != one.Name || len(words)-1 != len(one.Labels) {
		return false
	}
	for _, word := range words[1:] {
		label, value, _ := strings.Cut(word, "=")
		if one.Labels[label] != value {
			return false
		}
	}
	return true
}
