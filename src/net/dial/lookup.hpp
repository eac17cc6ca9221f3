// Runs a resolver without blocking the reactor. A short-lived detached thread looks up the name, so
// a silent name server delays neither the I/O thread nor any deadline (hazard 26). There is at most
// one such thread per lookup.
#pragma once

#include <memory>

#include "net/dial/resolver.hpp"
#include "net/reactor.hpp"

namespace mortise::net {

class lookup_listener {
 public:
  virtual ~lookup_listener() = default;
  virtual void on_resolved(resolution found) noexcept = 0;
};

// Used and destroyed on the reactor's thread, or after that thread has ended.
class lookup final : private task {
 public:
  lookup(reactor& loop, std::shared_ptr<resolver> what, lookup_listener& listener);
  ~lookup() override;

  // Ends in one on_resolved, unless abandoned before. An immediate resolver calls it before start()
  // returns. Without a thread the last result is used, which is likely still right.
  void start(time_ns deadline);
  // on_resolved will not come. The thread continues, and a later start() uses its result.
  void abandon() noexcept { is_pending_ = false; }
  // The resolver resolves another name from now on. Earlier results are not used.
  void forget() noexcept;

 private:
  struct shared;
  static void* enter(void* handed_over) noexcept;
  static void resolve_in_background(void* handed_over) noexcept;
  void run() noexcept override;
  void remember(const std::vector<address>& found) noexcept;

  reactor& loop_;
  std::shared_ptr<resolver> what_;
  lookup_listener& listener_;
  std::shared_ptr<shared> shared_;
  std::vector<address> known_;  // the last result
  bool is_pending_ = false;
  bool is_running_ = false;
};

}  // namespace mortise::net
