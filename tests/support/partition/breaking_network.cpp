#include "support/partition/breaking_network.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <set>
#include <stdexcept>

#include "support/launcher.h"
#include "support/tcp_proxy.hpp"

namespace {

// What this process connects from; none unless it is given.
in_addr own_address{};

}  // namespace

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the linker calls them so, with --wrap=connect.
int __real_connect(int fd, const sockaddr* to, socklen_t size);

int __wrap_connect(int fd, const sockaddr* to, socklen_t size) {
  if (to->sa_family == AF_INET && own_address.s_addr != 0) {
    sockaddr_in from{};
    from.sin_family = AF_INET;
    from.sin_addr = own_address;
    if (::bind(fd, reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0) return -1;
  }
  return __real_connect(fd, to, size);
}
// NOLINTEND(bugprone-reserved-identifier)
}

namespace mortise::testing {

namespace {

class namespaces final : public breaking_network {
 public:
  explicit namespaces(std::size_t hosts) {
    const auto count = std::to_string(hosts);
    const char* const arguments[] = {count.c_str(), nullptr};
    if (!launcher_open(&launcher_, "namespaces", arguments)) throw std::runtime_error("no network");
  }
  ~namespaces() override { launcher_close(&launcher_); }

  [[nodiscard]] std::string address_of(std::size_t host) const override {
    return "10.77.0." + number_of(host);
  }
  [[nodiscard]] std::vector<std::string> arguments_of(std::size_t host) const override {
    return {"host=" + namespace_of(host), "--bind", address_of(host), "--protected-mode", "no"};
  }
  [[nodiscard]] std::string namespace_of(std::size_t host) const override {
    return path_of(number_of(host));
  }
  // As root it is enough to enter the one; otherwise that is a right which the other gives.
  void enter(std::size_t host) override {
    const auto network = namespace_of(host);
    if (!joins(network, CLONE_NEWNET) &&
        !(joins(path_of("user"), CLONE_NEWUSER) && joins(network, CLONE_NEWNET))) {
      throw std::runtime_error("a host cannot be entered: " + std::string(std::strerror(errno)));
    }
  }
  void cut(const std::vector<std::size_t>& some, const std::vector<std::size_t>& others) override {
    control("cut " + list_of(some) + " " + list_of(others));
  }
  void lose(const std::vector<std::size_t>& sources,
            const std::vector<std::size_t>& sinks) override {
    control("lose " + list_of(sources) + " " + list_of(sinks));
  }
  void join() override { control("join"); }

 private:
  static std::string number_of(std::size_t host) { return std::to_string(host + 1); }
  static std::string list_of(const std::vector<std::size_t>& hosts) {
    std::string list;
    for (const auto host : hosts) list.append(list.empty() ? "" : ",").append(number_of(host));
    return list;
  }
  static bool joins(const std::string& path, int kind) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const bool is_in = fd >= 0 && ::setns(fd, kind) == 0;
    const int problem = errno;
    if (fd >= 0) ::close(fd);
    errno = problem;
    return is_in;
  }
  [[nodiscard]] std::string path_of(const std::string& what) const {
    return launcher_.folder + std::string("/") + what;
  }
  void control(const std::string& command) {
    if (!launcher_tell(&launcher_, command.c_str()))
      throw std::runtime_error("no network any more");
  }

  launcher launcher_{};
};

class proxies final : public breaking_network {
 public:
  explicit proxies(std::size_t hosts) : prefix_(free_prefix()), cuts_(hosts) {}

  [[nodiscard]] std::string address_of(std::size_t host) const override {
    return prefix_ + "1." + std::to_string(host + 1);
  }
  [[nodiscard]] std::vector<std::string> arguments_of(std::size_t host) const override {
    return {"--bind", own_of(host), "--bind-source-addr", own_of(host), "--protected-mode", "no"};
  }
  void open(std::size_t host, const std::string& port) override {
    ways_.push_back({host, std::make_unique<tcp_proxy>(own_of(host) + ":" + port,
                                                       address_of(host) + ":" + port)});
  }
  void enter(std::size_t host) override {
    if (::inet_pton(AF_INET, own_of(host).c_str(), &own_address) != 1) std::abort();
  }
  void cut(const std::vector<std::size_t>& some, const std::vector<std::size_t>& others) override {
    for (const auto one : some) {
      for (const auto other : others) {
        cuts_[one].insert(other);
        cuts_[other].insert(one);
      }
    }
    freeze();
  }
  void lose(const std::vector<std::size_t>& /*sources*/,
            const std::vector<std::size_t>& /*sinks*/) override {
    throw std::logic_error("a proxy loses no packets");
  }
  void join() override {
    for (auto& hosts : cuts_) hosts.clear();
    freeze();
  }

 private:
  struct way {
    std::size_t to = 0;
    std::unique_ptr<tcp_proxy> by;
  };

  // Of this test alone, most likely, so that the ports of its hosts are free.
  static std::string free_prefix() {
    std::random_device chance;
    return "127." + std::to_string(1 + chance() % 254) + ".";
  }
  // Where servers listen, and what everybody on the host connects from.
  [[nodiscard]] std::string own_of(std::size_t host) const {
    return prefix_ + "0." + std::to_string(host + 1);
  }
  void freeze() {
    for (const auto& one : ways_) {
      std::string command = "freeze from";
      for (const auto host : cuts_[one.to]) command += " " + own_of(host);
      one.by->control(command);
    }
  }

  const std::string prefix_;
  std::vector<std::set<std::size_t>> cuts_;  // by host, from which others
  std::vector<way> ways_;
};

}  // namespace

std::unique_ptr<breaking_network> breaking_network::make(medium kind, std::size_t hosts) {
  if (kind == medium::proxies) return std::make_unique<proxies>(hosts);
  return std::make_unique<namespaces>(hosts);
}

// What they need first is tried, and nothing that fails later is taken for a reason to do without.
breaking_network::medium breaking_network::best() {
  static const bool has_namespaces =
      std::system(
          "unshare --user --map-root-user --net sh -ec 'ip link add name switch type bridge;"
          " ip link add name one type veth peer name other; unshare --net true'") == 0;
  if (has_namespaces) return medium::namespaces;
  std::cerr << "NO NETWORK NAMESPACES HERE: the network is made of proxies instead\n";
  return medium::proxies;
}

}  // namespace mortise::testing
