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

using end_of = cluster::attachment::end;

slot_attachment::slot_attachment(cluster_routes& routes, cluster_server& at,
                                 const cluster_slot& slot, std::uint64_t attempt)
    : routes_(routes), at_(at), slot_(slot), attempt_(attempt) {}

bool slot_attachment::send(cluster_routes& routes, cluster_server& at, const cluster_slot& slot,
                           std::string_view client_id, std::uint64_t attempt) {
  std::string listening;
  redis::command_writer(listening).command({"SSUBSCRIBE", slot.inbox});
  const auto seen = slot.seen.load(std::memory_order_relaxed);
  std::string rest;
  (slot.is_attached ? protocol::seed_again(seen, slot.place) : protocol::seed(slot.place))
      .write(rest, at.lacks_seed());
  protocol::write_record(client_id).write_at(rest, slot.place);

  // The constructor is private.
  std::unique_ptr<slot_attachment> made(new slot_attachment(routes, at, slot, attempt));
  made->open_ = 2;
  auto& link = at.link();
  if (link.submit(made->subscription_, listening, redis::flush::by_io_thread) != status::ok) {
    return false;
  }
  auto* const sent = made.release();
  if (link.submit(sent->seeding_, rest, redis::flush::by_io_thread) == status::ok) return true;
  // The part that was sent has no waiting caller. The whole attachment is tried again.
  if (sent->open_.fetch_sub(1) == 1) delete sent;
  return false;
}

void slot_attachment::subscription::on_reply(const redis::value& reply, time_ns) noexcept {
  if (reply.is_error()) of.note_error("SSUBSCRIBE", reply.text());
  of.end_one();
}

void slot_attachment::subscription::on_broken(bool) noexcept {
  of.end(end_of::broken);
  of.end_one();
}

void slot_attachment::seeding::on_reply(const redis::value& reply, time_ns) noexcept {
  const bool is_last = ++replies == reply_count;
  // Without its record a client only lacks a name in listings.
  if (!is_last && reply.is_error())
    of.note_error("EVAL (seeding the fencing tokens)", reply.text());
  if (!is_last && !reply.is_error()) of.end(end_of::attached);
  if (is_last) of.end_one();
}

void slot_attachment::seeding::on_broken(bool) noexcept {
  of.end(end_of::broken);
  of.end_one();
}

// The worst error counts. The worst one is a move of the slot.
void slot_attachment::note_error(const char* command, std::string_view error) noexcept try {
  if (auto moved = cluster::read_moved(error, at_.where())) {
    came_.to = std::move(moved->to);
    return end(end_of::moved);
  }
  const bool is_on_its_way = cluster::is_on_its_way(error);
  const auto reply = protocol::read_error(is_on_its_way ? std::string_view("TRYAGAIN") : error);
  const bool is_script_missing = reply.what == lock::answer::no_script;
  if (is_script_missing) at_.note_lack_of_seed();
  if (is_on_its_way || is_script_missing) {
    end(end_of::again);
  } else {
    end(reply.details.is_retryable ? end_of::later : end_of::refused);
  }
  if (!came_.why.ok()) return;
  came_.why = reply.details;
  at_.link().hide_login(came_.why);
  if (came_.how == end_of::refused) {
    came_.why.code = status::refused;
    came_.why.is_ambiguous = false;  // no lock was changed
    came_.why.say("the server refused ", command, ": ", reply.details.words());
  }
} catch (const std::bad_alloc&) {
  end(end_of::again);
}

void slot_attachment::end(cluster::attachment::end result) noexcept {
  static constexpr auto rank = [](end_of what) {
    switch (what) {
      case end_of::attached:
        return 1;
      case end_of::again:
        return 2;
      case end_of::later:
        return 3;
      case end_of::refused:
        return 4;
      case end_of::broken:
        return 5;
      case end_of::moved:
        break;
    }
    return 6;
  };
  if (is_undecided_ || rank(result) > rank(came_.how)) came_.how = result;
  is_undecided_ = false;
}

void slot_attachment::end_one() noexcept {
  if (open_.fetch_sub(1) > 1) return;
  auto* const replicas = at_.acks();
  if (replicas == nullptr || came_.how != end_of::attached) return end_whole();
  replicas->await_ready(*this, boot_now());
}

void slot_attachment::on_acknowledged(const outcome& result, time_ns /*now*/) noexcept {
  if (!result.ok()) {
    came_.how = result.is_retryable ? end_of::later : end_of::refused;
    came_.why = result;
  }
  end_whole();
}

void slot_attachment::on_server_lost(time_ns /*now*/) noexcept {
  came_.how = end_of::broken;
  end_whole();
}

void slot_attachment::end_whole() noexcept {
  const std::unique_ptr<slot_attachment> self(this);
  routes_.on_attachment(slot_.number, at_.number(), attempt_, came_);
}

}  // namespace mortise::deployment
