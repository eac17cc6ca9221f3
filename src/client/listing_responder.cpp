#include "client/listing_responder.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/decimal.hpp"
#include "client/client.hpp"
#include "protocol/owner_token.hpp"
#include "statistics/snapshot.hpp"

namespace mortise::client {

namespace {

constexpr time_ns page_cost_ns = ns_per_s / listing_responder::pages_per_second;
// The maximum of characters for the retained claims of a lock. Further claims count as held.
constexpr std::size_t most_claims_text = 200;

const char* kind_text(lock::lock_kind kind) noexcept {
  switch (kind) {
    case lock::lock_kind::rw:
      return "rw";
    case lock::lock_kind::semaphore:
      return "semaphore";
    case lock::lock_kind::mutex:
      break;
  }
  return "mutex";
}

// The buckets that are not empty, each with its bound in seconds.
std::string text_of(const lock::gate_traffic& traffic) {
  std::string text;
  for (std::size_t i = 0; i < traffic.waits.size(); ++i) {
    if (traffic.waits[i] == 0) continue;
    if (!text.empty()) text += ' ';
    text.append(statistics::bound_text(i)).append(":").append(decimal(traffic.waits[i]));
  }
  return text;
}

protocol::listing_entry entry_of(const gate_driver& of) {
  const auto told = of.look([](const lock::gate& gate, time_ns now) { return gate.report(now); });
  protocol::listing_entry one;
  one.label = told.label;
  one.name = of.name();
  one.kind = kind_text(of.kind());
  if (told.holds > 0 || told.retained > 0 || told.waiters > 0) {
    one.mode = told.mode == lock::hold_mode::exclusive ? "exclusive" : "shared";
  }
  one.holds = static_cast<std::int64_t>(told.holds);
  one.retained = static_cast<std::int64_t>(told.retained);
  for (const auto& claim : told.retained_claims) {
    if (one.retained_claims.size() >= most_claims_text) break;
    one.retained_claims.append(protocol::split_owner_token(claim).attempt()).append(" ");
  }
  one.token = told.token;
  one.held_ms = told.held_ns / ns_per_ms;
  one.time_left_ms = told.left_ns / ns_per_ms;
  one.permits = told.weight;
  one.waiters = static_cast<std::int64_t>(told.waiters);
  one.waited_ms = told.waited_ns / ns_per_ms;
  one.grants = told.traffic.grants;
  one.contended = told.traffic.contended;
  one.waited_total_ms = told.traffic.waited_ns / ns_per_ms;
  one.waits = text_of(told.traffic);
  return one;
}

}  // namespace

void listing_responder::on_message(std::string_view text) noexcept try {
  auto asked = protocol::read_request(text);
  if (!asked) return;
  {
    const std::lock_guard guard(mutex_);
    if (!is_new(asked->serial) || !may_answer(boot_now())) return;
    asked_.push_back(std::move(*asked));
  }
  client_.reactor().post(*this);
} catch (const std::bad_alloc&) {
  // No memory for a reply. The other client repeats its request.
}

bool listing_responder::is_new(std::uint64_t serial) noexcept {
  if (std::find(heard_.begin(), heard_.end(), serial) != heard_.end()) return false;
  heard_[heard_count_++ % heard_.size()] = serial;
  return true;
}

bool listing_responder::may_answer(time_ns now) noexcept {
  paid_until_ = std::max(paid_until_, now);
  if (paid_until_ - now >= ns_per_s) return false;
  paid_until_ += page_cost_ns;
  return true;
}

void listing_responder::run() noexcept try {
  std::vector<protocol::listing_request> asked;
  {
    const std::lock_guard guard(mutex_);
    asked.swap(asked_);
  }
  for (const auto& one : asked) {
    const auto text = protocol::write_page(page_of(one));
    client_.servers().new_broadcast(protocol::say_to_inbox(one.asker, text))->send();
  }
} catch (const std::bad_alloc&) {
  // No memory for a reply. The other client repeats its request.
}

protocol::listing_page listing_responder::page_of(const protocol::listing_request& asked) {
  protocol::listing_page told{asked.round, client_.id(), asked.from, 0, {}};
  std::size_t size = 0;
  for (auto each = client_.gates().next(asked.from); each;
       each = client_.gates().next(each->id() + 1)) {
    if (told.entries.size() == page_entries || size >= page_bytes) {
      told.next = each->id();
      break;
    }
    auto one = entry_of(*each);
    size +=
        one.name.size() + one.label.size() + one.waits.size() + one.retained_claims.size() + 100;
    told.entries.push_back(std::move(one));
  }
  return told;
}

}  // namespace mortise::client
