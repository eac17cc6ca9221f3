// How a quorum of servers is asked: contests for their votes, renewals and releases, and what has
// to be done afterwards at those whose answers nobody waited for.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "deployment/deployment.hpp"
#include "deployment/quorum_round.hpp"
#include "deployment/server_group.hpp"
#include "net/reactor.hpp"
#include "quorum/proposals.hpp"
#include "quorum/tally.hpp"

namespace mortise::deployment {

class voting;

class quorum_inquiry final : public inquiry {
 public:
  quorum_inquiry(voting& all, inquirer& asker, const named_key& lock)
      : all_(all), asker_(asker), name_(lock.name) {}
  ~quorum_inquiry() override;
  status send(const lock::question& asked, const protocol::table& rules,
              const protocol::key_set& keys, const lock::operation* by) noexcept override;

 private:
  friend class voting;
  voting& all_;
  inquirer& asker_;
  const std::string name_;
  std::shared_ptr<const protocol::key_set> keys_;  // which its rounds may need longer
};

// What is known of the votes for one owner token.
struct claim {
  std::string name;  // of the lock
  const protocol::table* rules = nullptr;
  std::shared_ptr<const protocol::key_set> keys;
  std::int64_t proposal = 0;  // the highest that votes were asked for with
  bool is_kept = false;       // votes are asked for, or held
  bool is_forced = false;     // somebody ends it by force: no server is asked for its vote again
  quorum::server_set has;     // whose votes it has, or may have: owed unless they are kept
  time_ns lapses_at = 0;      // no server has a vote for it any more
  time_ns retry_at = time_never;  // what has failed is worth asking again
  lock::step give_back =
      lock::step::release_alone;  // a release tells those who wait, this does not
};

class voting final : private quorum_round_listener, private net::timer {
 public:
  // On the I/O thread: what has failed for these names may be asked again.
  class listener {
   public:
    virtual ~listener() = default;
    virtual void on_worth_asking(const name_set& names, time_ns now) noexcept = 0;
  };

  // There will be so many servers when it is asked first.
  voting(const server_group& servers, std::size_t count, net::reactor& loop, listener& hears);
  ~voting() override;

  // As an inquiry's send(). Only the thread of an operation that does not wait sends by itself.
  status ask(quorum_inquiry& by, const lock::question& asked, const protocol::table& rules,
             const lock::operation* sends);
  // It does not live to hear a verdict.
  void forget(const quorum_inquiry& gone) noexcept;
  // What was owed to this server can be brought to it now.
  void on_server_up(std::size_t server, time_ns now) noexcept;
  // Somebody takes its votes away, one server's after the other.
  void on_forced(std::string_view token) noexcept;
  // A fencing token that this client has seen: it proposes none that is not above it.
  void note_token(std::int64_t token) noexcept;
  // No timer runs from now on.
  void close() noexcept { loop_.cancel(static_cast<net::timer&>(*this)); }

 private:
  class errand;
  using lock_type = std::unique_lock<std::mutex>;

  void on_answer(quorum_round& asked, std::size_t server, const lock::verdict& said,
                 time_ns now) noexcept override;
  void on_timer(time_ns now) noexcept override;
  void on_errand_done(std::size_t server, const lock::question& asked, const lock::verdict& said,
                      time_ns now) noexcept;

  quorum_round& idle_round();
  lock::question question_for(const lock::question& asked, claim& about, time_ns now);
  void follow_up(quorum_round& asked, claim& about, std::optional<lock::verdict>& verdict,
                 time_ns now);
  void follow_contest(quorum_round& asked, claim& about, std::optional<lock::verdict>& verdict,
                      time_ns now);
  bool propose_again(quorum_round& asked, claim& about, time_ns now, bool is_confirming);
  void refuse(quorum_round& asked, claim& about, lock::verdict& verdict, time_ns now);
  void give_back(const quorum_round& asked, claim& about, time_ns now);
  void bring_owed(std::string_view token, claim& about, const quorum::server_set& where,
                  time_ns now) noexcept;
  void retry(claim& about, time_ns now) noexcept;
  void top_up(quorum_round& asked, claim& about, time_ns now);
  status send_errand(std::size_t server, const lock::question& asked, const claim& about,
                     time_ns now) noexcept;
  [[nodiscard]] bool is_wanted(const lock::question& asked) const noexcept;
  void tell(lock_type& lock, quorum_round& asked, const std::optional<lock::verdict>& verdict,
            time_ns now);
  void drop_if_over(std::string_view token) noexcept;
  [[nodiscard]] bool is_open(std::string_view token) const noexcept;
  void end_patience(lock_type& lock, time_ns now);
  void tell_worth_asking(lock_type& lock, time_ns now) noexcept;
  void plan_look(time_ns at) noexcept;
  [[nodiscard]] time_ns below(time_ns limit) noexcept;

  const server_group& servers_;
  net::reactor& loop_;
  listener& hears_;
  std::mutex mutex_;
  quorum::proposals proposals_;
  std::map<std::string, claim, std::less<>> claims_;  // by owner token
  std::vector<std::unique_ptr<quorum_round>> rounds_;
  std::vector<std::unique_ptr<errand>> errands_;
  time_ns look_at_ = time_never;
  std::uint64_t chance_;
};

}  // namespace mortise::deployment
