// Connects: resolves the name, then races the addresses by RFC 8305 ("happy eyeballs"). The next
// address starts 250 ms after the one before, or as soon as one has failed. The first connection
// wins, and the others are dropped. So an address that swallows packets costs 250 ms.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/dial/lookup.hpp"
#include "net/dial/resolver.hpp"
#include "net/reactor.hpp"
#include "net/transport.hpp"

namespace mortise::net {

// The transport to this host. The host is empty if it is the URL's. No function: plain sockets.
using transport_factory = std::function<std::unique_ptr<transport>(const std::string& host)>;

class dial_listener {
 public:
  virtual ~dial_listener() = default;
  virtual void on_dialed(std::unique_ptr<transport> connected, const address& where) noexcept = 0;
  // `is_definite`: an immediate retry would not help. A passed deadline is not definite.
  virtual void on_dial_failed(const outcome& why, bool is_definite) noexcept = 0;
};

// Used and destroyed on the reactor's thread, or after that thread has ended.
class dialer final : private timer, private lookup_listener {
 public:
  dialer(reactor& loop, std::shared_ptr<resolver> where, transport_factory make_transport,
         dial_listener& listener);
  ~dialer() override;

  // Each of these ends in one call of the listener, maybe before it returns.
  // start() resolves again, and tries every address.
  void start(time_ns deadline) noexcept;
  // The winner was the wrong server. Continues with the addresses that neither won nor failed, of
  // which there must be one.
  void go_on(time_ns deadline) noexcept;
  // Tries this address only. `host` is that of the address, by the resolver.
  void start_at(const address& where, const std::string& host, time_ns deadline) noexcept;
  // How many addresses go_on() would try.
  [[nodiscard]] std::size_t left() const noexcept { return waiting_.size(); }
  // The host of the addresses, by the resolver; empty if it is the URL's.
  [[nodiscard]] const std::string& host() const noexcept { return host_; }
  // Stops the calls of the listener. The remaining addresses stay.
  void cancel() noexcept;
  // The resolver resolves another name from now on. Call it after cancel().
  void forget() noexcept { lookup_.forget(); }

 private:
  class racer;

  void on_timer(time_ns now) noexcept override;
  void on_resolved(resolution found) noexcept override;
  template <class Step>
  void attempt(Step&& step) noexcept;
  void begin(time_ns deadline) noexcept;
  void race();
  bool judge(racer& candidate, io_result result);
  void win(racer& candidate);
  void lose(racer& candidate, int error);
  void fail(const outcome& why, bool is_definite) noexcept;

  reactor& loop_;
  std::shared_ptr<resolver> where_;
  transport_factory make_transport_;
  dial_listener& listener_;
  lookup lookup_;
  time_ns deadline_ = 0;
  bool is_resolved_ = false;
  std::vector<address> waiting_;  // not started, or dropped when another won
  std::list<racer> racers_;
  std::string host_;  // by the resolver, with the addresses
  std::string hint_;
  std::string failures_;
  advice last_advice_{};
};

}  // namespace mortise::net
