#include "client/presence/listing_responder.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/text/decimal.hpp"
#include "client/client.hpp"
#include "protocol/native/owner_token.hpp"
#include "statistics/snapshot.hpp"

namespace mortise::client {

namespace {

constexpr time_ns page_cost_ns = ns_per_s / listing_responder::pages_per_second;
// The maximum of characters for the retained claims of a lock. Further claims count as held.
constexpr std::size_t most_claims_text = 200;
// The maximum of threads for a lock, about 4 KiB.
constexpr std::size_t most_threads = 64;

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

// The protocol, and for each thread "holds:ID:NUMBER:MODE:PERMITS:MS", or the same with "waits".
// The number of a task begins with "t". A wait that fails in a deadlock also has its begin. Threads
// beyond the maximum are omitted.
std::string text_of(const std::vector<lock::thread_report>& threads, std::string_view protocol,
                    const deadlock_search& deadlocks) {
  if (threads.empty()) return {};
  std::string text(protocol);
  for (std::size_t i = 0; i < std::min(threads.size(), most_threads); ++i) {
    const auto& one = threads[i];
    text.append(one.is_hold ? " holds:" : " waits:").append(decimal(one.thread.id));
    text.append(one.thread.is_task ? ":t" : ":").append(decimal(one.thread.number));
    text.append(one.mode == lock::hold_mode::exclusive ? ":exclusive:" : ":shared:");
    text.append(decimal(one.permits)).append(":").append(decimal(one.lasts_ns / ns_per_ms));
    if (one.fails_in_deadlock) text.append(":").append(decimal(deadlocks.shared_us(one.began)));
  }
  return text;
}

protocol::listing_entry entry_of(const gate_driver& driver, const deadlock_search& deadlocks) {
  const auto report =
      driver.look([](const lock::gate& gate, time_ns now) { return gate.report(now); });
  protocol::listing_entry one;
  one.label = report.label;
  one.value = report.value;
  one.name = driver.name();
  one.kind = kind_text(driver.kind());
  if (report.holds > 0 || report.retained > 0 || report.waiters > 0) {
    one.mode = report.mode == lock::hold_mode::exclusive ? "exclusive" : "shared";
  }
  one.holds = static_cast<std::int64_t>(report.holds);
  one.retained = static_cast<std::int64_t>(report.retained);
  for (const auto& claim : report.retained_claims) {
    if (one.retained_claims.size() >= most_claims_text) break;
    one.retained_claims.append(protocol::split_owner_token(claim).attempt()).append(" ");
  }
  one.token = report.token;
  one.held_ms = report.held_ns / ns_per_ms;
  one.time_left_ms = report.left_ns / ns_per_ms;
  one.permits = report.permits;
  one.waiters = static_cast<std::int64_t>(report.waiters);
  one.waited_ms = report.waited_ns / ns_per_ms;
  one.grants = report.traffic.grants;
  one.contended = report.traffic.contended;
  one.waited_total_ms = report.traffic.waited_ns / ns_per_ms;
  one.waits = text_of(report.traffic);
  one.threads = text_of(report.threads, driver.rules().facts.name, deadlocks);
  return one;
}

}  // namespace

void listing_responder::on_message(std::string_view text) noexcept try {
  auto request = protocol::read_request(text);
  if (!request) return;
  {
    const std::lock_guard guard(mutex_);
    if (!is_new(request->serial) || !may_answer(boot_now())) return;
    requests_.push_back(std::move(*request));
  }
  client_.reactor().post(*this);
} catch (const std::bad_alloc&) {
  // No memory for a reply. The other client repeats its request.
}

bool listing_responder::is_new(std::uint64_t serial) noexcept {
  if (std::find(recent_serials_.begin(), recent_serials_.end(), serial) != recent_serials_.end())
    return false;
  recent_serials_[serial_count_++ % recent_serials_.size()] = serial;
  return true;
}

bool listing_responder::may_answer(time_ns now) noexcept {
  paid_until_ = std::max(paid_until_, now);
  if (paid_until_ - now >= ns_per_s) return false;
  paid_until_ += page_cost_ns;
  return true;
}

void listing_responder::run() noexcept try {
  std::vector<protocol::listing_request> requests;
  {
    const std::lock_guard guard(mutex_);
    requests.swap(requests_);
  }
  for (const auto& one : requests) {
    const auto now = boot_now();
    const auto text = one.history ? protocol::write_history(history_of(one, now), now)
                                  : protocol::write_page(page_of(one));
    client_.servers()
        .new_broadcast(protocol::say_to_inbox({one.asker, client_.key_prefix()}, text))
        ->send();
  }
} catch (const std::bad_alloc&) {
  // No memory for a reply. The other client repeats its request.
}

// Locks of the same name in other databases are other locks.
bool listing_responder::may_have(const protocol::listing_request& request,
                                 const deployment::named_key& lock) const {
  const auto own = client_.servers().database_of(lock);
  return request.database < 0 || own < 0 || own == request.database;
}

protocol::listing_page listing_responder::page_of(const protocol::listing_request& request) {
  protocol::listing_page page{request.round, client_.id(), request.from, 0, {}};
  if (!may_have(request, {})) return page;
  std::size_t size = 0;
  for (auto each = client_.gates().next(request.from); each;
       each = client_.gates().next(each->id() + 1)) {
    if (page.entries.size() == page_entries || size >= page_bytes) {
      page.next = each->id();
      break;
    }
    if (!may_have(request, each->named())) continue;
    auto one = entry_of(*each, client_.deadlocks());
    size += one.name.size() + one.label.size() + one.value.size() + one.waits.size() +
            one.retained_claims.size() + one.threads.size() + 100;
    page.entries.push_back(std::move(one));
  }
  return page;
}

// First the present state of the gates of this name, then the recorded events. The present state
// includes holds and waits whose begin has left the ring.
protocol::history_page listing_responder::history_of(const protocol::listing_request& request,
                                                     time_ns now) {
  using protocol::history_page;
  const auto& terms = *request.history;
  history_page page;
  page.round = request.round;
  page.client = client_.id();
  page.label = client_.defaults().label;
  page.from = request.from;
  if (!may_have(request, {terms.name, {}})) return page;
  auto from = request.from;
  if (from < history_page::events_from) {
    std::size_t gates = 0;
    for (auto each = client_.gates().next(from); each;
         each = client_.gates().next(each->id() + 1)) {
      if (++gates > page_gates || page.events.size() >= most_present) {
        page.next = each->id();
        return page;
      }
      if (each->name() != terms.name) continue;
      each->look([&](const lock::gate& gate, time_ns) {
        gate.add_present(page.events, most_present, now);
        if (page.label.empty()) page.label = gate.report(now).label;
      });
    }
    from = history_page::events_from;
  }
  add_recorded(page, from - history_page::events_from, terms.name, now - to_ns(terms.window_ms));
  return page;
}

void listing_responder::add_recorded(protocol::history_page& page, std::uint64_t from,
                                     std::string_view name, time_ns oldest) {
  const auto& history = client_.history();
  const auto first = history.first();
  const auto end = history.end();
  const auto number = gate_driver::number_of(name);
  if (from < first) {
    if (const auto kept = history.read(first, 0); kept && kept->at > oldest) {
      lock::lock_event forgotten;
      forgotten.kind = lock::event_kind::forgotten;
      forgotten.at = kept->at;
      page.events.push_back(forgotten);
    }
    from = first;
  }
  for (auto at = from; at < end; ++at) {
    if (page.events.size() >= page_entries + most_present) {
      page.next = protocol::history_page::events_from + at;
      return;
    }
    const auto event = history.read(at, number);
    if (event && event->at >= oldest) page.events.push_back(*event);
  }
}

}  // namespace mortise::client
