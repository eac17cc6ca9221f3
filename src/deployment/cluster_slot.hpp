// One slot of a cluster that this client uses, and the questions about its locks.
#pragma once

#include <atomic>
#include <set>
#include <string>

#include "deployment/cluster_server.hpp"
#include "deployment/server_request.hpp"

namespace mortise::deployment {

class cluster_request;
class cluster_routes;

// First in, first out; needs no memory.
class waiting_list {
 public:
  void push(cluster_request& item) noexcept;
  cluster_request* pop() noexcept;
  [[nodiscard]] bool is_empty() const noexcept { return first_ == nullptr; }

 private:
  cluster_request* first_ = nullptr;
  cluster_request* last_ = nullptr;
};

struct cluster_slot {
  cluster_slot(int slot, std::string_view client_id);

  const int number;
  const std::string place;                     // the hash tag of what belongs to its locks
  const std::string inbox;                     // the client's
  std::atomic<cluster_server*> here{nullptr};  // who can be asked
  std::atomic<std::int64_t> seen{0};           // the highest fencing token
  std::atomic<time_ns> moving_until{0};        // keys of it are taken to be at two servers

  // Under the mutex of the routes.
  waiting_list waiting;
  int expecting = 0;                            // how many wait for messages
  bool is_attached = false;                     // ever
  cluster::endpoint was_here;                   // the last who could be asked; port 0: nobody
  bool is_missed = false;                       // somebody was told that it cannot be asked
  bool is_elsewhere = false;                    // than it was acknowledged; not told yet
  std::set<std::string, std::less<>> channels;  // that are listened to besides
};

// A question to whoever has the slot. One that the slot has left, or that nobody serves, is not
// carried out, and never asked again by itself: what the asker wants may have changed by then, and
// whatever it asks next must not be overtaken (hazard 16). While the slot is being moved key by key
// a question that names the lock's own key only goes after that key: it compares the owner token,
// so it changes nothing where it comes late (hazard 29).
class cluster_request final : public server_request {
 public:
  cluster_request(cluster_routes& routes, cluster_slot& slot, lock_requester& asker);
  ~cluster_request() override;

  status send(const lock::step_request& asked, const protocol::table& rules,
              const protocol::key_set& keys, const lock::operation* by) noexcept override;
  // Sends it to a server that the slot is being moved to, after the one that it was sent to has
  // refused it.
  status send_asking(cluster_server& at) noexcept;
  // Sends what has waited; as redis::connection::submit.
  status send_on(cluster_server& at) noexcept;
  // What has waited will not be sent.
  void drop() noexcept;

 private:
  friend class waiting_list;
  bool is_sent_on(std::string_view error) noexcept override;
  bool is_astray(std::string_view error, lock::step_result& said) noexcept override;
  void tell(const lock::step_result& said, time_ns now) noexcept override;

  cluster_routes& routes_;
  cluster_slot& slot_;
  cluster_server* at_ = nullptr;  // who was asked last
  bool is_asking_ = false;        // the slot is not there yet
  bool is_halfway_ = false;       // keys of the slot are at two servers
  cluster_request* next_ = nullptr;
};

}  // namespace mortise::deployment
