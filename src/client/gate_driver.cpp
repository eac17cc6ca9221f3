#include "client/gate_driver.hpp"

#include <algorithm>
#include <functional>
#include <new>
#include <utility>

#include "base/random.hpp"
#include "base/text/decimal.hpp"
#include "client/client.hpp"
#include "client/handles/lock_handle.hpp"
#include "protocol/own_name.hpp"

namespace mortise::client {

namespace {

// Retry delay of a gate that could not subscribe for lack of memory.
constexpr time_ns subscribe_pause_ns = 50 * ns_per_ms;

// An acquire, a renewal or a release needs one, and a release may still be open at the next
// acquire.
constexpr std::size_t kept_requests = 2;

// A renewal may downgrade a writer to a reader.
bool may_release(lock::step what) noexcept {
  switch (what) {
    case lock::step::renew:
    case lock::step::release_alone:
    case lock::step::release:
    case lock::step::cancel:
      return true;
    default:
      return false;
  }
}

// The log subject of a failed release.
log_subject subject_of(status code) noexcept {
  if (code == status::lost) return log_subject::lost;
  return code == status::refused ? log_subject::refused : log_subject::unreachable;
}

}  // namespace

gate_driver::gate_driver(client& owner, std::uint64_t id, lock::lock_kind kind,
                         std::string_view name, const protocol::table& rules,
                         protocol::key_set keys)
    : client_(owner),
      id_(id),
      kind_(kind),
      rules_(rules),
      name_(name),
      name_number_(number_of(name)),
      keys_(std::move(keys)),
      channel_(protocol::channel_of(rules, owner.key_prefix(), keys_)),
      order_(key()),
      places_(owner.helper()),
      gate_(rules.facts, static_cast<lock::lock_io&>(*this),
            static_cast<lock::gate_listener&>(*this)),
      random_(random_number()) {}

// 0 stands for all names.
std::uint64_t gate_driver::number_of(std::string_view name) noexcept {
  return std::max<std::uint64_t>(std::hash<std::string_view>()(name), 1);
}

gate_driver::~gate_driver() { client_.reactor().cancel(*this); }

void gate_driver::plan() noexcept {
  if (!channel_.empty()) update_subscription();
  is_idle_.store(gate_.is_idle() && free_requests_.size() == requests_.size());
  // Expects a grant, or a message about a waiter for a retained claim. Without it the client learns
  // of that waiter only with its next request.
  if (gate_.awaits_message() != awaits_message_) {
    awaits_message_ = !awaits_message_;
    client_.servers().expect_messages(named(), awaits_message_ ? 1 : -1);
  }
  // A timer that fires too early costs one check. So it is only moved to an earlier time, except
  // after a renewal, which would otherwise always have a second timer for its retry.
  auto next = gate_.next_timer();
  if (is_unsubscribed_) next = std::min(next, boot_now() + subscribe_pause_ns);
  const bool is_renewed = std::exchange(is_renewed_, false);
  if (next == armed_for_ || (next > armed_for_ && !is_renewed)) return;
  armed_for_ = next;
  client_.reactor().schedule(*this, next, gate_.timer_slack(next));
}

// Subscribes only while a waiter is queued, so a free lock costs no more.
void gate_driver::update_subscription() noexcept try {
  const bool is_queued = gate_.is_queued();
  is_unsubscribed_ = false;
  if (std::exchange(is_listening_, is_queued) == is_queued) return;
  if (is_queued) return client_.listen(named(), channel_, id_);
  client_.unlisten(named(), channel_, id_);
} catch (const std::bad_alloc&) {
  client_.unlisten(named(), channel_, id_);
  is_listening_ = false;
  is_unsubscribed_ = true;
}

void gate_driver::on_timer(time_ns /*now*/) noexcept {
  // The last reference may be released at this moment.
  const auto self = weak_from_this().lock();
  if (!self) return;
  enter([&](lock::gate& gate, time_ns now) {
    armed_for_ = time_never;
    gate.on_timer(now);
  });
  client_.gates().retire_if_idle(*this);
}

bool gate_driver::ask(const lock::step_request& request, const lock::operation* requester) noexcept
    try {
  last_sent_ = status::no_memory;
  if (free_requests_.empty()) {
    // Reserves the place in the free list first, so a reply never needs memory.
    free_requests_.reserve(requests_.size() + 1);
    requests_.push_back(client_.servers().new_request(*this, named()));
    free_requests_.push_back(requests_.back().get());
  }
  auto* const next = free_requests_.back();
  next->claim_id = request.claim_id;
  next->serial = request.serial;
  if (places_.is_on()) {
    next->place = places_.of(request, rules_, keys_);
    if (!next->place) {
      last_sent_ = status::busy;
      return false;
    }
  }
  if (may_release(request.what)) order_.before_release();
  last_sent_ = next->send(request, rules_, keys_, requester);
  if (last_sent_ != status::ok) return false;
  free_requests_.pop_back();
  return true;
} catch (const std::bad_alloc&) {
  return false;  // nothing was sent
}

void gate_driver::on_result(deployment::lock_request& request, const lock::step_result& result,
                            time_ns /*now*/) noexcept {
  // The client keeps a gate_driver with an open lock_request. This may have been the last one.
  const auto self = shared_from_this();
  if (result.last_token != 0) client_.servers().note_token(named(), result.last_token);
  std::unique_ptr<deployment::lock_request> spare;  // destroyed without the mutex
  enter([&](lock::gate& gate, time_ns now) {
    const auto claim = request.claim_id;
    const auto serial = request.serial;
    free_requests_.push_back(&request);
    if (result.what == lock::answer::granted) order_.after_grant();
    is_renewed_ = result.what == lock::answer::renewed;
    gate.on_answer(claim, serial, result, now);
    spare = take_spare(request);
  });
  client_.gates().retire_if_idle(*this);
}

// Many requests are open at once during a server pause, for example. When all of them have results,
// each further result frees one request.
std::unique_ptr<deployment::lock_request> gate_driver::take_spare(
    const deployment::lock_request& last) noexcept {
  if (requests_.size() <= kept_requests || free_requests_.size() < requests_.size()) return nullptr;
  auto chosen = requests_.end() - 1;
  if (chosen->get() == &last) --chosen;
  auto spare = std::move(*chosen);
  requests_.erase(chosen);
  std::erase(free_requests_, spare.get());
  return spare;
}

void gate_driver::on_message(const protocol::message& message) noexcept {
  enter([&](lock::gate& gate, time_ns now) {
    if (message.kind == protocol::message_kind::grant) order_.after_grant();
    // A forged token would raise the counter at the next connect, for all clients (hazard 32).
    if (!protocol::tell(gate, message, now)) return;
    client_.servers().note_token(named(), message.last_token);
  });
}

std::string gate_driver::new_owner_token(std::string_view label, std::int64_t grant_ttl_ms,
                                         lock::claim_reuse reuse) {
  return rules_.owner_token({client_.id(), id_, ++attempts_, label, grant_ttl_ms, reuse});
}

lock::grant_secret gate_driver::new_grant_secret() noexcept {
  lock::grant_secret secret;
  fill_with_random_text(secret);
  return secret;
}

std::int64_t gate_driver::random_below(std::int64_t bound) noexcept { return random_.below(bound); }

bool gate_driver::is_granted_by_message() const noexcept {
  return client_.servers().is_granted_by_message(named());
}

outcome gate_driver::problem() const {
  auto problem = client_.servers().problem(named());
  // A connection that has just broken may not have reported the reason yet.
  if (problem.ok() && last_sent_ == status::unreachable) {
    problem = outcome::of(status::unreachable, "the connection to the server broke");
    problem.is_retryable = true;
  }
  return problem;
}

outcome gate_driver::lack() const noexcept {
  if (last_sent_ == status::limit) return lock_io::lack();
  if (last_sent_ == status::busy) {
    return outcome::of(status::limit, "release_on_death: the client has more than ",
                       decimal(helper::most_records),
                       " claims at the servers; use several clients, or omit the option");
  }
  return outcome::of(status::no_memory);  // also if the request could not be stored
}

void gate_driver::on_lost(lock::owner& loser) noexcept {
  lock_handle::handle_of(loser).notice_lost();
  client_.log().note(log_subject::lost, outcome::lost(loser.loss), name_);
}

void gate_driver::on_at_risk(lock::owner& holder, reason why) noexcept {
  lock_handle::handle_of(holder).notice_at_risk(why);
}

void gate_driver::on_contended(lock::owner& holder) noexcept {
  lock_handle::handle_of(holder).notice_contended();
}

void gate_driver::on_not_released(const outcome& error) noexcept {
  client_.log().note(subject_of(error.code), error, name_);
}

void gate_driver::on_wait_began(const lock::acquire_operation& waiter) noexcept {
  if (!client_.locks().is_on()) return;
  const auto wait = lock::gate_journal::of_wait(lock::event_kind::began, waiter, waiter.began);
  client_.locks().note_wait(wait, {kind_, name_});
}

void gate_driver::on_event(const lock::lock_event& event) noexcept {
  client_.history().add(name_number_, event);
  if (client_.locks().is_on()) client_.locks().note(event, {kind_, name_});
}

}  // namespace mortise::client
