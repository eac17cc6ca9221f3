#include "client/handles/lock_handle.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <utility>

#include "base/text/printable.hpp"
#include "client/client.hpp"
#include "client/gate_driver.hpp"
#include "lock/lease.hpp"
#include "net/threads/caller.hpp"
#include "protocol/listing/client_record.hpp"
#include "protocol/listing/query.hpp"
#include "protocol/own_name.hpp"

namespace mortise::client {

namespace {

// The use of a hold, by its mode.
std::array<statistics::lock_use, 2> uses_of(lock::lock_kind kind) noexcept {
  using enum statistics::lock_use;
  switch (kind) {
    case lock::lock_kind::rw:
      return {writer, reader};
    case lock::lock_kind::semaphore:
      return {semaphore, semaphore};
    case lock::lock_kind::mutex:
      break;
  }
  return {mutex, mutex};
}

// A blocking call. Its result is on the caller's stack.
template <class Base>
class blocking_operation final : public Base {
 public:
  blocking_operation() { this->caller = &own_caller; }
  void finish(const outcome& error, std::int64_t /*token*/) noexcept override {
    if (!error.ok()) result = error;  // skips copies of texts
    own_caller.finish();              // from now on the caller may have returned
  }
  net::caller own_caller;
  outcome result;
};

// Whether the call has ended before the deadline. A long wait that fails in a deadlock is watched.
template <class Operation>
bool await_end(client& owner, const deployment::named_key& lock, Operation& call, time_ns begun,
               time_ns deadline) noexcept {
  const auto await = [&](time_ns end) { return owner.servers().await(lock, call.own_caller, end); };
  const auto* const acquire = call.as_acquire();
  const auto watched_from = begun + deadlock_search::patience_ns;
  if (acquire == nullptr || !acquire->fails_in_deadlock() || deadline <= watched_from) {
    return await(deadline);
  }
  if (await(watched_from)) return true;
  const deadlock_search::watch watched(owner.deadlocks(), true);
  return await(deadline);
}

// A call that ends in an event. It owns itself until it ends. Then its queue owns it.
template <class Base>
class queued final : public Base, public event_node {
 public:
  explicit queued(std::shared_ptr<event_queue> queue) : queue_(std::move(queue)) {}
  // A wait for a task, if it fails in a deadlock. It is watched from its beginning, because no
  // thread is there to notice that it has become long.
  std::optional<deadlock_search::watch> watched;
  void finish(const outcome& error, std::int64_t token) noexcept override {
    watched.reset();
    if (!error.ok()) content.error = error;  // skips copies of texts
    auto& owner_handle = static_cast<lock_handle&>(*handle);
    owner_handle.describe(content, token);
    const auto queue = std::move(queue_);
    auto unread = queue->deliver(std::unique_ptr<event_node>(this));
    if (unread) owner_handle.keep_unread(std::move(unread));
  }

