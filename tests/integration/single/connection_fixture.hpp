// The common parts of the tests of redis::connection: a connection with its reactor, a listener
// that records its events, and requests that record their replies.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "net/dial/resolver.hpp"
#include "net/reactor.hpp"
#include "redis/connection.hpp"
#include "redis/resp/command.hpp"

namespace mortise::testing {

// Nothing takes anywhere near as long, except a failure.
inline constexpr time_ns generous_ns = 20 * ns_per_s;
inline time_ns soon() { return boot_now() + generous_ns; }

inline std::string encoded(std::initializer_list<std::string_view> words) {
  std::string bytes;
  redis::command_writer(bytes).command(words);
  return bytes;
}

inline std::string text_of(const redis::value& reply) {
  switch (reply.type()) {
    case redis::kind::null:
      return "(nil)";
    case redis::kind::integer:
    case redis::kind::boolean:
      return std::to_string(reply.integer());
    case redis::kind::error:
      return "-" + std::string(reply.text());
    case redis::kind::status:
    case redis::kind::text:
      return std::string(reply.text());
    default:
      break;
  }
  std::string all;
  for (std::size_t i = 0; i < reply.size(); ++i) all += (i > 0 ? " " : "") + text_of(reply.at(i));
  return all;
}

class recorder final : public redis::session_listener {
 public:
  void on_up(const redis::session_facts& facts) noexcept override {
    note([&] { ups.push_back(facts); });
    if (when_up) when_up();
  }
  void on_down(const outcome& why) noexcept override {
    note([&] { downs.push_back(why); });
  }
  void on_push(std::string_view channel, std::string_view payload, time_ns) noexcept override {
    note([&] { pushes.emplace_back(channel, payload); });
    if (when_pushed) when_pushed();
  }

  // Waits until there were so many. False after a generous time.
  bool wait_for_ups(std::size_t count) {
    return wait([&] { return ups.size() >= count; });
  }
  bool wait_for_downs(std::size_t count) {
    return wait([&] { return downs.size() >= count; });
  }
  bool wait_for_pushes(std::size_t count) {
    return wait([&] { return pushes.size() >= count; });
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<redis::session_facts> ups;
  std::vector<outcome> downs;
  std::vector<std::pair<std::string, std::string>> pushes;
  std::function<void()> when_up;      // set before it is opened
  std::function<void()> when_pushed;  // set before it is opened

 private:
  void note(const std::function<void()>& change) {
    const std::lock_guard guard(mutex);
    change();
    changed.notify_all();
  }
  bool wait(const std::function<bool()>& condition) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::nanoseconds(generous_ns), condition);
  }
};

// A request with or without a blocked caller. It has to outlive its end.
class test_request : public redis::request {
 public:
  void on_reply(const redis::value& reply, time_ns) noexcept override {
    answer = text_of(reply);
    end();
  }
  void on_broken(bool was_sent) noexcept override {
    answer = was_sent ? "(broken, sent)" : "(broken, not sent)";
    end();
  }

  std::string answer;
  int ends = 0;
  net::caller wait;

 protected:
  virtual void end() {
    ++ends;
    wait.finish();
  }
};

// A connection that is open while the object lives.
class session {
 public:
  explicit session(const std::string& socket_path,
                   const std::function<void(redis::connection_config&)>& adjust = {}) {
    redis::connection_config config;
    config.where = net::resolver_for_path(socket_path);
    config.inbox = "mortise:inbox";
    config.client_name = "mortise-test";
    config.command_timeout_ms = generous_ns / ns_per_ms;
    if (adjust) adjust(config);
    started_ = loop.start();
    connection = std::make_unique<redis::connection>(loop, std::move(config), events);
  }
  ~session() {
    connection.reset();
    loop.stop();
  }
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  outcome open(time_ns deadline = soon()) {
    return started_.ok() ? connection->open(deadline) : started_;
  }
  outcome begin() { return started_.ok() ? connection->begin() : started_; }
  // Submits for a blocked caller, waits, and gives the reply as text, or what became of it.
  std::string ask(std::initializer_list<std::string_view> words, time_ns deadline = soon()) {
    test_request request;
    request.caller = &request.wait;
    const auto code =
        connection->commands().submit(request, encoded(words), redis::flush::before_await);
    if (code != status::ok) return std::string("(") + status_text(code) + ")";
    if (connection->commands().await(request.wait, deadline)) return request.answer;
    ADD_FAILURE() << "no answer, and the request is still open";
    std::abort();
  }
  // As ask, but tries again while there is no connection.
  std::string ask_when_up(std::initializer_list<std::string_view> words) {
    const time_ns deadline = soon();
    std::string answer;
    do {
      answer = ask(words, deadline);
    } while ((answer == "(unreachable)" || answer.starts_with("(broken")) && boot_now() < deadline);
    return answer;
  }

  net::reactor loop;
  recorder events;
  std::unique_ptr<redis::connection> connection;

 private:
  outcome started_;
};

}  // namespace mortise::testing
