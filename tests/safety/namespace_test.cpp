// Tenants that share the servers of a deployment. Each has a namespace, and a user that has only
// the rule of docs/security.md and the rights for this deployment.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/handles.hpp"
#include "support/pages.hpp"
#include "support/sentinel_set.hpp"
#include "support/server.hpp"
#include "support/test_cluster.hpp"

namespace mortise::testing::namespace_test {
namespace {

enum class kind { one_server, sentinel, replicas, cluster, cluster_replicas, redlock, shard };

std::string name_of(kind which) {
  static const char* const names[] = {"one_server",       "sentinel", "replicas", "cluster",
                                      "cluster_replicas", "redlock",  "shard"};
  return names[static_cast<int>(which)];
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The text between the scheme and the rest of a URL is the login.
std::string with_login(std::string url, const std::string& login) {
  if (!login.empty()) url.insert(url.find("://") + 3, login + "@");
  return url;
}

class tenants : public ::testing::TestWithParam<kind> {
 protected:
  tenants() {
    const auto count = GetParam() == kind::one_server ? 1 : 3;
    if (is_cluster()) {
      cluster_ = std::make_unique<test_cluster>(
          cluster_options{.replicas_each = GetParam() == kind::cluster_replicas ? 1U : 0U});
      for (std::size_t i = 0; i < cluster_->size(); ++i) servers_.push_back(&cluster_->at(i));
    } else if (is_of_sentinels()) {
      sentinels_ = std::make_unique<sentinel_set>();
      for (std::size_t i = 0; i < 3; ++i) servers_.push_back(&sentinels_->server(i));
    } else {
      for (int i = 0; i < count; ++i) {
        alone_.push_back(std::make_unique<test_server>());
        servers_.push_back(alone_.back().get());
      }
    }
    for (const auto* name : {"billing", "orders"}) admit(name);
  }
  [[nodiscard]] static bool is_cluster() {
    return GetParam() == kind::cluster || GetParam() == kind::cluster_replicas;
  }
  [[nodiscard]] static bool is_of_sentinels() {
    return GetParam() == kind::sentinel || GetParam() == kind::replicas;
  }
  [[nodiscard]] static bool has_semaphores() { return GetParam() != kind::redlock; }

  void admit(const std::string& name) {
    let(rights_in_namespace(name));
    if (is_cluster()) let(rights_for(name, "docs/cluster.md"));
    if (GetParam() == kind::redlock) let(rights_for(name, "docs/redlock.md"));
    if (GetParam() == kind::replicas || GetParam() == kind::cluster_replicas) {
      let({"ACL", "SETUSER", name, "+wait"});
    }
    // A newer server has one more command.
    for (auto rule : further_rights_on_page("docs/server.md")) {
      rule[2] = name;
      for (auto* server : servers_) server->command(rule);
    }
  }
  void let(const std::vector<std::string>& rule) {
    for (auto* server : servers_) ASSERT_EQ("OK", server->command(rule));
  }
  static std::vector<std::string> rights_for(const std::string& name, const std::string& page) {
    auto rule = rights_on_page(page);
    rule[2] = name;
    return rule;
  }

  // As the user of the login, or as the default user.
  [[nodiscard]] std::string url(const std::string& login, std::string query) const {
    query += "&lease=10m";
    if (GetParam() == kind::replicas) query += "&acks=all";
    if (GetParam() == kind::cluster_replicas) query += "&acks=1";
    if (GetParam() == kind::redlock) query += "&quarantine=0";
    if (cluster_) return with_login(cluster_->url(), login) + "?" + query;
    if (sentinels_) return with_login(sentinels_->url(query), login);
    std::string urls;
    for (const auto& server : alone_) {
      urls += (urls.empty() ? "" : ",") + with_login(server->url(), login);
      if (GetParam() == kind::shard) urls += "?shard=" + std::to_string(urls.size());
      if (server == alone_.front()) urls += (GetParam() == kind::shard ? "&" : "?") + query;
    }
    if (GetParam() == kind::one_server) return urls;
    return name_of(GetParam()) + ":" + urls;
  }
  [[nodiscard]] client_handle open(const std::string& tenant) const {
    return open_client(url(tenant + ":PASSWORD", "namespace=" + tenant));
  }

  // Of all servers.
  std::vector<std::string> keys() {
    std::vector<std::string> found;
    for (auto* server : servers_) {
      for (auto& line : lines_of(server->command({"KEYS", "*"}))) found.push_back(line);
    }
    return found;
  }
  std::vector<std::string> channels() {
    std::vector<std::string> found;
    for (auto* server : servers_) {
      auto text = server->command({"PUBSUB", "CHANNELS", "*"});
      if (is_cluster()) text += "\n" + server->command({"PUBSUB", "SHARDCHANNELS", "*"});
      for (auto& line : lines_of(text)) {
        if (!line.empty() && !line.starts_with("__sentinel__:")) found.push_back(line);
      }
    }
    return found;
  }
  static void expect_in(const std::string& tenant, const std::vector<std::string>& names) {
    EXPECT_FALSE(names.empty());
    for (const auto& name : names) EXPECT_TRUE(name.starts_with(tenant + ":")) << name;
  }
  void expect_nothing_refused() {
    for (auto* server : servers_) EXPECT_EQ("", server->command({"ACL", "LOG"}));
  }
  // A quorum does not know its waiters, which listen for a release.
  bool is_waited_for(const lock_handle& lock, const std::string& free_channel) {
    const info_handle info(mortise_info_new());
    if (GetParam() != kind::redlock) {
      return mortise_lock_query(lock.get(), info.get(), nullptr) == MORTISE_OK &&
             mortise_info_waiter_count(info.get()) == 1;
    }
    const auto all = channels();
    return std::count(all.begin(), all.end(), free_channel) >= 2;
  }

  // All kinds of requests of the tenant billing.
  void work();

  std::vector<std::unique_ptr<test_server>> alone_;
  std::unique_ptr<sentinel_set> sentinels_;
  std::unique_ptr<test_cluster> cluster_;
  std::vector<test_server*> servers_;
};

info_handle query(const lock_handle& lock) {
  info_handle info(mortise_info_new());
  EXPECT_EQ(MORTISE_OK, mortise_lock_query(lock.get(), info.get(), nullptr));
  return info;
}

std::string owner_of(const lock_handle& lock) {
  return mortise_info_entry_owner(query(lock).get(), 0);
}

mortise_status force(const lock_handle& lock, const std::string& owner) {
  return mortise_lock_force_release(lock.get(), owner.data(), owner.size(), nullptr);
}

void tenants::work() {
  const auto client = open("billing");
  const auto other = open("billing");
  const auto lock = open_lock(client, "order");
  const auto contended = open_lock(other, "order");
  expect_acquired(lock);
  std::thread later([&] { expect_acquired(contended); });
  EXPECT_TRUE(eventually(
      [&] { return is_waited_for(lock, "billing:mortise:free:billing:{mortise:order}"); }));
  expect_in("billing", channels());
  expect_released(lock);
  later.join();
  EXPECT_EQ(MORTISE_OK, mortise_lock_extend(contended.get(), 900'000, nullptr));
  EXPECT_EQ(getpid(), mortise_info_entry_pid(query(lock).get(), 0));

  // The connections end, and their client is the same again.
  for (auto* server : servers_) server->command({"CLIENT", "KILL", "USER", "billing"});
  ASSERT_TRUE(answers(client));
  ASSERT_TRUE(answers(other));
  expect_in("billing", keys());
  EXPECT_EQ(MORTISE_OK, force(lock, owner_of(lock)));
  expect_acquired(lock);
  expect_released(lock);

  const auto rw = open_rw(client, "rw");
  const auto writer = open_rw(other, "rw");
  EXPECT_EQ(MORTISE_OK, mortise_rw_read_acquire(rw.get(), patience_ms, nullptr));
  EXPECT_EQ(MORTISE_TIMED_OUT, mortise_rw_write_acquire(writer.get(), 2 * second_ms, nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_rw_extend(rw.get(), 900'000, nullptr));
  expect_in("billing", keys());
  EXPECT_EQ(MORTISE_OK, mortise_rw_read_unlock(rw.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_rw_write_acquire(writer.get(), patience_ms, nullptr));
  if (has_semaphores()) {
    const auto semaphore = open_semaphore(client, "slots", 3);
    EXPECT_EQ(MORTISE_OK, mortise_semaphore_try(semaphore.get(), 2, nullptr));
    EXPECT_EQ(MORTISE_OK, mortise_semaphore_resize(semaphore.get(), 4, nullptr));
    expect_in("billing", keys());
    EXPECT_EQ(MORTISE_OK, mortise_semaphore_release(semaphore.get(), nullptr));
  }
  expect_in("billing", keys());
}

TEST_P(tenants, the_rule_is_enough_for_all_work_and_all_names_begin_with_the_namespace) {
  work();
  const auto is_record = [](const std::string& key) { return key.find(":client:") != key.npos; };
  EXPECT_TRUE(eventually([&] {
    const auto all = keys();
    return std::none_of(all.begin(), all.end(), is_record);
  }));
  expect_in("billing", keys());
  expect_nothing_refused();
}

TEST_P(tenants, have_different_locks_of_one_name) {
  const auto billing = open("billing");
  const auto orders = open("orders");
  const auto plain = open_client(url("", "label=plain"));
  std::vector<lock_handle> held;
  for (const auto& client : {&billing, &orders, &plain}) {
    held.push_back(open_lock(*client, "order"));
    ASSERT_EQ(MORTISE_OK, mortise_lock_try(held.back().get(), nullptr));
  }
  const auto owner = owner_of(held[0]);
  for (const auto& lock : held) {
    const auto info = query(lock);
    EXPECT_EQ(1, mortise_info_holder_count(info.get()));
    EXPECT_EQ(1, mortise_info_is_mine(info.get()));
  }
  for (const std::size_t other : {1, 2}) {
    EXPECT_EQ(MORTISE_NOT_OWNER, force(held[other], owner));
  }
  const auto second = open("orders");
  const auto waiter = open_lock(second, "order");
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_lock_try(waiter.get(), nullptr));
  std::thread later([&] { expect_acquired(waiter); });
  EXPECT_TRUE(eventually(
      [&] { return is_waited_for(held[1], "orders:mortise:free:orders:{mortise:order}"); }));
  expect_released(held[0]);
  expect_acquired(held[0]);
  expect_released(held[2]);
  expect_released(held[1]);
  later.join();
  expect_nothing_refused();
}

// The texts of a field, sorted.
std::vector<std::string> texts(const mortise_listing* listing, const std::string& field) {
  std::vector<std::string> found;
  for (std::int64_t i = 0; i < mortise_listing_count(listing); ++i) {
    found.emplace_back(mortise_listing_text(listing, i, field.data(), field.size()));
  }
  std::sort(found.begin(), found.end());
  return found;
}

TEST_P(tenants, list_and_scan_only_their_own_locks) {
  for (const auto* name : {"billing", "orders"}) {
    let({"ACL", "SETUSER", name, "+scan", "+pubsub|channels"});
    if (is_cluster()) let({"ACL", "SETUSER", name, "+pubsub|shardchannels", "+unsubscribe"});
  }
  const auto billing = open("billing");
  const auto orders = open("orders");
  const auto plain = open_client(url("", "lease=11m"));
  const auto first = open_lock(billing, "invoice");
  const auto second = open_lock(orders, "order");
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(first.get(), nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(second.get(), nullptr));
  using names = std::vector<std::string>;
  const auto expect = [&](const client_handle& client, const names& listed) {
    const std::shared_ptr<mortise_listing> listing(
        mortise_client_list_locks(client.get(), patience_ms, nullptr), mortise_listing_free);
    ASSERT_TRUE(listing);
    EXPECT_EQ(listed, texts(listing.get(), "name"));
    const std::string json = mortise_listing_json(listing.get());
    EXPECT_NE(std::string::npos, json.find("\"answered\":1,")) << json;
    const std::shared_ptr<mortise_listing> scan(
        mortise_client_scan_locks(client.get(), nullptr, 0, 10'000, patience_ms, nullptr),
        mortise_listing_free);
    ASSERT_TRUE(scan);
    auto found = texts(scan.get(), "name");
    found.erase(std::unique(found.begin(), found.end()), found.end());  // of several servers
    EXPECT_EQ(listed, found);
  };
  expect(billing, {"invoice"});
  expect(orders, {"order"});
  expect(plain, {});
  const auto error = new_error();
  const std::string pattern = "orders:*";
  EXPECT_FALSE(mortise_client_scan_locks(billing.get(), pattern.data(), pattern.size(), 10'000,
                                         patience_ms, error.get()));
  EXPECT_EQ(MORTISE_INVALID_ARGUMENT, mortise_error_status(error.get()));
  EXPECT_STREQ(
      "pattern: \"orders:*\" matches keys outside of the option namespace; give a pattern that "
      "begins with \"billing:\", or a client without the option",
      mortise_error_message(error.get()));
  expect_nothing_refused();
}

TEST_P(tenants, are_refused_in_the_namespace_of_others) {
  const auto orders = open("orders");
  const auto lock = open_lock(orders, "order");
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
  const auto error = new_error();
  const auto other = url("billing:PASSWORD", "namespace=orders&command_timeout=1s");
  const client_handle client(mortise_client_new(other.data(), other.size(), nullptr, error.get()));
  // A client of a cluster sends nothing about a slot before it uses the slot.
  ASSERT_EQ(is_cluster(), client != nullptr);
  if (client) {
    const auto trespasser = open_lock(client, "order");
    EXPECT_EQ(MORTISE_REFUSED, mortise_lock_try(trespasser.get(), error.get()));
  }
  EXPECT_EQ(MORTISE_REFUSED, mortise_error_status(error.get()));
  const std::string message = mortise_error_message(error.get());
  EXPECT_NE(std::string::npos, message.find(client ? "&NAMESPACE:*" : "&orders:*")) << message;
  const auto info = query(lock);
  EXPECT_EQ(1, mortise_info_holder_count(info.get()));
  EXPECT_EQ(1, mortise_info_is_mine(info.get()));
}

// Commands of the rule, with the key of another namespace in place of KEY, and its inbox in place
// of INBOX.
std::vector<std::vector<std::string>> commands_on_others() {
  return {
      {"GET", "KEY"},
      {"SET", "KEY", "mine"},
      {"DEL", "KEY"},
      {"MGET", "KEY", "billing:a"},
      {"INCR", "KEY"},
      {"INCRBY", "KEY", "9"},
      {"PTTL", "KEY"},
      {"PEXPIRE", "KEY", "1"},
      {"LLEN", "KEY"},
      {"LINDEX", "KEY", "0"},
      {"LPOS", "KEY", "mine"},
      {"LRANGE", "KEY", "0", "-1"},
      {"LPOP", "KEY"},
      {"RPUSH", "KEY", "mine"},
      {"LREM", "KEY", "0", "mine"},
      {"EXISTS", "KEY"},
      {"TYPE", "KEY"},
      {"ZADD", "KEY", "1", "mine"},
      {"ZREM", "KEY", "mine"},
      {"ZSCORE", "KEY", "mine"},
      {"ZCOUNT", "KEY", "-inf", "+inf"},
      {"ZRANGEBYSCORE", "KEY", "-inf", "+inf"},
      {"ZREVRANGEBYSCORE", "KEY", "+inf", "-inf"},
      {"EVAL", "return redis.call('GET', KEYS[1])", "1", "KEY"},
      {"EVAL", "return redis.call('DEL', ARGV[1])", "0", "KEY"},
      {"EVAL", "return redis.call('PUBLISH', ARGV[1], 'G')", "0", "INBOX"},
      {"PUBLISH", "INBOX", "G 1 1 0 m1"},
      {"SUBSCRIBE", "INBOX"},
      {"PSUBSCRIBE", "*"},
      {"KEYS", "*"},
      {"SCAN", "0"},
      {"PUBSUB", "CHANNELS"},
  };
}

TEST(tenant, has_no_command_on_the_keys_and_channels_of_another) {
  test_server server;
  for (const auto* name : {"billing", "orders"}) {
    ASSERT_EQ("OK", server.command(rights_in_namespace(name)));
  }
  const auto url = "unix://orders:PASSWORD@" + server.socket_path() + "?namespace=orders&lease=10m";
  const auto client = open_client(url);
  const auto other = open_client(url);
  const auto lock = open_lock(client, "order");
  const auto contended = open_lock(other, "order");
  const auto semaphore = open_semaphore(client, "slots", 3);
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_semaphore_try(semaphore.get(), 1, nullptr));
  std::thread later([&] { expect_acquired(contended); });
  const std::string queue = "orders:{mortise:order}:q";
  ASSERT_TRUE(eventually([&] { return server.command({"LLEN", queue}) == "1"; }));
  const auto inbox = lines_of(server.command({"PUBSUB", "CHANNELS", "orders:*"})).at(0);

  raw_client hostile(server.socket_path());
  ASSERT_EQ("OK", hostile.command({"AUTH", "billing", "PASSWORD"}));
  ASSERT_EQ("OK", hostile.command({"SET", "billing:a", ""}));
  for (const auto& key : lines_of(server.command({"KEYS", "orders:*"}))) {
    const auto before = server.command({"DUMP", key});
    for (auto command : commands_on_others()) {
      std::replace(command.begin(), command.end(), std::string("KEY"), key);
      std::replace(command.begin(), command.end(), std::string("INBOX"), inbox);
      const auto reply = hostile.command(command);
      // A script has an error of its own.
      EXPECT_TRUE(reply.starts_with("-NOPERM") ||
                  reply.find("ACL failure in script") != reply.npos ||
                  reply.find("user executing the script can't") != reply.npos)
          << command[0] << " " << key << ": " << reply;
    }
    EXPECT_EQ(before, server.command({"DUMP", key})) << key;
  }
  expect_released(lock);
  later.join();
}

// A lock in another format has no other protection against a name of another namespace.
TEST(tenant, shares_locks_of_other_programs_only_in_its_namespace) {
  test_server server;
  const auto client = open_client(server.url() + "?namespace=billing&protocol=token");
  const auto plain = open_client(server.url() + "?protocol=token");
  const auto lock = open_lock(client, "billing:report");
  const auto other = open_lock(plain, "billing:report");
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_lock_try(other.get(), nullptr));
  EXPECT_EQ("string", server.command({"TYPE", "billing:report"}));
  const auto problem = [&](const client_handle& opener, const std::string& name) {
    const auto error = new_error();
    const lock_handle refused(
        mortise_lock_new(opener.get(), name.data(), name.size(), nullptr, error.get()));
    EXPECT_FALSE(refused) << name;
    EXPECT_EQ(MORTISE_INVALID_ARGUMENT, mortise_error_status(error.get()));
    return std::string(mortise_error_message(error.get()));
  };
  EXPECT_EQ(
      "name: \"report\" is outside of the option namespace, and token uses names as keys; give a "
      "name that begins with \"billing:\", or a client without the option",
      problem(client, "report"));
  for (const char* name :
       {"mortise:fence", "{mortise:a}", "billing:mortise:fence", "billing:{mortise:a}"}) {
    EXPECT_NE(std::string::npos, problem(client, name).find("Mortise's own keys")) << name;
    EXPECT_NE(std::string::npos, problem(plain, name).find("Mortise's own keys")) << name;
  }
}

TEST(tenant, reads_the_health_of_its_own_namespace) {
  test_server server;
  ASSERT_EQ("OK", server.command(rights_in_namespace("billing")));
  ASSERT_EQ("OK", server.command({"ACL", "SETUSER", "billing", "+scan"}));
  ASSERT_EQ("OK", server.command({"SET", "mortise:fence", "set by another program"}));
  ASSERT_EQ("OK", server.command({"SET", "orders:{mortise:a}", "m1:"}));
  const auto client =
      open_client("unix://billing:PASSWORD@" + server.socket_path() + "?namespace=billing");
  const auto severity = [&](const std::string& name) {
    const std::shared_ptr<mortise_health> health(mortise_client_check_health(client.get(), nullptr),
                                                 mortise_health_free);
    for (std::int64_t i = 0; i < mortise_health_count(health.get()); ++i) {
      if (mortise_health_name(health.get(), i) == name) {
        return std::string(mortise_severity_text(mortise_health_severity(health.get(), i))) + " " +
               mortise_health_value(health.get(), i);
      }
    }
    return std::string();
  };
  EXPECT_EQ("ok none missing", severity("rights"));
  EXPECT_TRUE(severity("fence").starts_with("ok ")) << severity("fence");
  EXPECT_TRUE(severity("shared_database").starts_with("ok 0 of ")) << severity("shared_database");
  ASSERT_EQ("OK", server.command({"ACL", "SETUSER", "billing", "resetkeys", "~billing:mortise:*"}));
  EXPECT_EQ("bad missing: ~billing:*", severity("rights"));
}

INSTANTIATE_TEST_SUITE_P(safety, tenants,
                         ::testing::Values(kind::one_server, kind::sentinel, kind::replicas,
                                           kind::cluster, kind::cluster_replicas, kind::redlock,
                                           kind::shard),
                         [](const auto& item) { return name_of(item.param); });

}  // namespace
}  // namespace mortise::testing::namespace_test
