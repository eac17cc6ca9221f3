// What a lock leaves at the server ends by itself, and when: each key of the table in
// docs/server.md.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/handles.hpp"
#include "support/pages.hpp"
#include "support/server.hpp"

namespace mortise::testing::leftovers_test {
namespace {

constexpr std::int64_t day_ms = 24 * 60 * 60 * second_ms;
constexpr std::int64_t lease_ms = 30 * second_ms;
// A tenth and 2 ms longer than the lease.
constexpr std::int64_t hold_ms = lease_ms + lease_ms / 10 + 2;
constexpr std::int64_t queue_ms = 300 * second_ms;

// The TTL of a key: at most this long, and little less a moment after it was set.
struct expectation {
  std::int64_t most_ms;
  std::int64_t least_ms = 1;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// What the page calls the key of one client, or of one hold.
std::string with_id(const std::string& key) {
  for (const auto* const prefix : {"mortise:acks:", "mortise:client:", "mortise:member:"}) {
    if (key.starts_with(prefix)) return std::string(prefix) + "ID";
  }
  constexpr std::string_view of_hold = ":value:";
  const auto found = key.find(of_hold);
  return found == std::string::npos ? key : key.substr(0, found + of_hold.size()) + "OWNER";
}

// The server's keys are these, and each ends in time.
void expect_keys(test_server& server, std::map<std::string, expectation> expected) {
  for (const auto& key : lines_of(server.command({"KEYS", "*"}))) {
    const auto name = with_id(key);
    const auto found = expected.find(name);
    ASSERT_NE(found, expected.end()) << name << " is left";
    const auto left = std::stoll(server.command({"PTTL", key}));
    EXPECT_LE(left, found->second.most_ms) << name;
    EXPECT_GE(left, found->second.least_ms) << name;
    // There are more clients than one.
    if (name == key || name.ends_with("OWNER")) expected.erase(found);
  }
  expected.erase("mortise:acks:ID");
  expected.erase("mortise:client:ID");
  expected.erase("mortise:member:ID");
  for (const auto& item : expected) ADD_FAILURE() << item.first << " is not there";
}

std::map<std::string, expectation> keys_of_clients() {
  return {{"mortise:fence", {90 * day_ms, 89 * day_ms}},
          {"mortise:server", {90 * day_ms, 89 * day_ms}},
          {"mortise:client:ID", {60 * second_ms}}};
}

// As the page names the keys.
std::set<std::string> names_of(const std::map<std::string, expectation>& expected) {
  std::set<std::string> names;
  for (const auto& item : expected) {
    auto key = item.first;
    if (const auto end = key.find('}'); end != std::string::npos) key.replace(end - 1, 1, "NAME");
    names.insert(key);
  }
  return names;
}

// The keys that the page names, of a server of a quorum or of any.
std::set<std::string> keys_of_page(bool of_quorum) {
  std::set<std::string> named;
  auto page = open_page("docs/server.md");
  std::string line;
  while (std::getline(page, line) && line != "These keys are kept, in the database of the URL:") {
  }
  while (std::getline(page, line) && line.substr(0, 12) != "A client lis") {
    if ((line.find("quorum") != std::string::npos) != of_quorum) continue;
    std::istringstream first_column(line.substr(0, line.find('|', 1)));
    std::string text;
    std::string quoted;  // `like this`
    while (std::getline(first_column, text, '`') && std::getline(first_column, quoted, '`')) {
      if (quoted.find("mortise:") <= 1) named.insert(quoted);
    }
  }
  return named;
}

// One lock of each kind is held, and has a waiter.
class leftovers : public ::testing::Test {
 protected:
  void wait_for_all() {
    ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock_.get(), nullptr));
    ASSERT_EQ(MORTISE_OK, mortise_rw_write_try(rw_.get(), nullptr));
    ASSERT_EQ(MORTISE_OK, mortise_semaphore_try(semaphore_.get(), 2, nullptr));
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire_async(other_lock_.get(), queue_.get(), 1,
                                                     MORTISE_FOREVER, nullptr));
    ASSERT_EQ(MORTISE_OK, mortise_rw_read_acquire_async(other_rw_.get(), queue_.get(), 2,
                                                        MORTISE_FOREVER, nullptr));
    ASSERT_EQ(MORTISE_OK, mortise_semaphore_acquire_async(other_semaphore_.get(), queue_.get(), 3,
                                                          1, MORTISE_FOREVER, nullptr));
    for (const auto* key : {"{mortise:m}:q", "{mortise:r}:rq", "{mortise:s}:sq"}) {
      ASSERT_TRUE(eventually([&] { return server_.command({"LLEN", key}) == "1"; })) << key;
    }
  }

  test_server server_;
  client_handle client_ = open_client(server_.url() + "?lease=30s");
  client_handle other_ = open_client(server_.url() + "?lease=30s");
  queue_handle queue_ = open_queue(other_);
  lock_handle lock_ = open_lock(client_, "m");
  lock_handle other_lock_ = open_lock(other_, "m");
  rw_handle rw_ = open_rw(client_, "r");
  rw_handle other_rw_ = open_rw(other_, "r");
  semaphore_handle semaphore_ = open_semaphore(client_, "s", 2);
  semaphore_handle other_semaphore_ = open_semaphore(other_, "s", 2);
};

