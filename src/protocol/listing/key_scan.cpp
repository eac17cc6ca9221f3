#include "protocol/listing/key_scan.hpp"

#include <algorithm>
#include <utility>

#include "protocol/native/owner_token.hpp"
#include "protocol/scripts/scripts.hpp"

namespace mortise::protocol {

namespace {

// Fields per key in the script's reply.
constexpr std::size_t fields_of_key = 5;

// The owner in an entry of a read-write lock or a semaphore.
std::string_view after_permits(std::string_view text) noexcept {
  return text.substr(text.find(' ') + 1);
}

// `own_begin` is empty for keys of other programs.
listing_entry entry_of(const redis::value& reply, std::size_t at, std::string_view own_begin) {
  listing_entry one;
  const auto key = reply.at(at).text();
  const auto type = reply.at(at + 1).text();
  one.source = "key";
  one.time_left_ms = std::max<std::int64_t>(reply.at(at + 2).integer(), 0);
  if (own_begin.empty()) {
    one.name = key;
    one.kind = "other";
    one.holds = 1;
    return one;
  }
  one.name = key.substr(own_begin.size(), key.size() - own_begin.size() - 1);
  one.kind = type == "string" ? "mutex" : type == "hash" ? "rw" : type;
  one.holds = reply.at(at + 3).integer();
  const auto owner = reply.at(at + 4).text();
  const auto parts = split_owner_token(type == "string" ? owner : after_permits(owner));
  one.client = parts.client;
  one.label = parts.label;
  return one;
}

}  // namespace

// The scan of one server.
class key_scan::part final : public dialogue {
 public:
  explicit part(key_scan& scan) : of_(scan) {}
  ~part() override {
    const std::lock_guard guard(of_.mutex_);
    if (looked_ > 0) ++of_.found_.answered;
    if (!is_over() || is_cut_) ++of_.found_.truncated;  // also when never reached
  }
  part(const part&) = delete;
  part& operator=(const part&) = delete;

  const command* next() override {
    if (is_over() || looked_ >= of_.most_keys_) return nullptr;
    {
      const std::lock_guard guard(of_.mutex_);
      if (of_.found_.entries.size() >= most_entries) return nullptr;
    }
    command_ = of_.step(*this);
    return &command_;
  }
  [[nodiscard]] const std::string& cursor() const noexcept { return cursor_; }
  [[nodiscard]] std::int64_t step_keys() const noexcept {
    return std::min(key_scan::step_keys, of_.most_keys_ - looked_);
  }
  void take(const redis::value& reply) {
    looked_ += step_keys();
    cursor_ = reply.at(0).text();
    is_cut_ = !of_.take(reply);
  }

 private:
  [[nodiscard]] bool is_over() const noexcept { return looked_ > 0 && cursor_ == "0"; }

  key_scan& of_;
  command command_;
  std::string cursor_ = "0";
  std::int64_t looked_ = 0;
  bool is_cut_ = false;  // the results did not fit
};

key_scan::key_scan(const key_scan_terms& terms)
    : own_begin_(terms.pattern.empty() ? terms.prefix + "{mortise:" : ""),
      pattern_(own_begin_.empty() ? terms.pattern : own_begin_ + "*}"),
      most_keys_(terms.most_keys) {}

std::unique_ptr<dialogue> key_scan::begin() { return std::make_unique<part>(*this); }

command key_scan::step(part& server) const {
  command made;
  made.write = [this, cursor = server.cursor(), count = server.step_keys()](std::string& out,
                                                                            bool) {
    redis::command_writer writer(out);
    writer.begin(7).arg("EVAL").arg(scripts::key_scan.text).arg("0");
    writer.arg(cursor).arg(pattern_).arg(count).arg(own_begin_.empty() ? "keys" : "locks");
  };
  made.read = [&server](const redis::value& reply) { server.take(reply); };
  return made;
}

// Whether all results of the step fitted.
bool key_scan::take(const redis::value& reply) {
  const std::lock_guard guard(mutex_);
  for (std::size_t at = 1; at + fields_of_key <= reply.size(); at += fields_of_key) {
    if (found_.entries.size() >= most_entries) return false;
    // Ignores a key that was not requested.
    if (reply.at(at).text().size() <= own_begin_.size()) continue;
    found_.entries.push_back(entry_of(reply, at, own_begin_));
  }
  return true;
}

void key_scan::take_into(listing& result) {
  const std::lock_guard guard(mutex_);
  result = std::move(found_);
}

}  // namespace mortise::protocol
