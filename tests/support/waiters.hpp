// Clients that wait for a lock in an order that a test knows, whatever happens to their servers.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/handles.hpp"

namespace mortise::testing {

constexpr int most_permits = 3;

// One lock of a kind, with the whole of it and parts.
class user {
 public:
  virtual ~user() = default;
  virtual mortise_status acquire(int permits) = 0;
  virtual mortise_status leave(int permits) = 0;
  [[nodiscard]] virtual std::int64_t token() const = 0;
};

class mutex_user final : public user {
 public:
  explicit mutex_user(const client_handle& client) : lock_(open_lock(client, "order")) {}
  mortise_status acquire(int /*permits*/) override {
    return mortise_lock_acquire(lock_.get(), patience_ms, nullptr);
  }
  mortise_status leave(int /*permits*/) override {
    return mortise_lock_unlock(lock_.get(), nullptr);
  }
  [[nodiscard]] std::int64_t token() const override { return mortise_lock_token(lock_.get()); }

 private:
  lock_handle lock_;
};

class rw_user final : public user {
 public:
  explicit rw_user(const client_handle& client) : rw_(open_rw(client, "order")) {}
  mortise_status acquire(int permits) override {
    return permits == most_permits ? mortise_rw_write_acquire(rw_.get(), patience_ms, nullptr)
                                   : mortise_rw_read_acquire(rw_.get(), patience_ms, nullptr);
  }
  mortise_status leave(int permits) override {
    return permits == most_permits ? mortise_rw_write_unlock(rw_.get(), nullptr)
                                   : mortise_rw_read_unlock(rw_.get(), nullptr);
  }
  [[nodiscard]] std::int64_t token() const override { return mortise_rw_token(rw_.get()); }

 private:
  rw_handle rw_;
};

class semaphore_user final : public user {
 public:
  explicit semaphore_user(const client_handle& client)
      : semaphore_(open_semaphore(client, "order", most_permits)) {}
  mortise_status acquire(int permits) override {
    return mortise_semaphore_acquire(semaphore_.get(), permits, patience_ms, nullptr);
  }
  mortise_status leave(int /*permits*/) override {
    const auto error = new_error();
    const auto status = mortise_semaphore_release(semaphore_.get(), error.get());
    if (status != MORTISE_OK) ADD_FAILURE() << mortise_error_message(error.get());
    return status;
  }
  [[nodiscard]] std::int64_t token() const override {
    return mortise_semaphore_token(semaphore_.get());
  }

 private:
  semaphore_handle semaphore_;
};

enum class kind : std::uint8_t { mutex, rw, semaphore };

inline std::string name_of(kind which) {
  return which == kind::mutex ? "mutex" : which == kind::rw ? "rw" : "semaphore";
}

inline std::unique_ptr<user> open_user(kind which, const client_handle& client) {
  if (which == kind::mutex) return std::make_unique<mutex_user>(client);
  if (which == kind::rw) return std::make_unique<rw_user>(client);
  return std::make_unique<semaphore_user>(client);
}

inline std::string queue_of(kind which) {
  const auto* const suffix = which == kind::mutex ? ":q" : which == kind::rw ? ":rq" : ":sq";
  return lock_key("order") + suffix;
}

// The permits that the waiter with this number acquires.
inline int permits_of(kind which, int number) {
  if (which == kind::mutex) return most_permits;
  return number % 3 == 0 ? most_permits : which == kind::rw ? 1 : number % 3;
}

// A client that waits in a thread of its own, and gives back what it gets at once.
class waiter {
 public:
  waiter(const std::string& url, kind which, int number)
      : client_(open_client(url)),
        lock_(open_user(which, client_)),
        permits_(permits_of(which, number)),
        thread_([this] {
          status_ = lock_->acquire(permits_);
          token_ = lock_->token();
          left_ = lock_->leave(permits_);
        }) {}
  ~waiter() { thread_.join(); }
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;

  // Its fencing token.
  std::int64_t end() {
    thread_.join();
    thread_ = std::thread([] {});
    EXPECT_EQ(status_name(MORTISE_OK), status_name(status_));
    EXPECT_EQ(status_name(MORTISE_OK), status_name(left_));
    return token_;
  }
  [[nodiscard]] int permits() const { return permits_; }

 private:
  const client_handle client_;
  const std::unique_ptr<user> lock_;
  const int permits_;
  mortise_status status_ = MORTISE_UNKNOWN;
  mortise_status left_ = MORTISE_UNKNOWN;
  std::int64_t token_ = 0;
  std::thread thread_;
};

// Of two that could not hold together, the first to come was the first to be let in.
inline void expect_in_order(const std::vector<std::unique_ptr<waiter>>& all) {
  std::vector<std::int64_t> tokens;
  tokens.reserve(all.size());
  for (const auto& one : all) tokens.push_back(one->end());
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      if (all[i]->permits() + all[j]->permits() <= most_permits) continue;
      EXPECT_LT(tokens[i], tokens[j]) << "waiters " << i + 1 << " and " << j + 1;
    }
  }
}

}  // namespace mortise::testing
