// The slots of a cluster: to which one a key belongs, and how a key is made that belongs to one.
// Redis Cluster specification, "Key distribution model" and "Hash tags".
#pragma once

#include <string>
#include <string_view>

namespace mortise::cluster {

constexpr int slot_count = 16384;

// CRC16 of what stands between the first '{' and the next '}', if anything does, or else of all.
int slot_of(std::string_view key) noexcept;

// "{1234}": behind a key without a '{' it puts that key into the slot. Of all clients the same: the
// least number whose slot it is.
std::string tag_of(int slot);

}  // namespace mortise::cluster
