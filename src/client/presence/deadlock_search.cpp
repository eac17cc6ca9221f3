#include "client/presence/deadlock_search.hpp"

#include <algorithm>
#include <new>
#include <set>
#include <utility>

#include "base/random.hpp"
#include "base/text/decimal.hpp"
#include "base/text/printable.hpp"
#include "client/client.hpp"
#include "protocol/own_name.hpp"
#include "protocol/protocols.hpp"

namespace mortise::client {

namespace {

using protocol::wait_graph;

// How often the thread checks whether a look is due. It sends nothing for that.
constexpr time_ns tick_ns = 500 * ns_per_ms;
// How long a look waits for the clients.
constexpr time_ns look_time_ns = ns_per_s;
// The pause between two looks. It doubles while no wait is new.
constexpr time_ns shortest_pause_ns = ns_per_s;
constexpr time_ns longest_pause_ns = 8 * ns_per_s;
// The pause grows with the number of clients. If all of them look, each answers ten per second.
constexpr time_ns pause_per_client_ns = 100 * ns_per_ms;
// The maximum of threads that a message names.
constexpr std::size_t most_named = 8;

std::vector<wait_graph::entry> entries_of(const protocol::listing& seen) {
  std::vector<wait_graph::entry> entries;
  for (const auto& one : seen.entries) {
    if (one.threads.empty()) continue;
    entries.push_back({one.client, one.host, one.pid, one.label, one.name, one.kind, one.threads});
  }
  return entries;
}

// The circle, as its first thread sees it.
std::string text_of(const wait_graph& graph, const wait_graph::deadlock& circle) {
  std::string text;
  for (std::size_t i = 1; i < circle.size(); ++i) {
    if (i > most_named) {
      return text.append(", and so on with ").append(decimal(circle.size() - i)).append(" more");
    }
    const auto& one = circle[i];
    if (i > 1) text += ", ";
    if (one.thread->is_task)
      text.append("task ").append(decimal(one.thread->number)).append(" of ");
    text.append("process ").append(decimal(one.thread->pid));
    text.append(" on ").append(printable(one.thread->host));
    text.append(i == 1 ? " holds it and waits for " : " holds that and waits for ");
    text.append(printable(graph.at(*one.wait).name));
  }
  const std::string self = circle.front().thread->is_task ? "this task" : "this thread";
  return text.append(circle.size() == 1 ? self + " holds it" : ", which " + self + " holds");
}

}  // namespace

deadlock_search::deadlock_search(client& owner)
    : client_(owner), wall_offset_ns_(wall_us_at(0) * ns_per_us) {}

void deadlock_search::begin_wait(bool is_long) noexcept {
  outcome added;
  try {
    const std::lock_guard guard(mutex_);
    ++waits_;
    has_new_wait_ = true;
    if (is_searching_ && !is_long) return;
    added = observer_.add(shared_from_this(), no_key_, tick_ns);
    is_searching_ = added.ok();
  } catch (const std::bad_alloc&) {
    added = outcome::of(status::no_memory);
  }
  // The wait lasts until its timeout.
  if (!added.ok() && !client_.is_closed()) client_.log().note(log_subject::refused, added);
}

// The thread notices by itself that no wait is left, so short waits cost it nothing.
void deadlock_search::end_wait() noexcept {
  const std::lock_guard guard(mutex_);
  --waits_;
}

bool deadlock_search::is_due(time_ns now) {
  const std::lock_guard guard(mutex_);
  if (waits_ == 0) {
    observer_.remove(*this);
    is_searching_ = false;
    return false;
  }
  return now - last_look_ >= (has_new_wait_ ? shortest_ns_ : pause_ns_);
}

// A new wait is the one that may have closed a circle. Older ones are looked at again, because a
// client may not have answered.
void deadlock_search::plan_next(std::int64_t clients, bool has_short_wait) {
  const auto least = std::max(shortest_pause_ns, clients * pause_per_client_ns);
  small_random random(random_number());
  const std::lock_guard guard(mutex_);
  last_look_ = boot_now();
  const auto next = has_new_wait_ ? least : std::min(2 * pause_ns_, longest_pause_ns);
  has_new_wait_ = has_short_wait;
  shortest_ns_ = least + random.below(least / 4);
  pause_ns_ = std::max(next, least) + random.below(least / 4);
}

void deadlock_search::look() noexcept try {
  if (!is_due(boot_now())) return;
  bool has_short_wait = false;
  const auto own = candidates(has_short_wait);
  if (own.empty() && has_short_wait) return;  // the next look may find it long
  plan_next(own.empty() ? 0 : end_victims(own), has_short_wait);
} catch (const std::bad_alloc&) {
  return;  // the next look sees them
}

// Only the wait of a thread that also holds can be in a deadlock. The others cost no listing. Holds
// by other clients of this process are not known here.
std::vector<deadlock_search::candidate> deadlock_search::candidates(bool& has_short_wait) {
  std::vector<candidate> waits;
  std::set<std::uint64_t> holders;
  for (auto each = client_.gates().next(0); each; each = client_.gates().next(each->id() + 1)) {
    const auto report =
        each->look([](const lock::gate& gate, time_ns now) { return gate.report(now); });
    for (const auto& one : report.threads) {
      if (one.is_hold) holders.insert(one.thread.id);
      if (!one.fails_in_deadlock) continue;
      if (one.lasts_ns < patience_ns) {
        has_short_wait = true;
      } else {
        waits.push_back({each->id(), one.thread.id, one.began});
      }
    }
  }
  std::erase_if(waits, [&](const candidate& one) { return !holders.contains(one.thread_id); });
  return waits;
}

// Each client ends only its own waits, and all choose by the same values. A client that does not
// answer makes the graph smaller, but no circle: its holds count as released.
std::int64_t deadlock_search::end_victims(const std::vector<candidate>& own) {
  protocol::listing seen;
  const auto begin = boot_now();
  const auto taken = client_.list_locks(seen, begin + look_time_ns);
  const auto taken_ns = boot_now() - begin;
  if (taken.code == status::refused) client_.log().note(log_subject::refused, taken);
  if (!taken.ok()) return seen.answered;
  const auto deadline = boot_now() + look_time_ns;
  const wait_graph graph(entries_of(seen), taken_ns / ns_per_ms + 1,
                         [&](const std::string& name) { return capacity_of(name, deadline); });
  for (const auto& circle : graph.deadlocks()) {
    const auto& first = circle.front();
    // The wait of the graph, and no later one of its thread (hazard 32).
    for (const auto& one : own) {
      if (one.thread_id != first.thread->id || first.wait->began_us == 0) continue;
      if (shared_us(one.began) == first.wait->began_us) end_wait_of(one, graph, circle);
    }
  }
  return seen.answered;
}

void deadlock_search::end_wait_of(const candidate& victim, const wait_graph& graph,
                                  const wait_graph::deadlock& circle) {
  const decimal waited_ms((boot_now() - victim.began) / ns_per_ms);
  const auto result = outcome::of(status::deadlock, "waited ", waited_ms,
                                  " ms in a deadlock: ", text_of(graph, circle));
  client_.gates().enter(victim.gate_id, [&](lock::gate& gate, time_ns now) {
    gate.end_in_deadlock(victim.thread_id, victim.began, result, now);
  });
}

// Only the server knows it for certain. Without an answer the semaphore counts as free.
std::int64_t deadlock_search::capacity_of(const std::string& semaphore, time_ns deadline) {
  const auto* rules = &protocol::queued_semaphore();
  if (!client_.servers().choose_rules(lock::lock_kind::semaphore, *rules, rules).ok()) {
    return INT64_MAX;
  }
  auto keys = protocol::keys_of(*rules, client_.key_prefix(), semaphore);
  if (!client_.servers().place(keys).ok()) return INT64_MAX;
  const lock::step_request request;
  protocol::lock_info info;
  const auto read = client_.servers().ask({semaphore, keys.front()},
                                          protocol::query(*rules, keys, request, info), deadline);
  return read.ok() && info.permits > 0 ? info.permits : INT64_MAX;
}

}  // namespace mortise::client
