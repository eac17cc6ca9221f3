/** A hold begins with an acquire, and ends once. */
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "fixture.hpp"

namespace {

static_assert(!std::is_copy_constructible_v<mortise::hold>);
static_assert(std::is_nothrow_move_constructible_v<mortise::hold>);
static_assert(std::is_nothrow_move_assignable_v<mortise::hold>);
static_assert(!std::is_convertible_v<mortise::hold, bool>);

void the_end_of_a_hold_unlocks() {
  mortise::client client = open_client();
  mortise::lock lock = open_lock(client, "end"), other = open_lock(client, "end");
  {
    const auto hold = lock.try_acquire(std::nothrow);
    CHECK(hold && *hold);
    CHECK_NUMBER(lock.token(), hold->token());
    CHECK_RESULT(status::not_acquired, other.try_acquire(std::nothrow));
  }
  CHECK(!lock.is_held());
  CHECK_RESULT(status::ok, other.try_acquire(std::nothrow));
}

void a_hold_that_is_moved_ends_once() {
  mortise::client client = open_client();
  mortise::lock lock = open_lock(client, "move");
  mortise::hold first = *lock.acquire(patience, std::nothrow);
  mortise::hold second = std::move(first);
  CHECK(!first && second);  // NOLINT(bugprone-use-after-move): it holds nothing any longer.
  CHECK_RESULT(status::not_owner, first.unlock(std::nothrow));
  CHECK(lock.is_held());
  mortise::lock another = open_lock(client, "another");
  second = *another.acquire(patience, std::nothrow);
  CHECK(!lock.is_held() && another.is_held());
  mortise::hold& itself = second;
  second = std::move(itself);
  CHECK(second.is_held());
}

void an_exported_hold_is_continued_by_one_adopter() {
  mortise::client client = open_client();
  mortise::lock first = open_lock(client, "export"), second = open_lock(client, "export");
  mortise::hold hold = *first.acquire(patience, std::nothrow);
  CHECK_RESULT(status::invalid_argument, hold.export_id(1ms, std::nothrow));
  CHECK(hold.is_held());
  const auto id = hold.export_id(60s, std::nothrow);
  CHECK(id && !hold && !first.is_held());
  CHECK_RESULT(status::not_owner, hold.export_id(60s, std::nothrow));
  CHECK_RESULT(status::not_owner, first.export_id(60s, std::nothrow));
  {
    const auto adopted = second.adopt_id(*id, std::nothrow);
    CHECK(adopted && adopted->is_held());
    CHECK(adopted->token() > hold.token());
    CHECK_RESULT(status::not_owner, first.adopt_id(*id, std::nothrow));
    CHECK(second.export_id(0s, std::nothrow).has_value());
  }
  CHECK(first.adopt_id(*id, std::nothrow)->unlock(std::nothrow).has_value());
  CHECK_RESULT(status::not_owner, first.adopt_id(*id, std::nothrow));
  CHECK_RESULT(status::invalid_argument, first.adopt_id("no id", std::nothrow));
}

void an_unlock_tells_what_became_of_it() {
  mortise::client client = open_client();
  mortise::lock lock = open_lock(client, "unlock");
  mortise::hold hold = *lock.acquire(patience, std::nothrow);
  const std::int64_t token = hold.token();
  CHECK_RESULT(status::ok, hold.unlock(std::nothrow));
  CHECK_RESULT(status::not_owner, hold.unlock(std::nothrow));
  CHECK_RESULT(status::not_owner, hold.extend(1s, std::nothrow));
  CHECK_RESULT(status::not_owner, hold.progress(std::nothrow));
  CHECK_NUMBER(token, hold.token());
  CHECK_NUMBER(0, hold.valid().count());

  hold = *lock.acquire(patience, std::nothrow);
  CHECK(hold.token() > token);
  lose(hold);
  CHECK(!hold && !hold.is_held());
  const auto unlocked = hold.unlock(std::nothrow);
  CHECK_RESULT(status::lost, unlocked);
  CHECK(unlocked.error().lock_name() == "unlock");
  CHECK(unlocked.error().reason() == mortise::reason::server_lost);
}

/** The mutex's calls, but memory runs out in the first unlock and in the first on a queue. */
mortise::detail::mode mode_without_memory() {
  static int calls, queued_calls;
  calls = queued_calls = 0;
  mortise::detail::mode mode = mortise::detail::lock_mode;
  mode.unlock_hold = [](void* raw, std::int64_t number, mortise_error* error) {
    if (++calls == 1) return mortise_status{MORTISE_NO_MEMORY};
    return mortise::detail::lock_mode.unlock_hold(raw, number, error);
  };
  mode.unlock_hold_async = [](void* raw, mortise_queue* queue, std::int64_t tag,
                              std::int64_t number, mortise_error* error) {
    if (++queued_calls == 1) return mortise_status{MORTISE_NO_MEMORY};
    return mortise::detail::lock_mode.unlock_hold_async(raw, queue, tag, number, error);
  };
  return mode;
}

void an_unlock_without_memory_can_be_repeated() {
  mortise::client client = open_client();
  mortise::queue queue = *mortise::queue::make(client);
  mortise::lock lock = open_lock(client, "no-memory");
  const mortise::detail::mode mode = mode_without_memory();
  lock.acquire(patience, std::nothrow)->detach();
  mortise::hold hold(lock.owner(), mode);
  CHECK_RESULT(status::no_memory, hold.unlock(std::nothrow));
  CHECK(hold.is_held());
  CHECK_RESULT(status::no_memory, hold.unlock_async(queue, 1));
  CHECK(hold.is_held());
  CHECK_RESULT(status::ok, hold.unlock(std::nothrow));
  CHECK(!hold && !lock.is_held());
}

void an_old_hold_does_not_end_a_new_one() {
  mortise::client client = open_client();
  mortise::lock lock = open_lock(client, "old");
  mortise::hold fresh;
  {
    mortise::hold old = *lock.acquire(patience, std::nothrow);
    lose(old);
    fresh = *lock.acquire(patience, std::nothrow);
    CHECK(!old && fresh);
    CHECK_NUMBER(0, old.valid().count());
    CHECK_RESULT(status::lost, old.extend(1s, std::nothrow));
    CHECK_RESULT(status::lost, old.progress(std::nothrow));
    CHECK_RESULT(status::lost, old.unlock(std::nothrow));
    CHECK_RESULT(status::not_owner, old.unlock(std::nothrow));
  }
  CHECK(fresh && lock.is_held());
  {
    mortise::hold old = std::move(fresh);
    lose(old);
    fresh = *lock.acquire(patience, std::nothrow);
  }
  CHECK(fresh && lock.is_held());
}

/** Another thread unlocks the handle and acquires it again while a call begins. */
void acquire_again(void* raw) {
  CHECK(mortise::detail::lock_mode.unlock(raw, nullptr) == MORTISE_OK);
  CHECK(mortise::detail::lock_mode.acquire(raw, 20000, nullptr) == MORTISE_OK);
}

/** The mutex's calls, but each finds the next hold of the handle. */
mortise::detail::kind kind_with_next_hold() {
  using mortise::detail::lock_kind;
  mortise::detail::kind kind = lock_kind;
  kind.free = [](void*) {};
  kind.valid_ms = [](void* raw) {
    acquire_again(raw);
    return lock_kind.valid_ms(raw);
  };
  kind.deadline_ns = [](void* raw) {
    acquire_again(raw);
    return lock_kind.deadline_ns(raw);
  };
  kind.extend = [](void* raw, std::int64_t lease_ms, mortise_error* error) {
    acquire_again(raw);
    return lock_kind.extend(raw, lease_ms, error);
  };
  kind.progress = [](void* raw, mortise_error* error) {
    acquire_again(raw);
    return lock_kind.progress(raw, error);
  };
  kind.set_value = [](void* raw, const char* value, std::size_t size, mortise_error* error) {
    acquire_again(raw);
    return lock_kind.set_value(raw, value, size, error);
  };
  return kind;
}

void a_call_during_the_next_hold_is_not_of_this_one() {
  mortise::client client = open_client();
  mortise::lock lock = open_lock(client, "during");
  const mortise::detail::kind kind = kind_with_next_hold();
  const auto owner = std::make_shared<mortise::detail::owner>(kind, lock.owner()->raw);
  lock.acquire(patience, std::nothrow)->detach();
  const auto present = [&] { return mortise::hold(owner, mortise::detail::lock_mode); };
  const auto check = [&](const auto& call) {
    mortise::hold hold = present();
    CHECK(hold.is_held());
    call(hold);
    CHECK(!hold.is_held() && lock.is_held());
  };
  check([](auto& hold) { CHECK_NUMBER(0, hold.valid().count()); });
  check([](auto& hold) { CHECK_NUMBER(0, hold.deadline().time_since_epoch().count()); });
  check([](auto& hold) { CHECK_RESULT(status::lost, hold.extend(60s, std::nothrow)); });
  check([](auto& hold) { CHECK_RESULT(status::lost, hold.progress(std::nothrow)); });
  check([](auto& hold) { CHECK_RESULT(status::lost, hold.set_value("value", std::nothrow)); });
}

void an_old_hold_of_a_multi_does_not_end_a_new_one() {
  mortise::client client = open_client();
  mortise::lock lock = open_lock(client, "old-member");
  mortise::multi multi = open_multi(client);
  CHECK_RESULT(status::ok, multi.add(lock, std::nothrow));
  mortise::hold fresh;
  {
    mortise::hold old = *multi.acquire(patience, std::nothrow);
    lose(old);
    CHECK_RESULT(status::lost, multi.unlock(std::nothrow));
    fresh = *multi.acquire(patience, std::nothrow);
    CHECK(!old && fresh);
  }
  CHECK(fresh && multi.is_held());
}

void a_hold_outlives_its_handle() {
  mortise::client client = open_client();
  mortise::lock other = open_lock(client, "outlives");
  mortise::hold hold = *open_lock(client, "outlives").acquire(patience, std::nothrow);
  CHECK(hold);
  CHECK_RESULT(status::not_acquired, other.try_acquire(std::nothrow));
  CHECK_RESULT(status::ok, hold.unlock(std::nothrow));
  CHECK_RESULT(status::ok, other.try_acquire(std::nothrow));
}

void a_hold_outlives_its_client() {
  mortise::hold hold;
  {
    mortise::client client = open_client();
    hold = *open_lock(client, "client").acquire(patience, std::nothrow);
    CHECK(hold);
  }
  CHECK(!hold);
  CHECK_RESULT(status::closed, hold.unlock(std::nothrow));
}

void what_is_let_go_is_held_on() {
  mortise::client client = open_client();
  mortise::lock lock = open_lock(client, "detach");
  {
    mortise::hold hold = *lock.acquire(patience, std::nothrow);
    hold.detach();
    CHECK(!hold);
  }
  CHECK(lock.is_held());
  {
    const mortise::hold hold = lock.adopt();
    CHECK(hold);
    CHECK_NUMBER(lock.token(), hold.token());
  }
  CHECK(!lock.is_held());
}

void each_hold_of_a_reentrant_handle_is_unlocked() {
  mortise::client client = open_client();
  mortise::lock lock = open_lock(client, "again", mortise::options().reentrant(true));
  const mortise::hold outer = *lock.acquire(patience, std::nothrow);
  {
    const mortise::hold inner = *lock.acquire(patience, std::nothrow);
    CHECK_NUMBER(outer.token(), inner.token());
  }
  CHECK(outer && lock.is_held());
}

void times_are_of_the_right_size() {
  mortise::client client = open_client();
  const auto with = mortise::options().lease(20s).renewal(false);
  mortise::lock lock = open_lock(client, "times", with);
  mortise::hold hold = *lock.acquire(patience, std::nothrow);
  CHECK(hold.valid() > 0s && hold.valid() <= 20s);
  CHECK(lock.valid() > 0s && lock.valid() <= 20s);
  const auto left = hold.deadline() - mortise::boot_clock::now();
  CHECK(left > 0s && left <= 20s);
  CHECK_RESULT(status::ok, hold.extend(2min, std::nothrow));
  CHECK(hold.valid() > 60s && hold.valid() <= 2min);
  CHECK_RESULT(status::ok, lock.extend(3min, std::nothrow));
  CHECK_RESULT(status::ok, hold.progress(std::nothrow));
  CHECK_RESULT(status::ok, lock.progress(std::nothrow));
  CHECK(lock.deadline() - mortise::boot_clock::now() > 2min);
  CHECK_RESULT(status::invalid_argument, hold.extend(24h * 367, std::nothrow));
  CHECK_RESULT(status::invalid_argument, hold.extend(-1ns, std::nothrow));
  CHECK_RESULT(status::ok, hold.extend(0s, std::nothrow));
}

void a_lease_ends_by_itself() {
  mortise::client client = open_client();
  mortise::lock lock = open_lock(client, "lease", mortise::options().lease(50ms).renewal(false));
  mortise::hold hold = *lock.acquire(patience, std::nothrow);
  wait_until([&] { return !hold; });
  const auto unlocked = hold.unlock(std::nothrow);
  CHECK_RESULT(status::lost, unlocked);
  CHECK(unlocked.error().reason() == mortise::reason::expired);
}

// Readers of one client share a hold of the server's, so the second hold has the first one's token.
void a_lost_hold_of_a_reader_stays_lost() {
  mortise::client client = open_client();
  mortise::rw other = open_rw(client, "readers");
  const auto reads = *other.read(patience, std::nothrow);
  mortise::rw rw = *mortise::rw::make(client, "readers", mortise::options().max_hold(1s));
  mortise::hold first = *rw.read(patience, std::nothrow);
  wait_until([&] { return !first; });
  mortise::hold second = *rw.read(patience, std::nothrow);
  CHECK_NUMBER(first.token(), second.token());
  CHECK(!first.is_held());
  CHECK_NUMBER(0, first.valid().count());
  CHECK_RESULT(status::lost, first.extend(1s, std::nothrow));
  first = {};
  CHECK(second.is_held());
}

/** Ends a hold while its upgrade on a queue is open. A thread lets the server answer later. */
template <class End>
void check_end_during_upgrade(std::string_view name, const End& end) {
  mortise::client client = open_client(mortise::options().command_timeout(60s));
  mortise::client other = open_client();
  mortise::queue queue = *mortise::queue::make(client);
  mortise::rw rw = open_rw(client, name), writer = open_rw(other, name);
  std::optional<mortise::hold> hold = *rw.read(patience, std::nothrow);
  server_command(server, "CLIENT PAUSE 60000 WRITE");
  CHECK_RESULT(status::ok, rw.try_upgrade_async(queue, 1));
  CHECK_RESULT(status::busy, hold->unlock(std::nothrow));
  std::thread resume([] {
    std::this_thread::sleep_for(100ms);
    server_command(server, "CLIENT UNPAUSE");
  });
  end(hold);
  resume.join();
  mortise::event event;
  CHECK(queue.next(event, patience) == mortise::status::ok);
  CHECK(event.kind() == mortise::event_kind::upgraded);
  CHECK(!rw.is_reading() && !rw.is_writing());
  CHECK_RESULT(status::ok, writer.try_write(std::nothrow));
}

void the_end_of_a_hold_waits_for_its_upgrade() {
  check_end_during_upgrade("destroyed", [](auto& hold) { hold.reset(); });
  check_end_during_upgrade("replaced", [](auto& hold) { *hold = {}; });
}

// One hold at a time, and each ends: nothing stays held.
void threads_that_share_a_handle_leave_nothing_held() {
  mortise::client client = open_client();
  mortise::lock lock = open_lock(client, "threads"), other = open_lock(client, "threads");
  const auto use = [&lock] {
    for (int i = 0; i < 500; ++i) static_cast<void>(lock.acquire(10ms, std::nothrow));
  };
  std::thread first(use), second(use);
  first.join();
  second.join();
  CHECK(!lock.is_held());
  CHECK_RESULT(status::ok, other.try_acquire(std::nothrow));
}

}  // namespace

void test_holds() {
  RUN(the_end_of_a_hold_unlocks);
  RUN(a_hold_that_is_moved_ends_once);
  RUN(an_exported_hold_is_continued_by_one_adopter);
  RUN(an_unlock_tells_what_became_of_it);
  RUN(an_unlock_without_memory_can_be_repeated);
  RUN(an_old_hold_does_not_end_a_new_one);
  RUN(a_call_during_the_next_hold_is_not_of_this_one);
  RUN(an_old_hold_of_a_multi_does_not_end_a_new_one);
  RUN(a_hold_outlives_its_handle);
  RUN(a_hold_outlives_its_client);
  RUN(what_is_let_go_is_held_on);
  RUN(each_hold_of_a_reentrant_handle_is_unlocked);
  RUN(times_are_of_the_right_size);
  RUN(a_lease_ends_by_itself);
  RUN(a_lost_hold_of_a_reader_stays_lost);
  RUN(the_end_of_a_hold_waits_for_its_upgrade);
  RUN(threads_that_share_a_handle_leave_nothing_held);
}
