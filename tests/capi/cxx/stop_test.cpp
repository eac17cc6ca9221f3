/** What ends a wait: another thread, and a std::stop_token. */
#include <atomic>
#include <string>

#include "fixture.hpp"

namespace {

/** Until the server has a waiter for the lock of this handle. */
void wait_for_waiter(mortise::lock& lock) {
  wait_until([&] {
    const auto seen = lock.query(std::nothrow);
    return seen && seen->waiter_count() > 0;
  });
}

void another_thread_ends_a_wait() {
  mortise::client client = open_client(), other_client = open_client();
  mortise::lock lock = open_lock(client, "cancel"), other = open_lock(other_client, "cancel");
  const mortise::hold hold = *lock.acquire(patience, std::nothrow);
  CHECK(other.cancel() == mortise::status::not_waiting);
  mortise::status ended = mortise::status::ok;
  std::thread waiter([&] { ended = status_of(other.acquire(patience, std::nothrow)); });
  wait_for_waiter(lock);
  CHECK(other.cancel() == mortise::status::ok);
  waiter.join();
  CHECK(ended == mortise::status::cancelled);
}

void an_unlock_of_a_lost_hold_during_an_acquire_ends_nothing() {
  mortise::client client = open_client(), other_client = open_client();
  mortise::lock lock = open_lock(client, "turn"), other = open_lock(other_client, "turn");
  mortise::hold old = *other.acquire(patience, std::nothrow);
  lose(old);
  const mortise::hold hold = *lock.acquire(patience, std::nothrow);
  std::thread waiter([&] {
    const auto acquired = other.acquire(patience, std::nothrow);
    CHECK_RESULT(status::cancelled, acquired);
  });
  wait_for_waiter(lock);
  CHECK_RESULT(status::lost, old.unlock(std::nothrow));
  CHECK(other.cancel() == mortise::status::ok);
  waiter.join();
}

#if MORTISE_HAS_STOP_TOKEN

void a_stop_ends_a_wait() {
  mortise::client client = open_client(), other_client = open_client();
  mortise::lock lock = open_lock(client, "stop"), other = open_lock(other_client, "stop");
  {
    const mortise::hold hold = *lock.acquire(patience, std::nothrow);
    std::stop_source source;
    std::thread waiter([&] {
      CHECK_RESULT(status::cancelled, other.acquire({patience, source.get_token()}, std::nothrow));
    });
    wait_for_waiter(lock);
    source.request_stop();
    waiter.join();
    // Also when it was requested before; and then the handle can be used again.
    CHECK_RESULT(status::cancelled, other.acquire(source.get_token(), std::nothrow));
    CHECK_RESULT(status::not_acquired, other.try_acquire(std::nothrow));
  }
  CHECK_RESULT(status::ok, other.acquire({patience, std::stop_source().get_token()}, std::nothrow));
}

void a_stop_does_not_end_an_interruption() {
  mortise::client client = open_client();
  mortise::lock lock = open_lock(client, "interrupted");
  std::stop_source source;
  source.request_stop();
  CHECK(lock.interrupt(true) == mortise::status::ok);
  CHECK_RESULT(status::cancelled, lock.acquire(source.get_token(), std::nothrow));
  CHECK_RESULT(status::cancelled, lock.try_acquire(std::nothrow));
  CHECK(lock.interrupt(false) == mortise::status::ok);
  CHECK_RESULT(status::ok, lock.try_acquire(std::nothrow));
}

/** A mutex that another thread interrupts while the end of a stop ends its interruption. */
class raced_mutex : public mortise::handle {
 public:
  explicit raced_mutex(mortise::client& client)
      : handle(raced_kind(), mortise_lock_new(client.raw(), "raced", 5, nullptr, nullptr)) {
    raced = this;
  }
  ~raced_mutex() { other_.join(); }
  mortise::status acquire(const mortise::timeout& wait) {
    return status_of(acquire_as(mortise::detail::lock_mode, wait));
  }
  void await_other() const {
    wait_until([&] { return is_interrupted_.load(); });
  }

 private:
  static const mortise::detail::kind& raced_kind() {
    static mortise::detail::kind kind = mortise::detail::lock_kind;
    kind.interrupt = [](void* raw, std::int32_t is_on, mortise_error* error) {
      if (is_on == 0) raced->race();
      return mortise::detail::lock_kind.interrupt(raw, is_on, error);
    };
    return kind;
  }
  void race() {
    other_ = std::thread([this] {
      CHECK(interrupt(true) == mortise::status::ok);
      is_interrupted_ = true;
    });
    // If the other thread can be first, it is.
    for (int i = 0; i < 200 && !is_interrupted_; ++i) std::this_thread::sleep_for(1ms);
  }

  static inline raced_mutex* raced = nullptr;
  std::thread other_;
  std::atomic<bool> is_interrupted_{false};
};

void the_end_of_a_stop_keeps_an_interruption_at_the_same_time() {
  mortise::client client = open_client();
  raced_mutex lock(client);
  std::stop_source source;
  source.request_stop();
  CHECK(lock.acquire(source.get_token()) == mortise::status::cancelled);
  lock.await_other();
  CHECK(lock.acquire(patience) == mortise::status::cancelled);
}

void a_destroyed_handle_ends_a_wait() {
  mortise::client client = open_client(), other_client = open_client();
  for (int round = 0; round < 100; ++round) {
    const std::string name = "destroyed " + std::to_string(round);
    mortise::lock holder = open_lock(client, name);
    mortise::hold hold = *holder.acquire(patience, std::nothrow);
    const bool is_granted = round % 2 == 1;
    std::jthread worker;
    mortise::lock lock = open_lock(other_client, name);
    worker = std::jthread([&lock, is_granted](const std::stop_token& stop) {
      const auto acquired = lock.acquire(stop, std::nothrow);
      // A grant may arrive before the lock is destroyed.
      if (!is_granted || !acquired) CHECK_RESULT(status::closed, acquired);
    });
    wait_for_waiter(holder);
    if (is_granted) CHECK_RESULT(status::ok, hold.unlock(std::nothrow));
  }
}

void every_kind_is_stopped() {
  mortise::client client = open_client();
  std::stop_source source;
  source.request_stop();
  const std::stop_token stop = source.get_token();
  mortise::rw rw = open_rw(client, "stop-rw");
  CHECK_RESULT(status::cancelled, rw.read(stop, std::nothrow));
  CHECK_RESULT(status::cancelled, rw.write({1s, stop}, std::nothrow));
  mortise::semaphore semaphore = open_semaphore(client, "stop-slots", 1);
  CHECK_RESULT(status::cancelled, semaphore.acquire(stop, std::nothrow));
  mortise::multi multi = open_multi(client);
  CHECK_RESULT(status::ok, multi.add_writer(rw, std::nothrow));
  CHECK_RESULT(status::cancelled, multi.acquire(stop, std::nothrow));
  CHECK_RESULT(status::ok, multi.acquire(patience, std::nothrow));
}

#endif

}  // namespace

void test_stops() {
  RUN(another_thread_ends_a_wait);
  RUN(an_unlock_of_a_lost_hold_during_an_acquire_ends_nothing);
#if MORTISE_HAS_STOP_TOKEN
  RUN(a_stop_ends_a_wait);
  RUN(a_stop_does_not_end_an_interruption);
  RUN(the_end_of_a_stop_keeps_an_interruption_at_the_same_time);
  RUN(a_destroyed_handle_ends_a_wait);
  RUN(every_kind_is_stopped);
#endif
}
