#include "net/tls/tls_files.hpp"

#include <dirent.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>

#include "base/system/small_file.hpp"
#include "base/text/printable.hpp"

namespace mortise::net {

namespace {

namespace number = openssl_number;

// A system's whole list of authorities has a quarter of this size.
constexpr std::size_t longest_file = 1U << 20U;

outcome wrong(std::string_view option, const std::string& path, std::string_view problem) {
  return outcome::of(status::invalid_argument, option, ": ", printable(path, path.size()), " ",
                     problem);
}

void mix(std::uint64_t& target, std::string_view bytes) noexcept {
  target = (target ^ std::hash<std::string_view>()(bytes)) * 0x9E3779B97F4A7C15U;
}

void mix_look(std::uint64_t& target, const char* path) noexcept {
  struct stat facts {};
  if (::stat(path, &facts) != 0) return;
  const std::int64_t look[] = {static_cast<std::int64_t>(facts.st_ino), facts.st_size,
                               facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec};
  mix(target, {reinterpret_cast<const char*>(look), sizeof look});
}

const char* or_default(const char* variable, const char* otherwise) noexcept {
  const char* const given = ::getenv(variable);
  return given != nullptr ? given : otherwise;
}

// The names that `openssl rehash` gives: eight hexadecimal digits, a dot and a number.
bool is_hashed_name(std::string_view name) noexcept {
  return name.size() > 9 && name[8] == '.' && name.find_first_not_of("0123456789abcdef") == 8 &&
         name.find_first_not_of("0123456789", 9) == name.npos;
}

// The same with an r after the dot.
bool is_hashed_list(std::string name) {
  if (name.size() < 10 || name[9] != 'r') return false;
  return is_hashed_name(name.erase(9, 1));
}

// Mixes in the folder's file facts, and reports whether it has revocation lists.
outcome look_into(const std::string& path, std::uint64_t& look, bool& has_revocations) {
  constexpr const char* option = "tls_ca_folder";
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
  if (!folder) {
    return wrong(option, path,
                 std::string("cannot be read: ") + std::strerror(errno) +
                     "; give the path of a folder that this user may read");
  }
  mix_look(look, path.c_str());
  bool has_certificate = false;
  has_revocations = false;
  while (const dirent* item = ::readdir(folder.get())) {
    if (is_hashed_name(item->d_name)) has_certificate = true;
    if (!is_hashed_list(item->d_name)) continue;
    has_revocations = true;
    mix_look(look, (path + "/" + item->d_name).c_str());  // a new list may overwrite the old one
  }
  if (has_certificate) return {};
  return wrong(option, path,
               "has no certificate with a hash as its file name; run openssl rehash on it, or give "
               "the certificates in one file as tls_ca_file");
}

}  // namespace

outcome tls_files::read(const openssl& library, const tls_terms& terms) {
  struct {
    const char* option;
    const std::string& path;
    file_content kind;
    secret& target;
  } const files[] = {
      {"tls_ca_file", terms.ca_file, file_content::open, authorities_},
      {"tls_certificate_file", terms.certificate_file, file_content::open, certificate_},
      {"tls_key_file", terms.key_file, file_content::confidential, key_}};
  fingerprint_ = 0;
  for (const auto& file : files) {
    if (file.path.empty()) continue;
    auto result = read_small_file(file.option, file.path, longest_file, file.kind, file.target);
    if (!result.ok()) return result;
    mix(fingerprint_, file.target.view());
  }
  if (!terms.ca_folder.empty()) {
    auto result = look_into(terms.ca_folder, fingerprint_, folder_has_revocations_);
    if (!result.ok()) return result;
  } else if (terms.ca_file.empty()) {
    system_look_ = 0;
    for (const auto* const path : {or_default(library.X509_get_default_cert_file_env(),
                                              library.X509_get_default_cert_file()),
                                   or_default(library.X509_get_default_cert_dir_env(),
                                              library.X509_get_default_cert_dir())}) {
      mix(system_look_, path);
      mix_look(system_look_, path);
    }
    fingerprint_ ^= system_look_;
  }
  return {};
}

// The system's list of authorities, for this state of its files. It takes most of a megabyte, so
// the contexts share it.
void add_system_authorities(const openssl& library, ssl_ctx_st* context, std::uint64_t look) {
  static std::mutex mutex;
  static x509_store_st* known = nullptr;
  static std::uint64_t known_look = 0;
  const std::lock_guard guard(mutex);
  if (known != nullptr && look == known_look) {
    library.SSL_CTX_set1_cert_store(context, known);
    return;
  }
  library.SSL_CTX_set_default_verify_paths(context);
  library.X509_STORE_free(known);
  known = library.SSL_CTX_get_cert_store(context);
  library.X509_STORE_up_ref(known);
  known_look = look;
}

// Builds one context.
class tls_files::builder {
 public:
  builder(const openssl& library, const tls_terms& terms, const tls_files& files)
      : library_(library), terms_(terms), files_(files) {}

