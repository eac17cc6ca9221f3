// The seam between the engine and a byte stream that never blocks: a plain socket, or TLS over one
// (tls_transport.hpp).
//
// `send` and `receive` may be called at the same time from two threads, but each only from one; a
// transport whose two directions share state locks inside. Either may want either readiness (TLS
// reads in order to write now and then): the caller waits for what the result names, then calls the
// same function again.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "net/address.hpp"

namespace mortise::net {

enum class io_state {
  done,
  want_read,   // again once the descriptor is readable
  want_write,  // again once it is writable
  closed,      // the other side has ended the stream
  failed,      // `error` says why
};

struct io_result {
  io_state state = io_state::done;
  std::size_t bytes = 0;
  int error = 0;  // an errno, or a number that only `describe` understands
};

// What to do about an error in connecting.
struct advice {
  const char* remedy;  // the end of a sentence, from its ';' on
  // Whether the user has to fix it. All else may pass: nobody listens yet, the socket is not there
  // yet, the network is not up.
  bool is_definite;
};

class transport {
 public:
  virtual ~transport() = default;

  // Begins to connect; continue with finish_connect while the result wants something.
  virtual io_result start_connect(const address& where) noexcept = 0;
  virtual io_result finish_connect() noexcept = 0;
  // Sends at least one byte, or says why not.
  virtual io_result send(std::string_view bytes) noexcept = 0;
  // Receives all there is, up to `room` bytes: where it gives less than `room`, nothing is left
  // until the descriptor is readable again.
  virtual io_result receive(char* into, std::size_t room) noexcept = 0;
  // As receive, but may sleep for a few milliseconds until there is something, which takes one
  // system call where waiting and receiving take two.
  virtual io_result receive_or_nap(char* into, std::size_t room) noexcept {
    return receive(into, room);
  }
  // Returns only bytes that the transport has received already, without reading the socket. The
  // descriptor is not readable for them.
  virtual io_result receive_held(char*, std::size_t) noexcept { return {io_state::want_read}; }
  // No more will be sent: the other side sees the end of the stream after what is on its way.
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
  socket_transport() = default;
  ~socket_transport() override;
  socket_transport(const socket_transport&) = delete;
  socket_transport& operator=(const socket_transport&) = delete;

  io_result start_connect(const address& where) noexcept override;
  io_result finish_connect() noexcept override;
  io_result send(std::string_view bytes) noexcept override;
  io_result receive(char* into, std::size_t room) noexcept override;
  io_result receive_or_nap(char* into, std::size_t room) noexcept override;
  void finish_sending() noexcept override;
  [[nodiscard]] int descriptor() const noexcept override { return descriptor_; }
  void close() noexcept override;
  [[nodiscard]] const char* describe(int error) const noexcept override;

 private:
  io_result receive_with(char* into, std::size_t room, int flags) noexcept;
  io_result note_connected() noexcept;

  int descriptor_ = -1;
};

}  // namespace mortise::net
