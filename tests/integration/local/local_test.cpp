// `local:`: one private server for all processes that race for it, and none without clients.
#include <random>

#include "integration/local/local_fixture.hpp"
#include "local/local_resolver.hpp"
#include "support/handles.hpp"

namespace mortise::local::local_test {
namespace {

TEST_F(local_server_test, sixteen_processes_start_one_server) {
  const auto found = find_server_from(16);
  ASSERT_NE(found, "");
  EXPECT_EQ(found, run_id());
  EXPECT_EQ(server_count(), 1U);
  struct stat folder {};
  ASSERT_EQ(::stat(settings_.folder.c_str(), &folder), 0);
  EXPECT_EQ(folder.st_mode & 0777U, 0700U);
}

TEST_F(local_server_test, survives_who_started_it_and_the_terminals_signals) {
  child starter([this] { return find_server(); }, child::afterwards::lives_on);
  const auto before = starter.answer();
  // A signal may take its time, so a signal that has not arrived proves nothing.
  for (const pid_t process : processes_with(base_)) {
    EXPECT_NE(::getpgid(process), starter.group()) << command_line(std::to_string(process));
  }
  starter.kill_group(SIGINT);
  starter.kill_group(SIGHUP);
  starter.kill();
  starter.wait();
  EXPECT_EQ(find_server(), before);
  EXPECT_EQ(server_count(), 1U);
  EXPECT_TRUE(waits_for_end()) << "nobody looks after it any more";
}

// The lock of the start is inherited by the supervisor: a second server would be started otherwise.
TEST_F(local_server_test, a_starter_killed_in_the_middle_leaves_one_server) {
  std::mt19937 random(20240229);
  for (int round = 0; round < 12; ++round) {
    {
      child starter([this] { return find_server(); });
      ::usleep(random() % 30'000);  // anywhere in the start, which takes about as long
      starter.kill();
    }
    EXPECT_NE(find_server_from(4), "");
    EXPECT_EQ(server_count(), 1U);
    ASSERT_TRUE(kill_server());
  }
}

// The path of a socket, as a URL has it.
std::string escaped(const std::string& path) {
  constexpr char digits[] = "0123456789ABCDEF";
  std::string text;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '/') text += c;
    if (c != '/') text.append({'%', digits[byte / 16], digits[byte % 16]});
  }
  return text;
}

TEST_F(local_server_test, ends_when_idle_and_starts_again) {
  ASSERT_TRUE(ensure().ok());
  const auto before = run_id();
  // Some keys outlive the clients.
  for (const char* query : {"", "?db=15", "?namespace=billing"}) {
    const auto client = testing::open_client("unix://" + escaped(socket_path_) + query);
    const auto lock = testing::open_lock(client, "report");
    testing::expect_acquired(lock);
    testing::expect_released(lock);
  }
  EXPECT_TRUE(waits_for_end());
  EXPECT_NE(find_server(), before);
}

TEST_F(local_server_test, stays_while_somebody_is_connected) {
  ASSERT_TRUE(ensure().ok());
  raw_client client(socket_path_);
  // Far more looks of the supervisor than it would take to find the server idle.
  const auto connections = [&client] {
    const auto text = client.command({"INFO", "stats"});
    return std::stoi(text.substr(text.find("total_connections_received:") + 27));
  };
  const int first = connections();
  EXPECT_TRUE(eventually([&] { return connections() >= first + 6; }));
  EXPECT_EQ(client.command({"PING"}), "PONG");
}

TEST_F(local_server_test, stays_while_a_lock_is_kept) {
  ASSERT_TRUE(ensure().ok());
  const time_ns before = boot_now();
  {
    raw_client client(socket_path_);
    client.command({"SELECT", "3"});
    client.command({"SET", "lock", "owner", "PX", "5000"});
  }
  EXPECT_TRUE(waits_for_end());
  EXPECT_GE(boot_now() - before, 5 * ns_per_s);
}

// Clients that come just when the server ends. A client that found a running server reaches it. No
// confirmed write is lost, whichever way the client found the server.
TEST_F(local_server_test, nothing_is_lost_when_clients_race_with_its_end) {
  std::mt19937 random(20240301);
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(ensure().ok());
    // About two looks after the last connection it ends.
    const int start_ms = 1'900 + static_cast<int>(random() % 300);
    std::vector<std::unique_ptr<child>> children;
    for (int i = 0; i < 8; ++i) {
      const bool is_ensured = i % 2 == 0;
      const int wait_ms = start_ms + i * 15;
      children.push_back(std::make_unique<child>([this, is_ensured, wait_ms, i]() -> std::string {
        ::poll(nullptr, 0, wait_ms);
        if (is_ensured && !ensure().ok()) return "not ensured";
        try {
          raw_client client(settings_.folder + "/local.sock");
          return client.command({"SET", "lock" + std::to_string(i), "owner", "PX", "20000"});
        } catch (const std::exception&) {
          return is_ensured ? "ensured, but not there" : "not there";
        }
      }));
    }
    std::vector<std::string> answers;
    answers.reserve(children.size());
    for (const auto& one : children) answers.push_back(one->answer());
    ASSERT_TRUE(ensure().ok());
    raw_client client(socket_path_);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const auto key = "lock" + std::to_string(i);
      const bool was_ensured = i % 2 == 0;
      EXPECT_TRUE(!was_ensured || answers[i] == "OK") << answers[i];
      const std::string expected = answers[i] == "OK" ? "owner" : "(nil)";
      EXPECT_EQ(client.command({"GET", key}), expected) << "round " << round;
    }
    EXPECT_EQ(client.command({"FLUSHALL"}), "OK");
  }
}

