// The slots of a cluster: the slot of a key, and a key for a given slot. Redis Cluster
// specification, "Key distribution model" and "Hash tags".
#pragma once

#include <bitset>
#include <string>
#include <string_view>

namespace mortise::cluster {

constexpr int slot_count = 16384;
using slot_set = std::bitset<slot_count>;

// CRC16 of the text between the first '{' and the next '}', or of the whole key if there is none.
int slot_of(std::string_view key) noexcept;

// "{1234}": appended to a key without a '{', it puts the key into the slot. The same for all
// clients: the least number with this slot.
std::string tag_of(int slot);

}  // namespace mortise::cluster
