#include "protocol/listing/client_record.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace mortise::protocol {

namespace {

constexpr std::int64_t record_ttl_ms = 60'000;

std::string key_of(std::string_view prefix, std::string_view client_id, std::string_view place) {
  return std::string(prefix).append("mortise:client:").append(client_id).append(place);
}

std::string text_of_this_process() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return std::to_string(getpid()) + " " + host;
}

command at_each_place(std::function<void(std::string& out, std::string_view place)> write) {
  command result;
  result.write = [write](std::string& out, bool) { write(out, {}); };
  result.write_at = std::move(write);
  return result;
}

}  // namespace

command write_record(const client_identity& client) {
  return at_each_place([client, text = text_of_this_process()](auto& out, auto place) {
    redis::command_writer(out).command(
        {"SET", key_of(client.prefix, client.id, place), text, "PX", decimal(record_ttl_ms)});
  });
}

command delete_record(const client_identity& client) {
  auto result = at_each_place([client](auto& out, auto place) {
    redis::command_writer(out).command({"DEL", key_of(client.prefix, client.id, place)});
  });
  result.is_farewell = true;
  return result;
}

command read_records(lock_info& info, std::string_view prefix, std::string_view place) {
  command result;
  result.write = [&info, prefix, place](std::string& out, bool) {
    redis::command_writer writer(out);
    writer.begin(1 + info.entries.size()).arg("MGET");
    for (const auto& party : info.entries) writer.arg(key_of(prefix, party.client, place));
  };
  result.read = [&info](const redis::value& reply) {
    for (std::size_t i = 0; i < info.entries.size() && i < reply.size(); ++i) {
      const auto record = reply.at(i).text();
      info.entries[i].pid = number_in(record);
      const auto space = record.find(' ');
      if (space != std::string_view::npos) info.entries[i].host = record.substr(space + 1);
    }
  };
  return result;
}

}  // namespace mortise::protocol
