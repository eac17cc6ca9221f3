// What a client shares with its helper process, which releases the client's claims when the process
// is dead: the memory, and the messages to the helper. Plain data, because the helper has no
// library.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mortise::helper {

// The descriptors that the helper inherits.
constexpr int image_fd = 3;
constexpr int memory_fd = 4;
constexpr int control_fd = 5;
constexpr int parent_fd = 6;  // a pidfd

constexpr std::size_t record_size = 4096;  // a page, so an unused record has no memory
constexpr std::uint32_t most_records = 4096;
constexpr std::int32_t most_connections = 4096;
constexpr std::size_t scripts_room = 65536;

// A claim that may be held, and the request that releases it.
struct claim_record {
  static constexpr std::size_t room = record_size - 2 * sizeof(std::uint32_t);

  std::uint32_t size;       // of the request; 0: none
  std::int32_t connection;  // the number of the server's connection
  char request[room];
};
static_assert(sizeof(claim_record) == record_size);

struct shared_memory {
  char name[16];               // of the helper process
  std::uint32_t record_count;  // of the records that were ever used
  std::uint32_t scripts_size;
  char scripts[scripts_room];  // the commands that load the scripts of the releases
  alignas(record_size) claim_record records[most_records];
};

// A message to the helper. A connection comes with its descriptor (SCM_RIGHTS).
struct message {
  enum : std::int32_t { add, remove, quit };
  std::int32_t what;
  std::int32_t connection;
};

}  // namespace mortise::helper
