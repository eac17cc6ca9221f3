#include "safety/contention.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <sstream>
#include <utility>

#include "safety/handles.hpp"

namespace mortise::testing {

namespace {

void work_a_little(std::mt19937& chance) {
  const timespec pause{0, static_cast<long>(chance() % 5'000'000)};
  nanosleep(&pause, nullptr);
}

// Holds until chance or a loss ends it, and tells for how long it believed so. Both times are taken
// on the safe side of what the handle says, so that overlapping records are overlapping beliefs.
hold_record hold(mortise_lock* lock, int which, const shared_memory& store, std::mt19937& chance,
                 unsigned long_one_in) {
  hold_record record;
  record.name = std::to_string(which);
  record.holder = std::to_string(getpid());
  record.token = mortise_lock_token(lock);
  record.start_ns = record.end_ns = boot_now();
  const auto rounds = chance() % 8 + (chance() % long_one_in == 0 ? 200 : 0);
  for (unsigned round = 0; round <= rounds; ++round) {
    const auto now = boot_now();
    if (mortise_lock_is_held(lock) != 1) break;
    record.end_ns = now;
    work_a_little(chance);
    // Whoever is stopped here writes too late, which only the token tells.
    store->cells.at(static_cast<std::size_t>(which)).write(record.token);
  }
  return record;
}

// One process: acquires, holds, unlocks, and tells each hold when it is over.
void contend(child_end& test, const std::string& url, unsigned seed, const shared_memory& store,
             unsigned long_one_in) {
  std::mt19937 chance(seed);
  client_handle client;
  while (!client && !store->is_over) {
    // The connection may be cut while it is being greeted.
    client.reset(mortise_client_new(url.data(), url.size(), nullptr, nullptr));
  }
  if (!client) return test.say("over");
  std::vector<lock_handle> locks;
  for (int i = 0; i < contended_locks; ++i) locks.push_back(open_lock(client, std::to_string(i)));
  while (!store->is_over) {
    const auto which = static_cast<int>(chance() % contended_locks);
    auto* const lock = locks.at(static_cast<std::size_t>(which)).get();
    const auto got = chance() % 5 == 0 ? mortise_lock_try(lock, nullptr)
                                       : mortise_lock_acquire(lock, chance() % 2000, nullptr);
    if (got != MORTISE_OK) continue;
    const auto record = hold(lock, which, store, chance, long_one_in);
    std::ostringstream line;
    write_history(line, {record});
    auto text = line.str();
    text.pop_back();
    test.say(text);
    mortise_lock_unlock(lock, nullptr);
  }
  test.say("over");
}

}  // namespace

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
                       unsigned long_one_in)
    : urls_(std::move(urls)), long_one_in_(long_one_in), chance_(seed) {
  for (std::size_t i = 0; i < count; ++i) processes_.push_back(start());
}

contenders::process contenders::start() {
  const auto seed = static_cast<unsigned>(chance_());
  const auto url = urls_.at(started_++ % urls_.size());
  return {std::make_unique<child>([this, seed, url](child_end& test) {
            contend(test, url, seed, store_, long_one_in_);
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

void contenders::collect() {
  for (auto& each : processes_) {
    drain(*each.body);
    if (each.resume_at == 0 || boot_now() < each.resume_at) continue;
    each.body->resume();
    each.resume_at = 0;
  }
}

void contenders::drain(child& body) {
  while (body.has_line() && take(body.hear())) {
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
    std::string line = each.body->hear();
    while (take(line)) line = each.body->hear();
    EXPECT_EQ("over", line);
  }
  processes_.clear();
}

std::int64_t contenders::refused() const {
  std::int64_t sum = 0;
  for (const auto& cell : store_->cells) sum += cell.refused;
  return sum;
}

}  // namespace mortise::testing
