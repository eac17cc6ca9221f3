// Where sleeping callers are woken together: those that a thread finishes inside a scope are woken
// when its outermost scope ends or is flushed. A caller that wakes up earlier only finds the mutex
// taken under which it was finished, or sends alone what could have gone out with the others'.
#pragma once

namespace mortise::net {

class caller;

class wake_scope {
 public:
  wake_scope() noexcept;
  ~wake_scope();
  wake_scope(const wake_scope&) = delete;
  wake_scope& operator=(const wake_scope&) = delete;

  // Wakes who is to be woken now. No mutex may be held that a woken caller could want.
  static void flush() noexcept;

 private:
  friend class caller;
  // Whether this thread is in a scope.
  static bool is_open() noexcept;
  // The caller says `finishing`, so it stays until it is woken.
  static void add(caller& finished) noexcept;
};

}  // namespace mortise::net