  outcome make(ssl_ctx_st*& target) {
    context_ = owned<ssl_ctx_st>(library_.SSL_CTX_new(library_.TLS_client_method()),
                                 library_.SSL_CTX_free);
    if (!context_) throw std::bad_alloc();
    set_up();
    auto result = add_authorities();
    if (result.ok() && !terms_.certificate_file.empty()) result = add_certificate();
    library_.ERR_clear_error();  // shared with the host program on this thread
    if (result.ok()) target = context_.release();
    return result;
  }

 private:
  template <class T>
  using owned = std::unique_ptr<T, void (*)(T*)>;

  // A PEM text to read from.
  class source {
   public:
    source(const openssl& library, std::string_view text)
        : library_(library),
          bio_(library.BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))) {
      if (bio_ == nullptr) throw std::bad_alloc();
    }
    ~source() { library_.BIO_free(bio_); }
    source(const source&) = delete;
    source& operator=(const source&) = delete;
    // Null after the last one.
    owned<x509_st> next_certificate() {
      return {library_.PEM_read_bio_X509(bio_, nullptr, refuse_password, nullptr),
              library_.X509_free};
    }
    owned<X509_crl_st> next_revocation_list() {
      return {library_.PEM_read_bio_X509_CRL(bio_, nullptr, refuse_password, nullptr),
              library_.X509_CRL_free};
    }
    owned<evp_pkey_st> key(bool& is_encrypted) {
      return {library_.PEM_read_bio_PrivateKey(bio_, nullptr, refuse_password, &is_encrypted),
              library_.EVP_PKEY_free};
    }

   private:
    // OpenSSL's own function would prompt at the terminal.
    static int refuse_password(char*, int, int, void* is_encrypted) noexcept {
      if (is_encrypted != nullptr) *static_cast<bool*>(is_encrypted) = true;
      return -1;
    }

