#include "cli/commands/list.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "cli/arguments.hpp"
#include "cli/exit_code.hpp"
#include "cli/failure.hpp"
#include "cli/period.hpp"
#include "cli/text/listing.hpp"
#include "cli/text/lock_summary.hpp"
#include "cli/text/text_table.hpp"

namespace mortise::cli {
namespace {

const char* const list_help = R"HELP(Lists the holder and the number of waiters of each lock.

  mortise list
  mortise list -o wide
  mortise list --all --wait 10s
  mortise list --json | jq '.entries[] | select(.waiters > 0)'

Usage: mortise list [OPTION...]

      --url URL      servers of the locks (default: $MORTISE_URL)
  -o, --output FORM  wide: a line for each client that holds or waits; name: only names;
                     json: as --json
      --json         print the answers of the clients as JSON
      --all          also scan the keys of the servers
      --match GLOB   with --all: keys of other programs, such as 'lock:*', instead of Mortise's own
      --most COUNT   with --all: keys to scan on each server (default: 1000000)
      --wait TIME    time limit for the answers of the clients, and for the scan (default: 1s)
  -h, --help         print this help

It asks all living clients. Only --all also lists holds of dead clients and of other programs. Their
holder is the id of the client in parentheses. Exit codes: 0, even without locks; 75 a server did
not answer, and stderr names it; 64 and above as in mortise exec.
)HELP";

using summaries = std::map<std::string, lock_summary>;

void print(const summaries& locks) {
  text_table table(
      {"NAME", "KIND", "HOLDER", "TOKEN", "HELD", "LEFT", "WAITERS", "WAITED", "LABEL"});
  for (const auto& [name, one] : locks) {
    if (!one.is_in_use()) continue;
    const bool holds = one.holders > 0;
    const bool is_reported = holds && !one.is_unheard;
    table.add({printable_of(name), one.kind, one.holder_text(),
               text_or_dash(is_reported, std::to_string(one.token)),
               text_or_dash(is_reported, rough_text_of(one.held_ms)),
               text_or_dash(holds, rough_text_of(one.time_left_ms)), std::to_string(one.waiters),
               text_or_dash(one.waiters > 0, rough_text_of(one.waited_ms)),
               printable_of(one.label)});
  }
  table.print();
}

void print_names(const summaries& locks) {
  for (const auto& [name, one] : locks) {
    if (one.is_in_use()) std::puts(printable_of(name).c_str());
  }
}

// One row for each client, and for each key that no client reported, with all fields.
void add_wide(text_table& table, const listing& seen, const std::set<std::string>& heard) {
  for (int64_t index = 0; index < seen.size(); ++index) {
    const auto number = [&](std::string_view key) { return seen.number(index, key); };
    const auto text = [&](std::string_view key) { return printable_of(seen.text(index, key)); };
    const bool holds = number("holds") > 0;
    const bool waits = number("waiters") > 0;
    const bool is_retained = number("retained") > 0;
    if ((!holds && !waits && !is_retained) || heard.count(seen.text(index, "client")) > 0) continue;
    const bool is_reported = holds && seen.text(index, "source") == "client";
    const auto of_hold = [&](const std::string& cell) { return text_or_dash(is_reported, cell); };
    table.add(
        {text("name"), text("kind"), text("mode"), text("client"), text("host"),
         std::to_string(number("pid")), of_hold(std::to_string(number("token"))),
         of_hold(std::to_string(number("permits"))), of_hold(rough_text_of(number("held_ms"))),
         text_or_dash(holds || is_retained, rough_text_of(number("time_left_ms"))),
         std::to_string(number("waiters")), text_or_dash(waits, rough_text_of(number("waited_ms"))),
         std::to_string(number("grants")), std::to_string(number("contended")), text("label")});
  }
}

struct list_request {
  std::string url;
  std::string form;
  bool is_all = false;
  listing::scan_terms scan{"", 1'000'000, 0};
  int64_t wait_ms = 0;
};

// The locks found: first the scan of the keys, if requested, then the listing. So the reply of a
// client is never older than its key.
class sight {
 public:
  sight(mortise_client* client, const list_request& request, mortise_error* error) {
    if (request.is_all) keys_.emplace(client, request.scan, error);
    clients_.emplace(client, request.wait_ms, error);
    for (int64_t index = 0; index < clients_->size(); ++index) {
      heard_.insert(clients_->text(index, "client"));
    }
  }

