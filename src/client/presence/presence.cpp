#include "client/presence/presence.hpp"

#include "protocol/listing/client_record.hpp"

namespace mortise::client {

namespace {

constexpr time_ns heartbeat_ns = 20 * ns_per_s;

}  // namespace

presence::presence(net::reactor& loop, deployment::deployment& servers,
                   const protocol::client_identity& client)
    : loop_(loop),
      heartbeat_(servers.new_heartbeat(client)),
      farewell_(servers.new_broadcast(protocol::delete_record(client))) {}

presence::~presence() { loop_.cancel(*this); }

void presence::begin() noexcept { loop_.schedule(*this, boot_now() + heartbeat_ns); }

void presence::end() noexcept {
  loop_.cancel(*this);
  farewell_->send();
}

void presence::on_timer(time_ns now) noexcept {
  loop_.schedule(*this, now + heartbeat_ns);
  heartbeat_->send();
}

}  // namespace mortise::client
