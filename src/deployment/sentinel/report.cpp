#include "deployment/sentinel/report.hpp"

#include <algorithm>
#include <charconv>

#include "base/text/decimal.hpp"
#include "base/text/printable.hpp"
#include "redis/resp/command.hpp"

namespace mortise::sentinel {

namespace {

constexpr std::size_t most_others = 8;  // maximum of other masters in a message

std::int64_t number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  return result.ec == std::errc() && result.ptr == end ? number : -1;
}

// A result with a host has a port above 0.
redis::host_port place_in(std::string_view host, std::string_view port) {
  constexpr int most = 65535;
  const auto number = number_in(port);
  if (host.empty() || number < 1 || number > most) return {};
  return {std::string(host), static_cast<int>(number)};
}

std::int64_t latest_epoch(const std::vector<sentinel_result>& results) {
  std::int64_t latest = -1;
  for (const auto& one : results) {
    if (one.content.has_master()) latest = std::max(latest, one.content.epoch());
  }
  return latest;
}

std::string all_texts(const std::vector<sentinel_result>& results) {
  std::string text;
  for (const auto& one : results) {
    if (!text.empty()) text += "; ";
    text += one.problem.ok() ? one.sentinel + " " + one.content.text()
                             : std::string(one.problem.words());
  }
  return text;
}

}  // namespace

// The address has a request of its own. In a failover the leading Sentinel returns the new address
// there first, before its other replies change. Its epoch is the new one by then.
std::size_t report::write_requests(std::string& out, std::string_view master) {
  redis::command_writer writer(out);
  writer.command({"SENTINEL", "MASTER", master});
  writer.command({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", master});
  writer.command({"ROLE"});  // which masters it watches
  writer.command({"SENTINEL", "REPLICAS", master});
  return 4;
}

void report::take(const redis::value& reply) {
  const auto number = taken_++;
  if (reply.is_error()) {
    if (number < 2) take_error(reply.text());
    return;
  }
  if (number == 0) return take_master(reply);
  if (number == 1) {
    master_ = place_in(reply.at(0).text(), reply.at(1).text());
    is_unwatched_ = is_unwatched_ || reply.is_null();
    return;
  }
  if (number == 3) return take_replicas(reply);
  const auto& names = reply.at(1);
  for (std::size_t i = 0; i < names.size(); ++i) other_masters_.emplace_back(names.at(i).text());
}

void report::take_error(std::string_view error) {
  if (error.starts_with("ERR No such master")) {
    is_unwatched_ = true;
  } else if (error_.empty()) {
    error_ = error;
  }
}

void report::take_master(const redis::value& reply) {
  if (const auto* epoch = redis::find_field(reply, "config-epoch").found) {
    epoch_ = number_in(epoch->text());
  }
  if (const auto* others = redis::find_field(reply, "num-other-sentinels").found) {
    if (const auto count = number_in(others->text()); count >= 0) sentinels_ = count + 1;
  }
}

// A replica that is considered down is not chosen while this lasts. A replica that is only
// disconnected may be back in a moment.
void report::take_replicas(const redis::value& reply) {
  replicas_.emplace().all = static_cast<std::int64_t>(reply.size());
  for (std::size_t i = 0; i < reply.size(); ++i) {
    const auto* flags = redis::find_field(reply.at(i), "flags").found;
    const bool is_down = flags != nullptr && flags->text().find("_down") != std::string_view::npos;
    if (!is_down) ++replicas_->up;
  }
}

std::string report::text() const {
  if (has_master()) {
    return "reports " + printable(redis::text_of(master_), 300) + " (epoch " +
           std::string(decimal(epoch_)) + ")";
  }
  if (!is_unwatched_) {
    return error_.empty() ? "does not report the master's address"
                          : "returned " + printable(error_, 200);
  }
  if (other_masters_.empty()) return "watches no master";
  std::string names;
  for (std::size_t i = 0; i < std::min(other_masters_.size(), most_others); ++i) {
    names.append(names.empty() ? "" : ", ").append(printable(other_masters_[i]));
  }
  return "watches " + names + (other_masters_.size() > most_others ? " and others" : "");
}

std::vector<redis::host_port> latest(const std::vector<sentinel_result>& results) {
  const auto epoch = latest_epoch(results);
  std::vector<redis::host_port> places;
  for (const auto& one : results) {
    if (!one.content.has_master() || one.content.epoch() != epoch) continue;
    if (std::find(places.begin(), places.end(), one.content.master()) == places.end()) {
      places.push_back(one.content.master());
    }
  }
  return places;
}

// Only a majority of the Sentinels chooses a replica. A minority may be cut off together with the
// master, and considers all replicas down. Meanwhile the majority chooses one of them (hazard 7).
std::optional<replica_count> most_replicas(const std::vector<sentinel_result>& results) {
  const auto epoch = latest_epoch(results);
  std::optional<replica_count> most;
  std::int64_t answered = 0;
  std::int64_t sentinels = 0;
  for (const auto& one : results) {
    const auto count = one.content.replicas();
    if (!count || one.content.epoch() != epoch) continue;
    most = {std::max(most ? most->all : 0, count->all), std::max(most ? most->up : 0, count->up)};
    sentinels = std::max(sentinels, one.content.sentinels());
    ++answered;
  }
  if (most && answered <= sentinels / 2) most->up = most->all;
  return most;
}

outcome why_unreported(const std::vector<sentinel_result>& results, std::string_view master) {
  const auto is_unwatched = [](const sentinel_result& one) {
    return one.problem.ok() && one.content.is_unwatched();
  };
  if (std::all_of(results.begin(), results.end(), is_unwatched)) {
    return outcome::of(status::refused, "none of the Sentinels watches a master ",
                       printable(master, 128), ": ", all_texts(results),
                       "; correct the name in the URL, or the Sentinels' addresses");
  }
  const bool is_definite =
      std::all_of(results.begin(), results.end(), [&](const sentinel_result& one) {
        return is_unwatched(one) || (!one.problem.ok() && one.is_definite);
      });
  auto why = outcome::of(is_definite ? status::refused : status::unreachable,
                         "no Sentinel reports the address of ", printable(master, 128), ": ",
                         all_texts(results));
  const auto with_server_text =
      std::find_if(results.begin(), results.end(),
                   [](const sentinel_result& one) { return !one.problem.server_text.empty(); });
  if (with_server_text != results.end()) why.server_text = with_server_text->problem.server_text;
  why.is_retryable = !is_definite;
  return why;
}

outcome why_undecided(const std::vector<sentinel_result>& results, std::string_view master) {
  auto why = outcome::of(status::refused, "the Sentinels disagree about the address of ",
                         printable(master, 128), ": ", all_texts(results),
                         "; give only Sentinels of one deployment");
  why.is_retryable = true;
  return why;
}

}  // namespace mortise::sentinel