 private:
  std::shared_ptr<event_queue> queue_;
};

}  // namespace

lock_handle::lock_handle(std::shared_ptr<client> client, std::shared_ptr<gate_driver> gate_driver,
                         std::string name, lock::lock_kind kind, const settings& terms,
                         std::int64_t capacity)
    : client_(std::move(client)), gate_driver_(std::move(gate_driver)), name_(std::move(name)) {
  owner_.handle = this;
  owner_.trace.number = client_->history().new_handle();
  owner_.lease_ms = terms.lease_ms;
  owner_.max_hold_ms = terms.max_hold_ms;
  owner_.progress_ms = terms.progress_ms;
  owner_.renews = terms.renewal;
  owner_.is_strict = terms.fair_strict;
  owner_.unlocks_by_sending = terms.unlocks_by_sending;
  owner_.retain_ms = terms.retain_ms;
  owner_.reports_contention = terms.contended;
  owner_.fails_in_deadlock = terms.fails_in_deadlock;
  owner_.drift_ppm = client_->defaults().drift_ppm;
  owner_.is_reentrant = {terms.reentrant_write, terms.reentrant_read};
  owner_.capacity = capacity;
  // Independent of the drift, because all clients of such a lock have to agree on it.
  const auto lifetime_ms = lock::server_ttl_ms(terms.lease_ms);
  owner_.lifetimes_ms = {terms.write_lifetime_ms > 0 ? terms.write_lifetime_ms : lifetime_ms,
                         terms.read_lifetime_ms > 0 ? terms.read_lifetime_ms : lifetime_ms};
  owner_.poll.interval_ms = terms.poll_interval_ms;
  owner_.poll.attempts = terms.poll_attempts;
  owner_.label = terms.label;
  owner_.value = terms.value;
  owner_.trace.lock_name = name_.c_str();
  const auto uses = uses_of(kind);
  for (std::size_t mode = 0; mode < uses.size(); ++mode) {
    owner_.counts[mode] = &client_->counts().of(name_, terms.label, uses[mode]);
  }
}

lock_handle::~lock_handle() {
  release();
  client_->gates().release(*gate_driver_);
}

void lock_handle::release() noexcept {
  gate_driver_->enter([&](lock::gate& gate, time_ns now) {
    is_released_ = true;
    gate.forget(owner_, now);
    end_watch();
  });
}

std::int64_t lock_handle::command_timeout_ms() const {
  return client_->defaults().command_timeout_ms;
}

// ---- blocking -------------------------------------------------------------------------------

template <class Operation, class Start>
outcome lock_handle::block(Operation& call, std::int64_t timeout_ms, Start&& start) {
  outcome accepted;
  time_ns begun = 0;
  try {
    accepted = gate_driver_->enter(start, &begun);
  } catch (...) {
    // Out of memory. A request of this thread may be in flight.
    gate_driver_->enter(
        [&](lock::gate& gate, time_ns now) { gate.abandon(call, status::no_memory, now); });
    static_cast<void>(client_->servers().await(gate_driver_->named(), call.own_caller, 0));
    throw;
  }
  if (!accepted.ok()) return accepted;
  call.own_caller.begins_at(begun);
  const auto deadline = client::deadline_after(timeout_ms, begun);
  if (!await_end(*client_, gate_driver_->named(), call, begun, deadline)) {
    // After abandon() the call is finished, whatever happened since the deadline.
    gate_driver_->enter([&](lock::gate& gate, time_ns now) {
      if (!call.own_caller.is_done()) gate.abandon(call, status::timed_out, now);
    });
  }
  return std::move(call.result);
}

outcome lock_handle::acquire_or_adopt(const lock::amount& amount, std::int64_t timeout_ms,
                                      std::string_view adopted) {
  blocking_operation<lock::acquire_operation> call;
  call.owner = &owner_;
  call.adopted = adopted;
  call.thread = caller_identity(task_, true);
  call.is_try = timeout_ms == 0;
  call.amount = amount;
  if (call.is_try) timeout_ms = command_timeout_ms();
  if (auto begun = client_->begin_helper(); !begun.ok()) return begun;
  return block(call, timeout_ms, [&](lock::gate& gate, time_ns now) {
    if (is_released_) return outcome::of(status::closed);
    auto armed = rearm(gate, now);
    return armed.ok() ? gate.acquire(call, now) : armed;
  });
}

outcome lock_handle::try_acquire(const lock::amount& amount) { return acquire(amount, 0); }

outcome lock_handle::unlock(lock::hold_mode mode, std::int64_t hold_number) {
  blocking_operation<lock::operation> call;
  return block(call, command_timeout_ms(), [&](lock::gate& gate, time_ns now) {
    return end_hold(gate, mode, hold_number, &call, now);
  });
}

// The mode of the hold with this number, which an upgrade or a downgrade may have changed since it
// was acquired in this mode. Under the mutex.
lock::hold_mode lock_handle::present_mode(lock::hold_mode mode, std::int64_t hold_number) const {
  if (hold_number != owner_.hold_number || owner_.has_hold(mode)) return mode;
  return mode == lock::hold_mode::shared ? lock::hold_mode::exclusive : lock::hold_mode::shared;
}

// The number of an ended hold never unlocks a later hold of its handle.
outcome lock_handle::end_hold(lock::gate& gate, lock::hold_mode mode, std::int64_t hold_number,
                              lock::operation* call, time_ns now) {
  auto checked = owner_.check_number(hold_number);
  return checked.ok() ? gate.unlock(owner_, mode, call, now) : checked;
}

// The hold as a part of a multi, whose unlock leaves nothing held.
outcome lock_handle::end_part(lock::gate& gate, lock::hold_mode mode, std::int64_t hold_number,
                              lock::operation* call, time_ns now) {
  if (owner_.check_number(hold_number).ok()) gate.end_upgrade(owner_);
  return end_hold(gate, present_mode(mode, hold_number), hold_number, call, now);
}

outcome lock_handle::upgrade() {
  blocking_operation<lock::operation> call;
  return block(call, command_timeout_ms(),
               [&](lock::gate& gate, time_ns now) { return gate.raise(owner_, call, now); });
}

outcome lock_handle::downgrade() {
  blocking_operation<lock::operation> call;
  return block(call, command_timeout_ms(),
               [&](lock::gate& gate, time_ns now) { return gate.lower(owner_, 1, call, now); });
}

outcome lock_handle::extend(std::int64_t lease_ms) {
  if (auto fit = client_->check_lease(lease_ms); !fit.ok()) return fit;
  blocking_operation<lock::operation> call;
  return block(call, command_timeout_ms(), [&](lock::gate& gate, time_ns now) {
    return gate.extend(owner_, lease_ms, call, now);
  });
}

outcome lock_handle::note_progress(std::int64_t hold_number) {
  return gate_driver_->enter([&](lock::gate& gate, time_ns now) {
    auto noted = owner_.check_number(hold_number);
    if (noted.ok()) noted = gate.note_progress(owner_, now);
    if (noted.ok() && owner_.progress_ms > 0) noted = rearm(gate, now);
    return noted;
  });
}

outcome lock_handle::set_value(std::string_view value) {
  blocking_operation<lock::operation> call;
  return block(call, command_timeout_ms(), [&](lock::gate& gate, time_ns now) {
    return gate.set_value(owner_, value, call, now);
  });
}

outcome lock_handle::resize(std::int64_t capacity) {
  return ask(protocol::resize(gate_driver_->keys(), capacity), client_->command_deadline());
}

outcome lock_handle::force_release(std::string_view owner) {
  const auto& rules = gate_driver_->rules();
  if (rules.force_release.code == nullptr) {
    return outcome::of(
        status::refused, "protocol: cannot end a hold of ", rules.facts.name,
        " by force, because its owner would not be notified; wait until its lease ends");
  }
  lock::step_request request;
  request.capacity = owner_.capacity;
  bool was_owner = false;
  auto result = ask(protocol::force_release(rules, gate_driver_->keys(), owner, request, was_owner),
                    client_->command_deadline());
  if (!result.ok() || was_owner) return result;
  return outcome::of(status::not_owner, "owner: ", printable(owner), " does not hold the lock");
}

outcome lock_handle::query(protocol::lock_info& info) {
  lock::step_request request;
  std::string own_token;
  request.permits = gate_driver_->look([&](const lock::gate& gate, time_ns now) {
    if (gate.lasts(owner_, now)) own_token = gate.owner_token(owner_);
    return gate.permits(owner_);
  });
  request.token = own_token;
  request.capacity = owner_.capacity;
  request.lifetimes_ms = owner_.lifetimes_ms;
  info = {};
  const auto deadline = client_->command_deadline();
  auto result =
      ask(protocol::query(gate_driver_->rules(), gate_driver_->keys(), request, info), deadline);
  if (!result.ok() || info.entries.empty()) return result;
  result = ask(
      protocol::read_records(info, client_->key_prefix(), protocol::place_of(gate_driver_->keys())),
      deadline);
  if (result.ok() && info.is_held && gate_driver_->rules().facts.has_values)
    result = ask(protocol::read_values(info, key()), deadline);
  if (result.ok()) client_->find_retained(info, name_, deadline);
  return result;
}

outcome lock_handle::ask(const protocol::command& request, time_ns deadline) {
  if (client_->is_closed()) return client_freed();
  return client_->answered(client_->servers().ask(gate_driver_->named(), request, deadline));
}

// ---- asynchronous ---------------------------------------------------------------------------

template <class Base, class Start>
outcome lock_handle::submit(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                            event_kind kind, std::int64_t timeout_ms, Start&& start) {
  auto call = std::make_unique<queued<Base>>(queue);
  call->content.kind = kind;
  call->content.tag = tag;
  call->handle = shared_from_this();
  if (auto admitted = queue->admit(*call); !admitted.ok()) return admitted;
  call->comes_back = !call->is_watched_for;
  outcome accepted;
  try {
    accepted = gate_driver_->enter([&](lock::gate& gate, time_ns now) {
      call->deadline = client::deadline_after(timeout_ms, now);
      // An unlock or an extension reports the token of its hold.
      if (kind != event_kind::acquired) describe(call->content, owner_.token);
      auto result = start(gate, *call, now);
      // An accepted call owns itself. It may have ended already.
      if (result.ok()) static_cast<void>(call.release());
      return result;
    });
  } catch (const std::bad_alloc&) {
    accepted = outcome::of(status::no_memory);  // the gate has not accepted the call
  }
  if (!accepted.ok()) queue->dismiss(*call);
  return accepted;
}

outcome lock_handle::start_acquire(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                                   const lock::amount& amount, std::int64_t timeout_ms,
                                   bool is_try) {
  if (auto begun = client_->begin_helper(); !begun.ok()) return begun;
  auto accepted = submit<lock::acquire_operation>(
      queue, tag, event_kind::acquired, timeout_ms, [&](lock::gate& gate, auto& call, time_ns now) {
        call.owner = &owner_;
        call.is_try = is_try;
        call.amount = amount;
        call.thread = caller_identity(task_, false);
        if (is_released_) return outcome::of(status::closed);
        if (call.fails_in_deadlock()) call.watched.emplace(client_->deadlocks(), false);
        auto armed = rearm(gate, now);
        return armed.ok() ? gate.acquire(call, now) : armed;
      });
  // A shutdown in between has not cancelled the call.
  if (accepted.ok() && queue->is_shut_down()) cancel();
  return accepted;
}

outcome lock_handle::try_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                               const lock::amount& amount) {
  return start_acquire(queue, tag, amount, command_timeout_ms(), true);
}

