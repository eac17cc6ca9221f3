#include "net/dial/address.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace mortise::net {

bool address::from_path(std::string_view path, address& result) noexcept {
  sockaddr_un raw{};
  if (path.empty() || path.size() >= sizeof raw.sun_path) return false;
  if (path.find('\0') != path.npos) return false;
  raw.sun_family = AF_UNIX;
  path.copy(raw.sun_path, path.size());
  result = from_raw(reinterpret_cast<const sockaddr*>(&raw), sizeof raw);
  return true;
}

bool address::from_literal(const std::string& host, int port, address& result) noexcept {
  sockaddr_in four{};
  if (::inet_pton(AF_INET, host.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(static_cast<in_port_t>(port));
    result = from_raw(reinterpret_cast<const sockaddr*>(&four), sizeof four);
    return true;
  }
  sockaddr_in6 six{};
  if (::inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(static_cast<in_port_t>(port));
    result = from_raw(reinterpret_cast<const sockaddr*>(&six), sizeof six);
    return true;
  }
  return false;
}

address address::from_raw(const sockaddr* raw, socklen_t size) noexcept {
  address result;
  result.size_ = std::min(size, static_cast<socklen_t>(sizeof result.storage_));
  std::memcpy(&result.storage_, raw, result.size_);
  return result;
}

bool address::operator==(const address& other) const noexcept {
  if (family() != other.family()) return false;
  if (family() == AF_INET) {
    const auto* const mine = reinterpret_cast<const sockaddr_in*>(raw());
    const auto* const its = reinterpret_cast<const sockaddr_in*>(other.raw());
    return mine->sin_port == its->sin_port && mine->sin_addr.s_addr == its->sin_addr.s_addr;
  }
  if (family() == AF_INET6) {
    const auto* const mine = reinterpret_cast<const sockaddr_in6*>(raw());
    const auto* const its = reinterpret_cast<const sockaddr_in6*>(other.raw());
    return mine->sin6_port == its->sin6_port && mine->sin6_scope_id == its->sin6_scope_id &&
           std::memcmp(&mine->sin6_addr, &its->sin6_addr, sizeof mine->sin6_addr) == 0;
  }
  return size_ == other.size_ && std::memcmp(raw(), other.raw(), size_) == 0;
}

std::string address::text() const {
  if (is_unix())
    return std::string("unix://") + reinterpret_cast<const sockaddr_un*>(raw())->sun_path;
  char host[INET6_ADDRSTRLEN + 1] = "";
  char port[8] = "";
  if (::getnameinfo(raw(), size_, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "?";
  }
  const bool is_six = family() == AF_INET6;
  return (is_six ? "[" : "") + std::string(host) + (is_six ? "]:" : ":") + port;
}

}  // namespace mortise::net
