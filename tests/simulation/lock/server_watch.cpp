#include "simulation/lock/server_watch.hpp"

#include <algorithm>
#include <vector>

#include "lock/lease.hpp"
#include "protocol/scripts/scripts.hpp"
#include "simulation/lock/queue_entry.hpp"

namespace mortise::simulation {

namespace {

bool is_value_script(const std::string& code) {
  for (const auto* const script : {&scripts::queued_value, &scripts::shared_value}) {
    if (code == script->sha1 || code == script->text) return true;
  }
  return false;
}

bool is_adoption(const std::string& code) {
  for (const auto* const script : {&scripts::queued_adopt, &scripts::shared_adopt}) {
    if (code == script->sha1 || code == script->text) return true;
  }
  return false;
}

}  // namespace

void server_watch::complain(const std::string& lock_key, const std::string& what) {
  world_.violate("server, " + lock_key + ": " + what);
}

server_watch::sight server_watch::look(const std::string& lock_key) {
  sight seen;
  if (const auto* lock = redis_.find(lock_key)) {
    seen.owner = lock->text;
    seen.expires_ms = lock->expires_ms;
    if (!seen.owner.empty() && seen.owner.back() == '*') {
      seen.owner.pop_back();
      seen.is_marked = true;
      seen.expires_ms -= lock::queue_turn_ms;
      // Its lease is over, and the lock is there only for the queue.
      if (seen.expires_ms < redis_.now_ms()) seen.owner.clear();
    }
  }
  if (const auto* queue = redis_.find(lock_key + ":q")) {
    seen.queue = without_secrets(queue->items);
    seen.queue_expires_ms = queue->expires_ms;
  }
  return seen;
}

void server_watch::execute(session& from, const arguments& command) {
  ++world_.seen[count::commands];
  grace_period_.look(command);
  std::string lock_key;
  std::string requester;
  const auto key_count = command.size() > 3 && command[0].starts_with("EVAL")
                             ? static_cast<std::size_t>(std::stoi(command[2]))
                             : 0;
  if (key_count > 0 && command.size() > 3 + key_count && command[3].starts_with("{mortise:")) {
    lock_key = command[3];
    requester = command[3 + key_count];
  } else if (command[0] == "EXEC" && !from.queued.empty() && from.queued[0].size() > 2) {
    lock_key = from.queued[0][1];
    requester = from.queued[0][2];
  }
  if (lock_key.empty()) {
    redis_.execute(from, command);
    return check_fence();
  }
  if (key_count > 0 && (command[1] == scripts::queued_renew_many.sha1 ||
                        command[1] == scripts::queued_renew_many.text)) {
    return execute_many(from, command, key_count);
  }
  if (key_count > 0 && is_value_script(command[1])) return execute_value(from, command);
  if (key_count > 2 && shared_watch::is_shared(command[5])) {
    ++names_[lock_key].commands;
    if (is_adoption(command[1])) {
      shared_.execute_adoption(from, command, key_count);
      return check_fence();
    }
    shared_.execute(from, command, key_count);
    return check_fence();
  }
  if (key_count > 0 && is_adoption(command[1])) return execute_adoption(from, command, requester);
  const auto before = look(lock_key);
  grace_period_.note_waiters(lock_key, clients_of(before.queue));
  redis_.execute(from, command);
  const auto after = look(lock_key);
  if (world_.is_verbose) {
    world_.log("    server: %s by %s: owner [%s] -> [%s], queue %zu -> %zu",
               command[0] == "EXEC" ? "EXEC" : command[1].substr(0, 6).c_str(), requester.c_str(),
               before.owner.c_str(), after.owner.c_str(), before.queue.size(), after.queue.size());
  }
  compare(lock_key, requester, before, after);
  check_queue(lock_key, requester, before, after);
  check_fence();
}

// A value needs a hold in force of its owner, and changes no lock (hazard 17).
void server_watch::execute_value(session& from, const arguments& command) {
  const auto& lock_key = command[3];
  const auto* const lock = redis_.find(lock_key);
  const bool is_mutex = lock != nullptr && lock->type == simulated_redis::entry::kind::text;
  const auto before = is_mutex ? look(lock_key) : sight{};
  redis_.execute(from, command);
  const bool is_set = redis_.last_reply().integer == 1 && !command.back().empty();
  if (is_set && lock == nullptr) complain(lock_key, command[5] + " set a value without a hold");
  if (is_set && is_mutex && before.owner != command[5])
    complain(lock_key, command[5] + " set a value under the hold of " + before.owner);
  check_fence();
}

// The adopter follows the exported owner, which is the last argument, and nothing else changes. A
// repeated adoption finds the adopter.
void server_watch::execute_adoption(session& from, const arguments& command,
                                    const std::string& requester) {
  const auto& lock_key = command[3];
  ++names_[lock_key].commands;
  const auto before = look(lock_key);
  redis_.execute(from, command);
  const auto& reply = redis_.last_reply();
  const bool is_adopted = !reply.items.empty() && reply.items[0].integer == 1;
  const auto after = look(lock_key);
  if (is_adopted) ++world_.seen[count::adopted];
  if (is_adopted && before.owner != command.back() && before.owner != requester)
    complain(lock_key, requester + " adopted the hold of " + before.owner);
  if (after.owner != (is_adopted ? requester : before.owner))
    complain(lock_key, "an adoption has left the lock to " + after.owner);
  if (after.is_marked != before.is_marked || after.queue != before.queue)
    complain(lock_key, requester + " changed the queue by an adoption");
  if (after.expires_ms < before.expires_ms)
    complain(lock_key, requester + " shortened a lease by an adoption");
  check_fence();
}

// Each lock has its requester among the arguments: owner token and ttl.
void server_watch::execute_many(session& from, const arguments& command, std::size_t key_count) {
  std::vector<sight> before;
  for (std::size_t i = 0; i < key_count; ++i) before.push_back(look(command[3 + i]));
  redis_.execute(from, command);
  for (std::size_t i = 0; i < key_count; ++i) {
    const auto& lock_key = command[3 + i];
    const auto& requester = command[3 + key_count + 2 * i];
    const auto after = look(lock_key);
    compare(lock_key, requester, before[i], after);
    check_queue(lock_key, requester, before[i], after);
  }
  check_fence();
}

// Only an owner's own command may change its lock, except that anybody may mark that others wait.
void server_watch::compare(const std::string& lock_key, const std::string& requester,
                           const sight& before, const sight& after) {
  auto& facts = names_[lock_key];
  ++facts.commands;
  const bool is_new_owner = !after.owner.empty() && after.owner != before.owner;
  if (is_new_owner) ++facts.grants;
  // All waiters were silent for so long after the end of a lease that the lock was deleted. They
  // find out when they look again.
  if (is_new_owner && after.owner == requester && !before.queue.empty() &&
      after.queue == before.queue) {
    facts.slipped_in = after.owner;
  }
  // A client that removes the mark in a lease's last millisecond leaves it one more, because a TTL
  // of 0 would delete it.
  const bool is_last_ms =
      before.is_marked && !after.is_marked && before.expires_ms == redis_.now_ms();
  const auto lease_end = before.expires_ms + (is_last_ms ? 1 : 0);
  if (!before.owner.empty() && before.owner != requester &&
      (after.owner != before.owner || after.expires_ms != lease_end)) {
    complain(lock_key, requester + " changed the lock of " + before.owner);
  }
  const auto waited = std::find(before.queue.begin(), before.queue.end(), after.owner);
  if (is_new_owner && after.owner != requester && waited == before.queue.end()) {
    complain(lock_key, after.owner + " was given the lock and had not waited");
  }
  if (before.owner == requester && after.owner.empty() && !after.queue.empty() &&
      (before.is_marked || requester != facts.slipped_in) && world_.plan.is_exclusive) {
    complain(lock_key, requester + " left the lock free although others wait");
  }
  if (is_new_owner && after.expires_ms < 0) complain(lock_key, "the lock never expires");
}

void server_watch::check_queue(const std::string& lock_key, const std::string& requester,
                               const sight& before, const sight& after) {
  auto sorted = after.queue;
  std::sort(sorted.begin(), sorted.end());
  // The commands of an old connection that are in flight can enqueue an owner again, unless the
  // connection was killed.
  if (!world_.plan.kills_old_sessions) return;
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    complain(lock_key, "somebody waits twice");
  }
  if (!after.owner.empty() && std::binary_search(sorted.begin(), sorted.end(), after.owner)) {
    complain(lock_key, after.owner + " owns the lock and waits for it");
  }
  check_order(lock_key, requester, before, after);
}

