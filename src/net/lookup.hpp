// Runs a resolver without blocking the reactor: a name is looked up on a short-lived detached
// thread, so that a name server that does not answer holds up neither the I/O thread nor anybody's
// deadline (hazard 26). At most one such thread per lookup exists at a time.
#pragma once

#include <memory>

#include "net/reactor.hpp"
#include "net/resolver.hpp"

namespace mortise::net {

class lookup_listener {
 public:
  virtual ~lookup_listener() = default;
  virtual void on_resolved(resolution found) noexcept = 0;
};

// Used and destroyed on the reactor's thread, or when that thread has ended.
class lookup final : private task {
 public:
  lookup(reactor& loop, std::shared_ptr<resolver> what, lookup_listener& listener);
  ~lookup() override;

  // Ends in one on_resolved, at once where the resolver is immediate, unless abandoned before.
  // Where the system has no thread for it, what was found last is taken: it is likely still right.
  void start(time_ns deadline);
  // on_resolved will not come. The thread goes on; a later start() takes what it finds.
  void abandon() noexcept { is_wanted_ = false; }
  // The resolver resolves another name from now on. Nothing that was found before is used.
  void forget() noexcept;

 private:
  struct shared;
  static void* resolve_in_background(void* handed_over) noexcept;
  void run() noexcept override;
  void remember(const std::vector<address>& found) noexcept;

  reactor& loop_;
  std::shared_ptr<resolver> what_;
  lookup_listener& listener_;
  std::shared_ptr<shared> shared_;
  std::vector<address> known_;  // what was found last
  bool is_wanted_ = false;
  bool is_running_ = false;
};

}  // namespace mortise::net
