#include "cli/text/listing.hpp"

#include "cli/exit_code.hpp"
#include "cli/failure.hpp"
#include "cli/text/text_table.hpp"

namespace mortise::cli {
namespace {

// Cuts off the entries, which come last and may be many.
nlohmann::json missing_of(std::string_view json) {
  const auto head = std::string(json.substr(0, json.find(",\"entries\":["))) + "}";
  return nlohmann::json::parse(head).at("missing");
}

}  // namespace

listing::listing(mortise_client* client, int64_t wait_ms, mortise_error* error)
    : listing_(mortise_client_list_locks(client, wait_ms, error)) {
  if (!listing_) throw failure(error);
  missing_ = missing_of(json());
}

listing::listing(mortise_client* client, const scan_terms& terms, mortise_error* error)
    : listing_(mortise_client_scan_locks(client, terms.pattern.data(), terms.pattern.size(),
                                         terms.most_keys, terms.wait_ms, error)) {
  if (!listing_) throw failure(error);
  missing_ = missing_of(json());
}

listing::listing(mortise_client* client, const history_terms& terms, mortise_error* error)
    : listing_(mortise_client_list_history(client, terms.name.data(), terms.name.size(),
                                           terms.window_ms, terms.wait_ms, error)) {
  if (!listing_) throw failure(error);
  missing_ = missing_of(json());
}

std::string listing::gaps_of_scan() const {
  // Clients without any reply are named already, and a higher limit would not help.
  const auto cut =
      mortise_listing_truncated(listing_.get()) - static_cast<int64_t>(missing_.size());
  if (cut <= 0) return "";
  return std::to_string(cut) + (cut == 1 ? " server was" : " servers were") +
         " not scanned to the end; raise --most or --wait";
}

std::string listing::text(int64_t index, std::string_view key) const {
  return mortise_listing_text(listing_.get(), index, key.data(), key.size());
}

int64_t listing::number(int64_t index, std::string_view key) const {
  return mortise_listing_number(listing_.get(), index, key.data(), key.size());
}

std::string listing::gaps() const {
  const auto silent = mortise_listing_silent(listing_.get());
  const auto truncated = mortise_listing_truncated(listing_.get());
  const auto clients = [](int64_t count) {
    return std::to_string(count) + (count == 1 ? " client has" : " clients have");
  };
  std::string words;
  if (silent > 0) {
    words = clients(silent) + " not answered and may be stopped or slow";
  }
  if (truncated > 0) {
    words += (words.empty() ? "" : "; ") + clients(truncated) +
             " not answered completely; give more time";
  }
  return words;
}

std::vector<std::string> texts_of_missing(const nlohmann::json& missing) {
  std::vector<std::string> texts;
  for (const auto& one : missing) {
    texts.push_back("server " + printable_of(one["server"].get_ref<const std::string&>()) +
                    " is omitted: " + printable_of(one["why"].get_ref<const std::string&>()));
  }
  return texts;
}

int exit_code_without(const nlohmann::json& missing, const char* command) {
  for (const auto& text : texts_of_missing(missing)) complain(command, text);
  return missing.empty() ? int{exit_ok} : int{exit_try_again};
}

}  // namespace mortise::cli
