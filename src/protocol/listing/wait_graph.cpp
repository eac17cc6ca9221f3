#include "protocol/listing/wait_graph.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

namespace mortise::protocol {
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
  std::uint64_t id = 0;
  std::int64_t number = 0;
  bool is_task = false;
  lock_use use;
};

// "holds:ID:NUMBER:MODE:PERMITS:MS", or the same with "waits" and perhaps ":BEGAN_US". The number
// of a task begins with "t". Any publisher can send another text (hazard 32).
std::optional<thread_word> read_word(std::string_view text) {
  thread_word word;
  const auto what = take(text, ':');
  const bool has_id = read(take(text, ':'), word.id);
  word.is_task = text.starts_with('t');
  if (word.is_task) text.remove_prefix(1);
  const bool is_read = has_id && read(take(text, ':'), word.number);
  const auto mode = take(text, ':');
  const bool is_complete = is_read && read(take(text, ':'), word.use.permits) &&
                           word.use.permits <= INT32_MAX &&
                           read(take(text, ':'), word.use.lasted_ms);
  word.is_hold = what == "holds";
  word.use.is_exclusive = mode == "exclusive";
  if (!is_complete || (!word.is_hold && what != "waits")) return std::nullopt;
  if (!text.empty() && (word.is_hold || !read(text, word.use.began_us))) return std::nullopt;
  return word;
}

constexpr std::size_t no_node = SIZE_MAX;

// Adds the nodes that are reached from this one, in the order in which a depth-first search leaves
// them. Without recursion, because any publisher may send a long chain (hazard 32).
template <class Edges>
void search(std::size_t start, const Edges& edges, std::vector<bool>& is_seen,
            std::vector<std::size_t>& left) {
  if (is_seen[start]) return;
  is_seen[start] = true;
  std::vector<std::pair<std::size_t, std::size_t>> path{{start, 0}};
  while (!path.empty()) {
    auto& [node, next] = path.back();
    if (next == edges[node].size()) {
      left.push_back(node);
      path.pop_back();
      continue;
    }
    const auto target = edges[node][next++];
    if (is_seen[target]) continue;
    is_seen[target] = true;
    path.emplace_back(target, 0);
  }
}

}  // namespace

// The holds of a lock by threads that wait.
struct wait_graph::load {
  std::int64_t exclusive = 0;
  std::int64_t shared = 0;
  std::int64_t permits = 0;

  void add(const lock_use& hold, std::int64_t sign) {
    (hold.is_exclusive ? exclusive : shared) += sign;
    permits += sign * hold.permits;
  }
};

// Leads from each stuck thread to the lock and mode that it waits for, and from there to each stuck
// thread whose hold excludes it. So a crowd at one lock needs few links.
struct wait_graph::links {
  explicit links(std::size_t nodes) : targets(nodes), sources(nodes) {}
  void add(std::size_t from, std::size_t target) {
    targets[from].push_back(target);
    sources[target].push_back(from);
  }
  std::vector<std::vector<std::size_t>> targets;
  std::vector<std::vector<std::size_t>> sources;
};

wait_graph::wait_graph(const std::vector<entry>& seen, std::int64_t taken_ms,
                       const semaphore_reader& capacity_of) {
  for (const auto& each : seen) read(each, taken_ms);
  waiting_ = static_cast<std::size_t>(std::count_if(
      threads_.begin(), threads_.end(), [](const auto& thread) { return !thread.waits.empty(); }));
  // First as if no semaphore had room, because each capacity costs a request.
  auto held = remove_running();
  if (read_capacities(capacity_of)) held = remove_running();
  find_deadlocks(links_of(held));
}

// Locks of one name are different locks in different formats.
void wait_graph::read(const entry& seen, std::int64_t taken_ms) {
  std::string_view words = seen.threads;
  const std::string protocol(take(words, ' '));
  while (!words.empty()) {
    auto word = read_word(take(words, ' '));
    if (!word || word->use.lasted_ms < taken_ms) continue;
    const auto [known, is_new_lock] =
        lock_places_.try_emplace({seen.name, seen.kind, protocol}, locks_.size());
    if (is_new_lock) locks_.push_back({seen.name, seen.kind, protocol});
    const auto [place, is_new] = thread_places_.try_emplace(word->id, threads_.size());
    if (is_new) {
      threads_.push_back({seen.client,
                          seen.host,
                          seen.pid,
                          word->number,
                          word->is_task,
                          word->id,
                          seen.label,
                          {},
                          {}});
    }
    auto& thread = threads_[place->second];
    word->use.lock = known->second;
    (word->is_hold ? thread.holds : thread.waits).push_back(word->use);
  }
}

