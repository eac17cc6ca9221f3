// The servers of a cluster and the slots that this client uses. Carries out the router's decisions
// and reports events to it. No function calls back directly. Results and events come from the I/O
// thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/address_map.hpp"
#include "deployment/api/deployment.hpp"
#include "deployment/cluster/cluster_server.hpp"
#include "deployment/cluster/cluster_slot.hpp"
#include "deployment/cluster/routing/router.hpp"
#include "net/reactor.hpp"

namespace mortise::deployment {

class cluster_routes final : private cluster::router::io,
                             private cluster_server::listener,
                             private net::timer,
                             private net::task {
 public:
  // Configures the connection to the server of a place.
  using config_maker =
      std::function<redis::connection_config(const std::shared_ptr<server_place>& place)>;

  cluster_routes(net::reactor& loop, config_maker make_config, const settings& terms,
                 std::string_view client_id, mortise::deployment::listener& events);
  ~cluster_routes() override;

  void begin(const std::vector<cluster::endpoint>& seeds);
  // Waits until the owners of the slots are known, or cannot be known. Returns the problem.
  outcome await_known(time_ns deadline);
  void close(time_ns linger_ns) noexcept;

  // The slot, in use until stop_using(). Throws bad_alloc, and the slot is then not in use.
  cluster_slot& use(int number);
  void stop_using(cluster_slot& slot) noexcept;
  // nullptr only if the slot is not in use.
  [[nodiscard]] cluster_slot* find(int number) noexcept;

  // Queues a request until the slot is attached. unreachable if no attachment is expected.
  status wait(cluster_request& request, cluster_slot& slot) noexcept;
  // Waits for an event that may solve a slot's problem, or for a moment.
  void await_change(time_ns deadline);
  // The server of the attached slot. nullptr if the deadline passes first.
  cluster_server* await_server(cluster_slot& slot, time_ns deadline);
  // A request was not carried out, or possibly not. The requester is notified when it can retry.
  void on_request_failed(cluster_slot& slot) noexcept;
  void on_moved(cluster_slot& slot, cluster_server& source,
                const cluster::endpoint& target) noexcept;
  void on_unserved(cluster_slot& slot, cluster_server& source) noexcept;

  // Keys of the slot are on two servers. Requests that were not carried out can be retried after a
  // pause.
  void on_migrating(cluster_slot& slot) noexcept;
  // Sends it to the target server of a slot's move. False if that server is not connected yet.
  bool send_asking(cluster_request& request, const cluster::endpoint& target) noexcept;

  void expect_messages(cluster_slot& slot, int change) noexcept;
  void listen(cluster_slot& slot, std::string_view channel);
  void unlisten(cluster_slot& slot, std::string_view channel) noexcept;

  [[nodiscard]] outcome problem(int slot) const;
  // The owner of this slot, used or not; nullptr if unknown.
  [[nodiscard]] cluster_server* owner_of(int slot) const;
  // The servers with slots, and all servers.
  [[nodiscard]] std::vector<cluster_server*> masters() const;
  [[nodiscard]] std::vector<cluster_server*> servers() const;
  // Connects the server for a command.
  void connect_to(cluster_server& server) noexcept;
  // The login for servers that become known later.
  void log_in_with(redis::login with) noexcept;
  void send_to_each(std::string_view bytes);
  // Sends a command for every attached slot in use, or also for slots that were used before.
  void send_for_each_slot(
      const std::function<void(std::string& out, std::string_view place)>& write,
      bool includes_unused);

  // An attempt to attach has ended.
  void on_attachment(int slot, int server, std::uint64_t attempt,
                     const cluster::attachment& result) noexcept;
  void on_topology(int server, const std::vector<cluster::slot_range>& ranges) noexcept;
  void on_no_topology(int server, const outcome& why) noexcept;

 private:
  // The names of the locks in a set of slots.
  class slot_names;

  template <class Step>
  void enter(Step&& step) noexcept;
  void plan() noexcept;
  void report_unopened(const slot_events& events) noexcept;
  [[nodiscard]] outcome why_unknown() const;
  void note_up(cluster_slot& slot) noexcept;
  static void subscribe(cluster_server& server, std::string_view channel);
  [[nodiscard]] cluster_server& server_at(int server) const noexcept {
    return *servers_[static_cast<std::size_t>(server)];
  }

  // cluster::router::io
  void add_server(int server, const cluster::endpoint& where) override;
  void change_server(int server, const cluster::endpoint& where) override;
  void connect(int server) noexcept override;
  void disconnect(int server) noexcept override { server_at(server).rest(); }
  void leave(int server, const char* why) noexcept override;
  bool attach(int slot, int server, std::uint64_t attempt) noexcept override;
  bool ask_topology(int server) noexcept override;
  void on_attached(int slot, int server) noexcept override;
  void on_detached(int slot) noexcept override;
  void on_repeat(int slot) override;
  void on_owner_changed(int slot) noexcept override;
  std::int64_t random_below(std::int64_t bound) noexcept override;
  // cluster_server::listener
  void on_server_up(cluster_server& server) noexcept override;
  void on_server_replaced(cluster_server& server) noexcept override;
  void on_server_down(cluster_server& server, const outcome& why) noexcept override;
  void on_server_overdue(cluster_server& server) noexcept override;
  void on_server_note(log_subject what, const outcome& details) noexcept override {
    listener_.on_note(what, details);
  }
  void on_server_push(std::string_view channel, std::string_view payload,
                      time_ns now) noexcept override;
  void on_server_unsubscribed(cluster_server& server, std::string_view channel) noexcept override;
  void on_server_listening(std::string_view channel) noexcept override {
    listener_.on_listening(channel);
  }

  void note_move(int slot, cluster::endpoint& last, const cluster_server& owner) noexcept;
  void on_timer(time_ns now) noexcept override;
  void run() noexcept override;

  net::reactor& loop_;
  const config_maker make_config_;
  const settings terms_;
  const std::shared_ptr<const address_map> map_;
  const protocol::client_identity client_;
  const std::string inbox_;  // the prefix of the channels of all slots
  mortise::deployment::listener& listener_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_closed_ = false;
  std::vector<std::unique_ptr<cluster_server>> servers_;
  std::map<int, std::unique_ptr<cluster_slot>> slots_;
  cluster::router router_;
  std::optional<redis::login> login_;  // replaces the login of the URL
  time_ns armed_for_ = time_never;
  slot_events events_;  // run() reports them
};

}  // namespace mortise::deployment
