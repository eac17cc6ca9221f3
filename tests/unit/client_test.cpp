// The client with all that is in it, on servers in memory: nothing of it knows a connection.
#include "client/client.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <latch>
#include <thread>
#include <vector>

#include "client/events/event_queue.hpp"
#include "client/handles/lock_handle.hpp"
#include "client/handles/multi_handle.hpp"
#include "net/threads/thread.hpp"
#include "protocol/listing/query.hpp"
#include "unit/client_fixture.hpp"
#include "unit/memory_deployment.hpp"

namespace mortise::testing::client_test {
namespace {

using client::lock_handle;
using lock::lock_kind;
using lock::step;

class client_on_memory : public client_fixture {
 protected:
  std::shared_ptr<client::client> new_client(std::int64_t command_timeout_ms = 3000) {
    settings defaults;
    defaults.command_timeout_ms = command_timeout_ms;
    return open_client(servers.maker(), std::move(defaults));
  }
  std::int64_t count(step what) {
    const auto all = servers.step_log();
    return std::count(all.begin(), all.end(), what);
  }
  bool has_sent(const std::string& line) {
    const auto all = servers.command_log();
    return std::any_of(all.begin(), all.end(),
                       [&](const auto& entry) { return entry.starts_with(line); });
  }

  memory_servers servers;
};

TEST_F(client_on_memory, acquires_and_gives_back) {
  const auto user = new_client();
  const auto mutex = new_mutex(*user, "a");
  ASSERT_TRUE(mutex->acquire(whole, forever_ms).ok());
  EXPECT_TRUE(mutex->is_held());
  EXPECT_GT(mutex->token(), 1'800'000'000'000'000);
  EXPECT_TRUE(mutex->unlock(whole.mode).ok());
  EXPECT_EQ(servers.step_log(), (std::vector{step::try_take, step::release_alone}));
}

TEST_F(client_on_memory, waits_for_another_client_and_is_notified_by_its_inbox) {
  const auto first = new_client();
  const auto second = new_client();
  const auto held = new_mutex(*first, "a");
  const auto contended = new_mutex(*second, "a");
  ASSERT_TRUE(held->acquire(whole, forever_ms).ok());
  client::event_queue queue(4, second);
  ASSERT_TRUE(queue.open().ok());
  const std::shared_ptr<client::event_queue> borrowed(&queue, [](auto*) {});
  ASSERT_TRUE(contended->acquire_async(borrowed, 7, whole, forever_ms).ok());
  while (count(step::acquire) == 0) std::this_thread::yield();
  ASSERT_TRUE(held->unlock(whole.mode).ok());
  client::event event;
  ASSERT_EQ(queue.next(time_never, event), status::ok);
  EXPECT_EQ(event.kind, client::event_kind::acquired);
  EXPECT_EQ(event.tag, 7);
  EXPECT_GT(event.token, held->token());
  EXPECT_TRUE(contended->is_held());
  EXPECT_TRUE(contended->unlock(whole.mode).ok());
}

TEST_F(client_on_memory, handles_share_a_gate_unless_one_is_strict) {
  const auto user = new_client();
  const auto one = new_mutex(*user, "a");
  const auto other = new_mutex(*user, "a");
  const auto strict = new_mutex(*user, "a", true);
  const auto gate = user->gates().next(0);
  ASSERT_TRUE(gate);
  EXPECT_EQ(gate->handles.load(), 2);
  ASSERT_TRUE(one->acquire(whole, forever_ms).ok());
  EXPECT_EQ(strict->try_acquire(whole).code, status::not_acquired);
  EXPECT_EQ(count(step::try_take), 2) << "it competes by itself";
  std::thread waiter([&] { EXPECT_TRUE(other->acquire(whole, forever_ms).ok()); });
  EXPECT_TRUE(one->unlock(whole.mode).ok());
  waiter.join();
  EXPECT_TRUE(other->unlock(whole.mode).ok());
}

TEST_F(client_on_memory, forgets_a_gate_that_is_at_rest) {
  const auto user = new_client();
  auto mutex = new_mutex(*user, "a");
  const auto other = new_mutex(*user, "b");
  ASSERT_TRUE(mutex->acquire(whole, forever_ms).ok());
  const auto gate_id = user->gates().next(0)->id();
  mutex.reset();  // the release ends its gate
  while (user->gates().next(0)->id() == gate_id) std::this_thread::yield();
  EXPECT_EQ(user->gates().find(gate_id), nullptr) << "what is meant for it is told to nobody else";
  EXPECT_EQ(count(step::release_alone) + count(step::release), 1);
}

TEST_F(client_on_memory, a_multi_has_all_or_nothing) {
  const auto user = new_client();
  const auto rival = new_client();
  const auto held = new_mutex(*rival, "b");
  ASSERT_TRUE(held->acquire(whole, forever_ms).ok());
  const auto multi = user->new_multi();
  const auto a = new_mutex(*user, "a");
  const auto b = new_mutex(*user, "b");
  ASSERT_TRUE(multi->add(a, whole, "handle").ok());
  ASSERT_TRUE(multi->add(b, whole, "handle").ok());
  EXPECT_EQ(multi->try_acquire().code, status::not_acquired);
  EXPECT_FALSE(a->is_held());
  ASSERT_TRUE(held->unlock(whole.mode).ok());
  ASSERT_TRUE(multi->acquire(forever_ms).ok());
  EXPECT_TRUE(a->is_held() && b->is_held());
  EXPECT_TRUE(multi->unlock().ok());
}

TEST_F(client_on_memory, says_why_the_servers_cannot_be_asked) {
  const auto user = new_client(20);  // for as long it is asked again
  const auto mutex = new_mutex(*user, "a");
  servers.go_down();
  const auto result = mutex->try_acquire(whole);
  EXPECT_EQ(result.code, status::unreachable);
  EXPECT_NE(result.words().find("the servers are down"), std::string::npos);
  EXPECT_EQ(user->ping().code, status::unreachable);
}

TEST_F(client_on_memory, queries_and_then_asks_where_the_holders_are) {
  const auto user = new_client();
  const auto mutex = new_mutex(*user, "a");
  servers.reply("EVALSHA",
                "*9\r\n*1\r\n$13\r\nm1:c:1.1:l:33\r\n:500\r\n$2\r\n17\r\n:0\r\n:1\r\n:0\r\n*0\r\n"
                ":0\r\n:0\r\n");
  servers.reply("MGET", "*1\r\n$8\r\n42 there\r\n");
  protocol::lock_info info;
  ASSERT_TRUE(mutex->query(info).ok());
  ASSERT_EQ(info.entries.size(), 1U);
  EXPECT_EQ(info.latest_token, 17);
  EXPECT_EQ(info.time_left_ms, 500);
  EXPECT_EQ(info.entries[0].label, "l");
  EXPECT_EQ(info.entries[0].pid, 42);
  EXPECT_EQ(info.entries[0].host, "there");
  EXPECT_TRUE(has_sent("MGET mortise:client:c"));
}

TEST_F(client_on_memory, asks_again_only_for_the_names_that_have_come_up) {
  const auto user = new_client();
  const auto rival = new_client();
  std::vector<std::shared_ptr<lock_handle>> handles;
  client::event_queue queue(4, user);
  ASSERT_TRUE(queue.open().ok());
  const std::shared_ptr<client::event_queue> borrowed(&queue, [](auto*) {});
  for (const auto* name : {"a", "b", "c"}) {
    handles.push_back(new_mutex(*rival, name));
    ASSERT_TRUE(handles.back()->acquire(whole, forever_ms).ok());
    handles.push_back(new_mutex(*user, name));
    ASSERT_TRUE(handles.back()->acquire_async(borrowed, 0, whole, forever_ms).ok());
  }
  while (count(step::acquire) < 3) std::this_thread::yield();
  servers.come_up("none of them");
  servers.come_up("b");
  // Each client has received the message before its next events.
  ASSERT_TRUE(new_mutex(*user, "d")->try_acquire(whole).ok());
  ASSERT_TRUE(new_mutex(*rival, "e")->try_acquire(whole).ok());
  // The holder checks its hold, and the waiter its place in the queue.
  EXPECT_EQ(count(step::renew), 1);
  EXPECT_EQ(count(step::reacquire), 1);
}

// After a server pause, in which each handle had an open request.
TEST_F(client_on_memory, keeps_no_more_requests_than_it_needs) {
  constexpr int handles = 8;
  const auto user = new_client();
  std::vector<std::shared_ptr<lock_handle>> all(handles);
  for (auto& one : all) {
    ASSERT_TRUE(user->new_handle(lock_kind::semaphore, "s", settings{}, handles, one).ok());
  }
  client::event_queue queue(handles, user);
  ASSERT_TRUE(queue.open().ok());
  const std::shared_ptr<client::event_queue> borrowed(&queue, [](auto*) {});
  std::latch results_come{1};
  servers.hold_results(results_come);
  // The first is granted the lock of these servers, which has no permits. The others give up.
  for (const auto& one : all) {
    const auto timeout_ms = one == all.front() ? forever_ms : 50;
    ASSERT_TRUE(one->acquire_async(borrowed, 1, whole, timeout_ms).ok());
  }
  EXPECT_EQ(servers.request_count(), handles);
  results_come.count_down();
  for (int i = 0; i < handles; ++i) {
    client::event event;
    ASSERT_EQ(queue.next(time_never, event), status::ok);
  }
  ASSERT_TRUE(all.front()->unlock(whole.mode).ok());
  for (int i = 0; i < handles; ++i) {
    ASSERT_TRUE(all.front()->acquire(whole, forever_ms).ok());
    ASSERT_TRUE(all.front()->unlock(whole.mode).ok());
  }
  EXPECT_LE(servers.request_count(), 2);
}

TEST_F(client_on_memory, resizes_a_semaphore) {
  const auto user = new_client();
  std::shared_ptr<lock_handle> semaphore;
  ASSERT_TRUE(user->new_handle(lock_kind::semaphore, "s", settings{}, 3, semaphore).ok());
  servers.reply("EVALSHA", "*1\r\n:3\r\n");
  EXPECT_TRUE(semaphore->resize(5).ok());
  EXPECT_TRUE(has_sent("EVALSHA"));
}

TEST_F(client_on_memory, returns_the_result_of_a_health_check) {
  const auto user = new_client();
  protocol::health found;
  ASSERT_TRUE(user->read_last_health(found).ok());
  EXPECT_TRUE(found.findings.empty());
  ASSERT_TRUE(user->check_health(found).ok());
  EXPECT_EQ(found.worst()->server, "memory");
  protocol::health last;
  ASSERT_TRUE(user->read_last_health(last).ok());
  EXPECT_EQ(last.findings.size(), 1U);
  servers.go_down();
  EXPECT_EQ(user->check_health(found).code, status::unreachable);
}

TEST_F(client_on_memory, gives_others_to_log_in_with) {
  const auto user = new_client();
  EXPECT_TRUE(user->set_credentials("guest", "secret").ok());
  EXPECT_EQ(user->set_credentials("nobody", "secret").code, status::refused);
}

TEST_F(client_on_memory, tells_every_server_of_scripts_and_of_its_end) {
  const auto user = new_client();
  servers.reply("PING", "+PONG\r\n");
  EXPECT_TRUE(user->ping().ok());
  std::shared_ptr<lock_handle> semaphore;
  ASSERT_TRUE(user->new_handle(lock_kind::semaphore, "s", settings{}, 3, semaphore).ok());
  EXPECT_TRUE(has_sent("SCRIPT LOAD"));
  EXPECT_FALSE(has_sent("DEL"));
  user->close();
  EXPECT_TRUE(has_sent("DEL mortise:client:" + user->id()));
  EXPECT_EQ(user->ping().code, client_freed().code);
}

// More than fit on the stack of the I/O thread, if each destroyed the next one.
TEST_F(client_on_memory, the_unread_events_of_a_freed_queue_need_no_stack) {
  constexpr int calls = 8000;
  const auto user = new_client(600'000);
  const auto mutex = new_mutex(*user, "a");
  ASSERT_TRUE(mutex->acquire(whole, forever_ms).ok());
  const auto queue = std::make_shared<client::event_queue>(calls);
  ASSERT_TRUE(queue->open().ok());
  servers.go_down();
  for (int i = 0; i < calls; ++i) ASSERT_TRUE(mutex->extend_async(queue, i, 0).ok());
  queue->close();
  EXPECT_GT(mutex.use_count(), calls);
  const auto close = [](void* closed) -> void* {
    static_cast<client::client*>(closed)->close();  // ends all calls at once
    return nullptr;
  };
  pthread_t thread{};
  ASSERT_EQ(net::start_thread(thread, std::size_t{128} << 10U, close, user.get()), 0);
  EXPECT_EQ(::pthread_join(thread, nullptr), 0);
  EXPECT_EQ(mutex.use_count(), 1);
}

// exit() begins to close all clients, and another thread frees this one meanwhile.
TEST_F(client_on_memory, a_client_that_began_to_close_ends_in_full_when_it_is_freed) {
  auto user = std::make_shared<client::client>(settings{});
  ASSERT_TRUE(user->open(servers.maker()).ok());
  ASSERT_TRUE(user->begin_close());
  EXPECT_EQ(servers.longest_linger(), 0);
  user.reset();
  EXPECT_EQ(servers.longest_linger(), client::client::linger_ns);
}

TEST_F(client_on_memory, a_url_is_read_before_anybody_is_asked) {
  client::client user{settings{}};
  EXPECT_EQ(user.open("redis+cluster://a,b?shard=c").code, status::invalid_argument);
  EXPECT_EQ(user.open("shard:redis://a,redis+cluster://b").code, status::invalid_argument);
  EXPECT_EQ(user.open("redis://host?lease=never").code, status::invalid_argument);
}

}  // namespace
}  // namespace mortise::testing::client_test
