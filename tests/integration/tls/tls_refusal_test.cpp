// Faults of rediss://. Each has its own message with the remedy, and none hangs.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "support/child.hpp"
#include "support/tls_fixture.hpp"

namespace mortise::testing::tls_refusal_test {
namespace {

void expect_text(const std::string& message, std::initializer_list<std::string_view> parts) {
  for (const auto part : parts)
    EXPECT_NE(message.find(part), message.npos) << part << " in: " << message;
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::trunc) << text;
  ::chmod(path.c_str(), S_IRUSR | S_IWUSR);
}

// A port of this host with `openssl s_server`.
class openssl_server {
 public:
  openssl_server(const std::string& folder, const std::string& arguments) {
    const auto log = folder + "/s_server.log";
    const auto command = "cd " + folder + " && exec setpriv --pdeathsig KILL openssl s_server " +
                         "-www -accept 127.0.0.1:0 -cert server.pem -key server.key " + arguments +
                         " </dev/null >" + log + " 2>&1";
    std::filesystem::remove(log);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      ::_exit(127);
    }
    EXPECT_TRUE(eventually([&] {
      std::ifstream lines(log);
      for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("ACCEPT ")) port_ = std::stoi(line.substr(line.rfind(':') + 1));
      }
      return port_ != 0;
    }));
  }
  ~openssl_server() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  openssl_server(const openssl_server&) = delete;
  openssl_server& operator=(const openssl_server&) = delete;
  [[nodiscard]] std::string url() const { return "rediss://127.0.0.1:" + std::to_string(port_); }

 private:
  pid_t pid_ = -1;
  int port_ = 0;
};

// A port that accepts connections and sends each a given text, or nothing.
class curt_port {
 public:
  explicit curt_port(std::string says, bool ends = false)
      : says_(std::move(says)), ends_(ends), descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof where;
    ::bind(descriptor_, reinterpret_cast<sockaddr*>(&where), size);
    ::listen(descriptor_, 64);
    ::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&where), &size);
    port_ = ntohs(where.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~curt_port() {
    ::shutdown(descriptor_, SHUT_RDWR);
    thread_.join();
    for (const int one : peers_) ::close(one);
    ::close(descriptor_);
  }
  curt_port(const curt_port&) = delete;
  curt_port& operator=(const curt_port&) = delete;
  [[nodiscard]] std::string url() const { return "rediss://127.0.0.1:" + std::to_string(port_); }

 private:
  void serve() {
    for (int one; (one = ::accept(descriptor_, nullptr, nullptr)) >= 0;) {
      ::send(one, says_.data(), says_.size(), MSG_NOSIGNAL);
      if (ends_) ::shutdown(one, SHUT_RDWR);
      peers_.push_back(one);
    }
  }

  const std::string says_;
  const bool ends_;
  const int descriptor_;
  int port_ = 0;
  std::thread thread_;
  std::vector<int> peers_;
};

// ---- what the server shows ---------------------------------------------------------------------

TEST(tls_refusal, an_unknown_authority) {
  const tls_server server;
  make_certificates(server.folder(), "other --signer other");
  const auto other = server.file("other.pem");
  expect_text(attempt_to_open(server.host_url() + "?tls_ca_file=" + other),
              {"unreachable: ", "127.0.0.1:", "signed by \"ca\", which is not in \"" + other + "\"",
               "tls_ca_file"});
  expect_text(attempt_to_open(server.host_url()), {"not in the system's list of authorities"});
}

TEST(tls_refusal, a_certificate_that_signs_itself) {
  tls_server server;
  make_certificates(server.folder(), "server --signer server");
  server.restart();
  expect_text(attempt_to_open(server.trusting_url()), {"signed by \"server\"", "tls_ca_file"});
}

TEST(tls_refusal, an_expired_certificate) {
  tls_server server;
  make_certificates(server.folder(), "server --expired");
  server.restart();
  expect_text(attempt_to_open(server.trusting_url()),
              {"the server's certificate has expired: 20", " UTC; renew it"});
}

TEST(tls_refusal, an_expired_authority) {
  tls_server server;
  make_certificates(server.folder(), "ca --signer ca --expired");
  make_certificates(server.folder(), "server");
  server.restart();
  expect_text(attempt_to_open(server.trusting_url()),
              {"the certificate of its authority \"ca\" has expired: 20"});
}

TEST(tls_refusal, a_certificate_of_another_name) {
  tls_server server;
  make_certificates(server.folder(), "server --names DNS:redis.example,DNS:other.example,IP:::1");
  server.restart();
  expect_text(
      attempt_to_open(server.trusting_url()),
      {"is not for \"127.0.0.1\", but for \"redis.example\", \"other.example\", ::1", "tls_name"});
  expect_text(attempt_to_open(server.trusting_url("&tls_name=wrong.example")),
              {"is not for \"wrong.example\", but for \"redis.example\""});
}

