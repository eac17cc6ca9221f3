#include "server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "base/time.hpp"
#include "redis/command.hpp"
#include "redis/resp.hpp"

namespace mortise::testing {

namespace {

constexpr time_ns start_limit_ns = 20 * ns_per_s;
constexpr int retry_pause_ms = 2;

std::string as_text(const redis::value& reply) {
  switch (reply.type()) {
    case redis::kind::null:
      return "(nil)";
    case redis::kind::error:
      return "-" + std::string(reply.text());
    case redis::kind::integer:
    case redis::kind::boolean:
      return std::to_string(reply.integer());
    case redis::kind::status:
    case redis::kind::text:
      return std::string(reply.text());
    default:
      break;
  }
  std::string lines;
  for (std::size_t i = 0; i < reply.size(); ++i) {
    if (i > 0) lines += '\n';
    lines += as_text(reply.at(i));
  }
  return lines;
}

int free_port() {
  const int socket_fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  const bool is_bound =
      socket_fd >= 0 && ::bind(socket_fd, reinterpret_cast<sockaddr*>(&address), length) == 0 &&
      ::getsockname(socket_fd, reinterpret_cast<sockaddr*>(&address), &length) == 0;
  if (socket_fd >= 0) ::close(socket_fd);
  if (!is_bound) throw std::runtime_error("no free port on 127.0.0.1");
  return ntohs(address.sin_port);
}

void pause_for_retry() { ::poll(nullptr, 0, retry_pause_ms); }

}  // namespace

struct raw_client::state {
  int fd = -1;
  std::string input;
  redis::parser parser;
};

raw_client::raw_client(const std::string& socket_path) : state_(std::make_unique<state>()) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof address.sun_path) throw std::runtime_error("path too long");
  std::memcpy(address.sun_path, socket_path.c_str(), socket_path.size() + 1);
  state_->fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(state_->fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int problem = errno;
    ::close(state_->fd);
    throw std::runtime_error("connect " + socket_path + ": " + std::strerror(problem));
  }
}

raw_client::~raw_client() { ::close(state_->fd); }

void raw_client::send(const std::vector<std::string>& args) {
  std::string bytes;
  redis::command_writer writer(bytes);
  writer.begin(args.size());
  for (const auto& arg : args) writer.arg(arg);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const auto count = ::send(state_->fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // read_reply will find the connection closed
    sent += static_cast<std::size_t>(count);
  }
}

std::string raw_client::read_reply() {
  for (;;) {
    const auto result = state_->parser.parse(state_->input);
    if (result == redis::parse_result::violation) return "(violation)";
    if (result == redis::parse_result::complete) {
      auto text = as_text(state_->parser.reply());
      state_->input.erase(0, state_->parser.consumed());
      return text;
    }
    char chunk[4096];
    const auto count = ::recv(state_->fd, chunk, sizeof chunk, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return "(closed)";
    state_->input.append(chunk, static_cast<std::size_t>(count));
  }
}

std::string raw_client::command(const std::vector<std::string>& args) {
  send(args);
  return read_reply();
}

test_server::test_server(server_options options) : options_(std::move(options)) {
  char directory[] = "/tmp/mortise-test-XXXXXX";
  if (::mkdtemp(directory) == nullptr) throw std::runtime_error("mkdtemp failed");
  directory_ = directory;
  socket_path_ = directory_ + "/redis.sock";
  // Another process may take the port between our look and the server's bind: then take another.
  for (int tries = 0;; ++tries) {
    if (options_.with_port) port_ = free_port();
    launch();
    if (wait_until_ready()) break;
    if (!options_.with_port || tries == 4) {
      throw std::runtime_error("redis-server did not start: " + log());
    }
  }
}

test_server::~test_server() {
  end_with(SIGKILL);
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

std::string test_server::tcp_url() const { return "redis://127.0.0.1:" + std::to_string(port_); }

std::string test_server::log() const {
  std::ifstream file(directory_ + "/log");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void test_server::launch() {
  const char* named = std::getenv("MORTISE_TEST_SERVER");
  std::vector<std::string> words = {named != nullptr && *named != '\0' ? named : "redis-server",
                                    "--port",
                                    std::to_string(port_),
                                    "--bind",
                                    "127.0.0.1",
                                    "--unixsocket",
                                    socket_path_,
                                    "--unixsocketperm",
                                    "700",
                                    "--save",
                                    "",
                                    "--appendonly",
                                    "no",
                                    "--daemonize",
                                    "no",
                                    "--dir",
                                    directory_,
                                    "--logfile",
                                    directory_ + "/log",
                                    "--enable-debug-command",
                                    "local"};
  words.insert(words.end(), options_.arguments.begin(), options_.arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  const pid_t parent = ::getpid();
  const int quiet = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  pid_ = ::fork();
  if (pid_ == 0) {
    // Only async-signal-safe calls from here on: the test may have threads.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::dup2(quiet, 0);
    ::dup2(quiet, 1);
    ::dup2(quiet, 2);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(quiet);
  if (pid_ < 0) throw std::runtime_error("fork failed");
}

bool test_server::wait_until_ready() {
  const time_ns deadline = boot_now() + start_limit_ns;
  while (boot_now() < deadline) {
    try {
      auto client = connect();
      const auto answer = client->command({"PING"});
      if (answer == "PONG") {
        client_ = std::move(client);
        return true;
      }
    } catch (const std::runtime_error&) {
      // Not listening yet.
    }
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = -1;
      return false;
    }
    pause_for_retry();
  }
  end_with(SIGKILL);
  return false;
}

void test_server::start() {
  if (pid_ > 0) return;
  // A port that was free stays ours only while somebody else does not take it: try for a while.
  const time_ns deadline = boot_now() + start_limit_ns;
  do {
    launch();
    if (wait_until_ready()) return;
  } while (boot_now() < deadline);
  throw std::runtime_error("redis-server did not start again: " + log());
}

void test_server::end_with(int signal) {
  client_.reset();
  if (pid_ <= 0) return;
  ::kill(pid_, signal);
  if (signal != SIGKILL) ::kill(pid_, SIGCONT);  // a stopped process would keep the signal waiting
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

void test_server::stop() { end_with(SIGTERM); }

void test_server::kill() { end_with(SIGKILL); }

void test_server::pause() {
  ::kill(pid_, SIGSTOP);
  int state = 0;
  while (::waitpid(pid_, &state, WUNTRACED) < 0 && errno == EINTR) {
  }
}

void test_server::resume() { ::kill(pid_, SIGCONT); }

std::string test_server::command(const std::vector<std::string>& args) {
  if (!client_) client_ = connect();
  auto reply = client_->command(args);
  if (reply == "(closed)") client_.reset();
  return reply;
}

std::unique_ptr<raw_client> test_server::connect() const {
  auto client = std::make_unique<raw_client>(socket_path_);
  if (!options_.login.empty()) client->command(options_.login);
  return client;
}

}  // namespace mortise::testing
