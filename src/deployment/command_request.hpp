// A command that is no step of a lock on its way to one server.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "deployment/deployment.hpp"
#include "protocol/command.hpp"
#include "redis/connection.hpp"

namespace mortise::deployment {

// Keeps itself while it is on its way, because whoever asked may have given up by then.
class command_request final : public redis::request,
                              public std::enable_shared_from_this<command_request> {
 public:
  // What deployment::ask() does with the server that it has chosen. Without a connection it waits
  // for one, and what was not carried out, or is no change, is asked again on the next.
  static outcome ask(redis::connection& server, const protocol::command& asked, time_ns deadline);

  // The same once, on the connection that there is.
  struct answer {
    outcome how;
    bool is_script_missing = false;
    bool may_be_asked_again = false;  // it was not carried out, or is no change
  };
  static answer ask_once(redis::connection& server, const protocol::command& asked, bool with_text,
                         time_ns deadline);

  command_request(redis::connection& server, const protocol::command& asked,
                  bool with_text = false);
  ~command_request() override;
  // Sends it for nobody, unless it is on its way already. Needs no memory of its own.
  void send() noexcept;

 private:
  outcome await(time_ns deadline);
  status submit(redis::flush how) noexcept;
  void on_reply(const redis::value& reply, time_ns now) noexcept override;
  void on_broken(bool was_sent) noexcept override;
  void read(const redis::value& reply);
  void end() noexcept;

  redis::connection& server_;
  const bool is_change_;
  const std::shared_ptr<const redis::login> login_;
  std::string bytes_;
  net::caller caller_;
  std::shared_ptr<command_request> self_;  // while it is on its way
  std::atomic<bool> is_open_{false};

  // Under the mutex until it is over or given up, because what the reader refers to goes away with
  // who waits; who has given up looks at it without.
  std::mutex mutex_;
  std::function<void(const redis::value&)> read_;
  bool is_given_up_ = false;
  bool is_over_ = false;
  bool is_script_missing_ = false;
  bool may_be_asked_again_ = false;  // on the next connection
  outcome how_;
};

}  // namespace mortise::deployment
