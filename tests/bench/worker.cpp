#include "worker.hpp"

#include <utility>
#include <vector>

#include "harness.hpp"
#include "subject.hpp"

namespace mortise::bench {

namespace {

constexpr std::int64_t give_up_ms = 60'000;
constexpr std::int64_t give_up_ns = give_up_ms * 1'000'000;

struct owner {
  client_ptr client;
  queue_ptr queue;
  lock_ptr lock;
};

}  // namespace

worker::worker(std::string url, std::string name, std::string options, int owners)
    : url_(std::move(url)),
      name_(std::move(name)),
      options_(std::move(options)),
      owners_(owners),
      process_([this] { run(); }) {
  // Getting ready is its first step.
  board_->step_count = 1;
  finish();
}

void worker::begin(act what) {
  board_->what = what;
  board_->step_count.fetch_add(1);
  wake_all(board_->step_count);
}

void worker::finish() {
  const auto deadline = now_ns() + give_up_ns;
  for (;;) {
    const auto done = board_->done.load();
    if (done >= board_->step_count.load()) return;
    int exit_code = 0;
    require(!process_.has_ended(exit_code), "a worker has ended");
    require(now_ns() < deadline, "a worker does not finish its step");
    wait_on(board_->done, done);
  }
}

void worker::run() const {
  std::vector<owner> owners(static_cast<std::size_t>(owners_));
  for (auto& item : owners) {
    item.client = open_client(url_);
    item.queue = make_queue(item.client.get(), 16);
    item.lock = make_lock(item.client.get(), name_, options_);
  }
  for (std::uint32_t step = 1;; ++step) {
    board_->done = step;
    wake_all(board_->done);
    for (auto seen = step; seen <= step; seen = board_->step_count.load()) {
      wait_on(board_->step_count, seen);
    }
    board_->began_ns = now_ns();
    switch (board_->what.load()) {
      case act::none:
        break;
      case act::acquire:
        check(mortise_lock_acquire(owners.front().lock.get(), give_up_ms, nullptr), "acquire");
        break;
      case act::enqueue:
        for (auto& item : owners) {
          check(
              mortise_lock_acquire_async(item.lock.get(), item.queue.get(), 0, give_up_ms, nullptr),
              "mortise_lock_acquire_async");
        }
        break;
      case act::unlock:
        check(mortise_lock_unlock(owners.front().lock.get(), nullptr), "unlock");
        break;
    }
    board_->ended_ns = now_ns();
  }
}

}  // namespace mortise::bench
