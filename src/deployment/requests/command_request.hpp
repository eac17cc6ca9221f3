// A command in flight to one server, other than a step of a lock.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "deployment/api/deployment.hpp"
#include "protocol/command.hpp"
#include "redis/connection.hpp"

namespace mortise::deployment {

// Keeps itself alive while in flight, because the caller may give up first.
class command_request final : public redis::request,
                              public std::enable_shared_from_this<command_request> {
 public:
  // deployment::ask() on a chosen server. Without a connection it waits for one. A command that was
  // not carried out, or is no change, is repeated on the next connection.
  static outcome ask(redis::connection& server, const protocol::command& command, time_ns deadline);

  // The same once, on the present connection.
  struct answer {
    outcome result;
    bool is_script_missing = false;
    bool is_repeatable = false;  // it was not carried out, or is no change
  };
  static answer ask_once(redis::connection& server, const protocol::command& command,
                         bool with_text, time_ns deadline);

  command_request(redis::connection& server, const protocol::command& command,
                  bool with_text = false);
  ~command_request() override;
  // Sends it without a caller, unless it is already in flight. Needs no memory of its own.
  void send() noexcept;

 private:
  outcome await(const protocol::command& command, time_ns deadline);
  status submit(redis::flush flush) noexcept;
  void on_reply(const redis::value& reply, time_ns now) noexcept override;
  void on_broken(bool was_sent) noexcept override;
  void read(const redis::value& reply);
  void end() noexcept;

  redis::connection& server_;
  const bool is_change_;
  const std::shared_ptr<const redis::login> login_;
  std::string bytes_;
  net::caller caller_;
  std::shared_ptr<command_request> self_;  // while in flight
  std::atomic<bool> is_open_{false};

  // Under the mutex until it is over or given up, because the objects of the reader end with the
  // caller. After that the caller reads these without the mutex.
  std::mutex mutex_;
  std::function<void(const redis::value&)> read_;
  bool is_given_up_ = false;
  bool is_over_ = false;
  bool is_script_missing_ = false;
  bool is_repeatable_ = false;  // on the next connection
  outcome result_;
};

}  // namespace mortise::deployment