// Returns whether any was read.
bool wait_graph::read_capacities(const semaphore_reader& capacity_of) {
  std::vector<bool> is_read(locks_.size());
  bool is_any_read = false;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    if (!is_stuck_[i]) continue;
    for (const auto& wait : threads_[i].waits) {
      auto& each = locks_[wait.lock];
      if (each.kind != "semaphore" || is_read[wait.lock]) continue;
      is_any_read = is_read[wait.lock] = true;
      each.capacity = capacity_of(each.name);
    }
  }
  return is_any_read;
}

bool wait_graph::is_blocked(const lock_use& wait, const load& held) const {
  const auto& target = at(wait);
  if (target.kind == "semaphore") {
    return held.permits > 0 && held.permits > target.capacity - wait.permits;
  }
  return held.exclusive > 0 || (wait.is_exclusive && held.shared > 0);
}

bool wait_graph::excludes(const lock_use& hold, const lock_use& wait) const {
  return hold.lock == wait.lock &&
         (at(hold).kind == "semaphore" || hold.is_exclusive || wait.is_exclusive);
}

// A thread runs if it does not wait, or if the holds of the threads that wait leave room for it.
// Then it will release its own holds. The remaining threads wait for each other, because no other
// thread holds what they need. Holds without a known thread count as released. Returns the holds of
// the remaining threads, by lock.
std::vector<wait_graph::load> wait_graph::remove_running() {
  is_stuck_.assign(threads_.size(), false);
  for (std::size_t i = 0; i < threads_.size(); ++i) is_stuck_[i] = !threads_[i].waits.empty();
  auto unchecked = stuck();
  std::vector<load> loads(locks_.size());
  std::vector<std::vector<std::size_t>> waiters(locks_.size());
  for (const auto i : unchecked) {
    for (const auto& hold : threads_[i].holds) loads[hold.lock].add(hold, 1);
    for (const auto& wait : threads_[i].waits) waiters[wait.lock].push_back(i);
  }
  const auto is_held = [&](const auto& wait) { return is_blocked(wait, loads[wait.lock]); };
  const auto is_stuck = [&](std::size_t i) { return is_stuck_[i]; };
  while (!unchecked.empty()) {
    const auto checked = unchecked.back();
    unchecked.pop_back();
    const auto& waits = threads_[checked].waits;
    if (!is_stuck_[checked] || std::any_of(waits.begin(), waits.end(), is_held)) continue;
    is_stuck_[checked] = false;
    for (const auto& hold : threads_[checked].holds) {
      loads[hold.lock].add(hold, -1);
      const auto& next = waiters[hold.lock];
      std::copy_if(next.begin(), next.end(), std::back_inserter(unchecked), is_stuck);
    }
  }
  return loads;
}

std::vector<std::size_t> wait_graph::stuck() const {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    if (is_stuck_[i]) all.push_back(i);
  }
  return all;
}

// The nodes of the threads are before those of the locks, each of which has one for each mode.
std::size_t wait_graph::node_of(const lock_use& wait) const {
  return threads_.size() + 2 * wait.lock + (wait.is_exclusive ? 1 : 0);
}

wait_graph::links wait_graph::links_of(const std::vector<load>& held) const {
  links all(threads_.size() + 2 * locks_.size());
  std::vector<bool> is_awaited(locks_.size());
  for (const auto i : stuck()) {
    for (const auto& wait : threads_[i].waits) {
      if (!is_blocked(wait, held[wait.lock])) continue;
      all.add(i, node_of(wait));
      is_awaited[wait.lock] = true;
    }
  }
  for (const auto i : stuck()) {
    for (const auto& hold : threads_[i].holds) {
      if (is_awaited[hold.lock]) add_hold(all, hold, i);
    }
  }
  return all;
}