// ---- what the client shows ---------------------------------------------------------------------

TEST(tls_refusal, no_certificate_where_one_is_wanted) {
  for (const char* version : {"TLSv1.2", "TLSv1.3"}) {
    const tls_server server({"--tls-auth-clients", "yes", "--tls-protocols", version});
    expect_text(attempt_to_open(server.trusting_url()),
                {"requires a ", "certificate", "tls_certificate_file and tls_key_file"});
  }
}

// Redis closes the connection without a message. Other servers name the fault.
TEST(tls_refusal, no_certificate_where_one_is_asked_for_by_an_alert) {
  const scratch_folder folder;
  make_certificates(folder.path());
  for (const char* version : {"-tls1_2", "-tls1_3"}) {
    const openssl_server server(folder.path(), std::string("-Verify 1 ") + version);
    const time_ns begin = boot_now();
    expect_text(attempt_to_open(server.url() + "?tls_verify=off&command_timeout=60s"),
                {"client's certificate", "tls_certificate_file and tls_key_file"});
    EXPECT_LT(ms_since(begin), patience_ms) << "it is definite";
  }
}

TEST(tls_refusal, a_certificate_that_the_server_does_not_know) {
  const tls_server server({"--tls-auth-clients", "yes"});
  make_certificates(server.folder(), "other --signer other");
  make_certificates(server.folder(), "stranger --signer other");
  expect_text(attempt_to_open(server.trusting_url(server.showing("stranger"))),
              {"if the server requires a client's certificate, give one"});
}

TEST(tls_refusal, a_key_of_another_certificate) {
  const tls_server server;
  expect_text(
      attempt_to_open(server.trusting_url("&tls_certificate_file=" + server.file("client.pem") +
                                          "&tls_key_file=" + server.file("server.key"))),
      {"invalid argument: tls_key_file: \"" + server.file("server.key") +
           "\" does not belong to the certificate in \"" + server.file("client.pem") + "\"",
       "; give the key"});
}

TEST(tls_refusal, an_encrypted_key) {
  const tls_server server;
  make_certificates(server.folder(), "locked --password secret");
  expect_text(attempt_to_open(server.trusting_url(server.showing("locked"))),
              {"invalid argument: tls_key_file: \"" + server.file("locked.key") + "\" is encrypted",
               "openssl pkey"});
}

TEST(tls_refusal, a_certificate_without_its_key_and_a_key_alone) {
  EXPECT_EQ(attempt_to_open("rediss://h?tls_certificate_file=/c.pem"),
            "invalid argument: tls_certificate_file: given without tls_key_file; give both "
            "or none");
  EXPECT_EQ(attempt_to_open("rediss://h?tls_key_file=/c.key"),
            "invalid argument: tls_key_file: given without tls_certificate_file; give both "
            "or none");
}

// ---- files -------------------------------------------------------------------------------------

TEST(tls_refusal, files_that_are_not_what_they_should_be) {
  const tls_server server;
  const auto empty = server.file("empty");
  write_file(empty, "");
  const auto text = server.file("text");
  write_file(text, "no certificate");
  const auto fifo = server.file("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const struct {
    std::string path;
    const char* problem;
  } cases[] = {{empty, "is empty"},
               {text, "in PEM form"},
               {fifo, "is not a regular file"},
               {server.folder(), "is a directory"},
               {server.file("missing"), "No such file or directory"}};
  for (const auto& item : cases) {
    const auto& path = item.path;
    expect_text(attempt_to_open(server.host_url() + "?tls_ca_file=" + path),
                {"invalid argument: tls_ca_file: \"" + path + "\" ", item.problem, "; "});
    expect_text(attempt_to_open(server.trusting_url("&tls_certificate_file=" + path +
                                                    "&tls_key_file=" + server.file("client.key"))),
                {"invalid argument: tls_certificate_file: \"" + path + "\" ", item.problem});
    expect_text(
        attempt_to_open(server.trusting_url("&tls_certificate_file=" + server.file("client.pem") +
                                            "&tls_key_file=" + path)),
        {"invalid argument: tls_key_file: \"" + path + "\" ", item.problem});
  }
}

// Root reads everything, so this process has another user.
TEST(tls_refusal, a_file_that_this_user_may_not_read) {
  const tls_server server;
  ASSERT_EQ(::chmod(server.folder().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(server.file("ca.pem").c_str(), 0), 0);
  const auto url = server.trusting_url();
  child somebody([&](child_end& test) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) return test.send("setuid failed");
    test.send(attempt_to_open(url));
  });
  expect_text(somebody.receive(),
              {"invalid argument: tls_ca_file: \"" + server.file("ca.pem") + "\" cannot be read: ",
               "Permission denied", "; "});
}

