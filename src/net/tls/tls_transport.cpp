#include "net/tls/tls_transport.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace mortise::net {

namespace number = openssl_number;

namespace {

// Only `describe` and `advise` know it.
constexpr int error_of_tls = -1;

}  // namespace

// OpenSSL's callbacks. Each runs inside a call of its own object.
struct tls_transport::callbacks {
  static bio_st* new_bio(const openssl& library, tls_transport* self) {
    // One for all transports, never freed.
    static bio_method_st* const method = new_method(library);
    auto* const bio = method != nullptr ? library.BIO_new(method) : nullptr;
    if (bio == nullptr) throw std::bad_alloc();
    library.BIO_set_data(bio, self);
    library.BIO_set_init(bio, 1);
    return bio;
  }

  static bio_method_st* new_method(const openssl& library) {
    auto* const method =
        library.BIO_meth_new(library.BIO_get_new_index() | number::bio_source_sink, "mortise");
    if (method == nullptr) return nullptr;
    library.BIO_meth_set_read(method, read);
    library.BIO_meth_set_write(method, write);
    library.BIO_meth_set_ctrl(method, control);
    return method;
  }

  static int read(bio_st* bio, char* buffer, int size) noexcept {
    const auto& library = openssl::found();
    auto& self = *static_cast<tls_transport*>(library.BIO_get_data(bio));
    library.BIO_clear_flags(bio, number::bio_retry_any);
    // A sender does not touch the reader's fields.
    const std::size_t there = self.is_reading_ ? self.end_ - self.begin_ : 0;
    if (there == 0) {
      self.lack_ = {io_state::want_read};
      library.BIO_set_flags(bio, number::bio_retry_read);
      return -1;
    }
    const auto count = std::min(there, static_cast<std::size_t>(size));
    std::memcpy(buffer, self.input_.data() + self.begin_, count);
    self.begin_ += count;
    return static_cast<int>(count);
  }

  static int write(bio_st* bio, const char* bytes, int size) noexcept {
    const auto& library = openssl::found();
    auto& self = *static_cast<tls_transport*>(library.BIO_get_data(bio));
    library.BIO_clear_flags(bio, number::bio_retry_any);
    const auto result = self.socket_.send({bytes, static_cast<std::size_t>(size)});
    if (result.state == io_state::done) return static_cast<int>(result.bytes);
    self.lack_ = result;
    if (result.state == io_state::want_write) {
      library.BIO_set_flags(bio, number::bio_retry_write);
    }
    return -1;
  }

  static long control(bio_st*, int what, long, void*) noexcept {
    return what == number::bio_ctrl_flush ? 1 : 0;
  }

  static tls_transport& owner_of(const ssl_st* connection) noexcept {
    return *static_cast<tls_transport*>(openssl::found().SSL_get_ex_data(connection, 0));
  }

  static int verified(int is_fine, x509_store_ctx_st* chain) noexcept {
    if (is_fine != 0) return is_fine;
    const auto& library = openssl::found();
    const auto* const connection = static_cast<const ssl_st*>(
        library.X509_STORE_CTX_get_ex_data(chain, library.SSL_get_ex_data_X509_STORE_CTX_idx()));
    auto& self = owner_of(connection);
    self.note(fault_of_verification(
        library, self.shared_->terms(), self.name_, library.X509_STORE_CTX_get_current_cert(chain),
        library.X509_STORE_CTX_get_error(chain), library.X509_STORE_CTX_get_error_depth(chain)));
    return 0;
  }

  static int ticket(ssl_st* connection, ssl_session_st* given) noexcept {
    const auto& self = owner_of(connection);
    self.shared_->keep_ticket(self.name_, connection, given);
    return 1;
  }
};

tls_transport::tls_transport(std::shared_ptr<tls_context> shared, const std::string& name)
    : shared_(std::move(shared)),
      name_(shared_->terms().name.empty() ? name : shared_->terms().name),
      library_(shared_->library()) {}

tls_transport::~tls_transport() { close(); }

