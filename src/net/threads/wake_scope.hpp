// Wakes sleeping callers together. Callers that a thread finishes inside a scope are woken when the
// outermost scope ends or is flushed. A caller that wakes up earlier only finds the mutex of its
// finisher locked, or sends bytes alone that could go out with the others'.
#pragma once

namespace mortise::net {

class caller;

class wake_scope {
 public:
  wake_scope() noexcept;
  ~wake_scope();
  wake_scope(const wake_scope&) = delete;
  wake_scope& operator=(const wake_scope&) = delete;

  // Wakes the pending callers now. The thread must not hold a mutex that a woken caller could need.
  static void flush() noexcept;

 private:
  friend class caller;
  // Whether this thread is in a scope.
  static bool is_open() noexcept;
  // The caller is in `finishing`, so it stays alive until it is woken.
  static void add(caller& finished) noexcept;
};

}  // namespace mortise::net
