#include "deployment/cluster/slot_attachment.hpp"

#include <memory>
#include <new>
#include <utility>

#include "deployment/cluster/routing/topology.hpp"
#include "protocol/command.hpp"
#include "protocol/listing/client_record.hpp"
#include "protocol/refusal.hpp"
#include "redis/resp/command.hpp"

namespace mortise::deployment {

using attachment_end = cluster::attachment::end;

slot_attachment::slot_attachment(cluster_routes& routes, cluster_server& server,
                                 const cluster_slot& slot, std::uint64_t attempt)
    : routes_(routes), server_(server), slot_(slot), attempt_(attempt) {}

bool slot_attachment::send(cluster_routes& routes, cluster_server& server, const cluster_slot& slot,
                           const protocol::client_identity& client, std::uint64_t attempt) {
  std::string subscribe;
  redis::command_writer(subscribe).command({"SSUBSCRIBE", slot.inbox});
  const auto token = slot.highest_token.load(std::memory_order_relaxed);
  std::string seeding;
  (slot.is_attached ? protocol::seed_again(client, token, slot.place)
                    : protocol::seed(client, slot.place))
      .write(seeding, server.lacks_seed());
  protocol::write_record(client).write_at(seeding, slot.place);

  // The constructor is private.
  std::unique_ptr<slot_attachment> attachment(new slot_attachment(routes, server, slot, attempt));
  attachment->open_ = 2;
  attachment->result_.sent_ns = boot_now();
  auto& connection = server.connection();
  if (connection.commands().submit(attachment->subscription_, subscribe,
                                   redis::flush::by_io_thread) != status::ok) {
    return false;
  }
  auto* const sent = attachment.release();
  if (connection.commands().submit(sent->seeding_, seeding, redis::flush::by_io_thread) ==
      status::ok)
    return true;
  // The part that was sent has no waiting caller. The whole attachment is tried again.
  if (sent->open_.fetch_sub(1) == 1) delete sent;
  return false;
}

void slot_attachment::subscription::on_reply(const redis::value& reply, time_ns) noexcept {
  if (reply.is_error()) owner.note_error("SSUBSCRIBE", reply.text());
  owner.end_part();
}

void slot_attachment::subscription::on_broken(bool) noexcept {
  owner.end(attachment_end::broken);
  owner.end_part();
}

void slot_attachment::seeding::on_reply(const redis::value& reply, time_ns) noexcept {
  const bool is_last = ++replies == reply_count;
  // Without its record a client only lacks a name in listings.
  if (!is_last && reply.is_error())
    owner.note_error("EVAL (seeding the fencing tokens)", reply.text());
  if (!is_last && !reply.is_error()) owner.end(attachment_end::attached);
  if (is_last) owner.end_part();
}

void slot_attachment::seeding::on_broken(bool) noexcept {
  owner.end(attachment_end::broken);
  owner.end_part();
}

// The worst error counts. The worst one is a move of the slot.
void slot_attachment::note_error(const char* command, std::string_view error) noexcept try {
  if (auto moved = cluster::read_moved(error, server_.where())) {
    result_.target = std::move(moved->target);
    return end(attachment_end::moved);
  }
  const bool is_migration_error = cluster::is_migration_error(error);
  const auto reply =
      protocol::read_error(is_migration_error ? std::string_view("TRYAGAIN") : error);
  const bool is_script_missing = reply.what == lock::answer::no_script;
  if (is_script_missing) server_.note_lack_of_seed();
  if (is_migration_error || is_script_missing) {
    end(attachment_end::again);
  } else {
    end(reply.details.is_retryable ? attachment_end::later : attachment_end::refused);
  }
  if (!result_.why.ok()) return;
  result_.why = reply.details;
  server_.connection().hide_login(result_.why);
  if (result_.code == attachment_end::refused) {
    result_.why.code = status::refused;
    result_.why.is_ambiguous = false;  // no lock was changed
    result_.why.say("the server refused ", command, ": ", reply.details.words());
  }
} catch (const std::bad_alloc&) {
  end(attachment_end::again);
}

void slot_attachment::end(cluster::attachment::end result) noexcept {
  static constexpr auto rank = [](attachment_end what) {
    switch (what) {
      case attachment_end::attached:
        return 1;
      case attachment_end::again:
        return 2;
      case attachment_end::later:
        return 3;
      case attachment_end::refused:
        return 4;
      case attachment_end::broken:
        return 5;
      case attachment_end::moved:
        break;
    }
    return 6;
  };
  if (is_undecided_ || rank(result) > rank(result_.code)) result_.code = result;
  is_undecided_ = false;
}

void slot_attachment::end_part() noexcept {
  if (open_.fetch_sub(1) > 1) return;
  auto* const replicas = server_.acks();
  if (replicas == nullptr || result_.code != attachment_end::attached) return finish();
  replicas->await_ready(*this, boot_now());
}

void slot_attachment::on_acknowledged(const outcome& result, time_ns /*now*/) noexcept {
  if (!result.ok()) {
    result_.code = result.is_retryable ? attachment_end::later : attachment_end::refused;
    result_.why = result;
  }
  finish();
}

void slot_attachment::on_server_lost(time_ns /*now*/) noexcept {
  result_.code = attachment_end::broken;
  finish();
}

void slot_attachment::finish() noexcept {
  const std::unique_ptr<slot_attachment> self(this);
  routes_.on_attachment(slot_.number, server_.number(), attempt_, result_);
}

}  // namespace mortise::deployment
