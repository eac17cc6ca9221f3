// TLS over a socket, by OpenSSL, which never touches the socket. OpenSSL reads received bytes from
// a buffer, so the socket is read once for many records and without the mutex. Sending uses the
// same calls as without TLS. So naps, busy polling and the lead work as they do without TLS.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>

#include "net/tls/tls_context.hpp"
#include "net/tls/tls_fault.hpp"
#include "net/transport.hpp"

namespace mortise::net {

class tls_transport final : public transport {
 public:
  // Accepts a server with a certificate for `name`, if the terms have no name.
  explicit tls_transport(std::shared_ptr<tls_context> shared, const std::string& name = {});
  ~tls_transport() override;
  tls_transport(const tls_transport&) = delete;
  tls_transport& operator=(const tls_transport&) = delete;

  io_result start_connect(const address& where) noexcept override;
  io_result finish_connect() noexcept override;
  io_result send(std::string_view bytes) noexcept override;
  io_result receive(char* buffer, std::size_t room) noexcept override;
  io_result receive_or_nap(char* buffer, std::size_t room) noexcept override;
  io_result receive_held(char* buffer, std::size_t room) noexcept override;
  void finish_sending() noexcept override;
  [[nodiscard]] int descriptor() const noexcept override { return socket_.descriptor(); }
  void close() noexcept override;
  [[nodiscard]] const char* describe(int error) const noexcept override;
  [[nodiscard]] advice advise(int error) const noexcept override;

  // Whether a ticket shortened the handshake. Only once it is connected.
  [[nodiscard]] bool is_resumed() const noexcept;

 private:
  enum class stage : std::uint8_t { connecting, shaking_hands, open };
  // The largest record comes in a few pieces. An idle connection keeps one piece.
  using input = std::array<char, 4096>;
  struct callbacks;

  io_result go_on(io_result connected) noexcept;
  void begin_tls();
  io_result shake_hands() noexcept;
  io_result try_to_shake_hands() noexcept;
  io_result receive_by(char* buffer, std::size_t room, bool may_nap) noexcept;
  io_result fill(bool may_nap) noexcept;
  io_result decrypt(char* buffer, std::size_t room) noexcept;
  // Under the mutex: the socket's state that OpenSSL waits for, or why OpenSSL failed.
  io_result judge() noexcept;
  void note(tls_fault why) noexcept;
  io_result fail(tls_fault why) noexcept;

  const std::shared_ptr<tls_context> shared_;
  const std::string name_;
  const openssl& library_;
  socket_transport socket_;
  stage stage_ = stage::connecting;

  std::mutex mutex_;  // guards OpenSSL's connection and these fields
  ssl_st* connection_ = nullptr;
  bool is_reading_ = false;
  io_result lack_;                  // the socket state that stopped OpenSSL
  std::optional<tls_fault> fault_;  // the first one

  // The reader's own: received bytes that are not decrypted yet.
  input input_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool has_answered_ = false;     // the server, with anything
  bool is_socket_empty_ = false;  // as of the last look
  bool may_have_more_ = false;    // without reading the socket
};

}  // namespace mortise::net
