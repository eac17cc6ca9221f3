// The interface between the engine and a byte stream that never blocks: a plain socket, or TLS over
// one (tls_transport.hpp).
//
// Two threads may call `send` and `receive` at the same time, but each only from one thread. A
// transport with shared state for both directions locks inside. Either may need either readiness
// (TLS sometimes reads in order to write). The caller waits for the named readiness, then calls the
// same function again.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/dial/address.hpp"

namespace mortise::net {

enum class io_state {
  done,
  want_read,   // retry once the descriptor is readable
  want_write,  // retry once it is writable
  closed,      // the peer has ended the stream
  failed,      // `error` has the reason
};

struct io_result {
  io_state state = io_state::done;
  std::size_t bytes = 0;
  int error = 0;  // an errno, or a number that only `describe` knows
};

// The advice for an error in connecting.
struct advice {
  const char* remedy;  // the end of a sentence, from its ';' on
  // Whether the user must fix it. Any other error may pass: no server listens yet, the socket does
  // not exist yet, the network is not up.
  bool is_definite;
};

class transport {
 public:
  virtual ~transport() = default;

  // Begins to connect. Continue with finish_connect while the result names a readiness.
  virtual io_result start_connect(const address& where) noexcept = 0;
  virtual io_result finish_connect() noexcept = 0;
  // Sends at least one byte, or returns the reason.
  virtual io_result send(std::string_view bytes) noexcept = 0;
  // Receives all available bytes, up to `room`. With fewer bytes than `room`, nothing is left until
  // the descriptor is readable again.
  virtual io_result receive(char* buffer, std::size_t room) noexcept = 0;
  // Like receive, but may sleep for a few milliseconds until there is input. That takes one system
  // call, where waiting and receiving take two.
  virtual io_result receive_or_nap(char* buffer, std::size_t room) noexcept {
    return receive(buffer, room);
  }
  // Returns only bytes that the transport has received already, without reading the socket. The
  // descriptor is not readable for these bytes.
  virtual io_result receive_held(char*, std::size_t) noexcept { return {io_state::want_read}; }
  // Ends the outgoing stream. The peer sees the end after the bytes in flight.
  virtual void finish_sending() noexcept = 0;
  // The descriptor to wait for; -1 before start_connect and after close.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  virtual void close() noexcept = 0;
  // Valid until the next call of this thread.
  [[nodiscard]] virtual const char* describe(int error) const noexcept = 0;
  [[nodiscard]] virtual advice advise(int error) const noexcept;
};

// TCP and unix sockets.
class socket_transport final : public transport {
 public:
  // With a user, it rejects a unix socket on which a process of another user listens.
  explicit socket_transport(std::optional<uid_t> peer = std::nullopt) noexcept : peer_(peer) {}
  ~socket_transport() override;
  socket_transport(const socket_transport&) = delete;
  socket_transport& operator=(const socket_transport&) = delete;

  io_result start_connect(const address& where) noexcept override;
  io_result finish_connect() noexcept override;
  io_result send(std::string_view bytes) noexcept override;
  io_result receive(char* buffer, std::size_t room) noexcept override;
  io_result receive_or_nap(char* buffer, std::size_t room) noexcept override;
  void finish_sending() noexcept override;
  [[nodiscard]] int descriptor() const noexcept override { return descriptor_; }
  void close() noexcept override;
  [[nodiscard]] const char* describe(int error) const noexcept override;
  [[nodiscard]] advice advise(int error) const noexcept override;

 private:
  io_result receive_with(char* buffer, std::size_t room, int flags) noexcept;
  io_result note_connected() noexcept;
  io_result check_peer() noexcept;

  const std::optional<uid_t> peer_;
  int descriptor_ = -1;
  std::array<char, 64> other_peer_{};  // the user that listens instead
};

}  // namespace mortise::net
