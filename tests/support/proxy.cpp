#include "proxy.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "redis/resp/resp.hpp"

namespace mortise::testing {

namespace {

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

int new_socket() { return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); }

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// Appends the received bytes. False after the end of the connection.
bool receive(int fd, std::string& into) {
  char chunk[16384];
  const auto count = ::recv(fd, chunk, sizeof chunk, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (count <= 0) return false;
  into.append(chunk, static_cast<std::size_t>(count));
  return true;
}

// The place of one reply in their order.
struct awaited {
  fault order;
  bool is_there = false;  // `order.reply` is what the client gets
  time_ns not_before = 0;
};

struct pair_of_sockets {
  int client = -1;
  int server = -1;
  std::string from_client;
  std::string from_server;
  std::deque<awaited> open;
  bool is_mute = false;
  bool is_over = false;
  bool has_come_in_silence = false;  // accepted while another connection was silent

  [[nodiscard]] bool is_silent(time_ns now) const {
    return is_mute || (!open.empty() && open.front().is_there && open.front().not_before > now);
  }
};

}  // namespace

struct proxy::state {
  std::mutex mutex;
  rule what_to_do;
  bool is_cutting_all = false;
  bool is_stopping = false;

  std::string server_path;
  int listener = -1;
  int wake = -1;
  std::vector<std::unique_ptr<pair_of_sockets>> pairs;
  std::thread thread;

  void run();
  bool take_orders();
  void accept_one();
  void pass_commands(pair_of_sockets& pair);
  void obey(pair_of_sockets& pair, fault order, std::string_view bytes, bool has_reply);
  static void pass_replies(pair_of_sockets& pair);
  void deliver(pair_of_sockets& pair, time_ns now);
  [[nodiscard]] bool is_another_silent(const pair_of_sockets* than, time_ns now) const;
  [[nodiscard]] int wait_ms(time_ns now) const;
  void poke() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake, &one, sizeof one);
  }
};

void proxy::state::run() {
  while (take_orders()) {
    std::vector<pollfd> waits = {{wake, POLLIN, 0}, {listener, POLLIN, 0}};
    for (const auto& pair : pairs) {
      waits.push_back({pair->client, POLLIN, 0});
      waits.push_back({pair->server, POLLIN, 0});
    }
    if (::poll(waits.data(), waits.size(), wait_ms(boot_now())) < 0) continue;
    if (waits[0].revents != 0) {
      std::uint64_t ignored = 0;
      [[maybe_unused]] const auto count = ::read(wake, &ignored, sizeof ignored);
    }
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      auto& pair = *pairs[i];
      if (waits[2 + 2 * i].revents != 0) pass_commands(pair);
      if (waits[3 + 2 * i].revents != 0) pass_replies(pair);
      deliver(pair, boot_now());
    }
    std::erase_if(pairs, [](const auto& pair) {
      if (!pair->is_over) return false;
      ::close(pair->client);
      ::close(pair->server);
      return true;
    });
    if (waits[1].revents != 0) accept_one();
  }
  for (const auto& pair : pairs) {
    ::close(pair->client);
    ::close(pair->server);
  }
}

bool proxy::state::take_orders() {
  const std::lock_guard guard(mutex);
  if (is_stopping) return false;
  if (std::exchange(is_cutting_all, false)) {
    for (const auto& pair : pairs) {
      ::close(pair->client);
      ::close(pair->server);
    }
    pairs.clear();
  }
  return true;
}

