#include "fake_server.hpp"

#include <poll.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "redis/resp/resp.hpp"

namespace mortise::testing {

namespace {

bool is_same_word(std::string_view left, std::string_view right) {
  return left.size() == right.size() && ::strncasecmp(left.data(), right.data(), left.size()) == 0;
}

std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

int listen_on(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 || ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd, 64) != 0) {
    throw std::runtime_error("cannot listen on " + path);
  }
  return fd;
}

}  // namespace

bool fake_command::is(std::string_view first, std::string_view second) const {
  if (words.empty() || !is_same_word(words[0], first)) return false;
  return second.empty() || (words.size() > 1 && is_same_word(words[1], second));
}

std::string fake_command::text() const {
  std::string line;
  for (const auto& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

void fake_peer::send(std::string_view bytes) {
  while (!bytes.empty() && fd_ >= 0) {
    const auto count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

// The peers belong to the server's thread; what tests reach from theirs is under the mutex.
struct fake_server::state {
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  answer_function answer;
  std::vector<fake_command> received;
  std::string to_all;
  bool is_closing_all = false;
  bool is_stopping = false;
  int accepted = 0;

  int listener = -1;
  int wake = -1;
  std::vector<std::unique_ptr<fake_peer>> peers;
  std::thread thread;

  void run();
  void accept_all();
  bool read_from(fake_peer& peer);
  void answer_commands(fake_peer& peer);
  // False when the server is to end.
  bool take_orders();
  void poke() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake, &one, sizeof one);
  }
};

void fake_server::state::run() {
  while (take_orders()) {
    std::vector<pollfd> waits = {{wake, POLLIN, 0}, {listener, POLLIN, 0}};
    for (const auto& peer : peers) waits.push_back({peer->fd_, POLLIN, 0});
    if (::poll(waits.data(), waits.size(), -1) < 0) continue;
    if (waits[0].revents != 0) {
      std::uint64_t ignored = 0;
      [[maybe_unused]] const auto count = ::read(wake, &ignored, sizeof ignored);
    }
    for (std::size_t i = 0; i < waits.size() - 2; ++i) {
      if (waits[i + 2].revents == 0) continue;
      if (read_from(*peers[i])) answer_commands(*peers[i]);
    }
    std::erase_if(peers, [](const auto& peer) {
      if (!peer->is_closing_) return false;
      ::close(peer->fd_);
      return true;
    });
    if (waits[1].revents != 0) accept_all();
  }
  for (const auto& peer : peers) ::close(peer->fd_);
}

bool fake_server::state::take_orders() {
  std::string bytes;
  bool is_closing = false;
  {
    const std::lock_guard guard(mutex);
    if (is_stopping) return false;
    bytes.swap(to_all);
    is_closing = std::exchange(is_closing_all, false);
  }
  for (const auto& peer : peers) peer->send(bytes);
  if (is_closing) {
    for (const auto& peer : peers) ::close(peer->fd_);
    peers.clear();
  }
  return true;
}

void fake_server::state::accept_all() {
  for (;;) {
    // The peer's descriptor blocks: a test that does not read what it asked for is at fault.
    const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    auto peer = std::make_unique<fake_peer>();
    peer->fd_ = fd;
    const std::lock_guard guard(mutex);
    peer->number_ = ++accepted;
    peers.push_back(std::move(peer));
    changed.notify_all();
  }
}

bool fake_server::state::read_from(fake_peer& peer) {
  char chunk[16384];
  const auto count = ::recv(peer.fd_, chunk, sizeof chunk, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (count <= 0) {
    peer.is_closing_ = true;
    return false;
  }
  peer.input_.append(chunk, static_cast<std::size_t>(count));
  return true;
}

void fake_server::state::answer_commands(fake_peer& peer) {
  redis::parser parser;
  std::size_t used = 0;
  while (!peer.is_closing_ && parser.parse(std::string_view(peer.input_).substr(used)) ==
                                  redis::parse_result::complete) {
    fake_command command;
    for (std::size_t i = 0; i < parser.reply().size(); ++i) {
      command.words.emplace_back(parser.reply().at(i).text());
    }
    used += parser.consumed();
    answer_function function;
    {
      const std::lock_guard guard(mutex);
      received.push_back(command);
      function = answer;
    }
    if (function) {
      function(peer, command);
    } else {
      answer_healthy(peer, command);
    }
    changed.notify_all();
  }
  peer.input_.erase(0, used);
}

fake_server::fake_server(answer_function answer) : state_(std::make_unique<state>()) {
  char directory[] = "/tmp/mortise-fake-XXXXXX";
  if (::mkdtemp(directory) == nullptr)
    throw std::system_error(errno, std::generic_category(), directory);
  directory_ = directory;
  socket_path_ = directory_ + "/fake.sock";
  state_->answer = std::move(answer);
  state_->listener = listen_on(socket_path_);
  state_->wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  state_->thread = std::thread([this] { state_->run(); });
}

fake_server::~fake_server() {
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

void fake_server::set_answer(answer_function answer) {
  const std::lock_guard guard(state_->mutex);
  state_->answer = std::move(answer);
}

void fake_server::send_to_all(std::string_view bytes) {
  {
    const std::lock_guard guard(state_->mutex);
    state_->to_all.append(bytes);
  }
  state_->poke();
}

void fake_server::close_all() {
  {
    const std::lock_guard guard(state_->mutex);
    state_->is_closing_all = true;
  }
  state_->poke();
}

int fake_server::accepted() const {
  const std::lock_guard guard(state_->mutex);
  return state_->accepted;
}

std::vector<fake_command> fake_server::received() const {
  const std::lock_guard guard(state_->mutex);
  return state_->received;
}

namespace {

int count_of(const std::vector<fake_command>& commands, std::string_view first_word) {
  return static_cast<int>(
      std::count_if(commands.begin(), commands.end(),
                    [&](const fake_command& command) { return command.is(first_word); }));
}

}  // namespace

int fake_server::count(std::string_view first_word) const {
  const std::lock_guard guard(state_->mutex);
  return count_of(state_->received, first_word);
}

bool fake_server::wait_for(std::string_view first_word, int expected) const {
  std::unique_lock guard(state_->mutex);
  return state_->changed.wait_for(guard, std::chrono::seconds(10), [&] {
    return count_of(state_->received, first_word) >= expected;
  });
}

void fake_server::answer_healthy(fake_peer& peer, const fake_command& command) {
  const auto id = std::to_string(peer.number());
  if (command.is("HELLO")) {
    return peer.send("%7\r\n" + bulk("server") + bulk("redis") + bulk("version") + bulk("7.0.15") +
                     bulk("proto") + ":3\r\n" + bulk("id") + ":" + id + "\r\n" + bulk("mode") +
                     bulk("standalone") + bulk("role") + bulk("master") + bulk("modules") +
                     "*0\r\n");
  }
  if (command.is("CLIENT", "ID")) return peer.send(":" + id + "\r\n");
  if (command.is("CLIENT", "KILL")) return peer.send("-ERR No such client\r\n");
  if (command.is("EXEC")) return peer.send("-ERR EXEC without MULTI\r\n");
  if (command.is("SCRIPT", "LOAD")) return peer.send(bulk(std::string(40, 'a')));
  if (command.is("PING")) return peer.send("+PONG\r\n");
  if (command.is("ECHO") && command.words.size() == 2) return peer.send(bulk(command.words[1]));
  if (command.is("DEL")) return peer.send(":1\r\n");
  if (command.is("INFO")) {
    return peer.send(bulk("# Server\r\nredis_version:7.0.15\r\nrole:master\r\n"));
  }
  if (command.is("SUBSCRIBE") && command.words.size() == 2) {
    return peer.send(">3\r\n" + bulk("subscribe") + bulk(command.words[1]) + ":1\r\n");
  }
  for (const auto* name : {"AUTH", "SELECT", "CLIENT", "SET"}) {
    if (command.is(name)) return peer.send("+OK\r\n");
  }
  peer.send("-ERR unknown command\r\n");
}

}  // namespace mortise::testing
