#include "evidence/checker/claims.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

namespace mortise::evidence {

namespace {

// A part of a read-write lock that has no limit of its own.
constexpr std::int64_t all_readers = std::int64_t{1} << 30;
// The library rounds the end of a lease down to a multiple of this.
constexpr std::int64_t rounding_ns = 1024;

// Follows one owner through its calls, which come one after the other.
class owner_walk {
 public:
  owner_walk(const operation& first, claims& found)
      : found_(found),
        usage_(found.usage[first.name]),
        name_(first.name),
        holder_(std::to_string(first.process) + "/" + std::to_string(first.client) + "/" +
                std::to_string(first.owner)) {}

  void take(const operation& one) {
    if (one.op == "acquire" || one.op == "try") {
      acquire(one);
    } else if (one.op == "unlock") {
      unlock(one);
    } else if (one.op == "extend") {
      if (one.status == "ok") confirm(one);
      if (one.status == "lost") lose(one);
    } else if (one.op == "is_held") {
      if (one.is_held) {
        confirm(one);
      } else if (one.lease_end_ns <= one.return_ns) {
        // Otherwise the hold is in doubt, which only acks bring about.
        lose(one);
      }
    } else if (one.op == "lost") {
      if (current_ && current_->hold == one.hold) lose(one);
    } else if (one.op == "upgrade") {
      upgrade(one);
    } else if (one.op == "downgrade") {
      downgrade(one);
    }
  }

  // A process that was killed: a release may have been under way.
  void cut_off() {
    if (current_) finish(current_->evidence_ns, current_->lease_end_ns);
  }

 private:
  struct claim {
    std::int64_t hold;
    std::int64_t token;
    std::int64_t start_ns;  // of this mode
    std::int64_t weight;
    std::int64_t limit;
    int count;
    std::int64_t evidence_ns;   // when the client certainly held
    std::int64_t lease_end_ns;  // the latest that the client reported
    std::int64_t granted_ns;
  };

  static bool is_writer(const operation& one) { return one.kind != "rw" || one.mode == "write"; }
  [[nodiscard]] bool is_whole() const { return current_->weight >= current_->limit; }

  void acquire(const operation& one) {
    const bool is_granted = one.status == "ok";
    const bool is_reentry = is_granted && current_ && current_->hold == one.hold;
    if (one.multi != 0) {
      // While it waits for another member, it may hold this one.
      usage_.holds.push_back({one.call_ns, one.return_ns});
    } else if (one.op == "acquire" && !is_reentry && (is_granted || one.status == "timed_out")) {
      usage_.waits.push_back({one.call_ns, one.return_ns, is_granted});
    }
    if (one.status == "lost") lose(one);
    if (!is_granted) return;
    if (is_reentry) {
      if (one.token != current_->token) report("enters with another token", one);
      ++current_->count;
      see(one);
      return;
    }
    cut_off();
    ++found_.acquisitions;
    claim next{one.hold,      one.token,        one.return_ns, 1, 1, 1,
               one.return_ns, one.lease_end_ns, one.return_ns};
    if (one.kind == "rw") {
      next.limit = all_readers;
      if (is_writer(one)) next.weight = all_readers;
    } else if (one.kind == "semaphore") {
      next.weight = one.permits;
      next.limit = one.capacity;
    }
    current_ = next;
  }

  void unlock(const operation& one) {
    constexpr std::array<std::string_view, 4> nothing_done{"busy", "invalid_argument", "closed",
                                                           "forked"};
    if (std::find(nothing_done.begin(), nothing_done.end(), one.status) != nothing_done.end()) {
      return;
    }
    if (one.status == "lost" || one.status == "not_owner") return lose(one);
    if (!current_) {
      if (one.status == "ok") report("unlocks without a hold", one);
      return;
    }
    if (current_->count > 1) {
      --current_->count;
      see(one);
    } else if (one.status == "ok") {
      finish(one.call_ns, one.return_ns);
    } else {
      // No answer: the release may take effect until the lease ends.
      finish(std::max(current_->evidence_ns, std::min(one.call_ns, current_->lease_end_ns)),
             std::max(one.return_ns, current_->lease_end_ns));
    }
  }

