// The facts that a client finds in a cluster, and its messages about a cluster that it cannot use.
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "deployment/cluster/routing/slot.hpp"
#include "integration/cluster/cluster_fixture.hpp"
#include "support/pages.hpp"

namespace mortise::testing::cluster_test {
namespace {

struct free_multi {
  void operator()(mortise_multi* handle) const { mortise_multi_free(handle); }
};

mortise_status set_credentials(const client_handle& client, const std::string& password) {
  const std::string user = "heir";
  return mortise_client_set_credentials(client.get(), user.data(), user.size(), password.data(),
                                        password.size(), nullptr);
}

TEST_F(clusters, names_are_shared_out_and_all_are_had) {
  const auto client = open_client(all->url());
  std::vector<lock_handle> locks;
  for (int i = 0; i < 30; ++i) {
    locks.push_back(open_lock(client, "name " + std::to_string(i)));
    ASSERT_EQ(MORTISE_OK, mortise_lock_try(locks.back().get(), nullptr));
  }
  for (std::size_t number = 0; number < all->size(); ++number) {
    // A replica has it a moment later.
    EXPECT_TRUE(eventually([&] { return all->at(number).command({"DBSIZE"}) != "0"; })) << number;
  }
  for (const auto& lock : locks) expect_released(lock);
}

TEST_F(clusters, a_try_returns_at_once_that_another_has_it) {
  const auto client = open_client(all->url());
  const auto other = open_client("redis+cluster://" + all->address_of(2));
  const auto mine = open_lock(client, "mine");
  expect_acquired(mine);
  const auto contended = open_lock(other, "mine");
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_lock_try(contended.get(), nullptr));
  std::thread later([&] { expect_acquired(contended); });
  expect_released(mine);
  later.join();
  EXPECT_LT(mortise_lock_token(mine.get()), mortise_lock_token(contended.get()));
  expect_released(contended);
}

// Redis-cli moves a slot key by key, and in between no script sees all keys of a lock.
TEST_F(clusters, a_hold_outlives_a_slot_that_is_on_its_way_for_long) {
  const auto client = open_client(all->url() + "?lease=6s");
  const auto lock = open_lock(client, "order");
  expect_acquired(lock);
  const auto key = lock_key("order");
  const auto from = all->owner_of(key);
  all->move_slot(cluster::slot_of(key), from, all->other_master(from),
                 [] { eventually([] { return false; }, 2 * second_ms); });
  EXPECT_TRUE(always([&] { return mortise_lock_is_held(lock.get()) == 1; }, 6 * second_ms));
  expect_released(lock);
}

TEST_F(clusters, who_wants_a_slot_on_its_way_waits_for_it) {
  const auto client = open_client(all->url());
  const auto lock = open_lock(client, "order");
  expect_acquired(lock);
  expect_released(lock);
  const auto key = lock_key("order");
  const auto from = all->owner_of(key);
  std::thread wants;
  all->move_slot(cluster::slot_of(key), from, all->other_master(from), [&] {
    wants = std::thread([&] { expect_acquired(lock); });
    eventually([] { return false; }, 300);
  });
  wants.join();
  expect_released(lock);
}

TEST_F(clusters, tokens_rise_where_a_slot_goes) {
  const auto client = open_client(all->url());
  const auto lock = open_lock(client, "order");
  const auto key = lock_key("order");
  std::int64_t last = 0;
  for (int turn = 0; turn < 4; ++turn) {
    expect_acquired(lock);
    EXPECT_LT(last, mortise_lock_token(lock.get()));
    last = mortise_lock_token(lock.get());
    expect_released(lock);
    const auto from = all->owner_of(key);
    all->move_slot(cluster::slot_of(key), from, all->other_master(from));
  }
}

TEST_F(clusters, the_log_tells_where_a_slot_went) {
  const auto client = open_client(all->url());
  const auto queue = open_queue(client);
  const auto lock = open_lock(client, "order");
  const auto key = lock_key("order");
  expect_acquired(lock);
  expect_released(lock);
  watch_log(client, queue);
  const auto from = all->owner_of(key);
  all->move_slot(cluster::slot_of(key), from, all->other_master(from));
  expect_acquired(lock);
  const auto line = next_line(queue, MORTISE_LOG_REDIRECTED);
  const auto slot = "slot " + std::to_string(cluster::slot_of(key)) + " moved from ";
  EXPECT_EQ(0U, line.find(slot)) << line;
  expect_released(lock);
}

TEST_F(clusters, a_server_that_no_slot_needs_any_more_is_left) {
  const auto client = open_client(all->url() + "?command_timeout=600ms&client_name=leaver");
  const auto lock = open_lock(client, "order");
  const auto is_at = [&](std::size_t server) {
    const auto clients = all->at(server).command({"CLIENT", "LIST"});
    return clients.find("name=leaver") != std::string::npos;
  };
  for (int turn = 0; turn < 2; ++turn) {
    const auto before = all->owner_of(lock_key("order"));
    expect_acquired(lock);
    EXPECT_TRUE(is_at(before));
    const auto after = all->fail_over(before);
    EXPECT_TRUE(eventually([&] { return !is_at(before); }));
    EXPECT_TRUE(eventually([&] { return is_at(after); }));
    expect_released(lock);
  }
}

TEST_F(clusters, a_multi_has_names_of_all_servers) {
  const auto client = open_client(all->url());
  const auto error = new_error();
  const std::unique_ptr<mortise_multi, free_multi> multi(
      mortise_multi_new(client.get(), error.get()));
  ASSERT_TRUE(multi);
  std::vector<lock_handle> members;
  for (int i = 0; i < 12; ++i) {
    members.push_back(open_lock(client, "member " + std::to_string(i)));
    ASSERT_EQ(MORTISE_OK, mortise_multi_add_lock(multi.get(), members.back().get(), error.get()));
  }
  EXPECT_EQ(MORTISE_OK, mortise_multi_acquire(multi.get(), patience_ms, error.get()))
      << mortise_error_message(error.get());
  EXPECT_EQ(MORTISE_OK, mortise_multi_unlock(multi.get(), error.get()));
}

TEST_F(clusters, a_lock_is_shown_with_where_its_holder_runs) {
  const auto client = open_client(all->url());
  const auto lock = open_lock(client, "order");
  expect_acquired(lock);
  const auto error = new_error();
  const info_handle info(mortise_info_new());
  ASSERT_EQ(MORTISE_OK, mortise_lock_query(lock.get(), info.get(), error.get()))
      << mortise_error_message(error.get());
  EXPECT_EQ(1, mortise_info_is_held(info.get()));
  EXPECT_EQ(getpid(), mortise_info_entry_pid(info.get(), 0));
  expect_released(lock);
}

// Redisson's clients publish on the slot's channel, older ones on a channel of all servers.
TEST_F(clusters, who_waits_for_another_program_hears_it_by_both_channels) {
  const auto client = open_client(all->url() + "?poll_interval=60s");
  for (const auto* text : {"SPUBLISH", "PUBLISH"}) {
    const std::string name = std::string("theirs by ") + text;
    ASSERT_EQ("1",
              all->command_at(name, {"HSET", name, "8743c9c0-0795-4907-87fd-6c719a6b4586:1", "1"}));
    const options_handle options(mortise_options_new());
    ASSERT_EQ(MORTISE_OK, mortise_options_set(options.get(), "protocol", 8, "hash", 4, nullptr));
    const auto lock = open_lock(client, name, options.get());
    std::thread wants([&] { expect_acquired(lock); });
    const auto channel = "redisson_lock__channel:{" + name + "}";
    ASSERT_TRUE(eventually([&] {
      const auto count = all->command_at(name, {"PUBSUB", "NUMSUB", channel});
      return count == channel + "\n1";
    }));
    ASSERT_EQ("1", all->command_at(name, {"DEL", name}));
    all->command_at(name, {text, channel, "0"});
    wants.join();
    expect_released(lock);
  }
}

TEST_F(clusters, other_programs_are_notified_on_both_channels) {
  const auto client = open_client(all->url());
  const options_handle options(mortise_options_new());
  ASSERT_EQ(MORTISE_OK, mortise_options_set(options.get(), "protocol", 8, "hash", 4, nullptr));
  const std::string name = "ours";
  const auto lock = open_lock(client, name, options.get());
  for (const auto* listens : {"SSUBSCRIBE", "SUBSCRIBE"}) {
    const auto theirs = all->at(all->owner_of(name)).connect();
    theirs->command({listens, "redisson_lock__channel:{" + name + "}"});
    expect_acquired(lock);
    expect_released(lock);
    EXPECT_NE(std::string::npos, theirs->read_reply().find("message\n")) << listens;
  }
}

TEST(clusters_tls, all_servers_are_spoken_to) {
  test_cluster secret(
      {.masters = 1, .replicas_each = 0, .has_tls = true, .arguments = {"--tls-cluster", "yes"}});
  const auto client = open_client(secret.url());
  for (int i = 0; i < 8; ++i) {
    const auto lock = open_lock(client, "name " + std::to_string(i));
    expect_acquired(lock);
    expect_released(lock);
  }
  EXPECT_NE("0", secret.at(0).command({"DBSIZE"}));
  const auto plain = "redis+cluster://" + secret.address_of(0);
  const auto message = problem_of(plain + "?command_timeout=1s", MORTISE_UNREACHABLE);
  EXPECT_NE(std::string::npos, message.find("rediss")) << message;
}

TEST_F(clusters, a_client_finds_the_cluster_by_any_server_that_is_there) {
  all->kill(0);
  const auto client = open_client(all->url());
  expect_acquired(open_lock(client, "order"));
}

std::int64_t number_in_info(test_server& server, const std::string& field) {
  const auto info = server.command({"INFO", "all"});
  const auto at = info.find(field);
  return at == std::string::npos ? 0 : std::stoll(info.substr(at + field.size()));
}

// A master without a replica has died, and the others refuse every slot for that.
TEST_F(clusters, a_cluster_that_is_down_is_not_kept_busy_by_those_who_use_many_slots) {
  test_cluster frail({.masters = 3, .replicas_each = 0});
  const auto client = open_client(frail.url() + "?lease=60s");
  std::vector<lock_handle> locks;
  for (int i = 0; i < 200; ++i) {
    locks.push_back(open_lock(client, "name " + std::to_string(i)));
    expect_acquired(locks.back());
  }
  frail.kill(2);
  auto& living = frail.at(0);
  const auto refused = [&] { return number_in_info(living, "errorstat_CLUSTERDOWN:count="); };
  const auto received = [&] { return number_in_info(living, "total_net_input_bytes:"); };
  ASSERT_TRUE(eventually([&] {
    return living.command({"CLUSTER", "INFO"}).find("cluster_state:fail") != std::string::npos;
  }));
  const auto queue = open_queue(client);
  for (const auto& lock : locks) {
    mortise_lock_extend_async(lock.get(), queue.get(), 0, 60 * second_ms, nullptr);
  }
  ASSERT_TRUE(eventually([&] { return refused() > 0; }));
  const auto refused_before = refused();
  const auto received_before = received();
  eventually([] { return false; }, 3 * second_ms);
  EXPECT_LT(refused() - refused_before, 400);
  EXPECT_LT(received() - received_before, 200'000);
  frail.heal();
  int held = 0;
  for (const auto& lock : locks) {
    held += mortise_lock_unlock(lock.get(), nullptr) == MORTISE_OK ? 1 : 0;
  }
  EXPECT_GT(held, 100) << "at the two that have lived on";
}

TEST_F(clusters, hazard_27_a_slot_attaches_at_a_server_that_has_forgotten_its_scripts) {
  const auto client = open_client(all->url());
  for (int i = 0; i < 6; ++i) expect_acquired(open_lock(client, "known " + std::to_string(i)));
  for (std::size_t i = 0; i < all->size(); ++i) all->at(i).command({"SCRIPT", "FLUSH"});
  for (int i = 0; i < 6; ++i) expect_acquired(open_lock(client, "new " + std::to_string(i)));
}

TEST_F(clusters, a_server_that_was_checked_and_is_bad_is_named_with_the_finding) {
  const auto owner = all->owner_of(lock_key("order"));
  auto& bad = all->at(owner);
  ASSERT_EQ("OK",
            bad.command({"CONFIG", "SET", "maxmemory", "1gb", "maxmemory-policy", "allkeys-lru"}));
  const auto client = open_client("redis+cluster://" + all->address_of(all->other_master(owner)) +
                                  "?health_check=strict&command_timeout=2s");
  const auto lock = open_lock(client, "order");
  const auto error = new_error();
  EXPECT_EQ(MORTISE_REFUSED, mortise_lock_try(lock.get(), error.get()));
  const std::string message = mortise_error_message(error.get());
  EXPECT_NE(std::string::npos, message.find("maxmemory_policy is bad")) << message;
  EXPECT_NE(std::string::npos, message.find(all->address_of(owner))) << message;
  ASSERT_EQ("OK",
            bad.command({"CONFIG", "SET", "maxmemory", "0", "maxmemory-policy", "noeviction"}));
  expect_acquired(lock);
}

// As in a container or behind NAT.
TEST_F(clusters, an_unreachable_address_of_the_topology_is_named_with_the_remedy) {
  test_cluster inside({.masters = 1, .replicas_each = 0});
  const auto url = inside.url();
  ASSERT_EQ("OK", inside.at(0).command({"CONFIG", "SET", "cluster-announce-port", "1"}));
  const auto client = open_client(url);
  const auto lock = open_lock(client, "order");
  const auto error = new_error();
  EXPECT_EQ(MORTISE_UNREACHABLE, mortise_lock_acquire(lock.get(), second_ms, error.get()));
  const std::string message = mortise_error_message(error.get());
  EXPECT_NE(std::string::npos, message.find("127.0.0.1:1:")) << message;
  EXPECT_NE(std::string::npos, message.find("set cluster-announce-ip and cluster-announce-port"))
      << message;
  EXPECT_NE(std::string::npos, message.find("or give the client the option address_map"))
      << message;
}

TEST_F(clusters, a_client_that_is_closed_leaves_no_record) {
  const auto records = [] {
    std::string found;
    for (std::size_t i = 0; i < all->size(); ++i) {
      found += all->at(i).command({"KEYS", "mortise:client:*"});
    }
    return found;
  };
  auto client = open_client(all->url());
  for (int i = 0; i < 8; ++i) {
    const auto lock = open_lock(client, std::to_string(i));
    expect_acquired(lock);
    expect_released(lock);
  }
  EXPECT_NE("", records());
  client.reset();
  EXPECT_TRUE(eventually([&] { return records().empty(); }, 10 * second_ms)) << records();
}

// The map of a client is up to a minute old, and a master omits replicas that have only just come.
TEST_F(clusters, a_replica_that_the_map_does_not_list_is_found_when_the_seed_dies) {
  const auto master = all->owner_of(lock_key("order"));
  const auto replica = all->replica_of(master);
  all->follow(replica, all->other_master(master));
  const auto client = open_client("redis+cluster://" + all->address_of(master));
  const auto lock = open_lock(client, "order");
  expect_acquired(lock);
  expect_released(lock);
  all->follow(replica, master);
  all->kill(master);
  expect_acquired(lock);
  expect_released(lock);
  EXPECT_EQ(replica, all->owner_of(lock_key("order")));
}

// The health check skips servers that the client is not connected to yet.
TEST_F(clusters, a_client_that_checks_waits_for_none_but_whom_it_has_asked) {
  for (const auto* check_health : {"warn", "strict"}) {
    const auto begin = boot_now();
    const auto client = open_client("redis+cluster://" + address_of_a_master() +
                                    "?command_timeout=60s&health_check=" + check_health);
    EXPECT_LT(ms_since(begin), patience_ms) << check_health;
    expect_acquired(open_lock(client, "order"));
  }
}

// The fence counters of a cluster are those of slots; a client keeps up those of its locks.
TEST_F(clusters, hazard_30_a_fence_counter_is_checked_in_the_slot_of_a_lock) {
  const auto client = open_client(all->url());
  const auto counts = [&](std::string_view expected) {
    auto* const found = mortise_client_check_health(client.get(), nullptr);
    const std::string report = mortise_health_json(found);
    mortise_health_free(found);
    std::size_t count = 0;
    for (auto at = report.find(expected); at != std::string::npos;
         at = report.find(expected, at + 1)) {
      ++count;
    }
    return count;
  };
  const std::string good = R"({"name":"fence","severity":"ok")";
  EXPECT_EQ(3U, counts(good));
  const auto lock = open_lock(client, "order");
  expect_acquired(lock);
  EXPECT_EQ(3U, counts(good));
  const auto fence = "mortise:fence" + cluster::tag_of(cluster::slot_of("{mortise:order}"));
  EXPECT_EQ("1", all->command_at(fence, {"DEL", fence}));
  EXPECT_EQ(2U, counts(good));
  EXPECT_EQ(1U, counts("deleted since this client connected"));
}

// ---- what cannot be used --------------------------------------------------------------------

TEST_F(clusters, a_url_of_one_server_is_refused_with_the_remedy) {
  const auto message = problem_of("redis://" + address_of_a_master(), MORTISE_REFUSED);
  EXPECT_NE(std::string::npos, message.find("give redis+cluster://")) << message;
}

TEST_F(clusters, a_server_of_no_cluster_is_refused_with_the_remedy) {
  const test_server single({.arguments = {"--port", "free"}});
  const auto message =
      problem_of("redis+cluster://127.0.0.1:" + std::to_string(single.port()), MORTISE_REFUSED);
  EXPECT_NE(std::string::npos, message.find("not in cluster mode; give redis://")) << message;
}

TEST_F(clusters, a_cluster_without_slots_is_refused) {
  const test_server empty(
      {.arguments = {"--port", "free", "--cluster-port", "free", "--cluster-enabled", "yes"}});
  const auto message = problem_of(
      "redis+cluster://127.0.0.1:" + std::to_string(empty.port()) + "?command_timeout=1s",
      MORTISE_UNREACHABLE);
  EXPECT_NE(std::string::npos, message.find("no server with slots")) << message;
}

TEST_F(clusters, a_database_that_it_does_not_have_is_refused) {
  const auto message = problem_of(all->url() + "/3", MORTISE_REFUSED);
  EXPECT_NE(std::string::npos, message.find("database 3")) << message;
}

TEST_F(clusters, keys_of_two_slots_are_refused_with_the_remedy) {
  const auto client = open_client(all->url());
  const options_handle options(mortise_options_new());
  ASSERT_EQ(MORTISE_OK, mortise_options_set(options.get(), "protocol", 8, "two_key", 7, nullptr));
  const auto error = new_error();
  const std::string name = "no tag";
  EXPECT_FALSE(rw_handle(
      mortise_rw_new(client.get(), name.data(), name.size(), options.get(), error.get())));
  EXPECT_EQ(MORTISE_INVALID_ARGUMENT, mortise_error_status(error.get()));
  const std::string message = mortise_error_message(error.get());
  EXPECT_NE(std::string::npos, message.find("hash tag")) << message;
  const std::string tagged = "{a} tag";
  EXPECT_TRUE(rw_handle(
      mortise_rw_new(client.get(), tagged.data(), tagged.size(), options.get(), error.get())))
      << mortise_error_message(error.get());
}

TEST_F(clusters, a_server_with_another_password_is_named) {
  const auto owner = all->owner_of(lock_key("order"));
  const auto client = open_client("redis+cluster://" + all->address_of(all->other_master(owner)));
  ASSERT_EQ("OK", all->at(owner).command({"CONFIG", "SET", "requirepass", "another"}));
  const auto lock = open_lock(client, "order");
  const auto error = new_error();
  EXPECT_NE(MORTISE_OK, mortise_lock_acquire(lock.get(), 2 * second_ms, error.get()));
  const std::string message = mortise_error_message(error.get());
  EXPECT_NE(std::string::npos, message.find(all->address_of(owner))) << message;
  EXPECT_NE(std::string::npos, message.find("password")) << message;
  ASSERT_EQ("OK", all->at(owner).command({"CONFIG", "SET", "requirepass", ""}));
  expect_acquired(lock);
}

TEST_F(clusters, credentials_that_all_servers_refuse_are_given_to_no_other) {
  for (std::size_t i = 0; i < all->size(); ++i) {
    ASSERT_EQ("OK",
              all->at(i).command({"ACL", "SETUSER", "heir", "on", ">right", "~*", "&*", "+@all"}));
  }
  const auto owner = all->owner_of(lock_key("order"));
  const auto client =
      open_client("redis+cluster://heir:right@" + all->address_of(all->other_master(owner)));
  EXPECT_EQ(MORTISE_REFUSED, set_credentials(client, "wrong"));
  expect_acquired(open_lock(client, "order"));
  for (std::size_t i = 0; i < all->size(); ++i) {
    ASSERT_EQ("OK", all->at(i).command({"ACL", "SETUSER", "heir", "resetpass", ">next"}));
  }
  EXPECT_EQ(MORTISE_OK, set_credentials(client, "next"));
  for (int i = 0; i < 8; ++i) expect_acquired(open_lock(client, std::to_string(i)));
}

// As amid a rotation of the password.
TEST_F(clusters, credentials_that_one_server_accepts_are_in_force_there) {
  for (std::size_t i = 0; i < all->size(); ++i) {
    ASSERT_EQ("OK", all->at(i).command(
                        {"ACL", "SETUSER", "heir", "reset", "on", ">right", "~*", "&*", "+@all"}));
  }
  const auto client = open_client("redis+cluster://heir:right@" + all->address_of(0));
  std::vector<lock_handle> locks;
  for (int i = 0; i < 8; ++i) locks.push_back(open_lock(client, std::to_string(i)));
  const auto take_and_release_all = [&] {
    for (std::size_t i = 0; i < all->size(); ++i) {
      all->at(i).command({"CLIENT", "KILL", "USER", "heir"});
    }
    for (const auto& lock : locks) {
      expect_acquired(lock);
      expect_released(lock);
    }
  };
  take_and_release_all();
  const auto rotated = all->owner_of(lock_key("0"));
  ASSERT_EQ("OK", all->at(rotated).command({"ACL", "SETUSER", "heir", "resetpass", ">next"}));
  EXPECT_EQ(MORTISE_REFUSED, set_credentials(client, "next"));
  take_and_release_all();  // each server accepts only its own password
  for (std::size_t i = 0; i < all->size(); ++i) {
    ASSERT_EQ("OK", all->at(i).command({"ACL", "SETUSER", "heir", "resetpass", ">next"}));
  }
  EXPECT_EQ(MORTISE_OK, set_credentials(client, "next"));
  take_and_release_all();
}

TEST_F(clusters, the_rights_of_the_page_are_enough) {
  for (std::size_t i = 0; i < all->size(); ++i) {
    for (const auto* page : {"docs/server.md", "docs/cluster.md"}) {
      ASSERT_EQ("OK", all->at(i).command(rights_on_page(page)));
    }
    for (const auto& rule : further_rights_on_page("docs/server.md")) all->at(i).command(rule);
    ASSERT_EQ("OK", all->at(i).command({"ACL", "LOG", "RESET"}));
  }
  const auto places = all->url().substr(std::string("redis+cluster://").size());
  const auto client = open_client("redis+cluster://locker:PASSWORD@" + places);
  const auto other = open_client("redis+cluster://locker:PASSWORD@" + places);
  const auto lock = open_lock(client, "order");
  const auto contended = open_lock(other, "order");
  expect_acquired(lock);
  std::thread later([&] { expect_acquired(contended); });
  const auto key = queue_key("order");
  ASSERT_TRUE(eventually([&] { return all->command_at(key, {"LLEN", key}) == "1"; }));
  expect_released(lock);
  later.join();
  expect_released(contended);
  const auto rw = open_rw(client, "rw");
  EXPECT_EQ(MORTISE_OK, mortise_rw_read_acquire(rw.get(), patience_ms, nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_rw_read_unlock(rw.get(), nullptr));
  for (std::size_t i = 0; i < all->size(); ++i) {
    EXPECT_EQ("", all->at(i).command({"ACL", "LOG"})) << i;
  }
}

TEST_F(clusters, epochs_are_asked_for_with_the_topology_and_may_be_refused) {
  const auto places = all->url().substr(std::string("redis+cluster://").size());
  for (const auto* rights : {"+@all", "-cluster|nodes"}) {
    for (std::size_t i = 0; i < all->size(); ++i) {
      ASSERT_EQ("OK", all->at(i).command({"ACL", "SETUSER", "locker", "on", ">secret", "~*", "&*",
                                          "+@all", rights}));
      ASSERT_EQ("OK", all->at(i).command({"CONFIG", "RESETSTAT"}));
    }
    const auto client = open_client("redis+cluster://locker:secret@" + places);
    expect_acquired(open_lock(client, "order"));
    std::string stats;
    for (std::size_t i = 0; i < all->size(); ++i) {
      stats += all->at(i).command({"INFO", "commandstats"});
    }
    EXPECT_NE(std::string::npos, stats.find("cmdstat_cluster|nodes:")) << rights;
    EXPECT_NE(std::string::npos, stats.find("cmdstat_cluster|slots:")) << rights;
  }
}

// A client that may not raise the tokens of a slot would draw lower ones (hazard 30).
TEST_F(clusters, without_the_right_to_seed_a_slot_nothing_is_asked_of_it) {
  for (std::size_t i = 0; i < all->size(); ++i) {
    ASSERT_EQ("OK", all->at(i).command({"ACL", "SETUSER", "locker", "on", ">secret", "~*", "&*",
                                        "+@all", "-incrby"}));
  }
  const auto places = all->url().substr(std::string("redis+cluster://").size());
  const auto client = open_client("redis+cluster://locker:secret@" + places);
  const auto lock = open_lock(client, "order");
  const auto error = new_error();
  EXPECT_EQ(MORTISE_REFUSED, mortise_lock_try(lock.get(), error.get()));
  const std::string message = mortise_error_message(error.get());
  EXPECT_NE(std::string::npos, message.find("incrby")) << message;
  EXPECT_EQ("0", all->command_at(lock_key("order"), {"EXISTS", lock_key("order")}));
}

}  // namespace
}  // namespace mortise::testing::cluster_test
