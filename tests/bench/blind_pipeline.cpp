#include "blind_pipeline.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "harness.hpp"
#include "protocol/scripts/scripts.hpp"
#include "protocol/table.hpp"
#include "protocol/wire.hpp"
#include "redis/resp/command.hpp"
#include "stream_socket.hpp"

namespace mortise::bench {

namespace {

constexpr std::size_t input_size = 256U << 10U;
constexpr std::int64_t lease_ms = 30'000;

}  // namespace

blind_pipeline::blind_pipeline(const std::string& url, int depth)
    : depth_(depth), fd_(connect_to(url)), input_(input_size, '\0') {
  std::string loads;
  redis::command_writer writer(loads);
  for (const auto* script : scripts::all()) writer.command({"SCRIPT", "LOAD", script->text});
  writer.command(
      {"EVALSHA", scripts::seed.sha1, "2", "mortise:server", "mortise:fence", "new", "0"});
  exchange(loads, static_cast<int>(scripts::all().size()) + 1);

  const auto& protocol = protocol::queued();
  for (int i = 0; i < depth; ++i) {
    const auto keys = protocol.keys(lock_name("blind", i));
    protocol::owner_seed seed;
    seed.client = "BlindPipelineXXX";
    seed.attempt = static_cast<std::uint64_t>(i);
    seed.grant_ttl_ms = 3302;
    const auto token = protocol.owner_token(seed);
    lock::step_request request;
    request.token = token;
    request.ttl_ms = lease_ms;
    request.what = lock::step::try_take;
    acquire_replies_ += protocol::write_step(acquires_, protocol, request, keys);
    request.what = lock::step::release_alone;
    require(protocol::write_step(releases_, protocol, request, keys) == 1,
            "a release is one command");
  }
}

blind_pipeline::~blind_pipeline() { ::close(fd_); }

int blind_pipeline::round() {
  exchange(acquires_, acquire_replies_);
  exchange(releases_, depth_);
  return depth_;
}

void blind_pipeline::exchange(const std::string& bytes, int replies) {
  require(send_all(fd_, bytes.data(), bytes.size()), "the server closed the blind pipeline");
  while (replies > 0) {
    const auto result = parser_.parse({input_.data() + begin_, end_ - begin_});
    if (result == redis::parse_result::complete) {
      require(!parser_.reply().is_error(), std::string(parser_.reply().text()));
      begin_ += parser_.consumed();
      --replies;
      continue;
    }
    require(result == redis::parse_result::incomplete, "the server's answer is no RESP");
    std::memmove(input_.data(), input_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    const auto count = ::recv(fd_, input_.data() + end_, input_.size() - end_, 0);
    require(count > 0, "the server closed the blind pipeline");
    end_ += static_cast<std::size_t>(count);
  }
}

}  // namespace mortise::bench
