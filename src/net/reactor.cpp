#include "net/reactor.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/system/private_descriptors.hpp"
#include "net/threads/thread.hpp"
#include "net/tls/openssl.hpp"

namespace mortise::net {

namespace {

constexpr int batch_limit = 16;
// The timers of one turn. Early timers join due ones up to this number, and further due ones wait
// until tasks and descriptors had their turn.
constexpr int timer_limit = 32;
constexpr std::size_t io_stack_bytes = 128U << 10U;

outcome refusal(const char* what, int error) {
  return outcome::of(error == ENOMEM ? status::no_memory : status::limit, "cannot create ", what,
                     ": ", std::strerror(error),
                     "; raise the limit on open files and threads (ulimit -n, ulimit -u) or use "
                     "fewer clients");
}

}  // namespace

// Not earlier: a thread that has posted may be about to wake the loop. The number of a closed
// descriptor may be in use again at once.
reactor::~reactor() {
  stop();
  close_descriptors();
}

outcome reactor::open_descriptors() {
  epoll_fd_ = keep_private(::epoll_create1(EPOLL_CLOEXEC));
  if (epoll_fd_ < 0) return refusal("an epoll descriptor", errno);
  wake_fd_ = keep_private(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (wake_fd_ < 0) return refusal("an eventfd", errno);
  clock_fd_ = keep_private(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
  if (clock_fd_ < 0) return refusal("a timerfd", errno);
  // Edge-triggered: each write and each expiry is one event, and needs no read.
  for (int* own : {&wake_fd_, &clock_fd_}) {
    epoll_event event{};
    event.events = EPOLLIN | static_cast<std::uint32_t>(EPOLLET);
    event.data.ptr = own;
    if (::epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, *own, &event) != 0) {
      return refusal("an epoll entry", errno);
    }
  }
  return {};
}

void reactor::close_descriptors() noexcept {
  for (int* own : {&epoll_fd_, &wake_fd_, &clock_fd_}) {
    close_private(*own);
    *own = -1;
  }
}

outcome reactor::start() {
  auto result = open_descriptors();
  if (result.ok()) {
    const std::lock_guard guard(mutex_);
    const int error = start_thread(thread_, io_stack_bytes, &reactor::enter, this);
    if (error == 0) {
      is_started_ = true;
      return {};
    }
    result = refusal("the I/O thread", error);
  }
  close_descriptors();
  return result;
}

void reactor::stop() noexcept {
  if (is_started_) {
    is_stopping_.store(true);
    kick();
    ::pthread_join(thread_, nullptr);
    is_started_ = false;
  }
}

bool reactor::is_current_thread() const noexcept {
  return is_started_ && ::pthread_equal(thread_, ::pthread_self()) != 0;
}

int reactor::add(int descriptor, std::uint32_t events, event_handler& handler) noexcept {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &handler;
  return ::epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, descriptor, &event) == 0 ? 0 : errno;
}

void reactor::modify(int descriptor, std::uint32_t events, event_handler& handler) noexcept {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &handler;
  ::epoll_ctl(epoll_fd_, EPOLL_CTL_MOD, descriptor, &event);
}

void reactor::pause(int descriptor) noexcept {
  epoll_event unused{};
  ::epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, descriptor, &unused);
}

void reactor::remove(int descriptor, event_handler& handler) noexcept {
  pause(descriptor);
  for (int i = 0; i < batch_size_; ++i) {
    if (batch_[i].data.ptr == &handler) batch_[i].data.ptr = nullptr;
  }
}

void reactor::arm_clock(time_ns at_ns) noexcept {
  clock_armed_for_ = at_ns;
  itimerspec when{};
  const time_ns at_least_one = at_ns > 0 ? at_ns : 1;  // 0 would disarm it
  when.it_value.tv_sec = static_cast<std::time_t>(at_least_one / ns_per_s);
  when.it_value.tv_nsec = static_cast<long>(at_least_one % ns_per_s);
  ::timerfd_settime(clock_fd_, TFD_TIMER_ABSTIME, &when, nullptr);
}

void reactor::schedule(timer& item, time_ns at_ns, time_ns slack_ns) noexcept {
  const std::lock_guard guard(mutex_);
  timers_.insert(item, at_ns, slack_ns);
  // An early alarm is cheaper than a system call for each change.
  if (timers_.earliest() < clock_armed_for_) arm_clock(timers_.earliest());
}