TEST_F(local_server_test, all_come_together_again_after_its_end) {
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(ensure().ok());
    const auto before = run_id();
    // Its supervisor moves the socket before that, and may move it back.
    ASSERT_TRUE(eventually([this] { return server_count() == 0; }));
    EXPECT_NE(find_server_from(12), before);
    EXPECT_EQ(server_count(), 1U);
  }
}

TEST_F(local_server_test, a_dead_servers_socket_is_replaced) {
  ASSERT_TRUE(ensure().ok());
  const auto before = run_id();
  ASSERT_TRUE(kill_server());
  EXPECT_TRUE(std::filesystem::exists(socket_path_));
  EXPECT_NE(find_server_from(4), before);
}

TEST_F(local_server_test, a_socket_that_a_killed_supervisor_moved_is_brought_back) {
  ASSERT_TRUE(ensure().ok());
  const auto before = run_id();
  const auto server = servers();
  ASSERT_EQ(server.size(), 1U);
  for (const pid_t process : processes_with(base_)) {
    if (process != server.front()) ::kill(process, SIGKILL);
  }
  std::filesystem::rename(socket_path_, settings_.folder + "/local.hidden");
  EXPECT_EQ(find_server(), before);
}

TEST_F(local_server_test, ends_when_its_folder_is_removed) {
  ASSERT_TRUE(ensure().ok());
  raw_client client(socket_path_);
  std::filesystem::remove_all(settings_.folder);
  EXPECT_TRUE(waits_for_end());
  EXPECT_EQ(client.command({"PING"}), "(closed)");
}

TEST_F(local_server_test, a_new_server_in_a_new_folder_ends_the_old_one_only) {
  ASSERT_TRUE(ensure().ok());
  const auto before = run_id();
  std::filesystem::remove_all(settings_.folder);
  const auto after = find_server();
  EXPECT_NE(after, before);
  raw_client client(socket_path_);
  EXPECT_TRUE(eventually([this] { return server_count() == 1; }));
  EXPECT_EQ(run_id(), after);
}

TEST_F(local_server_test, inherits_nothing_of_its_starter) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);  // without O_CLOEXEC, as in many programs
  settings_.idle_s = 3600;     // so that it is not the end of all that closes it
  ASSERT_TRUE(ensure().ok());
  ::close(ends[1]);
  pollfd end{ends[0], POLLIN, 0};
  ASSERT_EQ(::poll(&end, 1, 10'000), 1);
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0);
  ::close(ends[0]);
}

TEST_F(local_server_test, works_where_children_are_reaped_by_themselves) {
  struct sigaction before {};
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  ASSERT_EQ(::sigaction(SIGCHLD, &ignored, &before), 0);
  EXPECT_TRUE(ensure().ok());
  ::sigaction(SIGCHLD, &before, nullptr);
  EXPECT_EQ(server_count(), 1U);
}

TEST_F(local_server_test, leaves_no_child_behind) {
  ASSERT_TRUE(ensure().ok());
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(local_server_test, resolves_to_its_socket) {
  ::setenv("MORTISE_LOCAL_DIR", settings_.folder.c_str(), 1);
  ::setenv("MORTISE_LOCAL_IDLE_S", "1", 1);
  const auto resolver = resolver_for_local();
  ::unsetenv("MORTISE_LOCAL_DIR");
  ::unsetenv("MORTISE_LOCAL_IDLE_S");
  EXPECT_FALSE(resolver->is_immediate());
  const auto found = resolver->resolve(boot_now() + start_limit_ns);
  ASSERT_TRUE(found.result.ok()) << found.result.message;
  ASSERT_EQ(found.addresses.size(), 1U);
  EXPECT_EQ(found.addresses.front().text(), "unix://" + settings_.folder + "/local.sock");
}

}  // namespace
}  // namespace mortise::local::local_test
