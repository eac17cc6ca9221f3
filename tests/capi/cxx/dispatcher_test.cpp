/** Calls that end in functions and coroutines, by way of an event loop, and losses that stop. */
#include <sys/epoll.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fixture.hpp"

#if MORTISE_HAS_STOP_TOKEN

namespace {

mortise::dispatcher open_dispatcher(mortise::client& client) {
  return mortise::dispatcher(*mortise::queue::make(client));
}

/** A bare loop: until a condition is so. */
template <class Condition>
void loop_until(mortise::dispatcher& dispatcher, const Condition& condition) {
  const int loop = epoll_create1(EPOLL_CLOEXEC);
  epoll_event readable{};
  readable.events = EPOLLIN;
  CHECK(loop >= 0 && epoll_ctl(loop, EPOLL_CTL_ADD, dispatcher.fd(), &readable) == 0);
  while (!condition()) {
    CHECK_NUMBER(1, epoll_wait(loop, &readable, 1, 20000));
    CHECK(dispatcher.dispatch() > 0);
  }
  close(loop);
}

void functions_are_called_by_dispatch() {
  mortise::client client = open_client();
  mortise::dispatcher dispatcher = open_dispatcher(client);
  mortise::lock lock = open_lock(client, "d-lock"), other = open_lock(client, "d-lock");
  mortise::hold hold;
  bool is_denied = false, is_unlocked = false;
  CHECK_NUMBER(0, dispatcher.dispatch());
  CHECK_RESULT(status::ok, dispatcher.acquire(lock, patience, [&](auto given) {
    hold = *std::move(given);
    // A function may begin further calls.
    CHECK_RESULT(status::ok, dispatcher.acquire(other, 50ms, [&](auto denied) {
      CHECK_RESULT(status::timed_out, denied);
      is_denied = true;
    }));
  }));
  const auto again = status_of(dispatcher.acquire(lock, patience, [](auto) { CHECK(false); }));
  // Whether or not the grant has come, its event was not dispatched yet.
  CHECK(again == mortise::status::busy || again == mortise::status::already_held);
  loop_until(dispatcher, [&] { return is_denied; });
  CHECK(hold && lock.is_held());
  CHECK_RESULT(status::ok, dispatcher.unlock(hold, [&](auto ended) {
    CHECK_RESULT(status::ok, ended);
    is_unlocked = true;
  }));
  CHECK(!hold && !lock.is_held());
  CHECK_RESULT(status::not_owner, dispatcher.unlock(hold, [](auto) { CHECK(false); }));
  loop_until(dispatcher, [&] { return is_unlocked; });
}

void every_kind_can_be_dispatched() {
  mortise::client client = open_client();
  mortise::dispatcher dispatcher = open_dispatcher(client);
  mortise::rw rw = open_rw(client, "d-rw"), writer = open_rw(client, "d-rw-2");
  mortise::semaphore semaphore = open_semaphore(client, "d-slots", 2);
  mortise::lock member = open_lock(client, "d-member");
  mortise::multi multi = open_multi(client);
  CHECK_RESULT(status::ok, multi.add(member, std::nothrow));
  std::vector<mortise::hold> holds;
  const auto keep = [&](mortise::result<mortise::hold> given) {
    holds.push_back(*std::move(given));
  };
  CHECK_RESULT(status::ok, dispatcher.read(rw, patience, keep));
  CHECK_RESULT(status::ok, dispatcher.write(writer, patience, keep));
  CHECK_RESULT(status::ok, dispatcher.acquire(semaphore, patience, 2, keep));
  CHECK_RESULT(status::ok, dispatcher.acquire(multi, patience, keep));
  loop_until(dispatcher, [&] { return holds.size() == 4; });
  CHECK(rw.is_reading() && writer.is_writing() && semaphore.is_held() && multi.is_held());
  holds.clear();
  CHECK(!rw.is_reading() && !writer.is_writing() && !semaphore.is_held() && !multi.is_held());
}

void what_is_abandoned_is_given_back() {
  mortise::client client = open_client();
  mortise::dispatcher dispatcher = open_dispatcher(client);
  mortise::lock lock = open_lock(client, "d-abandon"), other = open_lock(client, "d-abandon");
  // It has been granted, and only its event has not been read.
  const auto number = dispatcher.acquire(lock, patience, [](auto) { CHECK(false); });
  wait_until([&] { return lock.is_held(); });
  dispatcher.abandon(*number);
  loop_until(dispatcher, [&] { return !lock.is_held(); });
  const mortise::hold hold = *other.acquire(patience, std::nothrow);
  const auto waits = dispatcher.acquire(lock, patience, [](auto) { CHECK(false); });
  dispatcher.abandon(*waits);
  loop_until(dispatcher, [&] { return lock.cancel() == mortise::status::not_waiting; });
}

void the_end_of_a_dispatcher_releases_unread_grants() {
  mortise::client client = open_client();
  mortise::lock lock = open_lock(client, "d-end"), waiter = open_lock(client, "d-end");
  mortise::rw rw = open_rw(client, "d-end-rw");
  {
    mortise::dispatcher dispatcher = open_dispatcher(client);
    const auto never = [](auto) { CHECK(false); };
    CHECK_RESULT(status::ok, dispatcher.acquire(lock, patience, never));
    CHECK_RESULT(status::ok, dispatcher.write(rw, patience, never));
    wait_until([&] { return lock.is_held() && rw.is_writing(); });
    CHECK_RESULT(status::ok, dispatcher.acquire(waiter, patience, never));
  }
  CHECK(!lock.is_held() && !rw.is_writing() && !waiter.is_held());
  CHECK(waiter.cancel() == mortise::status::not_waiting);
  CHECK_RESULT(status::ok, lock.acquire(patience, std::nothrow));
}

// The thread of the client may report a multi's grant later than its members show it.
void the_end_of_a_dispatcher_waits_for_a_grant() {
  mortise::client client = open_client();
  mortise::multi multi = open_multi(client);
  std::vector<mortise::lock> members;
  for (int i = 10; i < 30; ++i) {
    members.push_back(open_lock(client, "d-late-grant-" + std::to_string(i)));
    CHECK_RESULT(status::ok, multi.add(members.back(), std::nothrow));
  }
  std::atomic<bool> is_over{false};
  // Keeps the multi busy, which delays the report.
  std::thread watcher([&] {
    while (!is_over) CHECK_RESULT(status::ok, multi.unwatch());
  });
  for (int i = 0; i < 200; ++i) {
    {
      mortise::dispatcher dispatcher = open_dispatcher(client);
      CHECK_RESULT(status::ok, dispatcher.acquire(multi, patience, [](auto) { CHECK(false); }));
      wait_until([&] { return members.back().is_held(); });
    }
    CHECK(!multi.is_held() && !members.front().is_held());
  }
  is_over = true;
  watcher.join();
}

void each_grant_has_the_token_of_its_event() {
  mortise::client client = open_client();
  mortise::dispatcher dispatcher = open_dispatcher(client);
  mortise::lock lock = open_lock(client, "d-token");
  std::vector<mortise::hold> holds;
  std::vector<std::int64_t> tokens;
  for (int i = 0; i < 2; ++i) {
    CHECK_RESULT(status::ok, dispatcher.acquire(lock, patience, [&](auto given) {
      holds.push_back(*std::move(given));
    }));
    wait_until([&] { return lock.is_held(); });
    tokens.push_back(lock.token());
    // The first hold ends before its event is dispatched.
    if (i == 0) lock.unlock();
  }
  loop_until(dispatcher, [&] { return holds.size() == 2; });
  CHECK_NUMBER(tokens[0], holds[0].token());
  CHECK_NUMBER(tokens[1], holds[1].token());
  CHECK(tokens[0] < tokens[1] && !holds[0] && holds[1]);
}

void a_stop_ends_what_waits_for_dispatch() {
  mortise::client client = open_client();
  mortise::dispatcher dispatcher = open_dispatcher(client);
  mortise::lock lock = open_lock(client, "d-stop"), other = open_lock(client, "d-stop");
  const mortise::hold hold = *lock.acquire(patience, std::nothrow);
  std::stop_source source;
  bool is_ended = false;
  const mortise::timeout wait(patience, source.get_token());
  CHECK_RESULT(status::ok, dispatcher.acquire(other, wait, [&](auto given) {
    CHECK_RESULT(status::cancelled, given);
    is_ended = true;
  }));
  source.request_stop();
  loop_until(dispatcher, [&] { return is_ended; });
  CHECK_RESULT(status::cancelled, dispatcher.acquire(other, wait, [](auto) { CHECK(false); }));
  // The handle is no longer interrupted.
  CHECK_RESULT(status::not_acquired, other.try_acquire(std::nothrow));
}

void a_loss_stops_the_work() {
  mortise::client client = open_client();
  mortise::dispatcher dispatcher = open_dispatcher(client);
  mortise::lock lock = open_lock(client, "d-loss");
  std::stop_source first, second;
  CHECK_RESULT(status::ok, dispatcher.watch(lock, first));
  CHECK_RESULT(status::ok, dispatcher.watch(lock, second));
  mortise::hold hold = *lock.acquire(patience, std::nothrow);
  lose(hold);
  loop_until(dispatcher, [&] { return second.stop_requested(); });
  CHECK(!first.stop_requested());
  CHECK_RESULT(status::lost, hold.unlock(std::nothrow));
  // The second loss has no listener.
  hold = *lock.acquire(patience, std::nothrow);
  lose(hold);
  CHECK(dispatcher.dispatch(patience) > 0);
}

void a_loss_before_the_watch_stops_the_work() {
  mortise::client client = open_client();
  mortise::dispatcher dispatcher = open_dispatcher(client);
  mortise::lock lock = open_lock(client, "d-late-watch");
  std::stop_source first, second, third;
  CHECK_RESULT(status::not_owner, dispatcher.watch(mortise::hold(), first));
  mortise::hold hold = *lock.acquire(patience, std::nothrow);
  lose(hold);
  CHECK(!hold.is_held());
  CHECK_RESULT(status::ok, dispatcher.watch(hold, first));
  CHECK(first.stop_requested());
  // A later hold of the handle does not hide the loss.
  mortise::hold later = *lock.acquire(patience, std::nothrow);
  CHECK_RESULT(status::ok, dispatcher.watch(hold, second));
  CHECK(second.stop_requested());
  CHECK_RESULT(status::ok, dispatcher.watch(later, third));
  CHECK(!third.stop_requested());
  lose(later);
  loop_until(dispatcher, [&] { return third.stop_requested(); });
}

#if defined(__cpp_impl_coroutine)

/** A coroutine that begins at once, and can be ended while it waits. */
class work {
 public:
  struct promise_type {
    work get_return_object() {
      return work(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::abort(); }
  };
  work(work&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  ~work() {
    if (frame_) frame_.destroy();
  }
  bool is_done() const { return frame_.done(); }

 private:
  explicit work(std::coroutine_handle<promise_type> frame) : frame_(frame) {}

  std::coroutine_handle<promise_type> frame_;
};

/** It refers to its arguments: GCC 12 destroys what a coroutine has by value twice. */
work count(mortise::dispatcher& dispatcher, mortise::lock& lock, const std::stop_source& source,
           int& counter) {
  for (int i = 0; i < 20; ++i) {
    auto hold = co_await mortise::acquire(dispatcher, lock, {patience, source.get_token()});
    CHECK_RESULT(status::ok, hold);
    CHECK(lock.is_held() && *hold);
    ++counter;
    const auto unlocked = co_await mortise::unlock(dispatcher, *hold);
    CHECK_RESULT(status::ok, unlocked);
  }
}

void coroutines_count_under_one_lock() {
  mortise::client client = open_client();
  mortise::dispatcher dispatcher = open_dispatcher(client);
  std::vector<std::unique_ptr<mortise::lock>> locks;
  std::vector<work> workers;
  const std::stop_source source;
  int counter = 0;
  for (int i = 0; i < 5; ++i) {
    locks.push_back(std::make_unique<mortise::lock>(open_lock(client, "d-count")));
    workers.push_back(count(dispatcher, *locks.back(), source, counter));
  }
  loop_until(dispatcher, [&] { return counter == 100; });
  loop_until(dispatcher, [&] {
    for (const work& worker : workers) {
      if (!worker.is_done()) return false;
    }
    return true;
  });
}

work hold_each(mortise::dispatcher& dispatcher, mortise::rw& rw, mortise::semaphore& semaphore,
               bool& is_done) {
  {
    const auto reads = co_await mortise::read(dispatcher, rw, patience);
    CHECK(reads && rw.is_reading());
  }
  {
    const auto writes = co_await mortise::write(dispatcher, rw, patience);
    CHECK(writes && rw.is_writing());
    const auto denied = co_await mortise::write(dispatcher, rw, patience);
    CHECK_RESULT(status::already_held, denied);
  }
  const auto permits = co_await mortise::acquire(dispatcher, semaphore, patience, 2);
  CHECK(permits && semaphore.is_held());
  is_done = true;
}

void every_kind_can_be_awaited() {
  mortise::client client = open_client();
  mortise::dispatcher dispatcher = open_dispatcher(client);
  mortise::rw rw = open_rw(client, "d-await-rw");
  mortise::semaphore semaphore = open_semaphore(client, "d-await-slots", 3);
  bool is_done = false;
  const work worker = hold_each(dispatcher, rw, semaphore, is_done);
  loop_until(dispatcher, [&] { return is_done; });
  CHECK(worker.is_done() && !semaphore.is_held());
}

work wait_in_vain(mortise::dispatcher& dispatcher, mortise::lock& lock, std::string& reached) {
  const std::string text = "a text that is too long to be kept inside of a string";
  const auto hold = co_await mortise::acquire(dispatcher, lock, patience);
  reached = text;
}

void a_coroutine_that_is_destroyed_stops_waiting() {
  mortise::client client = open_client();
  mortise::dispatcher dispatcher = open_dispatcher(client);
  mortise::lock lock = open_lock(client, "d-destroy"), other = open_lock(client, "d-destroy");
  std::string reached;
  {
    const mortise::hold hold = *lock.acquire(patience, std::nothrow);
    {
      const work worker = wait_in_vain(dispatcher, other, reached);
      CHECK(!worker.is_done());
    }
    loop_until(dispatcher, [&] { return other.cancel() == mortise::status::not_waiting; });
  }
  CHECK(reached.empty() && !other.is_held());
  CHECK_RESULT(status::ok, other.try_acquire(std::nothrow));
}

#endif

}  // namespace

void test_dispatchers() {
  RUN(functions_are_called_by_dispatch);
  RUN(every_kind_can_be_dispatched);
  RUN(what_is_abandoned_is_given_back);
  RUN(the_end_of_a_dispatcher_releases_unread_grants);
  RUN(the_end_of_a_dispatcher_waits_for_a_grant);
  RUN(each_grant_has_the_token_of_its_event);
  RUN(a_stop_ends_what_waits_for_dispatch);
  RUN(a_loss_stops_the_work);
  RUN(a_loss_before_the_watch_stops_the_work);
#if defined(__cpp_impl_coroutine)
  RUN(coroutines_count_under_one_lock);
  RUN(every_kind_can_be_awaited);
  RUN(a_coroutine_that_is_destroyed_stops_waiting);
#endif
}

#else

void test_dispatchers() {}

#endif
