// Which of several shards a name belongs to: rendezvous hashing (Thaler and Ravishankar, 1998). A
// shard of weight w has w entries; the entry with the highest score for the name wins, so a shard
// that comes takes its share and a shard that goes gives its own away, and nothing else moves.
// Every client has to come to the same shard, whatever its platform, version and language, so none
// of this ever changes; docs/sharding.md has it as a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mortise::deployment {

// FNV-1a of 64 bits (Fowler, Noll and Vo), finished by the mixer of MurmurHash3 (Appleby), because
// the high bits of the former alone hardly know of the last bytes.
std::uint64_t rendezvous_hash(std::string_view text) noexcept;

class rendezvous {
 public:
  struct shard {
    std::string name;  // each another
    std::int64_t weight = 1;
  };
  // There is at least one shard, and each has a weight of 1 or more.
  explicit rendezvous(const std::vector<shard>& shards);

  // The number of the shard of this name.
  [[nodiscard]] std::size_t shard_of(std::string_view name) const noexcept;

 private:
  struct entry {
    std::uint64_t hash;  // of "NAME#1", "NAME#2", … of the shard
    std::size_t shard;
  };
  std::vector<entry> entries_;  // by the names of their shards
};

}  // namespace mortise::deployment
