// The other program of the interop tests. It locks as its format's users do, with plain commands on
// a bare connection and its own clock.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/server.hpp"

namespace mortise::testing {

class article_lock {
 public:
  virtual ~article_lock() = default;
  // One attempt; whether it holds the lock now, for that long.
  virtual bool take(std::int64_t lease_ms) = 0;
  virtual void release() = 0;
};

// A format of the mutex, as the option `protocol` names it.
struct mutex_format {
  std::string protocol;
  std::function<std::unique_ptr<article_lock>(raw_client& server, const std::string& key)> other;
  // What the key holds while we hold it, with each digit and letter of an owner as it is.
  std::string type;
};

const std::vector<mutex_format>& mutex_formats();

// A format of the read-write lock: one reader or writer of the other program.
struct rw_format {
  std::string protocol;
  std::function<std::unique_ptr<article_lock>(raw_client& server, const std::string& name)> reader;
  std::function<std::unique_ptr<article_lock>(raw_client& server, const std::string& name)> writer;
};

const std::vector<rw_format>& rw_formats();

// The time of day in ms.
std::int64_t wall_ms();
// A time as 8 bytes, the highest first.
std::string big_endian(std::int64_t number);
std::int64_t from_big_endian(const std::string& bytes);

}  // namespace mortise::testing
