// Servers of a quorum whose wall clocks step. If some step, a client with the votes of the others
// notices nothing. If most step, two clients may hold, and their tokens distinguish them.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "integration/redlock/quorum_fixture.hpp"
#include "support/child.hpp"
#include "support/fenced_store.hpp"
#include "support/settable_clock.hpp"

namespace mortise::testing::quorum_clock_test {
namespace {

constexpr std::int64_t hour_s = 3'600;
constexpr std::size_t server_count = 5;
constexpr std::int64_t lease_ms = 2000;

// The calls of a mutex, or of a side of a read-write lock.
template <class Handle>
struct side {
  mortise_status (*acquire)(Handle*, std::int64_t, mortise_error*);
  mortise_status (*attempt)(Handle*, mortise_error*);
  mortise_status (*unlock)(Handle*, mortise_error*);
  std::int32_t (*is_held)(const Handle*);
  std::int64_t (*token)(const Handle*);
};
constexpr side<mortise_lock> mutex{mortise_lock_acquire, mortise_lock_try, mortise_lock_unlock,
                                   mortise_lock_is_held, mortise_lock_token};
constexpr side<mortise_rw> reader{mortise_rw_read_acquire, mortise_rw_read_try,
                                  mortise_rw_read_unlock, mortise_rw_is_reading, mortise_rw_token};
constexpr side<mortise_rw> writer{mortise_rw_write_acquire, mortise_rw_write_try,
                                  mortise_rw_write_unlock, mortise_rw_is_writing, mortise_rw_token};

lock_handle open(const client_handle& client, const side<mortise_lock>& /*as*/) {
  return open_lock(client, "report");
}
rw_handle open(const client_handle& client, const side<mortise_rw>& /*as*/) {
  return open_rw(client, "report");
}

// A user of one half of the servers, with a client of its own.
template <class Handle>
class user {
 public:
  user(const std::string& url, const side<Handle>& as)
      : as_(as), client_(open_client(url)), handle_(open(client_, as)) {}
  // The token, 0 when it was not had.
  std::int64_t acquire() {
    const auto error = new_error();
    const auto status = as_.acquire(handle_.get(), patience_ms, error.get());
    EXPECT_EQ(MORTISE_OK, status) << mortise_error_message(error.get());
    return status == MORTISE_OK ? as_.token(handle_.get()) : 0;
  }
  void unlock() {
    const auto error = new_error();
    EXPECT_EQ(MORTISE_OK, as_.unlock(handle_.get(), error.get()))
        << mortise_error_message(error.get());
  }
  [[nodiscard]] bool holds() const { return as_.is_held(handle_.get()) == 1; }
  [[nodiscard]] bool may_have_it() const {
    return as_.attempt(handle_.get(), nullptr) != MORTISE_NOT_ACQUIRED;
  }

 private:
  const side<Handle> as_;
  const client_handle client_;
  const decltype(open(client_, as_)) handle_;
};

class quorum_clock : public quorum {
 protected:
  quorum_clock() { start(server_count, {settable_clock}); }
  [[nodiscard]] std::string short_url() const {
    return url("quarantine=0&lease=" + std::to_string(lease_ms) + "ms");
  }
  // Of the first so many.
  void set_clocks(std::size_t count, std::int64_t ahead_s) {
    for (std::size_t i = 0; i < count; ++i) servers[i]->set_clock(ahead_s);
  }
  // From this one on all servers have voted.
  bool has_votes(std::size_t first) {
    for (auto i = first; i < server_count; ++i) {
      if (servers[i]->command({"EXISTS", lock_key(name)}) != "1") return false;
    }
    return true;
  }
  bool has_no_votes() {
    for (const auto& server : servers) {
      if (server->command({"EXISTS", lock_key(name)}) != "0") return false;
    }
    return true;
  }