// First come, first served, except that the dead are passed over.
void server_watch::check_order(const std::string& lock_key, const std::string& requester,
                               const sight& before, const sight& after) {
  auto& facts = names_[lock_key];
  const auto is_alive = [&](const std::string& waiter) {
    return grace_period_.keeps_place(client_of(waiter), before.queue_expires_ms);
  };
  for (const auto& waiter : before.queue) {
    const bool is_passed =
        waiter != requester && waiter != after.owner &&
        std::find(after.queue.begin(), after.queue.end(), waiter) == after.queue.end();
    if (is_passed && is_alive(waiter) && world_.plan.is_exclusive) {
      complain(lock_key, waiter + " has lost its place");
    }
  }
  const auto served = facts.joined.find(after.owner);
  if (after.owner != before.owner && served != facts.joined.end()) {
    if (!is_alive(after.owner) && !grace_period_.is_in_grace_period()) {
      complain(lock_key, after.owner + " is dead and was served");
    }
    if (after.owner != requester &&
        grace_period_.is_waited_for_again(lock_key, client_of(after.owner))) {
      complain(lock_key, after.owner + " is dead and is waited for again");
    }
    for (const auto& waiter : before.queue) {
      const auto join = facts.joined.find(waiter);
      const bool is_earlier = join != facts.joined.end() && join->second < served->second;
      if (is_earlier && is_alive(waiter)) {
        complain(lock_key, after.owner + " was served before " + waiter);
      }
    }
  }
  std::erase_if(facts.joined, [&](const auto& item) {
    return std::find(after.queue.begin(), after.queue.end(), item.first) == after.queue.end();
  });
  for (const auto& waiter : after.queue) {
    if (facts.joined.try_emplace(waiter, facts.join_count).second) ++facts.join_count;
  }
}

void server_watch::forget() {
  fence_ = 0;
  for (auto& [name, facts] : names_) facts.joined.clear();
  grace_period_.forget();
  shared_.forget();
}

void server_watch::check_fence() {
  const auto* found = redis_.find("mortise:fence");
  if (found == nullptr || found->type != simulated_redis::entry::kind::text) return;
  const std::int64_t value = std::strtoll(found->text.c_str(), nullptr, 10);
  if (value < lock::least_token || value == fence_) return;
  if (value < fence_ && world_.plan.clock_steps == 0) {
    world_.violate("server: the fence counter fell from " + std::to_string(fence_) + " to " +
                   found->text);
  }
  fence_ = std::max(fence_, value);
}

}  // namespace mortise::simulation
