// What Mortise leaves of a lock in the format of other programs ends by itself, and when.
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>

#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing::interop_leftovers_test {
namespace {

constexpr std::int64_t day_ms = 24 * 60 * 60 * second_ms;
constexpr std::int64_t hold_ms = 30'302;  // the lease of 30 s with the server's margin

class interop_leftovers : public ::testing::Test {
 protected:
  client_handle open(const std::string& protocol) {
    return open_client(server_.url() + "?lease=30s&protocol=" + protocol);
  }
  // All keys but those of clients, each with the most that may be left of it.
  void expect_keys(const std::string& protocol, std::map<std::string, std::int64_t> expected) {
    std::istringstream keys(server_.command({"KEYS", "*"}));
    for (std::string key; std::getline(keys, key);) {
      if (key.starts_with("mortise:")) continue;
      const auto found = expected.find(key);
      ASSERT_NE(found, expected.end()) << protocol << ": " << key << " is left";
      const auto left = std::stoll(server_.command({"PTTL", key}));
      EXPECT_LE(left, found->second) << protocol << ": " << key;
      // No sooner than the lease, and never without an end.
      EXPECT_GT(left, 20 * second_ms) << protocol << ": " << key;
      expected.erase(found);
    }
    for (const auto& item : expected) ADD_FAILURE() << protocol << ": no " << item.first;
  }

  test_server server_;
};

TEST_F(interop_leftovers, every_key_of_a_mutex_ends) {
  const std::map<std::string, std::map<std::string, std::int64_t>> protocols{
      {"token", {{"k", hold_ms}}},
      {"hash", {{"k", hold_ms}}},
      {"timestamp", {{"k", hold_ms + day_ms}, {"{k}:mortise", hold_ms}}},
      {"timestamp_binary", {{"k", hold_ms}, {"{k}:mortise", hold_ms}}},
  };
  for (const auto& [protocol, keys] : protocols) {
    const auto client = open(protocol);
    const auto lock = open_lock(client, "k");
    ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
    expect_keys(protocol, keys);
    ASSERT_EQ(MORTISE_OK, mortise_lock_extend(lock.get(), 30 * second_ms, nullptr));
    expect_keys(protocol, keys);
    ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
    expect_keys(protocol, {});
  }
}

TEST_F(interop_leftovers, every_key_of_a_read_write_lock_ends) {
  const std::map<std::string, std::int64_t> hash{{"k", hold_ms}, {"{k}:mortise", hold_ms}};
  const std::map<std::string, std::int64_t> reads{{"k:read", hold_ms},
                                                  {"{k}:mortise", hold_ms + second_ms}};
  const std::map<std::string, std::int64_t> writes{{"k:write", hold_ms},
                                                   {"{k}:mortise", hold_ms + second_ms}};
  for (const std::string protocol : {"two_key", "hash"}) {
    const auto client = open(protocol);
    const auto rw = open_rw(client, "k");
    const auto second = open_rw(client, "k");
    ASSERT_EQ(MORTISE_OK, mortise_rw_read_try(rw.get(), nullptr));
    expect_keys(protocol, protocol == "hash" ? hash : reads);
    ASSERT_EQ(MORTISE_OK, mortise_rw_read_try(second.get(), nullptr));
    ASSERT_EQ(MORTISE_OK, mortise_rw_read_unlock(rw.get(), nullptr));
    expect_keys(protocol, protocol == "hash" ? hash : reads);
    ASSERT_EQ(MORTISE_OK, mortise_rw_read_unlock(second.get(), nullptr));
    expect_keys(protocol, {});
    ASSERT_EQ(MORTISE_OK, mortise_rw_write_try(rw.get(), nullptr));
    expect_keys(protocol, protocol == "hash" ? hash : writes);
    ASSERT_EQ(MORTISE_OK, mortise_rw_write_unlock(rw.get(), nullptr));
    expect_keys(protocol, {});
  }
}

// Another program reads without an end; that is all that stays for longer.
TEST_F(interop_leftovers, a_note_about_others_ends) {
  const auto client = open("two_key");
  const auto rw = open_rw(client, "k");
  server_.command({"SET", "k:read", "1"});
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_try(rw.get(), nullptr));
  const auto left = std::stoll(server_.command({"PTTL", "{k}:mortise"}));
  EXPECT_GT(left, 20 * second_ms);
  EXPECT_LE(left, hold_ms + day_ms);
}

}  // namespace
}  // namespace mortise::testing::interop_leftovers_test
