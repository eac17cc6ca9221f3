/** Calls that end in events, and notices. */
#include "fixture.hpp"

namespace {

/** The next event has this kind, tag and status. */
void check_next(mortise::queue& queue, mortise::event& event, mortise::event_kind kind,
                std::int64_t tag, mortise::status status) {
  CHECK(queue.next(event, patience) == mortise::status::ok);
  CHECK_NUMBER(static_cast<int>(kind), static_cast<int>(event.kind()));
  CHECK_NUMBER(tag, event.tag());
  CHECK_STATUS(static_cast<mortise_status>(status), static_cast<mortise_status>(event.status()));
}

void calls_end_in_events() {
  using mortise::event_kind;
  mortise::client client = open_client();
  mortise::queue queue = *mortise::queue::make(client);
  mortise::event event;
  mortise::lock lock = open_lock(client, "async"), other = open_lock(client, "async");
  CHECK(queue.fd() >= 0);
  CHECK(queue.next(event, 0s) == mortise::status::timed_out);
  CHECK(event.kind() == event_kind::none);

  CHECK_RESULT(status::ok, lock.acquire_async(queue, 1));
  check_next(queue, event, event_kind::acquired, 1, mortise::status::ok);
  CHECK(event.outcome().has_value());
  mortise::hold hold = lock.adopt();
  CHECK(hold);
  CHECK_NUMBER(event.token(), hold.token());
  CHECK_RESULT(status::ok, other.acquire_async(queue, 2, 50ms));
  check_next(queue, event, event_kind::acquired, 2, mortise::status::timed_out);
  CHECK_RESULT(status::timed_out, event.outcome());
  CHECK(event.outcome().error().message() == event.message());
  CHECK_RESULT(status::ok, other.try_acquire_async(queue, 3));
  check_next(queue, event, event_kind::acquired, 3, mortise::status::not_acquired);
  CHECK_RESULT(status::ok, lock.extend_async(queue, 4, 1min));
  check_next(queue, event, event_kind::extended, 4, mortise::status::ok);
  hold.detach();
  CHECK_RESULT(status::ok, lock.unlock_async(queue, 5));
  std::int64_t records[MORTISE_RECORD_FIELDS] = {}, count = 0;
  CHECK(queue.next_batch(records, 1, count, patience) == mortise::status::ok);
  CHECK_NUMBER(1, count);
  CHECK_NUMBER(MORTISE_EVENT_UNLOCKED, records[0]);
  CHECK_NUMBER(5, records[1]);

  queue.wake();
  CHECK(queue.next(event) == mortise::status::timed_out);
  queue.shutdown();
  CHECK(queue.next(event) == mortise::status::shut_down);
  CHECK_RESULT(status::shut_down, lock.acquire_async(queue, 6));
}

void a_loss_is_an_event() {
  using mortise::event_kind;
  mortise::client client = open_client();
  mortise::queue queue = *mortise::queue::make(client);
  mortise::event event;
  mortise::lock lock = open_lock(client, "watch");
  CHECK_RESULT(status::ok, lock.watch(queue, 7));
  mortise::hold hold = *lock.acquire(patience, std::nothrow);
  lose(hold);
  check_next(queue, event, event_kind::at_risk, 7, mortise::status::ok);
  check_next(queue, event, event_kind::lost, 7, mortise::status::lost);
  CHECK_NUMBER(hold.token(), event.token());
  CHECK(event.lock_name() == "watch" && event.reason() == mortise::reason::server_lost);
  CHECK_RESULT(status::lost, hold.unlock(std::nothrow));
  CHECK_RESULT(status::ok, lock.unwatch());
  hold = *lock.acquire(patience, std::nothrow);
  lose(hold);
  CHECK(queue.next(event, 50ms) == mortise::status::timed_out);
}

void a_client_reports() {
  using mortise::event_kind;
  mortise::client client = open_client();
  mortise::queue queue = *mortise::queue::make(client);
  mortise::event event;
  mortise::lock lock = open_lock(client, "logged");
  CHECK_RESULT(status::invalid_argument, client.watch_log(queue, 1, mortise::log_level::none));
  CHECK_RESULT(status::ok, client.watch_log(queue, 1, mortise::log_level::error));
  mortise::hold hold = *lock.acquire(patience, std::nothrow);
  lose(hold);
  check_next(queue, event, event_kind::log, 1, mortise::status::lost);
  CHECK(event.level() == mortise::log_level::error && text(event.level()) == "error");
  CHECK(event.subject() == mortise::log_subject::lost && text(event.subject()) == "lost");
  CHECK(event.lock_name() == "logged" && event.reason() == mortise::reason::server_lost);
  CHECK_NUMBER(0, event.dropped_records());
  CHECK_RESULT(status::lost, hold.unlock(std::nothrow));
  CHECK_RESULT(status::ok, client.unwatch_log());
  CHECK_RESULT(status::invalid_argument, client.watch_stats(queue, 2, 9ms));
  CHECK_RESULT(status::ok, client.watch_stats(queue, 2, 10ms));
  check_next(queue, event, event_kind::stats, 2, mortise::status::ok);
  CHECK_RESULT(status::ok, client.unwatch_stats());
}

void other_kinds_have_events_too() {
  using mortise::event_kind;
  mortise::client client = open_client();
  mortise::queue queue = *mortise::queue::make(client);
  mortise::event event;
  mortise::rw rw = open_rw(client, "async-rw");
  const auto acquired = event_kind::acquired;
  CHECK_RESULT(status::ok, rw.read_async(queue, 1));
  check_next(queue, event, acquired, 1, mortise::status::ok);
  CHECK_RESULT(status::ok, rw.try_upgrade_async(queue, 2));
  check_next(queue, event, event_kind::upgraded, 2, mortise::status::ok);
  CHECK_RESULT(status::ok, rw.downgrade_async(queue, 3));
  check_next(queue, event, event_kind::downgraded, 3, mortise::status::ok);
  CHECK(rw.adopt_read());
  CHECK_RESULT(status::ok, rw.try_write_async(queue, 4));
  check_next(queue, event, acquired, 4, mortise::status::ok);
  CHECK_RESULT(status::ok, rw.unlock_async(queue, 5));
  check_next(queue, event, event_kind::unlocked, 5, mortise::status::ok);
  CHECK_RESULT(status::ok, rw.try_read_async(queue, 6));
  check_next(queue, event, acquired, 6, mortise::status::ok);
  CHECK_RESULT(status::ok, rw.unlock_shared_async(queue, 7));
  check_next(queue, event, event_kind::unlocked, 7, mortise::status::ok);
  CHECK_RESULT(status::ok, rw.write_async(queue, 8));
  check_next(queue, event, acquired, 8, mortise::status::ok);
  CHECK(rw.adopt_write());

  mortise::semaphore semaphore = open_semaphore(client, "async-slots", 2);
  CHECK_RESULT(status::ok, semaphore.acquire_async(queue, 9, patience, 2));
  check_next(queue, event, acquired, 9, mortise::status::ok);
  CHECK_RESULT(status::ok, semaphore.release_async(queue, 10));
  check_next(queue, event, event_kind::unlocked, 10, mortise::status::ok);
  CHECK_RESULT(status::ok, semaphore.try_acquire_async(queue, 11));
  check_next(queue, event, acquired, 11, mortise::status::ok);
  CHECK(semaphore.adopt());

  mortise::multi multi = open_multi(client);
  CHECK_RESULT(status::ok, multi.add(semaphore, 1, std::nothrow));
  CHECK_RESULT(status::ok, multi.acquire_async(queue, 12));
  check_next(queue, event, acquired, 12, mortise::status::ok);
  CHECK_RESULT(status::ok, multi.unlock_async(queue, 13));
  check_next(queue, event, event_kind::unlocked, 13, mortise::status::ok);
  CHECK_RESULT(status::ok, multi.try_acquire_async(queue, 14));
  check_next(queue, event, acquired, 14, mortise::status::ok);
  CHECK(multi.adopt());
  CHECK(!multi.is_held());
}

}  // namespace

void test_queues() {
  RUN(calls_end_in_events);
  RUN(a_loss_is_an_event);
  RUN(a_client_reports);
  RUN(other_kinds_have_events_too);
}
