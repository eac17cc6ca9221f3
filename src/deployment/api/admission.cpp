#include "deployment/api/admission.hpp"

#include <new>
#include <utility>

namespace mortise::deployment {

namespace {

// The pause before the next health check of a bad server.
constexpr time_ns pause_ns = ns_per_s;

}  // namespace

admission::admission(net::reactor& loop, redis::connection& server, std::string where,
                     const settings& terms, std::int64_t database, listener& events)
    : loop_(loop),
      server_(server),
      rule_(terms.health_check == "strict" ? rule::strict
            : terms.health_check == "warn" ? rule::warn
                                           : rule::off),
      database_(database),
      prefix_(terms.key_prefix()),
      listener_(events),
      is_open_(rule_ != rule::strict),
      where_(std::move(where)) {
  client_.lease_ms = terms.lease_ms;
  client_.drift_ppm = terms.drift_ppm;
  client_.verifies_tls = terms.tls_verify;
  client_.acks = terms.acks;
  client_.is_fsynced = terms.durability == "fsync";
  client_.quarantine_ms = terms.place.votes ? terms.quarantine_ms : 0;
  client_.is_of_local = where_ == "local:";
}

admission::~admission() { close(); }

void admission::close() noexcept {
  loop_.cancel(static_cast<net::task&>(*this));
  loop_.cancel(static_cast<net::timer&>(*this));
}

void admission::on_up() noexcept {
  {
    const std::lock_guard guard(mutex_);
    ++session_;
    is_up_ = true;
    is_checked_ = false;
  }
  if (rule_ != rule::strict) listener_.on_admitted();
  if (rule_ != rule::off) begin();
}

void admission::on_down() noexcept {
  if (rule_ == rule::strict) is_open_.store(false, std::memory_order_release);
  loop_.cancel(static_cast<net::timer&>(*this));
  const std::lock_guard guard(mutex_);
  is_up_ = false;
  keys_.lifted_ns = 0;
}

// Findings about the previous server do not apply to this one.
void admission::change_server(std::string where) noexcept {
  const std::lock_guard guard(mutex_);
  where_ = std::move(where);
  ++session_;
  is_checked_ = false;
  client_.earlier.reset();
  keys_ = {};
  problem_ = {};
  last_.reset();
}

// Places are short strings, so these copies need no memory.
void admission::look_at(std::string place) noexcept {
  const std::lock_guard guard(mutex_);
  if (keys_.lifted_ns == 0) keys_.fence_place = place;
  keys_.place = std::move(place);
}

void admission::on_fence_lifted(std::string place, time_ns sent_ns) noexcept {
  const std::lock_guard guard(mutex_);
  keys_.fence_place = std::move(place);
  keys_.lifted_ns = sent_ns;
}

protocol::probe_keys admission::keys() const {
  const std::lock_guard guard(mutex_);
  auto keys = keys_;
  keys.prefix = prefix_;
  return keys;
}

// The I/O thread.
void admission::begin() noexcept {
  outcome result;
  try {
    result = std::make_shared<health_request>(server_, database_, keys())->begin(*this, session_);
  } catch (const std::bad_alloc&) {
    result = outcome::of(status::no_memory);
  }
  if (!result.ok()) on_health(session_, result, nullptr);
}

void admission::on_health(std::uint64_t session, const outcome& result,
                          const protocol::server_facts* facts) noexcept {
  auto problem = result;
  try {
    if (facts != nullptr) problem = judge(*facts)->refusal();
  } catch (const std::bad_alloc&) {
    problem = outcome::of(status::no_memory);
  }
  const std::lock_guard guard(mutex_);
  // A newer connection may have replaced the one that was checked.
  if (session != session_) return;
  problem_ = std::move(problem);
  is_checked_ = problem_.ok();
  loop_.post(*this);
}

// Only this thread ends sessions, so the session is still the one that was checked.
void admission::run() noexcept {
  bool is_good = false;
  {
    const std::lock_guard guard(mutex_);
    if (!is_up_) return;
    is_good = is_checked_;
  }
  if (rule_ == rule::strict && is_good && !is_open_.exchange(true)) listener_.on_admitted();
  if (rule_ == rule::strict && !is_good) loop_.schedule(*this, boot_now() + pause_ns);
  end_await();
}

void admission::on_timer(time_ns /*now*/) noexcept { begin(); }

std::shared_ptr<const protocol::health> admission::judge(const protocol::server_facts& facts) {
  auto made = std::make_shared<protocol::health>();
  const std::lock_guard guard(mutex_);
  protocol::judge(facts, client_, where_, *made);
  if (!client_.earlier) client_.earlier = facts.clock;
  last_ = made;
  return made;
}

outcome admission::problem() const noexcept {
  if (is_open()) return {};
  const std::lock_guard guard(mutex_);
  if (!problem_.ok()) return problem_;
  return outcome::of(status::unreachable, "the health check of ", where_, " has not finished");
}

outcome admission::await(time_ns deadline) {
  if (rule_ == rule::off) return {};
  net::caller me;
  {
    const std::lock_guard guard(mutex_);
    if (is_first_over_) {
      me.finish();
    } else {
      first_ = &me;
    }
  }
  static_cast<void>(me.wait(deadline));
  {
    const std::lock_guard guard(mutex_);
    first_ = nullptr;
  }
  return problem();
}

void admission::end_await() noexcept {
  const std::lock_guard guard(mutex_);
  is_first_over_ = true;
  if (first_ != nullptr) std::exchange(first_, nullptr)->finish();
}

outcome admission::check_health(protocol::health& target, time_ns deadline) {
  const auto request = std::make_shared<health_request>(server_, database_, keys());
  auto result = request->ask(deadline);
  if (result.ok()) target = *judge(request->facts());
  return result;
}

std::shared_ptr<const protocol::health> admission::last() const noexcept {
  const std::lock_guard guard(mutex_);
  return last_;
}

}  // namespace mortise::deployment
