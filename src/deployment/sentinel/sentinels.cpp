#include "deployment/sentinel/sentinels.hpp"

#include <algorithm>
#include <utility>

#include "net/threads/futex.hpp"

namespace mortise::sentinel {

namespace {

// How much longer than the first Sentinel the others have.
constexpr time_ns grace_ns = 200 * ns_per_ms;

// The rest of the time is for connecting to the master.
time_ns end_of_asking(time_ns deadline) {
  const auto now = boot_now();
  return deadline - std::max<time_ns>(deadline - now, 0) / 4;
}

constexpr const char* hint =
    "; the Sentinels announce this address: if the client cannot reach it, set `sentinel "
    "announce-hostnames yes`, or `replica-announce-ip` at the servers, or give the client the "
    "option address_map";

bool have_one_in_common(const std::vector<net::address>& one,
                        const std::vector<net::address>& other) {
  return std::any_of(one.begin(), one.end(), [&](const net::address& item) {
    return std::find(other.begin(), other.end(), item) != other.end();
  });
}

}  // namespace

sentinels::sentinels(net::reactor& loop, std::vector<member> members, std::string master,
                     std::string name, address_map map)
    : master_(std::move(master)), name_(std::move(name)), map_(std::move(map)) {
  sentinel_listener& me = *this;
  for (auto& one : members) {
    one.config.inbox = switch_channel;
    one.config.is_of_sentinel = true;
    all_.push_back(
        std::make_unique<sentinel>(loop, std::move(one.config), std::move(one.place), master_, me));
  }
}

sentinels::~sentinels() = default;

outcome sentinels::begin(std::function<void()> on_hint) {
  on_hint_ = std::move(on_hint);
  for (const auto& one : all_) {
    if (auto begun = one->begin(); !begun.ok()) return begun;
  }
  return {};
}

void sentinels::close() noexcept {
  std::vector<std::unique_ptr<sentinel>> ended;
  {
    const std::lock_guard guard(mutex_);
    std::swap(ended, all_);
  }
  on_result();  // wakes ask_all()
  for (const auto& one : ended) one->close();
}

void sentinels::on_result() noexcept {
  ++result_count_;
  net::futex_wake_all(&result_count_);
}

// "mymaster 10.0.0.1 6379 10.0.0.2 6379"
void sentinels::on_master_switched(std::string_view text) noexcept {
  if (text.starts_with(master_) && text.substr(master_.size()).starts_with(' ')) on_hint_();
}

// One lookup of the master. Several lookups may run at the same time.
class sentinels::lookup {
 public:
  explicit lookup(const std::vector<std::unique_ptr<sentinel>>& all) {
    for (const auto& one : all) numbers_.push_back(one->ask());
  }
  // Whether there is no more reply to wait for at this time.
  bool is_over(const std::vector<std::unique_ptr<sentinel>>& all, time_ns now) {
    using stage = sentinel::stage;
    bool is_any_waiting = false;
    bool is_any_late = false;
    bool knows_any = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto at = all[i]->stage_of(numbers_[i]);
      is_any_waiting |= at == stage::waiting;
      is_any_late |= at == stage::late;
      knows_any |= at == stage::answered && all[i]->last_result().content.has_master();
    }
    if (knows_any && end_of_grace_ == time_never) end_of_grace_ = now + grace_ns;
    // A late Sentinel is waited for only if no other Sentinel knows the master.
    return now >= end_of_grace_ || !(is_any_waiting || (is_any_late && !knows_any));
  }
  [[nodiscard]] time_ns end_of_grace() const noexcept { return end_of_grace_; }
  // The reports, and the reasons for missing reports.
  [[nodiscard]] std::vector<sentinel_result> results(
      const std::vector<std::unique_ptr<sentinel>>& all) const {
    std::vector<sentinel_result> reports;
    for (std::size_t i = 0; i < all.size(); ++i) {
      auto one = all[i]->last_result();
      if (all[i]->stage_of(numbers_[i]) != sentinel::stage::answered) {
        all[i]->give_up(numbers_[i]);
        one.content = {};
        if (one.problem.ok()) {
          one.problem = outcome::of(status::unreachable, one.sentinel, " did not answer in time");
        }
      }
      reports.push_back(std::move(one));
    }
    return reports;
  }

 private:
  std::vector<std::uint64_t> numbers_;
  time_ns end_of_grace_ = time_never;
};

std::vector<sentinel_result> sentinels::ask_all(time_ns deadline) {
  std::unique_lock guard(mutex_);
  lookup current(all_);
  for (;;) {
    const auto seen = result_count_.load();
    if (all_.empty()) return {};
    const auto now = boot_now();
    if (now >= deadline || current.is_over(all_, now)) return current.results(all_);
    guard.unlock();
    net::futex_wait(result_count_, seen, std::min(deadline, current.end_of_grace()));
    guard.lock();
  }
}

net::resolution sentinels::resolve(time_ns deadline) {
  const auto asked_at = boot_now();
  const auto results = ask_all(end_of_asking(deadline));
  if (results.empty()) return {outcome::of(status::closed, "the client was closed"), {}};
  auto found = resolve_places(results, deadline);
  const std::lock_guard guard(last_.mutex);
  last_.master = found.addresses;
  last_.replicas.reset();
  if (const auto count = most_replicas(results)) last_.replicas = {*count, asked_at};
  return found;
}

std::optional<sentinels::replica_report> sentinels::replicas_of(const net::address& server) const {
  const std::lock_guard guard(last_.mutex);
  const auto& known = last_.master;
  return std::find(known.begin(), known.end(), server) == known.end() ? std::nullopt
                                                                      : last_.replicas;
}

// Sentinels may report one address by different names, because some announce hosts and others
// numbers. Two addresses of one epoch belong to two deployments.
net::resolution sentinels::resolve_places(const std::vector<sentinel_result>& results,
                                          time_ns deadline) {
  const auto places = latest(results);
  if (places.empty()) return {why_unreported(results, master_), {}};
  net::resolution found;
  for (const auto& place : places) {
    auto one = net::resolver_for_server(place.host, place.port, map_)->resolve(deadline);
    if (one.hint.empty()) one.hint = hint;
    if (!one.result.ok()) return one;
    if (found.addresses.empty()) {
      found = std::move(one);
      found.host = place.host;
    } else if (!have_one_in_common(found.addresses, one.addresses)) {
      return {why_undecided(results, master_), {}};
    }
  }
  return found;
}

}  // namespace mortise::sentinel
