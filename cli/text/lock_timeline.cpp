#include "cli/text/lock_timeline.hpp"

#include <algorithm>

namespace mortise::cli {

struct lock_timeline::event {
  std::string what;
  std::string why;
  lock_span origin;  // the fields that identify the handle, and the token and mode
  int64_t time_us = 0;
  int64_t lasted_us = 0;

  handle_key key() const { return {origin.client, origin.handle}; }
  // Of a retained claim, which has no handle.
  handle_key client_key() const { return {origin.client, 0}; }
};

lock_timeline::event lock_timeline::read(const listing& history, int64_t index) {
  event one;
  one.what = history.text(index, "event");
  one.why = history.text(index, "why");
  one.origin.client = history.text(index, "client");
  one.origin.host = history.text(index, "host");
  one.origin.pid = history.number(index, "pid");
  one.origin.label = history.text(index, "label");
  one.origin.handle = history.number(index, "handle");
  one.origin.mode = history.text(index, "mode");
  one.origin.token = history.number(index, "token");
  one.time_us = history.number(index, "time_us");
  one.lasted_us = history.number(index, "lasted_us");
  return one;
}

lock_timeline::lock_timeline(const listing& history) {
  for (int64_t index = 0; index < history.size(); ++index) {
    add(read(history, index));
    error_us_ = std::max(error_us_, history.number(index, "error_us"));
  }
  std::stable_sort(spans_.begin(), spans_.end(), [](const auto& one, const auto& other) {
    return one.begin_us < other.begin_us;
  });
  find_holders();
}

lock_span& lock_timeline::open(std::map<handle_key, size_t>& open_spans, const event& one,
                               lock_span::kind what, int64_t begin_us) {
  const auto key = what == lock_span::kind::retained ? one.client_key() : one.key();
  const auto [place, is_new] = open_spans.try_emplace(key, spans_.size());
  if (is_new) {
    auto& span = spans_.emplace_back(one.origin);
    span.what = what;
    span.is_open = true;
    span.begin_us = begin_us;
  }
  auto& span = spans_[place->second];
  span.end_us = std::max(span.begin_us, one.time_us);
  return span;
}

void lock_timeline::add(const event& one) {
  if (add_wait(one) || add_hold(one)) return;
  if (one.what == "granted") {
    end_wait(one, "");
    begin_hold(one, one.time_us, "");
  } else if (one.what == "passed") {
    end_retained(one);
    end_wait(one, "passed");
    begin_hold(one, one.time_us, "passed");
  } else if (one.what == "retained" || one.what == "retains") {
    open(retained_, one, lock_span::kind::retained, one.time_us);
  } else if (one.what == "returned") {
    end_retained(one);
  } else if (one.what == "forgotten") {
    forgetful_.emplace_back(one.origin.host + " " + std::to_string(one.origin.pid), one.time_us);
  }
}

// Whether the event is about a wait that continues or ends without the lock.
bool lock_timeline::add_wait(const event& one) {
  const bool is_end = one.what == "ended";
  if (!is_end && one.what != "began" && one.what != "queued" && one.what != "waits") return false;
  open(waits_, one, lock_span::kind::wait, one.time_us - one.lasted_us);
  if (is_end) end_wait(one, one.why);
  return true;
}

// Whether the event is about a hold that continues, changes or ends.
bool lock_timeline::add_hold(const event& one) {
  const bool is_change = one.what == "upgraded" || one.what == "downgraded";
  const bool is_end = one.what == "released" || one.what == "exported" || one.what == "lost";
  if (!is_change && !is_end && one.what != "holds") return false;
  open(holds_, one, lock_span::kind::hold, one.time_us - one.lasted_us);
  if (one.what == "holds") return true;
  if (one.what == "released") {
    end_hold(one, "");
  } else {
    end_hold(one, one.what == "lost" ? "lost: " + one.why : one.what);
  }
  if (is_change) begin_hold(one, one.time_us, "");
  return true;
}

void lock_timeline::begin_hold(const event& one, int64_t begin_us, const char* result) {
  // The end of the handle's hold before is unknown: it was dropped.
  holds_.erase(one.key());
  open(holds_, one, lock_span::kind::hold, begin_us).result = result;
}

void lock_timeline::end_hold(const event& one, const std::string& result) {
  const auto known = holds_.find(one.key());
  auto& span = spans_[known->second];
  span.is_open = false;
  if (!result.empty()) span.result = result;
  holds_.erase(known);
}

// An acquire that found the lock free is not shown as a wait.
void lock_timeline::end_wait(const event& one, const std::string& result) {
  const auto known = waits_.find(one.key());
  if (known == waits_.end()) return;
  auto& span = spans_[known->second];
  span.is_open = false;
  span.end_us = one.time_us;
  span.token = one.origin.token;
  span.result = result;
  waits_.erase(known);
}

void lock_timeline::end_retained(const event& one) {
  const auto known = retained_.find(one.client_key());
  if (known == retained_.end()) return;
  auto& span = spans_[known->second];
  span.is_open = false;
  span.end_us = one.time_us;
  retained_.erase(known);
}

void lock_timeline::find_holders() {
  std::vector<size_t> holds;
  std::vector<int64_t> last_end_us;  // of each hold and those before it
  for (size_t i = 0; i < spans_.size(); ++i) {
    if (spans_[i].what == lock_span::kind::wait) continue;
    holds.push_back(i);
    last_end_us.push_back(
        std::max(spans_[i].end_us, last_end_us.empty() ? INT64_MIN : last_end_us.back()));
  }
  for (auto& wait : spans_) {
    if (wait.what == lock_span::kind::wait) find_holders_of(wait, holds, last_end_us);
  }
}

// A wait is behind each hold of another handle that overlaps it by more than the clocks are exact.
void lock_timeline::find_holders_of(lock_span& wait, const std::vector<size_t>& holds,
                                    const std::vector<int64_t>& last_end_us) const {
  const auto after = std::partition_point(holds.begin(), holds.end(), [&](size_t each) {
    return spans_[each].begin_us < wait.end_us - error_us_;
  });
  for (auto at = after - holds.begin(); at > 0; --at) {
    const auto place = static_cast<size_t>(at - 1);
    if (last_end_us[place] <= wait.begin_us + error_us_) break;
    const auto& hold = spans_[holds[place]];
    const bool is_own = hold.client == wait.client && hold.handle == wait.handle;
    if (!is_own && hold.end_us > wait.begin_us + error_us_) wait.behind.push_back(hold.token);
  }
  std::sort(wait.behind.begin(), wait.behind.end());
  wait.behind.erase(std::unique(wait.behind.begin(), wait.behind.end()), wait.behind.end());
}

}  // namespace mortise::cli
