/** What throws, and what the standard library's guards are for. */
#include <mutex>
#include <shared_mutex>

#include "fixture.hpp"

#if MORTISE_HAS_EXCEPTIONS

namespace {

/** What a call throws. */
template <class Call>
mortise::status thrown_by(const Call& call) {
  try {
    call();
  } catch (const mortise::exception& failure) {
    CHECK(failure.error().code() == failure.code());
    CHECK(failure.what() == failure.error().message());
    return failure.code();
  }
  return mortise::status::ok;
}

void a_unique_lock_locks() {
  mortise::client client(server_url(server));
  mortise::lock lock(client, "unique"), other(client, "unique");
  {
    std::unique_lock guard(lock);
    CHECK(lock.is_held() && !other.try_lock() && !other.try_lock_for(1s));
    CHECK(!other.try_lock_until(std::chrono::system_clock::now() + 1s));
    CHECK(!std::unique_lock(other, std::try_to_lock).owns_lock());
    CHECK(!std::unique_lock(other, 1ms).owns_lock());
  }
  CHECK(!lock.is_held());
  CHECK(std::unique_lock(other, patience).owns_lock());
  CHECK(std::unique_lock(other, std::chrono::steady_clock::now() + patience).owns_lock());
  CHECK(other.try_lock());
  CHECK(thrown_by([&] { other.lock(); }) == mortise::status::already_held);
  other.unlock();
}

/** At half the speed, so that a wait by another clock ends long before its time. */
struct slow_clock {
  using duration = std::chrono::milliseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<slow_clock>;
  static constexpr bool is_steady = true;
  static time_point now() {
    const auto passed = mortise::boot_clock::now().time_since_epoch() / 2;
    return time_point(std::chrono::duration_cast<duration>(passed));
  }
};

void a_moment_is_one_of_its_own_clock() {
  mortise::client client(server_url(server));
  mortise::lock lock(client, "slow"), other(client, "slow");
  mortise::rw rw(client, "slow-rw"), other_rw(client, "slow-rw");
  mortise::multi multi(client);
  multi.add(other);
  const std::unique_lock guard(lock);
  const std::unique_lock writes(rw);
  const auto check = [](const auto& call) {
    const auto moment = slow_clock::now() + 500ms;
    CHECK(!call(moment));
    CHECK(slow_clock::now() >= moment);
  };
  check([&](auto moment) { return other.try_lock_until(moment); });
  check([&](auto moment) { return multi.try_lock_until(moment); });
  check([&](auto moment) { return other_rw.try_lock_until(moment); });
  check([&](auto moment) { return other_rw.try_lock_shared_until(moment); });
}

void unlock_of_a_guard_cannot_tell_a_loss() {
  mortise::client client(server_url(server));
  mortise::lock lock(client, "silent");
  std::unique_lock guard(lock);
  server_command(server, "FLUSHALL");
  CHECK(thrown_by([&] { lock.extend(1min); }) == mortise::status::lost);
  CHECK(!lock.is_held());
  guard.unlock();
  guard.lock();
  server_command(server, "FLUSHALL");
  CHECK(thrown_by([&] { lock.extend(1min); }) == mortise::status::lost);
  CHECK_RESULT(status::lost, guard.release()->unlock(std::nothrow));
}

// The server answers in less than a second on any machine.
void a_shared_lock_reads() {
  mortise::client client(server_url(server));
  mortise::rw one(client, "shared"), other(client, "shared");
  {
    std::shared_lock guard(one);
    std::shared_lock second(other, std::try_to_lock);
    CHECK(guard.owns_lock() && second.owns_lock() && one.is_reading() && other.is_reading());
  }
  {
    std::unique_lock guard(one);
    CHECK(one.is_writing() && !other.try_lock_shared() && !other.try_lock_shared_for(1s));
    CHECK(!other.try_lock_shared_until(std::chrono::steady_clock::now() + 1s));
    CHECK(!other.try_lock() && !other.try_lock_for(1s));
    CHECK(!other.try_lock_until(std::chrono::steady_clock::now() + 1s));
  }
  CHECK(std::shared_lock(other, patience).owns_lock());
  CHECK(other.try_lock_shared());
  CHECK_RESULT(status::ok, other.unlock_shared(std::nothrow));
  CHECK(other.try_lock());
  CHECK_RESULT(status::ok, other.unlock(std::nothrow));
}

void a_scoped_lock_locks_several() {
  mortise::client client(server_url(server));
  mortise::lock lock(client, "scoped-lock");
  mortise::rw rw(client, "scoped-rw");
  mortise::lock member(client, "scoped-member");
  mortise::multi multi(client);
  multi.add(member);
  {
    const std::scoped_lock guard(lock, rw, multi);
    CHECK(lock.is_held() && rw.is_writing() && multi.is_held());
  }
  CHECK(!lock.is_held() && !rw.is_writing() && !multi.is_held());
  CHECK(multi.try_lock());
  multi.unlock();
  CHECK(multi.try_lock_for(patience));
  multi.unlock();
  CHECK(multi.try_lock_until(std::chrono::steady_clock::now() + patience));
  multi.unlock();
}

void what_is_not_to_be_had_is_no_hold() {
  mortise::client client(server_url(server));
  mortise::lock lock(client, "denied"), other(client, "denied");
  mortise::hold hold = lock.acquire(patience);
  CHECK(hold && !other.try_acquire() && !other.acquire(50ms));
  CHECK(other.interrupt(true) == mortise::status::ok);
  CHECK(!other.acquire());
  CHECK(other.interrupt(false) == mortise::status::ok);
  CHECK(thrown_by([&] { hold = lock.acquire(); }) == mortise::status::already_held);
  CHECK(hold);
  hold.extend(1min);
  hold.progress();
  hold.unlock();
  CHECK(thrown_by([&] { hold.unlock(); }) == mortise::status::not_owner);
  CHECK(thrown_by([&] { hold.extend(1min); }) == mortise::status::not_owner);

  mortise::rw rw(client, "denied-rw"), reader(client, "denied-rw");
  hold = rw.read();
  mortise::hold theirs = reader.try_read();
  CHECK(hold && theirs && !hold.try_upgrade());
  theirs.unlock();
  CHECK(hold.try_upgrade());
  CHECK(!reader.read(500ms) && !reader.write(500ms) && !reader.try_write());
  hold.downgrade();
  CHECK(reader.read());

  mortise::semaphore slots(client, "denied-slots", 1), more(client, "denied-slots", 1);
  hold = slots.acquire();
  CHECK(hold && !more.try_acquire() && !more.acquire(500ms));
  CHECK(thrown_by([&] { mortise::hold two = more.acquire(1s, 2); }) == mortise::status::refused);
  more.resize(2);
  CHECK(more.query().permits() == 2 && more.try_acquire());
  hold.detach();
  slots.release();
}

void a_client_reads_the_environment() {
  setenv("MORTISE_URL", server_url(server), 1);
  mortise::client client = mortise::client::from_environment(mortise::options().lease(9s));
  unsetenv("MORTISE_URL");
  mortise::lock lock(client, "environment");
  const mortise::hold hold = lock.try_acquire();
  CHECK(hold && hold.valid() <= 9s);
}

void what_cannot_be_made_throws() {
  CHECK(thrown_by([] { mortise::client client("redis://"); }) == mortise::status::invalid_argument);
  CHECK(thrown_by([] { mortise::client::from_environment(); }) ==
        mortise::status::invalid_argument);
  mortise::client client(server_url(server));
  client.ping();
  CHECK(!client.check_health().findings().empty());
  CHECK(client.last_health().worst() == client.last_health().worst());
  CHECK(thrown_by([&] { client.set_credentials("nobody", "wrong"); }) == mortise::status::refused);
  CHECK(thrown_by([&] { mortise::lock lock(client, ""); }) == mortise::status::invalid_argument);
  CHECK(thrown_by([&] { mortise::rw rw(client, ""); }) == mortise::status::invalid_argument);
  CHECK(thrown_by([&] { mortise::semaphore none(client, "a", 0); }) ==
        mortise::status::invalid_argument);
  CHECK(thrown_by([&] { mortise::queue queue(client, -1); }) == mortise::status::invalid_argument);
  mortise::multi multi(client);
  CHECK(thrown_by([&] { mortise::hold none = multi.acquire(); }) ==
        mortise::status::invalid_argument);
  mortise::lock lock(client, "twice");
  multi.add(lock);
  CHECK(thrown_by([&] { multi.add(lock); }) == mortise::status::invalid_argument);
}

}  // namespace

void test_lockables() {
  RUN(a_unique_lock_locks);
  RUN(a_moment_is_one_of_its_own_clock);
  RUN(unlock_of_a_guard_cannot_tell_a_loss);
  RUN(a_shared_lock_reads);
  RUN(a_scoped_lock_locks_several);
  RUN(what_is_not_to_be_had_is_no_hold);
  RUN(a_client_reads_the_environment);
  RUN(what_cannot_be_made_throws);
}

#else

void test_lockables() {}

#endif
