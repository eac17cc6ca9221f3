#include "support/contention.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <new>
#include <sstream>
#include <utility>

#include "lock/amount.hpp"
#include "support/handles.hpp"

namespace mortise::testing {

namespace {

void work_a_little(std::mt19937& chance) {
  const timespec pause{0, static_cast<long>(chance() % 5'000'000)};
  nanosleep(&pause, nullptr);
}

// One of the locks: a mutex, or a read-write lock that is read or written as chance will have it.
class contended {
 public:
  contended(const client_handle& client, std::size_t which, bool is_rw)
      : which_(which),
        lock_(is_rw ? nullptr : open_lock(client, name())),
        rw_(is_rw ? open_rw(client, name()) : nullptr) {}
  [[nodiscard]] std::size_t which() const { return which_; }
  [[nodiscard]] std::string name() const { return std::to_string(which_); }
  bool acquire(std::mt19937& chance) {
    is_read_ = rw_ && chance() % 3 != 0;
    const auto timeout_ms = chance() % 5 == 0 ? 0 : static_cast<std::int64_t>(chance() % 2000);
    if (lock_) return (timeout_ms == 0 ? try_lock() : acquire_lock(timeout_ms)) == MORTISE_OK;
    if (is_read_) return mortise_rw_read_acquire(rw_.get(), timeout_ms, nullptr) == MORTISE_OK;
    return mortise_rw_write_acquire(rw_.get(), timeout_ms, nullptr) == MORTISE_OK;
  }
  void unlock() {
    if (lock_) {
      mortise_lock_unlock(lock_.get(), nullptr);
    } else if (is_read_) {
      mortise_rw_read_unlock(rw_.get(), nullptr);
    } else {
      mortise_rw_write_unlock(rw_.get(), nullptr);
    }
  }
  [[nodiscard]] bool is_held() const {
    if (lock_) return mortise_lock_is_held(lock_.get()) == 1;
    return (is_read_ ? mortise_rw_is_reading(rw_.get()) : mortise_rw_is_writing(rw_.get())) == 1;
  }
  [[nodiscard]] std::int64_t token() const {
    return lock_ ? mortise_lock_token(lock_.get()) : mortise_rw_token(rw_.get());
  }
  [[nodiscard]] std::int64_t capacity() const { return rw_ ? lock::exclusive_permits : 1; }
  [[nodiscard]] std::int64_t permits() const { return is_read_ ? 1 : capacity(); }

 private:
  mortise_status try_lock() { return mortise_lock_try(lock_.get(), nullptr); }
  mortise_status acquire_lock(std::int64_t timeout_ms) {
    return mortise_lock_acquire(lock_.get(), timeout_ms, nullptr);
  }

