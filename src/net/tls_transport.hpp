// TLS over a socket, by OpenSSL, which never sees the socket: it takes what is received from a
// buffer, so that the socket is read once for many records and without the mutex, and sends by the
// same calls as without TLS. So naps, busy polling and the lead work as they do there.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>

#include "net/tls_context.hpp"
#include "net/tls_fault.hpp"
#include "net/transport.hpp"

namespace mortise::net {

class tls_transport final : public transport {
 public:
  // To whoever has a certificate for `name`, where the terms say none.
  explicit tls_transport(std::shared_ptr<tls_context> shared, const std::string& name = {});
  ~tls_transport() override;
  tls_transport(const tls_transport&) = delete;
  tls_transport& operator=(const tls_transport&) = delete;

  io_result start_connect(const address& where) noexcept override;
  io_result finish_connect() noexcept override;
  io_result send(std::string_view bytes) noexcept override;
  io_result receive(char* into, std::size_t room) noexcept override;
  io_result receive_or_nap(char* into, std::size_t room) noexcept override;
  io_result receive_held(char* into, std::size_t room) noexcept override;
  void finish_sending() noexcept override;
  [[nodiscard]] int descriptor() const noexcept override { return socket_.descriptor(); }
  void close() noexcept override;
  [[nodiscard]] const char* describe(int error) const noexcept override;
  [[nodiscard]] advice advise(int error) const noexcept override;

  // Whether the handshake was shortened by a ticket; once it is connected.
  [[nodiscard]] bool is_resumed() const noexcept;

 private:
  enum class stage : std::uint8_t { connecting, shaking_hands, open };
  // A record of the largest size comes in a few pieces, an idle connection keeps one.
  using input = std::array<char, 4096>;
  struct callbacks;

  io_result go_on(io_result connected) noexcept;
  void begin_tls();
  io_result shake_hands() noexcept;
  io_result try_to_shake_hands() noexcept;
  io_result receive_by(char* into, std::size_t room, bool may_nap) noexcept;
  io_result fill(bool may_nap) noexcept;
  io_result decrypt(char* into, std::size_t room) noexcept;
  // With the mutex: what has to come first, or why OpenSSL could not do what it was asked for.
  io_result judge() noexcept;
  io_result fail(tls_fault why) noexcept;

  const std::shared_ptr<tls_context> shared_;
  const std::string name_;
  const openssl& library_;
  socket_transport socket_;
  stage stage_ = stage::connecting;

  std::mutex mutex_;  // of the connection, whatever OpenSSL does with it, and of these
  ssl_st* connection_ = nullptr;
  bool is_reading_ = false;
  io_result lack_;                  // of the socket, which OpenSSL has met
  std::optional<tls_fault> fault_;  // the first one

  // The reader's own: what was received and not decrypted yet.
  input input_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool has_answered_ = false;     // the server, whatever it was
  bool is_socket_empty_ = false;  // as of the last look
  bool may_have_more_ = false;    // of what can be had without the socket
};

}  // namespace mortise::net
