/** Awaitable calls for coroutines, from C++20 on. */
#ifndef MORTISE_AWAITABLE_HPP
#define MORTISE_AWAITABLE_HPP

#include "dispatcher.hpp"

#if MORTISE_HAS_STOP_TOKEN && defined(__cpp_impl_coroutine)
#include <coroutine>

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

/**
 * A call of a dispatcher that a coroutine awaits at once, as in `co_await
 * mortise::acquire(dispatcher, lock, 5s)`.
 *
 * The coroutine resumes in `dispatcher::dispatch`. If the call is not accepted, it continues
 * without a pause. If the coroutine is destroyed while it waits, the call is abandoned. The
 * awaitable refers to its arguments, and stores nothing by value that needs a destructor.
 */
template <class Value, class Begin>
class [[nodiscard]] awaitable {
 public:
  awaitable(dispatcher &on, const Begin &begin) : on_(on), begin_(begin) {}
  awaitable(const awaitable &) = delete;
  awaitable &operator=(const awaitable &) = delete;
  ~awaitable() {
    if (number_ != 0) on_.abandon(number_);
  }

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> waiter) {
    const auto begun = begin_(on_, [this, waiter](result<Value> given) {
      number_ = 0;
      outcome_.emplace(std::move(given));
      waiter.resume();
    });
    if (begun) {
      number_ = *begun;
    } else {
      outcome_.emplace(unexpected(begun.error()));
    }
    return begun.has_value();
  }
  result<Value> await_resume() { return *std::move(outcome_); }

 private:
  dispatcher &on_;
  Begin begin_;
  std::int64_t number_ = 0;
  std::optional<result<Value>> outcome_;
};

namespace detail {

template <class Value, class Begin>
awaitable<Value, Begin> awaited(dispatcher &on, const Begin &begin) {
  return {on, begin};
}

}  // namespace detail

/** Awaits an acquire of a mutex or a multi. The result is that of `mutex::acquire`. */
template <class Kind>
auto acquire(dispatcher &on, Kind &of, const timeout &wait) {
  return detail::awaited<hold>(on, [&of, &wait](dispatcher &by, dispatcher::acquired done) {
    return by.acquire(of, wait, std::move(done));
  });
}
/** Awaits `permits` of a semaphore. The result is that of `semaphore::acquire`. */
inline auto acquire(dispatcher &on, semaphore &of, const timeout &wait,
                    const std::int64_t &permits) {
  return detail::awaited<hold>(on, [&](dispatcher &by, dispatcher::acquired done) {
    return by.acquire(of, wait, permits, std::move(done));
  });
}
/** Awaits a read-write lock, to read. The result is that of `rw::read`. */
inline auto read(dispatcher &on, rw &of, const timeout &wait) {
  return detail::awaited<hold>(on, [&](dispatcher &by, dispatcher::acquired done) {
    return by.read(of, wait, std::move(done));
  });
}
/** Awaits a read-write lock, to write. The result is that of `rw::write`. */
inline auto write(dispatcher &on, rw &of, const timeout &wait) {
  return detail::awaited<hold>(on, [&](dispatcher &by, dispatcher::acquired done) {
    return by.write(of, wait, std::move(done));
  });
}
/** Awaits an unlock without blocking the loop. The result is that of `hold::unlock`. */
inline auto unlock(dispatcher &on, hold &given) {
  return detail::awaited<void>(on, [&](dispatcher &by, dispatcher::unlocked done) {
    return by.unlock(given, std::move(done));
  });
}

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif

#endif  // MORTISE_AWAITABLE_HPP