TEST_F(leftovers, every_key_ends) {
  wait_for_all();
  ASSERT_EQ(MORTISE_OK, mortise_lock_set_value(lock_.get(), "here", 4, nullptr));
  auto expected = keys_of_clients();
  // A lock for which others wait stays a second longer.
  expected["{mortise:m}"] = {hold_ms + second_ms};
  expected["{mortise:m}:q"] = {queue_ms};
  expected["{mortise:m}:value:OWNER"] = {hold_ms};
  expected["{mortise:r}"] = {hold_ms};
  expected["{mortise:r}:rq"] = {queue_ms};
  expected["{mortise:s}"] = {hold_ms};
  expected["{mortise:s}:sq"] = {queue_ms};
  expected["{mortise:s}:permits"] = {day_ms + hold_ms, day_ms};
  expect_keys(server_, expected);

  // What replicas are waited for with, also where there are none.
  const auto careful = open_client(server_.url() + "?acks=1&command_timeout=1s");
  const auto lock = open_lock(careful, "careful");
  EXPECT_EQ(MORTISE_UNREACHABLE, mortise_lock_try(lock.get(), nullptr));
  EXPECT_TRUE(eventually([&] { return server_.command({"EXISTS", lock_key("careful")}) == "0"; }));
  expected["mortise:acks:ID"] = {60 * second_ms};
  expect_keys(server_, expected);

  EXPECT_EQ(keys_of_page(false), names_of(expected)) << "the page names them all";
}

TEST_F(leftovers, of_a_name_that_is_used_once_only_the_number_of_permits_stays_for_a_day) {
  wait_for_all();
  ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(lock_.get(), nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_rw_write_unlock(rw_.get(), nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_semaphore_release(semaphore_.get(), nullptr));
  for (int granted = 0; granted < 3; ++granted) ASSERT_EQ(MORTISE_OK, next_event(queue_).status);
  ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(other_lock_.get(), nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_unlock(other_rw_.get(), nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_semaphore_release(other_semaphore_.get(), nullptr));
  auto expected = keys_of_clients();
  expected["{mortise:s}:permits"] = {day_ms + hold_ms, day_ms - 60 * second_ms};
  expect_keys(server_, expected);
}

// A hold that lasts longer than a day is a use of the permits as well.
TEST_F(leftovers, the_number_of_permits_outlives_every_hold) {
  const std::string key = "{mortise:s}:permits";
  ASSERT_EQ(MORTISE_OK, mortise_semaphore_try(semaphore_.get(), 1, nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_semaphore_extend(semaphore_.get(), 5 * day_ms, nullptr));
  EXPECT_GT(std::stoll(server_.command({"PTTL", key})), 6 * day_ms);
  ASSERT_EQ(MORTISE_OK, mortise_semaphore_resize(other_semaphore_.get(), 7, nullptr));
  EXPECT_GT(std::stoll(server_.command({"PTTL", key})), 6 * day_ms);
  // A later hold with a lease as usual takes nothing off.
  ASSERT_EQ(MORTISE_OK, mortise_semaphore_try(other_semaphore_.get(), 2, nullptr));
  EXPECT_GT(std::stoll(server_.command({"PTTL", key})), 6 * day_ms);
}

TEST_F(leftovers, a_resize_of_a_name_that_nobody_uses_is_kept_for_a_day) {
  ASSERT_EQ(MORTISE_OK, mortise_semaphore_resize(semaphore_.get(), 7, nullptr));
  auto expected = keys_of_clients();
  expected["{mortise:s}:permits"] = {day_ms, day_ms - 60 * second_ms};
  expect_keys(server_, expected);
}

// With a mutex, with readers, and with a writer that waits.
TEST(leftovers_of_a_quorum, every_key_ends) {
  constexpr std::int64_t hour_ms = day_ms / 24;
  test_server one;
  test_server two;
  const auto url = "redlock:" + one.url() + "?quarantine=4s&lease=3s," + two.url();
  const auto client = open_client(url);
  auto expected = keys_of_clients();
  expected["mortise:quorum"] = {hour_ms, hour_ms - 60 * second_ms};
  expected["mortise:member:ID"] = {hour_ms, hour_ms - 60 * second_ms};
  expected["mortise:quarantine"] = {2 * hour_ms + 5 * second_ms, 2 * hour_ms - 60 * second_ms};
  expect_keys(one, expected);

  const auto other = open_client(url);
  const auto queue = open_queue(other);
  const auto lock = open_lock(client, "m");
  const auto rw = open_rw(client, "r");
  const auto other_rw = open_rw(other, "r");
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_acquire(rw.get(), patience_ms, nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_rw_write_acquire_async(other_rw.get(), queue.get(), 1,
                                                       MORTISE_FOREVER, nullptr));
  ASSERT_TRUE(eventually([&] { return one.command({"EXISTS", "{mortise:r}:writer"}) == "1"; }));
  const std::int64_t vote_ms = 3 * second_ms + 3 * second_ms / 10 + 3;
  for (const auto* const key : {"{mortise:m}", "{mortise:r}"}) {
    expected[key] = {vote_ms};
    expected[std::string(key) + ":ballot"] = {2 * hour_ms, hour_ms};
  }
  expected["{mortise:r}:writer"] = {3 * second_ms};
  expect_keys(one, expected);
  for (const auto& any : keys_of_clients()) expected.erase(any.first);
  EXPECT_EQ(keys_of_page(true), names_of(expected)) << "the page names them all";
}

}  // namespace
}  // namespace mortise::testing::leftovers_test