void tls_transport::close() noexcept {
  const openssl_use use;
  if (auto* const ended = std::exchange(connection_, nullptr); ended != nullptr && use) {
    // The tickets are good, whatever ended the connection. Without this OpenSSL would no longer use
    // them.
    if (!fault_) {
      library_.SSL_set_shutdown(ended, number::sent_shutdown | number::received_shutdown);
    }
    library_.SSL_free(ended);
  }
  socket_.close();
  stage_ = stage::connecting;
  fault_.reset();
  begin_ = end_ = 0;
  has_answered_ = is_socket_empty_ = may_have_more_ = false;
}

// ---- connecting --------------------------------------------------------------------------------

io_result tls_transport::start_connect(const address& where) noexcept {
  close();
  return go_on(socket_.start_connect(where));
}

io_result tls_transport::finish_connect() noexcept {
  if (stage_ == stage::shaking_hands) return shake_hands();
  return go_on(socket_.finish_connect());
}

io_result tls_transport::go_on(io_result connected) noexcept try {
  if (connected.state != io_state::done) return connected;
  begin_tls();
  return shake_hands();
} catch (const std::bad_alloc&) {
  return {io_state::failed, 0, ENOMEM};
}

void tls_transport::begin_tls() {
  const openssl_use use;
  stage_ = stage::shaking_hands;
  if (!use) return;
  connection_ = shared_->new_connection(name_, callbacks::verified, callbacks::ticket);
  auto* const bio = callbacks::new_bio(library_, this);
  library_.SSL_set_bio(connection_, bio, bio);
  if (library_.SSL_set_ex_data(connection_, 0, this) != 1) throw std::bad_alloc();
}

io_result tls_transport::try_to_shake_hands() noexcept {
  const std::lock_guard guard(mutex_);
  const openssl_use use;
  if (!use) return fail(fault_of_exit());
  io_result result;
  lack_ = {};
  is_reading_ = true;
  if (library_.SSL_do_handshake(connection_) != 1) result = judge();
  is_reading_ = false;
  return result;
}

io_result tls_transport::shake_hands() noexcept {
  for (;;) {
    auto result = try_to_shake_hands();
    if (result.state == io_state::done) {
      stage_ = stage::open;
      may_have_more_ = true;
      return {};
    }
    if (result.state == io_state::want_read) result = fill(false);
    const bool has_ended =
        result.state == io_state::closed ||
        (result.state == io_state::failed && (result.error == ECONNRESET || result.error == EPIPE));
    if (has_ended) return fail(fault_of_end(has_answered_));
    if (result.state != io_state::done) return result;
  }
}

// ---- sending and receiving ---------------------------------------------------------------------

io_result tls_transport::judge() noexcept {
  if (lack_.state != io_state::done) return lack_;
  const auto error = library_.ERR_peek_last_error();
  const bool has_ended = (library_.SSL_get_shutdown(connection_) & number::received_shutdown) != 0;
  if (has_ended && !is_alert(error)) return {io_state::closed};
  const auto result = fail(fault_of_error(library_, error));
  // Without the ticket the server may accept the handshake.
  if (stage_ == stage::shaking_hands && is_alert(error) && shared_->give_up_tickets()) {
    fault_->is_definite = false;
  }
  // The list of errors belongs to the thread, so the host program shares it.
  library_.ERR_clear_error();
  return result;
}

// The first fault counts. Its text stays as it is, because another thread may read it.
void tls_transport::note(tls_fault why) noexcept {
  if (fault_) return;
  if (stage_ == stage::open) {
    why.text = joined({why.text, why.remedy});
  } else if (!shared_->problem().empty()) {
    why.text =
        joined({why.text, " (the previous files are used, because ", shared_->problem(), ")"});
  }
  fault_ = std::move(why);
}

io_result tls_transport::fail(tls_fault why) noexcept {
  note(std::move(why));
  return {io_state::failed, 0, error_of_tls};
}

