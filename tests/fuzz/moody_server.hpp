// A server with right, odd or no replies, by its mood.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "support/fake_server.hpp"

namespace mortise::testing {

enum class mood { granting, taken, refusing, odd, mute, closing };

class moody_server {
 public:
  moody_server() : server_([this](auto& peer, const auto& command) { answer(peer, command); }) {}

  [[nodiscard]] std::string url() const { return server_.url(); }
  void set_mood(mood next) { mood_ = next; }
  // Its reply to each command while its mood is odd.
  void set_odd_reply(std::string reply);
  void close_all() { server_.close_all(); }
  void send_to_all(std::string_view bytes) { server_.send_to_all(bytes); }

 private:
  void answer(fake_peer& peer, const fake_command& command);
  void answer_granting(fake_peer& peer, const fake_command& command);
  void answer_taken(fake_peer& peer, const fake_command& command);

  // Set by the fuzzer's thread, read by the server's.
  std::atomic<mood> mood_{mood::granting};
  std::mutex mutex_;
  std::string odd_reply_;
  std::int64_t token_ = 1'790'000'000'000'000;
  // Last, because its thread uses the others.
  fake_server server_;
};

}  // namespace mortise::testing
