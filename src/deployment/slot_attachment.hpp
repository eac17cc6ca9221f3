// What a client says of a slot, at the server that has it, before it asks anything there: it
// listens to its inbox of the slot, lifts the slot's fencing tokens, and leaves its record. Where
// replicas have to acknowledge what is asked there, it waits until they can be asked, too.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "cluster/router.hpp"
#include "deployment/cluster_routes.hpp"
#include "redis/request.hpp"

namespace mortise::deployment {

// Keeps itself while it is on its way.
class slot_attachment final : private unacknowledged {
 public:
  // False where it could not be sent; throws bad_alloc.
  static bool send(cluster_routes& routes, cluster_server& at, const cluster_slot& slot,
                   std::string_view client_id, std::uint64_t attempt);

 private:
  // Its answer is a message, so it is a request of its own.
  struct subscription final : redis::request {
    explicit subscription(slot_attachment& whole) : of(whole) { is_subscription = true; }
    void on_reply(const redis::value& reply, time_ns now) noexcept override;
    void on_broken(bool was_sent) noexcept override;
    slot_attachment& of;
  };
  // The seed, and the record.
  struct seeding final : redis::request {
    explicit seeding(slot_attachment& whole) : of(whole) {
      reply_count = 2;
      takes_each = true;
    }
    void on_reply(const redis::value& reply, time_ns now) noexcept override;
    void on_broken(bool was_sent) noexcept override;
    slot_attachment& of;
    int replies = 0;
  };

  slot_attachment(cluster_routes& routes, cluster_server& at, const cluster_slot& slot,
                  std::uint64_t attempt);
  void note_error(const char* command, std::string_view error) noexcept;
  void end(cluster::attachment::end how) noexcept;
  void end_one() noexcept;
  void end_whole() noexcept;
  void on_acknowledged(const outcome& how, time_ns now) noexcept override;
  void on_server_lost(time_ns now) noexcept override;

  cluster_routes& routes_;
  cluster_server& at_;
  const cluster_slot& slot_;
  const std::uint64_t attempt_;
  subscription subscription_{*this};
  seeding seeding_{*this};
  std::atomic<int> open_{0};
  bool is_undecided_ = true;
  cluster::attachment came_;
};

}  // namespace mortise::deployment
