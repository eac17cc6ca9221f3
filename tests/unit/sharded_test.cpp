// A client on several servers in memory, among which the names of its locks are shared out.
#include "deployment/sharded/sharded.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <thread>

#include "client/client.hpp"
#include "client/events/event_queue.hpp"
#include "client/handles/lock_handle.hpp"
#include "client/handles/multi_handle.hpp"
#include "deployment/api/rendezvous.hpp"
#include "protocol/listing/query.hpp"
#include "unit/client_fixture.hpp"
#include "unit/memory_deployment.hpp"

namespace mortise::testing::sharded_test {
namespace {

using client::lock_handle;
using lock::step;

class client_on_shards : public client_fixture {
 protected:
  std::shared_ptr<client::client> new_client() {
    return open_client([this](net::reactor& loop, const settings& terms, std::string_view client_id,
                              deployment::listener& listener) {
      return make_sharded(urls(), loop, terms, client_id, listener);
    });
  }
  // A name that this shard speaks for.
  static std::string name_on(std::size_t shard) {
    const deployment::rendezvous places({{"a"}, {"b"}, {"c"}});
    int i = 0;
    while (places.shard_of(std::to_string(i)) != shard) ++i;
    return std::to_string(i);
  }
  std::int64_t count(std::size_t shard, step what) {
    const auto all = servers.at(shard).step_log();
    return std::count(all.begin(), all.end(), what);
  }

  std::array<memory_servers, 3> servers;

 private:
  std::vector<deployment::single_url> urls() {
    std::vector<deployment::single_url> all(3);
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].shard = std::string(1, static_cast<char>('a' + i));
      all[i].make = servers.at(i).maker();
    }
    return all;
  }
};

TEST_F(client_on_shards, each_name_is_asked_of_its_own) {
  const auto user = new_client();
  for (std::size_t i = 0; i < 3; ++i) {
    const auto mutex = new_mutex(*user, name_on(i));
    ASSERT_TRUE(mutex->acquire(whole, forever_ms).ok());
    EXPECT_EQ(servers.at(i).noted_token(name_on(i)), mutex->token()) << "hazard 30";
    ASSERT_TRUE(mutex->unlock(whole.mode).ok());
    EXPECT_EQ(servers.at(i).step_log(), (std::vector{step::try_take, step::release_alone}));
  }
}

TEST_F(client_on_shards, one_that_is_unreachable_is_named_and_the_others_do_not_notice) {
  const auto user = new_client();
  servers[1].go_down();
  for (const std::size_t there : {0U, 2U}) {
    const auto mutex = new_mutex(*user, name_on(there));
    EXPECT_TRUE(mutex->try_acquire(whole).ok());
    EXPECT_TRUE(mutex->unlock(whole.mode).ok());
  }
  const auto mutex = new_mutex(*user, name_on(1));
  const auto result = mutex->acquire(whole, 20);
  EXPECT_EQ(result.code, status::unreachable);
  EXPECT_NE(result.words().find("shard \"b\": the servers are down"), std::string::npos);
  protocol::lock_info info;
  EXPECT_NE(mutex->query(info).words().find("shard \"b\": "), std::string::npos);
}

TEST_F(client_on_shards, all_are_asked_what_is_about_no_lock) {
  const auto user = new_client();
  for (auto& each : servers) each.reply("PING", "+PONG\r\n");
  EXPECT_TRUE(user->ping().ok());
  for (auto& each : servers) EXPECT_EQ(each.command_log(), (std::vector<std::string>{"PING"}));
  servers[0].go_down();
  servers[2].go_down();
  const auto result = user->ping();
  EXPECT_EQ(result.code, status::unreachable);
  EXPECT_EQ(result.words(), "shard \"a\": the servers are down; shard \"c\": the servers are down");
}

TEST_F(client_on_shards, all_get_its_end) {
  const auto user = new_client();
  user->close();
  for (auto& each : servers) {
    EXPECT_EQ(each.command_log(), (std::vector{"DEL mortise:client:" + user->id()}));
  }
}

TEST_F(client_on_shards, all_are_checked_and_get_the_new_login) {
  const auto user = new_client();
  for (auto& each : servers) each.reply("PING", "+PONG\r\n");
  protocol::health found;
  ASSERT_TRUE(user->check_health(found).ok());
  EXPECT_EQ(found.findings.size(), 3U);
  protocol::health last;
  ASSERT_TRUE(user->read_last_health(last).ok());
  EXPECT_EQ(last.findings.size(), 3U);
  EXPECT_TRUE(user->set_credentials("guest", "secret").ok());
  EXPECT_EQ(user->set_credentials("nobody", "secret").code, status::refused);
}

TEST_F(client_on_shards, a_multi_has_members_of_several) {
  const auto user = new_client();
  const auto multi = user->new_multi();
  std::vector<std::shared_ptr<lock_handle>> members;
  for (std::size_t i = 0; i < 3; ++i) {
    members.push_back(new_mutex(*user, name_on(i)));
    ASSERT_TRUE(multi->add(members.back(), whole, "handle").ok());
  }
  ASSERT_TRUE(multi->acquire(forever_ms).ok());
  EXPECT_TRUE(multi->is_held());
  ASSERT_TRUE(multi->unlock().ok());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(count(i, step::try_take), 1);
}

TEST_F(client_on_shards, one_that_is_back_has_only_its_own_names_ask_again) {
  const auto user = new_client();
  const auto rival = new_client();
  std::vector<std::shared_ptr<lock_handle>> handles;
  client::event_queue queue(4, user);
  ASSERT_TRUE(queue.open().ok());
  const std::shared_ptr<client::event_queue> borrowed(&queue, [](auto*) {});
  for (std::size_t i = 0; i < 3; ++i) {
    handles.push_back(new_mutex(*rival, name_on(i)));
    ASSERT_TRUE(handles.back()->acquire(whole, forever_ms).ok());
    handles.push_back(new_mutex(*user, name_on(i)));
    ASSERT_TRUE(handles.back()->acquire_async(borrowed, 0, whole, forever_ms).ok());
    while (count(i, step::acquire) == 0) std::this_thread::yield();
  }
  // The second reports that names are reachable again. Only the last is its own.
  for (const std::size_t of : {0U, 2U, 1U}) servers[1].come_up(name_on(of));
  while (count(1, step::renew) + count(1, step::reacquire) < 2) std::this_thread::yield();
  for (const std::size_t other : {0U, 2U}) {
    EXPECT_EQ(count(other, step::renew), 0);
    EXPECT_EQ(count(other, step::reacquire), 0);
  }
  // The queue receives the grant whichever client releases.
  for (std::size_t i = 0; i < handles.size(); i += 2) {
    ASSERT_TRUE(handles[i]->unlock(whole.mode).ok());
    client::event event;
    ASSERT_EQ(queue.next(time_never, event), status::ok);
    EXPECT_TRUE(event.error.ok()) << event.error.words();
  }
}

}  // namespace
}  // namespace mortise::testing::sharded_test
