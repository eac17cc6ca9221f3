/** Read-write locks, semaphores, several at once. */
#include "fixture.hpp"

namespace {

// A copy would be the same owner: a reentrant lock passed by value would let two threads in.
template <class Handle>
constexpr bool is_only_moved =
    !std::is_copy_constructible_v<Handle> && !std::is_copy_assignable_v<Handle> &&
    std::is_nothrow_move_constructible_v<Handle> && std::is_nothrow_move_assignable_v<Handle>;
static_assert(is_only_moved<mortise::lock> && is_only_moved<mortise::rw>);
static_assert(is_only_moved<mortise::semaphore> && is_only_moved<mortise::multi>);
static_assert(is_only_moved<mortise::client> && is_only_moved<mortise::queue>);

void many_read_or_one_writes() {
  mortise::client client = open_client();
  mortise::rw one = open_rw(client, "rw"), other = open_rw(client, "rw");
  mortise::hold reads = *one.read(patience, std::nothrow);
  mortise::hold reads_too = *other.try_read(std::nothrow);
  CHECK(reads && reads_too && one.is_reading() && !one.is_writing());
  CHECK_RESULT(status::not_acquired, reads.try_upgrade(std::nothrow));
  CHECK(reads);
  CHECK_RESULT(status::ok, reads_too.unlock(std::nothrow));
  CHECK_RESULT(status::not_acquired, other.try_write(std::nothrow));

  const std::int64_t token = reads.token();
  CHECK_RESULT(status::ok, reads.try_upgrade(std::nothrow));
  CHECK(reads && reads.token() > token && one.is_writing() && !one.is_reading());
  CHECK_RESULT(status::already_held, reads.try_upgrade(std::nothrow));
  CHECK_RESULT(status::timed_out, other.read(500ms, std::nothrow));
  CHECK_RESULT(status::ok, reads.downgrade(std::nothrow));
  CHECK(reads && one.is_reading());
  CHECK_RESULT(status::ok, other.try_read(std::nothrow));
  CHECK_RESULT(status::ok, reads.unlock(std::nothrow));
  CHECK_RESULT(status::ok, other.write(patience, std::nothrow));
}

/** The end of the change that a queue reports. */
void wait_for_change(mortise::queue& queue, mortise::event_kind kind) {
  mortise::event event;
  CHECK(queue.next(event, patience) == mortise::status::ok);
  CHECK(event.kind() == kind && event.status() == mortise::status::ok);
}

void a_hold_follows_an_asynchronous_change() {
  mortise::client client = open_client();
  mortise::queue queue = *mortise::queue::make(client);
  mortise::rw rw = open_rw(client, "follow"), other = open_rw(client, "follow");
  {
    const mortise::hold hold = *rw.read(patience, std::nothrow);
    const std::int64_t token = hold.token();
    CHECK_RESULT(status::ok, rw.try_upgrade_async(queue, 1));
    wait_for_change(queue, mortise::event_kind::upgraded);
    CHECK(rw.is_writing() && hold.is_held() && hold.valid() > 0ms && hold.token() > token);
  }
  CHECK(!rw.is_writing());
  {
    mortise::hold hold = *other.write(patience, std::nothrow);
    CHECK_RESULT(status::ok, other.downgrade_async(queue, 2));
    wait_for_change(queue, mortise::event_kind::downgraded);
    CHECK(other.is_reading() && hold.is_held());
    CHECK_RESULT(status::ok, hold.unlock(std::nothrow));
  }
  CHECK(!other.is_reading());
  mortise::hold hold = *rw.read(patience, std::nothrow);
  CHECK_RESULT(status::ok, rw.try_upgrade_async(queue, 3));
  wait_for_change(queue, mortise::event_kind::upgraded);
  const std::int64_t token = rw.token();
  CHECK_RESULT(status::ok, hold.unlock_async(queue, 4));
  wait_for_change(queue, mortise::event_kind::unlocked);
  CHECK(!rw.is_writing() && !hold.is_held());
  CHECK_NUMBER(token, hold.token());
  CHECK_RESULT(status::not_owner, hold.unlock(std::nothrow));
  CHECK_RESULT(status::ok, other.write(patience, std::nothrow));
}

void a_downgrade_that_nobody_answers_has_taken_place() {
  mortise::client client = open_client(mortise::options().command_timeout(1s));
  mortise::rw rw = open_rw(client, "downgrade");
  mortise::hold hold = *rw.write(patience, std::nothrow);
  server_pause(server);
  CHECK(status_of(hold.downgrade(std::nothrow)) != mortise::status::ok);
  CHECK(hold && rw.is_reading());
  server_resume(server);
  wait_until([&] { return status_of(client.ping(std::nothrow)) == mortise::status::ok; });
  CHECK_RESULT(status::ok, hold.unlock(std::nothrow));
  CHECK(!rw.is_reading());
}

void only_holds_of_a_read_write_lock_change() {
  mortise::client client = open_client();
  mortise::lock lock = open_lock(client, "no-change");
  mortise::hold hold = *lock.acquire(patience, std::nothrow), none;
  CHECK_RESULT(status::unsupported, hold.try_upgrade(std::nothrow));
  CHECK_RESULT(status::unsupported, hold.downgrade(std::nothrow));
  CHECK_RESULT(status::not_owner, none.try_upgrade(std::nothrow));
  CHECK_RESULT(status::not_owner, none.downgrade(std::nothrow));
  CHECK(hold);
}

void a_semaphore_has_permits() {
  mortise::client client = open_client();
  mortise::semaphore one = open_semaphore(client, "slots", 3);
  mortise::semaphore other = open_semaphore(client, "slots", 3);
  mortise::hold two = *one.acquire(patience, 2, std::nothrow);
  CHECK_RESULT(status::timed_out, other.acquire(500ms, 2, std::nothrow));
  CHECK_RESULT(status::not_acquired, other.try_acquire(2, std::nothrow));
  CHECK_RESULT(status::ok, other.resize(4, std::nothrow));
  CHECK_RESULT(status::ok, other.try_acquire(2, std::nothrow));
  const auto seen = one.query(std::nothrow);
  CHECK(seen && seen->is_mine());
  CHECK_NUMBER(4, seen->permits());
  CHECK_NUMBER(2, seen->permits_in_use());
  CHECK_NUMBER(2, seen->entries().at(0).permits);
  two.detach();
  CHECK(one.is_held());
  CHECK_RESULT(status::ok, one.release(std::nothrow));
  CHECK(!one.is_held());
}

void a_multi_holds_all_or_none() {
  mortise::client client = open_client();
  mortise::lock lock = open_lock(client, "m-lock"), other = open_lock(client, "m-lock");
  mortise::rw reader = open_rw(client, "m-reader"), writer = open_rw(client, "m-writer");
  mortise::semaphore semaphore = open_semaphore(client, "m-slots", 3);
  mortise::multi multi = open_multi(client);
  CHECK_RESULT(status::invalid_argument, multi.try_acquire(std::nothrow));
  CHECK_RESULT(status::ok, multi.add(lock, std::nothrow));
  CHECK_RESULT(status::ok, multi.add_reader(reader, std::nothrow));
  CHECK_RESULT(status::ok, multi.add_writer(writer, std::nothrow));
  CHECK_RESULT(status::ok, multi.add(semaphore, 2, std::nothrow));
  CHECK_RESULT(status::invalid_argument, multi.add(lock, std::nothrow));
  CHECK_NUMBER(4, multi.member_count());
  {
    const mortise::hold theirs = *other.acquire(patience, std::nothrow);
    const auto denied = multi.try_acquire(std::nothrow);
    CHECK_RESULT(status::not_acquired, denied);
    CHECK(denied.error().lock_name() == "m-lock");
    CHECK(!reader.is_reading() && !writer.is_writing() && !semaphore.is_held());
  }
  mortise::hold all = *multi.acquire(patience, std::nothrow);
  CHECK(all && lock.is_held() && reader.is_reading() && writer.is_writing() && semaphore.is_held());
  CHECK_NUMBER(0, all.token());
  CHECK_RESULT(status::ok, all.extend(2min, std::nothrow));
  CHECK(multi.valid() > 60s);
  CHECK_RESULT(status::ok, all.unlock(std::nothrow));
  CHECK(!lock.is_held() && !semaphore.is_held());
}

void a_multi_keeps_its_members() {
  mortise::client client = open_client();
  mortise::multi multi = open_multi(client);
  CHECK_RESULT(status::ok, multi.add(open_lock(client, "kept"), std::nothrow));
  mortise::lock other = open_lock(client, "kept");
  const mortise::hold all = *multi.acquire(patience, std::nothrow);
  CHECK(all);
  CHECK_RESULT(status::not_acquired, other.try_acquire(std::nothrow));
}

void a_query_tells_who_holds() {
  mortise::client client = open_client();
  mortise::lock lock = open_lock(client, "query", mortise::options().label("me"));
  const auto nobody = lock.query(std::nothrow);
  CHECK(nobody && !nobody->is_held() && nobody->entries().empty());
  CHECK(nobody->time_left() == -1ms);
  const mortise::hold hold = *lock.acquire(patience, std::nothrow);
  const auto me = lock.query(std::nothrow);
  CHECK(me && me->is_held() && me->is_mine() && me->time_left() > 0ms);
  CHECK_NUMBER(1, me->holder_count());
  CHECK_NUMBER(0, me->waiter_count());
  CHECK_NUMBER(1, me->shown_holder_count());
  CHECK(me->latest_token() >= hold.token());
  const auto entries = me->entries();
  CHECK(entries.size() == 1 && entries[0].label == "me" && entries[0].is_exclusive);
  CHECK(entries[0].pid > 0 && !entries[0].owner.empty() && !entries[0].host.empty());
}

}  // namespace

void test_kinds() {
  RUN(many_read_or_one_writes);
  RUN(a_hold_follows_an_asynchronous_change);
  RUN(a_downgrade_that_nobody_answers_has_taken_place);
  RUN(only_holds_of_a_read_write_lock_change);
  RUN(a_semaphore_has_permits);
  RUN(a_multi_holds_all_or_none);
  RUN(a_multi_keeps_its_members);
  RUN(a_query_tells_who_holds);
}
