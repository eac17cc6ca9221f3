// What a server has granted or prolonged, waiting until enough of its replicas have it: the options
// `acks` and `durability` (hazards 7 to 10).
//
// WAIT holds up whatever comes behind it, so it has a connection of its own, to the same run of the
// same server. One WAIT there stands for all answers that came before it; those that come while it
// is on its way go with the next. Both connections live and die together. What was asked before the
// data were known to be the present ones counts for nothing: they may have been replaced since.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/options.hpp"
#include "base/status.hpp"
#include "base/time.hpp"
#include "deployment/acknowledgement_list.hpp"
#include "deployment/followed_server.hpp"
#include "net/reactor.hpp"
#include "protocol/acknowledgement.hpp"
#include "redis/connection.hpp"

namespace mortise::deployment {

// How many replicas the Sentinels listed when they were asked, and how many of them they did not
// hold to be down.
struct listed_replicas {
  std::int64_t all = 0;
  std::int64_t up = 0;
  time_ns asked_at = 0;
};

class acknowledgements final : private redis::session_listener,
                               private redis::request,
                               private net::timer {
 public:
  // Any thread but under a lock of the engine; the first on the I/O thread.
  class listener {
   public:
    virtual ~listener() = default;
    // What the server answers can be acknowledged from now on.
    virtual void on_acknowledging() noexcept = 0;
    // It cannot be: the server is to be connected to anew. What was waiting has been told.
    virtual void on_unacknowledging(const outcome& why) noexcept = 0;
    // Fewer replicas have something than there have to be.
    virtual void on_shortfall() noexcept = 0;
  };
  // The replicas as the Sentinels know them; nothing where they have not said, or where another
  // server is the master for them. A server of a cluster says so itself.
  using count_listed = std::function<std::optional<listed_replicas>(const net::address& server)>;

  [[nodiscard]] static bool is_wanted(const settings& terms) noexcept {
    return terms.acks != 0 || terms.durability == "fsync";
  }
  // None where nobody wants acknowledgements. `like` is how the server itself is connected to.
  static std::unique_ptr<acknowledgements> make(net::reactor& loop,
                                                const redis::connection_config& like,
                                                const settings& terms, std::string_view client_id,
                                                count_listed listed, listener& hears);
  ~acknowledgements() override;

  // The server is this one from now on; whether it is another run than before. It may be asked;
  // on_acknowledging() follows. It cannot be any more: whatever waits is told so. The I/O thread.
  bool meet(const redis::session_facts& server) noexcept;
  void on_server_up() noexcept;
  void on_server_down() noexcept;
  // Connects, once it is needed; after meet(). Any thread, may be called again.
  void begin() noexcept;
  // Ends the connection until it is needed again. Any thread.
  void rest() noexcept;
  // The server is another one, of this name, from now on; after rest() and on_server_down(). Any
  // thread.
  void change_server(std::string name, std::shared_ptr<const std::string> shared_name) noexcept;
  // Nothing is called afterwards. Not from the I/O thread.
  void close() noexcept;

  [[nodiscard]] bool is_ready() const noexcept { return ready_since_.load() != 0; }
  // Why it is not; ok where it is.
  [[nodiscard]] outcome problem() const noexcept;
  // Waits until it is, or somebody has to fix something; then the problem.
  outcome await_ready(time_ns deadline);
  // Tells the item once it is. As await() otherwise.
  void await_ready(unacknowledged& item, time_ns now) noexcept;

  // `asked_at`: when the poll was sent whose answer it is. Any thread, without a lock of the
  // engine held; the item may be told before it returns.
  void await(unacknowledged& item, std::string_view place, time_ns asked_at, time_ns now,
             std::int64_t lease_ms) noexcept;

 private:
  // What is asked of the server when it is connected to.
  struct introduction final : redis::request {
    explicit introduction(acknowledgements& owner) : of(owner) {}
    void on_reply(const redis::value& reply, time_ns now) noexcept override {
      of.on_introduction(reply, now);
    }
    void on_broken(bool was_sent) noexcept override;
    acknowledgements& of;
    int part = 0;
    bool is_open = false;
    std::optional<protocol::replication> state;
    std::string error;
  };
  // When it is asked again.
  struct look_timer final : net::timer {
    explicit look_timer(acknowledgements& owner) : of(owner) {}
    void on_timer(time_ns now) noexcept override { of.on_look(now); }
    acknowledgements& of;
  };
  // What is on its way: a mark, unless the one before still counts, a WAIT, a look at the history.
  struct poll {
    int part = 0;
    bool was_made = false;
    std::string_view place;
    std::string mark_error;
    std::string wait_error;
    std::int64_t had = 0;  // how many replicas have it
    std::optional<protocol::replication> state;
    std::optional<std::int64_t> replicas;

    void take(const redis::value& reply, const protocol::acknowledgement_terms& terms) noexcept;
  };
  // Who is told what, once there is no mutex.
  struct ends {
    acknowledgement_list done;
    acknowledgement_list failed;
    outcome why;  // of these
    acknowledgement_list lost;
    bool is_short = false;
    bool is_anew = false;  // and all can be asked again
  };

  acknowledgements(net::reactor& loop, redis::connection_config config,
                   std::shared_ptr<followed_server> where, const settings& terms,
                   std::string_view client_id, count_listed listed, listener& hears);

  void on_up(const redis::session_facts& facts) noexcept override;
  void on_down(const outcome& why) noexcept override;
  void on_failed(const outcome& why, bool is_definite) noexcept override;
  void on_push(std::string_view /*channel*/, std::string_view /*payload*/,
               time_ns /*now*/) noexcept override {}
  void on_reply(const redis::value& reply, time_ns now) noexcept override;
  void on_broken(bool was_sent) noexcept override;
  void on_timer(time_ns now) noexcept override;

  void on_introduction(const redis::value& reply, time_ns now) noexcept;
  void introduce() noexcept;
  void look_later() noexcept;
  void on_look(time_ns now) noexcept;
  [[nodiscard]] bool is_of_server() const noexcept;
  void refuse(outcome why) noexcept;
  void drop(ends& over) noexcept;

  void ask(bool with_mark, time_ns now, ends& over) noexcept;
  void go_on(time_ns now, ends& over) noexcept;
  void read(poll& said, time_ns now, ends& over) noexcept;
  void fail_all(ends& over, outcome why) noexcept;
  void tell(ends& over, time_ns now) noexcept;
  void plan(time_ns at) noexcept;
  // Of a poll with a mark, by number.
  [[nodiscard]] int last_part() const noexcept { return asks_its_cluster_ ? 5 : 4; }
  [[nodiscard]] std::optional<std::int64_t> needed(time_ns now) const noexcept;
  [[nodiscard]] bool is_list_old(time_ns now) const noexcept;
  [[nodiscard]] outcome too_few(time_ns now) const noexcept;
  [[nodiscard]] outcome refusal(std::string_view error) const noexcept;

  net::reactor& loop_;
  const protocol::acknowledgement_terms terms_;
  const bool asks_its_cluster_;  // how many replicas there are
  const time_ns patience_ns_;
  const std::string client_id_;
  const count_listed listed_;
  listener& hears_;
  const std::shared_ptr<followed_server> where_;
  std::atomic<time_ns> ready_since_{0};  // since when the data are the present ones; 0: unknown
  std::atomic<std::uint32_t> turns_{0};  // how often that, or the problem, has changed
  look_timer looking_{*this};
  introduction introduction_{*this};  // the I/O thread's own, as is the next
  std::string lane_run_;  // which run of the server this connection is to; empty while it is down

  std::atomic<bool> is_begun_{false};
  std::atomic<bool> is_resting_{false};

  mutable std::mutex mutex_;  // of what follows
  bool is_closed_ = false;
  struct {
    bool is_up = false;
    std::string run;
    std::string history;   // of its data; empty until it is known
    std::string own_name;  // in a cluster that is asked for its replicas
  } server_;
  outcome problem_;
  struct {
    acknowledgement_list early;    // until the server can be asked
    acknowledgement_list open;     // for the next WAIT
    acknowledgement_list covered;  // by the last one
    time_ns armed_for = time_never;
  } waiting_;
  bool is_asking_ = false;
  poll asked_;
  struct {
    std::int64_t had = 0;                 // how many have what was last waited for
    std::int64_t online = 0;              // of so many that are online
    std::int64_t connected = 0;           // in any state
    std::optional<std::int64_t> counted;  // as their cluster knows them
  } replicas_;

  redis::connection lane_;  // last, as it calls back until it is gone
};

}  // namespace mortise::deployment
