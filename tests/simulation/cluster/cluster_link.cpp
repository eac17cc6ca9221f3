#include "simulation/cluster/cluster_link.hpp"

#include <map>
#include <utility>

#include "redis/connection.hpp"
#include "redis/resp/resp.hpp"

namespace mortise::cluster_simulation {

outcome link::problem() const {
  if (is_closed_) return outcome::of(status::closed, "the client was closed");
  if (is_up_) return {};
  auto why = outcome::of(status::unreachable, "not connected");
  why.is_retryable = true;
  return why;
}

// In the time of the process, as long as this is there.
void link::later(time_ns when, std::function<void()> what) {
  of_.around().time.at(when, [self = weak_from_this(), &of = of_, what = std::move(what)] {
    of.run([self, what] {
      if (const auto me = self.lock()) what();
    });
  });
}

// ---- coming and going -----------------------------------------------------------------------

void link::begin() { connect(); }

void link::rest() {
  is_resting_ = true;
  leave();
}

void link::resume() {
  is_resting_ = false;
  later(of_.around().time.now(), [this] { connect(); });
}

void link::connect() {
  if (is_up_ || is_closed_ || is_resting_) return;
  auto& world = of_.around();
  if (node_.is_dead()) return later(world.time.now() + world.latency_ns, [this] { fail(); });
  if (node_.hangs() && node_.works_at > world.time.now() + timeout_ns_) {
    return later(world.time.now() + timeout_ns_, [this] { fail(); });
  }
  later(std::max(world.time.now(), node_.works_at) + 2 * world.latency_ns, [this] { come_up(); });
}

void link::fail() {
  if (is_closed_ || is_resting_) return;
  listener_.on_failed(problem(), false);
  auto& world = of_.around();
  const auto window = std::min(10 * ns_per_ms << std::min(failures_++, 3), 80 * ns_per_ms);
  later(world.time.now() + world.dice.below(window), [this] { connect(); });
}

void link::come_up() {
  if (is_closed_ || is_up_ || is_resting_) return;
  if (node_.is_dead() || node_.hangs()) return connect();
  session_ = &node_.redis.connect();
  session_->protocol = 3;
  session_->send = [this, era = ++era_](const std::string& bytes) { send_back(era, bytes); };
  is_up_ = true;
  failures_ = 0;
  redis::session_facts facts;
  facts.compare_and_delete = node_.redis.compare_and_delete;
  facts.is_reconnect = std::exchange(was_up_, true);
  later(of_.around().time.now() + timeout_ns_ / 8, [this] { watch_silence(); });
  listener_.on_up(facts);
}

void link::end_session() {
  is_up_ = false;
  ++era_;
  if (session_ != nullptr) node_.redis.disconnect(*session_);
  session_ = nullptr;
}

void link::break_open() {
  for (auto& broken : std::exchange(open_, {})) broken.by->on_broken(true);
}

void link::leave() {
  later(of_.around().time.now(), [this, era = era_] {
    if (era == era_) cut();
  });
}

void link::cut() {
  if (!is_up_ || is_closed_) return;
  end_session();
  break_open();
  listener_.on_down(problem());
  auto& world = of_.around();
  later(world.time.now() + world.dice.below(20 * ns_per_ms), [this] { connect(); });
}

void link::close() {
  const bool was_up = is_up_;
  end_session();
  is_closed_ = true;
  break_open();
  if (was_up) listener_.on_down(problem());
}

void link::forget() {
  if (session_ != nullptr) node_.redis.disconnect(*session_);
  session_ = nullptr;
}

// As redis::silence_watch.
void link::watch_silence() {
  if (!is_up_) return;
  const auto now = of_.around().time.now();
  const auto silence = open_.empty() ? 0 : now - open_.front().sent;
  if (silence >= timeout_ns_) return cut();
  later(now + timeout_ns_ / 8, [this, era = era_] {
    if (era == era_) watch_silence();
  });
  if (silence >= timeout_ns_ / 3) listener_.on_overdue();
}

// ---- there and back -------------------------------------------------------------------------

status link::submit(redis::request& item, std::string_view bytes) {
  if (!is_up_) return status::unreachable;
  auto& world = of_.around();
  open_.push_back({&item, item.reply_count, world.time.now(), {}});
  world.time.at(
      world.delivery_time(to_node_),
      [self = weak_from_this(), era = era_, process_era = node_.era, copy = std::string(bytes)] {
        if (const auto me = self.lock()) me->receive(era, process_era, copy);
      });
  return status::ok;
}

// Also after its client has died or continued, until that client has reconnected (hazard 16).
void link::receive(std::uint64_t era, std::uint64_t process_era, const std::string& bytes) {
  if (process_era != node_.era || era != era_ || is_closed_) return;
  auto& world = of_.around();
  if (node_.hangs()) {
    world.time.at(node_.works_at, [self = weak_from_this(), era, process_era, bytes] {
      if (const auto me = self.lock()) me->receive(era, process_era, bytes);
    });
    return;
  }
  if (session_ == nullptr) {
    session nobody;
    nobody.send = [](const std::string&) {};
    for (const auto& words : process_simulation::commands_of(bytes)) node_.execute(nobody, words);
    return;
  }
  for (const auto& words : process_simulation::commands_of(bytes)) node_.execute(*session_, words);
}

void link::send_back(std::uint64_t era, const std::string& bytes) {
  later(of_.around().delivery_time(to_client_), [this, era, bytes] {
    if (era == era_) deliver(bytes);
  });
}

void link::deliver(const std::string& bytes) {
  redis::parser parser;
  if (parser.parse(bytes) != redis::parse_result::complete) {
    return of_.around().violate("no reply: " + bytes);
  }
  if (!take_message(parser.reply())) take_reply(parser.reply(), bytes);
}

bool link::take_message(const redis::value& message) {
  if (message.type() != redis::kind::push || message.at(0).text() == "ssubscribe") return false;
  if (message.at(0).text() == "sunsubscribe") {
    listener_.on_channel_moved(message.at(1).text());
  } else {
    listener_.on_push(message.at(1).text(), message.at(2).text(), of_.now());
  }
  return true;
}

// The request may be destroyed with its last reply.
void link::take_reply(const redis::value& reply, const std::string& bytes) {
  if (open_.empty()) return of_.around().violate("a reply to nobody: " + bytes);
  auto& front = open_.front();
  auto* const by = front.by;
  const bool is_last = --front.left == 0;
  if (by->takes_each) {
    if (is_last) open_.pop_front();
    return by->on_reply(reply, of_.now());
  }
  if (front.reply.empty() && (reply.is_error() || is_last)) front.reply = bytes;
  if (!is_last) return;
  const auto last_reply = std::exchange(front.reply, {});
  open_.pop_front();
  redis::parser parser;
  static_cast<void>(parser.parse(last_reply));
  by->on_reply(parser.reply(), of_.now());
}

// ---- in place of connections ----------------------------------------------------------------

namespace {

std::map<const process*, node_set*> servers;
std::vector<std::shared_ptr<link>> links;
// By where the object begins that each stands for.
std::map<const void*, link*> places;

link& link_of(const void* inside) { return *std::prev(places.upper_bound(inside))->second; }

}  // namespace

void set_servers(process& of, node_set& all) { servers[&of] = &all; }

const std::vector<std::shared_ptr<link>>& all_links() { return links; }

void forget_links() {
  servers.clear();
  places.clear();
  links.clear();
}

}  // namespace mortise::cluster_simulation

