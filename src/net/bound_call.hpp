// A task and a timer that call a member function of their owner.
#pragma once

#include "base/time.hpp"
#include "net/reactor.hpp"
#include "net/timer_heap.hpp"

namespace mortise::net {

template <class Owner, void (Owner::*function)() noexcept>
class bound_task final : public task {
 public:
  explicit bound_task(Owner& owner) : owner_(owner) {}
  void run() noexcept override { (owner_.*function)(); }

 private:
  Owner& owner_;
};

template <class Owner, void (Owner::*function)(time_ns now) noexcept>
class bound_timer final : public timer {
 public:
  explicit bound_timer(Owner& owner) : owner_(owner) {}
  void on_timer(time_ns now) noexcept override { (owner_.*function)(now); }

 private:
  Owner& owner_;
};

}  // namespace mortise::net
