#include "fuzz/moody_server.hpp"

#include <utility>

namespace mortise::testing {

void moody_server::set_odd_reply(std::string reply) {
  const std::lock_guard guard(mutex_);
  odd_reply_ = std::move(reply);
}

void moody_server::answer_granting(fake_peer& peer, const fake_command& command) {
  const auto token = std::to_string(token_ += 300);
  if (command.is("SET") && command.words.size() > 1 && command.words[1].starts_with("{")) {
    return peer.send("+QUEUED\r\n");
  }
  if (command.is("MULTI")) return peer.send("+OK\r\n");
  if (command.is("INCR")) return peer.send("+QUEUED\r\n");
  if (command.is("EXEC")) return peer.send("*2\r\n+OK\r\n:" + token + "\r\n");
  if (command.is("MGET")) return peer.send("*1\r\n$6\r\n1 host\r\n");
  if (command.is("EVALSHA") || command.is("EVAL")) {
    // Release and cancel have one argument, which is the seventh word at most.
    if (command.words.size() <= 7) return peer.send(":1\r\n");
    return peer.send("*5\r\n:1\r\n:" + token + "\r\n:" + token + "\r\n:100\r\n:0\r\n");
  }
  fake_server::answer_healthy(peer, command);
}

void moody_server::answer_taken(fake_peer& peer, const fake_command& command) {
  if (command.is("EXEC")) return peer.send("*2\r\n_\r\n:1790000000000001\r\n");
  if (command.is("EVALSHA") && command.words.size() > 7) {
    return peer.send("*5\r\n:0\r\n:0\r\n:1790000000000001\r\n:50\r\n:0\r\n");
  }
  if (command.is("EVALSHA")) return peer.send(":0\r\n");
  answer_granting(peer, command);
}

void moody_server::answer(fake_peer& peer, const fake_command& command) {
  switch (mood_.load()) {
    case mood::granting:
      return answer_granting(peer, command);
    case mood::taken:
      return answer_taken(peer, command);
    case mood::refusing:
      return peer.send("-READONLY You can't write against a read only replica.\r\n");
    case mood::odd: {
      const std::lock_guard guard(mutex_);
      return peer.send(odd_reply_);
    }
    case mood::mute:
      return;
    case mood::closing:
      return peer.close();
  }
}

}  // namespace mortise::testing
