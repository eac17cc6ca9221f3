// A hold by its id: its export by one handle, and its adoption by another.
#include <chrono>
#include <utility>

#include "base/text/printable.hpp"
#include "client/client.hpp"
#include "client/gate_driver.hpp"
#include "client/handles/lock_handle.hpp"
#include "lock/exported_claim.hpp"
#include "lock/lease.hpp"
#include "protocol/exported_hold.hpp"
#include "protocol/listing/query.hpp"

namespace mortise::client {

namespace {

std::int64_t calendar_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

outcome check_support(const protocol::table& rules) {
  if (rules.rows.adopt.code != nullptr) return {};
  return outcome::of(status::unsupported, "protocol: ", rules.facts.name,
                     " has no ids of holds at these servers; keep the handle, or use the protocol "
                     "queued with one server, Sentinels, a cluster or shards");
}

}  // namespace

outcome lock_handle::export_hold(std::int64_t lease_ms, std::string& text) {
  const auto& rules = gate_driver_->rules();
  if (auto supported = check_support(rules); !supported.ok()) return supported;
  if (auto fit = client_->check_lease(lease_ms); !fit.ok()) return fit;
  const auto deadline = client_->command_deadline();
  if (auto known = acknowledge_export(lease_ms); !known.ok()) return known;
  lock::exported_claim claim;
  auto result = gate_driver_->enter([&](lock::gate& gate, time_ns now) {
    const bool is_adopted = adoption_.hold_number == owner_.hold_number;
    auto ended = gate.export_hold(owner_, claim, now);
    // An id stays the same over its adoptions, for the next command of a script.
    if (ended.ok() && is_adopted) claim.id_token = std::move(adoption_.id);
    return ended;
  });
  if (!result.ok()) return result;
  if (lease_ms != 0) claim.lease_ms = lease_ms;
  protocol::exported_hold exported;
  exported.kind = rules.facts.kind;
  exported.amount = claim.amount;
  exported.token = claim.token;
  exported.valid_until_ms = calendar_ms() + claim.lease_ms;
  exported.key_namespace = client_->defaults().key_namespace;
  exported.name = name_;
  exported.owner_token = claim.id_token;
  text = protocol::text_of(exported);
  return give_out(claim, deadline);
}

// Replicas acknowledge the replies to steps only. So they acknowledge the lease before the export.
// If a failover undoes the export, nobody gets the lock in this time (hazard 7).
outcome lock_handle::acknowledge_export(std::int64_t lease_ms) {
  if (client_->servers().is_granted_by_message(gate_driver_->named())) return {};
  if (lease_ms == 0) {
    lease_ms = gate_driver_->look(
        [&](const lock::gate& gate, time_ns now) { return gate.export_lease_ms(owner_, now); });
  }
  return extend(lease_ms);
}

// From now on the server refuses each request of the exporter, however late. So neither its renewal
// nor its death changes the exported hold, also after the id has been adopted and exported again
// (hazards 16 and 17).
outcome lock_handle::give_out(const lock::exported_claim& exported, time_ns deadline) {
  lock::step_request request;
  request.token = exported.id_token;
  request.adopted = exported.owner_token;
  request.ttl_ms = lock::server_ttl_ms(exported.lease_ms, owner_.drift_ppm);
  request.permits = exported.amount.permits;
  request.capacity = exported.amount.capacity;
  bool was_owner = false;
  const auto command =
      protocol::export_hold(gate_driver_->rules(), gate_driver_->keys(), request, was_owner);
  auto result = ask(command, deadline);
  // The server recognizes a repetition. Nobody knows the id yet, so without it the lock would stay
  // taken for the whole lease (hazard 15).
  while (result.is_ambiguous && result.is_retryable && boot_now() < deadline) {
    auto repeated = ask(command, deadline);
    if (!repeated.ok() && !repeated.is_ambiguous) break;
    result = std::move(repeated);
  }
  if (result.ok()) return was_owner ? result : outcome::lost(reason::server_lost);
  result.say(result.words(), "; the hold is not renewed any longer, and its lease ends it");
  return result;
}

outcome lock_handle::check_adoption(const protocol::exported_hold& exported) const {
  const auto refuse = [](std::string_view what, std::string_view theirs, std::string_view ours) {
    return outcome::of(status::invalid_argument, "id: is of the ", what, " ", printable(theirs),
                       ", and this handle is of ", printable(ours), "; give it to a handle of its ",
                       what);
  };
  if (exported.key_namespace != client_->defaults().key_namespace) {
    return refuse("namespace", exported.key_namespace, client_->defaults().key_namespace);
  }
  if (exported.name != name_) return refuse("lock", exported.name, name_);
  if (exported.kind == gate_driver_->rules().facts.kind) return {};
  return outcome::of(status::invalid_argument,
                     "id: is of another kind of lock; give it to a handle of its kind");
}

outcome lock_handle::adopt(std::string_view text) {
  protocol::exported_hold exported;
  if (auto read = protocol::read_exported_hold(text, exported); !read.ok()) return read;
  if (auto fits = check_adoption(exported); !fits.ok()) return fits;
  if (auto supported = check_support(gate_driver_->rules()); !supported.ok()) return supported;
  auto result = acquire_or_adopt(exported.amount, 0, exported.owner_token);
  if (!result.ok()) return result;
  gate_driver_->enter([&](lock::gate&, time_ns) {
    adoption_ = {owner_.hold_number, std::move(exported.owner_token)};
  });
  return result;
}

}  // namespace mortise::client