outcome lock_handle::acquire_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                                   const lock::amount& amount, std::int64_t timeout_ms) {
  if (timeout_ms == 0) return try_async(queue, tag, amount);
  return start_acquire(queue, tag, amount, timeout_ms, false);
}

outcome lock_handle::unlock_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                                  lock::hold_mode mode, std::int64_t hold_number) {
  return submit<lock::operation>(queue, tag, event_kind::unlocked, command_timeout_ms(),
                                 [&](lock::gate& gate, lock::operation& call, time_ns now) {
                                   return end_hold(gate, mode, hold_number, &call, now);
                                 });
}

outcome lock_handle::upgrade_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag) {
  return submit<lock::operation>(queue, tag, event_kind::upgraded, command_timeout_ms(),
                                 [&](lock::gate& gate, lock::operation& call, time_ns now) {
                                   return gate.raise(owner_, call, now);
                                 });
}

outcome lock_handle::downgrade_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag) {
  return submit<lock::operation>(queue, tag, event_kind::downgraded, command_timeout_ms(),
                                 [&](lock::gate& gate, lock::operation& call, time_ns now) {
                                   return gate.lower(owner_, 1, call, now);
                                 });
}

outcome lock_handle::extend_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                                  std::int64_t lease_ms) {
  if (auto fit = client_->check_lease(lease_ms); !fit.ok()) return fit;
  return submit<lock::operation>(queue, tag, event_kind::extended, command_timeout_ms(),
                                 [&](lock::gate& gate, lock::operation& call, time_ns now) {
                                   return gate.extend(owner_, lease_ms, call, now);
                                 });
}

