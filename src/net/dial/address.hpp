// The address of a server, in the kernel's form.
#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>

namespace mortise::net {

class address {
 public:
  // False for a path that is empty, has a NUL, or exceeds the maximum for a unix socket (107).
  static bool from_path(std::string_view path, address& result) noexcept;
  // Numbers only, such as "127.0.0.1" or "::1"; no name is looked up.
  static bool from_literal(const std::string& host, int port, address& result) noexcept;
  static address from_raw(const sockaddr* raw, socklen_t size) noexcept;

  [[nodiscard]] const sockaddr* raw() const noexcept {
    return reinterpret_cast<const sockaddr*>(&storage_);
  }
  [[nodiscard]] socklen_t size() const noexcept { return size_; }
  [[nodiscard]] int family() const noexcept { return storage_.ss_family; }
  [[nodiscard]] bool is_unix() const noexcept { return family() == AF_UNIX; }
  // The same place. Fields that only the kernel needs are not compared.
  [[nodiscard]] bool operator==(const address& other) const noexcept;
  // "127.0.0.1:6379", "[::1]:6379" or "unix:///path", for messages.
  [[nodiscard]] std::string text() const;

 private:
  sockaddr_storage storage_{};
  socklen_t size_ = 0;
};

}  // namespace mortise::net
