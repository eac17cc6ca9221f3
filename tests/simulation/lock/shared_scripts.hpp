// The scripts of read-write locks and semaphores, called by hand: three clients with an inbox each,
// and a server whose time is the test's.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "protocol/scripts/scripts.hpp"
#include "simulation/harness/simulated_redis.hpp"

namespace mortise::simulation {
inline const std::string alice = "m1:a:1.1::550";
inline const std::string bob = "m1:b:1.1::550";
inline const std::string carol = "m1:c:1.1::550";
inline const std::string whole = "1073741824";

class shared_scripts : public ::testing::Test {
 protected:
  shared_scripts() {
    for (const auto* client : {"a", "b", "c"}) subscribe(client);
  }
  // A step of a read-write lock, or of a semaphore with three permits.
  reply rw(const redis::script& script, const std::string& owner, const std::string& permits,
           const std::string& mode = "wait") {
    return server_.call({"EVAL", std::string(script.text), "3", "lock", "fence", "lock:rq", owner,
                         "500", mode, permits, whole});
  }
  reply semaphore(const redis::script& script, const std::string& owner, const std::string& permits,
                  const std::string& capacity = "3") {
    return server_.call({"EVAL", std::string(script.text), "4", "lock", "fence", "lock:sq",
                         "lock:permits", owner, "500", "wait", permits, capacity});
  }
  bool read(const std::string& owner, const std::string& mode = "wait") {
    return rw(scripts::shared_acquire, owner, "1", mode).items.at(0).integer == 1;
  }
  bool write(const std::string& owner, const std::string& mode = "wait") {
    return rw(scripts::shared_acquire, owner, whole, mode).items.at(0).integer == 1;
  }
  bool renew(const std::string& owner, const std::string& permits) {
    return rw(scripts::shared_renew, owner, permits, "0").items.at(0).integer == 1;
  }
  std::int64_t raise(const std::string& owner) {
    return rw(scripts::shared_raise, owner, "1").items.at(0).integer;
  }
  std::int64_t release(const std::string& owner, const std::string& permits) {
    return rw(scripts::shared_release, owner, permits).integer;
  }
  std::int64_t cancel(const std::string& owner, const std::string& permits) {
    return rw(scripts::shared_cancel, owner, permits).integer;
  }
  void subscribe(const std::string& client) {
    auto& listener = inboxes_[client] = &server_.connect();
    server_.call({"SUBSCRIBE", "mortise:inbox:" + client}, listener);
    listener->send = [this](std::string bytes) { published_ += bytes; };
  }
  void die(const std::string& client) { server_.disconnect(*inboxes_[client]); }
  void pass_ms(std::int64_t ms) { now_us_ += ms * 1000; }
  // The permits in use, by the counter.
  double in_use() {
    const auto* const lock = server_.find("lock");
    return lock == nullptr ? 0 : -lock->scores.at("rw");
  }
  bool holds(const std::string& entry) {
    const auto* const lock = server_.find("lock");
    return lock != nullptr && lock->scores.contains(entry);
  }
  [[nodiscard]] bool was_sent(const std::string& message) const {
    return published_.find(message) != std::string::npos;
  }

  std::int64_t now_us_ = 1'790'000'000'000'000;
  simulated_redis server_{[this] { return now_us_; }};
  std::map<std::string, session*> inboxes_;
  std::string published_;
};

}  // namespace mortise::simulation