void reactor::cancel(timer& item) noexcept {
  std::unique_lock lock(mutex_);
  timers_.remove(item);
  if (running_ != &item || is_current_thread()) return;
  ++waiting_for_run_;
  has_run_.wait(lock, [&] { return running_ != &item; });
  --waiting_for_run_;
  timers_.remove(item);  // it may have scheduled itself again
}

void reactor::post(task& item) noexcept {
  bool must_kick = false;
  {
    const std::lock_guard guard(mutex_);
    if (item.is_posted_) return;
    item.is_posted_ = true;
    tasks_.push(item);
    must_kick = is_asleep_;
    is_asleep_ = false;
  }
  if (must_kick) kick();
}

void reactor::cancel(task& item) noexcept {
  std::unique_lock lock(mutex_);
  const auto unlink = [&] {
    if (!item.is_posted_) return;
    tasks_.remove(item);
    item.is_posted_ = false;
  };
  unlink();
  if (running_ != &item || is_current_thread()) return;
  ++waiting_for_run_;
  has_run_.wait(lock, [&] { return running_ != &item; });
  --waiting_for_run_;
  unlink();
}

void reactor::kick() const noexcept {
  const std::uint64_t one = 1;
  while (::write(wake_fd_, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

void* reactor::enter(void* self) noexcept {
  auto& me = *static_cast<reactor*>(self);
  ::prctl(PR_SET_NAME, "mortise-io");
  { const std::lock_guard guard(me.mutex_); }  // start() has written thread_
  me.run();
  openssl::end_thread();
  return nullptr;
}

void reactor::run() noexcept {
  while (!is_stopping_.load()) {
    run_tasks();
    sleep_and_dispatch();
  }
}

void reactor::run_tasks() noexcept {
  std::unique_lock lock(mutex_);
  // Tasks that these tasks post run after the next look at the descriptors.
  task* const last = tasks_.last();
  for (bool is_last = last == nullptr; !is_last;) {
    task* item = tasks_.pop();
    if (item == nullptr) return;
    is_last = item == last;
    item->is_posted_ = false;
    running_ = item;
    lock.unlock();
    item->run();
    lock.lock();
    running_ = nullptr;
    if (waiting_for_run_ > 0) has_run_.notify_all();
  }
}

void reactor::run_timers() noexcept {
  std::unique_lock lock(mutex_);
  clock_armed_for_ = 0;  // not before the end of this function
  const time_ns now = boot_now();
  for (int count = 0; count < timer_limit; ++count) {
    timer* const item = timers_.take_due(now, count > 0);
    if (item == nullptr) break;
    running_ = item;
    lock.unlock();
    item->on_timer(now);
    lock.lock();
    running_ = nullptr;
    if (waiting_for_run_ > 0) has_run_.notify_all();
  }
  are_timers_due_ = timers_.earliest() <= now;
  clock_armed_for_ = time_never;
  if (!are_timers_due_ && timers_.earliest() < time_never) arm_clock(timers_.earliest());
}

void reactor::sleep_and_dispatch() noexcept {
  int timeout_ms = 0;
  {
    const std::lock_guard guard(mutex_);
    is_asleep_ = tasks_.is_empty() && !are_timers_due_;
    if (is_asleep_) timeout_ms = -1;
  }
  epoll_event events[batch_limit];
  const int count = ::epoll_wait(epoll_fd_, events, batch_limit, timeout_ms);
  {
    const std::lock_guard guard(mutex_);
    is_asleep_ = false;
  }
  bool is_time = are_timers_due_;
  batch_ = events;
  batch_size_ = count < 0 ? 0 : count;
  for (int i = 0; i < batch_size_ && !is_stopping_.load(); ++i) {
    void* const target = events[i].data.ptr;
    if (target == nullptr || target == &wake_fd_) continue;
    if (target == &clock_fd_) {
      is_time = true;
    } else {
      static_cast<event_handler*>(target)->on_ready(events[i].events);
    }
  }
  batch_size_ = 0;
  if (is_time && !is_stopping_.load()) run_timers();
}

}  // namespace mortise::net
