// mortise_client.
#include "handles.hpp"

using mortise::outcome;
using mortise::status;

mortise_client* mortise_client_new(const char* url, size_t url_len, const mortise_options* options,
                                   mortise_error* error) {
  std::unique_ptr<mortise_client> made;
  const auto how = mortise::capi::guard(error, [&]() -> outcome {
    if (url == nullptr) return mortise::capi::is_null("url");
    auto handle = std::make_unique<mortise_client>();
    handle->object = std::make_shared<mortise::client::core>(
        options == nullptr ? mortise::settings{} : options->values);
    auto opened = handle->object->open({url, url_len});
    if (opened.ok()) {
      made = std::move(handle);
    } else {
      handle->object->close();
    }
    return opened;
  });
  return how == MORTISE_OK ? made.release() : nullptr;
}

void mortise_client_free(mortise_client* client) {
  // In a forked child it is left as it is: its threads and their locks are the parent's.
  if (client == nullptr || client->is_foreign()) return;
  const mortise::capi::uncancellable here;
  client->object->close();
  delete client;
}

mortise_status mortise_client_ping(mortise_client* client, mortise_error* error) {
  return mortise::capi::with(client, "client", error,
                             [](mortise::client::core& core) { return core.ping(); });
}