  summaries locks() const {
    auto all = summaries_of(*clients_);
    if (keys_) add_unheard(all, *keys_, heard_);
    return all;
  }
  void print_wide() const {
    text_table table({"NAME", "KIND", "MODE", "CLIENT", "HOST", "PID", "TOKEN", "PERMITS", "HELD",
                      "LEFT", "WAITERS", "WAITED", "GRANTS", "CONTENDED", "LABEL"});
    add_wide(table, *clients_, {});
    if (keys_) add_wide(table, *keys_, heard_);
    table.sort();
    table.print();
  }
  // The JSON of the listing; with --all also `keys`.
  std::string json() const {
    if (!keys_) return clients_->json();
    auto all = nlohmann::json::parse(clients_->json());
    const auto keys = nlohmann::json::parse(keys_->json());
    all["keys"] = keys["entries"];
    all["servers_cut_short"] = keys["truncated"];
    all["missing"] = missing();
    return all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  // The servers that did not reply to the scan or the listing.
  nlohmann::json missing() const {
    auto all = clients_->missing();
    if (!keys_) return all;
    for (const auto& one : keys_->missing()) {
      const auto is_it = [&](const auto& known) { return known["server"] == one["server"]; };
      if (std::none_of(all.begin(), all.end(), is_it)) all.push_back(one);
    }
    return all;
  }
  void complain_of_gaps() const {
    if (const auto gaps = clients_->gaps(); !gaps.empty()) complain("list", gaps);
    if (!keys_) return;
    if (const auto gaps = keys_->gaps_of_scan(); !gaps.empty()) complain("list", gaps);
  }

 private:
  std::optional<listing> keys_;
  std::optional<listing> clients_;
  std::set<std::string> heard_;
};

void check(const list_request& request, bool has_terms) {
  if (!request.form.empty() && request.form != "wide" && request.form != "name" &&
      request.form != "json") {
    throw failure(exit_usage, "--output " + request.form + " is unknown; give wide, name or json");
  }
  if (has_terms && !request.is_all) {
    throw failure(exit_usage, "--match and --most need a scan of the keys; give --all");
  }
  if (request.scan.most_keys < 1 || request.scan.most_keys > 1'000'000'000) {
    throw failure(exit_usage, "--most " + std::to_string(request.scan.most_keys) +
                                  " is out of range; give 1 to 1000000000");
  }
}

}  // namespace

int list_locks(int argc, const char* const* argv) {
  CLI::App app;
  list_request request;
  std::string wait = "1s";
  bool is_json = false;
  app.add_option("--url", request.url);
  app.add_flag("--json", is_json);
  app.add_option("-o,--output", request.form);
  app.add_flag("--all", request.is_all);
  const auto* const match = app.add_option("--match", request.scan.pattern);
  const auto* const most = app.add_option("--most", request.scan.most_keys);
  app.add_option("--wait", wait);
  if (!read_arguments(app, "list", list_help, argc, argv)) return exit_ok;
  check(request, match->count() + most->count() > 0);
  request.wait_ms = request.scan.wait_ms = listing_wait_ms_of(wait);
  const error_handle error(mortise_error_new());
  const auto client = connect_to_look(request.url, error.get());
  const sight seen(client.get(), request, error.get());
  if (is_json || request.form == "json") {
    std::puts(seen.json().c_str());
  } else if (request.form == "wide") {
    seen.print_wide();
  } else if (request.form == "name") {
    print_names(seen.locks());
  } else {
    print(seen.locks());
  }
  seen.complain_of_gaps();
  return exit_code_without(seen.missing(), "list");
}

}  // namespace mortise::cli
