#include "delay_proxy.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <exception>
#include <unordered_map>

#include "harness.hpp"
#include "stream_socket.hpp"

namespace mortise::bench {

namespace {

// Bytes on their way. All are delayed alike, so the queue is in the order of delivery.
struct packet {
  std::int64_t due_ns;
  int to;
  std::string bytes;
};

class relay {
 public:
  relay(int listener, std::string server_url, std::int64_t delay_ns)
      : listener_(listener), server_url_(std::move(server_url)), delay_ns_(delay_ns) {
    watch(listener_);
  }

  [[noreturn]] void run() {
    std::array<epoll_event, 256> events{};
    for (;;) {
      timespec wait{};
      const auto* limit = time_to_next(wait);
      // Its time-out has nanoseconds; epoll_wait's has milliseconds.
      const int count = ::epoll_pwait2(poll_, events.data(), events.size(), limit, nullptr);
      for (int i = 0; i < count; ++i) {
        const int fd = events[static_cast<std::size_t>(i)].data.fd;
        fd == listener_ ? accept_one() : receive(fd);
      }
      deliver();
    }
  }

 private:
  void watch(int fd) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    require(::epoll_ctl(poll_, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl failed");
  }

  const timespec* time_to_next(timespec& wait) const {
    if (on_the_way_.empty()) return nullptr;
    const auto left = std::max<std::int64_t>(0, on_the_way_.front().due_ns - now_ns());
    wait = {left / ns_per_second, left % ns_per_second};
    return &wait;
  }

  void accept_one() {
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    int server = -1;
    try {
      server = connect_to(server_url_);
    } catch (const std::exception&) {
      ::close(client);  // as a server does that is not there
      return;
    }
    const int on = 1;
    ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // a unix socket needs none
    peers_[client] = server;
    peers_[server] = client;
    watch(client);
    watch(server);
  }

  void receive(int fd) {
    const auto found = peers_.find(fd);
    if (found == peers_.end()) return;
    const auto count = ::recv(fd, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (count > 0) {
      on_the_way_.push_back({now_ns() + delay_ns_, found->second,
                             std::string(buffer_.data(), static_cast<std::size_t>(count))});
    } else if (count == 0 || errno != EAGAIN) {
      disconnect(fd, found->second);
    }
  }

  void disconnect(int fd, int peer) {
    for (auto& item : on_the_way_) {
      if (item.to == fd || item.to == peer) item.to = -1;
    }
    peers_.erase(fd);
    peers_.erase(peer);
    ::close(fd);
    ::close(peer);
  }

  void deliver() {
    const auto now = now_ns();
    while (!on_the_way_.empty() && on_the_way_.front().due_ns <= now) {
      const auto& item = on_the_way_.front();
      if (item.to >= 0) send_all(item.to, item.bytes.data(), item.bytes.size());
      on_the_way_.pop_front();
    }
  }

  int listener_;
  std::string server_url_;
  std::int64_t delay_ns_;
  int poll_ = ::epoll_create1(EPOLL_CLOEXEC);
  std::unordered_map<int, int> peers_;
  std::deque<packet> on_the_way_;
  std::array<char, 65536> buffer_{};
};

std::string new_path() {
  static int number = 0;
  return "/tmp/mortise-bench-" + std::to_string(::getpid()) + "-" + std::to_string(++number);
}

}  // namespace

void relay_between(int listener, const std::string& server_url, std::int64_t one_way_ns) {
  // By default the kernel may wake a sleeper 50 us late.
  ::prctl(PR_SET_TIMERSLACK, 1);
  relay(listener, server_url, one_way_ns).run();
}

delay_proxy::delay_proxy(const std::string& server_url, std::int64_t one_way_ns)
    : path_(new_path()),
      listener_(listen_on(path_)),
      relay_([&] { relay_between(listener_, server_url, one_way_ns); }) {}

delay_proxy::~delay_proxy() {
  ::close(listener_);
  ::unlink(path_.c_str());
}

}  // namespace mortise::bench
