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

std::int64_t latest_epoch(const std::vector<word>& words) {
  std::int64_t latest = -1;
  for (const auto& one : words) {
    if (one.said.has_master()) latest = std::max(latest, one.said.epoch());
  }
  return latest;
}

std::string all_texts(const std::vector<word>& words) {
  std::string text;
  for (const auto& one : words) {
    if (!text.empty()) text += "; ";
    text += one.problem.ok() ? one.from + " " + one.said.text() : std::string(one.problem.words());
  }
  return text;
}

}  // namespace

// The address has a request of its own. In a failover the leading Sentinel returns the new address
// there first, before its other replies change. Its epoch is the new one by then.
std::size_t report::write_questions(std::string& out, std::string_view master) {
  redis::command_writer writer(out);
  writer.command({"SENTINEL", "MASTER", master});
  writer.command({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", master});
  writer.command({"ROLE"});  // which masters it watches
  writer.command({"SENTINEL", "REPLICAS", master});
  return 4;
}

void report::take(const redis::value& answer) {
  const auto number = taken_++;
  if (answer.is_error()) {
    if (number < 2) take_error(answer.text());
    return;
  }
  if (number == 0) return take_master(answer);
  if (number == 1) {
    master_ = place_in(answer.at(0).text(), answer.at(1).text());
    is_stranger_ = is_stranger_ || answer.is_null();
    return;
  }
  if (number == 3) return take_replicas(answer);
  const auto& names = answer.at(1);
  for (std::size_t i = 0; i < names.size(); ++i) others_.emplace_back(names.at(i).text());
}

void report::take_error(std::string_view error) {
  if (error.starts_with("ERR No such master")) {
    is_stranger_ = true;
  } else if (error_.empty()) {
    error_ = error;
  }
}

void report::take_master(const redis::value& answer) {
  if (const auto* epoch = redis::find_field(answer, "config-epoch").found) {
    epoch_ = number_in(epoch->text());
  }
  if (const auto* others = redis::find_field(answer, "num-other-sentinels").found) {
    if (const auto count = number_in(others->text()); count >= 0) sentinels_ = count + 1;
  }
}

// A replica that is considered down is not chosen while this lasts. A replica that is only
// disconnected may be back in a moment.
void report::take_replicas(const redis::value& answer) {
  replicas_.emplace().all = static_cast<std::int64_t>(answer.size());
  for (std::size_t i = 0; i < answer.size(); ++i) {
    const auto* flags = redis::find_field(answer.at(i), "flags").found;
    const bool is_down = flags != nullptr && flags->text().find("_down") != std::string_view::npos;
    if (!is_down) ++replicas_->up;
  }
}

std::string report::text() const {
  if (has_master()) {
    return "reports " + printable(redis::text_of(master_), 300) + " (epoch " +
           std::string(decimal(epoch_)) + ")";
  }
  if (!is_stranger_) {
    return error_.empty() ? "does not report the master's address"
                          : "returned " + printable(error_, 200);
  }
  if (others_.empty()) return "watches no master";
  std::string names;
  for (std::size_t i = 0; i < std::min(others_.size(), most_others); ++i) {
    names.append(names.empty() ? "" : ", ").append(printable(others_[i]));
  }
  return "watches " + names + (others_.size() > most_others ? " and others" : "");
}

std::vector<redis::host_port> latest(const std::vector<word>& words) {
  const auto epoch = latest_epoch(words);
  std::vector<redis::host_port> places;
  for (const auto& one : words) {
    if (!one.said.has_master() || one.said.epoch() != epoch) continue;
    if (std::find(places.begin(), places.end(), one.said.master()) == places.end()) {
      places.push_back(one.said.master());
    }
  }
  return places;
}

// Only a majority of the Sentinels chooses a replica. A minority may be cut off together with the
// master, and considers all replicas down. Meanwhile the majority chooses one of them (hazard 7).
std::optional<replica_count> most_replicas(const std::vector<word>& words) {
  const auto epoch = latest_epoch(words);
  std::optional<replica_count> most;
  std::int64_t answered = 0;
  std::int64_t sentinels = 0;
  for (const auto& one : words) {
    const auto count = one.said.replicas();
    if (!count || one.said.epoch() != epoch) continue;
    most = {std::max(most ? most->all : 0, count->all), std::max(most ? most->up : 0, count->up)};
    sentinels = std::max(sentinels, one.said.sentinels());
    ++answered;
  }
  if (most && answered <= sentinels / 2) most->up = most->all;
  return most;
}

outcome why_nowhere(const std::vector<word>& words, std::string_view master) {
  const auto is_strange = [](const word& one) {
    return one.problem.ok() && one.said.is_stranger();
  };
  if (std::all_of(words.begin(), words.end(), is_strange)) {
    return outcome::of(status::refused, "none of the Sentinels watches a master ",
                       printable(master, 128), ": ", all_texts(words),
                       "; correct the name in the URL, or the Sentinels' addresses");
  }
  const bool is_definite = std::all_of(words.begin(), words.end(), [&](const word& one) {
    return is_strange(one) || (!one.problem.ok() && one.is_definite);
  });
  auto why = outcome::of(is_definite ? status::refused : status::unreachable,
                         "no Sentinel reports the address of ", printable(master, 128), ": ",
                         all_texts(words));
  const auto with_server_text = std::find_if(
      words.begin(), words.end(), [](const word& one) { return !one.problem.server_text.empty(); });
  if (with_server_text != words.end()) why.server_text = with_server_text->problem.server_text;
  why.is_retryable = !is_definite;
  return why;
}

outcome why_undecided(const std::vector<word>& words, std::string_view master) {
  auto why = outcome::of(status::refused, "the Sentinels disagree about the address of ",
                         printable(master, 128), ": ", all_texts(words),
                         "; give only Sentinels of one deployment");
  why.is_retryable = true;
  return why;
}

}  // namespace mortise::sentinel
