#include "protocol/command.hpp"

#include "protocol/scripts/scripts.hpp"
#include "protocol/table.hpp"

namespace mortise::protocol {

command ping() {
  return {[](std::string& out, bool) { redis::command_writer(out).command({"PING"}); }};
}

namespace {

command seed_as(std::string_view whether_back, const client_identity& client, std::int64_t seen,
                std::string_view place) {
  const auto key_of = [&](std::string_view own) {
    return std::string(client.prefix).append(own).append(place);
  };
  return {[whether_back, seen, server = key_of(server_key), fence = key_of(fence_key)](
              std::string& out, bool with_text) {
    redis::command_writer(out).command(
        {with_text ? "EVAL" : "EVALSHA",
         with_text ? std::string_view(scripts::seed.text) : std::string_view(scripts::seed.sha1),
         "2", server, fence, whether_back, std::to_string(seen)});
  }};
}

}  // namespace

command seed(const client_identity& client, std::string_view place) {
  return seed_as("new", client, 0, place);
}

command seed_again(const client_identity& client, std::int64_t seen, std::string_view place) {
  return seed_as("back", client, seen, place);
}

const redis::script& seed_script() { return scripts::seed; }

command join_quorum(const membership& as) {
  return {[as](std::string& out, bool) {
    const auto key_of = [&](std::string_view own) {
      return std::string(as.client.prefix).append(own);
    };
    redis::command_writer(out).command({"EVAL", scripts::member.text, "3", key_of(quarantine_key),
                                        key_of(quorum_key), key_of(member_key) + as.client.id,
                                        std::to_string(as.quarantine_ms),
                                        std::to_string(as.servers), std::to_string(as.number)});
  }};
}

command load(const redis::script& script) {
  return {[&](std::string& out, bool) {
    redis::command_writer(out).command({"SCRIPT", "LOAD", script.text});
  }};
}

}  // namespace mortise::protocol
