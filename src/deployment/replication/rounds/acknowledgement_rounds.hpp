// Replies that wait for replicas, and the polls whether the replicas have them (hazards 7 to 10).
//
// A poll is a mark, a WAIT, and a query of the history of the data. One WAIT covers all earlier
// replies. Replies that come while a poll is in flight use the next one. The caller sends the bytes
// of a poll, and notifies the items afterwards.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "base/time.hpp"
#include "deployment/replication/rounds/acknowledgement_list.hpp"
#include "protocol/native/acknowledgement.hpp"
#include "redis/resp/resp.hpp"

namespace mortise::deployment {

// The number of replicas in the Sentinels' list, and how many of them they did not report as down.
struct listed_replicas {
  std::int64_t all = 0;
  std::int64_t up = 0;
  time_ns asked_at = 0;
};

class acknowledgement_rounds {
 public:
  // The server at the time of a call.
  struct context {
    std::shared_ptr<const std::string> name;
    std::optional<listed_replicas> list;  // if uses_list()
    time_ns now = 0;
  };
  // The notifications that a call leads to.
  struct notifications {
    acknowledgement_list acknowledged;
    acknowledgement_list failed;
    outcome why;  // of the failed items
    acknowledgement_list lost;
    bool is_short = false;
    bool is_ready_again = false;  // all requests can be sent again
  };

  // `asks_cluster`: the server is of a cluster, and reports its replicas itself.
  acknowledgement_rounds(const protocol::acknowledgement_terms& terms, bool asks_cluster,
                         protocol::client_identity client);

  [[nodiscard]] const protocol::acknowledgement_terms& terms() const noexcept { return terms_; }
  [[nodiscard]] bool asks_cluster() const noexcept { return asks_cluster_; }
  [[nodiscard]] bool uses_list() const noexcept { return wants_all() && !asks_cluster_; }

  // The data at the server from now on. `own_name`: of the server, if it is of a cluster.
  void begin(const protocol::replication& state, std::string_view own_name);
  [[nodiscard]] const std::string& history() const noexcept { return history_; }

  void add(unacknowledged& item) noexcept { open_.push(item); }
  // Writes the next poll, if one is due. Returns its number of replies, otherwise 0.
  int next(std::string& out, const context& at, notifications& pending);
  // The poll was not sent.
  void fail_poll(status why, notifications& pending) noexcept;
  // The poll was lost with the connection. drop() follows.
  void abandon_poll() noexcept { is_polling_ = false; }
  // Takes a reply of the poll. Returns whether it was the last one, and finish() can follow.
  bool take(const redis::value& reply) noexcept;
  // Whether the server has become a replica. Requests to it are lost.
  [[nodiscard]] bool is_of_replica() const noexcept;
  void finish(const context& at, notifications& pending) noexcept;

  // Waiting steps were carried out, or were lost with the server.
  void drop(notifications& pending) noexcept;
  // Fails the items whose deadline has passed.
  void expire(time_ns now, notifications& pending) noexcept;
  [[nodiscard]] time_ns earliest_deadline() const noexcept;

  [[nodiscard]] outcome too_few(const context& at) const noexcept;
  // The error of a command, with a remedy.
  [[nodiscard]] outcome refusal(std::string_view name, std::string_view error) const noexcept;

 private:
  // The poll in flight.
  struct poll {
    int part = 0;
    bool is_marked = false;
    std::string_view place;
    std::string mark_error;
    std::string wait_error;
    std::int64_t acknowledged = 0;  // number of replicas that have the data
    std::optional<protocol::replication> state;
    std::optional<std::int64_t> replicas;

    void take(const redis::value& reply, const protocol::acknowledgement_terms& terms) noexcept;
  };
  struct replica_counts {
    std::int64_t acknowledged = 0;        // replicas that have the data of the last WAIT
    std::int64_t online = 0;              // replicas that are online
    std::int64_t connected = 0;           // replicas in any state
    std::optional<std::int64_t> counted;  // replicas in the cluster's list
  };

  [[nodiscard]] bool wants_all() const noexcept {
    return terms_.replicas == protocol::acknowledgement_terms::all;
  }
  // The number of the last part of a poll with a mark.
  [[nodiscard]] int last_part() const noexcept { return asks_cluster_ ? 5 : 4; }
  [[nodiscard]] std::optional<std::int64_t> needed(const context& at) const noexcept;
  [[nodiscard]] bool is_list_old(const context& at) const noexcept;
  void fail_all(notifications& pending, outcome why) noexcept;

  const protocol::acknowledgement_terms terms_;
  const bool asks_cluster_;
  const protocol::client_identity client_;
  std::string history_;           // of the data; empty until it is known
  std::string own_name_;          // of the server, if a cluster is asked for its replicas
  acknowledgement_list open_;     // for the next poll
  acknowledgement_list covered_;  // by the last mark
  bool is_polling_ = false;
  poll poll_;
  replica_counts replicas_;
};

}  // namespace mortise::deployment