io_result tls_transport::send(std::string_view bytes) noexcept {
  const std::lock_guard guard(mutex_);
  const openssl_use use;
  if (!use) return fail(fault_of_exit());
  lack_ = {};
  std::size_t count = 0;
  if (library_.SSL_write_ex(connection_, bytes.data(), bytes.size(), &count) != 1) return judge();
  return {io_state::done, count};
}

io_result tls_transport::receive(char* buffer, std::size_t room) noexcept {
  return receive_by(buffer, room, false);
}

io_result tls_transport::receive_or_nap(char* buffer, std::size_t room) noexcept {
  return receive_by(buffer, room, true);
}

io_result tls_transport::receive_held(char* buffer, std::size_t room) noexcept {
  const auto read = decrypt(buffer, room);
  return read.bytes > 0 ? io_result{io_state::done, read.bytes} : read;
}

io_result tls_transport::receive_by(char* buffer, std::size_t room, bool may_nap) noexcept {
  // The next call reports the end.
  const auto answer = [](std::size_t count, const io_result& otherwise) {
    return count > 0 ? io_result{io_state::done, count} : otherwise;
  };
  for (std::size_t count = 0;; may_nap = false) {
    const auto read = decrypt(buffer + count, room - count);
    count += read.bytes;
    const bool is_all = count > 0 && is_socket_empty_;
    if (read.state != io_state::want_read || is_all) return answer(count, read);
    const auto filled = fill(may_nap && count == 0);
    if (filled.state != io_state::done) return answer(count, filled);
  }
}

// Only without input: OpenSSL takes all of it before it requests more.
io_result tls_transport::fill(bool may_nap) noexcept {
  const auto result = may_nap ? socket_.receive_or_nap(input_.data(), input_.size())
                              : socket_.receive(input_.data(), input_.size());
  begin_ = 0;
  end_ = result.state == io_state::done ? result.bytes : 0;
  may_have_more_ = end_ > 0;
  is_socket_empty_ = end_ < input_.size();
  has_answered_ |= end_ > 0;
  return result;
}

// With `done` the room is full. Any other state is the reason for a partial result.
io_result tls_transport::decrypt(char* buffer, std::size_t room) noexcept {
  if (!may_have_more_) return {io_state::want_read};
  const std::lock_guard guard(mutex_);
  const openssl_use use;
  if (!use) return fail(fault_of_exit());
  lack_ = {};
  is_reading_ = true;
  io_result result;
  while (result.bytes < room && result.state == io_state::done) {
    std::size_t count = 0;
    if (library_.SSL_read_ex(connection_, buffer + result.bytes, room - result.bytes, &count) !=
        1) {
      const auto why = judge();
      result.state = why.state;
      result.error = why.error;
      break;
    }
    result.bytes += count;
    // Another call would return the same, but take longer.
    if (begin_ == end_ && library_.SSL_pending(connection_) == 0) {
      result.state = io_state::want_read;
    }
  }
  is_reading_ = false;
  may_have_more_ = result.state != io_state::want_read;
  return result;
}

void tls_transport::finish_sending() noexcept {
  if (stage_ == stage::open) {
    const std::lock_guard guard(mutex_);
    const openssl_use use;
    if (use) {
      library_.SSL_shutdown(connection_);
      library_.ERR_clear_error();
    }
  }
  socket_.finish_sending();
}

// ---- error text --------------------------------------------------------------------------------

const char* tls_transport::describe(int error) const noexcept {
  if (error == error_of_tls) return fault_->text.c_str();
  if (error == ETIMEDOUT && stage_ == stage::shaking_hands) return handshake_silence;
  return socket_.describe(error);
}

advice tls_transport::advise(int error) const noexcept {
  if (error == error_of_tls) return {fault_->remedy, fault_->is_definite};
  if (error == ETIMEDOUT && stage_ == stage::shaking_hands) return {remedy_handshake, false};
  return socket_.advise(error);
}

bool tls_transport::is_resumed() const noexcept {
  return library_.SSL_session_reused(connection_) == 1;
}

}  // namespace mortise::net
