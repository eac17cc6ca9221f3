// Renewals to one server that are due at about the same time. The I/O thread gathers the renewals
// of one wake-up, and sends them as one request. Each renewal gets the result of its own lock.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "deployment/requests/server_request.hpp"
#include "net/reactor.hpp"
#include "protocol/renewal_list.hpp"
#include "redis/connection.hpp"

namespace mortise::deployment {

class renewal_batches final : private net::task {
 public:
  renewal_batches(net::reactor& loop, redis::connection& server);
  ~renewal_batches() override;

  // Whether this step may wait until the I/O thread has run its timers.
  [[nodiscard]] bool admits(const lock::step_request& step, const protocol::table& rules,
                            const lock::operation* operation) const noexcept;
  // Takes a gathered request, which then gets exactly one result. Returns ok or no_memory.
  status add(server_request& item, const lock::step_request& step, const protocol::table& rules,
             const protocol::key_set& keys) noexcept;
  // Sends the gathered renewals. Each other request calls this first, because the server must
  // execute the requests about one lock in their order (hazard 17). Any thread; never calls back.
  void flush() noexcept {
    if (is_gathering_.load(std::memory_order_acquire)) send_gathered();
  }
  // Ends the renewals that could not be sent. Not from a callback.
  void close() noexcept;

 private:
  class batch;

  void send_gathered() noexcept;
  void submit_gathered() noexcept;  // under the mutex
  void run() noexcept override;
  void report_unsent() noexcept;
  void note_reply(const redis::value& reply, time_ns now) noexcept;

  net::reactor& loop_;
  redis::connection& server_;
  std::mutex mutex_;
  std::unique_ptr<batch> gathered_;
  std::unique_ptr<batch> unsent_;  // a list
  std::atomic<bool> is_gathering_{false};
  std::atomic<bool> is_script_missing_{false};  // at the server, so the next batch has its text
  std::atomic<time_ns> off_until_{0};           // the server has refused a batch
};

}  // namespace mortise::deployment
