#include "net/dial/dialer.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

namespace mortise::net {

namespace {

// RFC 8305, section 5: the Connection Attempt Delay.
constexpr time_ns next_after_ns = 250 * ns_per_ms;

// RFC 8305, section 4: the families alternate, so an unreachable family costs one delay.
std::vector<address> interleaved(std::vector<address> found) {
  for (std::size_t i = 1; i < found.size(); ++i) {
    const auto at = found.begin() + static_cast<std::ptrdiff_t>(i);
    const auto other = std::find_if(
        at, found.end(), [&](const auto& item) { return item.family() != found[i - 1].family(); });
    if (other != found.end()) std::rotate(at, other, other + 1);
  }
  return found;
}

}  // namespace

// One address in the race.
class dialer::racer final : public event_handler {
 public:
  racer(dialer& owner, const address& where) : owner_(owner), where_(where) {}
  ~racer() override { unwatch(); }
  racer(const racer&) = delete;
  racer& operator=(const racer&) = delete;

  [[nodiscard]] const address& where() const noexcept { return where_; }
  io_result start() {
    transport_ = owner_.make_transport_ ? owner_.make_transport_(owner_.host_)
                                        : std::make_unique<socket_transport>();
    return transport_->start_connect(where_);
  }
  // 0, or the errno.
  int watch(std::uint32_t events) noexcept {
    const int descriptor = transport_->descriptor();
    if (is_watched_) {
      owner_.loop_.modify(descriptor, events, *this);
      return 0;
    }
    const int error = owner_.loop_.add(descriptor, events, *this);
    is_watched_ = error == 0;
    return error;
  }
  std::unique_ptr<transport> take() noexcept {
    unwatch();
    return std::move(transport_);
  }
  [[nodiscard]] const char* describe(int error) const noexcept {
    return transport_->describe(error);
  }
  [[nodiscard]] advice advise(int error) const noexcept { return transport_->advise(error); }

 private:
  void unwatch() noexcept {
    if (std::exchange(is_watched_, false)) owner_.loop_.remove(transport_->descriptor(), *this);
  }
  // The racer may be destroyed afterwards.
  void on_ready(std::uint32_t) noexcept override {
    auto& owner = owner_;
    owner.attempt([this, &owner] {
      if (!owner.judge(*this, transport_->finish_connect())) owner.race();
    });
  }

  dialer& owner_;
  const address where_;
  std::unique_ptr<transport> transport_;
  bool is_watched_ = false;
};

dialer::dialer(reactor& loop, std::shared_ptr<resolver> where, transport_factory make_transport,
               dial_listener& listener)
    : loop_(loop),
      where_(where),
      make_transport_(std::move(make_transport)),
      listener_(listener),
      lookup_(loop, std::move(where), *this) {}

dialer::~dialer() { cancel(); }

// Exhausted memory ends the attempt. The next attempt may succeed.
template <class Step>
void dialer::attempt(Step&& step) noexcept try {
  step();
} catch (const std::bad_alloc&) {
  fail(outcome::of(status::no_memory, "cannot connect: out of memory"), false);
}

void dialer::begin(time_ns deadline) noexcept {
  cancel();
  deadline_ = deadline;
  failures_.clear();
  last_advice_ = {};
  is_resolved_ = true;
  loop_.schedule(*this, deadline);
}

void dialer::start(time_ns deadline) noexcept {
  waiting_.clear();
  begin(deadline);
  is_resolved_ = false;
  attempt([&] { lookup_.start(deadline); });
}

void dialer::go_on(time_ns deadline) noexcept {
  begin(deadline);
  attempt([&] { race(); });
}

void dialer::start_at(const address& where, const std::string& host, time_ns deadline) noexcept {
  waiting_.clear();
  begin(deadline);
  attempt([&] {
    host_ = host;
    waiting_.push_back(where);
    race();
  });
}

void dialer::cancel() noexcept {
  lookup_.abandon();
  loop_.cancel(static_cast<timer&>(*this));
  racers_.clear();
}

void dialer::fail(const outcome& why, bool is_definite) noexcept {
  cancel();
  waiting_.clear();
  listener_.on_dial_failed(why, is_definite);
}

void dialer::on_resolved(resolution found) noexcept {
  if (!found.result.ok()) {
    found.result.say(found.result.message, found.hint);
    return fail(found.result, !found.result.is_retryable);
  }
  is_resolved_ = true;
  attempt([&] {
    host_ = std::move(found.host);
    hint_ = std::move(found.hint);
    waiting_ = interleaved(std::move(found.addresses));
    race();
  });
}

// One more address joins, and further ones if it fails at once, or the race is over. A loop,
// because a name may have more addresses than the stack has room for.
void dialer::race() {
  while (!waiting_.empty()) {
    auto& next = racers_.emplace_back(*this, waiting_.front());
    waiting_.erase(waiting_.begin());
    loop_.schedule(*this,
                   waiting_.empty() ? deadline_ : std::min(deadline_, boot_now() + next_after_ns));
    if (judge(next, next.start())) return;
  }
  if (!racers_.empty()) return loop_.schedule(*this, deadline_);
  auto why =
      outcome::of(status::unreachable, "cannot connect to ", failures_, last_advice_.remedy, hint_);
  why.is_retryable = true;
  fail(why, last_advice_.is_definite);
}

// False when it has failed, and is destroyed.
bool dialer::judge(racer& candidate, io_result result) {
  if (result.state == io_state::done) {
    win(candidate);
    return true;
  }
  if (result.state == io_state::want_read || result.state == io_state::want_write) {
    result.error = candidate.watch(result.state == io_state::want_read ? EPOLLIN : EPOLLOUT);
    if (result.error == 0) return true;
  }
  lose(candidate, result.error);
  return false;
}

void dialer::win(racer& candidate) {
  auto connected = candidate.take();
  const auto where = candidate.where();
  // If the winner is the wrong server, the addresses that were started come next.
  for (auto other = racers_.rbegin(); other != racers_.rend(); ++other) {
    if (&*other != &candidate) waiting_.insert(waiting_.begin(), other->where());
  }
  cancel();
  listener_.on_dialed(std::move(connected), where);
}

void dialer::lose(racer& candidate, int error) {
  if (!failures_.empty()) failures_ += ", ";
  failures_ += candidate.where().text() + ": " + candidate.describe(error);
  last_advice_ = candidate.advise(error);
  racers_.remove_if([&](const racer& item) { return &item == &candidate; });
}

void dialer::on_timer(time_ns now) noexcept {
  attempt([&] {
    if (!is_resolved_) {
      auto why = outcome::of(status::unreachable, "the address of ", where_->text(),
                             " was not resolved in time; check the system's name service");
      why.is_retryable = true;
      return fail(why, false);
    }
    if (now >= deadline_) {
      waiting_.clear();
      while (!racers_.empty()) lose(racers_.front(), ETIMEDOUT);
    }
    race();
  });
}

}  // namespace mortise::net