extern "C" {
using namespace mortise;

using constructor = void(redis::connection* self, net::reactor& loop,
                         redis::connection_config& config, redis::session_listener& listener);
constructor real_connection __asm__(
    "__real__ZN7mortise5redis10connectionC1ERNS_3net7reactorENS0_17connection_"
    "configERNS0_16session_listenerE");
constructor borrowed_connection __asm__(
    "__wrap__ZN7mortise5redis10connectionC1ERNS_3net7reactorENS0_17connection_"
    "configERNS0_16session_listenerE");
void borrowed_connection(redis::connection* self, net::reactor& loop,
                         redis::connection_config& config, redis::session_listener& listener) {
  using namespace mortise::cluster_simulation;
  auto& of = *process_simulation::acting_process();
  auto& all = *servers.at(&of);
  int number = 0;
  while (node_set::address_of(number) != config.where->text()) ++number;
  links.push_back(std::make_shared<cluster_simulation::link>(of, all.at(number), listener,
                                                             config.command_timeout_ms));
  places[self] = links.back().get();
  real_connection(self, loop, config, listener);
}

outcome borrowed_begin(redis::connection* self) __asm__(
    "__wrap__ZN7mortise5redis10connection5beginEv");
outcome borrowed_begin(redis::connection* self) {
  cluster_simulation::link_of(self).begin();
  return {};
}

void borrowed_rest(redis::connection* self) __asm__("__wrap__ZN7mortise5redis10connection4restEv");
void borrowed_rest(redis::connection* self) { cluster_simulation::link_of(self).rest(); }

void borrowed_resume(redis::connection* self) __asm__(
    "__wrap__ZN7mortise5redis10connection6resumeEv");
void borrowed_resume(redis::connection* self) { cluster_simulation::link_of(self).resume(); }

void real_close(redis::connection* self,
                time_ns linger_ns) __asm__("__real__ZN7mortise5redis10connection5closeEl");
void borrowed_close(redis::connection* self,
                    time_ns linger_ns) __asm__("__wrap__ZN7mortise5redis10connection5closeEl");
void borrowed_close(redis::connection* self, time_ns linger_ns) {
  cluster_simulation::link_of(self).close();
  real_close(self, linger_ns);
}

outcome borrowed_problem(const redis::connection* self) __asm__(
    "__wrap__ZNK7mortise5redis10connection12last_problemEv");
outcome borrowed_problem(const redis::connection* self) {
  return cluster_simulation::link_of(self).problem();
}

using submitting = status(redis::pipeline* self, redis::request& item, std::string_view bytes,
                          redis::flush mode);
submitting borrowed_submit __asm__(
    "__wrap__ZN7mortise5redis8pipeline6submitERNS0_7requestESt17basic_string_viewIcSt11char_"
    "traitsIcEENS0_5flushE");
status borrowed_submit(redis::pipeline* self, redis::request& item, std::string_view bytes,
                       redis::flush /*result*/) {
  return cluster_simulation::link_of(self).submit(item, bytes);
}

void borrowed_break_off(redis::pipeline* self, outcome& why) __asm__(
    "__wrap__ZN7mortise5redis8pipeline9break_offENS_7outcomeE");
void borrowed_break_off(redis::pipeline* self, outcome& /*why*/) {
  cluster_simulation::link_of(self).leave();
}
}