outcome lock_handle::set_value_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                                     std::string_view value) {
  return submit<lock::operation>(queue, tag, event_kind::value_set, command_timeout_ms(),
                                 [&](lock::gate& gate, lock::operation& call, time_ns now) {
                                   return gate.set_value(owner_, value, call, now);
                                 });
}

outcome lock_handle::start(lock::acquire_operation& call) {
  call.owner = &owner_;
  return gate_driver_->enter([&](lock::gate& gate, time_ns now) {
    auto armed = rearm(gate, now);
    return armed.ok() ? gate.acquire(call, now) : armed;
  });
}

outcome lock_handle::start_unlock(lock::operation& call, lock::hold_mode mode,
                                  std::int64_t hold_number) {
  return gate_driver_->enter(
      [&](lock::gate& gate, time_ns now) { return end_part(gate, mode, hold_number, &call, now); });
}

outcome lock_handle::start_extend(lock::operation& call, std::int64_t lease_ms) {
  if (auto fit = client_->check_lease(lease_ms); !fit.ok()) return fit;
  return gate_driver_->enter(
      [&](lock::gate& gate, time_ns now) { return gate.extend(owner_, lease_ms, call, now); });
}

bool lock_handle::start_top_up(lock::operation& call) {
  return gate_driver_->enter([&](lock::gate& gate, time_ns now) {
    if (owner_.renews || !gate.lasts(owner_, now)) return false;
    const auto lease_ns = owner_.lease_ms * ns_per_ms;
    if (gate.valid_until(owner_) - now > lease_ns - lease_ns / 10) return false;
    return gate.extend(owner_, 0, call, now).ok();
  });
}

