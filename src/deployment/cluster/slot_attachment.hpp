// The first requests about a slot to its server. They subscribe to the slot's inbox, lift its
// fencing tokens and write the client's record. If replicas must acknowledge, the attachment also
// waits until acknowledgements are possible.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "deployment/cluster/cluster_routes.hpp"
#include "deployment/cluster/routing/router.hpp"
#include "redis/resp/request.hpp"

namespace mortise::deployment {

// Keeps itself alive while in flight.
class slot_attachment final : private unacknowledged {
 public:
  // Returns false if the send fails. Throws bad_alloc.
  static bool send(cluster_routes& routes, cluster_server& server, const cluster_slot& slot,
                   const protocol::client_identity& client, std::uint64_t attempt);

 private:
  // Its reply is a message, so it is a separate request.
  struct subscription final : redis::request {
    explicit subscription(slot_attachment& attachment) : owner(attachment) {
      is_subscription = true;
    }
    void on_reply(const redis::value& reply, time_ns now) noexcept override;
    void on_broken(bool was_sent) noexcept override;
    slot_attachment& owner;
  };
  // The seed, and the record.
  struct seeding final : redis::request {
    explicit seeding(slot_attachment& attachment) : owner(attachment) {
      reply_count = 2;
      takes_each = true;
    }
    void on_reply(const redis::value& reply, time_ns now) noexcept override;
    void on_broken(bool was_sent) noexcept override;
    slot_attachment& owner;
    int replies = 0;
  };

  slot_attachment(cluster_routes& routes, cluster_server& server, const cluster_slot& slot,
                  std::uint64_t attempt);
  void note_error(const char* command, std::string_view error) noexcept;
  void end(cluster::attachment::end result) noexcept;
  void end_part() noexcept;
  void finish() noexcept;
  void on_acknowledged(const outcome& result, time_ns now) noexcept override;
  void on_server_lost(time_ns now) noexcept override;

  cluster_routes& routes_;
  cluster_server& server_;
  const cluster_slot& slot_;
  const std::uint64_t attempt_;
  subscription subscription_{*this};
  seeding seeding_{*this};
  std::atomic<int> open_{0};
  bool is_undecided_ = true;
  cluster::attachment result_;
};

}  // namespace mortise::deployment
