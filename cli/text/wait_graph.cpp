#include "cli/text/wait_graph.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace mortise::cli {
namespace {

// Removes the text up to the next separator from the front.
std::string_view take(std::string_view& text, char separator) {
  const auto part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

template <class Number>
bool read(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.starts_with('-');
}

struct thread_word {
  bool is_hold = false;
  uint64_t id = 0;
  int64_t number = 0;
  lock_use use;
};

// "holds:ID:NUMBER:MODE:PERMITS:MS", or the same with "waits". Any publisher can send another text
// (hazard 32).
std::optional<thread_word> read_word(std::string_view text) {
  thread_word word;
  const auto what = take(text, ':');
  const bool is_read = read(take(text, ':'), word.id) && read(take(text, ':'), word.number);
  const auto mode = take(text, ':');
  const bool is_complete = is_read && read(take(text, ':'), word.use.permits) &&
                           read(text, word.use.lasted_ms) && word.use.permits <= INT32_MAX;
  word.is_hold = what == "holds";
  word.use.is_exclusive = mode == "exclusive";
  if (!is_complete || (!word.is_hold && what != "waits")) return std::nullopt;
  return word;
}

}  // namespace

// The holds of a lock by threads that wait.
struct wait_graph::load {
  int64_t exclusive = 0;
  int64_t shared = 0;
  int64_t permits = 0;

  void add(const lock_use& hold, int64_t sign) {
    (hold.is_exclusive ? exclusive : shared) += sign;
    permits += sign * hold.permits;
  }
};

wait_graph::wait_graph(const std::vector<entry>& seen, int64_t taken_ms,
                       const semaphore_reader& capacity_of) {
  for (const auto& each : seen) read(each, taken_ms);
  std::vector<bool> is_read(locks_.size());
  for (const auto& thread : threads_) {
    if (!thread.waits.empty()) ++waiting_;
    for (const auto& wait : thread.waits) {
      auto& each = locks_[wait.lock];
      if (each.kind != "semaphore" || is_read[wait.lock]) continue;
      is_read[wait.lock] = true;
      each.capacity = capacity_of(each.name);
    }
  }
  remove_running();
  find_deadlocks();
}

// Locks of one name are different locks in different formats.
void wait_graph::read(const entry& seen, int64_t taken_ms) {
  std::string_view words = seen.threads;
  const std::string protocol(take(words, ' '));
  while (!words.empty()) {
    auto word = read_word(take(words, ' '));
    if (!word || word->use.lasted_ms < taken_ms) continue;
    const auto [known, is_new_lock] =
        lock_places_.try_emplace({seen.name, seen.kind, protocol}, locks_.size());
    if (is_new_lock) locks_.push_back({seen.name, seen.kind});
    const auto [place, is_new] = thread_places_.try_emplace(word->id, threads_.size());
    if (is_new) {
      threads_.push_back({seen.client, seen.host, seen.pid, word->number, seen.label, {}, {}});
    }
    auto& thread = threads_[place->second];
    word->use.lock = known->second;
    (word->is_hold ? thread.holds : thread.waits).push_back(word->use);
  }
}

bool wait_graph::is_blocked(const lock_use& wait, const load& held) const {
  const auto& target = at(wait);
  if (target.kind == "semaphore") {
    return held.permits > 0 && held.permits + wait.permits > target.capacity;
  }
  return held.exclusive > 0 || (wait.is_exclusive && held.shared > 0);
}

bool wait_graph::excludes(const lock_use& hold, const lock_use& wait) const {
  return hold.lock == wait.lock &&
         (at(hold).kind == "semaphore" || hold.is_exclusive || wait.is_exclusive);
}

// A thread runs if it does not wait, or if the holds of the threads that wait leave room for it.
// Then it will release its own holds. The remaining threads wait for each other, because no other
// thread holds what they need. Holds without a known thread count as released.
void wait_graph::remove_running() {
  is_stuck_.assign(threads_.size(), false);
  std::vector<load> loads(locks_.size());
  for (size_t i = 0; i < threads_.size(); ++i) {
    is_stuck_[i] = !threads_[i].waits.empty();
    if (!is_stuck_[i]) continue;
    for (const auto& hold : threads_[i].holds) loads[hold.lock].add(hold, 1);
  }
  for (bool is_changed = true; std::exchange(is_changed, false);) {
    for (size_t i = 0; i < threads_.size(); ++i) {
      const auto& waits = threads_[i].waits;
      const auto is_held = [&](const auto& wait) { return is_blocked(wait, loads[wait.lock]); };
      if (!is_stuck_[i] || std::any_of(waits.begin(), waits.end(), is_held)) continue;
      is_stuck_[i] = false;
      is_changed = true;
      for (const auto& hold : threads_[i].holds) loads[hold.lock].add(hold, -1);
    }
  }
}

// A stuck thread with a hold that this one waits for. Every stuck thread has one.
wait_graph::step wait_graph::next_of(const step& from) const {
  for (const auto& wait : from.thread->waits) {
    for (size_t i = 0; i < threads_.size(); ++i) {
      if (!is_stuck_[i]) continue;
      for (const auto& hold : threads_[i].holds) {
        if (excludes(hold, wait)) return {&threads_[i], &hold, &wait};
      }
    }
  }
  return {};
}

// From any stuck thread, the path along the holds ends in a circle.
void wait_graph::find_deadlocks() {
  constexpr size_t not_seen = 0;
  std::vector<size_t> seen_in(threads_.size(), not_seen);
  size_t member_count = 0;
  for (size_t start = 0; start < threads_.size(); ++start) {
    if (!is_stuck_[start] || seen_in[start] != not_seen) continue;
    deadlock path;
    const auto place_of = [&](const lock_thread* thread) {
      return static_cast<size_t>(thread - threads_.data());
    };
    step current{&threads_[start], nullptr, nullptr};
    while (current.thread != nullptr && seen_in[place_of(current.thread)] == not_seen) {
      seen_in[place_of(current.thread)] = start + 1;
      const auto next = next_of(current);
      path.push_back({current.thread, current.hold, next.wait});
      current = {next.thread, next.hold, nullptr};
    }
    if (current.thread == nullptr || seen_in[place_of(current.thread)] != start + 1) continue;
    const auto first = std::find_if(path.begin(), path.end(),
                                    [&](const step& one) { return one.thread == current.thread; });
    first->hold = current.hold;
    deadlocks_.emplace_back(first, path.end());
    member_count += deadlocks_.back().size();
  }
  const auto stuck = std::count(is_stuck_.begin(), is_stuck_.end(), true);
  behind_ = static_cast<size_t>(stuck) - member_count;
}

}  // namespace mortise::cli