void lock_handle::abandon(lock::operation& call) noexcept {
  gate_driver_->enter(
      [&](lock::gate& gate, time_ns now) { gate.abandon(call, status::closed, now); });
}

void lock_handle::give_back(lock::hold_mode mode, std::int64_t hold_number) noexcept {
  gate_driver_->enter([&](lock::gate& gate, time_ns now) {
    static_cast<void>(end_part(gate, mode, hold_number, nullptr, now));
  });
}

void lock_handle::start_progress() noexcept {
  gate_driver_->enter(
      [&](lock::gate& gate, time_ns now) { static_cast<void>(gate.note_progress(owner_, now)); });
}

const std::string& lock_handle::key() const noexcept { return gate_driver_->key(); }

std::uint64_t lock_handle::gate_id() const noexcept { return gate_driver_->id(); }

outcome lock_handle::cancel() {
  return gate_driver_->enter([&](lock::gate& gate, time_ns now) {
    if (gate.is_closed()) return client_freed();
    if (owner_.pending == nullptr) {
      return outcome::of(status::not_waiting, "no call of this handle is waiting");
    }
    gate.abandon(*owner_.pending, status::cancelled, now);
    return outcome{};
  });
}

outcome lock_handle::interrupt(bool is_on) {
  return gate_driver_->enter([&](lock::gate& gate, time_ns now) {
    if (gate.is_closed()) return client_freed();
    gate.interrupt(owner_, is_on, now);
    return outcome{};
  });
}

outcome lock_handle::set_task(std::int64_t task) {
  if (client_->is_closed()) return client_freed();
  task_ = task;
  return {};
}

// ---- queries --------------------------------------------------------------------------------

bool lock_handle::is_held() const {
  return gate_driver_->look(
      [&](const lock::gate& gate, time_ns now) { return gate.is_held(owner_, now); });
}

bool lock_handle::has_hold(lock::hold_mode mode) const {
  return gate_driver_->look([&](const lock::gate& gate, time_ns now) {
    return gate.is_held(owner_, now) && owner_.has_hold(mode);
  });
}

outcome lock_handle::check_held() {
  return gate_driver_->enter(
      [&](lock::gate& gate, time_ns now) { return gate.check_held(owner_, now); });
}

std::int64_t lock_handle::valid_ms() const {
  return gate_driver_->look([&](const lock::gate& gate, time_ns now) -> std::int64_t {
    if (!gate.is_held(owner_, now)) return 0;
    return (gate.valid_until(owner_) - now) / ns_per_ms;
  });
}

time_ns lock_handle::deadline_ns() const {
  return gate_driver_->look([&](const lock::gate& gate, time_ns now) -> time_ns {
    if (!gate.lasts(owner_, now)) return 0;
    return exact_as_double(gate.valid_until(owner_));
  });
}

std::int64_t lock_handle::hold_number() const {
  return gate_driver_->look([&](const lock::gate&, time_ns) { return owner_.hold_number; });
}

std::int64_t lock_handle::token() const {
  return gate_driver_->look([&](const lock::gate&, time_ns) { return owner_.token; });
}

}  // namespace mortise::client