TEST(tls_refusal, a_folder_that_is_none_or_is_not_hashed) {
  const tls_server server;
  expect_text(attempt_to_open(server.host_url() + "?tls_ca_folder=" + server.folder()),
              {"invalid argument: tls_ca_folder: ", "openssl rehash"});
  expect_text(attempt_to_open(server.host_url() + "?tls_ca_folder=/missing"),
              {"invalid argument: tls_ca_folder: \"/missing\" cannot be read: ", "No such file"});
}

// ---- without TLS, or with an old version -------------------------------------------------------

TEST(tls_refusal, a_port_without_tls) {
  const test_server server({.arguments = {"--port", "free"}});
  const auto url = "rediss://127.0.0.1:" + std::to_string(server.port());
  expect_text(attempt_to_open(url + "?tls_verify=off&command_timeout=1s"),
              {"unreachable: ", "if the port does not speak TLS, give redis://"});
}

TEST(tls_refusal, an_answer_that_is_no_tls) {
  for (const char* words : {"-ERR unknown command\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n",
                            "SSH-2.0-OpenSSH_9.2\r\n"}) {
    const curt_port port(words);
    const time_ns begin = boot_now();
    expect_text(attempt_to_open(port.url() + "?tls_verify=off&command_timeout=60s"),
                {"the answer is not TLS", "if the port does not speak TLS, give redis://"});
    EXPECT_LT(ms_since(begin), patience_ms) << "it is definite";
  }
}

TEST(tls_refusal, a_server_that_ends_the_handshake) {
  const curt_port port("", true);
  expect_text(attempt_to_open(port.url() + "?tls_verify=off&command_timeout=300ms"),
              {"closed the connection during the TLS handshake", "if the port does not speak TLS"});
}

// Hazard 26.
TEST(tls_refusal, a_server_that_stops_in_the_handshake) {
  const curt_port port(std::string("\x16\x03\x03\x00\x7a\x02", 6));
  const time_ns begin = boot_now();
  expect_text(attempt_to_open(port.url() + "?tls_verify=off&command_timeout=300ms"),
              {"no answer in the TLS handshake", "if the port does not speak TLS"});
  EXPECT_LT(ms_since(begin), patience_ms);
}

TEST(tls_refusal, a_server_of_old_versions_only) {
  const scratch_folder folder;
  make_certificates(folder.path());
  const openssl_server server(folder.path(), "-tls1_1 -cipher DEFAULT@SECLEVEL=0");
  expect_text(attempt_to_open(server.url() + "?tls_verify=off"),
              {"no version or cipher in common", "TLS 1.2 or 1.3"});
}

TEST(tls_refusal, redis_on_a_port_with_tls) {
  const tls_server server;
  const auto url = "redis://127.0.0.1:" + std::to_string(server.port());
  expect_text(attempt_to_open(url + "?command_timeout=300ms"),
              {"unreachable: ", "; if the port speaks TLS, the URL begins with rediss://"});
}

// A foreign server answers in TLS.
TEST(tls_refusal, redis_on_a_port_that_answers_with_an_alert) {
  const curt_port port(std::string("\x15\x03\x01\x00\x02\x02\x46", 7));
  auto url = port.url();
  url.erase(url.find("rediss") + 5, 1);
  expect_text(attempt_to_open(url), {"the port speaks TLS; give rediss://"});
}

// ---- the wrong place ---------------------------------------------------------------------------

TEST(tls_refusal, an_option_of_tls_with_another_scheme) {
  const test_server server;
  for (const char* option : {"tls_ca_file=/c", "tls_ca_folder=/c", "tls_certificate_file=/c",
                             "tls_key_file=/c", "tls_name=h", "tls_verify=on", "tls_verify=off"}) {
    const std::string key(option, std::string_view(option).find('='));
    EXPECT_EQ(
        attempt_to_open(server.url() + "?" + option),
        "invalid argument: " + key + ": not supported with unix:; give rediss://, or omit it");
    expect_text(attempt_to_open("redis://127.0.0.1:1/?" + std::string(option)),
                {"invalid argument: " + key + ": not supported with redis:;"});
    expect_text(attempt_to_open("local:?" + std::string(option)),
                {"invalid argument: " + key + ": not supported with local:;"});
  }
}

TEST(tls_refusal, values_that_are_none) {
  expect_text(attempt_to_open("rediss://h?tls_ca_file=ca.pem"),
              {"invalid argument: tls_ca_file: \"ca.pem\" does not begin with '/'"});
  expect_text(attempt_to_open("rediss://h?tls_name=a/b"), {"invalid argument: tls_name: \"a/b\""});
  expect_text(attempt_to_open("rediss://h?tls_verify=no"),
              {"invalid argument: tls_verify: \"no\" is not known; give \"on\" or \"off\""});
}

}  // namespace
}  // namespace mortise::testing::tls_refusal_test
