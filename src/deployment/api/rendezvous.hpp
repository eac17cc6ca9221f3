// Maps a name to one of several shards by rendezvous hashing (Thaler and Ravishankar, 1998). A
// shard of weight w has w entries. The entry with the highest score for the name wins. A new shard
// takes its share, a removed shard gives its share away, and no other name moves.
//
// All clients must choose the same shard, on every platform and in every version and language, so
// this never changes. docs/sharding.md has it as a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mortise::deployment {

// FNV-1a of 64 bits (Fowler, Noll and Vo), finished by the mixer of MurmurHash3 (Appleby). In
// FNV-1a alone the last bytes hardly affect the high bits.
std::uint64_t rendezvous_hash(std::string_view text) noexcept;

class rendezvous {
 public:
  struct shard {
    std::string name;  // unique
    std::int64_t weight = 1;
  };
  // There is at least one shard, and each has a weight of 1 or more.
  explicit rendezvous(const std::vector<shard>& shards);

  // The index of the shard of this name.
  [[nodiscard]] std::size_t shard_of(std::string_view name) const noexcept;

 private:
  struct entry {
    std::uint64_t hash;  // of "NAME#1", "NAME#2", … of the shard
    std::size_t shard;
  };
  std::vector<entry> entries_;  // sorted by the names of their shards
};

}  // namespace mortise::deployment