// The links from the waits in either mode that this hold excludes.
void wait_graph::add_hold(links& all, const lock_use& hold, std::size_t holder) const {
  auto wait = hold;
  for (const bool is_exclusive : {false, true}) {
    wait.is_exclusive = is_exclusive;
    if (excludes(hold, wait)) all.add(node_of(wait), holder);
  }
}

// Kosaraju's algorithm, with the groups that have no link to another group first. Every thread of
// such a group is stuck by holds of the same group alone.
void wait_graph::find_deadlocks(const links& all) {
  const auto count = all.targets.size();
  std::vector<bool> is_seen(count);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < count; ++i) search(i, all.sources, is_seen, order);
  is_seen.assign(count, false);
  std::vector<std::size_t> group_of(count, no_node);
  std::size_t members = 0;
  for (auto start = order.rbegin(); start != order.rend(); ++start) {
    std::vector<std::size_t> group;
    search(*start, all.targets, is_seen, group);
    for (const auto node : group) group_of[node] = *start;
    const auto is_inside = [&](std::size_t node) {
      return std::all_of(all.targets[node].begin(), all.targets[node].end(),
                         [&](std::size_t target) { return group_of[target] == *start; });
    };
    if (group.size() < 2 || !std::all_of(group.begin(), group.end(), is_inside)) continue;
    deadlocks_.push_back(circle_from(youngest(std::move(group), all), all));
    members += deadlocks_.back().size();
  }
  const auto stuck = std::count(is_stuck_.begin(), is_stuck_.end(), true);
  behind_ = static_cast<std::size_t>(stuck) - members;
}

// The wait of the group with the option that began last, by clocks that no reader changes. So all
// clients choose the same one: of waits that began together, that of the highest thread ID. Without
// such a wait, the first thread.
wait_graph::step wait_graph::youngest(std::vector<std::size_t> group, const links& all) const {
  using rank = std::pair<std::int64_t, std::uint64_t>;
  std::sort(group.begin(), group.end());
  step chosen{nullptr, nullptr, nullptr};
  rank highest;
  for (const auto node : group) {
    if (node >= threads_.size()) break;
    const auto& thread = threads_[node];
    const auto& linked = all.targets[node];
    for (const auto& wait : thread.waits) {
      if (std::find(linked.begin(), linked.end(), node_of(wait)) == linked.end()) continue;
      const auto own = wait.began_us > 0 ? rank(wait.began_us, thread.id) : rank();
      if (chosen.thread != nullptr && own <= highest) continue;
      chosen = {&thread, nullptr, &wait};
      highest = own;
    }
  }
  return chosen;
}

// The shortest one with this wait. All nodes on the way are in the group.
wait_graph::deadlock wait_graph::circle_from(const step& first, const links& all) const {
  const auto goal = static_cast<std::size_t>(first.thread - threads_.data());
  std::vector<std::size_t> before(all.targets.size(), no_node);
  std::vector<std::size_t> reached{node_of(*first.wait)};
  for (std::size_t i = 0; i < reached.size() && before[goal] == no_node; ++i) {
    for (const auto target : all.targets[reached[i]]) {
      if (target == reached.front() || before[target] != no_node) continue;
      before[target] = reached[i];
      reached.push_back(target);
    }
  }
  deadlock circle;
  for (auto at = goal; at != no_node;) {
    const auto awaited = before[at];
    const auto waiter = awaited == reached.front() ? goal : before[awaited];
    const auto& thread = threads_[waiter];
    const auto wait = std::find_if(thread.waits.begin(), thread.waits.end(),
                                   [&](const auto& use) { return node_of(use) == awaited; });
    circle.push_back({&thread, nullptr, &*wait});
    at = awaited == reached.front() ? no_node : waiter;
  }
  std::reverse(circle.begin(), circle.end());
  circle.front().wait = first.wait;
  for (std::size_t i = 0; i < circle.size(); ++i) {
    auto& next = circle[(i + 1) % circle.size()];
    const auto& holds = next.thread->holds;
    next.hold = &*std::find_if(holds.begin(), holds.end(),
                               [&](const auto& hold) { return excludes(hold, *circle[i].wait); });
  }
  return circle;
}

}  // namespace mortise::protocol
