// mortise_error, mortise_status and the version.
#include "guard.hpp"

int32_t mortise_version(void) { return MORTISE_VERSION_NUMBER; }

const char* mortise_version_text(void) { return MORTISE_VERSION_TEXT; }

mortise_status mortise_check_abi(int32_t major, int32_t minor) {
  const bool fits = major == MORTISE_ABI_MAJOR && minor >= 0 && minor <= MORTISE_VERSION_MINOR;
  return fits ? MORTISE_OK : MORTISE_UNSUPPORTED;
}

const char* mortise_status_text(mortise_status status) {
  return mortise::status_text(static_cast<mortise::status>(status));
}

mortise_error* mortise_error_new(void) { return new (std::nothrow) mortise_error; }

void mortise_error_free(mortise_error* error) { delete error; }

mortise_status mortise_error_status(const mortise_error* error) {
  return error == nullptr ? MORTISE_OK : mortise::capi::code_of(error->content.code);
}

const char* mortise_error_message(const mortise_error* error) {
  return error == nullptr ? "" : error->content.message.c_str();
}

const char* mortise_error_server_text(const mortise_error* error) {
  return error == nullptr ? "" : error->content.server_text.c_str();
}

const char* mortise_error_lock_name(const mortise_error* error, size_t* name_len) {
  return mortise::capi::text_of(error == nullptr ? nullptr : error->content.lock.get(), name_len);
}

int32_t mortise_error_is_retryable(const mortise_error* error) {
  return error != nullptr && error->content.is_retryable ? 1 : 0;
}

int32_t mortise_error_is_ambiguous(const mortise_error* error) {
  return error != nullptr && error->content.is_ambiguous ? 1 : 0;
}

mortise_reason mortise_error_reason(const mortise_error* error) {
  return error == nullptr ? MORTISE_REASON_NONE : static_cast<mortise_reason>(error->content.why);
}
