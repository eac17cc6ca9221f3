#include "protocol/listing/listing.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "protocol/listing/row.hpp"
#include "protocol/native/inbox.hpp"
#include "protocol/scripts/scripts.hpp"
#include "redis/resp/resp.hpp"

namespace mortise::protocol {

namespace {

// The fields of an entry. The message is also written from this list.
using field = row_field<listing_entry>;
constexpr field fields[] = {
    {"client", &listing_entry::client, nullptr},
    {"host", &listing_entry::host, nullptr},
    {"pid", nullptr, &listing_entry::pid},
    {"label", &listing_entry::label, nullptr},
    {"name", &listing_entry::name, nullptr},
    {"kind", &listing_entry::kind, nullptr},
    {"mode", &listing_entry::mode, nullptr},
    {"holds", nullptr, &listing_entry::holds},
    {"token", nullptr, &listing_entry::token},
    {"held_ms", nullptr, &listing_entry::held_ms},
    {"time_left_ms", nullptr, &listing_entry::time_left_ms},
    {"permits", nullptr, &listing_entry::permits},
    {"waiters", nullptr, &listing_entry::waiters},
    {"waited_ms", nullptr, &listing_entry::waited_ms},
    {"grants", nullptr, &listing_entry::grants},
    {"contended", nullptr, &listing_entry::contended},
    {"waited_total_ms", nullptr, &listing_entry::waited_total_ms},
    {"waits", &listing_entry::waits, nullptr},
    {"value", &listing_entry::value, nullptr},
    {"retained", nullptr, &listing_entry::retained},
    {"retained_claims", &listing_entry::retained_claims, nullptr, false},
    {"threads", &listing_entry::threads, nullptr},
    {"source", &listing_entry::source, nullptr},
};
// All entries of a client share the first fields, which are sent once.
constexpr std::size_t shared_fields = 3;
// A client does not send the last field.
constexpr std::size_t listed_fields = std::size(fields) - 1;
constexpr std::size_t own_fields = listed_fields - shared_fields;
// Fields of a page before its entries.
constexpr std::size_t head_size = 7;

std::string text_of(const listing_entry& entry, const field& which) {
  return which.text != nullptr ? entry.*which.text : std::string(decimal(entry.*which.number));
}

// Removes the text up to the next space from the front.
std::string_view take_word(std::string_view& text) noexcept {
  const auto word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

void take_field(listing_entry& entry, const field& which, std::string_view text) {
  if (which.text != nullptr) {
    entry.*which.text = text;
  } else {
    entry.*which.number = protocol::read_number<std::int64_t>(text);
  }
}

template <class Rows, class Append>
void append_rows(std::string& out, const Rows& rows, Append&& append) {
  for (const auto& one : rows) {
    if (&one != rows.data()) out += ',';
    append(one);
  }
}

// Has no keys: the command is about clients, not locks.
command call(const redis::script& script, std::vector<std::string> arguments) {
  return {[&script, arguments = std::move(arguments)](std::string& out, bool /*with_text*/) {
    redis::command_writer writer(out);
    writer.begin(3 + arguments.size()).arg("EVAL").arg(script.text).arg("0");
    for (const auto& one : arguments) writer.arg(one);
  }};
}

}  // namespace

const std::string* listing_text(const listing_entry& entry, std::string_view name) noexcept {
  return row_text(entry, fields, name);
}

std::int64_t listing_number(const listing_entry& entry, std::string_view name) noexcept {
  return row_number(entry, fields, name);
}

const std::string* listing::text(std::size_t row, std::string_view field) const noexcept {
  if (row < entries.size()) return listing_text(entries[row], field);
  row -= entries.size();
  return row < events.size() ? history_text(events[row], field) : nullptr;
}

std::int64_t listing::number(std::size_t row, std::string_view field) const noexcept {
  if (row < entries.size()) return listing_number(entries[row], field);
  row -= entries.size();
  return row < events.size() ? history_number(events[row], field) : 0;
}

std::string listing::json() const {
  std::string out = "{\"answered\":";
  out.append(decimal(answered)).append(",\"truncated\":").append(decimal(truncated));
  out += ",\"silent\":[";
  append_rows(out, silent, [&](const auto& id) { append_json(out, id); });
  out += "],\"missing\":[";
  append_rows(out, missing.all(), [&](const auto& one) {
    out += "{\"server\":";
    append_json(out, one.name);
    out += ",\"why\":";
    append_json(out, one.why);
    out += '}';
  });
  out += "],\"entries\":[";
  append_rows(out, entries, [&](const auto& one) { append_row(out, one, fields); });
  append_rows(out, events, [&](const auto& one) { append_history(out, one); });
  return out += "]}";
}

// ---- messages -------------------------------------------------------------------------------

bool is_listing_message(std::string_view text) noexcept {
  return text.starts_with("Q ") || text.starts_with("A ") || text.starts_with("H ") ||
         text.starts_with("E ");
}

std::string write_request(const listing_request& request) {
  std::string out = request.history ? "H " : "Q ";
  out.append(decimal(request.round)).append(" ").append(decimal(request.serial)).append(" ");
  out.append(decimal(request.from)).append(" ").append(request.asker);
  out.append(" ").append(decimal(request.database));
  if (!request.history) return out;
  out.append(" ").append(decimal(request.history->window_ms)).append(" ");
  return out.append(request.history->name);
}

std::optional<listing_request> read_request(std::string_view text) {
  const bool is_history = text.starts_with("H ");
  if (!is_history && !text.starts_with("Q ")) return std::nullopt;
  text.remove_prefix(2);
  listing_request request;
  request.round = read_number<std::uint64_t>(take_word(text));
  request.serial = read_number<std::uint64_t>(take_word(text));
  request.from = read_number<std::uint64_t>(take_word(text));
  request.asker = take_word(text);
  const auto database = take_word(text);
  if (!database.empty()) request.database = read_number<std::int64_t>(database);
  // The ID becomes a part of a channel name.
  const bool is_id =
      !request.asker.empty() && request.asker.size() <= 64 &&
      request.asker.find_first_of(std::string_view("{}: \r\n\0", 7)) == std::string::npos;
  if (!is_id) return std::nullopt;
  if (is_history) {
    const auto window_ms = read_number<std::int64_t>(take_word(text));
    if (window_ms < 1 || window_ms > longest_history_ms || text.empty()) return std::nullopt;
    request.history = {std::string(text), window_ms};
  }
  return request;
}

std::string write_page(const listing_page& page) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  std::string out = "A ";
  redis::command_writer writer(out);
  writer.begin(head_size + page.entries.size() * own_fields);
  writer.arg(decimal(page.round)).arg(page.client).arg(host).arg(decimal(getpid()));
  writer.arg(decimal(page.from)).arg(decimal(page.next)).arg(decimal(own_fields));
  for (const auto& one : page.entries) {
    for (std::size_t i = shared_fields; i < listed_fields; ++i) {
      writer.arg(text_of(one, fields[i]));
    }
  }
  return out;
}

std::optional<listing_page> read_page(std::string_view text) {
  if (!text.starts_with("A ")) return std::nullopt;
  redis::parser parser;
  if (parser.parse(text.substr(2)) != redis::parse_result::complete) return std::nullopt;
  const auto& all = parser.reply();
  const auto stride = read_number<std::size_t>(all.at(6).text());
  if (all.size() < head_size || stride == 0) return std::nullopt;
  listing_page page;
  page.round = read_number<std::uint64_t>(all.at(0).text());
  page.client = all.at(1).text();
  page.from = read_number<std::uint64_t>(all.at(4).text());
  page.next = read_number<std::uint64_t>(all.at(5).text());
  listing_entry of_client;
  for (std::size_t i = 0; i < shared_fields; ++i) {
    take_field(of_client, fields[i], all.at(i + 1).text());
  }
  for (auto at = head_size; all.size() - at >= stride; at += stride) {
    auto& one = page.entries.emplace_back(of_client);
    for (std::size_t i = 0; i < std::min(stride, own_fields); ++i) {
      take_field(one, fields[shared_fields + i], all.at(at + i).text());
    }
  }
  return page;
}

// ---- commands -------------------------------------------------------------------------------

command find_inboxes(bool is_cluster, std::string_view prefix,
                     std::function<void(std::vector<client_inbox>)> take) {
  auto begin = inbox_channel({{}, std::string(prefix)});
  auto made = call(scripts::listing_find, {is_cluster ? "SHARDCHANNELS" : "CHANNELS",
                                           std::to_string(most_clients), begin});
  made.read = [take = std::move(take), before = begin.size()](const redis::value& reply) {
    std::vector<client_inbox> found;
    for (std::size_t i = 0; i < reply.size(); ++i) {
      const auto channel = reply.at(i).text();
      const auto id = channel.substr(std::min(before, channel.size()));
      found.push_back({std::string(id.substr(0, id.find('{'))), std::string(channel)});
    }
    take(std::move(found));
  };
  return made;
}

command say_to_inboxes(bool is_cluster, const std::vector<std::string>& channels,
                       std::string_view text) {
  std::vector<std::string> arguments{is_cluster ? "SPUBLISH" : "PUBLISH", std::string(text)};
  arguments.insert(arguments.end(), channels.begin(), channels.end());
  return call(scripts::listing_ask, std::move(arguments));
}

command say_to_inbox(const client_identity& client, std::string_view text) {
  return {[channel = inbox_channel(client), payload = std::string(text)](std::string& out, bool) {
    redis::command_writer(out).command({"PUBLISH", channel, payload});
  }};
}

}  // namespace mortise::protocol
