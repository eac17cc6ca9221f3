// One slot of a cluster that this client uses, and the requests about its locks.
#pragma once

#include <atomic>
#include <bitset>
#include <set>
#include <string>

#include "base/fifo.hpp"
#include "deployment/cluster/cluster_server.hpp"
#include "deployment/cluster/routing/router.hpp"
#include "deployment/cluster/routing/slot.hpp"
#include "deployment/requests/server_request.hpp"

namespace mortise::deployment {

class cluster_request;
class cluster_routes;

struct cluster_slot {
  cluster_slot(int slot, const protocol::client_identity& client);

  const int number;
  const std::string place;                       // the hash tag of the keys of its locks
  const std::string inbox;                       // of the client
  std::atomic<cluster_server*> server{nullptr};  // the attached server, or nullptr
  std::atomic<std::int64_t> highest_token{0};    // the highest fencing token
  std::atomic<time_ns> moving_until{0};          // until then its keys may be on two servers

  // Under the mutex of the routes.
  fifo<cluster_request> waiting;
  int message_waiters = 0;                      // number of waiters for messages
  bool is_attached = false;                     // at least once
  cluster::endpoint last_address;               // the last attached server; port 0: none
  bool has_failed_request = false;              // a request failed, so on_up() must follow
  std::set<std::string, std::less<>> channels;  // further subscribed channels
};

// Events that wait for the release of the mutex, in the order in which they are reported. Recording
// an event needs no memory.
struct slot_events {
  cluster::slot_set moved;  // acknowledgements about these slots no longer count
  std::bitset<cluster::most_servers> unopened;  // servers whose first attempt has failed
  fifo<cluster_request> dropped;                // requests that are not sent
  cluster::slot_set up;                         // requests about these slots can be sent again

  [[nodiscard]] bool is_empty() const noexcept {
    return moved.none() && unopened.none() && dropped.is_empty() && up.none();
  }
};

// A request to the server of the slot. If the slot has moved or is not served, the request is not
// carried out and never repeated automatically. The requester's intention may have changed by then,
// and its next request must not be overtaken (hazard 16).
//
// While the slot is moved key by key, a request that names only the lock's own key follows that
// key. It compares the owner token, so it changes nothing if it comes late (hazard 29).
class cluster_request final : public server_request, public fifo_link<cluster_request> {
 public:
  cluster_request(cluster_routes& routes, cluster_slot& slot, lock_requester& requester);
  ~cluster_request() override;

  status send(const lock::step_request& step, const protocol::table& rules,
              const protocol::key_set& keys, const lock::operation* operation) noexcept override;
  // Sends it to the target server of the slot's move, after the source server has rejected it.
  status send_asking(cluster_server& server) noexcept;
  // Sends a queued request; as redis::pipeline::submit.
  status send_on(cluster_server& server) noexcept;
  // Reports that a queued request will not be sent.
  void drop() noexcept;

 private:
  bool is_forwarded(std::string_view error) noexcept override;
  bool is_misrouted(std::string_view error, lock::step_result& result) noexcept override;
  void report(const lock::step_result& result, time_ns now) noexcept override;

  cluster_routes& routes_;
  cluster_slot& slot_;
  cluster_server* target_ = nullptr;  // the server of the last request
  bool is_asking_ = false;            // sent ahead of the slot's move
  bool is_migrating_ = false;         // keys of the slot are on two servers
};

}  // namespace mortise::deployment