  void upgrade(const operation& one) {
    if (one.status == "lost") return lose(one);
    if (one.status != "ok") return;
    if (!current_ || current_->hold != one.hold) return report("upgrades without a hold", one);
    record(one.call_ns);
    current_->start_ns = current_->evidence_ns = one.return_ns;
    current_->token = one.token;
    current_->weight = current_->limit;
  }

  void downgrade(const operation& one) {
    if (one.status == "not_owner" || one.status == "already_held" || one.status == "busy") return;
    if (!current_ || current_->hold != one.hold) {
      if (one.status == "ok") report("downgrades without a hold", one);
      return;
    }
    if (one.status == "lost") return lose(one);
    // From the call on the owner only reads, whatever the status.
    record(one.call_ns);
    current_->start_ns = one.call_ns;
    current_->weight = 1;
    see(one);
  }

  // The client reports a hold.
  void confirm(const operation& one) {
    if (!current_ || current_->hold != one.hold) return report("is held without a hold", one);
    if (one.lease_end_ns != 0 && one.call_ns >= one.lease_end_ns + rounding_ns) {
      report("is held after its lease end", one);
    }
    if (one.token != current_->token) report("has another token than its grant", one);
    if (one.kind == "rw" && is_writer(one) != is_whole()) report("is held in another mode", one);
    see(one);
  }
  void see(const operation& one) {
    current_->evidence_ns = std::max(current_->evidence_ns, one.call_ns);
    current_->lease_end_ns = std::max(current_->lease_end_ns, one.lease_end_ns);
  }

  // The hold has ended by itself: at its lease end, or, if the loss is reported before that, at any
  // moment after the client last reported the hold.
  void lose(const operation& one) {
    if (!current_) return;
    auto earliest_ns = current_->evidence_ns;
    if (one.return_ns >= current_->lease_end_ns) {
      // The request may have released before that, with its reply lost.
      const bool is_release = one.op == "unlock" || one.op == "downgrade";
      const auto end_ns =
          is_release ? std::min(one.call_ns, current_->lease_end_ns) : current_->lease_end_ns;
      earliest_ns = std::max(earliest_ns, end_ns);
    }
    finish(earliest_ns, one.return_ns);
  }

  void finish(std::int64_t earliest_ns, std::int64_t latest_ns) {
    record(earliest_ns);
    usage_.holds.push_back({current_->granted_ns, std::max(latest_ns, current_->granted_ns)});
    current_.reset();
  }
  void record(std::int64_t end_ns) {
    found_.holds.push_back({name_, holder_, current_->token, current_->start_ns,
                            std::max(end_ns, current_->start_ns), current_->weight,
                            current_->limit});
  }
  void report(const char* what, const operation& one) {
    found_.violations.push_back(
        "\"" + std::string(one.name) + "\": " + holder_ + " " + what + " (" + std::string(one.op) +
        " with token " + std::to_string(one.token) + " at " + std::to_string(one.call_ns) + " ns)");
  }

  claims& found_;
  lock_usage& usage_;
  const std::string name_;
  const std::string holder_;
  std::optional<claim> current_;
};

}  // namespace

claims find_claims(const operation_history& history) {
  std::vector<const operation*> order;
  order.reserve(history.operations.size());
  for (const auto& one : history.operations) order.push_back(&one);
  const auto owner_of = [](const operation& one) {
    return std::tie(one.process, one.client, one.owner, one.name);
  };
  std::stable_sort(order.begin(), order.end(), [&](const auto* left, const auto* right) {
    return std::tuple_cat(owner_of(*left), std::tie(left->call_ns, left->return_ns)) <
           std::tuple_cat(owner_of(*right), std::tie(right->call_ns, right->return_ns));
  });
  claims found;
  for (std::size_t i = 0; i < order.size();) {
    const auto& first = *order[i];
    owner_walk walk(first, found);
    for (; i < order.size() && owner_of(*order[i]) == owner_of(first); ++i) walk.take(*order[i]);
    walk.cut_off();
  }
  return found;
}

}  // namespace mortise::evidence
