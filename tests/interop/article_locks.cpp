#include "interop/article_locks.hpp"

#include <ctime>

namespace mortise::testing {

namespace {

constexpr std::int64_t tolerance_ms = 1000;

class any_lock : public article_lock {
 public:
  any_lock(raw_client& server, std::string key) : server_(server), key_(std::move(key)) {}

 protected:
  std::string ask(const std::vector<std::string>& command) { return server_.command(command); }
  raw_client& server_;
  const std::string key_;
};

class token_lock final : public any_lock {
 public:
  using any_lock::any_lock;
  bool take(std::int64_t lease_ms) override {
    return ask({"SET", key_, token_, "NX", "PX", std::to_string(lease_ms)}) == "OK";
  }
  void release() override {
    if (ask({"GET", key_}) == token_) ask({"DEL", key_});
  }

 private:
  const std::string token_ = "an owner of another program";
};

class hash_lock final : public any_lock {
 public:
  using any_lock::any_lock;
  bool take(std::int64_t lease_ms) override {
    const bool is_free = ask({"EXISTS", key_}) == "0" || ask({"HEXISTS", key_, owner_}) == "1";
    if (!is_free) return false;
    ask({"HINCRBY", key_, owner_, "1"});
    ask({"PEXPIRE", key_, std::to_string(lease_ms)});
    return true;
  }
  void release() override {
    if (ask({"HEXISTS", key_, owner_}) == "0" || ask({"HINCRBY", key_, owner_, "-1"}) != "0")
      return;
    ask({"DEL", key_});
    ask({"PUBLISH", "redisson_lock__channel:{" + key_ + "}", "0"});
  }

 private:
  const std::string owner_ = "3f1c0a52-9b5e-4a53-8c0c-7c9d1f8e2b11:47";
};

// SETNX, and where that fails GET and GETSET.
class timestamp_lock : public any_lock {
 public:
  using any_lock::any_lock;
  bool take(std::int64_t lease_ms) override {
    const auto now = wall_ms();
    const auto until = text_of(now + lease_ms);
    if (ask({"SETNX", key_, until}) != "1") {
      if (!is_past(ask({"GET", key_}), now) || !is_past(ask({"GETSET", key_, until}), now)) {
        return false;
      }
    }
    until_ = until;
    on_taken(lease_ms);
    return true;
  }
  // Not earlier than ours.
  void release() override {
    const auto found = ask({"GET", key_});
    if (found != "(nil)" && found >= until_) ask({"DEL", key_});
  }

 protected:
  virtual std::string text_of(std::int64_t ms) {
    return std::to_string(ms / 1000) + "." + std::to_string(1000 + ms % 1000).substr(1);
  }
  virtual bool is_past(const std::string& found, std::int64_t now) {
    return found == "(nil)" || std::stod(found) * 1000 < static_cast<double>(now);
  }
  virtual void on_taken(std::int64_t /*lease_ms*/) {}

 private:
  std::string until_;
};

class binary_lock final : public timestamp_lock {
 public:
  using timestamp_lock::timestamp_lock;
  void release() override { ask({"DEL", key_}); }

 private:
  std::string text_of(std::int64_t ms) override { return big_endian(ms + tolerance_ms); }
  bool is_past(const std::string& found, std::int64_t now) override {
    return found == "(nil)" || from_big_endian(found) < now;
  }
  void on_taken(std::int64_t lease_ms) override {
    ask({"EXPIRE", key_, std::to_string((lease_ms + 999) / 1000)});
  }
};

// ---- read-write locks ----------------------------------------------------------------------

class two_key_reader final : public any_lock {
 public:
  using any_lock::any_lock;
  bool take(std::int64_t lease_ms) override {
    if (ask({"EXISTS", key_ + ":write"}) == "1") return false;
    return ask({"SET", key_ + ":read", "1", "PX", std::to_string(lease_ms)}) == "OK";
  }
  void release() override { ask({"DEL", key_ + ":read"}); }
};

class two_key_writer final : public any_lock {
 public:
  using any_lock::any_lock;
  bool take(std::int64_t lease_ms) override {
    if (ask({"EXISTS", key_ + ":read"}) == "1") return false;
    return ask({"SET", key_ + ":write", "1", "PX", std::to_string(lease_ms), "NX"}) == "OK";
  }
  void release() override { ask({"DEL", key_ + ":write"}); }
};

// Its lifetimes are its lease.
class field_lock final : public any_lock {
 public:
  field_lock(raw_client& server, std::string key, bool is_reader)
      : any_lock(server, std::move(key)), is_reader_(is_reader) {}
  bool take(std::int64_t lease_ms) override {
    const auto now = wall_ms();
    if (is_alive("write", now, lease_ms)) return false;
    if (!is_reader_ && is_alive("read", now, lease_ms)) return false;
    stamp_ = std::to_string(now);
    ask({"HSET", key_, field(), stamp_});
    ask({"PEXPIRE", key_, std::to_string(10 * lease_ms)});
    return true;
  }
  void release() override {
    if (ask({"HGET", key_, field()}) == stamp_) ask({"HDEL", key_, field()});
  }

 private:
  [[nodiscard]] const char* field() const { return is_reader_ ? "read" : "write"; }
  bool is_alive(const char* name, std::int64_t now, std::int64_t lifetime_ms) {
    const auto found = ask({"HGET", key_, name});
    return found != "(nil)" && now - std::stoll(found) <= lifetime_ms;
  }
  const bool is_reader_;
  std::string stamp_;
};

template <class Lock, class... Arguments>
auto maker(Arguments... arguments) {
  return [=](raw_client& server, const std::string& key) -> std::unique_ptr<article_lock> {
    return std::make_unique<Lock>(server, key, arguments...);
  };
}

}  // namespace

const std::vector<mutex_format>& mutex_formats() {
  static const std::vector<mutex_format> formats = {
      {"token", maker<token_lock>(), "string"},
      {"hash", maker<hash_lock>(), "hash"},
      {"timestamp", maker<timestamp_lock>(), "string"},
      {"timestamp_binary", maker<binary_lock>(), "string"},
  };
  return formats;
}

const std::vector<rw_format>& rw_formats() {
  static const std::vector<rw_format> formats = {
      {"two_key", maker<two_key_reader>(), maker<two_key_writer>()},
      {"hash", maker<field_lock>(true), maker<field_lock>(false)},
  };
  return formats;
}

std::int64_t wall_ms() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

std::string big_endian(std::int64_t number) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) {
    bytes += static_cast<char>(static_cast<unsigned char>(number >> shift));
  }
  return bytes;
}

std::int64_t from_big_endian(const std::string& bytes) {
  std::int64_t number = 0;
  for (const char byte : bytes) number = number * 256 + static_cast<unsigned char>(byte);
  return number;
}

}  // namespace mortise::testing
