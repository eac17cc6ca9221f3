#include "deployment/requests/renewal_batches.hpp"

#include <new>
#include <utility>

namespace mortise::deployment {

namespace {

// The script takes about 1 us for each lock, so a batch delays other clients by less than 0.1 ms.
constexpr std::size_t batch_limit = 32;
// After a refused batch, each lock is renewed by its own request for so long.
constexpr time_ns single_renewals_ns = 60 * ns_per_s;

}  // namespace

// Deletes itself after its reply.
class renewal_batches::batch final : public redis::request {
 public:
  batch(renewal_batches& owner, const redis::script& code) : owner_(owner), code_(code) {}

  void add(server_request& item, const lock::step_request& step, const protocol::key_set& keys) {
    list_.add(step, keys);
    items_[list_.size() - 1] = &item;
  }
  [[nodiscard]] std::size_t size() const noexcept { return list_.size(); }
  [[nodiscard]] bool is_for(const redis::script& code) const noexcept { return &code_ == &code; }

  // A single renewal is sent as the request that it is.
  status submit(redis::connection& server, bool with_text) noexcept try {
    if (list_.size() == 1) return items_.front()->submit_gathered(server);
    std::string bytes;
    list_.write(bytes, code_, with_text);
    return server.commands().submit(*this, bytes, redis::flush::unattended);
  } catch (const std::bad_alloc&) {
    return status::no_memory;
  }
  void on_broken(bool was_sent) noexcept override {
    const std::unique_ptr<batch> self(this);
    for_each([&](server_request& item) { item.on_batch_broken(was_sent); });
  }

  std::unique_ptr<batch> next_unsent;

 private:
  template <class Action>
  void for_each(Action&& action) noexcept {
    for (std::size_t i = 0; i < list_.size(); ++i) action(*items_[i]);
  }
  void on_reply(const redis::value& reply, time_ns now) noexcept override {
    const std::unique_ptr<batch> self(this);
    owner_.note_reply(reply, now);
    for (std::size_t i = 0; i < list_.size(); ++i) {
      items_[i]->on_batch_result(protocol::renewal_list::read(reply, i, list_.size()), now, i == 0);
    }
  }

  renewal_batches& owner_;
  const redis::script& code_;
  protocol::renewal_list list_;
  std::array<server_request*, batch_limit> items_{};
};

renewal_batches::renewal_batches(net::reactor& loop, redis::connection& server)
    : loop_(loop), server_(server) {}
renewal_batches::~renewal_batches() { close(); }

bool renewal_batches::admits(const lock::step_request& step, const protocol::table& rules,
                             const lock::operation* operation) const noexcept {
  return operation == nullptr && protocol::renewal_list::admits(rules, step) &&
         loop_.is_current_thread() && step.sent_at >= off_until_.load(std::memory_order_relaxed);
}

status renewal_batches::add(server_request& item, const lock::step_request& step,
                            const protocol::table& rules, const protocol::key_set& keys) noexcept
    try {
  std::unique_lock lock(mutex_);
  if (gathered_ && (gathered_->size() == batch_limit || !gathered_->is_for(*rules.renew_many))) {
    lock.unlock();
    send_gathered();
    lock.lock();
  }
  if (!gathered_) gathered_ = std::make_unique<batch>(*this, *rules.renew_many);
  // Only the first renewal can be sent on its own.
  const bool is_first = gathered_->size() == 0;
  if (is_first && item.write_gathered(step) != status::ok) return status::no_memory;
  gathered_->add(item, step, keys);
  if (!is_gathering_.exchange(true, std::memory_order_release)) {
    lock.unlock();
    loop_.post(*this);
  }
  return status::ok;
} catch (const std::bad_alloc&) {
  return status::no_memory;
}

// Submits under the mutex, so that another thread's next request cannot overtake the batch. The
// I/O thread writes it.
void renewal_batches::send_gathered() noexcept {
  const std::lock_guard guard(mutex_);
  if (gathered_ && gathered_->size() > 0) submit_gathered();
  // Last, because another thread that reads it does not wait for the mutex (hazard 17).
  is_gathering_.store(false, std::memory_order_release);
}

void renewal_batches::submit_gathered() noexcept {
  const bool with_text = gathered_->size() > 1 && is_script_missing_.exchange(false);
  const bool is_single = gathered_->size() == 1;
  if (gathered_->submit(server_, with_text) == status::ok) {
    if (!is_single) static_cast<void>(gathered_.release());
    return gathered_.reset();
  }
  gathered_->next_unsent = std::move(unsent_);
  unsent_ = std::move(gathered_);
  loop_.post(*this);
}

void renewal_batches::run() noexcept {
  send_gathered();
  report_unsent();
}

void renewal_batches::report_unsent() noexcept {
  for (;;) {
    std::unique_ptr<batch> one;
    {
      const std::lock_guard guard(mutex_);
      if (!unsent_) return;
      one = std::move(unsent_);
      unsent_ = std::move(one->next_unsent);
    }
    one.release()->on_broken(false);
  }
}

void renewal_batches::note_reply(const redis::value& reply, time_ns now) noexcept {
  if (!reply.is_error()) return;
  if (reply.text().starts_with("NOSCRIPT")) {
    is_script_missing_.store(true);
  } else {
    off_until_.store(now + single_renewals_ns, std::memory_order_relaxed);
  }
}

void renewal_batches::close() noexcept {
  loop_.cancel(*this);
  send_gathered();
  loop_.cancel(*this);
  report_unsent();
}

}  // namespace mortise::deployment
