#include "net/tls/tls_fault.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <string_view>

#include "base/text/printable.hpp"

namespace mortise::net {

namespace {

namespace number = openssl_number;

constexpr const char* remedy_name =
    "; give one of these names, as the URL's host or as tls_name, or fix the certificate";
constexpr const char* remedy_authority =
    "; give the certificate of the server's authority, with tls_ca_file";
constexpr const char* remedy_list =
    "; give the newest revocation list of this authority, with tls_ca_file or tls_ca_folder";
constexpr const char* remedy_versions = "; let the server speak TLS 1.2 or 1.3 (tls-protocols)";
constexpr const char* remedy_client =
    "; give a certificate that the server accepts, with tls_certificate_file and tls_key_file";

// ---- errors of a certificate -------------------------------------------------------------------

constexpr int no_list = 3;
constexpr int not_yet_valid = 9;
constexpr int has_expired = 10;
constexpr int expired_list = 12;
constexpr int revoked = 23;
constexpr int other_host = 62;
constexpr int other_address = 64;
constexpr std::array unknown_signer = {2, 18, 19, 20, 21};
constexpr std::array useless_list = {no_list, 5, 8, 11, expired_list, 15, 16, 33, 35, 36, 44, 54};

std::string date_of(const openssl& library, const asn1_string_st* time) {
  std::tm parts{};
  char text[32] = "?";
  if (library.ASN1_TIME_to_tm(time, &parts) == 1) {
    static_cast<void>(std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts));
  }
  return text;
}

std::string common_name(const openssl& library, const X509_name_st* name) {
  char text[256] = "";
  library.X509_NAME_get_text_by_NID(name, number::common_name, text, sizeof text);
  return text;
}

std::string name_text(const openssl& library, const GENERAL_NAME_st* name) {
  int kind = 0;
  const auto* const value =
      static_cast<const asn1_string_st*>(library.GENERAL_NAME_get0_value(name, &kind));
  if (kind != number::name_is_dns && kind != number::name_is_address) return {};
  const auto* const bytes = library.ASN1_STRING_get0_data(value);
  const auto size = static_cast<std::size_t>(library.ASN1_STRING_length(value));
  if (kind == number::name_is_dns) {
    return printable({reinterpret_cast<const char*>(bytes), size});
  }
  char text[INET6_ADDRSTRLEN] = "?";
  if (size == 4 || size == 16) {
    ::inet_ntop(size == 4 ? AF_INET : AF_INET6, bytes, text, sizeof text);
  }
  return text;
}

// The names in a certificate: "localhost", 127.0.0.1. The common name counts if it has no others.
std::string names_of(const openssl& library, const x509_st* certificate) {
  auto* const names = static_cast<stack_st_GENERAL_NAME*>(
      library.X509_get_ext_d2i(certificate, number::alternative_names, nullptr, nullptr));
  const std::unique_ptr<stack_st_GENERAL_NAME, void (*)(stack_st_GENERAL_NAME*)> keeper(
      names, library.GENERAL_NAMES_free);
  constexpr int most = 8;
  const auto* const list = reinterpret_cast<const stack_st*>(names);
  const int count = names != nullptr ? library.OPENSSL_sk_num(list) : 0;
  std::string text;
  for (int i = 0; i < count && i < most; ++i) {
    const auto name =
        name_text(library, static_cast<const GENERAL_NAME_st*>(library.OPENSSL_sk_value(list, i)));
    if (!name.empty()) text.append(text.empty() ? "" : ", ").append(name);
  }
  if (count > most) text += ", …";
  if (!text.empty()) return text;
  return printable(common_name(library, library.X509_get_subject_name(certificate)));
}

template <std::size_t size>
bool is_one_of(const std::array<int, size>& codes, int error) {
  return std::find(codes.begin(), codes.end(), error) != codes.end();
}

std::string problem_of_list(const openssl& library, int error, const std::string& where) {
  if (error == no_list) return " is not in " + where;
  if (error == expired_list) return " has expired";
  return std::string(" cannot be used: ") + library.X509_verify_cert_error_string(error);
}

tls_fault describe_refusal(const openssl& library, const tls_terms& terms, const std::string& name,
                           const x509_st* refused, int error, int depth) {
  const std::string whose =
      depth == 0 ? "the server's certificate"
                 : "the certificate of its authority " +
                       printable(common_name(library, library.X509_get_subject_name(refused)));
  if (error == has_expired) {
    return {whose + " has expired: " + date_of(library, library.X509_get0_notAfter(refused)),
            "; renew it", true};
  }
  if (error == not_yet_valid) {
    return {
        whose + " is not valid yet: from " + date_of(library, library.X509_get0_notBefore(refused)),
        "; correct this host's clock or the certificate", true};
  }
  if (error == other_host || error == other_address) {
    return {whose + " is not for " + printable(name) + ", but for " + names_of(library, refused),
            remedy_name, true};
  }
  const auto signer = printable(common_name(library, library.X509_get_issuer_name(refused)));
  const auto& path = terms.ca_file.empty() ? terms.ca_folder : terms.ca_file;
  const auto where =
      path.empty() ? "the system's list of authorities" : printable(path, path.size());
  if (is_one_of(unknown_signer, error)) {
    return {whose + " is signed by " + signer + ", which is not in " + where, remedy_authority,
            true};
  }
  if (error == revoked) {
    return {whose + " has been revoked by " + signer, "; replace it with a new one", true};
  }
  if (is_one_of(useless_list, error)) {
    return {whose + " may be revoked: the revocation list of " + signer +
                problem_of_list(library, error, where),
            remedy_list, true};
  }
  return {whose + " is not trusted: " + library.X509_verify_cert_error_string(error),
          remedy_authority, true};
}

// ---- errors of the handshake -------------------------------------------------------------------

// The server's alert, its reason to end the connection, is 1000 plus the number of the alert.
constexpr unsigned long alert_base = 1000;

struct known_error {
  unsigned long reason;
  const char* text;
  const char* remedy;
};

constexpr const char* no_common = "the server and this host have no version or cipher in common";
constexpr const char* not_tls = "the answer is not TLS";

constexpr known_error known_errors[] = {
    {156, not_tls, remedy_handshake},  // HTTP request
    {198, not_tls, remedy_handshake},  // a packet too long
    {244, not_tls, remedy_handshake},  // an unexpected message
    {267, not_tls, remedy_handshake},  // a wrong version number
    {252, no_common, remedy_versions},
    {258, no_common, remedy_versions},
    {1070, no_common, remedy_versions},
    {1040,
     "the server refuses the handshake: it has no cipher in common with this host, or requires a "
     "client's certificate",
     remedy_client},
    {1042, "the server does not accept the client's certificate", remedy_client},
    {1043, "the server does not accept the kind of the client's certificate", remedy_client},
    {1044, "the server reports that the client's certificate is revoked", remedy_client},
    {1045, "the server reports that the client's certificate has expired", remedy_client},
    {1046, "the server does not accept the client's certificate", remedy_client},
    {1048, "the server does not know the authority of the client's certificate", remedy_client},
    {1049, "the server denies access to this client", remedy_client},
    {1112, "the server does not know the requested name", "; correct tls_name"},
    {1116, "the server requires a client's certificate", remedy_client},
};

// 0 for errors that are not of TLS.
unsigned long reason_of(unsigned long error) noexcept {
  constexpr unsigned long library_bits = 23;
  constexpr unsigned long reason_mask = (1UL << library_bits) - 1;
  return (error >> library_bits & 0xFFU) == number::library_of_tls ? error & reason_mask : 0;
}

tls_fault describe_error(const openssl& library, unsigned long error) {
  for (const auto& known : known_errors) {
    if (known.reason == reason_of(error)) return {known.text, known.remedy, true};
  }
  const char* const text = library.ERR_reason_error_string(error);
  return {std::string("TLS failed: ") + (text != nullptr ? text : "no reason given"),
          "; check the server's log", false};
}

}  // namespace

tls_fault fault_of_verification(const openssl& library, const tls_terms& terms,
                                const std::string& name, const x509_st* refused, int error,
                                int depth) noexcept try {
  return describe_refusal(library, terms, name, refused, error, depth);
} catch (const std::bad_alloc&) {
  return {{}, remedy_authority, true};
}

bool is_alert(unsigned long error) noexcept { return reason_of(error) >= alert_base; }

tls_fault fault_of_error(const openssl& library, unsigned long error) noexcept try {
  return describe_error(library, error);
} catch (const std::bad_alloc&) {
  return {};
}

tls_fault fault_of_end(bool has_answered) noexcept {
  return {joined({"the server closed the connection during the TLS handshake"}),
          has_answered ? remedy_silent_refusal : remedy_handshake, false};
}

tls_fault fault_of_exit() noexcept {
  return {joined({"OpenSSL has ended because this process exits"}),
          "; stop all use of locks before exit", true};
}

}  // namespace mortise::net
