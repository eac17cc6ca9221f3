#include "child.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <stdexcept>

namespace mortise::testing {

namespace {

constexpr int patience_ms = 20'000;

}  // namespace

child_end::~child_end() { ::close(fd_); }

void child_end::send(const std::string& line) {
  const auto bytes = line + '\n';
  for (std::size_t sent = 0; sent < bytes.size();) {
    const auto count = ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    sent += static_cast<std::size_t>(count);
  }
}

std::string child_end::receive() {
  for (;;) {
    const auto end = input_.find('\n');
    if (end != std::string::npos) {
      auto line = input_.substr(0, end);
      input_.erase(0, end + 1);
      return line;
    }
    pollfd wait{fd_, POLLIN, 0};
    const int ready = ::poll(&wait, 1, patience_ms);
    if (ready == 0) return "(silence)";
    if (ready < 0) continue;
    char chunk[4096];
    const auto count = ::recv(fd_, chunk, sizeof chunk, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return "(gone)";
    input_.append(chunk, static_cast<std::size_t>(count));
  }
}

bool child_end::has_line() const {
  if (input_.find('\n') != std::string::npos) return true;
  pollfd wait{fd_, POLLIN, 0};
  return ::poll(&wait, 1, 0) == 1;
}

child::child(const std::function<void(child_end& test)>& body) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::runtime_error("socketpair failed");
  }
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ > 0) {
    ::close(ends[1]);
    end_ = std::make_unique<child_end>(ends[0]);
    return;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  ::close(ends[0]);
  {
    child_end test(ends[1]);
    try {
      body(test);
    } catch (const std::exception& problem) {
      test.send(std::string("exception: ") + problem.what());
    }
  }
  ::_exit(0);
}

child::~child() { kill(); }

void child::pause() {
  ::kill(pid_, SIGSTOP);
  while (::waitpid(pid_, nullptr, WUNTRACED) < 0 && errno == EINTR) {
  }
}

void child::resume() { ::kill(pid_, SIGCONT); }

void child::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

}  // namespace mortise::testing
