#include "server.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "redis/resp/command.hpp"
#include "redis/resp/resp.hpp"

namespace mortise::testing {

namespace {

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

test_server::test_server(server_options options) : login_(std::move(options.login)) {
  std::vector<const char*> arguments;
  for (const auto& argument : options.arguments) arguments.push_back(argument.c_str());
  arguments.push_back(nullptr);
  if (!launcher_open(&launcher_, "server", arguments.data())) throw std::runtime_error("no server");
}

test_server::~test_server() { launcher_close(&launcher_); }

std::string test_server::socket_path() const {
  return launcher_.folder + std::string("/redis.sock");
}

std::string test_server::tcp_url() const {
  return "redis://127.0.0.1:" + std::to_string(launcher_.port);
}

void test_server::control(const std::string& command) {
  if (!launcher_tell(&launcher_, command.c_str()))
    throw std::runtime_error("no launcher of a server");
}

void test_server::start() { control("start"); }

void test_server::stop() {
  client_.reset();
  control("stop");
}

void test_server::kill() {
  client_.reset();
  control("kill");
}

void test_server::pause() { control("pause"); }

void test_server::resume() { control("resume"); }

void test_server::set_clock_us(std::int64_t ahead_us) {
  control("clock " + std::to_string(static_cast<double>(ahead_us) / 1e6));
}

void test_server::break_master_link() {
  command({"CONFIG", "SET", "masteruser", "nobody"});
  command({"CONFIG", "SET", "masterauth", "wrong"});
  command({"CLIENT", "KILL", "TYPE", "master"});
}

void test_server::restore_master_link() {
  command({"CONFIG", "SET", "masterauth", ""});
  command({"CONFIG", "SET", "masteruser", ""});
}

std::string test_server::command(const std::vector<std::string>& args) {
  if (!client_) client_ = connect();
  auto reply = client_->command(args);
  if (reply == "(closed)") client_.reset();
  return reply;
}

std::unique_ptr<raw_client> test_server::connect() const {
  auto client = std::make_unique<raw_client>(socket_path());
  if (!login_.empty()) client->command(login_);
  return client;
}

}  // namespace mortise::testing
