#include "protocol/command.hpp"

#include "protocol/scripts/scripts.hpp"
#include "protocol/table.hpp"

namespace mortise::protocol {

command ping() {
  return {[](std::string& out, bool) { redis::command_writer(out).command({"PING"}); }};
}

namespace {

command seed_as(std::string_view whether_back, std::int64_t seen, std::string_view place) {
  return {[=, server = std::string(server_key).append(place),
           fence = std::string(fence_key).append(place)](std::string& out, bool with_text) {
    redis::command_writer(out).command(
        {with_text ? "EVAL" : "EVALSHA",
         with_text ? std::string_view(scripts::seed.text) : std::string_view(scripts::seed.sha1),
         "2", server, fence, whether_back, std::to_string(seen)});
  }};
}

}  // namespace

command seed(std::string_view place) { return seed_as("new", 0, place); }

command seed_again(std::int64_t seen, std::string_view place) {
  return seed_as("back", seen, place);
}

const redis::script& seed_script() { return scripts::seed; }

command join_quorum(const membership& as) {
  return {[as](std::string& out, bool) {
    redis::command_writer(out).command({"EVAL", scripts::member.text, "3", quarantine_key,
                                        quorum_key, std::string(member_key) + as.client_id,
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
