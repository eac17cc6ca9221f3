#include "tcp_proxy.hpp"

#include <stdexcept>

namespace mortise::testing {

tcp_proxy::tcp_proxy(const std::string& server, const std::string& place) {
  const char* const arguments[] = {server.c_str(), place.c_str(), nullptr};
  if (!launcher_open(&launcher_, "proxy", arguments)) throw std::runtime_error("no proxy");
}

tcp_proxy::~tcp_proxy() { launcher_close(&launcher_); }

std::string tcp_proxy::url() const { return "redis://127.0.0.1:" + std::to_string(launcher_.port); }

void tcp_proxy::control(const std::string& command) {
  if (!launcher_tell(&launcher_, command.c_str())) throw std::runtime_error("no proxy any more");
}

}  // namespace mortise::testing