  // Held, contended, renewed and released while the clocks of so many servers step there and back.
  template <class Handle>
  void use_amid_steps(const side<Handle>& first, const side<Handle>& second, std::size_t count,
                      std::int64_t ahead_s) {
    SCOPED_TRACE(std::to_string(count) + " of 5, by " + std::to_string(ahead_s) + " s");
    child dying([&, url = short_url()](child_end& test) {
      test.receive();
      user<Handle> one(url, first);
      test.send(std::to_string(one.acquire()));
      test.receive();
    });
    user<Handle> holder(short_url(), first);
    user<Handle> rival(short_url(), second);
    const auto is_exclusive = [&] { return holder.holds() && !rival.may_have_it(); };
    const auto token = holder.acquire();
    ASSERT_TRUE(eventually([&] { return has_votes(0); }));
    set_clocks(count, ahead_s);
    EXPECT_TRUE(always(is_exclusive, 2 * lease_ms));
    // It waits when the lock is given back, or comes just then.
    std::int64_t next = 0;
    std::thread waits([&] { next = rival.acquire(); });
    holder.unlock();
    waits.join();
    EXPECT_LT(token, next);
    ASSERT_TRUE(eventually([&] { return has_votes(count); }));
    set_clocks(count, 0);
    EXPECT_TRUE(always([&] { return rival.holds() && !holder.may_have_it(); }, 2 * lease_ms));
    // Now all servers know it again. A holder that dies in another time blocks no client.
    ASSERT_TRUE(eventually([&] { return has_votes(0); }));
    rival.unlock();
    dying.send("acquire");
    const auto last = std::stoll(dying.receive());
    EXPECT_LT(next, last);
    ASSERT_TRUE(eventually([&] { return has_votes(0); }));
    set_clocks(count, ahead_s);
    ASSERT_TRUE(eventually([&] { return has_votes(count); }));
    dying.kill();
    const auto after = rival.acquire();
    EXPECT_LT(last, after);
    rival.unlock();
    set_clocks(count, 0);
    EXPECT_LT(after, holder.acquire());
    holder.unlock();
    EXPECT_TRUE(eventually([&] { return has_no_votes(); }));
  }
};

// ---- one and two of five --------------------------------------------------------------------

// Servers whose clocks step, and by how much.
struct stepping {
  const char* name;
  std::size_t count;
  std::int64_t ahead_s;
};
void PrintTo(const stepping& one, std::ostream* to) { *to << one.name; }

class quorum_clock_steps : public quorum_clock, public ::testing::WithParamInterface<stepping> {};

// Votes at servers that are ahead end at once. The next renewal gives them again. Where a clock is
// more than an hour off, the renewal after it does (hazards 4, 17). Votes at servers that are
// behind would last for hours.
TEST_P(quorum_clock_steps, of_one_or_two_do_not_harm_a_mutex) {
  use_amid_steps(mutex, mutex, GetParam().count, GetParam().ahead_s);
}

TEST_P(quorum_clock_steps, of_one_or_two_do_not_harm_a_reader_that_a_writer_waits_for) {
  use_amid_steps(reader, writer, GetParam().count, GetParam().ahead_s);
}

TEST_P(quorum_clock_steps, of_one_or_two_do_not_harm_a_writer_that_a_reader_waits_for) {
  use_amid_steps(writer, reader, GetParam().count, GetParam().ahead_s);
}

std::string name_of_stepping(const ::testing::TestParamInfo<stepping>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(two, quorum_clock_steps,
                         ::testing::Values(stepping{"far_ahead", 2, 3 * hour_s},
                                           stepping{"back", 2, -hour_s / 2}),
                         name_of_stepping);
INSTANTIATE_TEST_SUITE_P(full, quorum_clock_steps,
                         ::testing::Values(stepping{"one_ahead", 1, hour_s / 2},
                                           stepping{"one_far_ahead", 1, 3 * hour_s},
                                           stepping{"two_ahead", 2, hour_s / 2},
                                           stepping{"one_back", 1, -hour_s / 2},
                                           stepping{"one_far_back", 1, -3 * hour_s},
                                           stepping{"two_far_back", 2, -3 * hour_s}),
                         name_of_stepping);

// ---- three of five --------------------------------------------------------------------------

// No promise covers this: two hold. The later one has the higher token, and the other learns of the
// loss when it asks (hazards 4, 30).
TEST_F(quorum_clock, three_that_step_ahead_let_two_hold_whom_tokens_tell_apart) {
  const auto client = open_client(url("quarantine=0&lease=10s&renewal=off"));
  const auto rival = open_client(url("quarantine=0&lease=10s&renewal=off"));
  const auto lock = open_lock(client, name);
  const auto other = open_lock(rival, name);
  fenced_store store;
  expect_acquired(lock);
  const auto token = mortise_lock_token(lock.get());
  EXPECT_TRUE(store.write(token));
  ASSERT_TRUE(eventually([&] { return has_votes(0); }));
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_lock_try(other.get(), nullptr));
  set_clocks(3, hour_s / 2);
  expect_acquired(other);
  EXPECT_EQ(1, mortise_lock_is_held(lock.get()));
  EXPECT_TRUE(store.write(mortise_lock_token(other.get())));
  EXPECT_FALSE(store.write(token));
  EXPECT_EQ(MORTISE_LOST, mortise_lock_extend(lock.get(), 0, nullptr));
  set_clocks(3, 0);
  EXPECT_EQ(MORTISE_OK, mortise_lock_extend(other.get(), 0, nullptr));
  const auto highest = mortise_lock_token(other.get());
  expect_released(other);
  expect_acquired(lock);
  EXPECT_LT(highest, mortise_lock_token(lock.get()));
}

// A token of a time that most other servers are more than an hour behind. Until they reach that
// time no client is granted the name, and no token falls (hazard 30).
TEST_F(quorum_clock, three_that_were_hours_ahead_give_no_lower_token_when_they_are_right) {
  const auto client = open_client(short_url());
  const auto rival = open_client(short_url());
  const auto lock = open_lock(client, name);
  const auto other = open_lock(rival, name);
  expect_acquired(lock);
  const auto token = mortise_lock_token(lock.get());
  expect_released(lock);
  set_clocks(3, 3 * hour_s);
  expect_acquired(lock);
  const auto highest = mortise_lock_token(lock.get());
  EXPECT_LT(token + 2 * hour_s * 1'000'000, highest);
  expect_released(lock);
  set_clocks(3, 0);
  EXPECT_NE(MORTISE_OK, mortise_lock_acquire(lock.get(), second_ms, nullptr));
  EXPECT_NE(MORTISE_OK, mortise_lock_acquire(other.get(), second_ms, nullptr));
  set_clocks(server_count, 3 * hour_s);
  expect_acquired(other);
  EXPECT_LT(highest, mortise_lock_token(other.get()));
}

}  // namespace
}  // namespace mortise::testing::quorum_clock_test
