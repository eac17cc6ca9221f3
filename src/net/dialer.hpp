// Connects: resolves, then tries one address after the other until one answers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/lookup.hpp"
#include "net/reactor.hpp"
#include "net/resolver.hpp"
#include "net/transport.hpp"

namespace mortise::net {

using transport_factory = std::function<std::unique_ptr<transport>()>;

class dial_listener {
 public:
  virtual ~dial_listener() = default;
  virtual void on_dialed(std::unique_ptr<transport> connected) noexcept = 0;
  // `is_definite`: trying again at once would not help. A deadline that passed is not definite.
  virtual void on_dial_failed(const outcome& why, bool is_definite) noexcept = 0;
};

// Used and destroyed on the reactor's thread, or when that thread has ended.
class dialer final : private event_handler, private timer, private lookup_listener {
 public:
  dialer(reactor& loop, std::shared_ptr<resolver> where, transport_factory make_transport,
         dial_listener& listener);
  ~dialer() override;

  // Ends in one call of the listener, maybe before it returns.
  void start(time_ns deadline) noexcept;
  // The listener is not called any more.
  void cancel() noexcept;

 private:
  void on_ready(std::uint32_t events) noexcept override;
  void on_timer(time_ns now) noexcept override;
  void on_resolved(resolution found) noexcept override;
  template <class Step>
  void attempt(Step&& step) noexcept;
  void try_next();
  void judge(io_result result);
  void note_failure(int error);
  void drop_transport() noexcept;
  void fail(const outcome& why, bool is_definite) noexcept;

  reactor& loop_;
  std::shared_ptr<resolver> where_;
  transport_factory make_transport_;
  dial_listener& listener_;
  lookup lookup_;
  std::unique_ptr<transport> transport_;
  bool is_watched_ = false;
  time_ns deadline_ = 0;
  std::vector<address> addresses_;
  std::size_t next_ = 0;
  std::string failures_;
  advice last_advice_{};
};

}  // namespace mortise::net
