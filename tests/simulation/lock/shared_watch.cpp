#include "simulation/lock/shared_watch.hpp"

#include <algorithm>
#include <cstdlib>

#include "lock/gate/owner.hpp"
#include "protocol/native/owner_token.hpp"
#include "simulation/lock/queue_entry.hpp"

namespace mortise::simulation {

namespace {

// The least silence after which a head loses its place, and the time that it has for a reply.
constexpr std::int64_t silent_ms = 5000;
constexpr std::int64_t answer_ms = 1000;
// What the TTL of a queue has beyond this is left of that time.
constexpr std::int64_t request_ttl_ms = 330'000;
// The longest time of a grant that is not confirmed.
constexpr std::int64_t unconfirmed_ms = 2000;
constexpr std::int64_t unconfirmed_and_grace_ms = 5000;

}  // namespace

void shared_watch::complain(const step& done, const std::string& what) {
  world_.violate("server, " + done.lock_key + ": " + what);
}

bool shared_watch::is_alive(const std::string& entry, const sight& before) const {
  return grace_period_.keeps_place(client_of(entry), before.queue_expires_ms);
}

std::int64_t shared_watch::permits_in_force(const sight& seen) const {
  std::int64_t permits = 0;
  for (const auto& [entry, ends] : seen.holders) {
    if (ends >= redis_.now_ms()) permits += permits_of(entry);
  }
  return permits;
}

shared_watch::sight shared_watch::look(const step& of) {
  sight seen;
  if (const auto* lock = redis_.find(of.lock_key)) {
    const auto* const counter = of.permits_key.empty() ? "rw" : "semaphore";
    seen.is_foreign = !lock->scores.contains(counter);
    for (const auto& [member, score] : lock->scores) {
      const auto number = static_cast<std::int64_t>(score);
      if (member == counter) {
        seen.counted = -number;
      } else {
        seen.holders[member] = number;
      }
    }
    seen.expires_ms = lock->expires_ms;
  }
  if (const auto* queue = redis_.find(of.queue_key)) {
    seen.queue = without_secrets(queue->items);
    seen.queue_expires_ms = queue->expires_ms;
  }
  seen.capacity = lock::exclusive_permits;
  if (!of.permits_key.empty()) {
    const auto* known = redis_.find(of.permits_key);
    seen.capacity =
        std::strtoll((known == nullptr ? of.given_permits : known->text).c_str(), nullptr, 10);
  }
  return seen;
}

shared_watch::step shared_watch::step_of(const arguments& command, std::size_t key_count) {
  step done;
  done.lock_key = command[3];
  done.queue_key = command[5];
  if (key_count > 3) done.permits_key = command[6];
  const auto values = command.begin() + 3 + static_cast<std::ptrdiff_t>(key_count);
  done.requester = *values;
  done.is_resize = done.requester.empty();
  // Only what names the permits may set them.
  if (command.end() - values >= 5) done.given_permits = values[4];
  return done;
}

void shared_watch::execute_adoption(session& from, const arguments& command,
                                    std::size_t key_count) {
  auto done = step_of(command, key_count);
  done.given_permits.clear();
  const auto before = look(done);
  redis_.execute(from, command);
  const auto& reply = redis_.last_reply();
  const bool is_adopted = !reply.items.empty() && reply.items[0].integer == 1;
  const auto after = look(done);
  if (is_adopted) ++world_.seen[count::adopted];
  const auto& permits = command.at(command.size() - 2);
  const auto exported = permits + " " + command.back();
  const auto adopter = permits + " " + done.requester;
  const auto was_held = [&](const std::string& entry) {
    const auto found = before.holders.find(entry);
    return found != before.holders.end() && found->second >= redis_.now_ms();
  };
  if (is_adopted && !was_held(exported) && !was_held(adopter))
    complain(done, done.requester + " adopted no hold in force");
  auto expected = before.holders;
  if (is_adopted) {
    const bool is_first = !was_held(adopter);
    const auto former = before.holders.find(is_first ? exported : adopter);
    const auto found = after.holders.find(adopter);
    if (found == after.holders.end()) return complain(done, "an adopter does not hold");
    if (former != before.holders.end() && found->second < former->second)
      complain(done, done.requester + " shortened a lease by an adoption");
    if (is_first) expected.erase(exported);
    expected[adopter] = found->second;
  }
  if (after.holders != expected || after.counted != before.counted || after.queue != before.queue)
    complain(done, done.requester + " changed more than the owner of its hold");
}

void shared_watch::execute(session& from, const arguments& command, std::size_t key_count) {
  auto done = step_of(command, key_count);
  const auto before = look(done);
  grace_period_.note_waiters(done.lock_key, clients_of(before.queue));
  const auto send = from.send;
  from.send = [&](std::string bytes) {
    done.is_refused = done.is_refused || bytes.starts_with('-');
    if (send) send(std::move(bytes));
  };
  redis_.execute(from, command);
  from.send = send;
  const auto after = look(done);
  if (world_.is_verbose) {
    world_.log("    server: %s by %s: %zu hold %ld -> %zu hold %ld, queue %zu -> %zu",
               command[1].substr(0, 6).c_str(), done.requester.c_str(), before.holders.size(),
               static_cast<long>(before.counted), after.holders.size(),
               static_cast<long>(after.counted), before.queue.size(), after.queue.size());
  }
  if (before.is_foreign || after.is_foreign) {
    if (before.holders != after.holders) complain(done, done.requester + " changed a foreign key");
    return;
  }
  check_holders(done, before, after);
  check_permits(done, before, after);
  check_queue(done, before, after);
}

// Only an owner's own step may change or end its hold, except that those whose lease is over are
// dropped. Others come in only from the queue.
void shared_watch::check_holders(const step& done, const sight& before, const sight& after) {
  for (const auto& [entry, ends] : before.holders) {
    if (owner_of(entry) == done.requester) continue;
    const auto now = after.holders.find(entry);
    const bool is_changed = now != after.holders.end() && now->second != ends;
    if (is_changed || (now == after.holders.end() && ends >= redis_.now_ms())) {
      complain(done, done.requester + " changed the hold of " + entry);
    }
  }
  std::map<std::string, int> owners;
  std::int64_t counted = 0;
  for (const auto& [entry, ends] : after.holders) {
    counted += permits_of(entry);
    if (++owners[owner_of(entry)] > 1) complain(done, owner_of(entry) + " holds twice");
    if (ends > after.expires_ms) complain(done, "the key expires before the lease of " + entry);
    if (!before.holders.contains(entry)) check_newcomer(done, entry, before, after);
  }
  if (counted != after.counted) {
    complain(done, "the counter says " + std::to_string(after.counted) + ", the holds weigh " +
                       std::to_string(counted));
  }
  if (before.capacity != after.capacity && !done.is_resize) {
    complain(done, done.requester + " changed the number of permits");
  }
}

void shared_watch::check_newcomer(const step& done, const std::string& entry, const sight& before,
                                  const sight& after) {
  const auto owner = owner_of(entry);
  const auto is_queued = [](const sight& seen, const std::string& one) {
    return std::find(seen.queue.begin(), seen.queue.end(), one) != seen.queue.end();
  };
  const bool has_waited = is_queued(before, entry);
  if (owner != done.requester && !has_waited) {
    complain(done, entry + " was let in and had not waited");
  }
  const bool had_another =
      std::any_of(before.holders.begin(), before.holders.end(),
                  [&](const auto& item) { return owner_of(item.first) == owner; });
  // A waiter that does not reply costs the others no more than this.
  const auto most = grace_period_.is_in_grace_period() ? unconfirmed_and_grace_ms : unconfirmed_ms;
  if (owner != done.requester && after.holders.at(entry) - redis_.now_ms() > most) {
    complain(done, entry + " was let in for long");
  }
  if (had_another || !world_.plan.kills_old_sessions) return;  // raised or lowered
  // The commands of a broken connection that are in flight may come after its client has died.
  if (owner != done.requester && !is_alive(entry, before) && !grace_period_.is_in_grace_period()) {
    complain(done, entry + " is dead and was let in");
  }
  if (owner != done.requester &&
      grace_period_.is_waited_for_again(done.lock_key, client_of(entry))) {
    complain(done, entry + " is dead and is waited for again");
  }
  // First come, first served, except that the dead are passed over.
  const auto& joined = names_[done.lock_key].joined;
  const auto served = joined.find(entry);
  for (const auto& waiter : after.queue) {
    const auto join = joined.find(waiter);
    if (join == joined.end() || !is_alive(waiter, before)) continue;
    if (served == joined.end() || join->second < served->second) {
      complain(done, entry + " was let in before " + waiter);
    }
  }
}

void shared_watch::check_permits(const step& done, const sight& before, const sight& after) {
  const auto permits = permits_in_force(after);
  if (permits > after.capacity && permits > permits_in_force(before)) {
    complain(done, std::to_string(permits) + " of " + std::to_string(after.capacity) + " are out");
  }
  // A release lets in the waiters that fit.
  const auto has = [&](const sight& seen) {
    return std::any_of(seen.holders.begin(), seen.holders.end(),
                       [&](const auto& item) { return owner_of(item.first) == done.requester; });
  };
  if (!has(before) || has(after) || after.queue.empty() || !world_.plan.is_exclusive) return;
  const auto& head = after.queue.front();
  if (permits + permits_of(head) <= after.capacity && is_alive(head, before)) {
    complain(done, done.requester + " left room for " + head + ", who still waits");
  }
}

// An entry leaves the queue when it is let in or gives up. Only a head may lose its place: when it
// is dead, when its client was silent, or when it waits for more than there is. No other entry is
// passed, which protects the turn of a writer.
void shared_watch::check_passed(const step& done, const std::string& entry, const facts& seen,
                                const sight& before, const sight& after) {
  const bool is_let_in = after.holders.contains(entry);
  if (is_let_in || owner_of(entry) == done.requester || !is_alive(entry, before)) return;
  if (permits_of(entry) > after.capacity) return;
  const auto now = redis_.now_ms();
  const bool is_unanswered = seen.request_ms > 0 && now - seen.request_ms >= answer_ms;
  const bool is_silent = now - seen.sign_ms >= silent_ms && !grace_period_.is_in_grace_period();
  if (client_of(entry) != client_of(before.queue.front()) || !(is_silent || is_unanswered)) {
    complain(done, done.requester + " passed " + entry + ", which lives; it looked " +
                       std::to_string(now - seen.sign_ms) + " ms ago");
  }
}

void shared_watch::note_signs(const step& done, facts& seen, const sight& before,
                              const sight& after) {
  if (after.queue.empty()) return;
  const auto& head = after.queue.front();
  const auto now = redis_.now_ms();
  const bool is_own_look = owner_of(head) == done.requester && !done.is_refused;
  if (before.queue.empty() || before.queue.front() != head || is_own_look) {
    seen.sign_ms = now;
    seen.request_ms = 0;
  } else if (after.queue_expires_ms == now + request_ttl_ms + answer_ms) {
    seen.request_ms = now;
  }
  if (after.queue_expires_ms < 0) complain(done, "the queue never ends");
}

void shared_watch::check_queue(const step& done, const sight& before, const sight& after) {
  auto& seen = names_[done.lock_key];
  if (world_.plan.is_exclusive) {
    for (const auto& waiter : before.queue) {
      const bool is_gone =
          std::find(after.queue.begin(), after.queue.end(), waiter) == after.queue.end();
      if (is_gone) check_passed(done, waiter, seen, before, after);
    }
  }
  note_signs(done, seen, before, after);
  std::erase_if(seen.joined, [&](const auto& item) {
    return std::find(after.queue.begin(), after.queue.end(), item.first) == after.queue.end();
  });
  for (const auto& waiter : after.queue) {
    if (seen.joined.try_emplace(waiter, seen.join_count).second) ++seen.join_count;
  }
  // The commands of an old connection that are in flight can enqueue an owner again, unless the
  // connection was killed.
  if (!world_.plan.kills_old_sessions) return;
  auto sorted = after.queue;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    complain(done, "somebody waits twice");
  }
  for (const auto& waiter : sorted) {
    const auto hold = after.holders.find(waiter);
    if (hold != after.holders.end() && hold->second >= redis_.now_ms()) {
      complain(done, waiter + " holds and waits");
    }
  }
}

}  // namespace mortise::simulation
