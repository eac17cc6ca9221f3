// Any replies to a handshake, in all of its forms. It ends, it never succeeds with a server that
// keeps no locks, and its facts are those of the replies (hazards 10, 28, 31).
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "redis/handshake.hpp"
#include "redis/login/credentials.hpp"
#include "redis/resp/resp.hpp"

namespace {

using mortise::redis::connection_config;
using mortise::redis::handshake;
using mortise::redis::kind;
using mortise::redis::parse_result;
using mortise::redis::parser;
using mortise::redis::value;

constexpr std::string_view secret = "hunter2secret";

void require(bool condition) {
  if (!condition) std::abort();
}

// The first words of the commands in bytes that the library wrote.
std::vector<std::string> commands_in(std::string_view bytes) {
  std::vector<std::string> commands;
  parser reader;
  while (!bytes.empty()) {
    require(reader.parse(bytes) == parse_result::complete);
    require(reader.reply().type() == kind::array && reader.reply().size() > 0);
    commands.emplace_back(reader.reply().at(0).text());
    bytes.remove_prefix(reader.consumed());
  }
  return commands;
}

bool is_of_replica(std::string_view command, const value& reply) {
  if (reply.is_error()) return false;
  if (command == "ROLE") return reply.at(0).text() == "slave";
  if (command != "HELLO" || reply.type() != kind::map) return false;
  std::string_view role;
  for (std::size_t i = 0; i + 1 < reply.size(); i += 2) {
    if (reply.at(i).text() == "role") role = reply.at(i + 1).text();
    // A Sentinel has no role of its own.
    if (reply.at(i).text() == "mode" && reply.at(i + 1).text() == "sentinel") return true;
  }
  return role == "replica" || role == "slave";
}

connection_config make_config() {
  static const mortise::redis::script script{"sum", "return 1", ""};
  connection_config config;
  config.client_name = "mortise";
  config.inbox = "inbox";
  config.database = 3;
  config.probe_key = "mortise:probe";
  config.scripts = {&script};
  using need = mortise::redis::setup_command::need;
  config.setup = {{"first", "*1\r\n$5\r\nFIRST\r\n", need::always},
                  {"second", "*1\r\n$6\r\nSECOND\r\n", need::when_there_is_memory}};
  return config;
}

void check_done(const handshake& dialogue, bool has_met_replica, std::size_t left) {
  const auto& facts = dialogue.facts();
  require(left == 0);
  require(!has_met_replica);
  require(facts.role.empty() || facts.role == "master");
  require(facts.version_number == 0 || facts.version_number >= 6002000);
}

void check_refused(const handshake& dialogue, std::string_view stream) {
  require(!dialogue.problem().ok() && !dialogue.problem().message.empty());
  // What the server echoes is its own affair.
  if (stream.find(secret) != std::string_view::npos) return;
  require(dialogue.problem().message.find(secret) == std::string::npos);
}

void greet(handshake::form form, const connection_config& config, handshake::predecessor before,
           bool has_login, std::string_view stream) {
  const auto whole = stream;
  mortise::redis::login as;
  if (has_login) as = {"ann", mortise::secret(secret)};
  handshake dialogue(config, form, std::move(before), as);
  auto commands = commands_in(dialogue.take_bytes());
  std::size_t answered = 0;
  bool has_met_replica = false;
  parser reader;
  while (reader.parse(stream) == parse_result::complete) {
    stream.remove_prefix(reader.consumed());
    require(answered < commands.size());
    has_met_replica |= is_of_replica(commands[answered], reader.reply());
    ++answered;
    switch (dialogue.take(reader.reply())) {
      case handshake::step::more:
        require(answered < commands.size());
        break;
      case handshake::step::send:
        for (auto& command : commands_in(dialogue.take_bytes()))
          commands.push_back(std::move(command));
        require(answered < commands.size());
        break;
      case handshake::step::done:
        return check_done(dialogue, has_met_replica, commands.size() - answered);
      case handshake::step::refused:
        return check_refused(dialogue, whole);
      case handshake::step::fall_back:
        return require(form == handshake::form::resp3 && commands[answered - 1] == "HELLO");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The first byte chooses the circumstances. The rest is what the server sends.
  const auto chosen = data[0];
  const auto form = static_cast<handshake::form>((chosen & 3U) % 3U);
  handshake::predecessor before;
  if ((chosen & 8U) != 0) before = {5, (chosen & 16U) != 0 ? "" : "abc"};
  const auto config = make_config();
  greet(form, config, before, (chosen & 4U) != 0,
        {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