void proxy::state::accept_one() {
  auto pair = std::make_unique<pair_of_sockets>();
  pair->client = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (pair->client < 0) return;
  pair->server = new_socket();
  const auto address = address_of(server_path);
  if (::connect(pair->server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(pair->client);
    ::close(pair->server);
    return;
  }
  pair->has_come_in_silence = is_another_silent(nullptr, boot_now());
  pairs.push_back(std::move(pair));
}

bool proxy::state::is_another_silent(const pair_of_sockets* than, time_ns now) const {
  return std::any_of(pairs.begin(), pairs.end(), [&](const auto& one) {
    return one.get() != than && !one->has_come_in_silence && one->is_silent(now);
  });
}

void proxy::state::pass_commands(pair_of_sockets& pair) {
  if (!receive(pair.client, pair.from_client)) pair.is_over = true;
  redis::parser parser;
  std::size_t used = 0;
  const auto rest = [&] { return std::string_view(pair.from_client).substr(used); };
  while (!pair.is_over && parser.parse(rest()) == redis::parse_result::complete) {
    fake_command command;
    for (std::size_t i = 0; i < parser.reply().size(); ++i) {
      command.words.emplace_back(parser.reply().at(i).text());
    }
    const auto bytes = rest().substr(0, parser.consumed());
    used += parser.consumed();
    rule function;
    {
      const std::lock_guard guard(mutex);
      function = what_to_do;
    }
    // A subscription is answered by a message, which is not one of the replies.
    obey(pair, function ? function(command) : fault{}, bytes, !command.is("SUBSCRIBE"));
  }
  pair.from_client.erase(0, used);
}

void proxy::state::obey(pair_of_sockets& pair, fault order, std::string_view bytes,
                        bool has_reply) {
  if (order.what == fault::kind::cut_before) {
    pair.is_over = true;
    return;
  }
  const bool is_answered_here = order.what == fault::kind::answer;
  if (!is_answered_here && !send_all(pair.server, bytes)) pair.is_over = true;
  if (has_reply || is_answered_here) pair.open.push_back({std::move(order), is_answered_here});
}

void proxy::state::pass_replies(pair_of_sockets& pair) {
  if (!receive(pair.server, pair.from_server)) pair.is_over = true;
  redis::parser parser;
  std::size_t used = 0;
  const auto rest = [&] { return std::string_view(pair.from_server).substr(used); };
  while (parser.parse(rest()) == redis::parse_result::complete) {
    const auto bytes = rest().substr(0, parser.consumed());
    used += parser.consumed();
    const auto place = std::find_if(pair.open.begin(), pair.open.end(),
                                    [](const awaited& one) { return !one.is_there; });
    if (parser.reply().type() == redis::kind::push) {
      // It stands between the replies before and after it.
      pair.open.insert(place, {{fault::kind::none, std::string(bytes)}, true});
    } else if (place != pair.open.end()) {
      place->is_there = true;
      place->order.reply = bytes;
      place->not_before = boot_now() + place->order.delay_ms * ns_per_ms;
    }
  }
  pair.from_server.erase(0, used);
}

void proxy::state::deliver(pair_of_sockets& pair, time_ns now) {
  if (pair.has_come_in_silence && is_another_silent(&pair, now)) return;
  while (!pair.open.empty() && pair.open.front().is_there && !pair.is_over &&
         pair.open.front().not_before <= now) {
    const auto& first = pair.open.front();
    if (first.order.what == fault::kind::cut_after) pair.is_over = true;
    if (first.order.what == fault::kind::swallow) pair.is_mute = true;
    if (!pair.is_over && !pair.is_mute) send_all(pair.client, first.order.reply);
    pair.open.pop_front();
  }
}

int proxy::state::wait_ms(time_ns now) const {
  for (const auto& pair : pairs) {
    if (pair->open.empty() || !pair->open.front().is_there) continue;
    return static_cast<int>(std::max<time_ns>(0, pair->open.front().not_before - now) / ns_per_ms) +
           1;
  }
  return -1;
}

proxy::proxy(std::string server_path, rule what_to_do) : state_(std::make_unique<state>()) {
  char directory[] = "/tmp/mortise-proxy-XXXXXX";
  if (::mkdtemp(directory) == nullptr)
    throw std::system_error(errno, std::generic_category(), directory);
  directory_ = directory;
  socket_path_ = directory_ + "/proxy.sock";
  state_->server_path = std::move(server_path);
  state_->what_to_do = std::move(what_to_do);
  state_->listener = new_socket();
  const auto address = address_of(socket_path_);
  if (::bind(state_->listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(state_->listener, 64) != 0) {
    throw std::runtime_error("cannot listen on " + socket_path_);
  }
  state_->wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  state_->thread = std::thread([this] { state_->run(); });
}

proxy::~proxy() {
  {
    const std::lock_guard guard(state_->mutex);
    state_->is_stopping = true;
  }
  state_->poke();
  state_->thread.join();
  ::close(state_->listener);
  ::close(state_->wake);
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

void proxy::set_rule(rule what_to_do) {
  const std::lock_guard guard(state_->mutex);
  state_->what_to_do = std::move(what_to_do);
}

void proxy::cut_all() {
  {
    const std::lock_guard guard(state_->mutex);
    state_->is_cutting_all = true;
  }
  state_->poke();
}

}  // namespace mortise::testing
