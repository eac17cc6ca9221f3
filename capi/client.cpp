// mortise_client.
#include <cstdlib>

#include "handle_calls.hpp"

using mortise::outcome;
using namespace mortise::capi;  // the ABI's own file

namespace {

constexpr const char* url_variable = "MORTISE_URL";

// The given URL, or with NULL that of the environment. Not copied, because it may contain a
// password.
outcome find_url(const char* url, size_t url_len, std::string_view& found) {
  if (url != nullptr) {
    found = {url, url_len};
    return {};
  }
  if (url_len > 0) return is_null("url");
  const char* value = ::secure_getenv(url_variable);
  if (value == nullptr || *value == '\0') {
    return bad_argument("url", std::string("is missing, and the environment variable ") +
                                   url_variable + " is " + (value == nullptr ? "unset" : "empty") +
                                   "; give a URL, or set it to one such as redis://localhost");
  }
  found = value;
  return {};
}

outcome open(mortise::client::client& client, const char* url, size_t url_len) {
  std::string_view found;
  if (auto result = find_url(url, url_len, found); !result.ok()) return result;
  auto opened = client.open(found);
  if (url == nullptr && !opened.ok()) {
    opened.message = std::string(url_variable) + ": " + opened.message;
  }
  return opened;
}

}  // namespace

mortise_client* mortise_client_new(const char* url, size_t url_len, const mortise_options* options,
                                   mortise_error* error) {
  std::unique_ptr<mortise_client> made;
  const auto code = guard(error, [&]() -> outcome {
    auto handle = std::make_unique<mortise_client>();
    handle->object = std::make_shared<mortise::client::client>(
        options == nullptr ? mortise::settings{} : options->values);
    auto opened = open(*handle->object, url, url_len);
    if (opened.ok()) {
      made = std::move(handle);
    } else {
      handle->object->close();
    }
    return opened;
  });
  return code == MORTISE_OK ? made.release() : nullptr;
}

void mortise_client_free(mortise_client* client) {
  free_handle(client, &mortise::client::client::close);
}

mortise_status mortise_client_set_credentials(mortise_client* client, const char* user,
                                              size_t user_len, const char* password,
                                              size_t password_len, mortise_error* error) {
  return call(client, error, &mortise::client::client::set_credentials,
              argument::user{user, user_len}, argument::password{password, password_len});
}

mortise_status mortise_client_ping(mortise_client* client, mortise_error* error) {
  return call(client, error, &mortise::client::client::ping);
}

mortise_status mortise_client_watch_log(mortise_client* client, mortise_queue* queue, int64_t tag,
                                        mortise_log_level level, mortise_error* error) {
  return call(client, error, &mortise::client::client::watch_log, argument::handle_or_none{queue},
              tag, argument::log_level_of_watch{level, queue != nullptr});
}

mortise_status mortise_client_watch_locks(mortise_client* client, mortise_queue* queue, int64_t tag,
                                          mortise_error* error) {
  return call(client, error, &mortise::client::client::watch_locks, argument::handle_or_none{queue},
              tag);
}
mortise_status mortise_client_watch_stats(mortise_client* client, mortise_queue* queue, int64_t tag,
                                          int64_t interval_ms, mortise_error* error) {
  return call(client, error, &mortise::client::client::watch_stats, argument::handle_or_none{queue},
              tag, argument::interval_of_watch{interval_ms, queue != nullptr});
}
