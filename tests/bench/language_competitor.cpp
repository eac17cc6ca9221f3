#include "language_competitor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <sstream>

#include "harness.hpp"

namespace mortise::bench {

namespace {

// For the longest request, a million pairs, on a slow machine.
constexpr std::int64_t patience_ns = 600 * ns_per_second;
// How often the threads are counted during a wait for the reply.
constexpr int pause_ms = 10;

}  // namespace

language_competitor::language_competitor(std::vector<std::string> command) {
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (auto& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  std::array<int, 2> ends{};
  require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0, "no sockets");
  pid_ = ::fork();
  require(pid_ >= 0, "fork failed");
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(ends[1], STDIN_FILENO);
    ::dup2(ends[1], STDOUT_FILENO);
    ::execvp(words[0], words.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  socket_ = ends[0];
}

language_competitor::~language_competitor() {
  ::close(socket_);
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::vector<double> language_competitor::ask(const std::string& request) {
  const std::string line = request + "\n";
  const auto sent = ::send(socket_, line.data(), line.size(), MSG_NOSIGNAL);
  require(sent == static_cast<ssize_t>(line.size()), "the other language's program has ended");
  const auto deadline = now_ns() + patience_ns;
  std::string answer;
  while (answer.empty() || answer.back() != '\n') {
    pollfd readable{socket_, POLLIN, 0};
    if (::poll(&readable, 1, pause_ms) == 0) {
      require(now_ns() < deadline, "the other language's program does not answer: " + request);
      most_threads();
      continue;
    }
    std::array<char, 65536> bytes{};
    const auto count = ::read(socket_, bytes.data(), bytes.size());
    require(count > 0, "the other language's program ended when it was asked: " + request);
    answer.append(bytes.data(), static_cast<std::size_t>(count));
  }
  std::istringstream text(answer);
  std::vector<double> numbers;
  for (double number = 0; text >> number;) numbers.push_back(number);
  require(text.eof(), "the other language's program answered: " + answer);
  return numbers;
}

double language_competitor::time_ns(const std::string& request) {
  const auto start = now_ns();
  ask(request);
  return static_cast<double>(now_ns() - start);
}

double language_competitor::cpu_ns(const std::string& request) {
  clockid_t clock{};
  require(::clock_getcpuclockid(pid_, &clock) == 0, "the other language's program has ended");
  const auto used_ns = [&] {
    timespec used{};
    ::clock_gettime(clock, &used);
    return static_cast<double>(used.tv_sec) * ns_per_second + static_cast<double>(used.tv_nsec);
  };
  const auto before = used_ns();
  ask(request);
  return used_ns() - before;
}

std::int64_t language_competitor::memory_bytes() {
  const auto used = ask("memory");
  require(used.size() == 1, "the other language's program does not know its memory");
  return resident_bytes(pid_) + static_cast<std::int64_t>(used.front());
}

std::size_t language_competitor::threads() const {
  const std::filesystem::directory_iterator tasks("/proc/" + std::to_string(pid_) + "/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

std::size_t language_competitor::most_threads() {
  most_threads_ = std::max(most_threads_, threads());
  return most_threads_;
}

}  // namespace mortise::bench
