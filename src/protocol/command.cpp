#include "protocol/command.hpp"

#include "protocol/scripts/scripts.hpp"
#include "protocol/table.hpp"

namespace mortise::protocol {

command ping() {
  return {[](std::string& out, bool) { redis::command_writer(out).command({"PING"}); }};
}

command seed(bool is_back) {
  return {[is_back](std::string& out, bool) {
    redis::command_writer(out).command(
        {"EVAL", scripts::seed.text, "2", server_key, fence_key, is_back ? "back" : "new"});
  }};
}

command load(const redis::script& script) {
  return {[&](std::string& out, bool) {
    redis::command_writer(out).command({"SCRIPT", "LOAD", script.text});
  }};
}

}  // namespace mortise::protocol
