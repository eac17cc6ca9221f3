// The first commands on a new connection, and the meaning of the server's replies. No I/O: bytes go
// out, replies come in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "redis/connection_config.hpp"
#include "redis/resp/resp.hpp"
#include "redis/service/service_gaps.hpp"

namespace mortise::redis {

class handshake {
 public:
  // The kind of connection: one for everything, RESP2's for commands, RESP2's for messages.
  enum class form { resp3, resp2_commands, resp2_messages };
  // The session before, whose connection may still have commands in flight.
  struct predecessor {
    std::int64_t client_id = 0;
    std::string run_id = {};  // empty if the server did not report it
  };

  // Keeps references to `config` and `own_login`.
  handshake(const connection_config& config, form type, predecessor before, const login& own_login);

  // Returns the bytes to send now. Afterwards nothing is sent until a step returns `send`.
  wiped_bytes take_bytes() { return std::exchange(bytes_, {}); }

  enum class step {
    more,       // wait for the next reply
    send,       // take_bytes() and send them
    done,       // facts() is complete
    refused,    // problem() has the reason
    fall_back,  // the server has no RESP3
  };
  step take(const value& reply);

  [[nodiscard]] bool is_answered() const { return answered_ > 0; }
  [[nodiscard]] const session_facts& facts() const { return facts_; }
  [[nodiscard]] const outcome& problem() const { return problem_; }
  // Whether the refusal is temporary, like LOADING, or specific to this server, like a replica's:
  // another server of the same name would accept.
  [[nodiscard]] bool is_passing() const { return is_passing_; }

 private:
  enum class item {
    hello,
    auth,
    set_name,
    client_id,
    role,
    info,
    inbox,
    kill,
    select,
    subscribe,
    load_script,
    probe_delifeq,
    probe_delex,
    exec,
    setup,
  };

  void add(item what, std::initializer_list<std::string_view> words);
  void add_first_part();
  void add_run_query();
  [[nodiscard]] std::string remedy_of_login() const;
  void add_second_part();
  step go_on();
  void add_probes();
  step take_hello(const value& reply);
  [[nodiscard]] bool is_without_resp3(std::string_view error) const;
  step take_error(std::string_view error, item what);
  step take_error_of_setup(std::string_view error);
  void note_gap(item what, std::string_view error);
  step refuse_for_gaps(std::string_view server_text);
  step refuse(const std::string& message, std::string_view server_text);
  step check_server();
  step check_version();
  void note_info(std::string_view text);
  void note_version(std::string_view text);
  void note_probe(item what);
  [[nodiscard]] bool has_predecessor() const { return before_.client_id != 0; }
  [[nodiscard]] bool is_same_server() const;

  const connection_config& config_;
  const form form_;
  const login& login_;
  const predecessor before_;
  wiped_bytes bytes_;  // contains the login
  std::vector<item> expected_;
  std::size_t answered_ = 0;
  std::vector<std::string> setup_;  // as they were sent
  std::size_t setup_answered_ = 0;
  bool is_complete_ = false;
  bool is_role_requested_ = false;
  service_gaps lacking_;               // as reported by the server so far
  bool has_inbox_subscriber_ = false;  // by an earlier connection
  session_facts facts_;
  outcome problem_;
  bool is_passing_ = false;
};

}  // namespace mortise::redis
