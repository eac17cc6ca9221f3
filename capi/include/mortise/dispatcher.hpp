/** A dispatcher for event loops, from C++20 on: callbacks for calls, and stops for losses. */
#ifndef MORTISE_DISPATCHER_HPP
#define MORTISE_DISPATCHER_HPP

#include <functional>
#include <optional>
#include <unordered_map>

#include "multi.hpp"

#if MORTISE_HAS_STOP_TOKEN

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

/**
 * A dispatcher connects a queue to any event loop. The loop polls `fd` for reading and then calls
 * `dispatch`, which calls the callbacks of the events. Use it in one thread at a time. Callbacks
 * run in the thread that dispatches. It can be neither copied nor moved. Its destructor cancels its
 * waits, releases the grants that it has not dispatched, and calls nothing. It blocks until the
 * waits have ended, at most 5 s, and while it releases.
 *
 * A callback must be copyable. It may start further calls, and must not destroy the dispatcher.
 */
class dispatcher {
 public:
  /** The callback of an acquire. */
  using acquired = std::function<void(result<hold>)>;
  /** The callback of an unlock. */
  using unlocked = std::function<void(result<void>)>;

  /** Takes ownership of a queue without other readers, such as one of `queue::make`. */
  explicit dispatcher(queue of) noexcept : queue_(std::move(of)) {}
  dispatcher(const dispatcher &) = delete;
  dispatcher &operator=(const dispatcher &) = delete;
  ~dispatcher() {
    queue_.shutdown();
    // The client may still report a grant that the shutdown did not cancel.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (!waits_.empty()) {
      const status code = queue_.next(event_, end);
      // A wake ends `next` early.
      if (code == status::timed_out && std::chrono::steady_clock::now() < end) continue;
      if (code != status::ok) break;
      const auto ended = waits_.extract(event_.tag());
      const bool is_grant = event_.kind() == event_kind::acquired && event_.status() == status::ok;
      if (!is_grant || !ended) continue;
      const hold unread(ended.mapped().of, *ended.mapped().how, event_);
    }
  }

  /** A descriptor that is readable while there is something to dispatch. Only poll it. */
  int fd() const noexcept { return queue_.fd(); }
  /**
   * Calls the callbacks of all present events, and of those that arrive meanwhile.
   * @param wait how long to wait for the first event. An event loop does not wait.
   * @return the number of events.
   */
  std::size_t dispatch(const timeout &wait = std::chrono::milliseconds(0)) {
    std::size_t count = 0;
    const timeout none = std::chrono::milliseconds(0);
    while (queue_.next(event_, count == 0 ? wait : none) == status::ok) {
      ++count;
      handle_event();
    }
    return count;
  }
  /** Makes one waiting `dispatch` return now. Any thread. Async-signal-safe. */
  void wake() noexcept { queue_.wake(); }

  /**
   * Starts `mutex::acquire` and later calls `done` with its result.
   * @param wait how long to wait, and the stop that ends the wait.
   * @return a number of this call, for `abandon`. If the call is not accepted, the error, and
   *   `done` is not called.
   */
  result<std::int64_t> acquire(mutex &of, const timeout &wait, acquired done) {
    return begin(of, detail::lock_mode, wait, std::move(done),
                 [&](std::int64_t tag) { return of.acquire_async(queue_, tag, wait); });
  }
  /** Starts `semaphore::acquire` of `permits`. Otherwise as the acquire of a mutex. */
  result<std::int64_t> acquire(semaphore &of, const timeout &wait, std::int64_t permits,
                               acquired done) {
    return begin(of, detail::semaphore_mode, wait, std::move(done),
                 [&](std::int64_t tag) { return of.acquire_async(queue_, tag, wait, permits); });
  }
  /** Starts `multi::acquire`. Otherwise as the acquire of a mutex. */
  result<std::int64_t> acquire(multi &of, const timeout &wait, acquired done) {
    return begin(of, detail::multi_mode, wait, std::move(done),
                 [&](std::int64_t tag) { return of.acquire_async(queue_, tag, wait); });
  }
  /** Starts `rw::read`. Otherwise as the acquire of a mutex. */
  result<std::int64_t> read(rw &of, const timeout &wait, acquired done) {
    return begin(of, detail::rw_modes::reading, wait, std::move(done),
                 [&](std::int64_t tag) { return of.read_async(queue_, tag, wait); });
  }
  /** Starts `rw::write`. Otherwise as the acquire of a mutex. */
  result<std::int64_t> write(rw &of, const timeout &wait, acquired done) {
    return begin(of, detail::rw_modes::writing, wait, std::move(done),
                 [&](std::int64_t tag) { return of.write_async(queue_, tag, wait); });
  }
  /**
   * Starts `hold::unlock` and later calls `done` with its result. The hold ends now.
   * @return a number of this call, or the error, as `acquire`.
   */
  result<std::int64_t> unlock(hold &given, unlocked done) {
    const std::int64_t tag = ++last_tag_;
    const auto accepted = given.unlock_async(queue_, tag);
    if (!accepted) return unexpected(accepted.error());
    unlocks_.emplace(tag, std::move(done));
    return tag;
  }
  /**
   * Forgets a call: its callback is never called. An acquire stops waiting, and a grant that still
   * arrives is released.
   */
  void abandon(std::int64_t number) {
    unlocks_.erase(number);
    const auto found = waits_.find(number);
    if (found == waits_.end()) return;
    found->second.done = nullptr;
    found->second.of->calls.cancel(found->second.of->raw, nullptr);
  }
  /**
   * Stops the work when this handle loses its hold: the next `dispatch` after the first loss
   * requests this stop. A new watch of the handle replaces the old one. A loss before the watch is
   * not reported: watch the handle before the acquire, or watch the hold.
   * @return the results of `handle::watch`.
   */
  result<void> watch(handle &of, std::stop_source work) {
    return watch_owner(*of.owner(), std::move(work));
  }
  /**
   * Watches the handle of this hold, as above. If the hold has ended before the watch, the stop is
   * requested at once.
   * @return the results of `handle::watch`, or status::not_owner for an empty hold.
   */
  result<void> watch(const hold &of, std::stop_source work) {
    if (of.owner() == nullptr) {
      return unexpected(error(status::not_owner, "this hold is empty; give a hold of a handle"));
    }
    auto accepted = watch_owner(*of.owner(), work);
    // In this order, because from now on an event reports a loss. Not by `is_held`, because a hold
    // that awaits replicas has not ended.
    if (accepted && of.deadline() == boot_clock::time_point()) work.request_stop();
    return accepted;
  }

 private:
  struct interruption {
    detail::owner *of;
    void operator()() const noexcept { of->calls.interrupt(of->raw, 1, nullptr); }
  };
  /** An acquire that has not ended. */
  struct waiting {
    waiting(std::shared_ptr<detail::owner> owner, const detail::mode &mode,
            const std::stop_token &token, acquired function)
        : of(std::move(owner)), how(&mode), done(std::move(function)), stop(token) {
      if (stop.stop_possible()) on_stop.emplace(stop, interruption{of.get()});
    }
    ~waiting() {
      on_stop.reset();
      if (stop.stop_requested()) of->end_stop();
    }

    std::shared_ptr<detail::owner> of;
    const detail::mode *how;
    acquired done;
    std::stop_token stop;
    std::optional<std::stop_callback<interruption>> on_stop;
  };

  template <class Start>
  result<std::int64_t> begin(handle &of, const detail::mode &how, const timeout &wait,
                             acquired &&done, const Start &start) {
    const std::int64_t tag = ++last_tag_;
    waits_.try_emplace(tag, of.owner(), how, wait.stop(), std::move(done));
    const result<void> accepted = start(tag);
    if (accepted) return tag;
    waits_.erase(tag);
    return unexpected(accepted.error());
  }
  result<void> watch_owner(detail::owner &of, std::stop_source work) {
    const std::int64_t tag = ++last_tag_;
    mortise_error *filled = detail::error_of_thread();
    auto accepted = detail::done(of.calls.watch(of.raw, queue_.raw(), tag, filled), filled);
    if (!accepted) return accepted;
    std::int64_t &watched = watches_[&of];
    losses_.erase(watched);
    losses_.emplace(tag, std::move(work));
    watched = tag;
    return {};
  }
  void handle_event() {
    const std::int64_t tag = event_.tag();
    switch (event_.kind()) {
      case event_kind::acquired:
        return end_wait(tag);
      case event_kind::unlocked:
        return end_unlock(tag);
      case event_kind::lost:
        return tell_loss(tag);
      default:
        return;
    }
  }
  void end_wait(std::int64_t tag) {
    const auto found = waits_.find(tag);
    if (found == waits_.end()) return;
    const auto of = found->second.of;
    const detail::mode &how = *found->second.how;
    const acquired done = std::move(found->second.done);
    waits_.erase(found);
    if (event_.status() != status::ok) {
      if (done) done(unexpected(event_.outcome().error()));
      return;
    }
    hold given(of, how, event_);
    if (done) {
      done(std::move(given));
    } else {
      static_cast<void>(given.unlock_async(queue_, 0));
    }
  }
  void end_unlock(std::int64_t tag) {
    auto found = unlocks_.extract(tag);
    if (found) found.mapped()(event_.outcome());
  }
  void tell_loss(std::int64_t tag) {
    auto found = losses_.extract(tag);
    if (found) found.mapped().request_stop();
  }

  std::unordered_map<std::int64_t, waiting> waits_;
  std::unordered_map<std::int64_t, unlocked> unlocks_;
  std::unordered_map<std::int64_t, std::stop_source> losses_;
  /** The tag of each handle's watch. */
  std::unordered_map<const detail::owner *, std::int64_t> watches_;
  std::int64_t last_tag_ = 0;
  event event_;
  /** The last member, so that it is destroyed first. Nothing starts after that. */
  queue queue_;
};

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif

#endif  // MORTISE_DISPATCHER_HPP