    const openssl& library_;
    bio_st* const bio_;
  };

  void set_up() {
    auto* const context = context_.get();
    library_.SSL_CTX_ctrl(context, number::ctrl_set_least_version, number::tls_1_2, nullptr);
    library_.SSL_CTX_ctrl(context, number::ctrl_mode,
                          number::mode_partial_write | number::mode_moving_write_buffer |
                              number::mode_release_buffers,
                          nullptr);
    // So a server cannot make `send` wait for input.
    library_.SSL_CTX_set_options(context, number::option_no_renegotiation);
    library_.SSL_CTX_ctrl(context, number::ctrl_session_cache_mode,
                          number::session_cache_client_outside, nullptr);
  }

  // Why the file is invalid, in OpenSSL's words.
  [[nodiscard]] std::string reason() const {
    const char* const text = library_.ERR_reason_error_string(library_.ERR_peek_last_error());
    return text != nullptr ? text : "no reason given";
  }

  outcome add_authorities() {
    if (!terms_.is_verified) return {};
    auto* const context = context_.get();
    if (terms_.ca_file.empty() && terms_.ca_folder.empty()) {
      add_system_authorities(library_, context, files_.system_look_);
    }
    if (!terms_.ca_folder.empty()) {
      library_.SSL_CTX_load_verify_dir(context, terms_.ca_folder.c_str());
      if (files_.folder_has_revocations_) check_revocation();
    }
    if (terms_.ca_file.empty()) return {};
    source text(library_, files_.authorities_.view());
    auto* const store = library_.SSL_CTX_get_cert_store(context);
    bool has_one = false;
    while (const auto certificate = text.next_certificate()) {
      has_one = true;
      library_.X509_STORE_add_cert(store, certificate.get());
    }
    if (has_one) return add_revocation_lists();
    return wrong("tls_ca_file", terms_.ca_file,
                 "has no certificate in PEM form; give the file of the authority's certificate");
  }

  outcome add_revocation_lists() {
    source text(library_, files_.authorities_.view());
    while (const auto list = text.next_revocation_list()) {
      library_.X509_STORE_add_crl(library_.SSL_CTX_get_cert_store(context_.get()), list.get());
      check_revocation();
    }
    // A list that is cut off would admit certificates that it revokes.
    if (library_.ERR_peek_last_error() == number::end_of_pem) return {};
    return wrong("tls_ca_file", terms_.ca_file,
                 "cannot be read to its end: " + reason() + "; write the file again, in PEM form");
  }

  // Checks the server's certificate and those between it and its authority: a stolen key of one of
  // those can sign for any server.
  void check_revocation() {
    library_.X509_STORE_set_flags(library_.SSL_CTX_get_cert_store(context_.get()),
                                  number::check_revocation_of_all);
  }

  outcome add_certificate() {
    auto* const context = context_.get();
    source text(library_, files_.certificate_.view());
    const auto own = text.next_certificate();
    if (!own) {
      return wrong("tls_certificate_file", terms_.certificate_file,
                   "has no certificate in PEM form; give the file of the client's certificate");
    }
    if (library_.SSL_CTX_use_certificate(context, own.get()) != 1) {
      return wrong("tls_certificate_file", terms_.certificate_file,
                   "cannot be used: " + reason() + "; give another certificate");
    }
    while (const auto between = text.next_certificate()) {
      library_.SSL_CTX_ctrl(context, number::ctrl_chain_certificate, 1, between.get());
    }
    return add_key(*own);
  }

  outcome add_key(const x509_st& certificate) {
    constexpr const char* option = "tls_key_file";
    bool is_encrypted = false;
    const auto key = source(library_, files_.key_.view()).key(is_encrypted);
    if (is_encrypted) {
      return wrong(option, terms_.key_file,
                   "is encrypted; give a key without a password, as openssl pkey writes it");
    }
    if (!key) {
      return wrong(option, terms_.key_file,
                   "has no private key in PEM form; give the file of the certificate's key");
    }
    if (library_.X509_check_private_key(&certificate, key.get()) != 1) {
      return wrong(option, terms_.key_file,
                   "does not belong to the certificate in " +
                       printable(terms_.certificate_file, terms_.certificate_file.size()) +
                       "; give the key of that certificate");
    }
    if (library_.SSL_CTX_use_PrivateKey(context_.get(), key.get()) != 1) {
      return wrong(option, terms_.key_file, "cannot be used: " + reason() + "; give another key");
    }
    return {};
  }

  const openssl& library_;
  const tls_terms& terms_;
  const tls_files& files_;
  owned<ssl_ctx_st> context_{nullptr, nullptr};
};

outcome tls_files::make_context(const openssl& library, const tls_terms& terms,
                                ssl_ctx_st*& target) const {
  return builder(library, terms, *this).make(target);
}

}  // namespace mortise::net
