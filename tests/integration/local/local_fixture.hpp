// What the tests of `local:` share: a folder of their own in which servers come and go, and child
// processes that race for them.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "local/local_server.hpp"
#include "support/server.hpp"

namespace mortise::local {

using testing::raw_client;

inline constexpr time_ns start_limit_ns = 20 * ns_per_s;
inline constexpr time_ns end_limit_ns = 60 * ns_per_s;

// Checks a condition again and again until it holds, for a generous time.
inline bool eventually(const std::function<bool()>& condition) {
  const time_ns limit = boot_now() + end_limit_ns;
  while (!condition()) {
    if (boot_now() >= limit) return false;
    ::poll(nullptr, 0, 5);
  }
  return true;
}

// Plain reading, because a process that ends meanwhile makes it fail.
inline std::string command_line(const std::string& process) {
  std::string line(8192, '\0');
  const int fd = ::open(("/proc/" + process + "/cmdline").c_str(), O_RDONLY | O_CLOEXEC);
  const auto count = fd < 0 ? -1 : ::read(fd, line.data(), line.size());
  if (fd >= 0) ::close(fd);
  line.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
  return line;
}

// The processes that have `text` among their arguments: a server, its supervisor, a look of the
// supervisor.
inline std::vector<pid_t> processes_with(const std::string& text) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (command_line(name).find(text) != std::string::npos) found.push_back(std::stoi(name));
  }
  return found;
}

// A process of its own, whose result can be awaited.
class child {
 public:
  enum class afterwards { ends, lives_on };

  // `body` returns the result.
  explicit child(const std::function<std::string()>& body, afterwards then = afterwards::ends) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
    read_end_ = ends[0];
    pid_ = ::fork();
    if (pid_ != 0) {
      ::close(ends[1]);
      return;
    }
    // In a process group of its own, for tests that signal the whole group as a terminal does.
    ::setpgid(0, 0);
    const std::string answer = body();
    const auto written = ::write(ends[1], answer.data(), answer.size());
    ::close(ends[1]);
    if (then == afterwards::lives_on) ::pause();
    ::_exit(written == static_cast<ssize_t>(answer.size()) ? 0 : 1);
  }
  ~child() {
    ::kill(pid_, SIGKILL);
    wait();
    ::close(read_end_);
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  [[nodiscard]] pid_t group() const { return pid_; }
  void kill_group(int signal) const { ::kill(-pid_, signal); }
  void kill() const { ::kill(pid_, SIGKILL); }
  void wait() {
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  std::string answer() {
    std::string text;
    char chunk[256];
    for (;;) {
      const auto count = ::read(read_end_, chunk, sizeof chunk);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return text;
      text.append(chunk, static_cast<std::size_t>(count));
    }
  }

 private:
  pid_t pid_ = -1;
  int read_end_ = -1;
};

class local_server_test : public ::testing::Test {
 protected:
  local_server_test() {
    char directory[] = "/tmp/mortise-local-XXXXXX";
    if (::mkdtemp(directory) == nullptr)
      throw std::system_error(errno, std::generic_category(), directory);
    base_ = directory;
    settings_ = local_settings::from_environment();
    settings_.folder = base_ + "/it's here";
    settings_.idle_s = 1;
  }
  ~local_server_test() override {
    // Again and again: a supervisor may just be starting something.
    const bool is_clean = eventually([this] {
      for (const pid_t process : processes_with(base_)) ::kill(process, SIGKILL);
      return processes_with(base_).empty();
    });
    EXPECT_TRUE(is_clean) << "processes are left behind for " << base_;
    std::error_code ignored;
    std::filesystem::remove_all(base_, ignored);
  }

  outcome ensure() { return ensure(settings_); }
  outcome ensure(const local_settings& settings) {
    return ensure_local_server(settings, boot_now() + start_limit_ns, socket_path_);
  }
  // Identifies a server: each draws it when it starts.
  [[nodiscard]] std::string run_id() const {
    raw_client client(settings_.folder + "/local.sock");
    const auto text = client.command({"INFO", "server"});
    const auto start = text.find("run_id:");
    return start == std::string::npos ? "" : text.substr(start + 7, 40);
  }
  // What one of several processes finds: the server's run_id, or what went wrong.
  std::string find_server() {
    const auto result = ensure();
    if (!result.ok()) return result.message;
    try {
      return run_id();
    } catch (const std::exception& problem) {
      return problem.what();
    }
  }
  // The one server that all of several processes find at once; "" after a failure.
  std::string find_server_from(int count) {
    std::vector<std::unique_ptr<child>> children;
    for (int i = 0; i < count; ++i) {
      children.push_back(std::make_unique<child>([this] { return find_server(); }));
    }
    std::set<std::string> answers;
    for (const auto& one : children) answers.insert(one->answer());
    const bool is_one = answers.size() == 1 && answers.begin()->size() == 40;
    EXPECT_TRUE(is_one) << ::testing::PrintToString(answers);
    return is_one ? *answers.begin() : "";
  }
  // A server shows its socket in its title. No other process has a title of this form.
  [[nodiscard]] std::vector<pid_t> servers() const {
    return processes_with("unixsocket:" + settings_.folder);
  }
  [[nodiscard]] std::size_t server_count() const { return servers().size(); }
  // A dying process loses its arguments before its sockets, hence the wait for those as well.
  [[nodiscard]] bool kill_server() const {
    for (const pid_t process : servers()) ::kill(process, SIGKILL);
    return eventually([this] {
      try {
        raw_client(settings_.folder + "/local.sock");
        return false;
      } catch (const std::runtime_error&) {
        return server_count() == 0;
      }
    });
  }
  bool waits_for_end() {
    return eventually([this] { return processes_with(base_).empty(); });
  }
  void write_program(const std::string& name, const std::string& text) const {
    std::ofstream(base_ + "/" + name) << text;
    ::chmod((base_ + "/" + name).c_str(), 0755);
  }

  std::string base_;
  local_settings settings_;
  std::string socket_path_;
};

}  // namespace mortise::local