  const std::size_t which_;
  const lock_handle lock_;
  const rw_handle rw_;
  bool is_read_ = false;
};

// Holds until chance or a loss ends it, and reports the time of its belief. Both times are on the
// safe side of the handle's, so that overlapping records are overlapping beliefs.
hold_record hold(const contended& lock, const shared_memory& store, std::mt19937& chance,
                 unsigned long_one_in) {
  hold_record record;
  record.name = lock.name();
  record.holder = std::to_string(getpid());
  record.token = lock.token();
  record.permits = lock.permits();
  record.capacity = lock.capacity();
  record.start_ns = record.end_ns = boot_now();
  const auto rounds = chance() % 8 + (chance() % long_one_in == 0 ? 200 : 0);
  for (unsigned round = 0; round <= rounds; ++round) {
    const auto now = boot_now();
    if (!lock.is_held()) break;
    record.end_ns = now;
    work_a_little(chance);
    // A process that is stopped here writes too late. Only the token reveals it.
    if (record.is_whole()) store->cells.at(lock.which()).write(record.token);
  }
  return record;
}

// One process: acquires, holds, unlocks, and reports each hold at its end.
void contend(child_end& test, const std::string& url, unsigned seed, const shared_memory& store,
             unsigned long_one_in, std::size_t rw_locks) {
  std::mt19937 chance(seed);
  client_handle client;
  while (!client && !store->is_over) {
    // The connection may be cut while it is being greeted.
    client.reset(mortise_client_new(url.data(), url.size(), nullptr, nullptr));
  }
  if (!client) return test.send("over");
  std::vector<std::unique_ptr<contended>> locks;
  for (std::size_t i = 0; i < contended_locks; ++i) {
    locks.push_back(std::make_unique<contended>(client, i, i < rw_locks));
  }
  while (!store->is_over) {
    auto& lock = *locks.at(chance() % contended_locks);
    if (!lock.acquire(chance)) continue;
    const auto record = hold(lock, store, chance, long_one_in);
    std::ostringstream line;
    write_history(line, {record});
    auto text = line.str();
    text.pop_back();
    test.send(text);
    lock.unlock();
  }
  test.send("over");
}

}  // namespace

unsigned chaos_seed() {
  if (const char* const given = std::getenv("MORTISE_CHAOS_SEED")) {
    return static_cast<unsigned>(std::strtoul(given, nullptr, 10));
  }
  const bool is_long = std::getenv("MORTISE_CHAOS_SECONDS") || std::getenv("MORTISE_TEST_FULL");
  return is_long ? std::random_device{}() : 1;
}

std::int64_t chaos_seconds(std::int64_t otherwise) {
  const char* const setting = std::getenv("MORTISE_CHAOS_SECONDS");
  return setting != nullptr ? std::atoll(setting) : otherwise;
}

void shared_store::cell::write(std::int64_t token) {
  auto seen = highest.load();
  while (token >= seen) {
    if (highest.compare_exchange_weak(seen, token)) {
      ++taken;
      return;
    }
  }
  ++refused;
}

shared_memory::shared_memory() {
  void* const room = mmap(nullptr, sizeof(shared_store), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  store_ = new (room) shared_store;
}

shared_memory::~shared_memory() { munmap(store_, sizeof(shared_store)); }

contenders::contenders(std::vector<std::string> urls, std::size_t count, unsigned seed,
                       unsigned long_one_in, std::size_t rw_locks,
                       std::function<void(std::size_t)> first)
    : urls_(std::move(urls)),
      seed_(seed),
      long_one_in_(long_one_in),
      rw_locks_(rw_locks),
      first_(std::move(first)),
      chance_(seed) {
  for (std::size_t i = 0; i < count; ++i) processes_.push_back(start());
}

contenders::process contenders::start() {
  const auto seed = static_cast<unsigned>(chance_());
  const auto number = started_++;
  const auto url = urls_.at(number % urls_.size());
  return {std::make_unique<child>([this, seed, number, url](child_end& test) {
            if (first_) first_(number);
            contend(test, url, seed, store_, long_one_in_, rw_locks_);
          }),
          0};
}

void contenders::kill_one() {
  auto& victim = processes_.at(chance_() % processes_.size());
  drain(*victim.body);
  victim.body->kill();
  victim = start();
  ++kills_;
}

void contenders::stop_one() {
  auto& victim = processes_.at(chance_() % processes_.size());
  if (victim.resume_at != 0) return;
  victim.body->pause();
  victim.resume_at = boot_now() + static_cast<time_ns>(chance_() % 1200) * ns_per_ms;
  ++stops_;
}

bool contenders::is_to_go_on(time_ns since, std::int64_t for_s, std::size_t least) const {
  constexpr std::int64_t longest_s = 120;
  const auto passed_ms = ms_since(since);
  if (passed_ms < for_s * 1000) return true;
  return history_.size() <= least && passed_ms < (for_s + longest_s) * 1000;
}

void contenders::harm_for(std::int64_t for_ms) {
  const auto since = boot_now();
  while (ms_since(since) < for_ms) {
    if (chance_() % 3 == 0) {
      kill_one();
    } else {
      stop_one();
    }
    collect();
    const timespec pause{0, static_cast<long>(80'000'000 + chance_() % 120'000'000)};
    nanosleep(&pause, nullptr);
  }
}

void contenders::collect() {
  for (auto& each : processes_) {
    drain(*each.body);
    if (each.resume_at == 0 || boot_now() < each.resume_at) continue;
    each.body->resume();
    each.resume_at = 0;
  }
}

void contenders::drain(child& body) {
  while (body.has_line() && take(body.receive())) {
  }
}

bool contenders::take(const std::string& line) {
  std::istringstream text(line);
  const auto before = history_.size();
  return read_history(text, history_) && history_.size() > before;
}

void contenders::finish() {
  store_->is_over = true;
  for (auto& each : processes_) {
    if (each.resume_at != 0) each.body->resume();
    std::string line = each.body->receive();
    while (take(line)) line = each.body->receive();
    EXPECT_EQ("over", line);
  }
  processes_.clear();
}

void contenders::report(const std::string& harm, bool is_exclusive) {
  constexpr std::size_t most = 100'000;
  finish();
  const auto violations = check_history(history_, {}, most);
  std::cout << harm << ": " << history_.size() << " acquisitions, " << kills_ << " kills and "
            << stops_ << " stops of clients, " << violations.size() << " violations, " << refused()
            << " stale writes refused; seed " << seed_ << '\n';
  for (const auto& violation : check_history(history_, {.is_exclusive = is_exclusive})) {
    ADD_FAILURE() << violation;
  }
}

std::int64_t contenders::refused() const {
  std::int64_t sum = 0;
  for (const auto& cell : store_->cells) sum += cell.refused;
  return sum;
}

}  // namespace mortise::testing
