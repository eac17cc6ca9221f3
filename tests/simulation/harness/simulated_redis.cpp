#include "simulation/harness/simulated_redis.hpp"

#include <strings.h>

#include <algorithm>
#include <utility>

#include "simulation/harness/script_host.hpp"

namespace mortise::simulation {

namespace {

constexpr const char* out_of_memory = "OOM command not allowed when used memory > 'maxmemory'.";

void write_head(std::string& out, char mark, std::int64_t number) {
  out += mark;
  out += std::to_string(number);
  out += "\r\n";
}

bool equals(std::string_view left, const char* right) {
  return std::string_view(right).size() == left.size() &&
         strncasecmp(left.data(), right, left.size()) == 0;
}

}  // namespace

void reply::write(std::string& out, int protocol) const {
  switch (type) {
    case form::nil:
      out += protocol == 3 ? "_\r\n" : "$-1\r\n";
      return;
    case form::status:
      out += '+' + text + "\r\n";
      return;
    case form::error:
      out += '-' + text + "\r\n";
      return;
    case form::integer:
      return write_head(out, ':', integer);
    case form::text:
      write_head(out, '$', static_cast<std::int64_t>(text.size()));
      out += text + "\r\n";
      return;
    case form::array:
    case form::push:
      write_head(out, type == form::push && protocol == 3 ? '>' : '*',
                 static_cast<std::int64_t>(items.size()));
      for (const auto& item : items) item.write(out, protocol);
  }
}

simulated_redis::simulated_redis(clock now_us)
    : now_us_(std::move(now_us)), scripts_(std::make_unique<script_host>(*this)) {}

simulated_redis::~simulated_redis() = default;

// ---- sessions -------------------------------------------------------------------------------

session& simulated_redis::connect() {
  auto made = std::make_unique<session>();
  made->id = next_session_++;
  return *(sessions_[made->id] = std::move(made));
}

void simulated_redis::disconnect(session& gone) {
  gone.is_open = false;
  gone.channels.clear();
}

void simulated_redis::execute(session& from, const arguments& command) {
  const auto* row = command.empty() ? nullptr : find_command(command[0]);
  served_ = &from;
  last_reply_ = from.is_in_multi ? run_multi(from, command, row) : call(command, &from);
  served_ = nullptr;
  const auto own_pushes = std::exchange(deferred_, {});
  if (!from.is_open || !from.send) return;
  std::string bytes;
  last_reply_.write(bytes, from.protocol);
  from.send(std::move(bytes));
  for (const auto& push : own_pushes) from.send(push);
}

// ---- rules for all commands -----------------------------------------------------------------

reply simulated_redis::refusal_of(const command_row* row, const arguments& command) {
  if (row == nullptr) {
    return reply::error("ERR unknown command '" + (command.empty() ? "" : command[0]) + "'");
  }
  const auto count = static_cast<int>(command.size());
  if (row->arity > 0 ? count != row->arity : count < -row->arity) {
    return reply::error(std::string("ERR wrong number of arguments for '") + row->name +
                        "' command");
  }
  if (!row->while_loading && !fault.refuse_all.empty()) return reply::error(fault.refuse_all);
  if (row->needs_memory && fault.is_out_of_memory) {
    return reply::error(out_of_memory);
  }
  if (row->writes && !fault.refuse_writes.empty()) return reply::error(fault.refuse_writes);
  return reply::nil();
}

reply simulated_redis::call(const arguments& command, session* from) {
  ++commands_;
  bool is_one = false;
  if (auto answer = connection_command(command, from, is_one); is_one) return answer;
  const auto* row = find_command(command.empty() ? "" : command[0]);
  if (auto refusal = refusal_of(row, command); refusal.is_error()) return refusal;
  return (this->*row->run)(command);
}

reply simulated_redis::call_from_script(const arguments& command) {
  const auto* row = find_command(command.empty() ? "" : command[0]);
  if (row == nullptr) return reply::error("ERR Unknown Redis command called from script");
  const auto count = static_cast<int>(command.size());
  if (row->arity > 0 ? count != row->arity : count < -row->arity) {
    return reply::error("ERR Wrong number of args calling Redis command from script");
  }
  if (!row->in_scripts) return reply::error("ERR This Redis command is not allowed from script");
  if (row->writes && !fault.refuse_writes.empty()) return reply::error(fault.refuse_writes);
  // As in Redis: after its first write, a script is no longer stopped for lack of memory.
  if (row->needs_memory && fault.is_out_of_memory && !script_has_written_) {
    return reply::error(out_of_memory);
  }
  // The commands that an unloaded server executes are those without a key.
  if (fault.moves_slot && !row->while_loading && live(command[1]) == nullptr) {
    return reply::error("ERR Script attempted to access a non local key in a cluster node");
  }
  if (row->writes) script_has_written_ = true;
  return (this->*row->run)(command);
}

reply simulated_redis::run_multi(session& from, const arguments& command, const command_row* row) {
  if (!command.empty() && equals(command[0], "EXEC")) {
    from.is_in_multi = false;
    if (from.is_aborted) {
      return reply::error("EXECABORT Transaction discarded because of previous errors.");
    }
    std::vector<reply> answers;
    for (const auto& queued : std::exchange(from.queued, {})) {
      answers.push_back((this->*find_command(queued[0])->run)(queued));
    }
    return reply::list(std::move(answers));
  }
  ++commands_;
  auto refusal = refusal_of(row, command);
  // A queue of commands takes memory too.
  const bool is_let_in = queues_reads_without_memory && row != nullptr && !row->needs_memory;
  if (!refusal.is_error() && fault.is_out_of_memory && !is_let_in) {
    refusal = reply::error(out_of_memory);
  }
  if (refusal.is_error()) {
    from.is_aborted = true;
    return refusal;
  }
  from.queued.push_back(command);
  return reply::status("QUEUED");
}

// ---- commands about the connection itself ---------------------------------------------------

reply simulated_redis::connection_command(const arguments& command, session* from, bool& is_one) {
  if (from == nullptr || command.empty()) return {};
  is_one = true;
  if (equals(command[0], "MULTI")) {
    from->is_in_multi = true;
    from->is_aborted = false;
    from->queued.clear();
    return reply::status("OK");
  }
  if (equals(command[0], "HELLO") && command.size() > 1) {
    from->protocol = command[1] == "3" ? 3 : 2;
    return reply::list({reply::bulk("server"), reply::bulk("redis")});
  }
  const bool is_of_slot = equals(command[0], "SSUBSCRIBE");
  if ((is_of_slot || equals(command[0], "SUBSCRIBE")) && command.size() == 2) {
    from->channels.insert(command[1]);
    reply answer =
        reply::list({reply::bulk(is_of_slot ? "ssubscribe" : "subscribe"), reply::bulk(command[1]),
                     reply::number(static_cast<std::int64_t>(from->channels.size()))});
    answer.type = reply::form::push;
    return answer;
  }
  if (equals(command[0], "CLIENT") && command.size() == 2 && equals(command[1], "ID")) {
    return reply::number(from->id);
  }
  if (equals(command[0], "CLIENT") && command.size() == 4 && equals(command[1], "KILL")) {
    const auto found = sessions_.find(std::stoll(command[3]));
    if (found == sessions_.end() || !found->second->is_open) return reply::number(0);
    disconnect(*found->second);
    if (found->second->on_killed) found->second->on_killed();
    return reply::number(1);
  }
  is_one = false;
  return {};
}

// ---- keys -----------------------------------------------------------------------------------

simulated_redis::entry* simulated_redis::live(std::string_view key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  if (found->second.expires_ms >= 0 && now_ms() > found->second.expires_ms) {
    entries_.erase(found);
    return nullptr;
  }
  return &found->second;
}

const simulated_redis::entry* simulated_redis::find(std::string_view key) { return live(key); }

std::vector<std::string> simulated_redis::keys() {
  std::vector<std::string> names;
  for (const auto& item : entries_) names.push_back(item.first);
  std::erase_if(names, [&](const auto& name) { return live(name) == nullptr; });
  return names;
}

std::int64_t simulated_redis::subscribers(std::string_view channel) const {
  return std::count_if(sessions_.begin(), sessions_.end(), [&](const auto& item) {
    return item.second->is_open && item.second->channels.contains(channel);
  });
}

std::vector<session*> simulated_redis::sessions() const {
  std::vector<session*> all;
  for (const auto& item : sessions_) all.push_back(item.second.get());
  return all;
}

void simulated_redis::flush_scripts() { scripts_->flush(); }

void simulated_redis::restart(data with) {
  entries_ = std::move(with);
  flush_scripts();
  started_us = now_us_();
  run_id = "run" + std::to_string(next_session_++);
}

}  // namespace mortise::simulation
